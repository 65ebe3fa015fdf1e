"""What a launch plan is made of: frozen steps, in the order ``solve`` asked for them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from harness.launch_rules import Dim
from harness.results import Hazard

#: How far outside a plan's scratch an address is still taken for one of it: half of what lies between two (kata.h).
REACH = 1 << 19


@dataclass(frozen=True)
class Relocation:
    """The eight bytes at ``position`` of a launch's arguments (0: of a step's own address) hold an address that a
    device may have to change: ``offset`` bytes into the scratch first allocated at ``scratch``, or into ``symbol``."""

    position: int
    offset: int
    scratch: int | None = None
    symbol: str | None = None


@dataclass(frozen=True)
class Launch:
    """``kernel`` (mangled; ``name`` is the user's word) over ``grid`` and ``block``, with ``args`` laid out as the
    kernel's parameters are. Pointers of ``solve`` are in there as they were given; ``relocations`` name the others."""

    kernel: str
    name: str
    grid: Dim
    block: Dim
    shared_bytes: int
    args: bytes
    relocations: tuple[Relocation, ...] = ()
    line: int | None = None

    def relocated(self, address_of: Callable[[Relocation], int]) -> bytes:
        """``args`` for a device that puts scratch and symbols where ``address_of`` says."""
        packed = bytearray(self.args)
        for one in self.relocations:
            struct.pack_into("<Q", packed, one.position, address_of(one) & (2**64 - 1))
        return bytes(packed)


@dataclass(frozen=True)
class Malloc:
    """``nbytes`` of scratch, at ``address`` in the plan."""

    address: int
    nbytes: int
    line: int | None = None


@dataclass(frozen=True)
class Free:
    """The scratch at ``address`` is given back."""

    address: int
    line: int | None = None


@dataclass(frozen=True)
class Memset:
    """``nbytes`` from ``address`` become ``value`` (0 to 255)."""

    address: int
    value: int
    nbytes: int
    line: int | None = None


@dataclass(frozen=True)
class Copy:
    """``nbytes`` from ``source`` to ``target``, both on the device."""

    target: int
    source: int
    nbytes: int
    line: int | None = None


@dataclass(frozen=True)
class Upload:
    """``data`` from the host to ``address``, which may lie in a ``__constant__`` or ``__device__`` variable."""

    address: int
    data: bytes
    line: int | None = None


@dataclass(frozen=True)
class SetAttribute:
    """``kernel`` may use ``shared_bytes`` of dynamic shared memory from here on."""

    kernel: str
    shared_bytes: int
    line: int | None = None


Step = Launch | Malloc | Free | Memset | Copy | Upload | SetAttribute


@dataclass(frozen=True)
class LaunchPlan:
    """What ``solve`` does, in order. Addresses of scratch and module variables are the plan's own (see :meth:`locate`);
    ``symbols`` are the module's variables: mangled name, address, size in bytes.

    ``again`` is what every later call does, where that differs: a ``static`` variable of ``solve`` remembers the first,
    or its streams allow another order. ``inherited`` is the scratch that an earlier call left to this one, ``hazards``
    what there is to say of the plan itself."""

    steps: tuple[Step, ...]
    symbols: tuple[tuple[str, int, int], ...] = ()
    again: LaunchPlan | None = None
    inherited: tuple[Malloc, ...] = ()
    hazards: tuple[Hazard, ...] = ()

    @property
    def later(self) -> LaunchPlan:
        """What a call after the first does."""
        return self.again or self

    @property
    def left(self) -> tuple[Malloc, ...]:
        """The scratch that it doesn't free."""
        freed = {step.address for step in self.steps if isinstance(step, Free)}
        return tuple(step for step in self.steps if isinstance(step, Malloc) and step.address not in freed)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The kernel launches alone."""
        return tuple(step for step in self.steps if isinstance(step, Launch))

    def locate(self, address: int, position: int = 0) -> Relocation | None:
        """What an address in this plan stands for, where it is the plan's own: scratch, or a module variable."""
        for step in (*self.steps, *self.inherited):
            if isinstance(step, Malloc) and -REACH <= address - step.address < step.nbytes + REACH:
                return Relocation(position, address - step.address, scratch=step.address)
        for name, start, size in self.symbols:
            if start <= address <= start + size:
                return Relocation(position, address - start, symbol=name)
        return None

"""Counts of what a kernel's warps do, as frozen records that add up. A leaf: imports nothing of the project.

Instructions are PTX instructions as the compiler's front end made them; the machine code may have fewer or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

#: Bytes of a sector, the unit in which global and local memory move.
SECTOR = 32

#: Lanes of a warp.
WARP = 32

#: An empty table.
NOTHING: Mapping[str, Any] = MappingProxyType({})
_COUNTS = (
    "instructions", "lanes", "global_conflicts", "shared_conflicts", "branches", "divergent", "barriers", "flops",
    "double_flops",
)  # fmt: skip


def refuse_negative(record: object, names: Iterable[str]) -> None:
    """Raise ValueError where one of these counts of a record is below 0."""
    for name in names:
        if getattr(record, name) < 0:
            raise ValueError(f"{type(record).__name__}.{name} counts something, so it is not {getattr(record, name)}")


@dataclass(frozen=True)
class Traffic:
    """What one kind of memory access came to.

    ``requests`` are warp instructions that reached memory with at least one active lane, ``lanes`` their active lanes,
    ``nbytes`` what these asked for. ``units`` is what moved: sectors of 32 bytes in global and local memory,
    wavefronts in shared memory. ``ideal`` is the fewest units that could have done: the sectors that the distinct bytes
    fill, or the wavefronts without a bank conflict. ``cache_lines`` adds up the distinct lines of 128 bytes of each
    request, 0 in shared memory.
    """

    requests: int = 0
    lanes: int = 0
    nbytes: int = 0
    units: int = 0
    ideal: int = 0
    cache_lines: int = 0

    def __post_init__(self) -> None:
        refuse_negative(self, (one.name for one in fields(self)))
        if self.ideal > self.units:
            raise ValueError(f"the ideal is the fewest units, so {self.ideal} is not more than {self.units}")

    def __add__(self, other: Traffic) -> Traffic:
        if not other.requests:
            return self
        return Traffic(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def excess(self) -> int:
        """Units beyond the ideal; in shared memory these are the bank conflicts."""
        return self.units - self.ideal

    @property
    def per_request(self) -> float:
        """Units that a warp instruction moves on average; 0 where there was none."""
        return self.units / self.requests if self.requests else 0.0

    @property
    def ideal_per_request(self) -> float:
        """Units that a warp instruction would move at best; 0 where there was none."""
        return self.ideal / self.requests if self.requests else 0.0


NO_TRAFFIC = Traffic()

#: The kinds of memory access that are told apart: fields of :class:`Counters`.
TRAFFICS = (
    "global_load", "global_store", "global_atomic", "local_load", "local_store",
    "shared_load", "shared_store", "shared_atomic",
)  # fmt: skip


@dataclass(frozen=True)
class Counters:
    """Counts of an instruction, a source line or a whole launch; they add up.

    ``instructions`` are executed warp instructions, predicated-off ones included; ``lanes`` their active lanes.
    ``pipes`` shares the instructions out by the word of :class:`harness.simulator.isa.Pipe`. ``global_conflicts`` and
    ``shared_conflicts`` add up, over atomic warp instructions, the most lanes that met on one address. ``branches``
    are warp instructions that chose a way, ``divergent`` those whose lanes chose several; ``barriers`` are warps'
    arrivals at barriers of the block. ``flops`` are floating-point additions and multiplications of active lanes, an
    ``fma`` two of them; ``double_flops`` those in double precision.
    """

    instructions: int = 0
    lanes: int = 0
    pipes: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    global_load: Traffic = NO_TRAFFIC
    global_store: Traffic = NO_TRAFFIC
    global_atomic: Traffic = NO_TRAFFIC
    local_load: Traffic = NO_TRAFFIC
    local_store: Traffic = NO_TRAFFIC
    shared_load: Traffic = NO_TRAFFIC
    shared_store: Traffic = NO_TRAFFIC
    shared_atomic: Traffic = NO_TRAFFIC
    global_conflicts: int = 0
    shared_conflicts: int = 0
    branches: int = 0
    divergent: int = 0
    barriers: int = 0
    flops: int = 0
    double_flops: int = 0

    def __post_init__(self) -> None:
        refuse_negative(self, _COUNTS)
        if self.divergent > self.branches:
            raise ValueError(f"{self.divergent} of {self.branches} branches can't be divergent")
        if sum(self.pipes.values()) != self.instructions:
            raise ValueError(f"the pipes ran {sum(self.pipes.values())} of {self.instructions} instructions")

    def __add__(self, other: Counters) -> Counters:
        return total((self, other))

    @property
    def efficiency(self) -> float:
        """Active lanes of an executed warp instruction, as a part of 32; 1 where nothing ran."""
        return self.lanes / (WARP * self.instructions) if self.instructions else 1.0

    @property
    def sectors(self) -> int:
        """Sectors of global memory moved, loads, stores and atomics together."""
        return self.global_load.units + self.global_store.units + self.global_atomic.units

    @property
    def wavefronts(self) -> int:
        """Wavefronts of shared memory, loads, stores and atomics together."""
        return self.shared_load.units + self.shared_store.units + self.shared_atomic.units


def total(counters: Iterable[Counters]) -> Counters:
    """The sum of counters."""
    sums: dict[str, Any] = dict.fromkeys(_COUNTS, 0) | dict.fromkeys(TRAFFICS, NO_TRAFFIC)
    pipes: dict[str, int] = {}
    for one in counters:
        for name in sums:
            sums[name] += getattr(one, name)
        for pipe, count in one.pipes.items():
            pipes[pipe] = pipes.get(pipe, 0) + count
    return Counters(pipes=MappingProxyType(pipes), **sums)

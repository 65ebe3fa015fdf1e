"""Devices run ``solve`` over buffers and say what they hold afterwards. Which numbers are right is not their business.

A device is opened by name, loads a compiled program once, and runs it once per case:

    device = open_device("sim")
    executable = device.load(program, compiled)
    run = executable.run((Buffer("input", x), Buffer.poisoned("output", x.shape), 33))

What every device promises, so that one grader judges them all:

* one allocation per :class:`Buffer`, at addresses the plan is made with, named as in the user's ``solve``;
* ``solve`` runs twice over the same addresses, every buffer set back to its ``data`` before each call. A module's
  ``__device__`` variables and the ``static`` ones of ``solve`` keep their values between the two calls, as does scratch
  that the second still uses, and are fresh in each :meth:`Executable.run`. What streams leave open runs in another
  order in the first call;
* a buffer whose ``data`` is :func:`poison` tells "never written" from "wrong" on any device. The simulator also
  refuses to read it before it is written;
* a write outside a buffer is an ``out_of_bounds`` error. A device that can stop at the access raises it as the
  ``fault``, with thread and line. One that can't (a GPU) keeps a red zone of a fixed pattern on both sides of each
  buffer, and reports each red zone found changed as one error in ``hazards``: the buffer, the side, the offset in
  elements of the first changed byte, and the number of changed elements as ``count``;
* kernels are launched exactly as :class:`harness.plan.LaunchPlan` says.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from harness.errors import EnvironmentFault, UsageError
from harness.results import Hazard, Severity

if TYPE_CHECKING:
    from harness.compile import Compiled
    from harness.devices.gpu_findings import Finding
    from harness.plan import LaunchPlan
    from harness.source import Program

#: Two bytes that, repeated, are a quiet NaN as float16, bfloat16, float32 and float64, and none that hardware makes.
POISON = 0x7FFE

#: How often ``solve`` runs on the same inputs: state left by the first call shows in the second.
CALLS = 2

#: printf lines a run keeps.
MOST_PRINTED = 100

#: What there is to say of a ``solve`` without a launch, and the remedy.
NO_LAUNCH = "solve launches no kernel"
LAUNCH_ONE = "launch one from solve: kernel<<<blocks, threads>>>(...)"

#: The same of one that a ``static`` variable keeps from it, and the remedy.
NO_LAUNCH_AGAIN = "only the first call of solve launches a kernel: a static variable keeps it from later ones"
LAUNCH_EACH_TIME = "launch in every call: each may come with other inputs"


def poison(shape: tuple[int, ...], dtype: np.dtype | type = np.float32) -> np.ndarray:
    """An array of ``shape`` filled with :data:`POISON`."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return np.full(-(-nbytes // 2), POISON, dtype="<u2").view(np.uint8)[:nbytes].view(dtype).reshape(shape)


def still_poison(array: np.ndarray) -> np.ndarray:
    """Which elements hold the poison bit for bit: a NaN that a kernel computed doesn't count."""
    bits = np.dtype(f"u{array.dtype.itemsize}")
    return np.asarray(np.ascontiguousarray(array).view(bits) == poison((1,), array.dtype).view(bits))


@dataclass(frozen=True)
class Buffer:
    """What one pointer parameter of ``solve`` points to: ``data`` is what it holds on entry, and is never changed.

    ``only_read`` says that a right ``solve`` never writes it, so that reads alone need no watching for races.
    """

    name: str
    data: np.ndarray
    unset: bool = False
    only_read: bool = False

    def __post_init__(self) -> None:
        if not self.data.flags.c_contiguous:
            raise ValueError(f"{self.name}: a buffer's data is contiguous, row-major")
        if self.unset and not still_poison(self.data).all():
            raise ValueError(f"{self.name}: an unset buffer holds the poison")

    @classmethod
    def poisoned(cls, name: str, shape: tuple[int, ...], dtype: np.dtype | type = np.float32) -> Buffer:
        """A buffer that ``solve`` may not read before it writes it."""
        return cls(name, poison(shape, dtype), unset=True)


#: What ``solve`` is called with, in its own order.
Argument = Buffer | int | float


@dataclass(frozen=True)
class Launched:
    """The geometry of one launch, for the diagnosis: which block size explains the elements that are wrong."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


@dataclass(frozen=True)
class Run:
    """What running a case came to.

    ``calls`` holds, for each call of ``solve`` that finished, the contents of every buffer after it, by name.
    ``fault`` is what ended the run early; the calls before it are kept.
    """

    calls: tuple[Mapping[str, np.ndarray], ...]
    launches: tuple[Launched, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    printed: tuple[str, ...] = ()
    fault: Hazard | None = None

    def __post_init__(self) -> None:
        if self.fault is None and len(self.calls) != CALLS:
            raise ValueError(f"{len(self.calls)} of {CALLS} calls finished, and no fault says why")


class Executable(Protocol):
    """A program loaded on a device."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of how it was built."""
        ...

    def run(self, arguments: tuple[Argument, ...]) -> Run:
        """Call ``solve`` :data:`CALLS` times with these arguments, in its own order.

        A kernel's own fault is in the result. SourceError where ``solve`` does what can't be planned, Unsupported
        where the device doesn't know an instruction.
        """
        ...


class Device(Protocol):
    """A place where kernels run. Whoever opens it closes it."""

    @property
    def name(self) -> str:
        """For a person: ``simulated sm_80``."""
        ...

    @property
    def arch(self) -> str:
        """What to compile for: ``sm_80``."""
        ...

    def load(self, program: Program, compiled: Compiled) -> Executable:
        """Make a compiled program ready to run."""
        ...

    def close(self) -> None:
        """Give back what the device holds."""
        ...


class Race(Protocol):
    """Programs lined up to be timed over the same buffers: entrants 0, 1, ..., then a copy, then plain arithmetic."""

    @property
    def plans(self) -> Sequence[LaunchPlan]:
        """What each program's ``solve`` does, in a call after its first."""
        ...

    @property
    def arithmetic_flops(self) -> float:
        """Floating-point operations of one run of the plain arithmetic."""
        ...

    def sample(self, order: Sequence[int]) -> tuple[float, ...]:
        """Seconds of one run of each of these entrants, one after the other. KernelFault ends the race."""
        ...

    def fresh(
        self, entrant: int, arguments: tuple[Argument, ...]
    ) -> tuple[float, Mapping[str, np.ndarray], tuple[Hazard, ...]]:
        """One run over inputs that no run has seen: its seconds, what every buffer holds after it, what it broke."""
        ...


@runtime_checkable
class PhysicalDevice(Device, Protocol):
    """Hardware: it takes real time, and a race or a stray read that happens to work goes unseen."""

    def has_room(self, nbytes: int) -> bool:
        """Whether its memory can hold a race over buffers of ``nbytes``."""
        ...

    def race(
        self, executables: Sequence[Executable], arguments: tuple[Argument, ...], copied_bytes: int
    ) -> Race:
        """Line programs up, with a copy that moves ``copied_bytes``. KernelFault, EnvironmentFault (memory)."""
        ...

    def sanitize(
        self, program: Program, compiled: Compiled, cases: Sequence[tuple[Argument, ...]]
    ) -> tuple[Finding, ...]:
        """What NVIDIA's compute-sanitizer finds while ``solve`` runs with each of these arguments. EnvironmentFault
        where it is not installed."""
        ...


def printed_lines(own: Sequence[str], *calls: Sequence[str]) -> tuple[str, ...]:
    """What a run printed: ``own`` are the lines of ``solve`` itself, ``calls`` those of each call's kernels. What the
    first call printed is not told again; lines may come in another order."""
    lines = [*own, *(calls[0] if calls else ())]
    for number, later in enumerate(calls[1:], start=2):
        if sorted(later) != sorted(calls[0]):
            lines += [f"(call {number} of solve, on the same inputs:)", *later]
    return tuple(lines[:MOST_PRINTED])


def without_a_launch(plan: LaunchPlan) -> tuple[Hazard, ...]:
    """The error of a ``solve`` that asks the device for nothing, in its first call or in a later one."""
    from harness.plan import Copy, Launch, Memset, Upload

    first, later = (
        [step for step in one.steps if isinstance(step, Launch | Memset | Copy | Upload)] for one in (plan, plan.later)
    )
    if not first:
        return (Hazard("no_launch", Severity.ERROR, NO_LAUNCH, remedy=LAUNCH_ONE),)
    if not later:
        return (Hazard("no_launch", Severity.ERROR, NO_LAUNCH_AGAIN, first[-1].line, remedy=LAUNCH_EACH_TIME),)
    return ()


def without_a_kernel(plan: LaunchPlan) -> tuple[Hazard, ...]:
    """A note of a ``solve`` that has only memory filled or copied: that may be all there is to do, and mostly isn't."""
    message = f"{NO_LAUNCH}: it only fills or copies memory"
    return () if plan.launches else (Hazard("no_launch", Severity.NOTE, message, remedy=LAUNCH_ONE),)


def _simulated(gpu_index: int) -> Device:
    from harness.devices.simulated import SimulatedDevice  # numpy-heavy: only when a kernel runs

    return SimulatedDevice()


def _gpu(gpu_index: int) -> Device:
    from harness.devices.gpu import GpuDevice

    return GpuDevice(gpu_index)


def _auto(gpu_index: int) -> Device:
    """A GPU where one can be used; `kata doctor` says why not."""
    from harness.devices.gpu_probe import pycuda_installed

    if pycuda_installed():
        with contextlib.suppress(EnvironmentFault):
            return _gpu(gpu_index)
    return _simulated(gpu_index)


#: What ``--device`` takes.
DEVICES = {"auto": _auto, "sim": _simulated, "gpu": _gpu}


def open_device(name: str = "auto", gpu_index: int = 0) -> Device:
    """The device that ``--device NAME`` means. UsageError for another name, EnvironmentFault where it's not there."""
    try:
        opener = DEVICES[name]
    except KeyError:
        raise UsageError(f"there is no device {name!r}", remedy=f"one of: {', '.join(DEVICES)}") from None
    return opener(gpu_index)

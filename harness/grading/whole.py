"""Which elements a kernel leaves out at a size at which it is only counted: found by running its whole grid.

What a sample of the blocks shows of that is an estimate, wrong where blocks are unlike each other. Here every block of
every launch runs, cut down to what decides addresses and branches (:mod:`harness.simulator.slicing`), and marks what
it reads and writes. It is done twice. First over arrays of which nothing is known, as in
:mod:`harness.grading.certain`: what ends well there was decided by the arguments of the launches, the places of the
blocks and constants alone, so it is so on any inputs and a GPU too, and a fault on the way is one there. Where
something is decided by what memory holds, it is done over made-up inputs instead. That shows what a kernel can reach,
and is no proof of what it can't.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import source
from harness.catalogue import Kata, Parameter
from harness.compile import compile_program
from harness.devices.simulated import Session, SimulatedDevice, SimulatedExecutable
from harness.errors import KataError, KernelFault
from harness.grading.certain import TOO_LONG, UNKNOWN, Unknowing, planned
from harness.plan import Copy, Launch, LaunchPlan, Malloc, Memset, Upload
from harness.profiling import filled
from harness.results import Hazard, Severity
from harness.simulator import Machine
from harness.simulator.covering import Coverage, TooMuch, Words

#: The kind of hazard that leaving elements out is.
LEFT_OUT = "left_out"

#: What one look may cost, in the measure of :class:`Coverage`: 5 to 15 s.
WORK = 10**10

_REMEDY = "look for what is too small for this size: a limit on the grid, the type of an index"


@dataclass(frozen=True)
class Seen:
    """What running the whole grid came to. ``certain`` is what goes wrong on any inputs, None for nothing that is
    known to; ``whole`` says that every element was reached."""

    certain: Hazard | None = None
    whole: bool = False


def see(kata: Kata, path: Path, label: str, sizes: Mapping[str, Any], work: int = WORK) -> Seen:
    """Run the kernels in ``path`` whole at these ``sizes``, called ``label``; each look may cost so much ``work``."""
    program = source.parse(path, kata)
    device = SimulatedDevice()
    try:
        executable = device.load(program, compile_program(program, arch=device.arch))
        call = _Call(kata, executable, label, dict(sizes))
        blind = call.planned(_Blind(executable.module, coverage=Coverage(work)))
        try:
            missed = blind.missed()
            return Seen(missed, whole=missed is None)
        except KernelFault as fault:
            if fault.hazard.kind not in (UNKNOWN, TOO_LONG):
                return Seen(fault.hazard)
        sighted = call.planned(_Sighted(executable.module, coverage=Coverage(work)))
        return Seen(whole=sighted.missed() is None)
    except (KataError, MemoryError, TooMuch):  # it can't be run here: nothing is known
        return Seen()


@dataclass(frozen=True)
class _Call:
    """One call of ``solve``."""

    kata: Kata
    executable: SimulatedExecutable
    label: str
    sizes: dict[str, int]

    def planned(self, session: _Blind | _Sighted) -> _Planned:
        """Give it its arrays. Raises KernelFault for what CUDA would refuse of a GPU of the simulator's, which the one
        that the time is for may allow."""
        arguments, plan = planned(self.kata, self.executable, session.reserve, self.sizes)
        names = self.executable.program.parameter_names
        arrays = [
            _Array(name, address, written=parameter.role != "in")
            for parameter, name, address in zip(self.kata.parameters, names, arguments, strict=True)
            if parameter.pointer
        ]
        return _Planned(session, plan, self.label, sorted(arrays, key=lambda one: not one.written))


@dataclass(frozen=True)
class _Array:
    """One of solve's arrays, which has to be ``written`` whole, else to be read so."""

    name: str
    address: int
    written: bool


@dataclass(frozen=True)
class _Planned:
    """A call that is ready to be made, and its arrays: outputs first."""

    session: _Blind | _Sighted
    plan: LaunchPlan
    label: str
    arrays: list[_Array]

    def missed(self) -> Hazard | None:
        """Make it. What of an output is not written, else what of an input is not read; None for nothing. Raises
        KernelFault, Unsupported and TooMuch."""
        self.session.perform_all(self.plan)
        return next(filter(None, map(self._left_out, self.arrays)), None)

    def _left_out(self, array: _Array) -> Hazard | None:
        words, name = self.session.touched(array.address, written=array.written), array.name
        missed = words.missed()
        if not len(missed):
            return None
        first, left = int(missed[0]), len(missed)
        if left == words.count:
            told = f"nothing is written to {name}" if array.written else f"nothing of {name} is read"
        elif first + left == words.count:
            deed = "written" if array.written else "read"
            told = f"only the first {first:,} of {words.count:,} elements of {name} are {deed}"
        else:
            verb = "writes" if array.written else "reads"
            told = f"it never {verb} {left:,} of {words.count:,} elements of {name}: {name}[{first}] is the first"
        return Hazard(LEFT_OUT, Severity.ERROR, f"at {self.label} {told}", remedy=_REMEDY)


@dataclass
class _Whole(Session):
    """A call of ``solve`` whose launches run whole, and mark what they touch."""

    coverage: Coverage = field(kw_only=True)

    def touched(self, address: int, *, written: bool) -> Words:
        """What was written, or read, of the array that starts there."""
        allocation = self.memory.find(address)
        assert allocation is not None  # it is one of solve's
        (words,) = self.coverage.of(allocation, "write" if written else "read")
        return words

    def launch(self, step: Launch) -> None:
        """Run every block."""
        self.machine.launch(
            step.kernel, step.grid, step.block, step.shared_bytes, step.args, step.name, tally=self.coverage,
            line=step.line,
        )  # fmt: skip

    def memset(self, step: Memset) -> None:
        """Fill bytes, which counts as writing them."""
        super().memset(step)
        self._mark(step.address, step.nbytes, "write")

    def upload(self, step: Upload) -> None:
        """Write bytes."""
        super().upload(step)
        self._mark(step.address, len(step.data), "write")

    def copy(self, step: Copy) -> None:
        """Copy bytes: they are read, and written."""
        super().copy(step)
        self._mark(step.source, step.nbytes, "read")
        self._mark(step.target, step.nbytes, "write")

    def _mark(self, address: int, nbytes: int, verb: str) -> None:
        allocation, start = self._range(address, nbytes, "cudaMemcpy", None)
        for words in self.coverage.of(allocation, verb):
            words.touch_range(start, nbytes)


@dataclass
class _Blind(_Whole, Unknowing):
    """One over arrays of which nothing is known."""


@dataclass
class _Sighted(_Whole):
    """One over made-up inputs, and zeros where nothing was written."""

    def __post_init__(self) -> None:
        self.machine = Machine(self.module, self.memory, printer=self.print, watch_races=False)

    def reserve(self, parameter: Parameter, name: str, sizes: Mapping[str, int]) -> int:
        """Give a pointer its array, and return the address."""
        return filled(self.memory, parameter, name, sizes).address

    def malloc(self, step: Malloc) -> None:
        """Scratch memory."""
        self.memory.allocate("scratch", step.nbytes, kind="scratch", address=step.address, written=True)

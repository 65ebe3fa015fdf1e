"""What a kernel does wrong at a size at which it can't be run whole, where that is certain.

Without a GPU a kernel is only counted at the size that it is timed at: some of its blocks run, over made-up inputs and
zeros where other blocks or earlier launches would have written. A fault met there may come of that. It is the kernel's
own where one block comes to it whatever memory holds. So the block that faulted is run once more, alone, over arrays of
which nothing is known, inputs included: what it reads from them counts as never written, and the simulator follows that
until an address, a branch or an atomic uses it (:mod:`harness.simulator.garbage`). A block that faults before then has
come there by the arguments of its launch, its place in the grid and constants alone, and does so on any inputs,
whatever other blocks do. Of any other fault nothing is said.

What ``solve`` asks of CUDA depends on its arguments alone, so a call that CUDA refuses is certain too, and so is a
``solve`` that asks for nothing. Both are held against the limits of the simulated GPU's architecture, as in every other
case; of memory there is as much as its largest GPU has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import source
from harness.catalogue import Kata, Parameter
from harness.compile import compile_program
from harness.devices import without_a_launch
from harness.devices.simulated import MEMORY_BYTES, Session, SimulatedDevice, SimulatedExecutable
from harness.errors import KataError, KernelFault
from harness.launch_rules import SM_80
from harness.plan import Copy, Launch, LaunchPlan, Malloc, make_plan
from harness.references import Case
from harness.results import Hazard
from harness.simulator import Budget, Machine
from harness.simulator.memory import Unknown

LIMITS = replace(SM_80, memory_bytes=MEMORY_BYTES)

#: What a block comes to that uses a value it can't know, or that takes too long: it shows nothing.
UNKNOWN, TOO_LONG = "uninitialised", "unfinished"

#: Seconds of the simulator that one block may take.
_SECONDS = 10.0


def certain_fault(kata: Kata, path: Path, case: Case, suspect: Hazard | None) -> Hazard | None:
    """The error that the kernels in ``path`` come to in a case, whatever its inputs hold; None where none is certain.

    ``suspect`` is the fault that was met when some blocks were run, None where none was.
    """
    device = SimulatedDevice()
    sizes = dict(case.sizes)
    try:
        program = source.parse(path, kata)
        executable = device.load(program, compile_program(program, arch=device.arch))
        session = _Alone(executable.module, suspect=suspect)
        _, plan = planned(kata, executable, session.reserve, sizes)
        return session.find(plan)
    except KernelFault as fault:
        return None if fault.hazard.kind == TOO_LONG else fault.hazard
    except (KataError, MemoryError):  # it can't be run here: nothing is known
        return None


#: Gives ``solve`` the array of a parameter, by its name in the file, at some sizes, and returns its address.
Reserve = Callable[[Parameter, str, dict[str, int]], int]


def planned(
    kata: Kata, executable: SimulatedExecutable, reserve: Reserve, sizes: dict[str, int]
) -> tuple[tuple[int, ...], LaunchPlan]:
    """The arguments of one call of ``solve`` at ``sizes``, and what it does with them. Raises SourceError, and
    KernelFault for what CUDA would refuse on the simulated GPU."""
    program = executable.program
    arguments = tuple(
        reserve(parameter, name, sizes) if parameter.pointer else sizes[parameter.name]
        for parameter, name in zip(kata.parameters, program.parameter_names, strict=True)
    )
    return arguments, make_plan(
        executable.module, executable.compiled, arguments, limits=LIMITS, source_name=program.path.name
    )


@dataclass
class Unknowing(Session):
    """A call of ``solve`` for which of all memory but constants nothing is known; it is of the kind in which anything
    may be kept, also what is not known."""

    def __post_init__(self) -> None:
        self.machine = Machine(self.module, self.memory, printer=self.print, budget=Budget(_SECONDS), watch_races=False)
        for variable in self.memory.live("global"):
            variable.kind, variable.backing = "scratch", Unknown(variable.nbytes)

    def reserve(self, parameter: Parameter, name: str, sizes: dict[str, int]) -> int:
        """Give a pointer its array, and return the address."""
        nbytes = 4 * math.prod(parameter.shape_for(sizes))
        return self.memory.allocate(name, nbytes, kind="scratch", known=False).address

    def malloc(self, step: Malloc) -> None:
        """Scratch memory that anything may have written."""
        self.memory.allocate("scratch", step.nbytes, kind="scratch", address=step.address, known=False)

    def copy(self, step: Copy) -> None:
        """What comes from the device is not known."""
        self._range(step.source, step.nbytes, "cudaMemcpy", step.line)
        target, _ = self._range(step.target, step.nbytes, "cudaMemcpy", step.line)
        target.backing = Unknown(target.nbytes)


@dataclass
class _Alone(Unknowing):
    """One in which each launch of the suspected kernel runs the suspected block alone, and other launches don't run."""

    suspect: Hazard | None = field(kw_only=True)

    def find(self, plan: LaunchPlan) -> Hazard | None:
        """The error of a call that does nothing. Raises KernelFault for any other."""
        self.perform_all(plan)
        return next(iter(without_a_launch(plan)), None)

    def launch(self, step: Launch) -> None:
        """Run the suspected block. Raises KernelFault for what it does without knowing what memory holds."""
        suspect = self.suspect
        if suspect is None or suspect.block is None or suspect.kernel != step.name:
            return
        (x, y, z), (columns, rows, layers) = suspect.block, step.grid
        if x >= columns or y >= rows or z >= layers:
            return
        try:
            self.machine.launch(
                step.kernel, step.grid, step.block, step.shared_bytes, step.args, step.name,
                blocks=(x + columns * (y + rows * z),), line=step.line,
            )  # fmt: skip
        except KernelFault as fault:
            if fault.hazard.kind != UNKNOWN:
                raise

"""A real GPU as a device. A process of its own holds it (gpu_worker), and is all that a faulting kernel ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.devices import CALLS, Argument, Buffer, Launched, Run, printed_lines, without_a_launch
from harness.devices.gpu_findings import Finding
from harness.devices.gpu_link import KERNEL_SECONDS, Link, WorkerFault
from harness.devices.gpu_messages import ArithmeticProbe, Content, CopyProbe, Facts, Loaded, Outcome, RedZone, Source
from harness.devices.gpu_probe import find_nvcc, pycuda_installed
from harness.errors import EnvironmentFault, KernelFault
from harness.plan import LaunchPlan, make_plan
from harness.results import Hazard, Severity
from harness.simulator import Module
from harness.source import ENTRY

if TYPE_CHECKING:
    from harness.compile import Compiled
    from harness.source import Program

#: The part of the GPU's free memory that can be counted on: allocations are rounded up, and kernels have scratch.
_USABLE = 0.9

#: Seconds that a round of a race may take, its slowest kernels included.
_ROUND_SECONDS = 60.0

#: What CUDA says of a fault, the class it has here, and what it means; the first that matches.
_OUT_OF_MEMORY = "out of memory"
_FAULTS = (
    ("illegal memory access", "out_of_bounds", "read or wrote memory that is not its own"),
    ("misaligned address", "misaligned", "used an address that is no multiple of the size it reads or writes"),
    ("device-side assert", "assert", "failed an assert"),
    ("illegal instruction", "trap", "stopped at a trap"),
    ("unspecified launch failure", "trap", "stopped at a trap, or misused shared or local memory"),
    (_OUT_OF_MEMORY, "launch", "found too little GPU memory"),
    ("too many resources", "launch", "needs more registers or shared memory than a block can have"),
    ("invalid argument", "launch", "was launched in a way that the GPU refuses"),
    ("invalid configuration", "launch", "was launched in a way that the GPU refuses"),
)  # fmt: skip
#: ``mine.cu:4: void k(...): block: [0,0,0], thread: [5,0,0] Assertion `i != 5` failed.``
_ASSERTED = re.compile(r":(?P<line>\d+): .*thread: \[(?P<thread>[\d,]+)\] Assertion `(?P<what>.*)` failed")
_LOOK_CLOSER = "kata check --device sim names the thread, the address and the line"


@dataclass
class GpuDevice:
    """The GPU numbered ``index``. EnvironmentFault where it, its driver or PyCUDA is missing.

    ``wrapper`` is the command of a tool that watches it, under which kernels may take ``patience`` times as long.
    """

    index: int = 0
    wrapper: tuple[str, ...] = ()
    patience: float = 1.0
    link: Link = field(init=False)
    facts: Facts = field(init=False)

    def __post_init__(self) -> None:
        if not pycuda_installed():
            raise EnvironmentFault(
                "PyCUDA is not installed, so no GPU can be used",
                remedy="kata doctor says what a GPU takes; kata check does without one",
            )  # fmt: skip
        self.start()

    def start(self) -> None:
        """A worker that holds the GPU."""
        self.link = Link(self.wrapper)
        try:
            self.facts = self.link.ask("open", self.index, bool(self.wrapper))
        except WorkerFault as fault:
            self.link.close()
            raise EnvironmentFault(
                f"GPU {self.index} can't be used: {fault.text}",
                remedy="kata doctor says what is missing; kata check --device sim needs no GPU",
            ) from fault  # fmt: skip

    @property
    def name(self) -> str:
        """``NVIDIA H200``."""
        return self.facts.name

    @property
    def arch(self) -> str:
        """``sm_90``."""
        return self.facts.arch

    def load(self, program: Program, compiled: Compiled) -> GpuExecutable:
        """Make ready one program."""
        return GpuExecutable(self, program, compiled)

    def load_all(self, executables: Sequence[GpuExecutable]) -> None:
        """Send programs to the worker together, so that they are compiled side by side."""
        missing = [one for one in executables if one.link is not self.link]
        sources = tuple(one.source for one in missing)
        loaded: tuple[Loaded, ...] = self.link.ask("load", sources) if missing else ()
        for executable, result in zip(missing, loaded, strict=True):
            executable.link, executable.loaded = self.link, result

    def ready(self) -> None:
        """Start another worker where the last has ended."""
        if not self.link.alive:
            self.start()

    def has_room(self, nbytes: int) -> bool:
        """Whether a race over buffers of ``nbytes`` fits in the memory that is free: they are there twice, and a copy
        probe moves as much."""
        self.ready()
        free: int = self.link.ask("free")
        return 3 * nbytes + self.facts.flush_bytes <= _USABLE * free

    def race(
        self, executables: Sequence[GpuExecutable], arguments: tuple[Argument, ...], copied_bytes: int
    ) -> GpuRace:
        """Line programs up to be timed over the same buffers, with a copy of ``copied_bytes`` and plain arithmetic.

        KernelFault for what a launch does wrong; EnvironmentFault where the GPU's memory can't hold the buffers.
        """
        self.ready()
        try:
            self.load_all(executables)
            addresses = self.link.ask("place", contents_of(arguments))
            plans = [executable.plan(arguments, addresses, []) for executable in executables]
            entrants = [(one.handle, plan) for one, plan in zip(executables, plans, strict=True)]
            probes = CopyProbe(copied_bytes), ArithmeticProbe()
            self.link.ask("line_up", (*entrants, *probes), seconds=_ROUND_SECONDS)
        except WorkerFault as fault:
            if _OUT_OF_MEMORY in fault.text:
                raise EnvironmentFault("the GPU's memory can't hold what would be timed") from fault
            raise KernelFault(fault_hazard(fault)) from fault
        return GpuRace(self, [plan.later for plan in plans])

    def sanitize(
        self, program: Program, compiled: Compiled, cases: Sequence[tuple[Argument, ...]]
    ) -> tuple[Finding, ...]:
        """What compute-sanitizer finds in these cases. EnvironmentFault where it is not installed."""
        from harness.devices.gpu_sanitizer import sanitize  # it opens devices of its own

        return sanitize(self.index, program, compiled, cases)

    def close(self) -> None:
        """Give the GPU back."""
        self.link.close()


def contents_of(arguments: tuple[Argument, ...]) -> tuple[Content, ...]:
    """What the worker is told of the buffers among ``arguments``."""
    return tuple(
        Content(one.name, one.data.nbytes, one.data.itemsize,
                None if one.unset and one.data.nbytes % 2 == 0 else one.data.reshape(-1).view(np.uint8))
        for one in arguments if isinstance(one, Buffer)
    )  # fmt: skip


@dataclass
class GpuExecutable:
    """A program for the GPU. Its plan is made in the simulator, which runs ``solve``, with the GPU's addresses."""

    device: GpuDevice
    program: Program
    compiled: Compiled
    link: Link | None = None
    loaded: Loaded | None = None

    @cached_property
    def module(self) -> Module:
        """What the plan is made with."""
        return Module.parse(self.compiled.ptx, self.program.path.name)

    @property
    def source(self) -> Source:
        """What the worker is given."""
        kernels = tuple(name for name in self.compiled.resources if name != ENTRY)
        return Source(self.program.path.name, self.program.text, self.compiled.cubin, kernels)

    @property
    def handle(self) -> int:
        """What the worker calls it, once loaded."""
        assert self.loaded is not None
        return self.loaded.handle

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of how it was built."""
        if self.loaded is None or self.loaded.remark is None:
            return ()
        first = next((line for line in self.loaded.remark.splitlines() if "error" in line), "")
        return (f"{find_nvcc()} refuses {self.program.path.name}, so NVRTC's build of it ran: {first}",)

    def plan(self, arguments: tuple[Argument, ...], addresses: Sequence[int], printed: list[str]) -> LaunchPlan:
        """What ``solve`` does with buffers at these addresses. SourceError, and KernelFault for a refused launch."""
        places = iter(addresses)
        values = tuple(next(places) if isinstance(one, Buffer) else one for one in arguments)
        return make_plan(
            self.module, self.compiled, values, limits=self.device.facts.limits,
            source_name=self.program.path.name, printer=printed.append,
        )  # fmt: skip

    def run(self, arguments: tuple[Argument, ...]) -> Run:
        """Call ``solve`` twice. SourceError, and KernelFault for a launch that CUDA would refuse."""
        self.device.ready()
        printed: list[str] = []
        plan: LaunchPlan | None = None
        try:
            self.device.load_all([self])
            addresses = self.device.link.ask("place", contents_of(arguments))
            plan = self.plan(arguments, addresses, printed)
            seconds = KERNEL_SECONDS * self.device.patience
            outcome: Outcome = self.device.link.ask("run", self.handle, plan, seconds=seconds)
        except WorkerFault as fault:
            outcome = Outcome((), ())
            hazard: Hazard | None = fault_hazard(fault)
        else:
            hazard = None
            if outcome.fault:
                self.device.link.close()  # a context that faulted is of no further use
                hazard = fault_hazard(WorkerFault(outcome.fault, outcome.launch), "".join(outcome.printed))
        lines = printed_lines(printed, *(text.splitlines() for text in outcome.printed))
        planned = (*plan.hazards, *without_a_launch(plan)) if plan else ()
        hazards = (*planned, *map(red_zone_hazard, outcome.red_zones))
        launches = tuple(Launched(one.grid, one.block) for one in plan.launches) if plan else ()
        calls = tuple(_named(call, arguments) for call in outcome.calls)
        if hazard is None and len(calls) < CALLS:
            raise RuntimeError(f"the GPU's process finished {len(calls)} calls of {CALLS}")
        return Run(calls, launches, hazards, lines, hazard)


@dataclass
class GpuRace:
    """Programs lined up over the same buffers: entrants 0, 1, ... and then a copy and plain arithmetic."""

    device: GpuDevice
    plans: list[LaunchPlan]

    @property
    def arithmetic_flops(self) -> float:
        """Floating-point operations of one run of the plain arithmetic."""
        return ArithmeticProbe().flops(self.device.facts.multiprocessors)

    def ask(self, method: str, *arguments: Any) -> Any:
        """The worker's answer; KernelFault where a kernel ends the worker."""
        try:
            return self.device.link.ask(method, *arguments, seconds=_ROUND_SECONDS)
        except WorkerFault as fault:
            raise KernelFault(fault_hazard(fault)) from fault

    def sample(self, order: Sequence[int]) -> tuple[float, ...]:
        """Seconds of one run of each of these entrants, one after the other."""
        times: tuple[float, ...] = self.ask("sample", tuple(order))
        return times

    def fresh(
        self, entrant: int, arguments: tuple[Argument, ...]
    ) -> tuple[float, dict[str, np.ndarray], tuple[Hazard, ...]]:
        """One run over inputs that no run has seen: its seconds, what every buffer holds after it, what it broke."""
        seconds, outcome = self.ask("fresh", entrant, contents_of(arguments))
        return seconds, _named(outcome.calls[0], arguments), tuple(map(red_zone_hazard, outcome.red_zones))


def _named(call: Sequence[np.ndarray | None], arguments: tuple[Argument, ...]) -> dict[str, np.ndarray]:
    """A call's bytes as the arrays they are, by the buffers' names."""
    buffers = [one for one in arguments if isinstance(one, Buffer)]
    return {
        buffer.name: buffer.data if data is None else data.view(buffer.data.dtype).reshape(buffer.data.shape)
        for buffer, data in zip(buffers, call, strict=True)
    }


def fault_hazard(fault: WorkerFault, printed: str = "") -> Hazard:
    """What ended the worker, naming the kernel. ``printed`` is where the driver prints an assert that failed."""
    name, line = fault.launch or ("solve", None)
    asserted = _ASSERTED.search(printed)
    if asserted:
        message = f"{name}: the assert {asserted['what']} failed for thread ({asserted['thread']})"
        return Hazard("assert", Severity.ERROR, message, int(asserted["line"]), name)
    if fault.hung:
        message = f"{name} does not end: the GPU still ran it after {KERNEL_SECONDS:.0f} s"
        remedy = "check the condition and step of its loops"
        return Hazard("runaway", Severity.ERROR, message, line, name, remedy=remedy)
    for words, kind, meaning in _FAULTS:
        if words in fault.text:
            message = f"{name} {meaning} (CUDA: {fault.text})"
            return Hazard(kind, Severity.ERROR, message, line, name, remedy=_LOOK_CLOSER)
    return Hazard("crash", Severity.ERROR, f"{name} did not finish: {fault.text}", line, name, remedy=_LOOK_CLOSER)


def red_zone_hazard(zone: RedZone) -> Hazard:
    """The error of a red zone that changed."""
    side = "before its start" if zone.element < 0 else "past its end"
    message = f"a kernel writes {zone.name}[{zone.element}], {side}"
    return Hazard("out_of_bounds", Severity.ERROR, message, count=zone.changed, remedy=_LOOK_CLOSER)

"""The device that needs no GPU: the plan's launches run in the simulator, each buffer an allocation of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.devices import (
    CALLS,
    MOST_PRINTED,
    Buffer,
    Launched,
    Run,
    printed_lines,
    without_a_kernel,
    without_a_launch,
)
from harness.errors import KernelFault, Unsupported
from harness.mangling import plain_name
from harness.plan import Copy, Free, Launch, LaunchPlan, Malloc, Memset, Refused, SetAttribute, Step, Upload, make_plan
from harness.results import Hazard, Severity
from harness.simulator import Machine, Memory, Module
from harness.simulator.inline import Recursion
from harness.simulator.memory import Allocation, Backing

if TYPE_CHECKING:
    from harness.compile import Compiled
    from harness.source import Program


#: Memory of the GPU that is simulated, an A100 of 80 GB.
MEMORY_BYTES = 80 * 10**9

#: Bytes of an element: a float's or an int's, as all arrays of the katas have them.
ELEMENT = 4


@dataclass(frozen=True)
class SimulatedDevice:
    """The simulator as a device of one architecture."""

    arch: str = "sm_80"

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"simulated {self.arch}"

    def load(self, program: Program, compiled: Compiled) -> SimulatedExecutable:
        """Read the program's PTX, once for all its cases."""
        return SimulatedExecutable(program, compiled, Module.parse(compiled.ptx, program.path.name))

    def close(self) -> None:
        """It holds nothing."""


@dataclass(frozen=True)
class SimulatedExecutable:
    """A program whose ``solve`` runs in the simulator. Memory and module variables are fresh in each :meth:`run`."""

    program: Program
    compiled: Compiled
    module: Module

    @property
    def remarks(self) -> tuple[str, ...]:
        """None: it was built as it always is."""
        return ()

    def run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
        """Call ``solve`` twice. SourceError, Unsupported, and KernelFault for what CUDA would refuse, or for what goes
        wrong before it."""
        name = self.program.path.name
        try:
            return self._run(arguments, name)
        except Recursion as endless:
            message = f"{plain_name(endless.function)} calls itself: recursion on the device is not simulated"
            raise Unsupported(message, file=name, line=endless.line, remedy=endless.remedy) from endless
        except Unsupported as unknown:
            unknown.file = name
            raise

    def _run(self, arguments: tuple[Buffer | int | float, ...], name: str) -> Run:
        session = Session(self.module)
        values = tuple(session.place(one) if isinstance(one, Buffer) else one for one in arguments)
        try:
            plan = make_plan(self.module, self.compiled, values, source_name=name, printer=session.print)
        except Refused as refused:
            for call in refused.before:
                session.call(call)
            raise
        return session.run(plan)


@dataclass
class Session:
    """One case: the memory its calls share, and what they did. Others may perform a plan's steps in another way."""

    module: Module
    memory: Memory = field(default_factory=Memory)
    buffers: list[tuple[Buffer, Allocation]] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)
    #: What solve itself printed, then what the kernels of each call did.
    printed: list[list[str]] = field(default_factory=lambda: [[]])
    #: By target, calls that write a quarter of it: the function, its line, the bytes, and those of the target.
    short: dict[str, tuple[str, int | None, int, int]] = field(default_factory=dict)
    machine: Machine = field(init=False)

    def __post_init__(self) -> None:
        self.machine = Machine(self.module, self.memory, printer=self.print)

    def place(self, buffer: Buffer) -> int:
        """Give a buffer its allocation, and return the address."""
        kind = "input" if buffer.only_read else "buffer"
        allocation = self.memory.allocate(buffer.name, buffer.data.nbytes, kind=kind)
        self.buffers.append((buffer, allocation))
        return allocation.address

    def run(self, plan: LaunchPlan) -> Run:
        """The calls, one after the other, until a fault ends them."""
        launches = tuple(Launched(step.grid, step.block) for step in plan.launches)
        self.hazards += plan.hazards + (without_a_launch(plan) or without_a_kernel(plan))
        calls: list[dict[str, np.ndarray]] = []
        fault: Hazard | None = None
        try:
            while len(calls) < CALLS:
                self.printed.append([])
                self.machine.in_turn = bool(calls)
                calls.append(self.call(plan.later if calls else plan))
        except KernelFault as error:
            fault = self._with_cause(error.hazard)
            if plan.hazards and not calls:
                open_order = "the streams leave the order open, and this call ran in another than was asked for: "
                fault = replace(fault, remedy=f"{open_order}{plan.hazards[0].remedy}")
        return Run(tuple(calls), launches, tuple(self.hazards), printed_lines(*self.printed), fault)

    def call(self, plan: LaunchPlan) -> dict[str, np.ndarray]:
        """One call of solve over restored buffers: what they hold after it. Raises KernelFault."""
        for buffer, allocation in self.buffers:
            content = buffer.data.reshape(-1).view(np.uint8)
            allocation.backing = Backing(allocation.nbytes, data=content, written=not buffer.unset)
        self.perform_all(plan)
        if plan.again is None:
            self._collect_scratch(plan)
        return {
            buffer.name: allocation.data.copy().view(buffer.data.dtype).reshape(buffer.data.shape)
            for buffer, allocation in self.buffers
        }

    def _with_cause(self, fault: Hazard) -> Hazard:
        """A fault, with what is at the bottom of it where elements were set or copied as if they were bytes."""
        for name, (function, line, nbytes, whole) in self.short.items():
            if fault.kind == "uninitialised" and f" {name}[" in fault.message:
                remedy = (
                    f"{function} on line {line} writes {nbytes:,} of the {whole:,} bytes of {name}: it counts bytes, "
                    "not elements. Multiply by sizeof(float)"
                )
                return replace(fault, remedy=remedy)
        return fault

    def perform_all(self, plan: LaunchPlan) -> None:
        """Do the steps of the plan, one after the other. Raises KernelFault."""
        for step in plan.steps:
            self.perform(step)

    def perform(self, step: Step) -> None:
        """Do one step of the plan. Raises KernelFault."""
        getattr(self, _STEPS[type(step)])(step)

    def _collect_scratch(self, plan: LaunchPlan) -> None:
        """Free what solve forgot to, so that the next call finds the addresses of its plan free again. What an earlier
        call left to this one is kept on purpose."""
        lines = {step.address: step.line for step in plan.left}
        for left in self.memory.live("scratch"):
            self.memory.free(left.address)
            if left.address in lines:
                message = f"{left.nbytes} bytes of scratch memory are never freed"
                remedy = "cudaFree it before solve returns"
                self.hazards.append(Hazard("leak", Severity.NOTE, message, lines[left.address], remedy=remedy))

    def print(self, line: str) -> None:
        """Keep a line that a kernel or solve printed, up to a bound."""
        if len(self.printed[-1]) < MOST_PRINTED:
            self.printed[-1].append(line)

    def launch(self, step: Launch) -> None:
        """Run a kernel."""
        report = self.machine.launch(
            step.kernel, step.grid, step.block, step.shared_bytes, step.args, step.name, line=step.line
        )
        self.hazards += report.hazards

    def malloc(self, step: Malloc) -> None:
        """Make room for scratch memory, never written, where the plan has it."""
        if step.nbytes > MEMORY_BYTES:
            message = f"cudaMalloc of {step.nbytes:,} bytes is more than a GPU has (cudaErrorMemoryAllocation)"
            remedy = "a size in bytes went wrong, or a negative one became huge"
            raise KernelFault(Hazard("out_of_memory", Severity.ERROR, message, step.line, remedy=remedy))
        again = self.memory.find(step.address)
        if again is None:
            self.memory.allocate("scratch", step.nbytes, kind="scratch", address=step.address)
        else:  # the second call's: the same bytes, unwritten as before
            again.freed = False
            again.backing = Backing(step.nbytes)

    def free(self, step: Free) -> None:
        """Give scratch memory back."""
        self.memory.free(step.address, step.line)

    def memset(self, step: Memset) -> None:
        """Fill bytes with a value."""
        target, place = self._range(step.address, step.nbytes, "cudaMemset", step.line)
        self._note_short(target, step.nbytes, "cudaMemset", step.line)
        target.data[place : place + step.nbytes] = step.value
        target.backing.mark_range(place, step.nbytes)

    def upload(self, step: Upload) -> None:
        """Write what solve copies from the host."""
        self._write(step.address, np.frombuffer(step.data, np.uint8), "cudaMemcpy", step.line)

    def copy(self, step: Copy) -> None:
        """Copy from device to device."""
        source, start = self._range(step.source, step.nbytes, "cudaMemcpy", step.line)
        target, place = self._range(step.target, step.nbytes, "cudaMemcpy", step.line)
        self._note_short(target, step.nbytes, "cudaMemcpy", step.line)
        written = source.written[start : start + step.nbytes].copy()
        target.data[place : place + step.nbytes] = source.data[start : start + step.nbytes].copy()
        if target.backing.written is not None:
            target.backing.written[place : place + step.nbytes] = np.where(written, 0xFF, 0)

    def _write(self, address: int, content: np.ndarray, function: str, line: int | None) -> None:
        target, place = self._range(address, content.size, function, line)
        self._note_short(target, content.size, function, line)
        target.data[place : place + content.size] = content
        target.backing.mark_range(place, content.size)

    def _note_short(self, target: Allocation, nbytes: int, function: str, line: int | None) -> None:
        """Keep in mind a call that writes as many bytes as its target has elements of four."""
        if nbytes * ELEMENT == target.nbytes:
            self.short[target.name] = function, line, nbytes, target.nbytes

    def _range(self, address: int, nbytes: int, function: str, line: int | None) -> tuple[Allocation, int]:
        """The allocation that holds all these bytes, and where in it they start; KernelFault where none does."""
        found = self.memory.find(address)
        if found is not None and not found.freed and address + nbytes <= found.address + found.nbytes:
            return found, address - found.address
        inside = found is not None and not found.freed
        kind, place = self.memory.explain(found.address + found.nbytes if found and inside else address, 1)
        message = f"{function} of {nbytes} bytes reaches {place} (cudaErrorInvalidValue)"
        raise KernelFault(Hazard(kind, Severity.ERROR, message, line))

    def allow(self, step: SetAttribute) -> None:
        """Shared memory over 48 KB was allowed: the plan has checked every launch against it."""


_STEPS: dict[type, str] = {
    Launch: "launch",
    Malloc: "malloc",
    Free: "free",
    Memset: "memset",
    Upload: "upload",
    Copy: "copy",
    SetAttribute: "allow",
}

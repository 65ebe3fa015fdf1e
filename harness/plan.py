"""``solve`` as data: its launches, scratch memory and copies, recorded by running it once.

``solve`` is compiled as device code (headers/kata.h) and one thread of the simulator runs it over pointers that point
nowhere, so that it can pass them on and do arithmetic on them, but not read through them. What it asks of the CUDA
runtime is written to a buffer, whose layout is kata.h's, and read back here as a :class:`LaunchPlan`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from harness.errors import KernelFault, SourceError
from harness.launch_rules import SM_80, LaunchLimits, launch_fault
from harness.mangling import plain_name
from harness.plan_rules import PlanRules, Refused
from harness.results import Hazard
from harness.simulator import Budget, Machine, Memory, Module
from harness.simulator.inline import Recursion
from harness.simulator.kernel import parameters_of
from harness.simulator.memory import LOCAL_WINDOW, WINDOW_BYTES
from harness.simulator.targets import written_through
from harness.source import ENTRY
from harness.steps import REACH, Copy, Free, Launch, LaunchPlan, Malloc, Memset, SetAttribute, Step, Upload
from harness.streams import Order, Use

if TYPE_CHECKING:
    from harness.compile import Compiled

__all__ = [
    "Copy", "Free", "Launch", "LaunchPlan", "Malloc", "Memset", "Refused", "SetAttribute", "Step", "Upload",
    "make_plan",
]  # fmt: skip

#: How many steps a plan can have (kata.h's figure): each takes a millisecond or two to record.
MOST_STEPS = 512

# Addresses no device hands out, and no two numbers side by side look like: a plan's buffer, and what stands in for
# solve's pointers, 1 TiB apart.
_BUFFER_AT = 0x4000_0000_0000
_ARGUMENTS_AT = 0x00A6_2C91_0000_0000
_ARGUMENT_GAP = 1 << 40

_WORD = re.compile(r"[\w$]+")
#: kata.h's own variables have this in their mangled names.
_OWN = "4kata"
#: Where the first call's scratch starts (kata.h), and far more bytes than are ever asked for.
_SCRATCH_AT, _SCRATCH_ROOM = 0x17A3C9D3B0000, 1 << 46

_HEADER = struct.Struct("<IIQQQ")
_STEP = struct.Struct("<Ii7Q")
_UPLOAD_ROOM = 1 << 18
_LAUNCH, _MALLOC, _FREE, _MEMSET, _COPY, _UPLOAD, _ATTRIBUTE = range(1, 8)
#: What only says who waits for whom, by kind: told to an order with the event and the stream.
_ORDERING: dict[int, Callable[[Order, int, int], None]] = {
    8: lambda order, event, stream: order.record(event, stream),
    9: lambda order, event, stream: order.let_wait(stream, event),
    10: lambda order, event, stream: order.wait_for_stream(stream),
    11: lambda order, event, stream: order.wait_for_event(event),
    12: lambda order, event, stream: order.wait_for_all(),
}
_RUNNING, _FINISHED, _TOO_MANY_STEPS, _UPLOAD_TOO_BIG, _DEVICE_TO_HOST, _MISSING = range(6)
_MAX_DYNAMIC_SHARED = 8  # cudaFuncAttributeMaxDynamicSharedMemorySize

#: Why ``solve`` refused to go on, by status: what it did, and the remedy.
_REFUSED = {
    _TOO_MANY_STEPS: (
        f"solve makes more than {MOST_STEPS} launches and CUDA calls, or uploads more than {_UPLOAD_ROOM // 1024} KiB",
        "loop inside the kernel, or let each launch do more",
    ),
    _UPLOAD_TOO_BIG: ("solve copies more than 64 KiB from the host at once", "compute it in a kernel instead"),
    _DEVICE_TO_HOST: (
        "solve copies device memory to the host: its launches can't depend on device data here",
        "keep the value on the device: pass its pointer to the next kernel",
    ),
    _MISSING: (
        "solve asks for a device attribute that is not known here",
        "write the value down, or use cudaGetDeviceProperties",
    ),
}
_BUDGET_SECONDS = 10.0
_MEMORY_KINDS = ("out_of_bounds", "use_after_free", "null_pointer", "misaligned", "read_only")


def make_plan(
    module: Module, compiled: Compiled, arguments: Sequence[int | float], *, limits: LaunchLimits = SM_80,
    source_name: str | None = None, printer: Callable[[str], None] | None = None,
) -> LaunchPlan:  # fmt: skip
    """Run ``solve`` and say what it does, in its first call and, where that differs, in a later one.

    ``arguments`` are solve's, in order: addresses for pointers. ``printer`` takes the lines ``solve`` prints. Raises
    SourceError for what ``solve`` may not do, and Refused with CUDA's name for what CUDA would refuse.
    """
    return _Planner(module, compiled, tuple(arguments), limits, source_name, printer or _silent).run()


@dataclass
class _Planner:
    module: Module
    compiled: Compiled
    arguments: tuple[int | float, ...]
    limits: LaunchLimits
    source_name: str | None
    printer: Callable[[str], None]

    def run(self) -> LaunchPlan:
        self._refuse_recursion()
        recordings = self._record()
        plan = self._plan(next(recordings))
        other = self._in_another_order(plan)
        if self._remembers():
            self.printer = _silent  # what solve prints is told once
            second = next(recordings)
            # Scratch lies elsewhere the second time. Where nothing else differs, each call does the same.
            moved = _HEADER.unpack_from(second)[4] - _SCRATCH_AT
            if self._plan(second, moved) != plan:
                plan = replace(plan, again=self._plan(second, inherited=plan.left))
        PlanRules(self.compiled.resources, self.limits).check(plan)
        return replace(other, again=plan.later) if other else plan

    def _in_another_order(self, plan: LaunchPlan) -> LaunchPlan | None:
        """The same in another order, where streams leave that open: so what they don't order is seen in one call."""
        if len(self.order.streams) < 2:
            return None
        steps = tuple(plan.steps[number] for number in self.order.backwards())
        if steps == plan.steps:
            return None
        found = self.order.clash(plan.steps, [self._uses(plan, step) for step in self.asked])
        return replace(plan, steps=steps, hazards=(found,) if found else ())

    def _uses(self, plan: LaunchPlan, step: Step) -> tuple[Use, ...]:
        """What a recorded step does in memory. Of a kernel, whether it may write where a pointer points."""
        match step:
            case Launch():
                words = [(place, *struct.unpack_from("<Q", step.args, place)) for place in self._places(step.kernel)]
                written = written_through(self.module, step.kernel)
                return tuple(
                    Use(self._real(word), 1, place in written) for place, word in words
                    if self._real(word) != word or plan.locate(word)
                )  # fmt: skip
            case Memset():
                return (Use(step.address, step.nbytes, True),)
            case Upload():
                return (Use(step.address, len(step.data), True),)
            case Copy():
                return Use(step.target, step.nbytes, True), Use(step.source, step.nbytes, False)
        return ()

    def _plan(self, recorded: bytes, moved: int = 0, inherited: tuple[Malloc, ...] = ()) -> LaunchPlan:
        """A recording as steps, scratch of its own ``moved`` back by so many bytes."""
        self.moved, self.order = moved, Order()
        plan = LaunchPlan(tuple(self._decode(recorded)), self._symbols(), inherited=inherited)
        self.asked = plan.steps
        return replace(plan, steps=tuple(self._settle(plan, step) for step in plan.steps))

    def _remembers(self) -> bool:
        """Whether ``solve`` names a variable that keeps its value: only then can a later call differ from the first."""
        body = self.module.kernel(ENTRY).flat.body
        words = {word for item in body if not isinstance(item, str) for word in _WORD.findall(item.text)}
        return any(_OWN not in name for name in words & self.module.variables.keys())

    def _record(self) -> Iterator[bytes]:
        """The buffer that ``solve`` wrote, once it returned: of its first call, its second, ..."""
        largest = max((self._argument_bytes(name) for name in self.module.entries if name != ENTRY), default=0)
        room = -(-largest // 8) * 8
        nbytes = _HEADER.size + MOST_STEPS * (_STEP.size + room) + _UPLOAD_ROOM
        memory = Memory()
        buffer = memory.allocate("plan", nbytes, address=_BUFFER_AT, kind="code")
        machine = Machine(
            self.module, memory, printer=lambda line: self.printer(line), budget=Budget(seconds=_BUDGET_SECONDS)
        )
        while True:
            buffer.data[:] = 0
            try:
                machine.launch(ENTRY, (1, 1, 1), (1, 1, 1), 0, self._pack(nbytes, room))
            except KernelFault as fault:
                self._refuse(fault.hazard, *_HEADER.unpack_from(buffer.data.tobytes())[:2])
            yield buffer.data.tobytes()

    def _pack(self, nbytes: int, room: int) -> bytes:
        kernel = self.module.kernel(ENTRY)
        values = [_BUFFER_AT, nbytes, room, *self.arguments]
        for index in self._pointers:
            values[3 + index] = _ARGUMENTS_AT + index * _ARGUMENT_GAP
        packed = bytearray(kernel.layout.parameter_bytes)
        for parameter, value in zip(kernel.parameters, values, strict=True):
            if isinstance(value, float):
                struct.pack_into("<f" if parameter.size == 4 else "<d", packed, parameter.offset, value)
            else:
                number = int(value) & ((1 << 8 * parameter.size) - 1)
                packed[parameter.offset : parameter.offset + parameter.size] = number.to_bytes(parameter.size, "little")
        return bytes(packed)

    @cached_property
    def _pointers(self) -> frozenset[int]:
        """Which arguments are addresses: the entry's parameters of eight bytes (kata scalars have four)."""
        parameters = self.module.kernel(ENTRY).parameters[3:]
        return frozenset(index for index, parameter in enumerate(parameters) if parameter.size == 8)

    def _real(self, address: int) -> int:
        """The device's address for one that is an offset from one of solve's pointers; any other as it is."""
        if self.moved and 0 <= address - self.moved - _SCRATCH_AT + REACH < _SCRATCH_ROOM:
            return address - self.moved
        index, offset = divmod(address - _ARGUMENTS_AT + _ARGUMENT_GAP // 2, _ARGUMENT_GAP)
        return int(self.arguments[index]) + offset - _ARGUMENT_GAP // 2 if index in self._pointers else address

    def _decode(self, recorded: bytes) -> Iterator[Step]:
        _, _, count, _, _ = _HEADER.unpack_from(recorded)
        at = _HEADER.size
        for _ in range(count):
            kind, line, *words, payload = _STEP.unpack_from(recorded, at)
            at += _STEP.size
            for step in self._step(kind, line or None, words, recorded[at : at + payload]):
                self._put_in_order(step, words)
                yield step
            if kind in _ORDERING:
                _ORDERING[kind](self.order, words[0], words[5])
            at += -(-payload // 8) * 8

    def _put_in_order(self, step: Step, words: list[int]) -> None:
        match step:
            case Malloc() | SetAttribute():
                self.order.issue_and_wait(for_all=False)
            case Free() if words[1]:
                self.order.issue_and_wait(for_all=True)
            case Upload():
                self.order.issue(words[5])
                self.order.wait_for_stream(words[5])  # the host may change what it copied
            case _:
                self.order.issue(words[5])

    def _step(self, kind: int, line: int | None, words: list[int], payload: bytes) -> Iterator[Step]:
        first, second, third = words[0], words[1], words[2]
        if kind == _LAUNCH:
            halves = [half for word in words[1:4] for half in (word & 0xFFFFFFFF, word >> 32)]
            kernel = self._kernel(first, line)
            size = self._argument_bytes(kernel)
            grid, block = (halves[0], halves[1], halves[2]), (halves[3], halves[4], halves[5])
            yield Launch(kernel, plain_name(kernel), grid, block, words[4], payload[:size], line=line)
        elif kind == _MALLOC:
            yield Malloc(self._real(first), second, line)
        elif kind == _FREE:
            yield Free(self._real(first), line)
        elif kind == _MEMSET:
            yield Memset(self._real(first), second, third, line)
        elif kind == _COPY:
            yield Copy(self._real(first), self._real(second), third, line)
        elif kind == _UPLOAD:
            yield Upload(self._real(first), payload, line)
        elif kind == _ATTRIBUTE and second == _MAX_DYNAMIC_SHARED:
            yield SetAttribute(self._kernel(first, line), third, line)

    def _argument_bytes(self, kernel: str) -> int:
        """What its arguments take. A kernel is not decoded for that: the device may know more than the simulator."""
        last = parameters_of(self.module.entries[kernel])[-1:]
        return last[0].offset + last[0].size if last else 0

    def _kernel(self, address: int, line: int | None) -> str:
        name = self.module.function_at(address)
        if name is None:
            launch_fault("cudaErrorInvalidDeviceFunction", f"no kernel is at {address:#x}", line=line)
        return name

    def _symbols(self) -> tuple[tuple[str, int, int], ...]:
        sizes = self.module.translation.variables
        return tuple((name, start, sizes[name].size) for name, start in self.module.variables.items())

    def _settle(self, plan: LaunchPlan, step: Step) -> Step:
        """A launch or an upload with solve's pointers as they were given, and a launch's own named."""
        if isinstance(step, Upload):
            return replace(step, data=self._given(step.data, range(0, len(step.data) - 7, 8)))
        if not isinstance(step, Launch):
            return step
        found = []
        places = self._places(step.kernel)
        for position in places:
            (word,) = struct.unpack_from("<Q", step.args, position)
            if LOCAL_WINDOW <= word < LOCAL_WINDOW + WINDOW_BYTES:
                raise SourceError(
                    f"{step.name} is given the address of a variable of solve, which is host memory",
                    file=self.source_name, line=step.line,
                    remedy="copy it to memory from cudaMalloc, or pass the value itself",
                )  # fmt: skip
            relocation = plan.locate(self._real(word), position)
            found += [relocation] if relocation else []
        return replace(step, args=self._given(step.args, places), relocations=tuple(found))

    def _places(self, kernel: str) -> list[int]:
        """Where in a kernel's parameters an address can lie: two int side by side may look like one, and are none."""
        return [
            position for parameter in parameters_of(self.module.entries[kernel]) if parameter.align >= 8
            for position in range(parameter.offset, parameter.offset + parameter.size - 7, 8)
        ]  # fmt: skip

    def _given(self, data: bytes, places: Iterable[int]) -> bytes:
        """The same bytes with every address that the planner stood in for one of solve's pointers made real."""
        packed = bytearray(data)
        for position in places:
            (word,) = struct.unpack_from("<Q", packed, position)
            struct.pack_into("<Q", packed, position, self._real(word))
        return bytes(packed)

    def _refuse_recursion(self) -> None:
        """Raise SourceError for a ``solve`` that calls itself, or has a helper that does."""
        try:
            self.module.kernel(ENTRY)
        except Recursion as endless:
            what = f"{plain_name(endless.function)} calls itself: recursion on the host is not followed"
            remedy = "write the passes as a loop, in which the output of one launch is the next one's input"
            raise SourceError(what, file=self.source_name, line=endless.line, remedy=remedy) from endless

    def _refuse(self, hazard: Hazard, status: int, noted: int) -> NoReturn:
        """Raise the SourceError for a ``solve`` that didn't return."""
        if status in _REFUSED:
            what, remedy = _REFUSED[status]
            line: int | None = noted or hazard.line
        elif hazard.kind in ("runaway", "unfinished"):
            what, line = "solve doesn't finish: a loop in it never ends", hazard.line
            remedy = "check the loop's condition and step"
        elif hazard.kind in ("trap", "assert"):
            what, line, remedy = "solve ends the program (exit, abort or a failed assert)", hazard.line, None
        elif hazard.kind in _MEMORY_KINDS:
            what, line = "solve reads or writes memory that the host can't: it is on the device", hazard.line
            remedy = "only kernels can use what solve's pointers point to (an array of its own may also be too short)"
        else:
            what, line, remedy = _of_solve(hazard.message), hazard.line, hazard.remedy
        raise SourceError(what, file=self.source_name, line=line, remedy=remedy)


def _of_solve(message: str) -> str:
    """What is said of the one thread that runs ``solve``, said of ``solve``."""
    thread, _, deed = message.partition(" of block 0 ")
    return f"solve {deed}" if thread == "thread 0" else f"solve: {message}"


def _silent(line: str) -> None:
    """What ``solve`` prints, when nobody asked."""

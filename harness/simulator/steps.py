"""One instruction -> one step: a function over (register file, active lanes, batch), built when a kernel is loaded.

Pure instructions come from the opcode table in :mod:`harness.simulator.isa`; :data:`EFFECTS` is the same kind of table
for those that touch memory, other lanes or the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator import asynchronous, atomics, builtins, collectives, flow, generic, isa, loads
from harness.simulator.active import Lanes
from harness.simulator.isa import Pipe
from harness.simulator.named import Arrival
from harness.simulator.operands import Reader, Registers, flatten, reader, registers, writer
from harness.simulator.ptx import Instruction, Operand
from harness.simulator.publication import scope_of
from harness.simulator.waiting import BlockGate, WarpGate

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch

Step = Callable[[Registers, Lanes, "Batch"], None]
Gate = WarpGate | BlockGate
Build = Callable[[Instruction, "Kernel"], Step]


@dataclass(frozen=True)
class Effect:
    """How an instruction that is not pure is built. ``pipe`` is the one it occupies; ``results`` counts its operands
    that are written; ``warp`` says that it needs whole warps; ``gate`` what makes it wait."""

    opcode: str
    build: Build
    pipe: Pipe
    results: int = 0
    warp: bool = False
    gate: type[WarpGate] | type[BlockGate] | None = None


def _nothing(instruction: Instruction, kernel: Kernel) -> Step:
    """Ordering and hints: lanes of a batch already see each other's writes in program order."""
    return lambda registers, lanes, batch: None


def _fence(instruction: Instruction, kernel: Kernel) -> Step:
    """``membar.cta`` and ``fence.acq_rel.cta`` publish within the block, wider ones to other blocks; those that name
    no scope order other things than memory accesses."""
    scope = scope_of(instruction)
    if scope is None:
        return _nothing(instruction, kernel)
    return lambda registers, lanes, batch: batch.witness.fence(lanes.ids, scope)


def _trap(instruction: Instruction, kernel: Kernel) -> Step:
    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        batch.witness.blame(instruction, "trap", "runs into a trap: the kernel gives up here", lanes, 0)

    return step


def _barrier(instruction: Instruction, kernel: Kernel) -> Step:
    """``bar.sync`` has done its work when its gate opens; ``bar.red`` then reduces over the block, ``bar.arrive``
    only leaves its count."""
    if instruction.has("warp"):
        return lambda registers, lanes, batch: batch.clock.warp_barrier(None if lanes.index is None else lanes.ids)
    if instruction.has("arrive"):
        return _arrive(instruction, kernel)
    if not instruction.has("red"):
        return _nothing(instruction, kernel)
    operands = list(flatten(instruction.operands))
    count = instruction.has("popc")
    write = writer(operands[0], "u32" if count else "pred", kernel)
    value = reader(operands[-1], "pred", kernel)
    every = instruction.has("and")

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        yes = np.broadcast_to(lanes.active(value(registers)), lanes.count)
        votes = np.bincount(batch.block_of[lanes.ids], weights=yes, minlength=batch.block_count)
        total = votes.astype(np.uint32)
        result = total if count else (total == batch.per_block(lanes) if every else total > 0)
        if write is not None:
            write(registers, lanes, result[batch.block_of])

    return step


def _arrive(instruction: Instruction, kernel: Kernel) -> Step:
    name, threads = (reader(operand, "u32", kernel) for operand in instruction.operands)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        names = np.broadcast_to(lanes.active(name(registers)), lanes.count)
        count = int(lanes.active(threads(registers))[0])
        for one in np.unique(names):
            batch.arrive(int(one), Arrival(instruction, count, lanes.ids[names == one]))

    return step


EFFECTS: dict[str, Effect] = {
    effect.opcode: effect
    for effect in (
        Effect("ld", loads.load, Pipe.MEMORY, results=1),
        Effect("ldu", loads.load, Pipe.MEMORY, results=1),
        Effect("st", loads.store, Pipe.MEMORY),
        Effect("atom", atomics.atomic, Pipe.MEMORY, results=1),
        Effect("red", atomics.atomic, Pipe.MEMORY),
        Effect("cvta", generic.convert, Pipe.NONE, results=1),
        Effect("isspacep", generic.is_space, Pipe.INTEGER, results=1),
        Effect("cp", asynchronous.copy, Pipe.MEMORY),
        Effect("shfl", collectives.shuffle, Pipe.EXCHANGE, results=1, warp=True, gate=WarpGate),
        Effect("vote", collectives.vote, Pipe.EXCHANGE, results=1, warp=True, gate=WarpGate),
        Effect("match", collectives.match, Pipe.EXCHANGE, results=1, warp=True, gate=WarpGate),
        Effect("redux", collectives.reduce, Pipe.EXCHANGE, results=1, warp=True, gate=WarpGate),
        Effect("elect", collectives.elect, Pipe.EXCHANGE, results=1, warp=True, gate=WarpGate),
        Effect("activemask", collectives.active_mask, Pipe.EXCHANGE, results=1, warp=True),
        Effect("bar", _barrier, Pipe.BARRIER, warp=True, gate=BlockGate),
        Effect("barrier", _barrier, Pipe.BARRIER, warp=True, gate=BlockGate),
        Effect("call", builtins.call, Pipe.BRANCH),
        Effect("trap", _trap, Pipe.BRANCH),
        Effect("membar", _fence, Pipe.BARRIER),
        Effect("fence", _fence, Pipe.BARRIER),
        Effect("prefetch", _nothing, Pipe.MEMORY),
        Effect("prefetchu", _nothing, Pipe.MEMORY),
        Effect("discard", _nothing, Pipe.MEMORY),
        Effect("applypriority", _nothing, Pipe.MEMORY),
        Effect("nanosleep", _nothing, Pipe.NONE),
        Effect("griddepcontrol", _nothing, Pipe.NONE),
        Effect("setmaxnreg", _nothing, Pipe.NONE),
    )
}


def _gate_type(instruction: Instruction) -> type[WarpGate] | type[BlockGate] | None:
    effect = EFFECTS.get(instruction.opcode)
    if effect is None or instruction.has("arrive"):
        return None
    if effect.gate is BlockGate and instruction.has("warp"):
        return WarpGate
    if effect.gate is WarpGate and not instruction.has("sync"):
        raise Unsupported(f"{instruction.text}: a warp instruction without .sync", line=instruction.line,
                          remedy="use the _sync form of the intrinsic")  # fmt: skip
    return effect.gate


def is_gate(instruction: Instruction) -> bool:
    """Whether lanes may have to wait at this instruction."""
    return _gate_type(instruction) is not None


def pipe(instruction: Instruction) -> Pipe:
    """The pipe that any instruction occupies."""
    effect = EFFECTS.get(instruction.opcode)
    if effect is None:
        return Pipe.BRANCH if instruction.opcode in flow.ENDS else isa.pipe(instruction)
    return Pipe.NONE if instruction.has("param") else effect.pipe


def meets_the_block(instruction: Instruction) -> bool:
    """Whether it is an arrival at a barrier of the block."""
    effect = EFFECTS.get(instruction.opcode)
    return effect is not None and effect.gate is BlockGate and not instruction.has("warp")


def needs_whole_warps(instruction: Instruction) -> bool:
    """Whether the instruction looks at a warp's 32 lanes together."""
    effect = EFFECTS.get(instruction.opcode)
    return effect is not None and effect.warp


def gate(instruction: Instruction, kernel: Kernel) -> Gate | None:
    """The gate in front of an instruction, None where lanes never wait."""
    kind = _gate_type(instruction)
    return None if kind is None else kind(instruction, kernel)


def _results(instruction: Instruction) -> tuple[Operand, ...]:
    effect = EFFECTS.get(instruction.opcode)
    count = 1 if effect is None or (instruction.has("red") and effect.gate is BlockGate) else effect.results
    return instruction.operands[: 0 if instruction.opcode in flow.ENDS else count]


def effects(instruction: Instruction) -> flow.Effects:
    """Registers read and written; a guarded instruction also reads what it may leave as it was."""
    results = _results(instruction)
    writes = {name for operand in results for name in registers(operand)}
    reads = {name for operand in instruction.operands[len(results) :] for name in registers(operand)}
    if instruction.has("cc"):
        writes.add("%cc")
    if instruction.opcode in ("addc", "subc", "madc"):
        reads.add("%cc")
    if instruction.guard is not None:
        reads |= {instruction.guard.name} | writes
    return flow.Effects(frozenset(reads), frozenset(writes))


def step(instruction: Instruction, kernel: Kernel) -> Step:
    """Build the step of any instruction that does not end a block. Raises Unsupported for one not known."""
    effect = EFFECTS.get(instruction.opcode)
    try:
        run = effect.build(instruction, kernel) if effect is not None else _compute(instruction, kernel)
    except Unsupported as error:
        if error.line is None:
            raise Unsupported(
                f"{error.message} ({instruction.text})", line=instruction.line, remedy=error.remedy
            ) from error
        raise
    return _guarded(instruction, run, kernel)


def touch(instruction: Instruction, kernel: Kernel) -> Step:
    """Build the step of a load or store that goes to its places and moves nothing: for counting alone."""
    return _guarded(instruction, loads.touch(instruction, kernel), kernel)


def _guarded(instruction: Instruction, run: Step, kernel: Kernel) -> Step:
    """The step as its guard lets it: for the lanes for which that holds."""
    if instruction.guard is None:
        return run
    guard = reader(instruction.guard, "pred", kernel)

    def guarded(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        narrowed = lanes.narrow(guard(registers))
        if narrowed is not None:
            run(registers, narrowed, batch)

    return guarded


def _compute(instruction: Instruction, kernel: Kernel) -> Step:
    operation = isa.operation(instruction)
    operands = list(flatten(instruction.operands))
    results, sources = operands[: len(operation.results)], operands[len(operation.results) :]
    if len(sources) != len(operation.sources):
        raise Unsupported(f"{instruction.text}: {len(sources)} sources where {len(operation.sources)} are expected",
                          line=instruction.line)  # fmt: skip
    readers = [reader(source, kind, kernel) for source, kind in zip(sources, operation.sources, strict=True)]
    writers = [writer(result, kind, kernel) for result, kind in zip(results, operation.results, strict=True)]
    carry = kernel.number("%cc")
    if operation.carry_in:
        readers.append(lambda registers: registers[carry])
    if operation.carry_out:
        writers.append(lambda registers, lanes, value: _set_carry(registers, lanes, value, carry))
    if len(writers) == 1 and writers[0] is not None:
        return _one_result(operation.function, readers, writers[0])
    return _many_results(operation.function, readers, writers)


def _set_carry(registers: Registers, lanes: Lanes, value: np.ndarray, carry: int) -> None:
    registers[carry] = value if carry not in lanes.keep else lanes.blend(value, registers[carry])


Write = Callable[[Registers, Lanes, np.ndarray], None]


def _one_result(function: Callable[..., np.ndarray], readers: list[Reader], write: Write) -> Step:
    """The hot path: by number of sources, so that no list is built."""
    if len(readers) == 2:
        first, second = readers
        return lambda registers, lanes, batch: write(registers, lanes, function(first(registers), second(registers)))
    if len(readers) == 3:
        one, two, three = readers
        return lambda registers, lanes, batch: write(
            registers, lanes, function(one(registers), two(registers), three(registers))
        )
    return lambda registers, lanes, batch: write(registers, lanes, function(*(read(registers) for read in readers)))


def _many_results(
    function: Callable[..., tuple[np.ndarray, ...]], readers: list[Reader], writers: list[Write | None]
) -> Step:
    def run(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        for write, value in zip(writers, function(*(read(registers) for read in readers)), strict=True):
            if write is not None:
                write(registers, lanes, value)

    return run

"""Values that nobody wrote, in memory or in a variable, followed until they matter.

Moving one is no mistake: a padded vector load, a struct copied whole, a select that drops it. Arithmetic on one gives
garbage again, which the compiler may have hoisted above the very test that drops it. What counts is a use that can be
felt: an address, a branch, an atomic, a vote, a store to an output. Registers are followed per lane, and only while
there is garbage at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from harness.simulator import isa
from harness.simulator.active import Lanes
from harness.simulator.isa import COMPUTE
from harness.simulator.operands import flatten, reader, registers
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Instruction, Operand, Register

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch


@dataclass(frozen=True)
class Origin:
    """Where garbage came from: the instruction (None as long as none has computed with it), what the first thread did
    there (the rest of a sentence that begins with the thread), how that goes on with the line where it is felt, and the
    kind of hazard that using it is, with its remedy and title."""

    instruction: Instruction | None
    deed: str
    kind: str = "uninitialised"
    remedy: str = "write it first: memory starts as garbage"
    felt: str = "and uses it"
    title: str | None = None

    def met(self, instruction: Instruction) -> Origin:
        """The same garbage where its way is known; else as an instruction that does more than move it met it first."""
        known = self.instruction is not None or instruction.opcode == "mov"
        return self if known else replace(self, instruction=instruction)


#: A register that is read before anything wrote it. The copies that a compiler makes of it stand on no certain line.
UNSET = Origin(
    None, "uses a variable before it has a value", felt="and the result",
    remedy="give it a value where it is declared: float sum = 0.0f;", title="a variable used before it has a value",
)  # fmt: skip


#: Garbage of a register or operand: for each lane which bits nobody wrote (uint64), and where that came from.
Shadow = tuple[np.ndarray, Origin]
ALL_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Garbage:
    """Which bits of which registers are garbage, lane by lane. Empty nearly always; then it costs one look."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        unset = np.where(batch.alive, ALL_BITS, np.uint64(0))
        self.held: dict[int, Shadow] = dict.fromkeys(batch.kernel.unset, (unset, UNSET))
        #: What the lanes that run the block of code don't hold, or the block doesn't touch.
        self.aside: dict[int, Shadow] = {}
        #: Set while a store of garbage runs: for each of its elements the active lanes' bits, and the origin.
        self.storing: tuple[list[np.ndarray], Origin] | None = None

    def __bool__(self) -> bool:
        return bool(self.held)

    def turn_to(self, block: Block, lanes: Lanes) -> None:
        """Have at hand what matters to these lanes in the block that they run next; forget what neither they nor lanes
        elsewhere read before it is written anew."""
        if not self.held and not self.aside:
            return
        every = self.aside | self.held
        self.held, self.aside = {}, {}
        for register, shadow in every.items():
            if register in block.live_in or register in lanes.keep:
                touched = register in block.reads or register in block.writes
                at_hand = touched and lanes.active(shadow[0]).any()
                (self.held if at_hand else self.aside)[register] = shadow

    def put(self, register: int, ids: np.ndarray, bits: np.ndarray, origin: Origin | None) -> None:
        """Of register ``register`` in lanes ``ids``, these ``bits`` are garbage now, and the others good."""
        known = self.held.get(register)
        if known is None and not bits.any():
            return
        known = known or self.aside.get(register)
        shadow = np.zeros(self.batch.width, np.uint64) if known is None else known[0].copy()
        shadow[ids] = bits
        source = origin or (known[1] if known else None)
        if source is None or not shadow.any():
            self.held.pop(register, None)
        else:
            self.held[register] = shadow, source

    def of(self, operand: Operand, lanes: Lanes) -> Shadow | None:
        """The garbage an operand's registers hold in the active lanes; None where there is none."""
        found: Shadow | None = None
        for name in registers(operand):
            shadow, origin = self.held.get(self.batch.kernel.number(name), (None, None))
            if shadow is None or origin is None:
                continue
            bits = shadow[lanes.ids]
            if bits.any():
                found = (bits, origin) if found is None else (found[0] | bits, found[1])
        return found

    def run(self, block: Block, start: int, values: list[np.ndarray], lanes: Lanes) -> None:
        """The rest of a block's steps, each looked at before it runs. Raises KernelFault where garbage is used."""
        for instruction, step in zip(block.instructions[start:], block.steps[start:], strict=True):
            active: Lanes | None = lanes
            if instruction.guard is not None:
                self._refuse([instruction.guard], instruction, lanes)
                value = values[self.batch.kernel.number(instruction.guard.name)]
                active = lanes.narrow(~value if instruction.guard.negated else value)
            if active is None:
                continue
            origin, results = self._followed(instruction, values, active)
            step(values, lanes, self.batch)
            self.storing = None
            if instruction.opcode not in _OWN_RESULTS:
                self._put_results(instruction, results, active, origin)

    def shuffled(
        self, source: Operand, target: int, lanes: Lanes, taken: np.ndarray, absent: np.ndarray, origin: Origin | None
    ) -> None:
        """A shuffle gave lanes the garbage of those they took from; ``absent`` lanes got none, which is ``origin``."""
        found = self.of(source, lanes)
        whole = np.zeros(self.batch.width, np.uint64)
        if found is not None:
            whole[lanes.ids] = found[0]
        bits = whole[taken]
        bits[absent] = ALL_BITS
        self.put(target, lanes.ids, bits[lanes.ids], origin or (found[1] if found is not None else None))

    def _put_results(
        self, instruction: Instruction, results: list[np.ndarray], lanes: Lanes, origin: Origin | None
    ) -> None:
        number = self.batch.kernel.number
        if not results:
            for name in self.batch.effects(instruction).writes:
                self.put(number(name), lanes.ids, np.zeros(1, np.uint64), None)
            return
        targets = [*flatten(instruction.operands)][: len(results)]
        if instruction.has("cc"):
            targets[-1] = Register("%cc")
        for target, bits in zip(targets, results, strict=True):
            if isinstance(target, Register) and target.name != "_":
                self.put(number(target.name), lanes.ids, bits, origin)

    def _followed(
        self, instruction: Instruction, values: list[np.ndarray], lanes: Lanes
    ) -> tuple[Origin | None, list[np.ndarray]]:
        """The garbage of an instruction's results, none for none. What uses garbage for good is refused."""
        operands = list(flatten(instruction.operands))
        if instruction.opcode == "st":
            self._refuse(operands[:1], instruction, lanes)
            self.storing = self._stored(operands[1:], instruction, lanes)
        elif instruction.opcode == "shfl":
            self._refuse(operands[-3:], instruction, lanes)
        elif instruction.opcode not in COMPUTE:
            # What a guard leaves as it was is no use of it.
            reads = self.batch.effects(replace(instruction, guard=None)).reads
            self._refuse([Register(name) for name in sorted(reads)], instruction, lanes)
        else:
            origin, results = self._computed(instruction, operands, values, lanes)
            return origin and origin.met(instruction), results
        return None, []

    def _computed(
        self, instruction: Instruction, operands: list[Operand], values: list[np.ndarray], lanes: Lanes
    ) -> tuple[Origin | None, list[np.ndarray]]:
        operation = isa.operation(instruction)
        sources = operands[len(operation.results) :]
        if operation.carry_in:
            sources.append(Register("%cc"))
        kinds = (*operation.sources, "pred")
        found = [self.of(operand, lanes) for operand in sources]
        origin = next((one[1] for one in found if one is not None), None)
        if origin is None:
            return None, []
        shadows = [_typed(np.zeros(lanes.count, np.uint64) if one is None else one[0], DTYPES[kind])
                   for one, kind in zip(found, kinds, strict=False)]  # fmt: skip
        known = [np.broadcast_to(lanes.active(reader(operand, kind, self.batch.kernel)(values)), lanes.count)
                 for operand, kind in zip(sources, kinds, strict=False)]  # fmt: skip
        rule = _spread if _is_number(instruction) else _RULES.get(instruction.opcode, _spread)
        results = rule(operation, shadows, known)
        return origin, [np.broadcast_to(_bits(one), lanes.count) for one in results]

    def _stored(
        self, elements: list[Operand], instruction: Instruction, lanes: Lanes
    ) -> tuple[list[np.ndarray], Origin] | None:
        found = [self.of(one, lanes) for one in elements]
        origin = next((one[1] for one in found if one is not None), None)
        nothing = np.zeros(lanes.count, np.uint64)
        if origin is None:
            return None
        return [nothing if one is None else one[0] for one in found], origin.met(instruction)

    def refuse_branch(self, block: Block, lanes: Lanes) -> None:
        """Raise KernelFault if the block's branch depends on garbage."""
        if block.end is not None:
            guard = [block.end.guard] if block.end.guard is not None else []
            self._refuse([*guard, *block.end.operands], block.end, lanes)

    def _refuse(self, operands: Sequence[Operand], instruction: Instruction, lanes: Lanes) -> None:
        for operand in operands:
            found = self.of(operand, lanes)
            if found is not None:
                self.fail(found[1], instruction, lanes, found[0])

    def fail(self, origin: Origin, user: Instruction | None, lanes: Lanes, bits: np.ndarray) -> NoReturn:
        """Stop the launch: a value nobody wrote is used. The line named is that of the load, or of the first use of a
        variable."""
        position = int(np.flatnonzero(bits)[0])
        found = origin.instruction or user
        elsewhere = user is not None and found is not None and user.line != found.line
        deed = f"{origin.deed}, {origin.felt} on line {user.line}" if user is not None and elsewhere else origin.deed
        self.batch.witness.blame(found, origin.kind, deed, lanes, position, origin.remedy, origin.title)


#: Operation, its sources' shadows, their values -> its results' shadows. Whatever has no rule spreads.
Rule = Callable[[Operation, list[np.ndarray], list[np.ndarray]], list[np.ndarray]]


def _typed(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Shadow bits as a register of ``dtype`` would hold them."""
    return bits & 1 != 0 if dtype.kind == "b" else bits.astype(f"u{dtype.itemsize}").view(dtype)


def _bits(value: np.ndarray) -> np.ndarray:
    """A register's value as plain bits, uint64."""
    return value.view(f"u{value.dtype.itemsize}").astype(np.uint64)


def _as_list(results: object) -> list[np.ndarray]:
    return list(results) if isinstance(results, tuple) else [results]  # type: ignore[list-item]


def _is_number(instruction: Instruction) -> bool:
    """Whether a conversion computes (floats, saturation) instead of moving bits."""
    numbers = any(DTYPES[kind].kind == "f" or kind in ("bf16", "f16x2", "bf16x2") for kind in instruction.types)
    return instruction.opcode == "cvt" and (numbers or instruction.has("sat", "pack"))


def _spread(operation: Operation, shadows: list[np.ndarray], values: list[np.ndarray]) -> list[np.ndarray]:
    """Any garbage in makes every bit out garbage."""
    any_bit = np.logical_or.reduce([_bits(one) != 0 for one in shadows])
    return [np.where(any_bit, ALL_BITS, np.uint64(0))] * (len(operation.results) + operation.carry_out)


def _moving(controls: int) -> Rule:
    """Bits go where the operation sends them, as its last ``controls`` sources say; these must be good."""

    def rule(operation: Operation, shadows: list[np.ndarray], values: list[np.ndarray]) -> list[np.ndarray]:
        data = len(shadows) - controls
        moved = _as_list(operation.function(*shadows[:data], *values[data:]))
        if not any(_bits(one).any() for one in shadows[data:]):
            return moved
        unsure = np.logical_or.reduce([_bits(one) != 0 for one in shadows[data:]])
        return [np.where(unsure, ALL_BITS, _bits(np.broadcast_to(one, unsure.shape))) for one in moved]

    return rule


def _bitwise(operation: Operation, shadows: list[np.ndarray], values: list[np.ndarray]) -> list[np.ndarray]:
    """Garbage is what changes when garbage bits do: ``0 & garbage`` is 0."""
    choices = []
    for shadow, value in zip(shadows, values, strict=True):
        choices.append((value & ~shadow, value | shadow) if _bits(shadow).any() else (value,))
    outcomes = [_as_list(operation.function(*chosen)) for chosen in product(*choices)]
    return [np.bitwise_or.reduce([one[n] ^ outcomes[0][n] for one in outcomes]) for n in range(len(outcomes[0]))]


def _select(operation: Operation, shadows: list[np.ndarray], values: list[np.ndarray]) -> list[np.ndarray]:
    chosen = np.where(values[2], _bits(shadows[0]), _bits(shadows[1]))
    return [np.where(shadows[2], ALL_BITS, chosen)]


_RULES: dict[str, Rule] = {
    "mov": _moving(0), "cvt": _moving(0), "shl": _moving(1), "shr": _moving(1), "shf": _moving(1), "prmt": _moving(1),
    "bfe": _moving(2), "bfi": _moving(2), "and": _bitwise, "or": _bitwise, "xor": _bitwise, "not": _bitwise,
    "lop3": _bitwise, "selp": _select,
}  # fmt: skip
#: These say themselves what they give.
_OWN_RESULTS = ("ld", "ldu", "shfl")

"""Values read from memory nobody wrote, followed until they matter.

Moving one is no mistake: a padded vector load, a struct copied whole, a select that drops it. Arithmetic on one gives
garbage again, which the compiler may have hoisted above the very test that drops it. What counts is a use that can be
felt: an address, a branch, an atomic, a vote, a store to an output. Registers are followed per lane, and only while
there is garbage at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from harness.simulator import isa
from harness.simulator.active import Lanes
from harness.simulator.isa import COMPUTE
from harness.simulator.operands import flatten, registers
from harness.simulator.ptx import Immediate, Instruction, Operand, Register

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch


@dataclass(frozen=True)
class Origin:
    """Where garbage came from: the instruction, what the first thread did there (the rest of a sentence that begins
    with the thread), and the kind of hazard that using it is."""

    instruction: Instruction
    deed: str
    kind: str = "uninitialised"
    remedy: str = "write it first: memory starts as garbage"


#: Garbage of a register or operand: for each lane which bits nobody wrote (uint64), and where that came from.
Shadow = tuple[np.ndarray, Origin]
ALL_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Garbage:
    """Which bits of which registers are garbage, lane by lane. Empty nearly always; then it costs one look."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.held: dict[int, Shadow] = {}
        #: Set while a store of garbage runs: for each of its elements the active lanes' bits, and the origin.
        self.storing: tuple[list[np.ndarray], Origin] | None = None

    def __bool__(self) -> bool:
        return bool(self.held)

    def put(self, register: int, ids: np.ndarray, bits: np.ndarray, origin: Origin | None) -> None:
        """Of register ``register`` in lanes ``ids``, these ``bits`` are garbage now, and the others good."""
        known = self.held.get(register)
        if known is None and not bits.any():
            return
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
            result = self._followed(instruction, values, active)
            step(values, lanes, self.batch)
            self.storing = None
            self._put_results(instruction, result, active)

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

    def _put_results(self, instruction: Instruction, result: Shadow | None, lanes: Lanes) -> None:
        if instruction.opcode in _OWN_RESULTS:
            return
        bits, origin = (np.zeros(1, np.uint64), None) if result is None else result
        for name in self.batch.effects(instruction).writes:
            self.put(self.batch.kernel.number(name), lanes.ids, bits, origin)

    def _followed(self, instruction: Instruction, values: list[np.ndarray], lanes: Lanes) -> Shadow | None:
        """The garbage of an instruction's result. What uses garbage for good is refused."""
        operands = list(flatten(instruction.operands))
        if instruction.opcode == "st":
            self._refuse(operands[:1], instruction, lanes)
            self.storing = self._stored(operands[1:], lanes)
            return None
        if instruction.opcode == "shfl":
            self._refuse(operands[-3:], instruction, lanes)
            return None
        if instruction.opcode not in COMPUTE:
            self._refuse(operands, instruction, lanes)
            return None
        results = len(isa.operation(instruction).results)
        sources = operands[results:]
        shadows = [self.of(operand, lanes) for operand in sources]
        origin = next((shadow[1] for shadow in shadows if shadow is not None), None)
        if origin is None:
            return None
        nothing = np.zeros(lanes.count, np.uint64)
        bits = [nothing if shadow is None else shadow[0] for shadow in shadows]
        rule = _RULES.get(instruction.opcode, _spread)
        return rule(bits, [self._bits(operand, values, lanes) for operand in sources]), origin

    def _bits(self, operand: Operand, values: list[np.ndarray], lanes: Lanes) -> np.ndarray:
        """An operand's value in the active lanes as plain bits, uint64."""
        if isinstance(operand, Immediate):
            return np.full(lanes.count, operand.value & 0xFFFF_FFFF_FFFF_FFFF, np.uint64)
        if not isinstance(operand, Register) or operand.name == "_":
            return np.zeros(lanes.count, np.uint64)
        value = lanes.active(values[self.batch.kernel.number(operand.name)])
        value = value ^ operand.negated if value.dtype == np.bool_ else value
        return np.broadcast_to(value.view(f"u{value.dtype.itemsize}"), lanes.count).astype(np.uint64)

    def _stored(self, elements: list[Operand], lanes: Lanes) -> tuple[list[np.ndarray], Origin] | None:
        found = [self.of(one, lanes) for one in elements]
        origin = next((one[1] for one in found if one is not None), None)
        nothing = np.zeros(lanes.count, np.uint64)
        return None if origin is None else ([nothing if one is None else one[0] for one in found], origin)

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
        """Stop the launch: a value nobody wrote is used. The line named is the load's."""
        position = int(np.flatnonzero(bits)[0])
        used = f", and uses it on line {user.line}" if user is not None and user.line != origin.instruction.line else ""
        self.batch.blame(origin.instruction, origin.kind, f"{origin.deed}{used}", lanes, position, origin.remedy)


#: Shadows of the sources and their values -> the result's shadow. Whatever is not listed makes garbage of every bit.
Rule = Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]


def _spread(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    return np.where(_union(shadows, values) != 0, ALL_BITS, np.uint64(0))


def _union(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    return np.bitwise_or.reduce(np.stack(shadows), axis=0)


def _and(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    """A good 0 makes a good 0 of anything."""
    (a, b), (x, y) = shadows, values
    return (a & b) | (a & y) | (b & x)


def _or(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    """A good 1 makes a good 1 of anything."""
    (a, b), (x, y) = shadows, values
    return (a & b) | (a & ~y) | (b & ~x)


def _select(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    chosen = np.where(values[2] != 0, shadows[0], shadows[1])
    return np.where(shadows[2] != 0, ALL_BITS, chosen)


def _left(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    return np.where(shadows[1] != 0, ALL_BITS, shadows[0] << np.minimum(values[1] & 0xFFFF_FFFF, 63))


def _right(shadows: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    return np.where(shadows[1] != 0, ALL_BITS, shadows[0] >> np.minimum(values[1] & 0xFFFF_FFFF, 63))


_RULES: dict[str, Rule] = {
    "mov": _union, "xor": _union, "not": _union, "cvt": _union, "and": _and, "or": _or, "selp": _select,
    "shl": _left, "shr": _right,
}  # fmt: skip
#: These say themselves what they give.
_OWN_RESULTS = ("ld", "ldu", "shfl")

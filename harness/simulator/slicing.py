"""A kernel cut down to what decides what it does: for counting, values that only end in outputs don't matter.

Addresses, branches and guards decide; so do the values they are made from, back to loads, and what is stored where
those loads may find it. All other arithmetic is left out, and other loads and stores go to their places without moving
anything. This is program slicing (Weiser 1981, "Program Slicing"), by registers and kinds of memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from functools import lru_cache

from harness.simulator import isa, steps
from harness.simulator.kernel import Block, Kernel
from harness.simulator.operands import flatten, registers
from harness.simulator.ptx import Address, Instruction, Operand
from harness.simulator.steps import Step

_EVERYWHERE = frozenset({"global", "shared", "local"})

#: Where the result of an instruction that is not arithmetic decides nothing, it has no other effect that counts.
_LOADS = frozenset({"ld", "ldu"})
_STORES = frozenset({"st", "red"})
_EXCHANGES = frozenset({"shfl"})


@lru_cache(maxsize=32)
def lean(kernel: Kernel) -> Kernel:
    """The same kernel, made to be counted only: instructions, blocks and gates are those of ``kernel``."""
    slice_ = _Slice(kernel)
    result = copy(kernel)
    result.blocks = [slice_.cut(block) for block in kernel.blocks]
    result.unset = frozenset()  # steps that would set them may have been left out
    return result


def _items(block: Block) -> list[Instruction]:
    return [*block.instructions, block.end] if block.end is not None else block.instructions


class _Slice:
    """Which registers and kinds of memory decide."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.registers: set[str] = set()
        self.spaces: set[str] = set()
        items = [item for block in kernel.blocks for item in _items(block)]
        for item in items:
            self.registers |= _roots(item, moves=item.opcode in _LOADS or self._only_stores(item))
            if item.opcode == "call":  # printf and assert find their arguments there
                self.spaces.add("local")
        before = (-1, -1)
        while before != (len(self.registers), len(self.spaces)):
            before = (len(self.registers), len(self.spaces))
            for item in items:
                self._follow(item)

    def _follow(self, item: Instruction) -> None:
        effects = steps.effects(item)
        if self._only_stores(item):
            if self._stored(item):
                self.registers |= effects.reads
        elif effects.writes & self.registers:
            self.registers |= effects.reads
            if item.opcode in _LOADS or item.opcode == "atom":
                self.spaces |= self._spaces(item)
        if item.opcode == "cp" and "shared" in self.spaces:
            self.spaces.add("global")

    def _only_stores(self, item: Instruction) -> bool:
        """Whether it has no result that anybody looks at."""
        unanswered = item.opcode == "atom" and self.kernel.used.isdisjoint(steps.effects(item).writes)
        return item.opcode in _STORES or unanswered

    def _stored(self, item: Instruction) -> bool:
        return bool(self._spaces(item) & self.spaces)

    def _spaces(self, item: Instruction) -> frozenset[str]:
        """The kinds of memory that an instruction may mean. Arguments of a call lie beside local variables."""
        bases = {one.base for one in flatten(item.operands) if isinstance(one, Address)}
        if not bases.isdisjoint(self.kernel.layout.local):
            return frozenset({"local"})
        words = {word.split("::")[0] for word in item.modifiers}
        named = words & {*_EVERYWHERE, "const", "param"}
        return (frozenset(named) & _EVERYWHERE) if named else _EVERYWHERE

    def cut(self, block: Block) -> Block:
        """What is left of a block: its steps, and the registers that these write."""
        kept = [self._kept(item) for item in block.instructions]
        written = {name for item, whole in zip(block.instructions, kept, strict=True) if whole
                   for name in steps.effects(item).writes}  # fmt: skip
        return replace(
            block,
            steps=[
                step if whole else self._rest(item)
                for item, step, whole in zip(block.instructions, block.steps, kept, strict=True)
            ],
            writes=tuple(sorted(map(self.kernel.number, written))),
        )

    def _kept(self, item: Instruction) -> bool:
        """Whether an instruction is carried out."""
        if self._only_stores(item):
            return self._stored(item)
        idle = item.opcode in isa.COMPUTE or item.opcode in _EXCHANGES or item.opcode in _LOADS
        return not idle or bool(steps.effects(item).writes & self.registers)

    def _rest(self, item: Instruction) -> Step:
        """What is left of an instruction that isn't."""
        return steps.touch(item, self.kernel) if item.opcode in _LOADS or self._only_stores(item) else _nothing


def _nothing(registers: object, lanes: object, batch: object) -> None:
    """The instruction decides nothing."""


def _roots(item: Instruction, *, moves: bool) -> frozenset[str]:
    """Registers that decide by what this instruction does with them itself: of one that only ``moves`` values between
    registers and memory, its addresses and its guard."""
    effects = steps.effects(item)
    if item.opcode in isa.COMPUTE:
        return frozenset()
    guard = frozenset({item.guard.name} if item.guard else ())
    if moves:
        return guard | _names(one for one in flatten(item.operands) if isinstance(one, Address))
    if item.opcode in _EXCHANGES:
        return guard | _names(list(flatten(item.operands))[-1:])  # the mask of lanes that must come
    return guard | effects.reads


def _names(operands: Iterable[Operand]) -> frozenset[str]:
    return frozenset(name for operand in operands for name in registers(operand))

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
    slice_ = _Slice([item for block in kernel.blocks for item in _items(block)])
    result = copy(kernel)
    result.blocks = [
        replace(block, steps=[
            slice_.step(item, step, kernel) for item, step in zip(block.instructions, block.steps, strict=True)
        ])
        for block in kernel.blocks
    ]  # fmt: skip
    return result


def _items(block: Block) -> list[Instruction]:
    return [*block.instructions, block.end] if block.end is not None else block.instructions


class _Slice:
    """Which registers and kinds of memory decide."""

    def __init__(self, items: list[Instruction]) -> None:
        self.registers: set[str] = set()
        self.spaces: set[str] = set()
        for item in items:
            self.registers |= _roots(item)
        before = (-1, -1)
        while before != (len(self.registers), len(self.spaces)):
            before = (len(self.registers), len(self.spaces))
            for item in items:
                self._follow(item)

    def _follow(self, item: Instruction) -> None:
        effects = steps.effects(item)
        if item.opcode in _STORES:
            if self._stored(item):
                self.registers |= effects.reads
        elif effects.writes & self.registers:
            self.registers |= effects.reads
            if item.opcode in _LOADS:
                self.spaces |= _spaces(item)
        if item.opcode == "cp" and "shared" in self.spaces:
            self.spaces.add("global")

    def _stored(self, item: Instruction) -> bool:
        return bool(_spaces(item) & self.spaces)

    def step(self, item: Instruction, step: Step, kernel: Kernel) -> Step:
        """What the instruction does in the slice."""
        decides = bool(steps.effects(item).writes & self.registers)
        if item.opcode in _STORES:
            return step if self._stored(item) else steps.touch(item, kernel)
        if item.opcode in _LOADS:
            return step if decides else steps.touch(item, kernel)
        return step if decides or not (item.opcode in isa.COMPUTE or item.opcode in _EXCHANGES) else _nothing


def _nothing(registers: object, lanes: object, batch: object) -> None:
    """The instruction decides nothing."""


def _roots(item: Instruction) -> frozenset[str]:
    """Registers that decide by what this instruction does with them itself."""
    effects = steps.effects(item)
    if item.opcode in isa.COMPUTE:
        return frozenset()
    guard = frozenset({item.guard.name} if item.guard else ())
    if item.opcode in _LOADS or item.opcode in _STORES:
        return guard | _names(one for one in flatten(item.operands) if isinstance(one, Address))
    if item.opcode in _EXCHANGES:
        return guard | _names(list(flatten(item.operands))[-1:])  # the mask of lanes that must come
    return guard | effects.reads


def _names(operands: Iterable[Operand]) -> frozenset[str]:
    return frozenset(name for operand in operands for name in registers(operand))


def _spaces(item: Instruction) -> frozenset[str]:
    """The kinds of memory that an instruction may mean."""
    words = {word.split("::")[0] for word in item.modifiers}
    named = words & {*_EVERYWHERE, "const", "param"}
    return (frozenset(named) & _EVERYWHERE) if named else _EVERYWHERE

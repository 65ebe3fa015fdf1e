"""Shared loads that the machine code makes one: ``ptxas`` turns loads of neighbouring words into a wide one.

PTX has ``tile[row][k]`` and ``tile[row][k + 1]`` of an unrolled loop as two loads of 4 bytes. Where the address of the
first is known to be a multiple of 8 or 16, and nothing is stored between them, the machine code has one load of 8 or
16, and the hardware serves that in fewer wavefronts. Nsight Compute's counts of mm_tile32 and mm_tile16
(tests/simulator/calibration) are those of 16-byte loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harness.simulator.kernel import Block, Kernel
from harness.simulator.operands import flatten
from harness.simulator.ptx import DTYPES, Address, Immediate, Instruction, Operand, Register, Symbol

_WIDTHS = (16, 8)
#: More trailing zeros than any address needs.
_ALL_ZERO = 12
#: What may stand between loads that become one: anything that writes no memory, and lets no other thread do so.
_WALLS = frozenset({"st", "atom", "red", "cp", "bar", "barrier", "membar", "fence", "call"})


def merged(kernel: Kernel) -> Mapping[int, int]:
    """For loads that become one, by the identity of their instructions: how many bytes the first of them loads then,
    and 0 for the others."""
    zeros = _Zeros(kernel)
    found: dict[int, int] = {}
    for block in kernel.blocks:
        for group in _groups(block):
            found |= _pairs(group, zeros)
    return found


@dataclass(frozen=True)
class _Load:
    item: Instruction
    base: Register | str
    offset: int
    width: int


def _groups(block: Block) -> Iterator[list[_Load]]:
    """Shared loads of one width from one register or variable, with no wall between them."""
    groups: dict[tuple[Register | str, int], list[_Load]] = {}
    for item in block.instructions:
        if item.opcode in _WALLS:
            yield from groups.values()
            groups = {}
        load = _load(item)
        if load is not None:
            groups.setdefault((load.base, load.width), []).append(load)
    yield from groups.values()


def _load(item: Instruction) -> _Load | None:
    if item.opcode != "ld" or item.guard is not None or not item.has("shared") or item.has("volatile"):
        return None
    *results, address = flatten(item.operands)
    if not isinstance(address, Address) or address.base is None:
        return None
    return _Load(item, address.base, address.offset, len(results) * DTYPES[item.type].itemsize)


def _pairs(group: list[_Load], zeros: _Zeros) -> dict[int, int]:
    at = {load.offset: load for load in group}
    found: dict[int, int] = {}
    if len(group) < 2:
        return found
    base = group[0].base
    aligned = 1 << zeros.operand(Symbol(base) if isinstance(base, str) else base)
    for wide in _WIDTHS:
        if aligned % wide or wide <= group[0].width:
            continue
        for offset, load in at.items():
            window = [at.get(offset + step) for step in range(0, wide, load.width)]
            if offset % wide == 0 and all(one is not None and id(one.item) not in found for one in window):
                found |= {id(one.item): 0 for one in window if one} | {id(load.item): wide}
    return found


class _Zeros:
    """How many of a register's lowest bits are known to be zero."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.made: dict[str, list[Instruction]] = {}
        for item in kernel.flat.body:
            if isinstance(item, Instruction) and item.operands and isinstance(item.operands[0], Register):
                self.made.setdefault(item.operands[0].name, []).append(item)
        self.table: dict[str, int] = {}

    def of(self, register: str) -> int:
        """Of every value that the register gets."""
        if not self.table:
            self._work_out()
        return self.table.get(register, 0)

    def _work_out(self) -> None:
        """From all zeros downwards, until every register has what its instructions leave of their operands."""
        self.table = dict.fromkeys(self.made, _ALL_ZERO)
        changed = True
        while changed:
            changed = False
            for register, items in self.made.items():
                left = min(map(self._result, items))
                changed = changed or left != self.table[register]
                self.table[register] = left

    def _result(self, item: Instruction) -> int:
        rule = _RULES.get(item.opcode)
        if rule is None or item.has("hi") or any(DTYPES[kind].kind == "f" for kind in item.types):
            return 0
        return min(_ALL_ZERO, max(0, rule(self, list(flatten(item.operands))[1:])))

    def operand(self, operand: Operand) -> int:
        """Of an operand's value."""
        if isinstance(operand, Immediate):
            return _trailing(operand.value)
        if isinstance(operand, Symbol) and operand.name in self.kernel.layout.shared:
            start, size = self.kernel.layout.shared[operand.name]
            return _trailing((start if size else self._alignment(operand.name)) | operand.offset)
        return self.of(operand.name) if isinstance(operand, Register) else 0

    def _alignment(self, name: str) -> int:
        """Of the array that the launch sizes only what was declared is known."""
        variables = self.kernel.flat.variables | self.kernel.module.shared
        return variables[name].align


def _trailing(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else _ALL_ZERO


_Rule = Callable[[_Zeros, list[Operand]], int]


def _least(zeros: _Zeros, operands: list[Operand]) -> int:
    return min(map(zeros.operand, operands))


def _shifted(sign: int) -> _Rule:
    def rule(zeros: _Zeros, operands: list[Operand]) -> int:
        by = operands[1]
        return zeros.operand(operands[0]) + sign * by.value if isinstance(by, Immediate) else 0

    return rule


def _product(zeros: _Zeros, operands: list[Operand]) -> int:
    return zeros.operand(operands[0]) + zeros.operand(operands[1])


_RULES: dict[str, _Rule] = {
    "mov": _least, "cvt": _least, "cvta": _least, "add": _least, "sub": _least, "or": _least, "xor": _least,
    "selp": lambda zeros, operands: _least(zeros, operands[:2]),
    "and": lambda zeros, operands: max(map(zeros.operand, operands)),
    "shl": _shifted(1), "shr": _shifted(-1),
    "mul": _product,
    "mad": lambda zeros, operands: min(_product(zeros, operands), zeros.operand(operands[2])),
}  # fmt: skip

"""Which shared variable an address register points into, as far as the code itself tells.

A sanitizer sees one block of shared memory; the PTX names the array each address was made from. So an index past the
end of one array is seen even where another array lies behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.simulator.inline import Flat
from harness.simulator.isa import COMPUTE
from harness.simulator.operands import flatten
from harness.simulator.ptx import Instruction, Operand, Register, Symbol

#: Instructions that make an address from an address, and which operands it may come from.
_CARRIERS = {"mov": (1,), "cvta": (1,), "cvt": (1,), "add": (1, 2), "sub": (1,), "mad": (3,), "selp": (1, 2)}
#: Instructions whose result is a number, whatever they are given: nobody scales an address.
_SCALING = frozenset({"mul", "shl", "shr", "div", "rem", "bfe", "setp"})


class Bases:
    """The base symbol of every register of one kernel, worked out when asked. Only ``symbols`` count."""

    def __init__(self, flat: Flat, symbols: frozenset[str]) -> None:
        self._symbols = symbols
        self._made: dict[str, list[Instruction]] = {}
        for item in flat.body:
            if isinstance(item, Instruction) and item.operands and isinstance(item.operands[0], Register):
                self._made.setdefault(item.operands[0].name, []).append(item)
        self._known: dict[str, frozenset[str] | None] = {}

    def of(self, register: str) -> str | None:
        """The one symbol that every way to make this register starts from; None where there is no such one."""
        found = self._search(register, frozenset())
        return next(iter(found)) if found is not None and len(found) == 1 else None

    def _search(self, register: str, above: frozenset[str]) -> frozenset[str] | None:
        """Symbols it may come from; empty for a plain number; None where something else makes it."""
        if register in above:
            return frozenset()
        if register in self._known:
            return self._known[register]
        result: frozenset[str] | None = frozenset()
        for instruction in self._made.get(register, ()):
            made = self._from(instruction, above | {register})
            result = None if made is None or result is None else result | made
        if not above:
            self._known[register] = result
        return result

    def _from(self, instruction: Instruction, above: frozenset[str]) -> frozenset[str] | None:
        if instruction.opcode in _SCALING:
            return frozenset()
        operands = list(flatten(instruction.operands))
        places = _CARRIERS.get(instruction.opcode)
        if places is not None and len(operands) > max(places):
            return self._joined([operands[place] for place in places], above)
        if instruction.opcode not in COMPUTE:
            return None  # a load or a shuffle may give any address
        return None if self._joined(operands[1:], above) else frozenset()

    def _joined(self, operands: Iterable[Operand], above: frozenset[str]) -> frozenset[str] | None:
        result: frozenset[str] = frozenset()
        for operand in operands:
            if isinstance(operand, Symbol):
                if operand.name not in self._symbols:
                    return None
                result |= {operand.name}
            elif isinstance(operand, Register):
                found = self._search(operand.name, above)
                if found is None:
                    return None
                result |= found
        return result

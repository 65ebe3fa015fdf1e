"""What a kernel does with a value that it reads while others may write it: look for news, or take it as a result.

A flag, a ticket or a lock is compared with something, there or a few moves later; a sum that is taken is only added,
stored and handed on. So far as the code itself tells: what goes through memory is not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.simulator.isa import COMPUTE
from harness.simulator.operands import flatten
from harness.simulator.ptx import DTYPES, Instruction, Register

#: Comparing.
_TESTS = frozenset({"setp", "set", "slct"})


class Uses:
    """Who reads each register of a kernel; ``reads`` gives the registers that an instruction reads."""

    def __init__(self, body: Iterable[Instruction], reads: Callable[[Instruction], Iterable[str]]) -> None:
        self._readers: dict[str, list[Instruction]] = {}
        for instruction in body:
            for name in reads(instruction):
                self._readers.setdefault(name, []).append(instruction)

    def tested(self, register: str) -> bool:
        """Whether the value that comes into this register is compared, after moves and whole-number arithmetic."""
        seen, todo = {register}, [register]
        while todo:
            for instruction in self._readers.get(todo.pop(), ()):
                if instruction.opcode in _TESTS:
                    return True
                if instruction.opcode in COMPUTE and not _adds_floats(instruction):
                    results = {one.name for one in flatten(instruction.operands[:1]) if isinstance(one, Register)}
                    todo += results - seen
                    seen |= results
        return False


def _adds_floats(instruction: Instruction) -> bool:
    return instruction.opcode not in ("mov", "cvt") and any(DTYPES[kind].kind == "f" for kind in instruction.types)

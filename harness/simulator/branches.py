"""How lanes part at the end of a block of code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.errors import Unsupported
from harness.simulator.active import Lanes
from harness.simulator.operands import Registers, reader
from harness.simulator.ptx import Instruction, Symbol

if TYPE_CHECKING:
    from harness.simulator.flow import Block
    from harness.simulator.kernel import Kernel

Branch = Callable[[Registers, Lanes], list[tuple[int, Lanes]]]

#: The successor number of lanes that leave the kernel.
EXIT = -1


def branch(block: Block, kernel: Kernel) -> Branch:
    """Who goes where when a block ends: ``(successor number or EXIT, lanes)`` for each part that is not empty."""
    end = block.end
    if end is None or (end.guard is None and end.opcode == "bra"):
        target = block.successors[0] if block.successors else EXIT
        return lambda registers, lanes: [(target, lanes)]
    if end.opcode == "brx":
        return _by_table(end, block, kernel)
    taken = block.successors[0] if end.opcode == "bra" else EXIT
    if end.guard is None:
        return lambda registers, lanes: [(EXIT, lanes)]
    guard = reader(end.guard, "pred", kernel)
    falls = block.successors[-1] if len(block.successors) > (end.opcode == "bra") else EXIT

    def split(registers: Registers, lanes: Lanes) -> list[tuple[int, Lanes]]:
        yes, no = lanes.split(guard(registers))
        return [(target, part) for target, part in ((taken, yes), (falls, no)) if part is not None]

    return split


def _by_table(end: Instruction, block: Block, kernel: Kernel) -> Branch:
    index = reader(end.operands[0], "u32", kernel)
    table = end.operands[1]
    if not isinstance(table, Symbol) or end.guard is not None:
        raise Unsupported(f"branch form {end.text}", line=end.line)

    def split(registers: Registers, lanes: Lanes) -> list[tuple[int, Lanes]]:
        value = index(registers)
        parts: list[tuple[int, Lanes]] = []
        rest: Lanes | None = lanes
        for number, target in enumerate(block.successors):
            if rest is None:
                break
            chosen, rest = rest.split(value == number)
            if chosen is not None:
                parts.append((target, chosen))
        return parts

    return split

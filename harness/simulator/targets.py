"""Through which of a kernel's parameters it may write, as far as the code itself tells: no lane runs for it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.simulator.inline import Flat, inline
from harness.simulator.kernel import Module, parameters_of
from harness.simulator.ptx import Address, Instruction, Register
from harness.simulator.steps import effects

#: Instructions that write to the address among their operands.
_WRITERS = frozenset({"st", "red", "atom"})


def written_through(module: Module, kernel: str) -> frozenset[int]:
    """Where in the parameters of ``kernel`` the pointers lie, in bytes, that it stores or adds through; numbers that an
    address is made with too. A pointer that is kept in memory and read back is not followed. Raises Recursion."""
    flat = inline(module.translation, kernel)
    starts = {one.name: one.offset for one in parameters_of(module.entries[kernel])}
    sources = _sources(flat, starts)
    return frozenset(
        place for item in flat.body if isinstance(item, Instruction) and item.opcode in _WRITERS
        for base in _bases(item) for place in sources.get(base, ())
    )  # fmt: skip


def _sources(flat: Flat, starts: dict[str, int]) -> dict[str, frozenset[int]]:
    """From which parameters each register is made, and each variable that a call's arguments are passed in."""
    sources: dict[str, frozenset[int]] = {}
    moves = [move for item in flat.body if isinstance(item, Instruction) for move in _moves(item, starts)]
    changed = True
    while changed:
        changed = False
        for target, read, places in moves:
            found = places.union(*(sources.get(name, frozenset()) for name in read), sources.get(target, frozenset()))
            changed = changed or found != sources.get(target, frozenset())
            sources[target] = found
    return sources


def _moves(item: Instruction, starts: dict[str, int]) -> Iterator[tuple[str, frozenset[str], frozenset[int]]]:
    """What an instruction makes, of what, and of which parameters of the kernel."""
    made = effects(item)
    variables = [one for one in item.operands if isinstance(one, Address) and isinstance(one.base, str)]
    if not item.has("param"):
        yield from ((name, made.reads, frozenset()) for name in made.writes if item.opcode != "ld")
        return
    for variable in variables:
        name = str(variable.base)
        if item.opcode == "st":
            yield name, made.reads, frozenset()
        elif name in starts:
            yield from ((one, frozenset(), frozenset({starts[name] + variable.offset})) for one in made.writes)
        else:
            yield from ((one, frozenset({name}), frozenset()) for one in made.writes)


def _bases(item: Instruction) -> Iterator[str]:
    for operand in item.operands:
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            yield operand.base.name

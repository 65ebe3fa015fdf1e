"""From a kernel's flat body to the graph the machine walks: basic blocks in order, liveness.

Block numbers are positions in reverse post-order with loops kept whole, so the smallest number among waiting lanes is
the one to run next: lanes that parted then meet again at the immediate post-dominator, as hardware does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from harness.simulator.inline import Flat, rename
from harness.simulator.ptx import Instruction, Symbol


@dataclass
class Block:
    """Straight-line code. ``gate`` says its first instruction waits for other lanes; ``end`` is the branch or exit
    that ends it, None where it falls through. ``successors`` are block numbers, the fall-through last."""

    instructions: list[Instruction]
    end: Instruction | None
    label: str | None
    gate: bool = False
    number: int = -1
    successors: tuple[int, ...] = ()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    live_in: frozenset[str] = frozenset()


class Node(Protocol):
    """What a way through the graph depends on: how a block ends, and where it leads."""

    @property
    def end(self) -> Instruction | None:
        """The branch or exit that ends it, None where it falls through."""

    @property
    def successors(self) -> tuple[int, ...]:
        """The numbers of the blocks that may come next."""


ENDS = frozenset({"bra", "brx", "ret", "exit"})


def blocks(
    flat: Flat, is_gate: Callable[[Instruction], bool], effects: Callable[[Instruction], Effects]
) -> list[Block]:
    """Basic blocks in scheduling order, liveness filled in. ``is_gate`` tells the instructions that wait for
    other lanes (they start a block); ``effects`` the registers one reads and writes."""
    found = _split(_without_guarded_gates(flat, is_gate), is_gate)
    successors = _successors(found, flat.tables)
    order = _reverse_post_order(successors)
    number = {old: new for new, old in enumerate(order)}
    for old in order:
        found[old].number = number[old]
        found[old].successors = tuple(number[target] for target in successors[old])
    ordered = [found[old] for old in order]
    _liveness(ordered, effects)
    return ordered


def comes_next(graph: Sequence[Node], start: int, block: int) -> bool:
    """Whether every way on from block ``start`` comes to another ``block`` before it ends or comes back."""
    seen: set[int] = set()
    stack = [start]
    while stack:
        node = graph[stack.pop()]
        if not node.successors or (node.end is not None and node.end.opcode in ("ret", "exit")):
            return False
        if start in node.successors:
            return False
        fresh = set(node.successors) - seen - {block}
        seen |= fresh
        stack += fresh
    return True


def _without_guarded_gates(flat: Flat, is_gate: Callable[[Instruction], bool]) -> Flat:
    """``@p bar.sync`` as a branch around it, so that only lanes for which the guard holds come to the gate."""
    body: list[Instruction | str] = []
    for item in flat.body:
        if isinstance(item, Instruction) and item.guard is not None and is_gate(item):
            after = f"after guarded gate {len(body)}"
            around = replace(item.guard, negated=not item.guard.negated)
            skip = Instruction("bra", (), (Symbol(after),), around, item.line, item.text)
            body += [skip, replace(item, guard=None), after]
        else:
            body.append(item)
    return replace(flat, body=body)


def _split(flat: Flat, is_gate: Callable[[Instruction], bool]) -> list[Block]:
    found = [Block([], None, None)]

    def fresh(label: str | None) -> Block:
        block = found[-1]
        if block.instructions or block.end or block.label is not None:
            block = Block([], None, label)
            found.append(block)
        else:
            block.label = label
        return block

    aliases: dict[str, str] = {}
    block = found[0]
    for item in flat.body:
        if isinstance(item, str):
            if block.label is not None and not block.instructions and not block.end:
                aliases[item] = block.label  # two labels in a row are one place
                continue
            block = fresh(item)
        elif item.opcode in ENDS:
            block.end = item
            block = Block([], None, None)
            found.append(block)
        else:
            if is_gate(item):
                block = fresh(None) if block.instructions else block
                block.gate = True
            block.instructions.append(item)
    if not found[-1].instructions and found[-1].end is None and found[-1].label is None:
        found.pop()
    _apply_aliases(found, flat, aliases)
    return found


def _apply_aliases(found: Iterable[Block], flat: Flat, aliases: dict[str, str]) -> None:
    for block in found:
        if block.end is not None:
            block.end = rename(block.end, aliases)
    for label, targets in flat.tables.items():
        flat.tables[label] = tuple(aliases.get(target, target) for target in targets)


def _successors(found: list[Block], tables: dict[str, tuple[str, ...]]) -> list[list[int]]:
    place = {block.label: index for index, block in enumerate(found) if block.label is not None}
    result = []
    for index, block in enumerate(found):
        end, targets = block.end, []
        if end is not None and end.opcode == "bra":
            targets = [place[end.operands[0].name]]  # type: ignore[union-attr]  # a branch names a label
        elif end is not None and end.opcode == "brx":
            targets = [place[name] for name in tables[end.operands[1].name]]  # type: ignore[union-attr]
        falls = end is None or (end.guard is not None and end.opcode != "brx")
        if falls and index + 1 < len(found):
            targets.append(index + 1)
        result.append(targets)
    return result


def _reverse_post_order(successors: list[list[int]]) -> list[int]:
    """Depth first, leaving a loop last to be numbered: successors outside the innermost loop are visited first."""
    loops = _loop_sets(successors)

    def inside(block: int, target: int) -> int:
        return sum(1 for loop in loops if block in loop and target in loop)

    order: list[int] = []
    seen = {0}
    stack = [(0, iter(sorted(successors[0], key=lambda target: inside(0, target))))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(sorted(successors[target], key=lambda t, b=target: inside(b, t)))))  # type: ignore[misc]
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _loop_sets(successors: list[list[int]]) -> list[frozenset[int]]:
    """Every loop as the set of its blocks, outer and inner: strongly connected components, taken apart at their
    entry and searched again."""
    loops: list[frozenset[int]] = []
    work: list[tuple[frozenset[int], int]] = [(frozenset(range(len(successors))), 0)]
    while work:
        region, entry = work.pop()
        for component in _components(successors, region, entry):
            if len(component) == 1:
                continue
            loops.append(component)
            heads = {t for b in region - component for t in successors[b] if t in component} or {min(component)}
            head = min(heads)
            inner = component - {head}
            work.extend((inner, start) for start in [min(inner)] if inner)
    return loops


def _components(successors: list[list[int]], region: frozenset[int], entry: int) -> list[frozenset[int]]:
    """Strongly connected components of ``region`` (Tarjan, iterative)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: list[int] = []
    active: set[int] = set()
    found = []
    for root in sorted(region, key=lambda block: block != entry):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        on_stack.append(root)
        active.add(root)
        work = [(root, iter(t for t in successors[root] if t in region))]
        while work:
            block, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    on_stack.append(target)
                    active.add(target)
                    work.append((target, iter(t for t in successors[target] if t in region)))
                    break
                if target in active:
                    low[block] = min(low[block], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[block])
                if low[block] == index[block]:
                    component = set()
                    while block not in component:
                        component.add(on_stack.pop())
                    active -= component
                    found.append(frozenset(component))
    return found


@dataclass(frozen=True)
class Effects:
    """Registers an instruction reads and writes; a guarded one also reads what it may leave unchanged."""

    reads: frozenset[str]
    writes: frozenset[str]


def _liveness(ordered: list[Block], effects: Callable[[Instruction], Effects]) -> None:
    for block in ordered:
        reads: set[str] = set()
        writes: set[str] = set()
        for instruction in block.instructions + ([block.end] if block.end else []):
            effect = effects(instruction)
            reads |= effect.reads - writes
            writes |= effect.writes
        block.reads, block.writes = frozenset(reads), frozenset(writes)
        block.live_in = block.reads
    changed = True
    while changed:
        changed = False
        for block in reversed(ordered):
            out = frozenset().union(*(ordered[target].live_in for target in block.successors))
            live = block.reads | (out - block.writes)
            if live != block.live_in:
                block.live_in, changed = live, True

"""From a kernel's text to the graph the machine walks: calls inlined, basic blocks in order, liveness.

Block numbers are positions in reverse post-order with loops kept whole, so the smallest number among waiting lanes is
the one to run next: lanes that parted then meet again at the immediate post-dominator, as hardware does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from harness.errors import Unsupported
from harness.simulator.ptx import (
    Address,
    Function,
    Instruction,
    Operand,
    Register,
    Symbol,
    Translation,
    Variable,
    Vector,
)


@dataclass
class Flat:
    """One kernel with every call inlined: unique labels, registers and variables."""

    body: list[Instruction | str] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)


def inline(translation: Translation, kernel: str) -> Flat:
    """Flatten ``kernel``. Functions without a body (``vprintf``) stay calls; a call through a pointer becomes a test
    for each function it may mean. Raises Unsupported for recursion."""
    flat = Flat()
    _Inliner(translation, flat).expand(translation.functions[kernel], "", {}, ())
    return flat


class _Inliner:
    def __init__(self, translation: Translation, flat: Flat) -> None:
        self.translation = translation
        self.flat = flat
        self.calls = 0

    def expand(self, function: Function, prefix: str, aliases: dict[str, str], stack: tuple[str, ...]) -> None:
        labels = {item for item in function.body if isinstance(item, str)}
        renamed = dict(aliases)
        for name, kind in function.registers.items():
            renamed[name] = prefix + name
            self.flat.registers[prefix + name] = kind
        for variable in function.variables:
            # One shared variable serves every call of its function; the others are one per call.
            own = variable.name if variable.space in ("shared", "global", "const") else prefix + variable.name
            renamed[variable.name] = own
            self.flat.variables[own] = replace(variable, name=own)
        renamed.update({label: prefix + label for label in labels | function.tables.keys()})
        for label, targets in function.tables.items():
            self.flat.tables[prefix + label] = tuple(renamed[target] for target in targets)
        end = f"{prefix}end of {function.name}"
        for item in function.body:
            if isinstance(item, str):
                self.flat.body.append(renamed[item])
            elif item.opcode == "call":
                self._call(_rename(item, renamed), stack)
            elif item.opcode == "ret" and stack:
                self.flat.body.append(replace(_rename(item, renamed), opcode="bra", operands=(Symbol(end),)))
            else:
                self.flat.body.append(_rename(item, renamed))
        if stack:
            self.flat.body.append(end)

    def _call(self, call: Instruction, stack: tuple[str, ...]) -> None:
        results, target, arguments = _call_parts(call)
        if isinstance(target, Register):
            self._call_through(call, target, results, arguments, stack)
            return
        function = self.translation.functions.get(target.name)
        if function is None:
            self.flat.body.append(call)
            return
        if function.name in stack:
            raise Unsupported(
                f"{function.name} calls itself: recursion on the device is not simulated", line=call.line,
                remedy="write the recursion as a loop",
            )  # fmt: skip
        if len(results) != len(function.results) or len(arguments) != len(function.parameters):
            raise Unsupported(f"call with another number of arguments: {call.text}", line=call.line)
        formal = [variable.name for variable in function.results + function.parameters]
        self.calls += 1
        self.expand(
            function, f"{function.name}#{self.calls}/", dict(zip(formal, results + arguments, strict=True)),
            (*stack, function.name),
        )  # fmt: skip

    def _call_through(
        self,
        call: Instruction,
        pointer: Register,
        results: tuple[str, ...],
        arguments: tuple[str, ...],
        stack: tuple[str, ...],
    ) -> None:
        """Every function of that shape, each behind a comparison of its address; a pointer to none of them traps."""
        sizes = [self.flat.variables[name].size for name in results + arguments]
        self.calls += 1
        end, test = f"end of call {self.calls}", f"%call{self.calls}"
        self.flat.registers[test] = "pred"
        for function in self.translation.functions.values():
            fits = [variable.size for variable in function.results + function.parameters] == sizes
            if function.entry or not fits or function.name in stack:
                continue
            after = f"{end}, not {function.name}"
            compare = (Register(test), pointer, Symbol(function.name))
            self.flat.body += [
                Instruction("setp", ("ne", "u64"), compare, None, call.line, call.text),
                Instruction("bra", (), (Symbol(after),), Register(test), call.line, call.text),
            ]
            self._call(replace(call, operands=(*call.operands[:-3], Symbol(function.name), call.operands[-2])), stack)
            self.flat.body += [Instruction("bra", (), (Symbol(end),), None, call.line, call.text), after]
        self.flat.body += [Instruction("trap", (), (), None, call.line, call.text), end]


def _call_parts(call: Instruction) -> tuple[tuple[str, ...], Symbol | Register, tuple[str, ...]]:
    """Result variables, the function or the register that points to it, argument variables."""
    operands = list(call.operands)
    results = _variables(operands)
    target = operands.pop(0)
    arguments = _variables(operands)
    names = [item.name for item in results + arguments if isinstance(item, Symbol)]
    if not isinstance(target, Symbol | Register) or len(names) != len(results) + len(arguments):
        raise Unsupported(f"call form {call.text}", line=call.line)
    return tuple(names[: len(results)]), target, tuple(names[len(results) :])


def _variables(operands: list[Operand]) -> tuple[Operand, ...]:
    """Take the parenthesised list at the front, if there is one."""
    if operands and isinstance(operands[0], Vector):
        first = operands.pop(0)
        return first.items if isinstance(first, Vector) else ()
    return ()


def builtin_call(call: Instruction) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The parts of a call that stayed a call: result variables, function name, argument variables."""
    results, target, arguments = _call_parts(call)
    return results, target.name, arguments


def _rename(instruction: Instruction, names: dict[str, str]) -> Instruction:
    def operand(item: Operand) -> Operand:
        if isinstance(item, Register | Symbol):
            return replace(item, name=names.get(item.name, item.name))
        if isinstance(item, Vector):
            return Vector(tuple(operand(one) for one in item.items))
        if isinstance(item, Address) and isinstance(item.base, Register):
            return replace(item, base=replace(item.base, name=names.get(item.base.name, item.base.name)))
        if isinstance(item, Address) and isinstance(item.base, str):
            return replace(item, base=names.get(item.base, item.base))
        return item

    guard = instruction.guard and replace(
        instruction.guard, name=names.get(instruction.guard.name, instruction.guard.name)
    )
    return replace(instruction, operands=tuple(operand(item) for item in instruction.operands), guard=guard)


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
            block.end = _rename(block.end, aliases)
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

"""Random PTX programs with control flow, and a tiny interpreter that runs one lane at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from tests.simulator.running import assembly

REGISTERS = 5
SLOTS = 4
FUEL = 24
MASK = 0xFFFF_FFFF

#: A read-only table that lanes gather from.
TABLE = [(0x9E37_79B9 * (n + 1)) & MASK for n in range(16)]


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b, "sub.u32": lambda a, b: a - b, "mul.lo.u32": lambda a, b: a * b,
    "xor.b32": lambda a, b: a ^ b, "and.b32": lambda a, b: a & b, "or.b32": lambda a, b: a | b,
    "min.u32": min, "max.s32": lambda a, b: max(a, b, key=_signed),
    "shr.u32": lambda a, b: a >> min(b, 32), "shl.b32": lambda a, b: a << min(b, 32),
}  # fmt: skip
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "lt.u32": lambda a, b: a < b, "ge.s32": lambda a, b: _signed(a) >= _signed(b), "ne.u32": lambda a, b: a != b,
}  # fmt: skip


@dataclass(frozen=True)
class Test:
    """A comparison of a register's low bits with a number: true for some lanes, false for others."""

    comparison: str
    register: int
    bits: int
    number: int

    def holds(self, lane: Lane) -> bool:
        return COMPARISONS[self.comparison](lane.registers[self.register] & self.bits, self.number)

    def text(self) -> list[str]:
        return [f"and.b32 %r20, %r{self.register}, {self.bits};", f"setp.{self.comparison} %p1, %r20, {self.number};"]


@dataclass
class Lane:
    """One thread: its registers, its own memory, and the steps it may still take."""

    registers: list[int]
    memory: list[int] = field(default_factory=lambda: [0] * SLOTS)
    fuel: int = FUEL
    done: bool = False

    @staticmethod
    def of(thread: int) -> Lane:
        """As :func:`prologue` starts it."""
        return Lane([(thread * (2 * n + 3) + n) & MASK for n in range(REGISTERS)])


@dataclass(frozen=True)
class Compute:
    """``a = op(a, b)``, perhaps guarded."""

    operation: str
    target: int
    source: int
    guard: Test | None

    def run(self, lane: Lane) -> None:
        if self.guard is None or self.guard.holds(lane):
            a, b = lane.registers[self.target], lane.registers[self.source]
            lane.registers[self.target] = OPERATIONS[self.operation](a, b) & MASK

    def text(self) -> list[str]:
        before, guard = ([], "") if self.guard is None else (self.guard.text(), "@%p1 ")
        return [*before, f"{guard}{self.operation} %r{self.target}, %r{self.target}, %r{self.source};"]


@dataclass(frozen=True)
class Gather:
    """``a = table[b & 15]``."""

    target: int
    source: int

    def run(self, lane: Lane) -> None:
        lane.registers[self.target] = TABLE[lane.registers[self.source] & 15]

    def text(self) -> list[str]:
        return [f"and.b32 %r20, %r{self.source}, 15;", "mul.wide.u32 %rd20, %r20, 4;", "add.s64 %rd20, %rd2, %rd20;",
                f"ld.global.u32 %r{self.target}, [%rd20];"]  # fmt: skip


@dataclass(frozen=True)
class Swap:
    """``swap(a, mine[b & 3])``, a load and a store."""

    target: int
    source: int

    def run(self, lane: Lane) -> None:
        place = lane.registers[self.source] & (SLOTS - 1)
        lane.registers[self.target], lane.memory[place] = lane.memory[place], lane.registers[self.target]

    def text(self) -> list[str]:
        return [f"and.b32 %r20, %r{self.source}, {SLOTS - 1};", "mul.wide.u32 %rd20, %r20, 4;",
                "add.s64 %rd20, %rd3, %rd20;", "ld.global.u32 %r21, [%rd20];",
                f"st.global.u32 [%rd20], %r{self.target};", f"mov.u32 %r{self.target}, %r21;"]  # fmt: skip


Simple = Compute | Gather | Swap
register = st.integers(0, REGISTERS - 1)
tests = st.builds(
    Test, st.sampled_from(sorted(COMPARISONS)), register, st.sampled_from([1, 3, 7, 31, MASK]), st.integers(0, 20)
)
simple: st.SearchStrategy[Simple] = st.one_of(
    st.builds(Compute, st.sampled_from(sorted(OPERATIONS)), register, register, st.none() | tests),
    st.builds(Gather, register, register),
    st.builds(Swap, register, register),
)

# --- any graph of blocks, however tangled


@dataclass(frozen=True)
class Node:
    """A block: work, then a choice among ``targets``: one, two by ``test``, or more by a register's low bits. A target
    of -1 leaves without storing anything."""

    work: tuple[Simple, ...]
    test: Test
    targets: tuple[int, ...]


nodes = st.builds(
    Node,
    st.lists(simple, max_size=3).map(tuple),
    tests,
    st.lists(st.integers(-1, 5), min_size=1, max_size=4).map(tuple),
)
graphs = st.lists(nodes, min_size=1, max_size=6)


def run_graph(graph: list[Node], lane: Lane) -> Lane:
    """Walk from block 0; a lane that leaves on its own is marked ``done``."""
    place = 0
    while lane.fuel:
        lane.fuel -= 1
        node = graph[place]
        for one in node.work:
            one.run(lane)
        if len(node.targets) == 2:
            target = node.targets[0 if node.test.holds(lane) else 1]
        else:
            target = node.targets[min(lane.registers[node.test.register] & 3, len(node.targets) - 1)]
        if target < 0:
            lane.done = True
            break
        place = target % len(graph)
    return lane


def graph_text(graph: list[Node]) -> str:
    """The graph as a kernel ``main(out, table, memory)``."""

    def label(target: int) -> str:
        return "LEAVE" if target < 0 else f"NODE{target % len(graph)}"

    lines = prologue()
    for number, node in enumerate(graph):
        lines += [f"NODE{number}:", "setp.eq.u32 %p2, %r22, 0;", "@%p2 bra STORE;", "sub.u32 %r22, %r22, 1;"]
        for one in node.work:
            lines += one.text()
        if len(node.targets) == 1:
            lines.append(f"bra {label(node.targets[0])};")
        elif len(node.targets) == 2:
            lines += [*node.test.text(), f"@%p1 bra {label(node.targets[0])};", f"bra.uni {label(node.targets[1])};"]
        else:
            names = ", ".join(label(target) for target in node.targets)
            lines += [f"and.b32 %r20, %r{node.test.register}, 3;", f"min.u32 %r20, %r20, {len(node.targets) - 1};",
                      f"TABLE{number}: .branchtargets {names};", f"brx.idx %r20, TABLE{number};"]  # fmt: skip
    return _kernel([*lines, "STORE:", *epilogue(), "LEAVE:", "ret;"])


def prologue() -> list[str]:
    """The lane's number in %r23, its registers in %r0 to %r4, fuel in %r22, table in %rd2, own memory in %rd3."""
    lines = [
        "ld.param.u64 %rd1, [out];", "ld.param.u64 %rd2, [table];", "ld.param.u64 %rd3, [memory];",
        "mov.u32 %r20, %tid.x;", "mov.u32 %r21, %ctaid.x;", "mov.u32 %r22, %ntid.x;",
        "mad.lo.u32 %r23, %r21, %r22, %r20;",
        f"mul.wide.u32 %rd4, %r23, {4 * SLOTS};", "add.s64 %rd3, %rd3, %rd4;", f"mov.u32 %r22, {FUEL};",
    ]  # fmt: skip
    return lines + [f"mad.lo.u32 %r{n}, %r23, {2 * n + 3}, {n};" for n in range(REGISTERS)]


def epilogue() -> list[str]:
    """Store the registers."""
    lines = [f"mul.wide.u32 %rd4, %r23, {4 * REGISTERS};", "add.s64 %rd1, %rd1, %rd4;"]
    return lines + [f"st.global.u32 [%rd1+{4 * n}], %r{n};" for n in range(REGISTERS)]


def _kernel(lines: list[str]) -> str:
    return assembly("\n".join(lines), ".param .u64 out, .param .u64 table, .param .u64 memory")


# --- structured programs, in which all lanes of a warp meet at the top level


@dataclass(frozen=True)
class If:
    test: Test
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop:
    """As many rounds as a register's low bits say at its start; ``leave`` breaks, ``skip`` goes on with the next."""

    count: int
    body: tuple[Statement, ...]
    leave: Test | None
    skip: Test | None


@dataclass(frozen=True)
class Ballot:
    """``a = ballot(test)`` over the warp."""

    target: int
    test: Test


@dataclass(frozen=True)
class Shuffle:
    """``a = a of the lane that own lane xor distance names``."""

    target: int
    distance: int


@dataclass(frozen=True)
class Count:
    """``a = __syncthreads_count(test)``."""

    target: int
    test: Test


Statement = Simple | If | Loop
Collective = Ballot | Shuffle | Count

statements: st.SearchStrategy[Statement] = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(If, tests, st.lists(inner, max_size=3).map(tuple), st.lists(inner, max_size=2).map(tuple)),
        st.builds(
            Loop, register, st.lists(inner, min_size=1, max_size=3).map(tuple), st.none() | tests, st.none() | tests
        ),
    ),
    max_leaves=10,
)
collectives: st.SearchStrategy[Collective] = st.one_of(
    st.builds(Ballot, register, tests),
    st.builds(Shuffle, register, st.integers(1, 31)),
    st.builds(Count, register, tests),
)
programs = st.lists(statements | collectives, min_size=1, max_size=6)


def run_program(program: list[Statement | Collective], lanes: list[Lane], block: int) -> None:
    """All lanes of a grid together, each statement for one after the other; ``block`` is a multiple of 32."""
    for statement in program:
        if isinstance(statement, Shuffle):
            before = [lane.registers[statement.target] for lane in lanes]
            for n, lane in enumerate(lanes):
                lane.registers[statement.target] = before[n ^ statement.distance]
        elif isinstance(statement, Ballot | Count):
            size = 32 if isinstance(statement, Ballot) else block
            for start in range(0, len(lanes), size):
                group = lanes[start : start + size]
                yes = [statement.test.holds(lane) for lane in group]
                result = sum(1 << n for n, one in enumerate(yes) if one) if isinstance(statement, Ballot) else sum(yes)
                for lane in group:
                    lane.registers[statement.target] = result
        else:
            for lane in lanes:
                _run_statement(statement, lane)


def _run_statement(statement: Statement, lane: Lane) -> None:
    if isinstance(statement, If):
        for one in statement.then if statement.test.holds(lane) else statement.otherwise:
            _run_statement(one, lane)
    elif isinstance(statement, Loop):
        for _ in range(lane.registers[statement.count] & 3):
            if statement.skip is not None and statement.skip.holds(lane):
                continue
            for one in statement.body:
                _run_statement(one, lane)
            if statement.leave is not None and statement.leave.holds(lane):
                break
    else:
        statement.run(lane)


def program_text(program: list[Statement | Collective]) -> str:
    """The program as a kernel ``main(out, table, memory)``."""
    names = iter(range(10**6))
    lines = prologue()
    for statement in program:
        lines += _statement_text(statement, names, 0)
    return _kernel([*lines, *epilogue(), "ret;"])


def _statement_text(statement: Statement | Collective, names: Iterator[int], depth: int) -> list[str]:
    if isinstance(statement, Ballot):
        return [*statement.test.text(), f"vote.sync.ballot.b32 %r{statement.target}, %p1, 0xFFFFFFFF;"]
    if isinstance(statement, Count):
        return [*statement.test.text(), f"bar.red.popc.u32 %r{statement.target}, 0, %p1;"]
    if isinstance(statement, Shuffle):
        at = f"%r{statement.target}"
        return [f"shfl.sync.bfly.b32 {at}, {at}, {statement.distance}, 31, 0xFFFFFFFF;"]
    if isinstance(statement, If):
        return _if_text(statement, names, depth)
    return _loop_text(statement, names, depth) if isinstance(statement, Loop) else statement.text()


def _if_text(statement: If, names: Iterator[int], depth: int) -> list[str]:
    number = next(names)
    then = [line for one in statement.then for line in _statement_text(one, names, depth)]
    otherwise = [line for one in statement.otherwise for line in _statement_text(one, names, depth)]
    return [
        *statement.test.text(),
        f"@!%p1 bra ELSE{number};",
        *then,
        f"bra FI{number};",
        f"ELSE{number}:",
        *otherwise,
        f"FI{number}:",
    ]


def _loop_text(statement: Loop, names: Iterator[int], depth: int) -> list[str]:
    number, left = next(names), f"%r{24 + depth}"
    body = [line for one in statement.body for line in _statement_text(one, names, depth + 1)]
    skip = [] if statement.skip is None else [*statement.skip.text(), f"@%p1 bra NEXT{number};"]
    leave = [] if statement.leave is None else [*statement.leave.text(), f"@%p1 bra DONE{number};"]
    return [
        f"and.b32 {left}, %r{statement.count}, 3;", f"setp.eq.u32 %p1, {left}, 0;", f"@%p1 bra DONE{number};",
        f"LOOP{number}:", *skip, *body, *leave, f"NEXT{number}:", f"sub.u32 {left}, {left}, 1;",
        f"setp.ne.u32 %p1, {left}, 0;", f"@%p1 bra LOOP{number};", f"DONE{number}:",
    ]  # fmt: skip


def arrays(lanes: list[Lane]) -> tuple[np.ndarray, np.ndarray]:
    """What lanes leave in ``out`` (zeros where they left without storing) and in ``memory``."""
    out = [[0] * REGISTERS if lane.done else lane.registers for lane in lanes]
    return np.array(out, np.uint32), np.array([lane.memory for lane in lanes], np.uint32)

"""What a warp waits for, one thing after the other: the chain of dependent steps through the code that it ran.

An SM hides latency by running other warps. How long one warp takes alone, and how many there are, bounds the time of a
launch from below (Little's law), and only the program tells how long: a load whose value is needed at once stalls, four
loads in a row stall once. So registers get the time at which they are ready, as in a scoreboard:

* within a block of code the compiler has reordered instructions, so each starts when its operands are ready. A short
  block under an ``if`` is no block of its own: its instructions are predicated, and move among those around;
* the next block of code starts once every instruction of the last has started, and so does the next turn of a loop,
  unless the compiler unrolls it;
* copies to shared memory are under way until their thread waits for their group;
* loads stay behind earlier stores of the same memory, which they might meet; and so many lines fit the L1's queue,
  which it works off in order.

Times are nominal cycles, to tell which path is longest; what is kept is how many steps of each kind lie on it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.profiles import Chain
from harness.simulator import costs
from harness.simulator.costs import KINDS, NOMINAL, UNITS, Seen, Steps
from harness.simulator.kernel import Block
from harness.simulator.ptx import Immediate, Instruction
from harness.simulator.steps import effects

#: What was seen of an instruction, by its block's number and its place in it.
SeenAt = Callable[[int, int], Seen]

#: Instructions of a body that is predicated rather than jumped over.
SHORT = 12

#: Turns of a loop that become one, and the issue slots of the longest turn to which that is done. ``ptxas`` of CUDA 13
#: does so, for all architectures alike, to a loop of one block that counts by a constant (``cuobjdump -sass``). Of the
#: loops in the calibration and the solutions it does so up to 33 slots and not from 38 on; those with few exponentials
#: may be somewhat longer.
TURNS, LONGEST = 4, 36

#: Cache lines that the loads of a warp can have under way in the L1, an assumption: nobody publishes how long its queue
#: is. Loads of one line a request don't come near it. Those of sm_thread_row and mv_thread_row do, with 32 lines a
#: request and four warps an SM: with it their times come out 3 % too long and 4 % too short, without it 6 and 20 % too
#: short.
LINES = 128

_NOTHING: Steps = (0.0,) * len(KINDS)


@dataclass(frozen=True)
class Ran:
    """A block of code that a batch ran, and the part of the batch's warps that took part."""

    number: int
    part: float


@dataclass(frozen=True)
class _Link:
    """An instruction in its block: what it needs, makes and costs. ``lines`` are what a load has under way in the L1, 0
    where that is one a request."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    behind: str | None
    ahead: str | None
    cost: Steps
    time: float
    lines: float
    jumps: bool
    copying: str | None
    left: int


def chain(blocks: Sequence[Block], trace: Iterable[Ran], seen: SeenAt) -> Chain:
    """One warp, on average: the steps on its way through ``trace``, and the slots it takes of each unit."""
    code = {block.number: _items(block) for block in blocks}
    board = _Scoreboard(
        {
            number: [_link(item, seen(number, place)) for place, item in enumerate(items)]
            for number, items in code.items()
        },
        _predicated(blocks), _unrolled(blocks),
    )  # fmt: skip
    slots_of = {number: _total(costs.cost(item).slots for item in items) for number, items in code.items()}
    parts: dict[int, float] = {}
    steps = list(_NOTHING)
    for ran in trace:
        parts[ran.number] = parts.get(ran.number, 0.0) + ran.part
        for kind, count in enumerate(board.run(ran.number)):
            steps[kind] += count * ran.part
    slots = _total(tuple(part * slot for slot in slots_of[number]) for number, part in parts.items())
    return Chain(dict(zip(KINDS, steps, strict=True)), dict(zip(UNITS, slots, strict=True)))


def _predicated(blocks: Sequence[Block]) -> frozenset[tuple[int, int]]:
    """Ways from block to block that are none in machine code: around and through a short body of an ``if``."""
    gone: set[tuple[int, int]] = set()
    for block, body in pairwise(blocks):
        after = max(block.successors, default=-1)
        around = after > body.number and set(block.successors) == {body.number, after}
        if around and body.successors == (after,) and _short(body):
            gone |= {(block.number, body.number), (block.number, after), (body.number, after)}
    return frozenset(way for way in gone if blocks[way[1]].gate is None)


def _short(block: Block) -> bool:
    return len(block.instructions) <= SHORT and block.gate is None


def _unrolled(blocks: Sequence[Block]) -> frozenset[int]:
    """The loops of one block that are unrolled in machine code, by its number."""
    return frozenset(
        block.number for block in blocks
        if block.end is not None and block.number in block.successors and block.gate is None and not block.end.rolled
        and all(map(_straight, block.instructions)) and _counts(block)
        and sum(costs.cost(item).slots[0] for item in _items(block)) <= LONGEST
    )  # fmt: skip


def _straight(item: Instruction) -> bool:
    """Whether machine code has no branch for it, nor waits: divisions that round exactly have one for rare operands."""
    exact = item.opcode in ("div", "rcp", "sqrt") and item.has("rn", "rz", "rm", "rp")
    return not exact and item.opcode not in ("atom", "red", "cp")


def _counts(block: Block) -> bool:
    """Whether a loop goes on as long as a register that it adds a constant to has not come to its bound."""
    made = {name: item for item in block.instructions for name in effects(item).writes}
    guard = block.end.guard if block.end is not None else None
    test = made.get(guard.name) if guard is not None else None
    if test is None or test.opcode != "setp":
        return False
    changed = [made[name] for name in effects(test).reads if name in made]
    return bool(changed) and all(
        item.opcode in ("add", "sub") and isinstance(item.operands[-1], Immediate) for item in changed
    )


def _items(block: Block) -> list[Instruction]:
    return [*block.instructions, *([block.end] if block.end else [])]


def _total(rows: Iterable[Steps]) -> Steps:
    return tuple(map(sum, zip(*rows, strict=True))) or (0.0,) * len(UNITS)


def _link(item: Instruction, seen: Seen) -> _Link:
    effect = effects(item)
    steps = costs.chain_steps(item, seen)
    behind, ahead = costs.memory_order(item)
    lines = 1.0 + steps[_REPLAY] if steps[_L1] and steps[_REPLAY] else 0.0
    does = costs.copying(item)
    left = next((one.value for one in item.operands if isinstance(one, Immediate)), 0) if does == costs.WAIT else 0
    return _Link(
        tuple(sorted(effect.reads)), tuple(sorted(effect.writes)), behind, ahead, steps,
        sum(map(operator.mul, steps, NOMINAL)), lines, item.opcode in ("bra", "brx"), does, int(left),
    )  # fmt: skip


_Point = tuple[float, Steps]

#: Loads under way, in order: when each is there, and its cache lines.
_Queue = tuple[tuple[_Point, float], ...]

#: When each group of copies is there, in order; the last is still open.
_Groups = tuple[_Point, ...]

_START: _Point = (0.0, _NOTHING)


class _Scoreboard:
    """When each register is ready, seen from the start of the next block: a time, and the steps up to it."""

    def __init__(
        self, code: Mapping[int, list[_Link]], predicated: frozenset[tuple[int, int]], unrolled: frozenset[int]
    ) -> None:
        self.code = code
        self.predicated = predicated
        self.unrolled = unrolled
        self.turn = 0
        self.jumps = {
            number: links[-1].cost if links and links[-1].jumps else _NOTHING for number, links in code.items()
        }
        self.before: int | None = None
        self.ready: dict[str, _Point] = {}
        self.end: _Point = _START
        self.queue: _Queue = ()
        self.groups: _Groups = (_START,)
        self.known: dict[tuple, tuple[_Point, dict[str, _Point], _Queue, _Groups]] = {}

    def run(self, number: int) -> Steps:
        """Run a block of code: how many steps it took from where the last one that could not be predicated began."""
        jump = _NOTHING
        again = self.before == number and number in self.unrolled
        self.turn = (self.turn + 1) % TURNS if again else 0
        if self.before is not None and not self.turn and (self.before, number) not in self.predicated:
            jump = self.jumps[self.before]
            self._begin()
        steps = self.end[1]
        key = (number, self.end, tuple(sorted(self.ready.items())), self.queue, self.groups)
        if key not in self.known:
            self.known[key] = self._run(self.code[number])
        self.end, self.ready, self.queue, self.groups = self.known[key]
        self.before = number
        return _plus(jump, tuple(map(operator.sub, self.end[1], steps)))

    def _begin(self) -> None:
        """Count from here: what is ready by now needs no waiting."""
        end = self.end
        self.ready = {name: _since(point, end) for name, point in self.ready.items() if point[0] > end[0]}
        self.queue = tuple((_since(point, end), lines) for point, lines in self.queue if point[0] > end[0])
        groups = [_since(point, end) if point[0] > end[0] else _START for point in self.groups]
        done = next((number for number, point in enumerate(groups[:-1]) if point != _START), len(groups) - 1)
        self.groups = tuple(groups[done:])  # waiting counts from the newest
        self.end = _START

    def _run(self, links: list[_Link]) -> tuple[_Point, dict[str, _Point], _Queue, _Groups]:
        ready, end, queue, groups = dict(self.ready), self.end, self.queue, self.groups
        floor = _START
        for link in links:
            needs = [ready[name] for name in (*link.reads, link.behind) if name in ready]
            needs += _waited_for(link, groups)
            while link.lines and queue and sum(lines for _, lines in queue) + link.lines > LINES:
                (done, _), *rest = queue
                queue = tuple(rest)
                needs.append(done)
            start = max([floor, *needs], key=lambda point: point[0])
            after = (start[0] + link.time, _plus(start[1], link.cost))
            if link.lines:
                queue = *queue, (after, link.lines)
            for name in link.writes:
                ready[name] = after
            groups = _COPYING[link.copying](groups, after, link.left) if link.copying else groups
            if link.ahead:
                ready[link.ahead] = max(ready.get(link.ahead, start), start, key=lambda point: point[0])
            if link.cost[_BARRIER] or link.copying in (costs.WAIT, costs.WAIT_ALL):
                floor = start = after
            end = max(end, start, key=lambda point: point[0])
        return end, ready, queue, groups


def _waited_for(link: _Link, groups: _Groups) -> _Groups:
    """The groups that must be there before an instruction goes on."""
    if link.copying == costs.WAIT_ALL:
        return groups
    return groups[: max(0, len(groups) - 1 - link.left)] if link.copying == costs.WAIT else ()


#: What is under way after an operation on copies, the one issued being there at ``after``.
_COPYING: dict[str, Callable[[_Groups, _Point, int], _Groups]] = {
    costs.ISSUE: lambda groups, after, left: (*groups[:-1], max(groups[-1], after, key=lambda point: point[0])),
    costs.COMMIT: lambda groups, after, left: (*groups, _START),
    costs.WAIT: lambda groups, after, left: groups[-1 - left :],
    costs.WAIT_ALL: lambda groups, after, left: (_START,),
}


_BARRIER, _L1, _REPLAY = map(KINDS.index, ("barrier", "l1", "replay"))


def _plus(first: Steps, second: Steps) -> Steps:
    return tuple(map(operator.add, first, second))


def _since(point: _Point, start: _Point) -> _Point:
    """``point`` seen from ``start``, rounded so that a loop comes to the same state again."""
    steps = tuple(round(one - other, 3) for one, other in zip(point[1], start[1], strict=True))
    return round(point[0] - start[0], 3), steps

"""What a warp waits for, one thing after the other: the chain of dependent steps through the code that it ran.

An SM hides latency by running other warps. How long one warp takes alone, and how many there are, bounds the time of a
launch from below (Little's law), and only the program tells how long: a load whose value is needed at once stalls, four
loads in a row stall once. So registers get the time at which they are ready, as in a scoreboard:

* within a block of code the compiler has reordered instructions, so each starts when its operands are ready. A short
  block under an ``if`` is no block of its own: its instructions are predicated, and move among those around;
* the next block of code starts once every instruction of the last has started;
* loads stay behind earlier stores of the same memory, which they might meet.

Times are nominal cycles, to tell which path is longest; what is kept is how many steps of each kind lie on it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.profiles import Chain
from harness.simulator import costs
from harness.simulator.costs import KINDS, NOMINAL, UNITS, Steps
from harness.simulator.kernel import Block
from harness.simulator.ptx import Instruction
from harness.simulator.steps import effects

#: Of a memory instruction, by its block's number and its place in it: the part of its requests that an L1 can't answer,
#: and the wavefronts of a request beyond the first.
Seen = Callable[[int, int], tuple[float, float]]

#: Instructions of a body that is predicated rather than jumped over.
SHORT = 12

_NOTHING: Steps = (0.0,) * len(KINDS)


@dataclass(frozen=True)
class Ran:
    """A block of code that a batch ran, and the part of the batch's warps that took part."""

    number: int
    part: float


@dataclass(frozen=True)
class _Link:
    """An instruction in its block: what it needs, makes and costs."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    behind: str | None
    ahead: str | None
    cost: Steps
    time: float
    jumps: bool


def chain(blocks: Sequence[Block], trace: Iterable[Ran], seen: Seen) -> Chain:
    """One warp, on average: the steps on its way through ``trace``, and the slots it takes of each unit."""
    code = {block.number: _items(block) for block in blocks}
    board = _Scoreboard(
        {
            number: [_link(item, *seen(number, place)) for place, item in enumerate(items)]
            for number, items in code.items()
        },
        _predicated(blocks),
    )
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


def _items(block: Block) -> list[Instruction]:
    return [*block.instructions, *([block.end] if block.end else [])]


def _total(rows: Iterable[Steps]) -> Steps:
    return tuple(map(sum, zip(*rows, strict=True))) or (0.0,) * len(UNITS)


def _link(item: Instruction, fetching: float, replays: float) -> _Link:
    effect = effects(item)
    steps = costs.chain_steps(item, fetching, replays)
    behind, ahead = costs.memory_order(item)
    return _Link(
        tuple(sorted(effect.reads)), tuple(sorted(effect.writes)), behind, ahead, steps,
        sum(map(operator.mul, steps, NOMINAL)), item.opcode in ("bra", "brx"),
    )  # fmt: skip


_Point = tuple[float, Steps]


class _Scoreboard:
    """When each register is ready, seen from the start of the next block: a time, and the steps up to it."""

    def __init__(self, code: Mapping[int, list[_Link]], predicated: frozenset[tuple[int, int]]) -> None:
        self.code = code
        self.predicated = predicated
        self.jumps = {
            number: links[-1].cost if links and links[-1].jumps else _NOTHING for number, links in code.items()
        }
        self.before: int | None = None
        self.ready: dict[str, _Point] = {}
        self.end: _Point = (0.0, _NOTHING)
        self.known: dict[tuple, tuple[_Point, dict[str, _Point]]] = {}

    def run(self, number: int) -> Steps:
        """Run a block of code: how many steps it took from where the last one that could not be predicated began."""
        jump = _NOTHING
        if self.before is not None and (self.before, number) not in self.predicated:
            jump = self.jumps[self.before]
            self._begin()
        steps = self.end[1]
        key = (number, self.end, tuple(sorted(self.ready.items())))
        if key not in self.known:
            self.known[key] = self._run(self.code[number])
        self.end, self.ready = self.known[key]
        self.before = number
        return _plus(jump, tuple(map(operator.sub, self.end[1], steps)))

    def _begin(self) -> None:
        """Count from here: what is ready by now needs no waiting."""
        self.ready = {
            name: (round(time - self.end[0], 3), _rounded(steps, self.end[1]))
            for name, (time, steps) in self.ready.items() if time > self.end[0]
        }  # fmt: skip
        self.end = (0.0, _NOTHING)

    def _run(self, links: list[_Link]) -> tuple[_Point, dict[str, _Point]]:
        ready, end = dict(self.ready), self.end
        floor: _Point = (0.0, _NOTHING)
        for link in links:
            needs = [ready[name] for name in (*link.reads, link.behind) if name in ready]
            start = max([floor, *needs], key=lambda point: point[0])
            after = (start[0] + link.time, _plus(start[1], link.cost))
            for name in link.writes:
                ready[name] = after
            if link.ahead:
                ready[link.ahead] = max(ready.get(link.ahead, start), start, key=lambda point: point[0])
            if link.cost[_BARRIER]:
                floor = start = after
            end = max(end, start, key=lambda point: point[0])
        return end, ready


_BARRIER = KINDS.index("barrier")


def _plus(first: Steps, second: Steps) -> Steps:
    return tuple(map(operator.add, first, second))


def _rounded(steps: Steps, start: Steps) -> Steps:
    """Steps from ``start`` on, rounded so that a loop comes to the same state again."""
    return tuple(round(one - other, 3) for one, other in zip(steps, start, strict=True))

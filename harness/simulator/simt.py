"""A batch of blocks stepping through a kernel: who runs next, who waits, who has left.

Each group of lanes stands at a block of code. The group earliest in the order of :mod:`harness.simulator.flow` runs, so
lanes that parted meet again; groups standing at one place are one group. A group that spins too long lets the others
go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from harness.simulator import specials
from harness.simulator.access import Access, Located
from harness.simulator.active import NOTHING, Lanes
from harness.simulator.branches import EXIT
from harness.simulator.collectives import WARP
from harness.simulator.detours import Detours
from harness.simulator.endless import LoopWatch
from harness.simulator.garbage import Garbage
from harness.simulator.leaving import Ways
from harness.simulator.memory import Memory
from harness.simulator.named import Arrival, NamedBarriers
from harness.simulator.ordering import BatchClock
from harness.simulator.races import SharedRaces
from harness.simulator.spaces import Spaces
from harness.simulator.steps import Gate, effects
from harness.simulator.waiting import BlockGate
from harness.simulator.witness import Witness

if TYPE_CHECKING:
    from harness.simulator.asynchronous import Pending
    from harness.simulator.kernel import Block, Kernel
    from harness.simulator.machine import Launch

#: Blocks of code one group may run while others wait, before these get a turn: lanes that spin on a lock must not
#: starve the lane that holds it. Each time it comes to that, patience is halved.
PATIENCE = 128
TURN = 32
#: Blocks of a grid that run in turn, at most, and how many blocks of code each runs before another's turn comes.
MOST_IN_TURN, TURN_OF_BLOCK = 16, 48
#: Picks between two looks for a launch that never ends; longer than a group waits for its turn.
LOOK_EVERY = 1024
#: A group this many times smaller than the batch runs on compacted registers.
SPARSE = 4


class Batch:
    """Some whole blocks of one launch, their registers, shared and local memory, and where their lanes stand.

    Lanes are numbered block by block, each block padded to whole warps; ``alive`` tells those that exist and have not
    exited. ``groups`` maps a place (twice the number of a code block, plus one past its gate) to the lanes there.
    """

    def __init__(self, launch: Launch, blocks: Sequence[int]) -> None:
        self.launch = launch
        self.kernel: Kernel = launch.kernel
        self.memory: Memory = launch.memory
        #: Each block's number in the grid.
        self.numbers: np.ndarray = np.array(blocks)
        self.block_count = block_count = len(blocks)
        self.threads_per_block = launch.threads
        padded = -(-launch.threads // WARP) * WARP
        self.lanes_per_block = padded
        self.width = block_count * padded
        self.thread: np.ndarray = np.tile(np.arange(padded), block_count)
        self.block_of: np.ndarray = np.repeat(np.arange(block_count), padded)
        self.alive = self.thread < launch.threads
        self.alive_count = block_count * launch.threads
        self.exited = False
        self.frame = self.kernel.layout.frame
        self.shared_bytes = launch.shared_bytes
        self.registers: list[np.ndarray] = list(self.kernel.initial)
        for name, number in self.kernel.specials.items():
            self.registers[number] = specials.value(name, launch, self)
        self.known: dict[Access, Located] = {}
        self.pending: list[Pending] = []
        self.committed = np.zeros(self.width, np.int64)
        #: The number in the grid of the first lane; those of a launch that is watched for races follow each other.
        self.first_lane = int(self.numbers[0]) * padded
        self.clock = BatchClock(block_count, padded)
        self.shared_races = SharedRaces(self)
        self.garbage = Garbage(self)
        self.spaces = Spaces(self)
        self.witness = Witness(self)
        self.tally = None if launch.tally is None else launch.tally.open(self)
        self.effects = effects
        self.groups: dict[int, Lanes] = {}
        #: The groups of blocks whose turn it is not, where blocks run in turn.
        self.others: deque[dict[int, Lanes]] = deque()
        self.turn = 0
        self.parked: dict[int, Lanes] = {}
        self.named = NamedBarriers(self)
        self.ways = Ways(self)
        self.detours = Detours(self)
        self.picks = self.waited = 0
        self.patience = PATIENCE
        #: Set once groups ran out of their order: where lanes stand says no more which way they came.
        self.took_turns = False
        self.loop = LoopWatch()
        #: Set once the batch has run long: from then on, only a store that changes a value counts as a change.
        self.doubtful = False
        self._live_elsewhere: dict[tuple[int, ...], frozenset[int]] = {}

    # --- running

    def run(self) -> None:
        """Run every lane to its exit. Raises KernelFault where a lane can't go on."""
        everyone = Lanes(self.width, None if self.alive.all() else self.alive)
        self.others.extend({0: lanes} for lanes in self._apart(everyone))
        while self.groups or self.others or self.parked:
            self._take_turns()
            if not self.groups:
                self._deadlock()
            place = self._next_place()
            lanes = self.groups.pop(place)
            block = self.kernel.blocks[place >> 1]
            if block.gate is not None and not place & 1:
                self._arrive(block, lanes)
            else:
                self._run_block(block, lanes)
        self.shared_races.settle()
        if self.tally is not None:
            self.tally.close()
        self._forget()

    def _apart(self, everyone: Lanes) -> Iterator[Lanes]:
        """All lanes at once, or those of each block apart.

        Blocks of a GPU start in any order, and one may be far ahead of the rest. Where they hand over results while
        they run, a launch of few blocks is run that way too: the first block as far as it comes, and so on.
        """
        few = 1 < self.launch.blocks == self.block_count <= MOST_IN_TURN
        if not (self.launch.in_turn and few and self.kernel.hands_over):
            yield everyone
            return
        for number in range(self.block_count):
            mine, _ = everyone.split(self.block_of == number)
            if mine is not None:
                yield mine

    def _take_turns(self) -> None:
        """Let the next block run where one has ended, waits, or has had its turn."""
        self.turn += 1
        if self.groups and (self.turn < TURN_OF_BLOCK or not self.others):
            return
        if self.groups:
            self.others.append(self.groups)
        self.groups, self.turn = self.others.popleft() if self.others else {}, 0

    def _forget(self) -> None:
        """Let go of the large arrays now: the batch and its parts know each other, and would wait for the collector."""
        self.known.clear()
        self.pending.clear()
        self.registers.clear()
        self.shared_races.shadow = None
        self.spaces.forget()

    def _next_place(self) -> int:
        self.picks += 1
        if self.picks % LOOK_EVERY == 0:
            self._look()
        if len(self.groups) == 1:
            if self.waited > self.patience:
                self.patience = max(1, self.patience // 2)
            self.waited = 0
            return next(iter(self.groups))
        self.waited += 1
        if self.waited <= self.patience:
            return min(self.groups)
        self.took_turns = True
        if self.waited == self.patience + TURN:
            self.waited, self.patience = 0, max(1, self.patience // 2)
        places = sorted(self.groups)
        return places[self.picks % len(places)]

    def _look(self) -> None:
        """End a launch that has used up its time, or that can be seen never to end."""
        self.doubtful = True
        place, lanes = next(iter(self.groups.items()))
        instruction = self.kernel.blocks[place >> 1].first
        if not self.others and self.loop.stuck(self):
            self.witness.fail(
                instruction, "runaway",
                f"the kernel never ends: nothing changes any more for {_threads(lanes.count)} in a loop here",
                lanes, 0, self._way_out(),
            )  # fmt: skip
        if self.launch.overdue():
            self.witness.fail(
                instruction, "unfinished",
                f"the kernel had not ended after {self.launch.budget.seconds:g} s, with {_threads(lanes.count)} here",
                lanes, 0, "check the loop's condition; if it is right, the kernel is too slow to simulate: use a GPU",
            )  # fmt: skip

    def _way_out(self) -> str:
        """What to do about a loop that never ends: it may wait for blocks that can't start before this one is done."""
        all_blocks, waiting = self.launch.blocks, self.launch.blocks - 1 - int(self.numbers[-1])
        if self.launch.chosen is not None or waiting == 0:
            return "check that the loop's condition can become false for every thread"
        return (
            f"if it waits for other blocks: {waiting:,} of {all_blocks:,} have not started yet, and can't until "
            "others end, as a large grid doesn't fit on the GPU at once. End the kernel here, and launch a second one"
        )

    def _run_block(self, block: Block, lanes: Lanes) -> None:
        self.detours.ran(block, lanes)
        lanes.keep = self._needed_elsewhere()
        self.garbage.turn_to(block, lanes)
        if block.compact and lanes.count * SPARSE <= lanes.width and lanes.width > WARP:
            self._run_compacted(block, lanes)
            return
        self._run_steps(block, self.registers, lanes)
        parts = self._parts(block, self.registers, lanes)
        self.ways.ran(block, lanes, [part for _, part in parts])
        for target, part in parts:
            self._send(target, part)

    def _run_steps(self, block: Block, registers: list[np.ndarray], lanes: Lanes) -> None:
        done = 0
        if not self.garbage:
            for step in block.steps:
                step(registers, lanes, self)
                done += 1
                if self.garbage.held:
                    break
        if self.garbage.held:
            self.garbage.run(block, done, registers, lanes)
            self.garbage.refuse_branch(block, lanes)

    def _parts(self, block: Block, registers: list[np.ndarray], lanes: Lanes) -> list[tuple[int, Lanes]]:
        parts = block.branch(registers, lanes)
        if self.tally is not None:
            self.tally.ran(block, lanes, parts)
        return parts

    def _needed_elsewhere(self) -> frozenset[int]:
        """Registers that lanes standing elsewhere will still read."""
        standing = {place >> 1 for groups in (self.groups, self.parked, *self.others) for place in groups}
        if not standing:
            return frozenset()
        places = tuple(sorted(standing))
        needed = self._live_elsewhere.get(places)
        if needed is None:
            blocks = self.kernel.blocks
            needed = frozenset().union(*(blocks[n].live_in for n in places))
            self._live_elsewhere[places] = needed
        return needed

    def _run_compacted(self, block: Block, lanes: Lanes) -> None:
        """Run with register arrays of the active lanes alone, then put back what outlives the block."""
        ids = lanes.ids
        registers = list(self.registers)
        for number in block.reads:
            if registers[number].size > 1:
                registers[number] = registers[number][ids]
        few = Lanes(len(ids), None, NOTHING, ids)
        self._run_steps(block, registers, few)
        parts = self._parts(block, registers, few)
        self.ways.ran(block, lanes, [part for _, part in parts])
        for number in block.writes:
            if number in block.live_out:
                self.registers[number] = lanes.spread(registers[number], number, self.registers[number])
        for target, part in parts:
            if part is few:
                self._send(target, lanes)
            else:
                mask = np.zeros(self.width, np.bool_)
                mask[part.ids] = True
                self._send(target, Lanes(self.width, mask))

    def _send(self, target: int, lanes: Lanes) -> None:
        if target == EXIT:
            self._exit(lanes)
        else:
            self._join(2 * target, lanes)

    def _join(self, place: int, lanes: Lanes) -> None:
        there = self.groups.get(place)
        self.groups[place] = lanes if there is None else there.union(lanes)

    def _exit(self, lanes: Lanes) -> None:
        self.alive_count -= lanes.count
        self.exited = True
        if self.alive_count == 0:
            self.alive = np.zeros(self.width, np.bool_)
            return
        self.alive = self.alive.copy()
        self.alive[lanes.ids] = False
        self.ways.left(lanes.ids)
        self.__dict__.pop("_alive_per_block", None)
        for place in list(self.parked):
            self._reconsider(place)

    # --- waiting

    def _arrive(self, block: Block, lanes: Lanes) -> None:
        place = 2 * block.number
        waiting = self.parked.pop(place, None)
        self.parked[place] = lanes if waiting is None else waiting.union(lanes)
        self._reconsider(place)

    def _reconsider(self, place: int) -> None:
        here = self.parked.get(place)
        gate = self.kernel.blocks[place >> 1].gate
        if here is None or gate is None:
            return
        passing = gate.passing(self, here)
        if passing is not None:
            self.release(gate, passing)

    def release(self, gate: Gate, lanes: Lanes | None) -> None:
        """Let parked lanes through their gate."""
        if lanes is None:
            return
        place = next(2 * block.number for block in self.kernel.blocks if block.gate is gate)
        rest = self.parked[place].without(lanes)
        if rest is None:
            del self.parked[place]
        else:
            self.parked[place] = rest
        self._join(place + 1, lanes)

    def parked_at(self, name: int, besides: BlockGate) -> list[tuple[BlockGate, Lanes]]:
        """Lanes parked at other barriers of the same number."""
        found = []
        for place, lanes in self.parked.items():
            gate = self.kernel.blocks[place >> 1].gate
            if isinstance(gate, BlockGate) and gate is not besides:
                waiting = lanes.split(gate.name(self.registers) == name)[0]
                if waiting is not None:
                    found.append((gate, waiting))
        return found

    def arrive(self, name: int, arrival: Arrival) -> None:
        """``bar.arrive``: lanes are counted at barrier ``name``, which may open it for others."""
        self.named.arrive(name, arrival)
        for place in list(self.parked):
            self._reconsider(place)

    def per_block(self, lanes: Lanes) -> np.ndarray:
        """How many of ``lanes`` each block has."""
        return np.bincount(self.block_of[lanes.ids], minlength=self.block_count)

    def alive_per_block(self) -> np.ndarray:
        """How many lanes of each block have not exited."""
        return self._alive_per_block

    @cached_property
    def _alive_per_block(self) -> np.ndarray:
        return np.bincount(self.block_of[self.alive], minlength=self.block_count)

    def _deadlock(self) -> NoReturn:
        place, lanes = next(iter(sorted(self.parked.items())))
        gate = self.kernel.blocks[place >> 1].gate
        assert gate is not None  # only gates park lanes
        parts = [gate.evidence(self, lanes)]
        block = self.block_of[lanes.ids[0]]
        for other, waiting in sorted(self.parked.items()):
            there = self.kernel.blocks[other >> 1]
            count = int(self.per_block(waiting)[block])
            if other != place and count:
                parts.append(f"{_threads(count)} of it wait on line {there.line} instead")
        kind = "barrier" if isinstance(gate, BlockGate) else "missing_lanes"
        remedy = "every thread of the block must reach the same __syncthreads()" if kind == "barrier" else (
            "name only lanes that run this line: take the mask from __ballot_sync before the branch"
        )  # fmt: skip
        self.witness.fail(gate.instruction, kind, "; ".join(parts), lanes, 0, remedy)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"

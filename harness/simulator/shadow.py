"""Who touched each place last, and which later access nothing orders after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from harness.simulator.access import Access, Act
from harness.simulator.crowd import MOST, Crowd
from harness.simulator.ordering import WARP_SHIFT, Moment

WRITES = (Act.WRITE, Act.ATOMIC, Act.BLOCK_ATOMIC, Act.STRONG_WRITE)
_ATOMICS = (Act.ATOMIC, Act.BLOCK_ATOMIC)
_STRONG = (*_ATOMICS, Act.STRONG_READ, Act.STRONG_WRITE)


@dataclass(frozen=True)
class Entry:
    """One executed access. ``first`` is the number that lane 0 of its batch has among the shadow's threads; ``step``
    says when the launch executed it."""

    access: Access
    moment: Moment
    first: int = 0
    step: int = 0

    @property
    def act(self) -> Act:
        """What it did there."""
        return self.access.act


@dataclass(frozen=True)
class Touch:
    """Where an access went: granules of a backing and the thread of each; ``values`` are what was written, one per
    granule or one for all, None where it does not matter; ``unchanged`` tells for which granules it is what they held
    already, None where that is not known."""

    units: np.ndarray
    threads: np.ndarray
    values: np.ndarray | None
    unchanged: Callable[[], np.ndarray] | None = None

    def only(self, chosen: np.ndarray) -> Touch:
        """The part for which ``chosen`` holds."""
        values = self.values if self.values is None or len(self.values) == 1 else self.values[chosen]
        return Touch(self.units[chosen], self.threads[chosen], values)


def touch(index: np.ndarray, threads: np.ndarray, values: np.ndarray | None, width: int, granule: int) -> Touch:
    """Units of ``width`` bytes taken apart into granules."""
    if len(index) != len(threads):
        index = np.broadcast_to(index, len(threads))
    ratio = width // granule
    if ratio == 1:
        return Touch(index, threads, values)
    units = (index[:, None] * ratio + np.arange(ratio)).reshape(-1)
    if values is not None and len(values) > 1:
        values = np.repeat(values, ratio, axis=0)
    return Touch(units, np.repeat(threads, ratio), values)


@dataclass(frozen=True)
class Race:
    """Two accesses that nothing orders: the entry and thread of each, the granule they meet at, how many do."""

    earlier: Entry
    earlier_thread: int
    later: Entry
    later_thread: int
    unit: int
    count: int
    same_value: bool = False


#: Slots of a shadow: who wrote last, two who read since, two who updated since.
_WRITER, _READERS, _UPDATERS = 0, (1, 2), (3, 4)
#: Which slots an access may race with. Atomics don't race with each other, nor reads with reads.
_AGAINST = {
    Act.READ: (_WRITER, *_UPDATERS), Act.STRONG_READ: (_WRITER, *_UPDATERS), Act.ATOMIC: (_WRITER, *_READERS),
    Act.BLOCK_ATOMIC: (_WRITER, *_READERS, *_UPDATERS),
    Act.WRITE: (_WRITER, *_READERS, *_UPDATERS), Act.STRONG_WRITE: (_WRITER, *_READERS, *_UPDATERS),
}  # fmt: skip


class Judge(Protocol):
    """What is known of the order of accesses. Each pair of entries comes with their threads, one of each to a pair."""

    def ordered(self, before: Entry, one: np.ndarray, entry: Entry, two: np.ndarray) -> np.ndarray:
        """Which pairs something orders."""

    def looked(self, entry: Entry, threads: np.ndarray, writers: np.ndarray, steps: np.ndarray) -> None:
        """These threads looked for news where the ``writers`` (-1: nobody) had written last, at these steps."""

    def told_without_a_fence(self, before: Entry, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """Which of ``two`` were told of what ``one`` did by a flag that no fence keeps behind it."""


class Shadow:
    """The last accesses of every granule of a backing. Of readers, and of updaters, two different threads are kept, so
    that whoever comes later is not alone with itself: of two blocks if there are such, else of two warps. That will do
    where barriers hold whole blocks; where they hold a part, or fences order, more are kept: of ``crowded`` warps."""

    def __init__(self, units: int, lanes_per_block: int, crowded: int = 0) -> None:
        self.units = units
        self.lanes_per_block = lanes_per_block
        self.columns = crowded if crowded * units <= MOST else 0
        self.entries: list[Entry] = []
        #: By their slots, those who read and those who updated. One is made when the second slot is first needed.
        self.crowds: dict[tuple[int, int], Crowd] = {}
        # Per slot: thread (-1 nobody) and number of its entry. A slot is made when first needed.
        self.thread: dict[int, np.ndarray] = {}
        self.number: dict[int, np.ndarray] = {}

    def forget(self) -> None:
        """Nobody has been here."""
        self.entries = []
        for thread in self.thread.values():
            thread.fill(-1)
        for crowd in self.crowds.values():
            crowd.forget()

    def judge(self, entry: Entry, touched: Touch, judge: Judge) -> Iterator[Race]:
        """Races of one access with those before it, after which it is one of them."""
        if entry.act in (Act.WRITE, Act.STRONG_WRITE):
            yield from _meeting(entry, touched)
        if entry.act is Act.BLOCK_ATOMIC or (entry.act is Act.ATOMIC and entry.access.takes):
            yield from self._blocks_meeting(entry, touched)
        if entry.access.looks:
            self._look(entry, touched, judge)
        against = _AGAINST[entry.act]
        if entry.act is Act.ATOMIC and entry.access.takes:
            against = (*against, *_UPDATERS)
        for slot in against:
            if slot in self.thread:
                other = self.thread[slot][touched.units]
                suspect = np.flatnonzero((other >= 0) & (other != touched.threads))
                numbers = self.number[slot][touched.units[suspect]]
                for number in np.unique(numbers):
                    hits = suspect[numbers == number]
                    yield from self._against(slot, number, other[hits].astype(np.int64), hits, entry, touched, judge)
        for slots in self.crowds:
            if slots[0] in against:
                yield from self._against_crowd(slots, entry, touched, judge)
        self._record(entry, touched, judge)

    def _look(self, entry: Entry, touched: Touch, judge: Judge) -> None:
        """Tell who wrote last what these threads look at."""
        writers, steps = np.full(len(touched.units), -1), np.full(len(touched.units), -1)
        for slot in (_WRITER, *_UPDATERS):
            if slot not in self.thread:
                continue
            who = self.thread[slot][touched.units]
            there = np.flatnonzero((who >= 0) & (who != touched.threads))
            when = np.array([self.entries[one].step for one in self.number[slot][touched.units[there]]], np.int64)
            newer = there[when > steps[there]]
            writers[newer], steps[newer] = who[newer], when[when > steps[there]]
        judge.looked(entry, touched.threads, writers, steps)

    def _against_crowd(self, slots: tuple[int, int], entry: Entry, touched: Touch, judge: Judge) -> Iterator[Race]:
        """The same with all who have none of these slots, as far as they are remembered."""
        for number, one, hits in self.crowds[slots].at(touched.units):
            rest = one != touched.threads[hits]
            for slot in slots:
                units = touched.units[hits]
                rest &= (self.thread[slot][units] != one) | (self.number[slot][units] != number)
            if rest.any():
                yield from self._against(slots[0], number, one[rest], hits[rest], entry, touched, judge)

    def _blocks_meeting(self, entry: Entry, touched: Touch) -> Iterator[Race]:
        """Lanes of one instruction, of several blocks, that update one place for their own block alone, or take what
        they find there."""
        order = np.argsort(touched.units, kind="stable")
        units, threads = touched.units[order], touched.threads[order]
        blocks = threads // self.lanes_per_block
        apart = np.flatnonzero((units[1:] == units[:-1]) & (blocks[1:] != blocks[:-1]))
        if len(apart):
            one = int(apart[0])
            yield Race(replace(entry), int(threads[one]), entry, int(threads[one + 1]), int(units[one]), len(apart))

    def _against(
        self, slot: int, number: int, one: np.ndarray, hits: np.ndarray, entry: Entry, touched: Touch, judge: Judge
    ) -> Iterator[Race]:
        """Threads ``one`` were before, by the entry of this number, at those of the touched granules that ``hits``
        counts."""
        before = self.entries[number]
        meant = self._exempt(before, entry, one, touched.threads[hits], judge)
        meant |= self._came_later(slot, entry, before, hits, touched)
        one, hits = one[~meant], hits[~meant]
        if not len(hits):
            return
        two = touched.threads[hits]
        racing = np.flatnonzero(~judge.ordered(before, one, entry, two))
        again = np.zeros(len(racing), np.bool_)
        if slot == _WRITER and before.access is entry.access and touched.unchanged is not None and len(racing):
            again = touched.unchanged()[hits[racing]]
        for same_value in (False, True):
            chosen = racing[again == same_value]
            if len(chosen):
                two_warps = chosen[(one[chosen] ^ two[chosen]) >> WARP_SHIFT != 0]
                first = (two_warps if len(two_warps) else chosen)[0]
                unit = int(touched.units[hits[first]])
                yield Race(before, int(one[first]), entry, int(two[first]), unit, len(chosen), same_value)

    def _exempt(self, before: Entry, entry: Entry, one: np.ndarray, two: np.ndarray, judge: Judge) -> np.ndarray:
        """Two atomics don't race, but for two of block scope from two blocks; nor do volatile accesses of two warps.
        Of one warp they do, as lanes may drift apart. And where a result is taken that others still add to, or what
        stands behind a flag that no fence keeps there, strong accesses are as good as others."""
        if not (before.act in _STRONG and entry.act in _STRONG):
            return np.zeros(len(one), np.bool_)
        one_block = one // self.lanes_per_block == two // self.lanes_per_block
        if before.act is entry.act is Act.BLOCK_ATOMIC:
            return one_block
        if before.act in _ATOMICS or entry.act in _ATOMICS:
            takes = (before.access.takes and entry.act in _ATOMICS, entry.access.takes and before.act in _ATOMICS)
            early = any(takes)
            return one_block if early else np.ones(len(one), np.bool_)
        told = np.zeros(len(one), np.bool_)
        if before.act is Act.STRONG_WRITE and entry.act is Act.STRONG_READ and not entry.access.looks:
            told = judge.told_without_a_fence(before, one, two)
        return ((one >> WARP_SHIFT) != (two >> WARP_SHIFT)) & ~told

    def _came_later(self, slot: int, entry: Entry, before: Entry, hits: np.ndarray, touched: Touch) -> np.ndarray:
        """Whether a thread has updated the place itself after ``before`` did, and so has seen that update's result:
        the last of many to count may set the counter back."""
        units, threads = touched.units[hits], touched.threads[hits]
        result = np.zeros(len(hits), np.bool_)
        if slot not in _UPDATERS or entry.act is Act.BLOCK_ATOMIC:
            return result
        for mine in _UPDATERS:
            if mine not in self.thread:
                continue
            own = np.flatnonzero(self.thread[mine][units] == threads)
            steps = np.array([self.entries[number].step for number in self.number[mine][units[own]]], np.int64)
            result[own] |= steps > before.step
            if entry.act in (Act.WRITE, Act.STRONG_WRITE):  # in one instruction, lanes update in their order
                result[own] |= (steps == before.step) & (self.thread[slot][units[own]] < threads[own])
        return result

    def _record(self, entry: Entry, touched: Touch, judge: Judge) -> None:
        number = len(self.entries)
        self.entries.append(entry)
        if entry.act in (Act.WRITE, Act.STRONG_WRITE):
            for slot in (*_READERS, *_UPDATERS):
                if slot in self.thread:
                    self.thread[slot][touched.units] = -1
            self._put(_WRITER, touched.units, touched.threads, number)
            for crowd in self.crowds.values():
                crowd.overwrite(touched.units)
            return
        first, second = _UPDATERS if entry.act in _ATOMICS else _READERS
        free = self._superseded(first, entry, touched, judge)
        self._put(first, touched.units[free], touched.threads[free], number)
        beside = self.thread[first][touched.units] != touched.threads  # an earlier one, or a lane of this instruction
        if not beside.any():
            return
        self._put_beside(first, second, touched.only(beside), number)
        if self.columns:
            if (first, second) not in self.crowds:
                self.crowds[first, second] = Crowd(self.units, self.columns)
            self.crowds[first, second].add(number, touched.units[beside], touched.threads[beside])

    def _put_beside(self, first: int, second: int, touched: Touch, number: int) -> None:
        """Keep these as the second: of another block than the first if there is one, else of another warp."""
        mine = self._apart(self.thread[first][touched.units], touched.threads)
        kept = np.full(len(mine), -1)
        if second in self.thread:
            there = self.thread[second][touched.units]
            kept = np.where(there < 0, -1, self._apart(self.thread[first][touched.units], there))
        for far in range(3):  # the farthest lane of the instruction comes last, and stays
            chosen = (mine == far) & (mine >= kept)
            if chosen.any():
                self._put(second, touched.units[chosen], touched.threads[chosen], number)

    def _apart(self, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """2 for threads of two blocks, 1 of two warps, 0 of one."""
        blocks = one // self.lanes_per_block != two // self.lanes_per_block
        return np.where(blocks, 2, (one >> WARP_SHIFT) != (two >> WARP_SHIFT))

    def _put(self, slot: int, units: np.ndarray, threads: np.ndarray, number: int) -> None:
        if slot not in self.thread:
            self.thread[slot] = np.full(self.units, -1, np.int32)
            self.number[slot] = np.zeros(self.units, np.int32)
        self.thread[slot][units], self.number[slot][units] = threads, number

    def _superseded(self, slot: int, entry: Entry, touched: Touch, judge: Judge) -> np.ndarray:
        """Where the slot may be taken: nobody has it, the same thread, or one that was done before."""
        if slot not in self.thread:
            return np.ones(len(touched.units), np.bool_)
        first = self.thread[slot][touched.units]
        free = (first < 0) | (first == touched.threads)
        rest = np.flatnonzero(~free)
        numbers = self.number[slot][touched.units[rest]]
        for number in np.unique(numbers) if len(rest) else ():
            mine = rest[numbers == number]
            free[mine] = judge.ordered(self.entries[number], first[mine].astype(np.int64), entry, touched.threads[mine])
        return free


def _meeting(entry: Entry, touched: Touch) -> Iterator[Race]:
    """Lanes of one instruction that write one place: a race if their values differ, a note if not."""
    order = np.argsort(touched.units, kind="stable")
    units = touched.units[order]
    same = np.flatnonzero(units[1:] == units[:-1])
    if not len(same):
        return
    one, two = order[same], order[same + 1]
    differ = np.zeros(len(same), np.bool_)
    if touched.values is not None and len(touched.values) > 1:
        differ = touched.values[one] != touched.values[two]
        differ = differ if differ.ndim == 1 else differ.any(axis=1)
    for chosen in (differ, ~differ):
        if chosen.any():
            first = int(np.flatnonzero(chosen)[0])
            threads = int(touched.threads[one[first]]), int(touched.threads[two[first]])
            yield Race(
                entry, threads[0], entry, threads[1], int(units[same[first]]), int(chosen.sum()), chosen is not differ
            )

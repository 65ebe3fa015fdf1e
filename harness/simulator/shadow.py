"""Who touched each place last, and which later access nothing orders after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from harness.simulator.access import Access, Act
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
    granule or one for all, None where it does not matter."""

    units: np.ndarray
    threads: np.ndarray
    values: np.ndarray | None

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


class Shadow:
    """The last accesses of every granule of a backing. Of readers, and of updaters, two different threads are kept, so
    that whoever comes later is not alone with itself."""

    def __init__(self, units: int, lanes_per_block: int) -> None:
        self.units = units
        self.lanes_per_block = lanes_per_block
        self.entries: list[Entry] = []
        # Per slot: thread (-1 nobody) and number of its entry. A slot is made when first needed.
        self.thread: dict[int, np.ndarray] = {}
        self.number: dict[int, np.ndarray] = {}

    def forget(self) -> None:
        """Nobody has been here."""
        self.entries = []
        for thread in self.thread.values():
            thread.fill(-1)

    def judge(self, entry: Entry, touched: Touch, ordered: Ordered) -> Iterator[Race]:
        """Races of one access with those before it, after which it is one of them."""
        if entry.act in (Act.WRITE, Act.STRONG_WRITE):
            yield from _meeting(entry, touched)
        if entry.act is Act.BLOCK_ATOMIC:
            yield from self._blocks_meeting(entry, touched)
        for slot in _AGAINST[entry.act]:
            if slot in self.thread:
                yield from self._against(slot, entry, touched, ordered)
        self._record(entry, touched, ordered)

    def _blocks_meeting(self, entry: Entry, touched: Touch) -> Iterator[Race]:
        """Lanes of one instruction, of several blocks, that update one place for their own block alone."""
        order = np.argsort(touched.units, kind="stable")
        units, threads = touched.units[order], touched.threads[order]
        blocks = threads // self.lanes_per_block
        apart = np.flatnonzero((units[1:] == units[:-1]) & (blocks[1:] != blocks[:-1]))
        if len(apart):
            one = int(apart[0])
            yield Race(replace(entry), int(threads[one]), entry, int(threads[one + 1]), int(units[one]), len(apart))

    def _against(self, slot: int, entry: Entry, touched: Touch, ordered: Ordered) -> Iterator[Race]:
        other = self.thread[slot][touched.units]
        suspect = np.flatnonzero((other >= 0) & (other != touched.threads))
        if not len(suspect):
            return
        numbers = self.number[slot][touched.units[suspect]]
        for number in np.unique(numbers):
            before = self.entries[number]
            hits = suspect[numbers == number]
            one, two = other[hits].astype(np.int64), touched.threads[hits]
            meant = self._exempt(before.act, entry.act, one, two) | self._came_later(slot, entry, before, hits, touched)
            hits = hits[~meant]
            if not len(hits):
                continue
            one, two = other[hits].astype(np.int64), touched.threads[hits]
            racing = np.flatnonzero(~ordered(before, one, entry, two))
            if len(racing):
                two_warps = racing[(one[racing] ^ two[racing]) >> WARP_SHIFT != 0]
                first = (two_warps if len(two_warps) else racing)[0]
                unit = int(touched.units[hits[first]])
                yield Race(before, int(one[first]), entry, int(two[first]), unit, len(racing))

    def _exempt(self, before: Act, act: Act, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """Two atomics don't race, but for two of block scope from two blocks; nor do volatile accesses of two warps.
        Of one warp they do, as lanes may drift apart."""
        if not (before in _STRONG and act in _STRONG):
            return np.zeros(len(one), np.bool_)
        if before is act is Act.BLOCK_ATOMIC:
            return one // self.lanes_per_block == two // self.lanes_per_block
        if before in _ATOMICS or act in _ATOMICS:
            return np.ones(len(one), np.bool_)
        return (one >> WARP_SHIFT) != (two >> WARP_SHIFT)

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

    def _record(self, entry: Entry, touched: Touch, ordered: Ordered) -> None:
        number = len(self.entries)
        self.entries.append(entry)
        if entry.act in (Act.WRITE, Act.STRONG_WRITE):
            for slot in (*_READERS, *_UPDATERS):
                if slot in self.thread:
                    self.thread[slot][touched.units] = -1
            self._put(_WRITER, touched.units, touched.threads, number)
            return
        first, second = _UPDATERS if entry.act in _ATOMICS else _READERS
        free = self._superseded(first, entry, touched, ordered)
        self._put(first, touched.units[free], touched.threads[free], number)
        beside = self.thread[first][touched.units] != touched.threads  # an earlier one, or a lane of this instruction
        if beside.any():
            self._put(second, touched.units[beside], touched.threads[beside], number)

    def _put(self, slot: int, units: np.ndarray, threads: np.ndarray, number: int) -> None:
        if slot not in self.thread:
            self.thread[slot] = np.full(self.units, -1, np.int32)
            self.number[slot] = np.zeros(self.units, np.int32)
        self.thread[slot][units], self.number[slot][units] = threads, number

    def _superseded(self, slot: int, entry: Entry, touched: Touch, ordered: Ordered) -> np.ndarray:
        """Where the slot may be taken: nobody has it, the same thread, or one that was done before."""
        if slot not in self.thread:
            return np.ones(len(touched.units), np.bool_)
        first = self.thread[slot][touched.units]
        free = (first < 0) | (first == touched.threads)
        rest = np.flatnonzero(~free)
        numbers = self.number[slot][touched.units[rest]]
        for number in np.unique(numbers) if len(rest) else ():
            mine = rest[numbers == number]
            free[mine] = ordered(self.entries[number], first[mine].astype(np.int64), entry, touched.threads[mine])
        return free


#: (earlier entry, its threads, later entry, its threads) -> which pairs something orders
Ordered = Callable[[Entry, np.ndarray, Entry, np.ndarray], np.ndarray]


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

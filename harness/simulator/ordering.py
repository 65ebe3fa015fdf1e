"""What orders two accesses of different threads: barriers, ``__syncwarp``, and between blocks atomics with fences.

Time is counted per warp: a block barrier starts a new epoch for its threads, ``__syncwarp`` a new tick for its lanes.
Shuffles and votes order nothing in memory (CUDA C++ Programming Guide, "Warp Shuffle Functions").
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

WARP_SHIFT = 5


def at(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """``values[index]`` where one element stands for all."""
    return values if values.size == 1 else values[index]


@dataclass(frozen=True)
class Moment:
    """The clocks of a batch as an access sees them. Arrays are replaced, never changed, so keeping one is free.

    ``epoch``, per block: barriers passed. ``tick``, per lane: the number of its last ``__syncwarp``, of ``count`` that
    were executed in the batch. ``seen`` is None until a barrier
    held only part of a block; then ``seen[warp, other]`` is the newest ``time`` of another warp of the block that
    this warp knows to be over, and ``time`` each warp's own.
    """

    epoch: np.ndarray
    tick: np.ndarray
    time: np.ndarray
    count: int = 0
    seen: np.ndarray | None = None


class BatchClock:
    """Keeps the :class:`Moment` of a batch of ``block_count`` blocks of ``lanes_per_block`` lanes (whole warps)."""

    def __init__(self, block_count: int, lanes_per_block: int) -> None:
        self.block_count = block_count
        self.lanes_per_block = lanes_per_block
        self.warps = lanes_per_block >> WARP_SHIFT
        zero = np.zeros(1, np.int32)
        self.now = Moment(zero, zero, np.zeros(block_count * self.warps, np.int32))

    def block_barrier(self, blocks: np.ndarray | None) -> None:
        """Every thread of ``blocks`` (boolean per block, None for all) has met: what it did before is over."""
        epoch = self.now.epoch
        if blocks is None:
            epoch = epoch + np.int32(1)
        else:
            epoch = np.broadcast_to(epoch, self.block_count) + blocks.astype(np.int32)
        self.now = replace(self.now, epoch=epoch)

    def warp_barrier(self, ids: np.ndarray | None) -> None:
        """These lanes (None for all) have met in ``__syncwarp``."""
        count = self.now.count + 1
        if ids is None:
            tick = np.full(1, count, np.int32)
        else:
            tick = np.broadcast_to(self.now.tick, self.block_count * self.lanes_per_block).copy()
            tick[ids] = count
        self.now = replace(self.now, tick=tick, count=count)

    def part_barrier(self, waiting: np.ndarray, arrived: np.ndarray) -> None:
        """A named barrier opened: what the warps of both did before is over for those that waited."""
        time = self.now.time.copy()
        seen = np.full((len(time), self.warps), -1, np.int32) if self.now.seen is None else self.now.seen.copy()
        to, came = np.unique(waiting >> WARP_SHIFT), np.unique(np.concatenate((waiting, arrived)) >> WARP_SHIFT)
        for block in np.unique(to // self.warps):
            mine, theirs = to[to // self.warps == block], came[came // self.warps == block]
            news = seen[theirs].max(axis=0)
            np.maximum.at(news, theirs % self.warps, time[theirs])
            seen[mine] = np.maximum(seen[mine], news)
        time[came] += 1
        self.now = replace(self.now, time=time, seen=seen)

    def ordered(self, before: Moment, one: np.ndarray, after: Moment, two: np.ndarray) -> np.ndarray:
        """Whether accesses of lanes ``one`` at ``before`` are over for lanes ``two`` of the same blocks at ``after``:
        an epoch apart, in one warp a tick apart, or known through a named barrier."""
        block = one // self.lanes_per_block
        result = at(before.epoch, block) != at(after.epoch, block)
        if result.size == 1:
            result = np.repeat(result, len(one))
        warp, other = one >> WARP_SHIFT, two >> WARP_SHIFT
        # Both lanes must have passed one since: a partial __syncwarp orders only the lanes it names.
        result |= (warp == other) & (at(after.tick, one) > before.count) & (at(after.tick, two) > before.count)
        if after.seen is not None:
            result |= after.seen[other, warp % self.warps] >= before.time[warp]
        return result


@dataclass(frozen=True)
class Release:
    """One thread's news at a place: the step and epoch and tick of its atomic, and those of its fence before."""

    step: int
    thread: int
    epoch: int
    tick: int
    fence_step: int
    fence_epoch: int
    fence_tick: int


@dataclass
class Place:
    """An address that threads meet at by atomics: who released there, by block, and what releasers knew themselves.

    ``through`` maps another place to ``(step, known up to)``. Steps only grow; ``last`` is that of the last release,
    and ``seen`` when each thread was here last.
    """

    releases: dict[int, list[Release]] = field(default_factory=dict)
    through: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    last: int = -1
    seen: dict[int, int] = field(default_factory=dict)


Knowledge = dict[int, int]


@dataclass(frozen=True)
class Happened:
    """Accesses of one executed instruction: the threads, their blocks' epochs and their ticks, its step, and how many
    ``__syncwarp`` s its batch had executed."""

    threads: np.ndarray
    epochs: np.ndarray
    ticks: np.ndarray
    step: int
    count: int

    @classmethod
    def at(cls, moment: Moment, lanes: np.ndarray, first: int, step: int, lanes_per_block: int) -> Happened:
        """What ``lanes`` of a batch, whose lane 0 is thread ``first`` of the grid, did at ``moment``."""
        epochs = np.broadcast_to(at(moment.epoch, lanes // lanes_per_block), lanes.shape)
        ticks = np.broadcast_to(at(moment.tick, lanes), lanes.shape)
        return cls(lanes + first, epochs, ticks, step, moment.count)

    def only(self, chosen: np.ndarray) -> Happened:
        """Those for which ``chosen`` holds."""
        return Happened(self.threads[chosen], self.epochs[chosen], self.ticks[chosen], self.step, self.count)


class GridOrder:
    """Order that fences and atomics make between threads of one launch, within a block and between blocks.

    A thread that runs an atomic on an address after ``__threadfence()`` releases there what it did before the fence,
    and what others did before a barrier with it. One that runs an atomic on it later knows all that was released till
    then, and so do its warp and, for news of other blocks, its block: that a barrier tells them is taken on trust.
    Threads are numbered block by block, blocks padded to whole warps.
    """

    def __init__(self, blocks: int, lanes_per_block: int) -> None:
        self.blocks = blocks
        self.lanes_per_block = lanes_per_block
        self.any_fence = False
        #: Per thread: step, epoch and tick of its last fence, -1 for none; step and address of its last atomic.
        self._fences: tuple[np.ndarray, ...] = ()
        self._last_step = self._last_place = self._block_fenced = np.zeros(0, np.int64)
        self._places: dict[int, Place] = {}
        self._warp_knows: dict[int, Knowledge] = {}
        self._block_knows: dict[int, Knowledge] = {}

    def fence(self, now: Happened) -> None:
        """These threads ran ``__threadfence()``."""
        if not self.any_fence:
            nobody = np.full(self.blocks * self.lanes_per_block, -1, np.int64)
            self._fences = nobody.copy(), nobody.copy(), nobody.copy()
            self._last_step, self._last_place = nobody.copy(), nobody.copy()
            self._block_fenced = np.zeros(self.blocks, np.bool_)
            self.any_fence = True
        for known, value in zip(self._fences, (now.step, now.epochs, now.ticks), strict=True):
            known[now.threads] = value
        self._block_fenced[now.threads // self.lanes_per_block] = True

    def atomic(self, now: Happened, addresses: np.ndarray) -> None:
        """These threads ran an atomic, or a volatile access, on these addresses."""
        if not self.any_fence:
            return
        matters = self._block_fenced[now.threads // self.lanes_per_block] | np.isin(addresses, list(self._places))
        if int(addresses[0]) == int(addresses[-1]):
            matters &= self._has_news(now.threads, addresses)
        for one in np.flatnonzero(matters):
            self._meet(int(now.threads[one]), int(addresses[one]), int(now.epochs[one]), int(now.ticks[one]), now.step)

    def _has_news(self, threads: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """Whether a thread would learn or tell anything: one that spins on an address does not, most of the time."""
        place = self._places.get(int(addresses[0]))
        last = self._last_step[threads]
        same = (self._last_place[threads] == addresses) & (self._fences[0][threads] <= last)
        return ~(same & ((place.last if place else -1) <= last))

    def _meet(self, thread: int, address: int, epoch: int, tick: int, step: int) -> None:
        place = self._places.setdefault(address, Place())
        last_seen = place.seen.get(thread, -1)
        fence_step, fence_epoch, fence_tick = (int(known[thread]) for known in self._fences)
        self._last_place[thread], self._last_step[thread] = address, step
        if place.last <= last_seen and fence_step <= last_seen:
            return
        place.seen[thread] = step
        block = thread // self.lanes_per_block
        mine = self._warp_knows.setdefault(thread >> WARP_SHIFT, {})
        ours = self._block_knows.setdefault(block, {})
        for knowledge in (mine, ours):
            knowledge[address] = step
            for other, upto in place.through.items():
                knowledge[other] = max(knowledge.get(other, -1), *(known for _, known in upto))
        if fence_step > last_seen or (self._block_fenced[block] and block not in place.releases):
            news = Release(step, thread, epoch, tick, fence_step, fence_epoch, fence_tick)
            place.releases.setdefault(block, []).append(news)
            for other, known in ours.items():
                if other != address:
                    place.through.setdefault(other, []).append((step, known))
            place.last = step

    def ordered(self, before: Happened, later: np.ndarray) -> np.ndarray:
        """Whether what happened ``before`` is published to threads ``later``, one for each of its threads."""
        result = np.zeros(len(later), np.bool_)
        if not self._places:
            return result
        source, target = before.threads // self.lanes_per_block, later // self.lanes_per_block
        # News of the own block reaches a warp, news of another one the block.
        reader = np.where(source == target, later >> WARP_SHIFT, -1 - target)
        for block, who in np.unique(np.stack((source, reader)), axis=1).T:
            chosen = (source == block) & (reader == who)
            knowledge = self._warp_knows.get(int(who)) if who >= 0 else self._block_knows.get(-1 - int(who))
            for address, upto in (knowledge or {}).items():
                for release in self._places[address].releases.get(int(block), ()):
                    if before.step <= release.step <= upto:
                        result[chosen] |= self._published(release, before.only(chosen))
        return result

    def _published(self, release: Release, before: Happened) -> np.ndarray:
        """Fenced by the releasing thread, after it did it itself or met those who did; or fenced by those who did it,
        before they met the releasing thread."""
        own_fence = self._fences[0][before.threads] > before.step
        warp = before.threads >> WARP_SHIFT == release.thread >> WARP_SHIFT
        return (
            ((before.threads == release.thread) & (before.step < release.fence_step or before.step == release.step))
            | (before.epochs < release.fence_epoch)
            | (own_fence & (before.epochs < release.epoch))
            | (warp & (before.count < release.fence_tick))
            | (warp & own_fence & (before.count < release.tick))
        )

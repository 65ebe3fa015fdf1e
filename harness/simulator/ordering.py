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

    ``epoch``, per block: barriers passed. ``tick``, per lane: ``__syncwarp`` s passed. ``seen`` is None until a barrier
    held only part of a block; then ``seen[warp, other]`` is the newest ``time`` of another warp of the block that
    this warp knows to be over, and ``time`` each warp's own.
    """

    epoch: np.ndarray
    tick: np.ndarray
    time: np.ndarray
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
        tick = self.now.tick
        if ids is None:
            tick = tick + np.int32(1)
        else:
            tick = np.broadcast_to(tick, self.block_count * self.lanes_per_block).copy()
            tick[ids] += 1
        self.now = replace(self.now, tick=tick)

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
        result |= (warp == other) & (at(before.tick, one) != at(after.tick, two))
        if after.seen is not None:
            result |= after.seen[other, warp % self.warps] >= before.time[warp]
        return result


@dataclass
class Place:
    """An address that threads meet at by atomics: who released there, when, and what releasers knew themselves.

    ``threads`` maps a thread to the steps of its releases; ``blocks`` a block to their ``(step, fence epoch, epoch)``:
    all the block did before the barrier before that fence is published with it. ``through`` maps another place to
    ``(step, known up to)``. Steps only grow.
    """

    threads: dict[int, list[int]] = field(default_factory=dict)
    blocks: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    through: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    last: int = -1
    seen: dict[int, int] = field(default_factory=dict)


Knowledge = dict[int, int]


class GridOrder:
    """Order that fences and atomics make between threads of one launch, within a block and between blocks.

    A thread that runs an atomic on an address after ``__threadfence()`` releases there; one that runs an atomic on it
    later knows all that was released till then, and so does its block (which a barrier tells).
    Threads are numbered block by block, blocks padded to whole warps.
    """

    def __init__(self, blocks: int, lanes_per_block: int) -> None:
        self.blocks = blocks
        self.lanes_per_block = lanes_per_block
        self.any_fence = False
        self._fence_step = self._fence_epoch = self._block_fenced = np.zeros(0, np.int64)
        self._last_step = self._last_place = np.zeros(0, np.int64)
        self._places: dict[int, Place] = {}
        self._thread_knows: dict[int, Knowledge] = {}
        self._block_knows: dict[int, Knowledge] = {}

    def fence(self, threads: np.ndarray, epochs: np.ndarray, step: int) -> None:
        """These threads ran ``__threadfence()`` in these epochs of their blocks."""
        if not self.any_fence:
            self._fence_step = np.full(self.blocks * self.lanes_per_block, -1, np.int64)
            self._fence_epoch, self._last_step, self._last_place = (self._fence_step.copy() for _ in range(3))
            self._block_fenced = np.zeros(self.blocks, np.bool_)
            self.any_fence = True
        self._fence_step[threads] = step
        self._fence_epoch[threads] = epochs
        self._block_fenced[threads // self.lanes_per_block] = True

    def atomic(self, threads: np.ndarray, addresses: np.ndarray, epochs: np.ndarray, step: int) -> None:
        """These threads ran an atomic, or a volatile access, on these addresses."""
        if not self.any_fence:
            return
        matters = self._block_fenced[threads // self.lanes_per_block] | np.isin(addresses, list(self._places))
        if int(addresses[0]) == int(addresses[-1]):
            matters &= self._has_news(threads, addresses)
        for thread, address, epoch in zip(threads[matters], addresses[matters], epochs[matters], strict=True):
            self._meet(int(thread), int(address), int(epoch), step)

    def _has_news(self, threads: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """Whether a thread would learn or tell anything: one that spins on an address does not, most of the time."""
        place = self._places.get(int(addresses[0]))
        last = self._last_step[threads]
        same = (self._last_place[threads] == addresses) & (self._fence_step[threads] <= last)
        return ~(same & ((place.last if place else -1) <= last))

    def _meet(self, thread: int, address: int, epoch: int, step: int) -> None:
        place = self._places.setdefault(address, Place())
        last_seen = place.seen.get(thread, -1)
        fence = int(self._fence_step[thread])
        self._last_place[thread], self._last_step[thread] = address, step
        if place.last <= last_seen and fence <= last_seen:
            return
        place.seen[thread] = step
        block = thread // self.lanes_per_block
        mine = self._thread_knows.setdefault(thread, {})
        ours = self._block_knows.setdefault(block, {})
        for knowledge in (mine, ours):
            knowledge[address] = step
            for other, upto in place.through.items():
                knowledge[other] = max(knowledge.get(other, -1), *(known for _, known in upto))
        if fence > last_seen or (self._block_fenced[block] and block not in place.blocks):
            place.threads.setdefault(thread, []).append(step)
            place.blocks.setdefault(block, []).append((step, int(self._fence_epoch[thread]), epoch))
            for other, known in ours.items():
                if other != address:
                    place.through.setdefault(other, []).append((step, known))
            place.last = step

    def ordered(self, earlier: np.ndarray, epochs: np.ndarray, step: int, later: np.ndarray) -> np.ndarray:
        """Whether what threads ``earlier`` did at ``step``, in these epochs, is published to threads ``later``."""
        result = np.zeros(len(earlier), np.bool_)
        if not self._places:
            return result
        from_block, to_block = earlier // self.lanes_per_block, later // self.lanes_per_block
        for pair in np.unique(np.stack((from_block, to_block)), axis=1).T:
            if pair[0] != pair[1]:
                chosen = (from_block == pair[0]) & (to_block == pair[1])
                result[chosen] = self._blocks_ordered(int(pair[0]), int(pair[1]), earlier[chosen], epochs[chosen], step)
        for one in np.flatnonzero(~result):
            knowledge = self._thread_knows.get(int(later[one]), {}) if from_block[one] == to_block[one] else (
                self._block_knows.get(int(to_block[one]), {})
            )  # fmt: skip
            result[one] = any(
                step < release <= upto
                for address, upto in knowledge.items()
                for release in self._places[address].threads.get(int(earlier[one]), ())
            )
        return result

    def _blocks_ordered(
        self, source: int, target: int, earlier: np.ndarray, epochs: np.ndarray, step: int
    ) -> np.ndarray:
        """Published with the whole block: before the barrier that preceded the releasing thread's fence, or fenced
        by the thread itself before a barrier that preceded the release."""
        result = np.zeros(len(earlier), np.bool_)
        for address, upto in self._block_knows.get(target, {}).items():
            for release, fence_epoch, epoch in self._places[address].blocks.get(source, ()):
                if step < release <= upto:
                    result |= (epochs < fence_epoch) | ((self._fence_step[earlier] > step) & (epochs < epoch))
        return result

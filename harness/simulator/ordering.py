"""What orders two accesses of different threads of a block: barriers and ``__syncwarp``.

Time is counted per warp: a block barrier starts a new epoch for its threads, ``__syncwarp`` a new tick for its lanes.
Shuffles and votes order nothing in memory (CUDA C++ Programming Guide, "Warp Shuffle Functions").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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

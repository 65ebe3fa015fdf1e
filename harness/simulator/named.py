"""Named barriers that hold a part of a block: who has arrived without waiting, and when the last meeting there was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.ordering import WARP_SHIFT, at
from harness.simulator.ptx import Instruction

if TYPE_CHECKING:
    from harness.simulator.simt import Batch


@dataclass(frozen=True)
class Arrival:
    """Lanes that ``bar.arrive`` counted, and for how many threads they take the barrier to be."""

    instruction: Instruction
    threads: int
    ids: np.ndarray


@dataclass(frozen=True)
class Meeting:
    """The last time that a part of a block met at one named barrier: the line, how many waited, their warps (numbers in
    the batch), and the block's epoch and these warps' own times from then on."""

    line: int | None
    threads: int
    warps: np.ndarray
    epoch: int
    times: np.ndarray

    def over_for(self, batch: Batch, lanes: np.ndarray) -> bool:
        """Whether all warps of these lanes were among those who waited, or have heard since that it was over. Flags may
        have told them too: where there are fences, they are trusted."""
        now = batch.clock.now
        if batch.launch.order.any_fence or int(at(now.epoch, batch.block_of[lanes[:1]])[0]) != self.epoch:
            return True
        warps = np.setdiff1d(lanes >> WARP_SHIFT, self.warps)
        if not len(warps):
            return True
        heard = None if now.seen is None else now.seen[warps][:, self.warps % batch.clock.warps] >= self.times
        return heard is not None and bool(heard.any(axis=1).all())


class NamedBarriers:
    """Those of all blocks of a batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._arrived: dict[int, list[Arrival]] = {}
        self._meetings: dict[tuple[int, int], Meeting] = {}

    def arrive(self, name: int, arrival: Arrival) -> None:
        """``bar.arrive``: count these lanes at barrier ``name``, without holding them."""
        self._arrived.setdefault(name, []).append(arrival)

    def arrived(self, name: int) -> list[Arrival]:
        """Who has arrived at barrier ``name`` since it last opened."""
        return self._arrived.get(name, [])

    def lanes(self, name: int, blocks: np.ndarray | None = None) -> np.ndarray:
        """The lanes of them, of ``blocks`` (boolean per block) or all."""
        ids = np.concatenate([np.zeros(0, np.int64), *(one.ids for one in self.arrived(name))])
        return ids if blocks is None else ids[blocks[self.batch.block_of[ids]]]

    def per_block(self, name: int) -> np.ndarray:
        """How many they are in each block."""
        return np.bincount(self.batch.block_of[self.lanes(name)], minlength=self.batch.block_count)

    def clear(self, name: int, complete: np.ndarray) -> None:
        """Barrier ``name`` opened for these blocks."""
        left = [replace(one, ids=one.ids[~complete[self.batch.block_of[one.ids]]]) for one in self.arrived(name)]
        self._arrived[name] = [one for one in left if len(one.ids)]

    def last(self, name: int, block: int) -> Meeting | None:
        """The last meeting of a block at barrier ``name``."""
        return self._meetings.get((name, block))

    def met(self, name: int, line: int | None, waited: np.ndarray, complete: np.ndarray) -> None:
        """These lanes have waited there, in blocks that are ``complete`` now, and the clock has been told."""
        now = self.batch.clock.now
        for block in np.flatnonzero(complete):
            mine = waited[self.batch.block_of[waited] == block]
            warps = np.unique(mine >> WARP_SHIFT)
            epoch = int(at(now.epoch, np.array([block]))[0])
            self._meetings[name, int(block)] = Meeting(line, len(mine), warps, epoch, now.time[warps])

"""Lanes that leave a kernel while others of their warp go on: what waits for named lanes may still name them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.active import Lanes
from harness.simulator.collectives import WARP

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch


#: Branches that are remembered, to say at which of them lanes parted.
PARTINGS = 100


class Ways:
    """What lanes did on ways of their own before they left. Nothing is kept where no instruction names lanes."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.kept = batch.kernel.names_lanes
        #: Lanes that left after they had done something that others may feel, on a way of their own.
        self.left_working = np.zeros(batch.width, np.bool_)
        # When each lane did something last, and when it parted from others last, counted in blocks of code run.
        self._worked, self._parted = np.full((2, batch.width if self.kept else 0), -1)
        # The line of each of the last branches at which lanes parted, and the parts: a bit for each lane.
        self._partings: deque[tuple[int, list[np.ndarray]]] = deque(maxlen=PARTINGS)
        self._gone: np.ndarray | None = None

    def ran(self, block: Block, lanes: Lanes, parts: Sequence[Lanes]) -> None:
        """These lanes ran a block, and go on in these ``parts``."""
        if not self.kept or (len(parts) == 1 and lanes.count == self.batch.alive_count):
            return
        if block.acts:
            self._worked[lanes.ids] = self.batch.picks
        if len(parts) > 1:
            self._parted[lanes.ids] = self.batch.picks
            if block.end is not None and block.end.line is not None:
                self._partings.append((block.end.line, [self._packed(part) for part in parts]))

    def _packed(self, lanes: Lanes) -> np.ndarray:
        mask = np.zeros(self.batch.width, np.bool_)
        mask[lanes.ids] = True
        return np.packbits(mask, bitorder="little")

    def left(self, ids: np.ndarray) -> None:
        """These lanes have left the kernel."""
        self._gone = None
        if self.kept:
            self.left_working[ids] = self._worked[ids] > self._parted[ids]

    def of(self, gone: int, here: int) -> str:
        """Where a lane that has left went another way than one that names it, as the end of a sentence; empty where
        that is not remembered."""
        for line, parts in reversed(self._partings):
            one, other = (
                [n for n, part in enumerate(parts) if part[lane >> 3] >> (lane & 7) & 1] for lane in (gone, here)
            )
            if one and other and one != other:
                return f" at the branch on line {line}"
        return ""

    def gone(self) -> np.ndarray | None:
        """The lanes that have left warps of which others have not, a boolean for each; None if there are none."""
        batch = self.batch
        if not batch.exited:
            return None
        if self._gone is None:
            going_on = np.repeat(batch.alive.reshape(-1, WARP).any(axis=1), WARP)
            self._gone = (batch.thread < batch.threads_per_block) & ~batch.alive & going_on
        return self._gone if self._gone.any() else None

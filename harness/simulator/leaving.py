"""Lanes that leave a kernel while others of their warp go on: what waits for named lanes may still name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.active import Lanes
from harness.simulator.collectives import WARP

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch


class Ways:
    """What lanes did on ways of their own before they left. Nothing is kept where no instruction names lanes."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.kept = batch.kernel.names_lanes
        #: Lanes that left after they had done something that others may feel, on a way of their own.
        self.left_working = np.zeros(batch.width, np.bool_)
        # When each lane did something last, and when it parted from others last, counted in blocks of code run.
        self._worked, self._parted = np.full((2, batch.width if self.kept else 0), -1)
        self._gone: np.ndarray | None = None

    def ran(self, block: Block, lanes: Lanes, parts: int) -> None:
        """These lanes ran a block, and go on in so many ``parts``."""
        if not self.kept or (parts == 1 and lanes.count == self.batch.alive_count):
            return
        if block.acts:
            self._worked[lanes.ids] = self.batch.picks
        if parts > 1:
            self._parted[lanes.ids] = self.batch.picks

    def left(self, ids: np.ndarray) -> None:
        """These lanes have left the kernel."""
        self._gone = None
        if self.kept:
            self.left_working[ids] = self._worked[ids] > self._parted[ids]

    def gone(self) -> np.ndarray | None:
        """The lanes that have left warps of which others have not, a boolean for each; None if there are none."""
        batch = self.batch
        if not batch.exited:
            return None
        if self._gone is None:
            going_on = np.repeat(batch.alive.reshape(-1, WARP).any(axis=1), WARP)
            self._gone = (batch.thread < batch.threads_per_block) & ~batch.alive & going_on
        return self._gone if self._gone.any() else None

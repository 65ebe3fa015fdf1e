"""Lanes that go around a barrier at which others of their warp wait.

``bar.sync`` is ``barrier.sync.aligned``: all threads of a warp must execute the same one (PTX ISA, "barrier"). Lanes
that leave the kernel early are no such case: it waits for those that have not exited (CUDA C++ Programming Guide,
"Compute Capability 7.x").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.active import Lanes
from harness.simulator.collectives import WARP

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Gate
    from harness.simulator.waiting import BlockGate


class Detours:
    """Who went around which barrier, of one batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._around: dict[Gate, np.ndarray] = {}

    def ran(self, block: Block, lanes: Lanes) -> None:
        """These lanes run a block while others are parked."""
        for place, waiting in self.batch.parked.items():
            self._note(self.batch.kernel.blocks[place >> 1], waiting, block, lanes)

    def _note(self, barrier: Block, waiting: Lanes, block: Block, lanes: Lanes) -> None:
        """Some wait at a barrier, and other lanes are at a block. Where those who wait come to it too once they have
        passed, the others went around the barrier. A block that ends the kernel says nothing: the compiler lets the
        store before an early ``return`` and the last one of all be the same."""
        batch, gate = self.batch, barrier.gate
        if gate is None or not gate.aligned or batch.took_turns or not block.successors:
            return
        if not batch.kernel.comes_next(barrier.number, block.number):
            return
        divided = np.zeros(batch.width // WARP, np.bool_)
        divided[waiting.warps] = True
        around = lanes.ids[divided[lanes.ids // WARP]]
        if len(around):
            self._around.setdefault(gate, np.zeros(batch.width, np.bool_))[around] = True

    def refuse(self, gate: BlockGate, waiting: Lanes, complete: np.ndarray) -> None:
        """The barrier opens for those of the blocks that are ``complete``. Raises KernelFault where lanes of their
        warps went around it."""
        if not self.batch.groups and gate not in self._around:
            return
        blocks = self.batch.kernel.blocks
        barrier = next(block for block in blocks if block.gate is gate)
        for place, lanes in self.batch.groups.items():
            self._note(barrier, waiting, blocks[place >> 1], lanes)
        around = self._around.get(gate)
        if around is None:
            return
        ids = np.flatnonzero(around & complete[self.batch.block_of])
        if not len(ids):
            return
        lanes = ids[ids // WARP == ids[0] // WARP]
        inside = int(self.batch.thread[lanes[0]]) // WARP * WARP
        there = min(WARP, self.batch.threads_per_block - inside)
        self.batch.witness.fail(
            gate.instruction, "barrier",
            f"{len(lanes)} of {there} lanes of warp {inside // WARP} go around {gate.spoken}, which the others wait "
            "at: undefined, it works by luck", Lanes(self.batch.width, np.arange(self.batch.width) == lanes[0]), 0,
            "move it out of the `if`: every thread of the block must come to it",
        )  # fmt: skip

"""Proof that a launch will never end: the same lanes stand at the same places with the same values, and nothing
was written since.

States are compared as Brent's cycle finder does, with a remembered one that is renewed after 1, 2, 4 ... looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harness.simulator.simt import Batch

State = dict[int, np.ndarray]


class LoopWatch:
    """Looks at a batch now and then. Between looks every group of lanes has had a turn."""

    def __init__(self) -> None:
        self._seen: tuple[dict[int, np.ndarray], State] | None = None
        self._changes = -1
        self._looks, self._renew = 0, 1

    def stuck(self, batch: Batch) -> bool:
        """Whether the batch is where it was, and so will be again. A kernel that reads a clock is never sure to."""
        if batch.kernel.reads_clock:
            return False
        places = {
            place: lanes.ids for place, lanes in [*batch.groups.items(), *((~p, g) for p, g in batch.parked.items())]
        }
        needed = frozenset().union(
            *(batch.kernel.blocks[(place if place >= 0 else ~place) >> 1].live_in for place in places)
        )
        state = {number: batch.registers[number] for number in needed}
        unchanged = self._seen is not None and self._changes == batch.launch.changes
        if self._seen is not None and unchanged and _same(self._seen[0], places) and _same(self._seen[1], state):
            return True
        self._looks += 1
        if self._seen is None or self._looks >= self._renew:
            self._seen, self._changes = (places, state), batch.launch.changes
            self._looks, self._renew = 0, self._renew * 2
        return False


def _same(one: dict[int, np.ndarray], two: dict[int, np.ndarray]) -> bool:
    """Equal bit for bit: a NaN equals itself."""
    return one.keys() == two.keys() and all(
        a is two[key] or (a.shape == two[key].shape and a.tobytes() == two[key].tobytes()) for key, a in one.items()
    )

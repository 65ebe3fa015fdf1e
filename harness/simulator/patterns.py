"""The addresses of one access, known again when they come back shifted.

A loop walks through memory: the lanes' addresses of one turn are those of the turn before plus a constant. What moves
depends on them only up to a multiple of a cache line (and of all the banks), so a handful of shapes serve a whole loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.simulator import traffic
from harness.simulator.footprint import Asked
from harness.simulator.memory import Allocation
from harness.simulator.traffic import ABSENT, LINE_BYTES, SECTOR_BYTES, WARP, Moved

if TYPE_CHECKING:
    from harness.simulator.access import Access
    from harness.simulator.counters import BatchTally

_RULES: dict[tuple[str, bool], Callable[[np.ndarray, int], Moved]] = {
    ("global", False): traffic.sectors,
    ("global", True): traffic.updated_sectors,
    ("local", False): traffic.sectors,
    ("local", True): traffic.updated_sectors,
    ("shared", False): traffic.wavefronts,
    ("shared", True): traffic.updated_wavefronts,
}


@dataclass(frozen=True)
class Target:
    """Where lanes (``ids``, ascending) go: ``values`` are byte offsets into ``allocation``, or into the block's or
    lane's own memory where that is None; one for each lane or one for all."""

    ids: np.ndarray
    values: np.ndarray
    allocation: Allocation | None


@dataclass(frozen=True)
class Example:
    """The worst access of one warp: byte offsets of 32 lanes, :data:`ABSENT` for inactive ones, into ``allocation``."""

    units: int
    ideal: int
    addresses: np.ndarray
    allocation: Allocation | None

    @property
    def weight(self) -> tuple[int, int]:
        """What makes an example worse: units to spare, then units."""
        return self.units - self.ideal, self.units

    def moved(self, shift: int) -> Example:
        """The same access, ``shift`` bytes further on."""
        return replace(self, addresses=np.where(self.addresses == ABSENT, ABSENT, self.addresses + shift))


@dataclass(frozen=True)
class Shape:
    """What a pattern of addresses comes to: ``counts`` by block (requests, lanes, units, ideal, lines, most, and two
    rows of zeros), and the sectors that are ``asked`` for of each allocation."""

    counts: np.ndarray
    asked: tuple[Asked, ...]
    worst: Example


class Pattern:
    """The addresses of an access in one space, as its first execution had them."""

    def __init__(self, access: Access, space: str, targets: Sequence[Target], tally: BatchTally) -> None:
        self.access = access
        self.space = space
        self.targets = targets
        self.tally = tally
        self.known: dict[int, Shape] = {}

    def shift_to(self, targets: Sequence[Target]) -> int | None:
        """By how many bytes all addresses of ``targets`` lie further on than the pattern's; None if they don't."""
        if len(targets) > 1 or len(self.targets) > 1:
            return None
        mine, other = self.targets[0], targets[0]
        if mine.allocation is not other.allocation or not _same(mine.ids, other.ids):
            return None
        distance = other.values - mine.values
        first = int(distance[0])
        return first if len(distance) == 1 or (distance == first).all() else None

    def shape(self, shift: int) -> tuple[Shape, int]:
        """The shape of the pattern ``shift`` bytes further on, and how many bytes of these it doesn't have yet."""
        phase = shift % LINE_BYTES
        if phase not in self.known:
            self.known[phase] = self._shape([replace(one, values=one.values + phase) for one in self.targets])
        return self.known[phase], shift - phase

    def _shape(self, targets: list[Target]) -> Shape:
        ids, values = _together(targets)
        warps, rows = traffic.rows_of(ids, values)
        width = self.tally.width(self.access)
        lanes = np.count_nonzero(rows >= 0, axis=1)
        moving, width = (traffic.local_rows(rows, width), min(width, 4)) if self.space == "local" else (rows, width)
        moved = _RULES[self.space, self.access.verb == "update"](moving, width)
        none = np.zeros(len(warps))
        each = (np.ones(len(warps)), lanes, moved.units, moved.ideal, moved.lines, moved.most, none, none)
        counts = np.stack([self.tally.by_block(warps, amounts) for amounts in each])
        worst = _worst(moved, moving[:, :WARP], targets[0].allocation)
        asked = tuple(self._asked(one) for one in targets if self.space == "global")
        return Shape(counts, asked, worst)

    def _asked(self, target: Target) -> Asked:
        assert target.allocation is not None  # global memory is made of allocations
        warps, rows = traffic.rows_of(target.ids, target.values)
        ordered = np.sort(rows // SECTOR_BYTES, axis=1)
        row, place = np.nonzero(np.column_stack((ordered[:, 0] != ABSENT, ordered[:, 1:] != ordered[:, :-1])))
        warp = warps[row]
        block = warp // self.tally.warps_per_block
        return Asked.of(target.allocation, warp, block, ordered[row, place], self.tally.blocks)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one is other or (len(one) == len(other) and bool((one == other).all()))


def _together(targets: list[Target]) -> tuple[np.ndarray, np.ndarray]:
    """Lanes in order, and where they go: addresses apart from each other where there are several allocations."""
    if len(targets) == 1:
        return targets[0].ids, targets[0].values
    ids = np.concatenate([one.ids for one in targets])
    start = min(one.allocation.address for one in targets if one.allocation)
    values = [
        np.broadcast_to(one.values + (one.allocation.address - start if one.allocation else 0), len(one.ids))
        for one in targets
    ]
    order = np.argsort(ids, kind="stable")
    return ids[order], np.concatenate(values)[order]


def _worst(moved: Moved, rows: np.ndarray, allocation: Allocation | None) -> Example:
    waste = moved.units - moved.ideal
    at = int(np.lexsort((moved.units, waste))[-1])
    return Example(int(moved.units[at]), int(moved.ideal[at]), rows[at].copy(), allocation)

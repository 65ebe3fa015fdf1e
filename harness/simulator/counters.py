"""Counting while a launch runs: what a profiler's hardware counters would count, for each block of a batch apart.

A :class:`Tally` is handed to a launch. It is told of every block of code that lanes ran (:meth:`BatchTally.ran`) and
of every access to memory (:meth:`BatchTally.accessed`). Nothing is added up over blocks here, so that blocks can be
weighed afterwards: a launch may have run some of its blocks only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from harness.simulator.access import Access, Located
from harness.simulator.active import Lanes
from harness.simulator.footprint import SECTOR_BYTES, Asked, Footprints, Summary
from harness.simulator.patterns import Example, Pattern, Shape, Target
from harness.simulator.traffic import WARP

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch

#: A kind of access: its instruction's static part, and the space its addresses turned out to lie in.
Key = tuple[Access, str]

#: Rows of an access's counts: those of a :class:`Shape`, then the requests that waited for more than the L1, and
#: those of them that waited for what their block had never loaded.
REQUESTS, LANES, UNITS, IDEAL, LINES, MOST, FETCHING, FIRST = range(8)

#: Addresses in global memory, blocks that updated them by atomics, and numbers of lane operations.
Updates = tuple[np.ndarray, np.ndarray, np.ndarray]

_COUNTED = ("global", "shared", "local", "generic")
_MANY = 256


class BatchWatcher(Protocol):
    """What is told of all that a batch does."""

    def ran(self, block: Block, lanes: Lanes, parts: list[tuple[int, Lanes]]) -> None:
        """``lanes`` ran a block of code, and went on in ``parts``."""

    def accessed(self, access: Access, located: Located, lanes: Lanes) -> None:
        """``lanes`` are about to access memory."""

    def close(self) -> None:
        """The batch has run."""


class Watcher(Protocol):
    """What is handed to a launch to look on: it counts (:class:`Tally`), or does less."""

    def open(self, batch: Batch) -> BatchWatcher:
        """Begin with a batch."""


@dataclass(frozen=True)
class _Seen:
    """What an access last came to: ``shape`` with ``shift`` bytes added to its addresses."""

    key: Key
    shape: Shape
    shift: int
    updates: Updates | None


class BatchTally:
    """Counts of one batch. Arrays have one column for each of its blocks.

    ``runs`` holds by number of a block of code the warps and the lanes that ran it, ``parted`` the warps whose
    lanes parted at its end, ``accesses`` the eight counts of each kind of access. ``trace`` lists the blocks of code as
    they ran, with how many warps of each block took part.
    """

    def __init__(self, batch: Batch, tally: Tally) -> None:
        self.batch = batch
        self.together = tally.together
        self.numbers = batch.numbers
        self.blocks = batch.block_count
        self.warps_per_block = batch.lanes_per_block // WARP
        self.runs: dict[int, np.ndarray] = {}
        self.parted: dict[int, np.ndarray] = {}
        self.accesses: dict[Key, np.ndarray] = {}
        self.worst: dict[Key, Example] = {}
        self.updates: list[Updates] = []
        self.trace: list[tuple[int, np.ndarray]] = []
        self.footprints = Footprints(self.blocks, tally.cache_bytes)
        self.widths = tally.widths
        self.inner = np.isin(self.numbers, tally.inner) | tally.together
        self._shapes: dict[int, tuple[Lanes, np.ndarray]] = {}
        self._seen: dict[Access, tuple[Located, list[_Seen]]] = {}
        self._patterns: dict[Key, Pattern] = {}

    def close(self) -> None:
        """The batch has run: let go of it, and of all that isn't counts."""
        self.touches: dict[bool, list[Summary]] = {
            write: [one.summary(self.inner) for one in self.footprints.touched(write)] for write in (False, True)
        }
        self.fetched = self.footprints.fetched
        self.updates = [_merged(self.updates)] if self.updates else []
        if self.together:
            self._add_up()
        del self.batch, self.footprints, self._shapes, self._seen, self._patterns

    def mark(self, column: int) -> bytes:
        """All that one block counted, but for what its cache held: equal for blocks that did the same."""
        runs = [self.runs[number][:, column] for number in sorted(self.runs)]
        order = sorted(self.accesses, key=lambda key: (id(key[0]), key[1]))
        return np.concatenate([*runs, *(self.accesses[key][:FETCHING, column] for key in order)]).tobytes()

    def _add_up(self) -> None:
        """One column for all blocks."""
        tables: Sequence[dict] = (self.runs, self.parted, self.accesses)
        for table in tables:
            for key in table:
                table[key] = table[key].sum(axis=-1, keepdims=True)
        self.fetched = self.fetched.sum(keepdims=True)
        self.touches = {write: [one.added_up() for one in found] for write, found in self.touches.items()}
        self.trace.clear()

    # --- instructions

    def ran(self, block: Block, lanes: Lanes, parts: list[tuple[int, Lanes]]) -> None:
        """``lanes`` ran a block of code, and went on in ``parts``."""
        shape = self._shape(lanes)
        _add(self.runs, block.number, shape)
        self.trace.append((block.number, shape[0]))
        if len(parts) > 1:
            ways = np.bincount(np.concatenate([part.warps for _, part in parts]))
            _add(self.parted, block.number, self.by_block(np.flatnonzero(ways > 1)))

    def _shape(self, lanes: Lanes) -> np.ndarray:
        """By block, how many warps have an active lane, and how many lanes are active."""
        known = self._shapes.get(id(lanes))
        if known is None:
            per_block = np.bincount(self.batch.block_of[lanes.ids], minlength=self.blocks)
            if len(self._shapes) > _MANY:
                self._shapes.clear()
            known = self._shapes[id(lanes)] = lanes, np.stack((self.by_block(lanes.warps), per_block))
        return known[1]

    def by_block(self, warps: np.ndarray, amounts: np.ndarray | None = None) -> np.ndarray:
        """Add up over each block's warps: how many there are, or their ``amounts``."""
        found = np.bincount(warps // self.warps_per_block, weights=amounts, minlength=self.blocks)
        return found.astype(np.int64)

    # --- memory

    def width(self, access: Access) -> int:
        """Bytes that a lane moves at once, 0 for what an earlier access moves with it."""
        return self.widths.get(id(access.instruction), access.width)

    def accessed(self, access: Access, located: Located, lanes: Lanes) -> None:
        """``lanes`` are about to access memory. What was located before needs no second look at its addresses."""
        if access.space not in _COUNTED or self.width(access) == 0:
            return
        seen = self._seen.get(access)
        if seen is None or seen[0] is not located:
            seen = self._seen[access] = located, self._look(access, located, lanes)
        for one in seen[1]:
            self._count(one)

    def _count(self, one: _Seen) -> None:
        counts, verb = one.shape.counts, one.key[0].verb
        for asked in one.shape.asked:
            if verb != "write":
                missed, new = self.footprints.load(asked, one.shift // SECTOR_BYTES)
                if missed.any():
                    counts = counts.copy()
                    counts[FETCHING] += self._waiting(asked, missed)
                    counts[FIRST] += self._waiting(asked, new)
            if verb != "read":
                self.footprints.store(asked, one.shift // SECTOR_BYTES)
        _add(self.accesses, one.key, counts)
        if one.updates is not None:
            self.updates.append(one.updates)
            if len(self.updates) > _MANY:
                self.updates = [_merged(self.updates)]

    def _waiting(self, asked: Asked, chosen: np.ndarray) -> np.ndarray:
        """By block, the warps that ask for one of the chosen sectors at least."""
        waiting = asked.warp[chosen]
        first = np.ones(len(waiting), np.bool_)
        np.not_equal(waiting[1:], waiting[:-1], out=first[1:])
        return np.bincount(asked.block[chosen][first], minlength=self.blocks)

    def _look(self, access: Access, located: Located, lanes: Lanes) -> list[_Seen]:
        by_space: dict[str, list[Target]] = {}
        for piece, _ in located.units:
            space = self.batch.spaces.space_of(piece)
            values = piece.offset if piece.inner is None else piece.inner
            ids = lanes.ids if piece.selection is None else lanes.ids[piece.selection]
            by_space.setdefault(space, []).append(Target(ids, values, piece.allocation))
        return [
            self._look_in((access, space), targets) for space, targets in by_space.items() if space in _COUNTED
        ]

    def _look_in(self, key: Key, targets: list[Target]) -> _Seen:
        pattern = self._patterns.get(key)
        shift = None if pattern is None else pattern.shift_to(targets)
        if pattern is None or shift is None:
            shift = 0
            pattern = self._patterns[key] = Pattern(key[0], key[1], targets, self)
        shape, shift = pattern.shape(shift)
        if key not in self.worst or shape.worst.weight > self.worst[key].weight:
            self.worst[key] = shape.worst.moved(shift)
        updates = None
        if key == (key[0], "global") and key[0].verb == "update":
            updates = _merged([self._updated(target) for target in targets])
        return _Seen(key, shape, shift, updates)

    def _updated(self, target: Target) -> Updates:
        assert target.allocation is not None  # global memory is made of allocations
        address = np.broadcast_to(target.values + target.allocation.address, len(target.ids))
        return address, self.numbers[self.batch.block_of[target.ids]], np.ones(len(target.ids), np.int64)


def _merged(parts: list[Updates]) -> Updates:
    """Amounts added up over equal pairs of address and block."""
    address, block, amount = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((block, address))
    address, block, amount = address[order], block[order], amount[order]
    starts = np.flatnonzero(np.concatenate(([True], (address[1:] != address[:-1]) | (block[1:] != block[:-1]))))
    return address[starts], block[starts], np.add.reduceat(amount, starts)


def _add(table: dict, key: object, amount: np.ndarray) -> None:
    there = table.get(key)
    table[key] = amount if there is None else there + amount


@dataclass
class Tally:
    """Counts of a launch, batch by batch. ``cache_bytes`` is a block's share of the L1; ``inner`` are the blocks whose
    common footprint tells how much blocks share; ``together`` adds the blocks of a batch up; ``widths`` are those of
    loads that the machine code merges (:mod:`harness.simulator.merging`)."""

    cache_bytes: float
    widths: Mapping[int, int]
    inner: tuple[int, ...] = ()
    together: bool = False
    parts: list[BatchTally] = field(default_factory=list)

    def open(self, batch: Batch) -> BatchTally:
        """Begin to count a batch."""
        part = BatchTally(batch, self)
        self.parts.append(part)
        return part

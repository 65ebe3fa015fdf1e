"""Which sectors of global memory the blocks of a batch touch, and how soon they come back to them.

Kept for each block apart, in chunks that are made when they are first touched: memory follows what a kernel does,
not what it has allocated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from harness.simulator.memory import Allocation

SECTOR_BYTES = 32

#: Sectors of a chunk: 32 KiB of global memory.
CHUNK = 1024


#: Sectors of an atom, the least that DRAM moves (:data:`harness.profiles.DRAM_ATOM`).
ATOM = 2

#: The sets of a cache fill unevenly, so that some lines are pushed out when it is half full, others only when one and a
#: half times as much as it holds has come. The width is an assumption, for nobody publishes how the L1 places and
#: replaces lines: its deviation, 0.29, is that of lines that fall at random on sets of 12 (Poisson: 1 / sqrt(12)).
#: One launch of the calibration can tell: sm_warp_row's rows are as large as its L1. Of its loads 2.2 million sectors
#: came from an H200's L2 a second time (l2_sectors_read, less 1.5 for each that came first, as in all rows). This width
#: gives 2.6 million, one and a half times it 2.4, half of it 3.0, a sharp edge 4.2; hardly another row feels it.
#: Of the solutions four are at the edge. Their times are off by 10 % on average, by 14 % with a sharp one.
_WIDTH = 1.0

#: Parts that the lines of a cache are sorted into to be spread over that width, and a number that sends neighbouring
#: lines to distant parts: it has no divisor in common with theirs. There is no physics in these two.
_PARTS, _SCATTER = 64, 37
_ROOM = np.linspace(1 - _WIDTH / 2, 1 + _WIDTH / 2, _PARTS)
_LINE_SECTORS = 4

#: Coming back to a sector after less than this part of the cache is no new touch: time goes on by touches of others. It
#: stands for counting the distinct sectors between two touches, as least recent use would. It matters little: no row of
#: the calibration fetches half a percent more or less with anything from 0 to 1/4.
_RECENT = 1 / 16

#: Who touched an atom.
ANY, INNER = 1, 2


@dataclass(frozen=True)
class Summary:
    """What blocks touched of an allocation: by block the distinct ``sectors`` and ``atoms``; for each atom what
    touched it (``by``: 0, :data:`ANY` block, an :data:`INNER` one), and the ``first`` and ``last`` atom that was."""

    allocation: Allocation
    sectors: np.ndarray
    atoms: np.ndarray
    by: np.ndarray
    first: int
    last: int

    def added_up(self) -> Summary:
        """One number for all blocks."""
        return replace(self, sectors=self.sectors.sum(keepdims=True), atoms=self.atoms.sum(keepdims=True))


@dataclass(frozen=True)
class Asked:
    """Sectors of an allocation that warps ask for, one row a pair: the ``warp``, its ``block``, the ``sector``.
    ``per_block`` counts them by block where no two warps of a block ask for the same, else it is None."""

    allocation: Allocation
    warp: np.ndarray
    block: np.ndarray
    sector: np.ndarray
    per_block: np.ndarray | None

    @classmethod
    def of(cls, allocation: Allocation, warp: np.ndarray, block: np.ndarray, sector: np.ndarray, blocks: int) -> Asked:
        """By warps in ascending order, of ``blocks`` blocks."""
        pairs = block * (int(sector.max()) + 1) + sector
        alone = len(np.unique(pairs)) == len(pairs)
        return cls(allocation, warp, block, sector, np.bincount(block, minlength=blocks) if alone else None)


class Touched:
    """The sectors of one allocation that each of ``blocks`` blocks touched, and when last (0: never)."""

    def __init__(self, allocation: Allocation, blocks: int) -> None:
        self.allocation = allocation
        self.chunks = -(-max(allocation.nbytes, 1) // (SECTOR_BYTES * CHUNK))
        self.slots = np.zeros(blocks * self.chunks, np.int64)
        self.last = np.zeros((1, CHUNK), np.int32)  # the first slot stands for chunks that nobody touched
        self.used = 1

    def cells(self, block: np.ndarray, sector: np.ndarray) -> np.ndarray:
        """Indices into ``last``, flattened, for pairs of a block and a sector of the allocation."""
        chunk = block * self.chunks + sector // CHUNK
        slot = self.slots[chunk]
        if not slot.all():
            self._add(np.unique(chunk[slot == 0]))
            slot = self.slots[chunk]
        return slot * CHUNK + sector % CHUNK

    def _add(self, chunks: np.ndarray) -> None:
        self.slots[chunks] = np.arange(self.used, self.used + len(chunks))
        self.used += len(chunks)
        if self.used > len(self.last):
            grown = np.zeros((max(self.used, 2 * len(self.last)), CHUNK), np.int32)
            grown[: len(self.last)] = self.last
            self.last = grown

    def summary(self, inner: np.ndarray) -> Summary:
        """What it all came to. ``inner`` tells which blocks are."""
        chunk = np.flatnonzero(self.slots)
        touched = self.last[self.slots[chunk]] != 0
        atoms = touched.reshape(len(chunk), -1, ATOM).any(axis=2)
        row, place = np.nonzero(atoms)
        number = chunk[row] % self.chunks * (CHUNK // ATOM) + place
        by = np.zeros(self.chunks * (CHUNK // ATOM), np.uint8)
        by[number] = ANY
        by[number[inner[chunk[row] // self.chunks]]] = INNER
        sectors, atoms = self._by_block(chunk, touched), self._by_block(chunk, atoms)
        return Summary(self.allocation, sectors, atoms, by, int(number.min()), int(number.max()))

    def _by_block(self, chunk: np.ndarray, found: np.ndarray) -> np.ndarray:
        return np.bincount(chunk // self.chunks, np.count_nonzero(found, axis=1), len(self.slots) // self.chunks)


class Footprints:
    """What the blocks of a batch touch, each with a cache of ``cache_bytes`` of its own. ``fetched`` counts by block
    the sectors that its cache didn't hold: never loaded before, or so long ago that as many others were touched
    since."""

    def __init__(self, blocks: int, cache_bytes: float) -> None:
        self.blocks = blocks
        self.cache_sectors = int(cache_bytes) // SECTOR_BYTES
        self.read: dict[int, Touched] = {}
        self.written: dict[int, Touched] = {}
        self.fetched = np.zeros(blocks, np.int64)
        self.touches = np.zeros(blocks, np.int64)

    def load(self, asked: Asked, further: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Blocks load sectors, ``further`` sectors on: which of these the cache misses, and which it never held.

        One fetch serves all warps that ask for a sector at once, and all of them wait for it."""
        touched, block, sector = self._of(self.read, asked.allocation), asked.block, asked.sector + further
        cells = touched.cells(block, sector)
        last = touched.last.reshape(-1)
        before = last[cells]
        if asked.per_block is not None and not before.any():
            self.fetched += asked.per_block
            self.touches += asked.per_block
            last[cells] = self.touches[block] + 1
            return before == 0, before == 0
        ago = self.touches[block] + 1 - before
        missed = (before == 0) | (ago > self.cache_sectors * _ROOM[sector // _LINE_SECTORS * _SCATTER % _PARTS])
        if missed.any():
            self.fetched += self._once(block, cells, missed)
        again = (before == 0) | (ago > self.cache_sectors * _RECENT)
        if again.any():
            self.touches += self._once(block, cells, again)
        last[cells] = self.touches[block] + 1
        return missed, before == 0

    def _once(self, block: np.ndarray, cells: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """By block, how many of the chosen cells there are, each counted once."""
        _, first = np.unique(cells[chosen], return_index=True)
        return np.bincount(block[chosen][first], minlength=self.blocks)

    def store(self, asked: Asked, further: int = 0) -> None:
        """Blocks write sectors, ``further`` sectors on."""
        touched = self._of(self.written, asked.allocation)
        cells = touched.cells(asked.block, asked.sector + further)
        touched.last.reshape(-1)[cells] = 1

    def touched(self, write: bool) -> Iterator[Touched]:
        """The allocations that were written, or loaded."""
        yield from (self.written if write else self.read).values()

    def _of(self, table: dict[int, Touched], allocation: Allocation) -> Touched:
        if allocation.address not in table:
            table[allocation.address] = Touched(allocation, self.blocks)
        return table[allocation.address]


def shared_by(apart: float, union: float, sampled: int, blocks: int) -> float:
    """By how many of ``blocks`` blocks a piece of memory is touched, where ``sampled`` of them touched ``apart``
    pieces, each block's counted for itself, and ``union`` distinct ones.

    Taken that every piece is touched by the same number m of blocks, there are ``blocks * apart / sampled / m`` pieces,
    and none of its m blocks is drawn with the chance C(blocks - m, sampled) / C(blocks, sampled). m is the one that
    explains the union: 1 for blocks that share nothing, ``blocks`` for those that share all.
    """
    low, high = 1.0, float(blocks)
    if sampled >= blocks:
        return apart / union
    for _ in range(60):
        middle = (low + high) / 2
        if blocks * apart / sampled / middle * _drawn(middle, sampled, blocks) > union * (1 + 1e-9):
            low = middle
        else:
            high = middle
    return high


def _drawn(sharing: float, sampled: int, blocks: int) -> float:
    """The chance that one of ``sharing`` blocks is among ``sampled`` of ``blocks``."""
    missed = 1.0
    for turn in range(sampled):
        missed *= max(0.0, 1.0 - sharing / (blocks - turn))
    return 1.0 - missed

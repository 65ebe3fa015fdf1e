"""Which words of global memory launches read and write, exactly: every block is run, and nothing else is counted.

A :class:`Coverage` is handed to a launch in place of a tally (:mod:`harness.simulator.counters`). A word is touched
where one of its bytes is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.access import Access, Located
from harness.simulator.active import Lanes
from harness.simulator.memory import Allocation

if TYPE_CHECKING:
    from harness.simulator.kernel import Block
    from harness.simulator.simt import Batch

WORD_BYTES = 4

#: What one instruction costs beside its lanes, in lanes: Python's own part of the time, as measured.
_OVERHEAD = 1 << 14

#: What an access costs that goes to new places, in instructions.
_MARKED = 6

#: What a batch costs before its first instruction, in the same unit.
_BATCH = 1 << 20

#: A word's mark, as often as an access has words.
_MARKS: dict[int, np.unsignedinteger] = {4: np.uint8(1), 8: np.uint16(0x0101), 16: np.uint32(0x01010101)}


class TooMuch(Exception):
    """Launches took more work than they were given."""


class Words:
    """The words of one allocation, and which of them were touched: 1, else 0."""

    def __init__(self, allocation: Allocation) -> None:
        padded = -(-max(allocation.nbytes, 1) // 16) * 16
        self._marks = np.zeros(padded // WORD_BYTES, np.uint8)
        self._views = {width: self._marks.view(mark.dtype) for width, mark in _MARKS.items()}
        self.count = -(-allocation.nbytes // WORD_BYTES)

    def touch(self, index: np.ndarray, width: int) -> None:
        """The units ``index`` of ``width`` bytes."""
        if width < WORD_BYTES:
            index, width = index // (WORD_BYTES // width), WORD_BYTES
        self._views[width][index] = _MARKS[width]

    def touch_range(self, start: int, nbytes: int) -> None:
        """The bytes from ``start`` on."""
        self._marks[start // WORD_BYTES : -(-(start + nbytes) // WORD_BYTES)] = 1

    def missed(self) -> np.ndarray:
        """The numbers of the words that were not, ascending."""
        return np.flatnonzero(self._marks[: self.count] == 0)


@dataclass
class Coverage:
    """The words that launches read and write, by allocation. ``work`` is what they may still cost: instructions times
    lanes, about. It is counted, not timed, so that it comes to the same on any machine."""

    work: int
    read: dict[int, Words] = field(default_factory=dict)
    written: dict[int, Words] = field(default_factory=dict)

    def open(self, batch: Batch) -> _BatchCoverage:
        """Begin to watch a batch."""
        self.spend(_BATCH)
        return _BatchCoverage(self)

    def spend(self, work: int) -> None:
        """Raise TooMuch where none is left."""
        self.work -= work
        if self.work < 0:
            raise TooMuch

    def of(self, allocation: Allocation, verb: str) -> Sequence[Words]:
        """What to mark of an allocation that is read, written, or both (``update``)."""
        tables = {"read": (self.read,), "write": (self.written,), "update": (self.read, self.written)}[verb]
        return [
            table.get(allocation.address) or table.setdefault(allocation.address, Words(allocation))
            for table in tables
        ]  # fmt: skip


class _BatchCoverage:
    """What one batch touches."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self._seen: dict[Access, Located] = {}

    def ran(self, block: Block, lanes: Lanes, parts: list[tuple[int, Lanes]]) -> None:
        """``lanes`` ran a block of code."""
        self.coverage.spend((len(block.steps) + 1) * (lanes.width + _OVERHEAD))

    def accessed(self, access: Access, located: Located, lanes: Lanes) -> None:
        """``lanes`` are about to access memory. The same places again are no news."""
        if self._seen.get(access) is located:
            return
        self._seen[access] = located
        self.coverage.spend(_MARKED * (lanes.count + _OVERHEAD))
        for piece, index in located.units:
            if piece.allocation is not None:
                for words in self.coverage.of(piece.allocation, access.verb):
                    words.touch(index, access.width)

    def close(self) -> None:
        """The batch has run."""
        self._seen.clear()

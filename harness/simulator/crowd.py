"""Of every warp who was at a place last since it was written, where two readers of it don't stand for all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.simulator.ordering import WARP_SHIFT

#: Places in a table: of a larger backing nothing is kept, and a race with a third reader may not be told.
MOST = 1 << 23


class Crowd:
    """A table with a column for each warp; warps of a grid that has more share them, and the last one there stays."""

    def __init__(self, units: int, columns: int) -> None:
        self.columns = columns
        self._number = np.full((units, columns), -1, np.int32)
        self._thread = np.zeros((units, columns), np.int32)

    def forget(self) -> None:
        """Nobody has been anywhere."""
        self._number.fill(-1)

    def add(self, number: int, units: np.ndarray, threads: np.ndarray) -> None:
        """These threads were at these granules, by the entry of this number."""
        column = (threads >> WARP_SHIFT) % self.columns
        self._number[units, column], self._thread[units, column] = number, threads

    def overwrite(self, units: np.ndarray) -> None:
        """These granules were written: whoever was there before has been judged against that."""
        self._number[units] = -1

    def at(self, units: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Who was at these granules: of each entry its number, the threads, and which of ``units`` each was at."""
        numbers = self._number[units]
        which, column = np.nonzero(numbers >= 0)
        found, threads = numbers[which, column], self._thread[units[which], column].astype(np.int64)
        for number in np.unique(found):
            yield int(number), threads[found == number], which[found == number]

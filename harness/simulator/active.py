"""Which lanes of a batch an instruction runs for, and how their values meet the others'.

A register is one array over the lanes of a batch, or one element where all lanes agree. Code runs for every position;
only memory, and registers that other lanes still need, care which lanes are really there.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property

import numpy as np

NOTHING: Container[int] = frozenset()


class _Everything:
    def __contains__(self, register: object) -> bool:
        return True


EVERYTHING: Container[int] = _Everything()


class Lanes:
    """A set of active lanes. ``width`` is the length of register arrays, ``mask`` tells the active positions (None:
    all), ``keep`` holds the registers whose values in the other lanes must survive a write. Where the register arrays
    were compacted to these lanes alone, ``own`` gives each position's lane in the batch."""

    def __init__(
        self, width: int, mask: np.ndarray | None, keep: Container[int] = NOTHING, own: np.ndarray | None = None
    ) -> None:
        self.width = width
        self.mask = mask
        self.keep = keep
        self.own = own

    @cached_property
    def index(self) -> np.ndarray | None:
        """Active positions, None where all are."""
        return None if self.mask is None else np.flatnonzero(self.mask)

    @cached_property
    def count(self) -> int:
        """How many lanes are active."""
        return self.width if self.index is None else len(self.index)

    @cached_property
    def ids(self) -> np.ndarray:
        """The active lanes' numbers in the batch, ascending."""
        if self.own is not None:
            return self.own if self.index is None else self.own[self.index]
        return np.arange(self.width) if self.index is None else self.index

    @cached_property
    def warps(self) -> np.ndarray:
        """The numbers in the batch of the warps with an active lane, ascending."""
        warps = self.ids >> 5
        return warps[np.concatenate(([True], warps[1:] != warps[:-1]))]

    def active(self, value: np.ndarray) -> np.ndarray:
        """The values of active lanes only; a uniform value stays one element."""
        return value if self.index is None or value.size == 1 else value[self.index]

    def spread(self, values: np.ndarray, register: int, old: np.ndarray) -> np.ndarray:
        """A register array from the values of active lanes; other lanes keep ``old`` where they must."""
        if self.index is None:
            return values
        if register in self.keep:
            old = old.view(values.dtype)
            result = np.full(self.width, old[0]) if old.size == 1 else old.copy()
        elif values.size == 1:
            return values
        else:
            result = np.zeros(self.width, values.dtype)
        result[self.index] = values
        return result

    def blend(self, new: np.ndarray, old: np.ndarray) -> np.ndarray:
        """``new`` for active lanes, ``old`` for the others."""
        if self.mask is None:
            return new
        return np.where(self.mask, new, old if old.dtype == new.dtype else old.view(new.dtype))

    def narrow(self, predicate: np.ndarray) -> Lanes | None:
        """Those for which ``predicate`` holds, the others keeping everything; None where there are none."""
        chosen, rest = self.split(predicate)
        if chosen is None or rest is None:
            return chosen
        return Lanes(self.width, chosen.mask, EVERYTHING, self.own)

    def split(self, predicate: np.ndarray) -> tuple[Lanes | None, Lanes | None]:
        """Lanes for which ``predicate`` holds, and the others; None for an empty side, self for a whole one."""
        if predicate.size == 1 and self.width > 1:
            return (self, None) if predicate[0] else (None, self)
        chosen = predicate if self.mask is None else predicate & self.mask
        count = int(np.count_nonzero(chosen))
        if count == 0:
            return None, self
        if count == self.count:
            return self, None
        rest = ~chosen if self.mask is None else self.mask ^ chosen
        return Lanes(self.width, chosen, self.keep, self.own), Lanes(self.width, rest, self.keep, self.own)

    def union(self, other: Lanes) -> Lanes:
        """Both together; they must belong to the same register arrays."""
        if self.mask is None or other.mask is None:
            return Lanes(self.width, None)
        mask = self.mask | other.mask
        return Lanes(self.width, None if mask.all() else mask)

    def without(self, other: Lanes) -> Lanes | None:
        """Those not in ``other``; None where none is left."""
        if other.mask is None:
            return None
        mask = ~other.mask if self.mask is None else self.mask & ~other.mask
        return Lanes(self.width, mask) if mask.any() else None

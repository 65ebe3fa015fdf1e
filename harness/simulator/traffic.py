"""What a warp's memory access moves: sectors of global and local memory, wavefronts of shared memory.

Addresses come as rows, one a warp: shape ``(warps, 32)``, int64 bytes, :data:`ABSENT` for a lane that takes no part.
Accesses are aligned to their width, so one lane's lies within a sector. The rules are those that Nsight Compute's
counters follow on an H200; tests/simulator/calibration holds what it counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ABSENT = -1
WARP = 32
SECTOR_BYTES = 32
LINE_BYTES = 128
BANKS = 32

_BANK_BYTES = 4
_BANK_KEY = 1 << 20  # more than the words of one bank: shared memory has 228 KB at most
_LANE = np.arange(WARP)


@dataclass(frozen=True)
class Moved:
    """For each warp: ``units`` that move, the ``ideal`` fewest, the distinct cache ``lines``, and the ``most`` lanes
    that an atomic made meet on one address. All of shape ``(warps,)``."""

    units: np.ndarray
    ideal: np.ndarray
    lines: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, units: np.ndarray, ideal: np.ndarray, **others: np.ndarray) -> Moved:
        """With zeros for what does not apply."""
        zero = np.zeros(len(units), np.int64)
        return cls(units, ideal, others.get("lines", zero), others.get("most", zero))


def rows_of(lanes: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of lanes (their numbers ascending; one value for all is allowed) as the warps' numbers and their rows."""
    warp = lanes >> 5
    fresh = np.empty(len(warp), np.bool_)
    fresh[0] = True
    np.not_equal(warp[1:], warp[:-1], out=fresh[1:])
    warps = warp[fresh]
    if len(lanes) == len(warps) * WARP:
        return warps, np.broadcast_to(values, len(lanes)).reshape(-1, WARP)
    rows = np.full((len(warps), WARP), ABSENT, np.int64)
    rows[np.cumsum(fresh) - 1, lanes & (WARP - 1)] = values
    return warps, rows


def local_rows(rows: np.ndarray, width: int) -> np.ndarray:
    """Offsets in each lane's local memory as addresses: the hardware lays the lanes' words side by side, so that lanes
    at one offset share sectors. Of more than one word a lane, the words of all lanes follow each other in the row."""
    words = max(1, width // _BANK_BYTES)
    spread = [
        np.where(rows < 0, ABSENT, ((rows >> 2) + word) * (WARP * _BANK_BYTES) + _LANE * _BANK_BYTES + (rows & 3))
        for word in range(words)
    ]
    return spread[0] if words == 1 else np.concatenate(spread, axis=1)


def _ordered(rows: np.ndarray) -> np.ndarray:
    """Each row ascending; most are as they come."""
    return rows if (rows[:, 1:] >= rows[:, :-1]).all() else np.sort(rows, axis=1)


def _first_of_each(ordered: np.ndarray) -> np.ndarray:
    """Where, in ascending rows, a value comes first; ABSENT never does."""
    first = np.empty(ordered.shape, np.bool_)
    first[:, 0] = ordered[:, 0] >= 0
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    return first


def _count(flags: np.ndarray) -> np.ndarray:
    return np.count_nonzero(flags, axis=1)


def sectors(rows: np.ndarray, width: int) -> Moved:
    """A load or store of ``width`` bytes a lane: the distinct sectors of all active lanes."""
    ordered = _ordered(rows)
    distinct = _count(_first_of_each(ordered))
    units = _count(_first_of_each(ordered // SECTOR_BYTES))
    lines = _count(_first_of_each(ordered // LINE_BYTES))
    return Moved.of(units, -(-distinct * width // SECTOR_BYTES), lines=lines)


def updated_sectors(rows: np.ndarray, width: int) -> Moved:
    """An atomic in global memory: lanes that meet on one address take turns, and each turn moves its sectors.

    So a sector moves as often as the most lanes on one of its addresses (measured: 32 for 32 lanes on one float)."""
    ordered = np.sort(rows, axis=1)
    runs = _runs(ordered)
    sector = ordered // SECTOR_BYTES
    # Where each run of equal sectors starts, absent lanes being one run of their own with no turns.
    starts = np.flatnonzero(np.column_stack((np.ones(len(rows), np.bool_), sector[:, 1:] != sector[:, :-1])))
    turns = np.maximum.reduceat(runs.reshape(-1), starts)
    units = np.bincount(starts // rows.shape[1], weights=turns, minlength=len(rows)).astype(np.int64)
    ideal = -(-_count(_first_of_each(ordered)) * width // SECTOR_BYTES)
    lines = _count(_first_of_each(ordered // LINE_BYTES))
    return Moved.of(units, ideal, lines=lines, most=runs.max(axis=1))


def _runs(ordered: np.ndarray) -> np.ndarray:
    """For each place of ascending rows, how many equal values there are up to it; 0 for absent ones."""
    place = np.arange(ordered.shape[1])
    first = _first_of_each(ordered)
    since = np.maximum.accumulate(np.where(first, place, 0), axis=1)
    return np.where(ordered >= 0, place - since + 1, 0)


def wavefronts(rows: np.ndarray, width: int) -> Moved:
    """A load or store of shared memory.

    Lanes are served in groups of 32 (up to 4 bytes each), 16 (8 bytes) or 8 (16 bytes). A group takes as many
    wavefronts as the most distinct words that it wants of one bank; one word goes to any number of lanes. Where every
    lane of a 16-byte access has the address of lane n ^ 1, or every lane that of n ^ 2, pairs count as one lane.
    """
    if width < 16:
        return _wavefronts(rows, width)
    units, ideal = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    left = np.ones(len(rows), np.bool_)
    for distance in (1, 2, 0):
        chosen = left & _paired(rows, distance) if distance else left
        if chosen.any():
            found = _wavefronts(rows[chosen][:, _LANE & distance == 0], width)
            units[chosen], ideal[chosen] = found.units, found.ideal
            left &= ~chosen
    return Moved.of(units, ideal)


def _paired(rows: np.ndarray, distance: int) -> np.ndarray:
    """For each warp, whether all its lanes are active and have the address of lane n ^ distance."""
    return ((rows == rows[:, _LANE ^ distance]) & (rows >= 0)).all(axis=1)


def _wavefronts(rows: np.ndarray, width: int) -> Moved:
    words = _words(rows, width)
    shape = (len(rows), len(words) // len(rows))
    ordered = np.sort(np.where(words < 0, ABSENT, words % BANKS * _BANK_KEY + words // BANKS), axis=1)
    units = _fullest_bank(ordered // _BANK_KEY, _first_of_each(ordered)).reshape(shape).sum(axis=1)
    return Moved.of(units, (words >= 0).any(axis=1).reshape(shape).sum(axis=1))


def _words(rows: np.ndarray, width: int) -> np.ndarray:
    """The words that each group of lanes wants: always 32 places, ABSENT for none."""
    each = max(1, width // _BANK_BYTES)
    first = rows // _BANK_BYTES
    if each == 1:
        return first
    spread = np.where(first[..., None] < 0, ABSENT, first[..., None] + np.arange(each))
    return spread.reshape(-1, BANKS)


def _fullest_bank(bank: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """For each row, the most counted places of one bank."""
    row, place = np.nonzero(counted)
    return np.bincount(row * BANKS + bank[row, place], minlength=len(bank) * BANKS).reshape(-1, BANKS).max(axis=1)


def updated_wavefronts(rows: np.ndarray, width: int) -> Moved:
    """An atomic in shared memory: as :func:`wavefronts`, but each lane needs a turn of its own at its bank."""
    words = _words(rows, width)
    shape = (len(rows), len(words) // len(rows))
    units = _fullest_bank(words % BANKS, words >= 0).reshape(shape).sum(axis=1)
    served = (words >= 0).any(axis=1).reshape(shape).sum(axis=1)
    return Moved.of(units, served, most=_runs(np.sort(rows, axis=1)).max(axis=1))

"""Which elements went into a wrong sum: for an output of one number that should be the sum of one input vector.

Every sentence states an equality that was computed, in float64 and within the kata's bound; it claims no cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.grading.evidence import WARP, Evidence, Finding, Recogniser, counted, first_found, number, span

#: A candidate must differ from the right sum by this many bounds, or it would explain nothing.
CLEAR = 4.0

#: Single blocks are looked at among so many: among more, one's sum would match by chance.
MOST_BLOCKS = 64


@dataclass(frozen=True)
class _Sum:
    """The wrong sum and the vector it was to be of."""

    evidence: Evidence
    name: str
    data: np.ndarray

    @property
    def got(self) -> float:
        return float(self.evidence.got[0])

    @property
    def output(self) -> str:
        return f"{self.evidence.name}[0]"

    @cached_property
    def total(self) -> float:
        return float(self.data.sum())

    @cached_property
    def prefix(self) -> np.ndarray:
        """``prefix[i]`` is the sum of the first i elements."""
        return np.concatenate(([0.0], np.cumsum(self.data)))

    @property
    def length_name(self) -> str:
        """What the kata calls the vector's length; the number where it has no name for it."""
        return next((name for name, size in self.evidence.sizes.items() if size == self.data.size), str(self.data.size))

    def is_sum(self, value: float) -> bool:
        """Whether got is this value, and this value is clearly not the right one."""
        bound = float(self.evidence.bound[0])
        return abs(self.got - value) <= bound and abs(value - self.total) > CLEAR * bound


def _sum(evidence: Evidence) -> _Sum | None:
    """The evidence as a sum of an input: only where the expected value is one, and got is finite."""
    if evidence.got.size != 1 or len(evidence.inputs) != 1 or not np.isfinite(evidence.got[0]):
        return None
    (name, data), = evidence.inputs.items()
    with np.errstate(over="ignore", invalid="ignore"):
        found = _Sum(evidence, name, data.astype(np.float64).ravel())
        close = abs(found.total - float(evidence.expected[0])) <= float(evidence.bound[0])
    return found if close and data.size > 1 else None


def _tail(found: _Sum) -> Iterator[tuple[float, Finding]]:
    size, evidence = found.data.size, found.evidence
    for left in sorted({1, *(size % m for m in evidence.moduli if m < size)} - {0}):
        tails = (evidence.tail(found.length_name, size, left),)
        last = float(found.prefix[size] - found.prefix[size - left])
        what = f"the last {counted(left, 'element') if left > 1 else 'element'} of {found.name}"
        yield found.total - last, Finding("tail", f"{found.output} is the sum without {what}", tails)
        yield found.total + last, Finding("tail", f"{found.output} counts twice {what}", tails)


def _blocks(found: _Sum) -> Iterator[tuple[float, Finding]]:
    size, output = found.data.size, found.output
    for share in (share for share in found.evidence.shares if share < size):
        starts = np.arange(0, size, share)
        sums = found.prefix[np.minimum(starts + share, size)] - found.prefix[starts]
        first = f"{found.name}[{span(0, share - 1)}] alone, the first block's elements"
        yield float(sums[0]), Finding("first_block_only", f"{output} is the sum of {first}")
        values, times = np.unique(sums, return_counts=True)
        telling = set(values[times == 1].tolist())  # a sum that two blocks have in common tells nothing
        for block, value in enumerate(sums.tolist() if sums.size <= MOST_BLOCKS else ()):
            where = f"{found.name}[{span(block * share, min((block + 1) * share, size) - 1)}]"
            if value in telling:
                yield value, Finding("one_block_share", f"{output} is the sum of {where} alone, one block's elements")
                yield (
                    found.total - value,
                    Finding("one_block_share", f"{output} is the sum without {where}, one block's elements"),
                )


def _strides(found: _Sum) -> Iterator[tuple[float, Finding]]:
    """Sums of the elements at certain places of each vector, warp or block: one lane, one warp, one half."""
    size = found.data.size
    threads = {launch.threads for launch in found.evidence.launches}
    for period in (m for m in found.evidence.moduli if m < size):
        padded = np.concatenate((found.data, np.zeros(-size % period)))
        lanes = padded.reshape(-1, period).sum(axis=0)
        for count in sorted({1, WARP, period // 2, period - 1} & set(range(1, period))):
            places = f"elements {span(0, count - 1)}" if count > 1 else "element 0"
            who = _WHO.get((count, "block" if period in threads else period), "")
            where = f"{places} of every {period} of {found.name}{who}"
            yield float(lanes[:count].sum()), Finding("every_nth", f"{found.output} is the sum of {where}")


#: Who handles so many first elements of a block's share, or of so many elements.
_WHO: dict[tuple[int, int | str], str] = {
    (1, WARP): ", lane 0 of each warp's",
    (1, "block"): ", thread 0 of each block's",
    (WARP, "block"): ", the first warp of each block's",
}


def _first_warp(found: _Sum) -> Iterator[tuple[float, Finding]]:
    if found.data.size > WARP:
        where = f"{found.name}[0..{WARP - 1}] alone, the first warp's elements"
        yield float(found.prefix[WARP]), Finding("first_block_only", f"{found.output} is the sum of {where}")


def _subset(evidence: Evidence) -> Finding | None:
    """The sum of some elements only, or with some counted twice."""
    found = _sum(evidence)
    if not found:
        return None
    candidates = [pair for kind in (_tail, _first_warp, _blocks, _strides) for pair in kind(found)]
    if _by_chance(found, np.array([value for value, _ in candidates])):
        return None
    return next((finding for value, finding in candidates if found.is_sum(value)), None)


def _by_chance(found: _Sum, values: np.ndarray) -> bool:
    """Whether the candidates lie so close that any number would match one more often than one time in ten."""
    whole = bool((found.data == np.rint(found.data)).all())
    resolution = max(2 * float(found.evidence.bound[0]), float(whole))
    spread = float(np.ptp(values)) if values.size else 0.0
    return np.unique(values).size * resolution > 0.1 * spread


def _largest(evidence: Evidence) -> Finding | None:
    """One element of the input in place of the sum: the first, the last, the largest, the smallest."""
    found = _sum(evidence)
    if not found:
        return None
    data = found.data
    elements = {"first": data[0], "last": data[-1], "largest": data.max(), "smallest": data.min()}
    which = " and the ".join(word for word, value in elements.items() if found.is_sum(float(value)))
    if not which or _by_chance(found, np.array(list(elements.values()))):
        return None
    return Finding("copied_input", f"{found.output} is the {which} element of {found.name}, not the sum")


def _one_element(evidence: Evidence) -> Finding | None:
    """The sum short of exactly one element, or with one twice, where only one element has that value."""
    found = _sum(evidence)
    if not found or not found.is_sum(found.got):
        return None
    short = found.total - found.got
    for value, what in ((short, "is not in the sum"), (-short, "is in the sum twice")):
        places = np.flatnonzero(np.abs(found.data - value) <= float(evidence.bound[0]))
        if places.size == 1:
            where = f"{found.name}[{places[0]}] = {number(float(found.data[places[0]]))}"
            return Finding("scattered", f"{found.output} is off by exactly one element: {where} {what}")
    return None


_RECOGNISERS: tuple[Recogniser, ...] = (_largest, _subset, _one_element)


def wrong_sum(evidence: Evidence) -> Finding | None:
    """What a wrong sum is the sum of, if that can be told."""
    return first_found(_RECOGNISERS, evidence)

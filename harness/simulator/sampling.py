"""Which blocks of a grid are counted when there are too many to run them all, and for how many each of them stands.

Blocks at the edges of a grid often do less than others, or nothing. So a grid is parted, along each axis, into its
first row, its last and those between: up to 27 regions. Each region is sampled and weighed for itself.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

Dim = tuple[int, int, int]

_GOLDEN = 0.618

# Of a lattice of n points the second axis is walked in steps near n times the golden section, the third in others: its
# points fill the box evenly, and no two share a coordinate where an axis is long enough.
_SECTIONS = (_GOLDEN, 0.382)


@dataclass(frozen=True)
class Sample:
    """Numbers of blocks, ascending, and for each how many blocks of the grid it stands for. ``inner`` are those of the
    largest region."""

    numbers: tuple[int, ...]
    weights: tuple[float, ...]
    inner: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.numbers) != len(self.weights) or list(self.numbers) != sorted(set(self.numbers)):
            raise ValueError("a sample gives each of its blocks one weight")

    def weighs(self) -> dict[int, float]:
        """The weight of each block."""
        return dict(zip(self.numbers, self.weights, strict=True))


def of(numbers: tuple[int, ...]) -> Sample:
    """These blocks, each for itself."""
    return Sample(numbers, (1.0,) * len(numbers), numbers)


def spread(grid: Dim, most: int) -> Sample:
    """About ``most`` blocks of a grid: one at least of each region, the others from the largest, spread over it."""
    if math.prod(grid) <= most:
        return of(tuple(range(math.prod(grid))))
    regions = [region for region in itertools.product(*map(_parts, grid)) if math.prod(map(len, region))]
    sizes = [math.prod(map(len, region)) for region in regions]
    largest = sizes.index(max(sizes))
    weights: dict[int, float] = {}
    inner: list[int] = []
    for place, (region, size) in enumerate(zip(regions, sizes, strict=True)):
        points = _points(region, max(1, most - len(regions) + 1) if place == largest else 1)
        chosen = [x + grid[0] * (y + grid[1] * z) for x, y, z in points]
        weights |= dict.fromkeys(chosen, size / len(chosen))
        inner += chosen if place == largest else []
    numbers = tuple(sorted(weights))
    return Sample(numbers, tuple(weights[number] for number in numbers), tuple(inner))


def first(grid: Dim, most: int) -> Sample:
    """The first blocks, for kernels in which a block waits for those before it."""
    count = math.prod(grid)
    numbers = tuple(range(min(most, count)))
    return Sample(numbers, (count / len(numbers),) * len(numbers), numbers)


def in_a_row(grid: Dim, numbers: tuple[int, ...], inner: tuple[int, ...]) -> Sample:
    """Blocks of a grid with one axis, the first and the last among them: these stand for themselves, each other one for
    those nearest to it."""
    place = np.array(numbers)
    between = (place[1:-1] + place[2:]) / 2
    borders = np.concatenate(([-0.5, 0.5], between[:-1], [math.prod(grid) - 1.5, math.prod(grid) - 0.5]))
    return Sample(numbers, tuple(np.diff(borders).tolist()), inner)


def stand_ins(count: int, most: int) -> dict[int, range]:
    """Of so many things in a row, ``most`` (three at least) that are looked at, each with those that it stands for. The
    first and the last stand for themselves, the others for their neighbours. These lie in steps of uneven length, so
    that they don't fall in with things that take turns."""
    if count <= most:
        return {place: range(place, place + 1) for place in range(count)}
    between, parts = count - 2, most - 2
    borders = [1 + between * part // parts for part in range(parts + 1)]
    found = {0: range(1), count - 1: range(count - 1, count)}
    for turn, (start, end) in enumerate(itertools.pairwise(borders)):
        found[start + int((end - start) * ((turn + 0.5) * _GOLDEN % 1))] = range(start, end)
    return dict(sorted(found.items()))


def _parts(size: int) -> list[range]:
    """The first, the last and those between, of one axis."""
    return [part for part in (range(1), range(1, size - 1), range(max(1, size - 1), size)) if part]


def _points(region: tuple[range, ...], count: int) -> list[tuple[int, ...]]:
    """At most ``count`` different points of a region, spread over it."""
    count = min(count, math.prod(map(len, region)))
    steps = [1, *(_coprime(round(part * count), count) for part in _SECTIONS)]
    by_length = sorted(range(len(region)), key=lambda axis: -len(region[axis]))
    step = {axis: steps[place] for place, axis in enumerate(by_length)}
    found = {
        tuple(axis[(2 * (turn * step[n] % count) + 1) * len(axis) // (2 * count)] for n, axis in enumerate(region))
        for turn in range(count)
    }
    return sorted(found)


def _coprime(near: int, to: int) -> int:
    """A number at or above ``near`` that has no divisor in common with ``to``."""
    return next(number for number in itertools.count(max(near, 1)) if math.gcd(number, to) == 1)

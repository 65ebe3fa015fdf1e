"""Which blocks stand for a grid."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.simulator import sampling
from harness.simulator.sampling import Sample

SIZE = st.integers(1, 300)
GRIDS = st.one_of(
    st.tuples(st.integers(1, 2**31 - 1), st.just(1), st.just(1)),
    st.tuples(SIZE, SIZE, st.just(1)), st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40)),
)  # fmt: skip


@given(GRIDS, st.integers(1, 64))
def test_a_sample_stands_for_every_block_once(grid: tuple[int, int, int], most: int) -> None:
    sample = sampling.spread(grid, most)
    assert math.isclose(sum(sample.weights), math.prod(grid), rel_tol=1e-12)
    assert all(0 <= number < math.prod(grid) for number in sample.numbers)
    assert len(sample.numbers) <= max(most, 27) + 26
    assert set(sample.inner) <= set(sample.numbers)


@given(GRIDS, st.integers(1, 64))
def test_edges_stand_for_themselves(grid: tuple[int, int, int], most: int) -> None:
    weights = sampling.spread(grid, most).weighs()
    corners = itertools.product(*({0, size - 1} for size in grid))
    for x, y, z in corners:
        assert weights[x + grid[0] * (y + grid[1] * z)] == 1


@given(st.integers(1, 600), st.integers(3, 40))
def test_each_of_a_row_has_one_that_stands_for_it(count: int, most: int) -> None:
    found = sampling.stand_ins(count, most)
    assert [place for others in found.values() for place in others] == list(range(count))
    assert all(place in others for place, others in found.items())
    assert len(found) == min(count, most)
    assert len(found[0]) == len(found[count - 1]) == 1
    longest = max(map(len, found.values()))
    assert longest <= -(-count // max(1, min(count, most) - 2))


@pytest.mark.parametrize("period", [2, 3, 4, 5, 7, 8, 10, 16])
def test_a_sample_of_a_row_does_not_fall_in_with_turns(period: int) -> None:
    found = sampling.stand_ins(400, 24)
    weights = [sum(len(others) for place, others in found.items() if place % period == turn) for turn in range(period)]
    assert max(weights) <= 3 * 400 / period


@pytest.mark.parametrize("grid", [(5, 1, 1), (2, 2, 2), (1, 1, 1)])
def test_a_small_grid_is_its_own_sample(grid: tuple[int, int, int]) -> None:
    assert sampling.spread(grid, 8) == sampling.of(tuple(range(math.prod(grid))))


def test_inner_blocks_of_a_wide_grid_share_no_row_and_no_column() -> None:
    sample = sampling.spread((64, 64, 1), 24)
    rows, columns = ([place(number) for number in sample.inner] for place in (lambda n: n // 64, lambda n: n % 64))
    assert len(sample.inner) == 16 == len(set(rows)) == len(set(columns))


@given(st.sets(st.integers(1, 98), min_size=1, max_size=20))
def test_blocks_in_a_row_stand_for_those_nearest_but_the_ends_for_themselves(between: set[int]) -> None:
    numbers = (0, *sorted(between), 99)
    sample = sampling.in_a_row((100, 1, 1), numbers, numbers)
    nearest = dict.fromkeys(numbers, 0.0) | {0: 1.0, 99: 1.0}
    for block in range(1, 99):
        distance = min(abs(block - number) for number in between)
        closest = [number for number in between if abs(block - number) == distance]
        for number in closest:
            nearest[number] += 1 / len(closest)
    assert sample.weighs() == pytest.approx(nearest)


def test_a_sample_checks_itself() -> None:
    with pytest.raises(ValueError, match="one weight"):
        Sample((2, 1), (1.0, 1.0), ())

from __future__ import annotations

import numpy as np
import pytest

from harness.references.values import KINDS, fill
from tests.references.judging import half, tf32

SHAPES = [(1,), (2,), (257,), (1, 1), (3, 5), (65, 1)]


def draw(kind: str, shape: tuple[int, ...] = (4099,), seed: int = 0) -> np.ndarray:
    return fill(np.random.default_rng(seed), kind, shape)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_fills_every_shape_with_float32(kind: str, shape: tuple[int, ...]) -> None:
    values = draw(kind, shape)
    assert values.shape == shape
    assert values.dtype == np.float32
    assert not np.isnan(values).any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_the_values(kind: str) -> None:
    assert np.array_equal(draw(kind, seed=1), draw(kind, seed=1))
    assert any(not np.array_equal(draw(kind, seed=1), draw(kind, seed=seed)) for seed in range(2, 8))


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'sideways'.*random, integers"):
        draw("sideways")


@pytest.mark.parametrize(("kind", "most"), [("integers", 2**21), ("wide integers", 2**11), ("constant", 2**20)])
def test_sums_are_exact_up_to_the_length_stated(kind: str, most: int) -> None:
    values = draw(kind).astype(np.float64)
    unit = 1 / 8 if kind == "constant" else 1.0
    assert np.array_equal(values / unit, np.rint(values / unit))
    assert np.abs(values).max() * most <= 2.0**24 * unit
    assert (values != 0).all()


def test_no_narrower_float_holds_a_wide_integer() -> None:
    values = draw("wide integers")
    assert (half(values).astype(np.float32) != values).all()
    assert (tf32(values) != values).all()


def test_ordinary_values_take_more_than_eleven_bits() -> None:
    values = draw("random")
    assert (tf32(values) != values).mean() > 0.99


def test_a_mask_hides_the_start_of_each_row_but_never_all_of_it() -> None:
    for length in (1, 2, 3, 32, 5002):
        values = draw("masked", (4, length))
        hidden = 2 * length // 3
        assert np.isneginf(values[:, :hidden]).all()
        assert np.isfinite(values[:, hidden:]).all()
        assert hidden < length


def test_holes_leave_the_last_of_each_row() -> None:
    values = draw("holes", (50, 7))
    assert np.isfinite(values[:, -1]).all()
    assert 0.1 < np.isneginf(values).mean() < 0.5


def test_rising_rows_rise() -> None:
    assert (np.diff(draw("rising", (5, 100)), axis=-1) >= 0).all()


def test_denormals_are_below_the_smallest_normal_number() -> None:
    values = draw("denormal")
    assert (np.abs(values) < np.finfo(np.float32).tiny).all()
    assert (values != 0).all()


def test_deeply_negative_values_overflow_unless_their_own_maximum_is_subtracted() -> None:
    values = draw("deeply negative").astype(np.float64)
    assert values.max() < -800.0
    assert values.max() - values.min() > 100.0

"""Which elements are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.devices import Buffer, poison, still_poison
from harness.errors import CatalogueError
from harness.grading.correctness import Comparison, changed_elements, wrong_elements

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
vectors = hnp.arrays(np.float32, st.integers(1, 50), elements=finite)


@given(vectors, st.sampled_from([0.0, 1e-3, 1e30]))
def test_equal_arrays_never_mismatch(values: np.ndarray, bound: float) -> None:
    assert not wrong_elements(values, values.astype(np.float64), bound).any()


@given(vectors, st.data())
def test_a_single_element_outside_its_bound_is_always_caught(values: np.ndarray, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, values.size - 1))
    got = values.copy()
    got[index] = data.draw(finite.filter(lambda other: abs(float(other) - float(values[index])) > 0.5))
    assert np.flatnonzero(wrong_elements(got, values.astype(np.float64), 0.5)).tolist() == [index]


@given(vectors, st.data())
def test_nan_never_passes_however_wide_the_bound(values: np.ndarray, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, values.size - 1))
    got = values.copy()
    got[index] = np.nan
    assert wrong_elements(got, values.astype(np.float64), 1e300)[index]


@pytest.mark.parametrize(
    ("got", "expected", "wrong"),
    [
        (np.inf, np.inf, False),
        (-np.inf, -np.inf, False),
        (np.inf, -np.inf, True),
        (3e38, np.inf, True),
        (np.inf, 1.0, True),
        (-0.0, 0.0, False),
        (np.float32(1e-45), 0.0, True),
    ],
)
def test_infinities_and_zeros_are_compared_as_values(got: float, expected: float, wrong: bool) -> None:
    assert wrong_elements(np.float32([got]), np.array([expected]), 0.0).tolist() == [wrong]


@pytest.mark.parametrize(("expected", "bound"), [(np.nan, 0.0), (1.0, np.nan), (1.0, np.inf), (1.0, -1.0)])
def test_a_reference_that_could_pass_anything_is_refused(expected: float, bound: float) -> None:
    with pytest.raises(CatalogueError):
        wrong_elements(np.float32([1.0]), np.array([expected]), bound)


def test_a_reference_of_another_shape_is_refused() -> None:
    with pytest.raises(CatalogueError, match="shape"):
        Comparison("y", np.zeros(3, np.float32), np.zeros((3, 1)), 0.0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_poison_is_a_quiet_nan_that_no_computation_gives(dtype: type) -> None:
    filled = poison((3, 5), dtype)
    assert np.isnan(filled).all() and still_poison(filled).all()
    computed = np.array([np.nan, np.inf, 0, -np.nan], dtype)
    with np.errstate(invalid="ignore"):
        assert not still_poison(np.append(computed, computed - computed)).any()


def test_the_nan_that_nvidia_hardware_makes_is_not_the_poison() -> None:
    assert not still_poison(np.array([0x7FFFFFFF, 0x7FC00000, 0xFFC00000], np.uint32).view(np.float32)).any()


def test_a_buffer_called_unset_must_hold_the_poison() -> None:
    assert still_poison(Buffer.poisoned("y", (7,)).data).all()
    with pytest.raises(ValueError, match="poison"):
        Buffer("y", np.zeros(7, np.float32), unset=True)


def test_an_input_is_compared_bit_for_bit() -> None:
    before = np.float32([0.0, np.nan, 1.0])
    assert not changed_elements(before, before.copy()).any()
    assert changed_elements(before, np.float32([-0.0, np.nan, 1.0])).tolist() == [True, False, False]

"""Every pattern is recognised, near misses are not taken for it, and the sentences name real numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.devices import Launched, poison
from harness.grading.correctness import Comparison
from harness.grading.diagnosis import changed_input, diagnose
from harness.results import Mismatch

Change = Callable[[np.ndarray], object]


def launch(*block: int, blocks: int = 4) -> tuple[Launched, ...]:
    x, y, z = (*block, 1, 1)[:3]
    return (Launched((blocks, 1, 1), (x, y, z)),)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def judge(
    got: np.ndarray,
    expected: np.ndarray,
    *,
    second: np.ndarray | None = None,
    dims: tuple[str, ...] | None = None,
    inputs: Mapping[str, np.ndarray] | None = None,
    launches: tuple[Launched, ...] = launch(256),
    bound: float = 1e-6,
    initial: float | None = None,
) -> Mismatch:
    names = dims or (("n",) if got.ndim == 1 else ("rows", "cols"))
    calls = [
        Comparison("output", call.astype(np.float32), expected.astype(np.float64), bound, initial)
        for call in (got, got if second is None else second)
    ]
    found = diagnose("case", calls, dims=names, inputs=inputs or {}, launches=launches)
    assert found is not None
    return found


def vector(n: int) -> np.ndarray:
    return rng().uniform(1, 2, n).astype(np.float32)


def matrix(rows: int, cols: int) -> np.ndarray:
    return rng().uniform(1, 2, (rows, cols)).astype(np.float32)


def changed(values: np.ndarray, where: object, to: object = None) -> np.ndarray:
    """A copy with some elements changed: to the poison unless told."""
    copy = values.copy()
    copy[where] = poison((1,))[0] if to is None else to  # type: ignore[index]
    return copy


def test_a_right_answer_has_no_mismatch() -> None:
    right = vector(33)
    assert diagnose("case", [Comparison("y", right, right.astype(float), 0.0)] * 2, dims=("n",), inputs={}) is None


# Whole outputs


def test_an_output_nobody_wrote_is_never_written() -> None:
    found = judge(poison((33,)), vector(33))
    assert (found.pattern, found.got, found.wrong, found.size) == ("never_written", "(never written)", 33, 33)


def test_an_output_that_still_holds_what_the_kata_promised_is_never_written() -> None:
    found = judge(np.zeros(1), np.array([5.0]), dims=("1",), initial=0.0, inputs={"x": vector(33)})
    assert found.pattern == "never_written" and "as it did on entry" in found.sentence


def test_an_in_place_output_left_as_it_was_is_never_written() -> None:
    assert judge(vector(33), 2 * vector(33), inputs={"output": vector(33)}).pattern == "never_written"


def test_zeros_are_named() -> None:
    assert judge(np.zeros(33), vector(33)).pattern == "zeros"


def test_a_constant_is_named_with_its_value() -> None:
    found = judge(np.full(33, 2.5), vector(33))
    assert found.pattern == "constant" and "2.5" in found.sentence


def test_one_element_off_a_constant_is_not_a_constant() -> None:
    assert judge(changed(np.full(33, 2.5), 8, 9.0), vector(33)).pattern == "scattered"


def test_a_copied_input_is_named() -> None:
    found = judge(vector(33), 2 * vector(33) + 3, inputs={"a": 7 * vector(33), "b": vector(33)})
    assert found.pattern == "copied_input" and "copy of b" in found.sentence


def test_an_input_copied_but_for_one_element_is_not_a_copy() -> None:
    got = changed(vector(33), 3, 1.0)
    assert judge(got, np.sin(9 * vector(33)), inputs={"b": vector(33)}).pattern == "scattered"


@pytest.mark.parametrize("shape", [(33, 33), (5, 33)])
def test_exchanged_rows_and_columns_are_transposed(shape: tuple[int, int]) -> None:
    right = matrix(*shape)
    assert judge(right.T.copy().reshape(shape), right).pattern == "transposed"


@pytest.mark.parametrize(
    ("ratio", "text"), [(2.0, "2 times"), (1 / 33, "1/33"), (33.0, "33 (n) times"), (-1.0, "the negative of")]
)
def test_one_factor_everywhere_is_named(ratio: float, text: str) -> None:
    found = judge(vector(33) * ratio, vector(33))
    assert found.pattern == "factor" and text in found.sentence


@pytest.mark.parametrize("change", [lambda right: 0.25 * right, lambda right: right + 0.5, lambda right: 1 - right])
def test_no_rule_is_read_off_an_output_that_is_one_number_throughout(change: Change) -> None:
    right = np.full(33, 0.25)
    found = judge(np.asarray(change(right)), right)
    assert found.pattern == "constant" and "all are to be 0.25" in found.sentence


def test_one_number_is_one_minus_another_only_where_chance_would_not_do() -> None:
    assert judge(np.array([0.3]), np.array([0.7]), dims=("1",)).pattern == "complement"
    assert judge(np.array([-6.0]), np.array([7.0]), dims=("1",)).pattern == "scattered"


def test_a_rule_that_a_bound_could_hide_is_none() -> None:
    right = 0.5 + np.linspace(-1e-6, 1e-6, 33)
    assert judge(0.4 * right, right).pattern == "scattered"


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 300), st.integers(0, 2**32 - 1))
def test_one_minus_what_is_expected_is_named_unless_one_element_is_another(n: int, seed: int) -> None:
    right = np.append(np.random.default_rng(seed).uniform(0, 1, n), [0.1, 0.9])
    found = judge(1 - right, right)
    assert found.pattern == "complement" and "1 minus what is expected" in found.sentence
    assert judge(changed(1 - right, 0, right[0] + 2), right).pattern != "complement"


def test_a_factor_of_each_row_is_a_factor() -> None:
    found = judge(matrix(5, 40) * np.arange(2, 7)[:, None], matrix(5, 40))
    assert found.pattern == "factor" and "2 to 6 times" in found.sentence


def test_one_element_that_breaks_the_factor_makes_it_none() -> None:
    assert judge(changed(vector(33) * 2, 5, 7.0), vector(33)).pattern == "scattered"


def test_one_number_is_a_factor_only_where_the_factor_is_round() -> None:
    assert judge(np.array([10.0]), np.array([5.0]), dims=("1",)).pattern == "factor"
    assert judge(np.array([10.1]), np.array([5.0]), dims=("1",)).pattern == "scattered"


def test_one_difference_everywhere_is_an_offset() -> None:
    found = judge(vector(33) + 0.5, vector(33))
    assert found.pattern == "offset" and "0.5" in found.sentence


@pytest.mark.parametrize(("roll", "text"), [(-1, "[i + 1]"), (1, "[i - 1]"), (-32, "[i + 32]"), (256, "[i - 256]")])
def test_neighbours_values_are_shifted(roll: int, text: str) -> None:
    found = judge(np.roll(vector(1000), roll), vector(1000))
    assert found.pattern == "shifted" and text in found.sentence


def test_nan_everywhere_is_nan() -> None:
    found = judge(np.full(33, np.nan), vector(33))
    assert (found.pattern, found.got) == ("nan", "NaN")


def test_nan_beside_zeros_is_nan() -> None:
    assert judge(changed(np.full(33, np.nan), slice(5, 9), 0.0), vector(33)).pattern == "nan"


def test_nan_among_other_wrong_elements_is_still_said() -> None:
    got = changed(changed(vector(33), [1, 7, 8], 9.0), 20, np.nan)
    found = judge(got, vector(33))
    assert found.pattern == "nan" and "1 of 33" in found.sentence and "3 more" in found.sentence


# Places


@pytest.mark.parametrize(
    ("n", "modulus", "threads"), [(33, 32, ()), (1025, 4, (256,)), (1000, 256, (256,))]
)
def test_a_tail_left_unwritten_is_named_as_the_tail(n: int, modulus: int, threads: tuple[int, ...]) -> None:
    found = judge(changed(vector(n), slice(n - n % modulus, n)), vector(n))
    (tail,) = found.tails
    assert found.pattern == "tail" and f"last {n % modulus} of {n} elements" in found.sentence
    assert "never written" in found.sentence and found.index == (n - n % modulus,)
    assert (tail.name, tail.left, tail.threads) == ("n", n % modulus, threads) and modulus in tail.usual


def test_one_case_makes_no_claim_over_all_sizes() -> None:
    assert "%" not in judge(changed(vector(33), 32), vector(33)).sentence


def test_a_wrong_tail_is_a_tail_and_says_wrong() -> None:
    found = judge(changed(vector(33), 32, 9.0), vector(33))
    assert found.pattern == "tail" and "only the last 1 of 33 elements is wrong" in found.sentence


def test_a_tail_some_of_which_is_right_by_luck_is_a_tail() -> None:
    assert judge(changed(vector(63), [32, 33, 35, 40, *range(45, 60)], 9.0), vector(63)).pattern == "tail"


def test_an_unwritten_tail_is_named_though_the_rest_is_wrong_too() -> None:
    found = judge(changed(vector(33) * 1.1, 32), vector(33))
    assert found.pattern == "tail" and found.index == (32,) and "only" not in found.sentence
    assert found.sentence == "32 elements are wrong, and the last 1 of 33 elements is never written"


def test_all_but_the_first_block_unwritten_is_first_block_only() -> None:
    found = judge(changed(vector(1000), slice(256, None)), vector(1000))
    assert found.pattern == "first_block_only" and "first 256 of 1000" in found.sentence


def test_a_grid_of_one_block_explains_even_a_tail_of_one() -> None:
    got = changed(vector(257), slice(256, None))
    assert judge(got, vector(257), launches=launch(256, blocks=1)).pattern == "first_block_only"
    assert judge(got, vector(257), launches=launch(256, blocks=2)).pattern == "tail"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (np.s_[1::2], "element 1 of every 2"),
        (np.s_[0::3], "element 0 of every 3"),
        (np.arange(1000) % 4 != 0, "elements 1..3 of every 4"),
        (np.arange(1000) % 32 == 0, "element 0 of every 32"),
        (np.arange(1000) % 256 >= 128, "elements 128..255 of every 256"),
        (np.arange(1000) % 8 != 3, "all elements but number 3 of every 8"),
    ],
)
def test_elements_at_regular_places_are_every_nth(where: object, text: str) -> None:
    found = judge(changed(vector(1000), where), vector(1000))
    assert found.pattern == "every_nth" and text in found.sentence


def test_regular_places_with_one_missing_are_not_every_nth() -> None:
    mask = np.arange(1000) % 4 == 0
    mask[500] = False
    assert judge(changed(vector(1000), mask, 9.0), vector(1000)).pattern == "scattered"


def test_columns_at_regular_places_are_every_nth() -> None:
    found = judge(changed(matrix(7, 33), np.s_[:, 1::2]), matrix(7, 33))
    assert found.pattern == "every_nth" and "column 1 of every 2" in found.sentence


def test_one_blocks_share_is_named_with_the_block() -> None:
    found = judge(changed(vector(2000), slice(512, 768)), vector(2000))
    assert found.pattern == "one_block_share" and "512..767" in found.sentence and "block 2" in found.sentence


@pytest.mark.parametrize("start", [500, 513])
def test_a_run_that_is_no_blocks_share_is_scattered(start: int) -> None:
    assert judge(changed(vector(2000), slice(start, start + 256), 9.0), vector(2000)).pattern == "scattered"


def test_one_tile_of_a_matrix_is_one_blocks_share() -> None:
    found = judge(changed(matrix(100, 100), np.s_[32:64, 64:96]), matrix(100, 100), launches=launch(32, 8))
    assert found.pattern == "one_block_share" and "rows 32..63 of columns 64..95" in found.sentence


def test_whole_rows_are_rows() -> None:
    found = judge(changed(matrix(30, 7), [3, 17]), matrix(30, 7))
    assert found.pattern == "rows" and "3, 17" in found.sentence


def test_whole_columns_are_columns() -> None:
    found = judge(changed(matrix(7, 30), np.s_[:, [3, 17]]), matrix(7, 30))
    assert found.pattern == "columns" and "3, 17" in found.sentence


def test_rows_with_elements_right_by_luck_are_rows_but_half_rows_are_not() -> None:
    mostly = changed(changed(matrix(30, 9), [3, 17], 9.0), (3, 4), matrix(30, 9)[3, 4])
    assert judge(mostly, matrix(30, 9)).pattern == "rows"
    assert judge(changed(matrix(30, 9), np.s_[3, :3], 9.0), matrix(30, 9)).pattern == "scattered"


def test_ragged_edges_of_a_matrix_are_a_tail_with_both_reasons() -> None:
    right = matrix(33, 47)
    got = changed(changed(right, np.s_[32:]), np.s_[:, 32:])
    found = judge(got, right, launches=launch(16, 16, blocks=6))
    assert found.pattern == "tail" and "last 1 of 33 rows and the last 15 of 47 columns" in found.sentence
    assert [(tail.name, tail.left, 16 in tail.usual) for tail in found.tails] == [("rows", 1, True), ("cols", 15, True)]


def test_the_first_tile_of_a_matrix_is_first_block_only() -> None:
    got = changed(poison((100, 100)), np.s_[:16, :16], matrix(100, 100)[:16, :16])
    found = judge(got, matrix(100, 100), launches=launch(16, 16))
    assert found.pattern == "first_block_only" and "16 x 16" in found.sentence


@pytest.mark.parametrize("right_rows", [1, 8])
def test_the_first_rows_of_a_grid_of_one_block_are_first_block_only(right_rows: int) -> None:
    got = changed(matrix(9, 40), np.s_[right_rows:])
    assert judge(got, matrix(9, 40), launches=launch(256, blocks=1)).pattern == "first_block_only"
    assert judge(got, matrix(9, 40), launches=launch(96, blocks=3)).pattern != "first_block_only" or right_rows == 1


def test_no_pattern_is_said_to_be_none() -> None:
    found = judge(changed(vector(1000), [5, 77, 500], 9.0), vector(1000))
    assert found.pattern == "scattered" and "3 of 1000" in found.sentence


def test_small_errors_are_said_to_be_small() -> None:
    noise = 1 + rng().uniform(-1e-3, 1e-3, 1000)
    found = judge(vector(1000) * noise, vector(1000))
    assert found.pattern == "scattered" and "low precision" in found.sentence


# Sums


def total(values: np.ndarray, part: np.ndarray | float, *, launches: tuple[Launched, ...] = launch(256)) -> Mismatch:
    got = np.array([part.astype(np.float64).sum() if isinstance(part, np.ndarray) else part])
    expected = np.array([values.astype(np.float64).sum()])
    return judge(got, expected, dims=("1",), inputs={"x": values}, launches=launches, bound=1e-4 * values.size**0.5)


def heavy(n: int) -> np.ndarray:
    return rng().uniform(-100, 100, n).astype(np.float32)


@pytest.mark.parametrize(
    ("part", "pattern", "text"),
    [
        (lambda x: x[:256], "first_block_only", "x[0..255]"),
        (lambda x: x[:32], "first_block_only", "first warp"),
        (lambda x: x[512:768], "one_block_share", "x[512..767] alone"),
        (lambda x: np.delete(x, slice(256, 512)), "one_block_share", "without x[256..511]"),
        (lambda x: x[:1000], "tail", "without the last element of x"),
        (lambda x: x[:992], "tail", "without the last 9 elements of x"),
        (lambda x: np.append(x, x[-1]), "tail", "counts twice the last element"),
        (lambda x: x[::2], "every_nth", "element 0 of every 2"),
        (lambda x: x[::32], "every_nth", "element 0 of every 32"),
        (lambda x: x[np.arange(1001) % 256 < 32], "every_nth", "elements 0..31 of every 256"),
        (lambda x: x[:1], "copied_input", "the first element"),
        (lambda x: float(x.max()), "copied_input", "the largest element"),
        (lambda x: np.delete(x, 123), "scattered", "x[123]"),
        (lambda x: np.append(x, x[123]), "scattered", "twice"),
        (lambda x: 2 * x, "factor", "2 times"),
        (lambda x: x + np.float32(0.5), "scattered", "no simpler pattern"),
    ],
)
def test_a_wrong_sum_says_what_it_is_the_sum_of(
    part: Callable[[np.ndarray], np.ndarray], pattern: str, text: str
) -> None:
    found = total(heavy(1001), part(heavy(1001)))
    assert found.pattern == pattern and text in found.sentence


def test_a_number_that_should_be_no_sum_is_not_judged_as_one() -> None:
    values = heavy(1001)
    found = judge(np.array([values[:256].sum()]), values.max(keepdims=True), dims=("1",), inputs={"x": values})
    assert found.pattern == "scattered"


# Calls and inputs


def test_a_wrong_second_call_is_the_second_call() -> None:
    found = judge(vector(33), vector(33), second=2 * vector(33))
    assert found.pattern == "second_call" and "2 times" in found.sentence


def test_a_wrong_first_call_only_differs_between_runs() -> None:
    assert judge(2 * vector(33), vector(33), second=vector(33)).pattern == "differs_between_runs"


def test_two_calls_wrong_in_different_places_differ_between_runs() -> None:
    got, again = changed(vector(1000), [5, 77], 9.0), changed(vector(1000), [5, 78], 9.0)
    assert judge(got, vector(1000), second=again).pattern == "differs_between_runs"


def test_last_bits_that_differ_between_two_right_calls_are_no_mismatch() -> None:
    right = vector(33)
    calls = [Comparison("y", call, right.astype(float), 1e-6) for call in (right, np.nextafter(right, np.float32(9)))]
    assert diagnose("case", calls, dims=("n",), inputs={}) is None


def test_a_changed_input_is_named_with_its_first_element() -> None:
    found = changed_input("case", "a", vector(33), changed(vector(33), [4, 9], 0.0))
    assert found and (found.pattern, found.index, found.got) == ("input_changed", (4,), "0")
    assert "2 elements of 33" in found.sentence
    assert changed_input("case", "a", vector(33), vector(33)) is None


# Properties and numbers


def test_numbers_that_look_alike_are_shown_with_the_digits_that_differ() -> None:
    found = judge(np.array([1.0000001] * 2), np.array([1.0] * 2), bound=0.0)
    assert found.got != found.expected and found.allowed == "exact"


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 70), st.integers(1, 5), st.data())
def test_any_single_wrong_element_is_found_where_it_is(cols: int, rows: int, data: st.DataObject) -> None:
    row, col = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
    found = judge(changed(matrix(rows, cols), (row, col), data.draw(st.sampled_from([None, 9.0, np.nan, 0.0, np.inf]))),
                  matrix(rows, cols))
    assert found.index == (row, col) and (found.wrong, found.size) == (1, rows * cols)
    assert found.sentence


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 400), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_any_mask_gets_a_sentence_and_every_wrong_element_is_counted(n: int, seed: int, share: float) -> None:
    mask = np.random.default_rng(seed).random(n) < share
    if mask.any():
        found = judge(changed(vector(n), mask), vector(n))
        assert found.wrong == mask.sum() and found.index == (int(mask.argmax()),)
        assert found.sentence and "  " not in found.sentence

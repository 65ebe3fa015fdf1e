"""What a tail says of all sizes is said where every case agrees, and only there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.devices import Launched, poison
from harness.grading.agreement import agreed
from harness.grading.correctness import Comparison
from harness.grading.diagnosis import diagnose
from harness.references import Case
from harness.results import CaseResult, Outcome

SIZES = (1, 2, 3, 31, 32, 33, 256, 257, 1000, 1023, 1024, 1025)

#: How many elements at the end a kernel leaves out, at each n.
Left = Callable[[int], int]


def case(n: int, values: str = "random") -> Case:
    return Case("small", values, (("n", n),))


def result(one: Case, left: int, threads: int = 256, *, twice: bool = False) -> CaseResult:
    """A kernel of y = x that writes all but the last ``left``, and with ``twice`` doubles what is at even places."""
    right = np.random.default_rng(one["n"]).uniform(1, 2, one["n"]).astype(np.float32)
    got = np.where(np.arange(one["n"]) < one["n"] - left, right, poison((one["n"],)))
    got[: one["n"] // 2] *= 1 + np.arange(one["n"] // 2) % 3 * twice
    compared = Comparison("y", got.astype(np.float32), right.astype(np.float64), 1e-6)
    launches = (Launched((4, 1, 1), (threads, 1, 1)),)
    found = diagnose(one.label, [compared], dims=("n",), inputs={}, launches=launches, sizes={"n": one["n"]})
    return CaseResult(one.label, one.group, Outcome.WRONG if found else Outcome.RIGHT, 0.1, found)


def told(left: Left, sizes: tuple[int, ...] = SIZES) -> Mapping[int, str]:
    """What is said of each n that has a wrong tail."""
    cases = tuple(case(n) for n in sizes)
    judged = agreed((result(one, min(left(one["n"]), one["n"])) for one in cases), cases)
    return {
        one["n"]: found.mismatch.sentence
        for one, found in zip(cases, judged, strict=True) if found.mismatch and found.mismatch.tails
    }  # fmt: skip


def test_a_remainder_that_every_size_agrees_with_is_told() -> None:
    said = told(lambda n: n % 4)
    assert said[33] == "only the last 1 of 33 elements is never written: n % 4 = 1"
    assert said[1023].endswith("are never written: n % 4 = 3")


def test_a_blocks_threads_are_told_with_their_remainder() -> None:
    said = told(lambda n: n % 256)
    assert said[1000].endswith("232 of 1000 elements are never written: n % 256 = 232 (a block has 256 threads)")


def test_the_last_element_of_even_and_of_odd_sizes_is_no_remainder() -> None:
    said = told(lambda n: 1)
    assert set(said) == set(SIZES) - {1}
    assert not any("%" in sentence for sentence in said.values())
    assert said[3].startswith("only the last 1 of 3 elements is never written, whatever n is: look at where the loop")


def test_as_many_left_out_at_some_sizes_but_right_at_others_is_not_whatever_n_is() -> None:
    said = told(lambda n: n % 3 == 0 or n == 1000)
    assert said and not any("whatever" in sentence for sentence in said.values())


def test_values_that_hide_an_element_do_not_speak_against_whatever_n_is() -> None:
    cases = (*(case(n) for n in (2, 3, 4, 5)), case(32, "constant"))
    judged = agreed((*(result(one, 1) for one in cases[:4]), result(cases[4], 0)), cases)
    assert judged[0].mismatch and "whatever n is" in judged[0].mismatch.sentence


def test_one_size_alone_shows_no_remainder() -> None:
    assert "%" not in told(lambda n: n % 4, (1, 2, 33, 256))[33]


def test_a_whole_size_that_is_wrong_in_no_pattern_speaks_against_the_remainder() -> None:
    cases = tuple(case(n) for n in (31, 33, 255, 256))
    tails = [result(one, one["n"] % 4) for one in cases[:3]]
    assert "n % 4" in sentence(agreed([*tails, result(cases[3], 0)], cases)[0])
    assert "%" not in sentence(agreed([*tails, result(cases[3], 0, twice=True)], cases)[0])


def test_cases_that_did_not_run_are_not_asked() -> None:
    cases = tuple(case(n) for n in SIZES)
    assert len(agreed([result(cases[0], 0)], cases)) == 1


def test_a_matrix_has_a_remainder_of_each_side_and_one_of_both() -> None:
    shapes = ((33, 47), (49, 65), (39, 41), (32, 49))
    cases = tuple(Case("small", "random", (("rows", rows), ("cols", cols))) for rows, cols in shapes)
    judged = agreed(map(ragged, cases), cases)
    assert sentence(judged[0]).endswith("are never written: rows % 16 = 1 (a block has 16 threads), "
                                        "cols % 16 = 15 (a block has 16 threads)")  # fmt: skip
    assert sentence(judged[3]).endswith("is never written: cols % 16 = 1 (a block has 16 threads)")


def ragged(one: Case) -> CaseResult:
    """A kernel that writes whole tiles of 16 x 16 alone."""
    rows, cols = one["rows"], one["cols"]
    right = np.random.default_rng(rows).uniform(1, 2, (rows, cols)).astype(np.float32)
    got = poison((rows, cols))
    got[: rows // 16 * 16, : cols // 16 * 16] = right[: rows // 16 * 16, : cols // 16 * 16]
    launches = (Launched((4, 4, 1), (16, 1, 1)),)
    compared = Comparison("y", got, right.astype(np.float64), 1e-6)
    found = diagnose(one.label, [compared], dims=("rows", "cols"), inputs={}, launches=launches)
    return CaseResult(one.label, one.group, Outcome.WRONG, 0.1, found)


def sentence(one: CaseResult) -> str:
    assert one.mismatch
    return one.mismatch.sentence


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=12, unique=True), st.data())
def test_a_remainder_that_is_told_is_none_of_a_whole_size_that_is_wrong_at_its_end(
    sizes: list[int], data: st.DataObject
) -> None:
    left = {n: data.draw(st.sampled_from([0, 1, n % 4, n % 32])) for n in sizes}
    said = told(left.__getitem__, tuple(sizes))
    for words in said.values():
        for divisor in (4, 8, 16, 32):
            if f"n % {divisor} =" in words:
                assert all(n % divisor for n in said)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_has_no_tail_stays_as_it_is(outcome: Outcome) -> None:
    one = dataclasses.replace(result(case(33), 0), outcome=outcome)
    assert agreed([one], (case(33),)) == (one,)

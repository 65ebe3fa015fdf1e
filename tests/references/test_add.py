from __future__ import annotations

import numpy as np
import pytest

from harness.references.add import CASES
from tests.references.judging import admitted, half, lazy, questions, tf32


def test_one_float32_addition_is_admitted_everywhere() -> None:
    right = admitted("add", lambda question: question.arguments["a"] + question.arguments["b"])
    assert right == [case.label for case in CASES]


@pytest.mark.parametrize("seed", range(2))
def test_what_a_lazy_kernel_leaves_is_rejected_wherever_it_differs(seed: int) -> None:
    for question in questions("add", seed):
        for name, answer in lazy(question, question.arguments["a"]).items():
            differs = not np.array_equal(answer, question.truth)
            assert question.admits(answer) != differs, (question.case.label, name)


@pytest.mark.parametrize("coarse", [half, tf32])
def test_coarser_arithmetic_is_rejected_in_every_case_of_ordinary_values(coarse) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        passing = admitted("add", lambda question: coarse(
            coarse(question.arguments["a"]).astype(np.float32) + coarse(question.arguments["b"]).astype(np.float32)))
    assert set(passing) <= {f"n = {case['n']} ({case.values})" for case in CASES if case.values in EXACT_IN_ELEVEN_BITS}


#: Sums of small integers and of eighths are exact in any format.
EXACT_IN_ELEVEN_BITS = {"integers", "marker", "constant"}


def test_a_sum_off_by_one_bit_is_rejected() -> None:
    def off_by_one_bit(question):
        right = question.arguments["a"] + question.arguments["b"]
        right[-1] = np.nextafter(right[-1], np.float32(np.inf))
        return right

    assert admitted("add", off_by_one_bit) == []


def test_denormals_flushed_to_zero_are_rejected() -> None:
    def flushed(question):
        right = question.arguments["a"] + question.arguments["b"]
        return np.where(np.abs(right) < np.finfo(np.float32).tiny, 0, right)

    assert "n = 1003 (denormal)" not in admitted("add", flushed)


def test_the_sum_in_place_of_the_difference_matters() -> None:
    assert admitted("add", lambda question: question.arguments["a"] - question.arguments["b"]) == []

from __future__ import annotations

import numpy as np
import pytest

from harness.references.sigmoid import CASES
from tests.references.judging import admitted, half, lazy, questions, tf32

ONE = np.float32(1)
ALL = [case.label for case in CASES]


def plain(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return ONE / (ONE + np.exp(-x))


def fast(x: np.ndarray) -> np.ndarray:
    """``__expf`` and ``__fdividef``: the exponent rounded to float32 before 2^x, a rounded reciprocal."""
    with np.errstate(over="ignore"):
        e = np.exp2((-x * np.float32(1.44269504)).astype(np.float32)).astype(np.float32)
        sum_ = ONE + e
    return np.where(sum_ > 2.0**126, np.float32(0), ONE * (ONE / sum_))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", [plain, fast])
def test_the_ladders_arithmetic_is_admitted_everywhere(kernel, seed: int) -> None:
    assert admitted("sigmoid", lambda question: kernel(question.arguments["x"]), seed) == ALL


@pytest.mark.parametrize("seed", range(2))
def test_what_a_lazy_kernel_leaves_is_rejected_wherever_it_differs(seed: int) -> None:
    for question in questions("sigmoid", seed):
        for name, answer in lazy(question, question.arguments["x"]).items():
            if question.is_told_from(answer):
                assert not question.admits(answer), (question.case.label, name)


def test_half_precision_is_rejected_in_every_case_of_ordinary_values() -> None:
    def in_half(question):
        with np.errstate(over="ignore"):
            return np.float16(1) / (np.float16(1) + np.exp(-half(question.arguments["x"])))

    assert not {label for label in admitted("sigmoid", in_half) if "(" not in label}


def test_tf32_inputs_are_rejected_in_every_case_of_more_than_a_few_ordinary_values() -> None:
    passing = admitted("sigmoid", lambda question: plain(tf32(question.arguments["x"])))
    assert not {label for label in passing if "(" not in label and int(label.split()[2]) > 3}


def test_the_form_that_overflows_is_rejected_where_values_are_large() -> None:
    def overflowing(question):
        with np.errstate(over="ignore", invalid="ignore"):
            e = np.exp(question.arguments["x"])
            return e / (ONE + e)

    assert set(ALL) - set(admitted("sigmoid", overflowing)) == {"n = 1001 (large)", "n = 1003 (apart)"}


def test_no_value_is_beyond_what_the_question_promises() -> None:
    assert all(np.abs(question.arguments["x"]).max() <= 1e4 for question in questions("sigmoid"))

from __future__ import annotations

import numpy as np
import pytest

from harness.references.relu import CASES
from tests.references.judging import admitted, half, lazy, questions, tf32


def test_fmaxf_is_admitted_everywhere() -> None:
    right = admitted("relu", lambda question: np.maximum(question.arguments["x"], np.float32(0)))
    assert right == [case.label for case in CASES]


@pytest.mark.parametrize("seed", range(2))
def test_what_a_lazy_kernel_leaves_is_rejected_wherever_it_differs(seed: int) -> None:
    for question in questions("relu", seed):
        for name, answer in lazy(question, question.arguments["x"]).items():
            differs = not np.array_equal(answer, question.truth)
            assert question.admits(answer) != differs, (question.case.label, name)


@pytest.mark.parametrize("coarse", [half, tf32])
def test_rounded_values_are_rejected_wherever_one_is_positive_and_does_not_fit(coarse) -> None:
    for question in questions("relu"):
        answer = np.maximum(coarse(question.arguments["x"]).astype(np.float32), 0)
        assert question.admits(answer) == np.array_equal(answer, question.truth), question.case.label
        if question.case["n"] > 3 and question.case.values == "random":
            assert not question.admits(answer)


def test_a_product_with_the_comparison_fails_on_minus_infinity_only() -> None:
    def product(question):
        x = question.arguments["x"]
        with np.errstate(invalid="ignore"):
            return x * (x > 0)

    assert {case.label for case in CASES} - set(admitted("relu", product)) == {"n = 1026 (holes)"}


def test_the_identity_and_the_absolute_value_are_rejected() -> None:
    for wrong in (np.positive, np.abs):
        passing = admitted("relu", lambda question, wrong=wrong: wrong(question.arguments["x"]))
        assert all(int(label.split()[2]) <= 3 or "constant" in label for label in passing), passing

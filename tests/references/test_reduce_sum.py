from __future__ import annotations

import numpy as np
import pytest

from harness import catalogue
from harness.grading.ladder import unseen
from harness.references import Case, reduce_sum, timed_values
from harness.references.reduce_sum import CASES
from tests.references.judging import admitted, half, questions, tf32

ALL = [case.label for case in CASES]
EXACT = [case.label for case in CASES if case.values in {"integers", "wide integers", "constant", "marker"}]


def serial(x: np.ndarray) -> np.ndarray:
    return np.cumsum(x, dtype=np.float32)[-1:]


def pairwise(x: np.ndarray) -> np.ndarray:
    return x.sum(dtype=np.float32, keepdims=True)


def shuffled(x: np.ndarray) -> np.ndarray:
    """Atomics: one element after another, in any order."""
    return serial(np.random.default_rng(1).permutation(x))


def blocks(x: np.ndarray) -> np.ndarray:
    """Each of 64 threads takes every 64th element, then a tree."""
    rows = np.concatenate([x, np.zeros(-len(x) % 64, np.float32)]).reshape(-1, 64)
    return pairwise(np.cumsum(rows, axis=0, dtype=np.float32)[-1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", [serial, pairwise, shuffled, blocks])
def test_float32_in_any_order_is_admitted_everywhere(kernel, seed: int) -> None:
    assert admitted("reduce_sum", lambda question: kernel(question.arguments["input"]), seed) == ALL


def test_the_cases_meant_to_be_exact_have_no_slack_and_the_others_have_some() -> None:
    assert [question.case.label for question in questions("reduce_sum") if not question.bound.any()] == EXACT


@pytest.mark.parametrize("seed", range(3))
def test_one_element_dropped_shows_wherever_the_answer_is_exact(seed: int) -> None:
    for question in questions("reduce_sum", seed):
        x = question.arguments["input"]
        for at in (0, len(x) // 2, len(x) - 1):
            if question.case.label in EXACT and x[at] != 0:
                assert not question.admits(pairwise(np.delete(x, at))), question.case.label


@pytest.mark.parametrize("seed", range(3))
def test_zeros_constants_and_copies_are_rejected_wherever_they_differ(seed: int) -> None:
    for question in questions("reduce_sum", seed):
        x = question.arguments["input"].astype(np.float64)
        for answer in (np.zeros(1), np.ones(1), np.full(1, x.mean()), x[:1], x[-1:], np.full(1, np.nan)):
            if not np.abs(answer - question.truth) <= 0.03 * np.abs(x).sum() / np.sqrt(x.size):
                assert not question.admits(answer) or question.case.label == "n = 1000003", question.case.label


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", [4, 32, 256, 1024])
def test_a_skipped_tail_is_rejected_in_every_exact_case_where_it_is_not_zero(seed: int, unit: int) -> None:
    for question in questions("reduce_sum", seed):
        x = question.arguments["input"]
        kept = len(x) // unit * unit
        if question.case.label in EXACT and x[kept:].sum(dtype=np.float64) != 0:
            assert not question.admits(x[:kept].sum(dtype=np.float64, keepdims=True)), question.case.label


def test_a_sum_kept_in_half_precision_is_rejected_wherever_bits_are_lost() -> None:
    def in_half(question):
        with np.errstate(over="ignore", invalid="ignore"):
            return half(question.arguments["input"]).cumsum(dtype=np.float16)[-1:]

    small_numbers = {"n = 1021 (integers)", "n = 10007 (integers)", "n = 513 (constant)", "n = 259 (marker)"}
    million_roundings = {"n = 1000003"}  # the bound is wide here; the integers of the same length are exact
    assert set(admitted("reduce_sum", in_half)) <= small_numbers | million_roundings


def test_tf32_inputs_are_rejected_for_wide_integers_and_for_a_few_ordinary_values() -> None:
    def in_tf32(question):
        return tf32(question.arguments["input"]).sum(dtype=np.float64, keepdims=True)

    passing = admitted("reduce_sum", in_tf32)
    assert not [label for label in passing if "wide" in label]
    assert not [label for label in passing if "(" not in label and int(label.split()[2]) <= 33]


def test_where_it_is_timed_one_element_left_out_shows() -> None:
    n = dict(catalogue.load("reduce_sum").speed[0])["n"]
    values = reduce_sum.inputs(np.random.default_rng(1), Case("speed", timed_values(reduce_sum), (("n", n),)))
    assert 0.2 < np.count_nonzero(values["input"]) / n < 0.3
    for arguments in (values, unseen(values)):
        assert reduce_sum.error_bound(arguments, {}) == {"output": np.zeros(1)}

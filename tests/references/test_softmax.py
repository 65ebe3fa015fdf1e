from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from harness.references.softmax import CASES
from tests.references.judging import Question, admitted, half, lazy, questions, tf32

ALL = [case.label for case in CASES]
Kernel = Callable[[np.ndarray], np.ndarray]


def three_passes(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / np.cumsum(e, dtype=np.float32)[-1]


def online(x: np.ndarray) -> np.ndarray:
    """Each of 64 threads merges its elements one by one into a pair, then a tree."""
    rows = np.concatenate([x, np.full(-len(x) % 64, -np.inf, np.float32)]).reshape(-1, 64)
    largest, total = np.full(64, -np.inf, np.float32), np.zeros(64, np.float32)
    for row in rows:
        largest, total = merged(largest, total, row, np.float32(1))
    while len(largest) > 1:
        half_way = len(largest) // 2
        largest, total = merged(largest[:half_way], total[:half_way], largest[half_way:], total[half_way:])
    return np.exp(x - largest) * (np.float32(1) / total)


def merged(m1: np.ndarray, d1: np.ndarray, m2: np.ndarray, d2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m = np.maximum(m1, m2)
    safe = np.where(np.isneginf(m), np.float32(0), m)
    return m, d1 * np.exp(m1 - safe) + d2 * np.exp(m2 - safe)


def asked(kernel: Kernel) -> Callable[[Question], np.ndarray]:
    def answer(question: Question) -> np.ndarray:
        with np.errstate(all="ignore"):
            return kernel(question.arguments["input"])

    return answer


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", [three_passes, online])
def test_the_ladders_arithmetic_is_admitted_everywhere(kernel: Kernel, seed: int) -> None:
    assert admitted("softmax", asked(kernel), seed) == ALL


def test_probabilities_add_up_to_one() -> None:
    for question in questions("softmax"):
        assert question.truth.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.isfinite(question.truth).all()


@pytest.mark.parametrize("seed", range(2))
def test_what_a_lazy_kernel_leaves_is_rejected_wherever_it_differs(seed: int) -> None:
    for question in questions("softmax", seed):
        for name, answer in lazy(question, question.arguments["input"]).items():
            if question.is_told_from(answer):
                assert not question.admits(answer), (question.case.label, name)


@pytest.mark.parametrize("coarse", [half, tf32])
def test_coarser_inputs_are_rejected_in_every_case_of_ordinary_values_but_one_element(coarse) -> None:
    passing = admitted("softmax", asked(lambda x: three_passes(coarse(x).astype(np.float32))))
    assert {label for label in passing if "(" not in label} == {"n = 1"}


def test_exponentials_in_half_precision_are_rejected_in_every_case_of_ordinary_values_but_one_element() -> None:
    def in_half(x: np.ndarray) -> np.ndarray:
        e = half(np.exp(half(x - x.max()))).astype(np.float32)
        return e / e.sum(dtype=np.float32)

    assert {label for label in admitted("softmax", asked(in_half)) if "(" not in label} == {"n = 1"}


@pytest.mark.parametrize("start", [0.0, np.finfo(np.float32).tiny])
def test_a_maximum_that_starts_too_high_is_rejected_for_deeply_negative_values(start: float) -> None:
    def too_high(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - max(np.float32(start), x.max()))
        return e / e.sum(dtype=np.float32)

    assert "n = 515 (deeply negative)" not in admitted("softmax", asked(too_high))


def test_a_maximum_of_the_bits_as_integers_is_rejected_for_deeply_negative_values() -> None:
    def by_bits(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - x[x.view(np.int32).argmax()])
        return e / e.sum(dtype=np.float32)

    assert "n = 515 (deeply negative)" not in admitted("softmax", asked(by_bits))


def test_no_maximum_at_all_is_rejected_where_the_exponential_overflows_or_vanishes() -> None:
    def bare(x: np.ndarray) -> np.ndarray:
        e = np.exp(x)
        return e / e.sum(dtype=np.float32)

    failing = set(ALL) - set(admitted("softmax", asked(bare)))
    assert failing >= {"n = 515 (deeply negative)", "n = 1003 (apart)", "n = 1025 (far apart)"}


def test_unguarded_merges_are_rejected_for_a_masked_prefix() -> None:
    def unguarded(x: np.ndarray) -> np.ndarray:
        largest, total = np.float32(-np.inf), np.float32(0)
        for value in x[:4000]:
            m = np.maximum(largest, value)
            largest, total = m, total * np.exp(largest - m) + np.exp(value - m)
        return np.exp(x - largest) / total

    masked = next(question for question in questions("softmax") if question.case.values == "masked")
    assert not masked.admits(asked(unguarded)(masked))


def test_one_term_missing_from_the_sum_is_rejected_where_terms_are_alike() -> None:
    def short(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - x.max())
        return e / e[:-1].sum(dtype=np.float32)

    assert not {"n = 31", "n = 257", "n = 1025", "n = 1000 (constant)"} & set(admitted("softmax", asked(short)))

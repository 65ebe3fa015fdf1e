"""The references of the katas on matrices admit right float32 arithmetic and refuse everything less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import catalogue
from harness.references import Case, load

KATAS = ("softmax_matrix", "transpose", "sgemv", "sgemm_naive", "sgemm_tile")
CASES = [pytest.param(kata, case, id=f"{kata}: {case.label}") for kata in KATAS for case in load(kata).CASES]

Rounding = Callable[[np.ndarray], np.ndarray]


def exactly(values: np.ndarray) -> np.ndarray:
    return values


def half(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float32)


def tf32(values: np.ndarray) -> np.ndarray:
    """Ten bits of mantissa, the rest cut off."""
    return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def softmax(arguments: dict[str, Any], rounding: Rounding) -> np.ndarray:
    x = rounding(arguments["input"])
    e = rounding(np.exp(x - x.max(axis=1, keepdims=True)))
    return rounding(e / rounding(np.cumsum(e, axis=1, dtype=np.float32)[:, -1:]))


def transpose(arguments: dict[str, Any], rounding: Rounding) -> np.ndarray:
    return rounding(np.ascontiguousarray(arguments["input"].T))


def product(arguments: dict[str, Any], rounding: Rounding) -> np.ndarray:
    """Added up from k = 0 on, one float32 rounding a step: the order with the largest error."""
    a, b = rounding(arguments["A"]), rounding(arguments["x"][:, None] if "x" in arguments else arguments["B"])
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[k]
    return total[:, 0] if "x" in arguments else total


MODELS = {
    "softmax_matrix": softmax, "transpose": transpose, "sgemv": product, "sgemm_naive": product, "sgemm_tile": product,
}


class Graded:
    """One case with the right answer, its bound, and what a float32 kernel makes of it."""

    def __init__(self, kata: str, case: Case) -> None:
        reference = load(kata)
        self.model = MODELS[kata]
        self.arguments = reference.inputs(np.random.default_rng(20), case)
        [self.expected] = reference.expected(self.arguments).values()
        [bound] = reference.error_bound(self.arguments, {self._name(kata): self.expected}).values()
        self.bound = np.broadcast_to(bound, self.expected.shape)
        with np.errstate(invalid="ignore"):
            self.right = self.model(self.arguments, exactly)

    @staticmethod
    def _name(kata: str) -> str:
        return next(parameter.name for parameter in catalogue.load(kata).parameters if parameter.role == "out")

    def admits(self, answer: np.ndarray) -> bool:
        with np.errstate(invalid="ignore"):
            near = np.abs(answer.astype(np.float64) - self.expected) <= self.bound
        return bool((near | (answer == self.expected)).all())

    def refuses(self, answer: np.ndarray) -> bool:
        """Whether a wrong answer is refused; one that happens to be the right one need not be."""
        return not self.admits(answer) or bool((answer == self.right).all())


@pytest.fixture
def graded(kata: str, case: Case) -> Graded:
    return Graded(kata, case)


@pytest.mark.parametrize(("kata", "case"), CASES)
class TestEveryCase:
    def test_float32_arithmetic_is_admitted(self, graded: Graded) -> None:
        assert graded.admits(graded.right)

    def test_zeros_and_constants_are_refused(self, graded: Graded) -> None:
        alike = bool((np.ptp(graded.expected) <= graded.bound).all())  # every element is the same: a constant is right
        for value in (0.0, 1.0, *(() if alike else (float(graded.right.mean()), float(graded.right.flat[0])))):
            assert graded.refuses(np.full(graded.right.shape, value, np.float32))

    def test_each_input_copied_is_refused(self, graded: Graded) -> None:
        for values in graded.arguments.values():
            if isinstance(values, np.ndarray):
                assert graded.refuses(np.resize(values, graded.right.shape))

    def test_half_precision_is_refused(self, graded: Graded) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            assert graded.refuses(graded.model(graded.arguments, half))

    def test_tf32_is_refused(self, graded: Graded, kata: str) -> None:
        if kata != "softmax_matrix":  # no Tensor Core computes an exponential
            assert graded.refuses(graded.model(graded.arguments, tf32))

    def test_a_tail_left_as_it_was_is_refused(self, graded: Graded) -> None:
        answer = graded.right.copy()
        answer.flat[-1] = np.nan
        assert not graded.admits(answer)

    def test_the_last_column_of_an_input_is_not_forgotten(self, graded: Graded, kata: str) -> None:
        if kata == "transpose":
            return
        name = "input" if kata == "softmax_matrix" else "A"
        values = graded.arguments[name].copy()
        values[:, -1] = -np.inf if kata == "softmax_matrix" and values.shape[1] > 1 else 0.0
        with np.errstate(invalid="ignore"):
            assert graded.refuses(graded.model({**graded.arguments, name: values}, exactly))

    def test_the_shape_is_what_kata_toml_says(self, graded: Graded, kata: str) -> None:
        shapes = {parameter.name: parameter.shape for parameter in catalogue.load(kata).parameters if parameter.shape}
        for name, shape in shapes.items():
            sizes = tuple(length if isinstance(length, int) else graded.arguments[length] for length in shape)
            array = graded.arguments.get(name, graded.expected)
            assert array.shape == sizes
            assert array.dtype == (np.float32 if name in graded.arguments else np.float64)


@pytest.mark.parametrize("kata", KATAS)
def test_there_are_fourteen_to_thirty_cases_and_no_two_alike(kata: str) -> None:
    labels = [case.label for case in load(kata).CASES]
    assert 14 <= len(labels) <= 30
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("kata", KATAS)
def test_the_seed_decides_the_inputs(kata: str) -> None:
    reference = load(kata)
    case = reference.CASES[3]
    first, again, other = (reference.inputs(np.random.default_rng(seed), case) for seed in (1, 1, 2))
    name = next(iter(first))
    assert np.array_equal(first[name], again[name])
    assert not np.array_equal(first[name], other[name])


@pytest.mark.parametrize("kata", ["sgemv", "sgemm_naive", "sgemm_tile"])
def test_whole_numbers_must_come_out_exactly(kata: str) -> None:
    for case in load(kata).CASES:
        if "integers" in case.values:
            assert not Graded(kata, case).bound.any(), case.label


def test_a_masked_row_of_softmax_keeps_a_finite_value() -> None:
    reference = load("softmax_matrix")
    for case in reference.CASES:
        x = reference.inputs(np.random.default_rng(3), case)["input"]
        assert np.isfinite(x).any(axis=1).all(), case.label
        assert not np.isnan(x).any()

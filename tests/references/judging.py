"""A reference at work on an answer, and arithmetic that is coarser than float32."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.references import Case, load


@dataclass(frozen=True)
class Question:
    """One case of a kata with its inputs drawn: the right answer and the bound of its one output."""

    case: Case
    arguments: dict[str, Any]
    truth: np.ndarray
    bound: np.ndarray

    def admits(self, answer: np.ndarray) -> bool:
        """Whether every element is within the bound; NaN never is."""
        return bool((np.abs(answer.astype(np.float64) - self.truth) <= self.bound).all())

    def is_told_from(self, answer: np.ndarray) -> bool:
        """Whether an answer is wrong by so much that rejecting it is the least to ask: 1 % of the largest value.

        It is not where a wrong kernel's answer happens to be right: zeros for the ReLU of negative values.
        """
        error = np.abs(answer.astype(np.float64) - self.truth)
        return bool((~(error <= 0.01 * np.abs(self.truth).max())).any())


def ask(kata: str, case: Case, seed: int = 0) -> Question:
    """A case's inputs from a seed, and what the reference makes of them."""
    reference = load(kata)
    arguments = reference.inputs(np.random.default_rng([seed, zlib.crc32(case.label.encode())]), case)
    expected = reference.expected(arguments)
    (name,) = expected
    bound = np.broadcast_to(reference.error_bound(arguments, expected)[name], expected[name].shape)
    return Question(case, arguments, expected[name], bound)


def questions(kata: str, seed: int = 0) -> Iterator[Question]:
    """All cases of a kata."""
    for case in load(kata).CASES:
        yield ask(kata, case, seed)


def half(x: np.ndarray) -> np.ndarray:
    """Rounded to float16."""
    with np.errstate(over="ignore"):
        return x.astype(np.float16)


def tf32(x: np.ndarray) -> np.ndarray:
    """Float32 values rounded to TF32's 10 stored bits, ties to even."""
    word = x.astype(np.float32).view(np.uint32)
    rounded = (word + np.uint32(0xFFF) + ((word >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def lazy(question: Question, source: np.ndarray) -> dict[str, np.ndarray]:
    """What kernels that don't do the work leave behind, by name."""
    size = question.truth.size
    last_block = np.where(np.arange(size) < size // 256 * 256, question.truth, np.nan)
    fillings = {
        "zeros": np.zeros(size),
        "ones": np.ones(size),
        "the mean everywhere": np.full(size, question.truth.mean()),
        "the input": source,
        "nothing": np.full(size, np.nan),
    }
    tails = {
        "the last partial block skipped": last_block,
        "the last n % 4 skipped": np.where(np.arange(size) < size // 4 * 4, question.truth, 0.0),
        "the first block only": np.where(np.arange(size) < 256, question.truth, 0.0),
        "the last element skipped": np.where(np.arange(size) < size - 1, question.truth, 0.0),
    }
    return fillings | tails


def admitted(kata: str, answer: Callable[[Question], np.ndarray], seed: int = 0) -> list[str]:
    """The labels of the cases in which an answer passes."""
    return [question.case.label for question in questions(kata, seed) if question.admits(answer(question))]

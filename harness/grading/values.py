"""Patterns in what a wrong answer's values are: one rule that explains the whole output."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from harness.grading.evidence import WARP, Evidence, Finding, Recogniser, counted, number
from harness.references import U

#: An error counts as evidence for a rule only when it is this many times what noise could be.
CLEAR = 8.0


def never_written(evidence: Evidence) -> Finding | None:
    """Nothing was written at all."""
    if evidence.comparison.unwritten.all():
        return Finding("never_written", f"nothing was ever written to {evidence.name}")
    entry = evidence.inputs.get(evidence.name)
    if entry is not None and np.array_equal(evidence.comparison.got, entry):
        return Finding("never_written", f"{evidence.name} holds what it held on entry: nothing was written to it")
    initial = evidence.comparison.initial
    if initial is not None and (evidence.got == initial).all():
        return Finding(
            "never_written",
            f"{evidence.name} holds {number(initial)} as it did on entry: nothing, or only that value, was written",
        )
    return None


def nan(evidence: Evidence) -> Finding | None:
    """NaN wherever it is wrong, but for zeros beside them (``x / inf`` beside ``inf / inf``)."""
    computed = np.isnan(evidence.got) & ~evidence.comparison.unwritten.ravel()
    wrong = evidence.comparison.wrong.ravel()
    if not evidence.all_written or not computed.any() or (evidence.got[wrong & ~computed] != 0).any():
        return None
    return Finding("nan", _nan_sentence(evidence, computed))


def some_nan(evidence: Evidence) -> Finding | None:
    """NaN among elements that are wrong in other ways."""
    computed = np.isnan(evidence.got) & ~evidence.comparison.unwritten.ravel()
    return Finding("nan", _nan_sentence(evidence, computed)) if computed.any() else None


def _nan_sentence(evidence: Evidence, computed: np.ndarray) -> str:
    count, size = int(computed.sum()), computed.size
    others = int(evidence.comparison.wrong.sum()) - count
    which = "the only element is" if size == 1 else f"{count} of {size} elements are"
    rest = f", and {others} more wrong" if others else ""
    return f"{which} NaN{rest}: 0 / 0 where all terms vanished, or an overflow to inf and then inf - inf or inf / inf"


def zeros(evidence: Evidence) -> Finding | None:
    """Every element is 0."""
    if evidence.got.any():
        return None
    return Finding("zeros", "every element is 0" if evidence.got.size > 1 else "it is 0")


def copied_input(evidence: Evidence) -> Finding | None:
    """The output is one of the inputs, element by element."""
    for name, data in evidence.inputs.items():
        if data.size == evidence.got.size and np.array_equal(evidence.got, data.astype(np.float64).ravel()):
            return Finding("copied_input", f"{evidence.name} is a copy of {name}, element by element")
    return None


def constant(evidence: Evidence) -> Finding | None:
    """One value everywhere. Where one is right too, that is all there is to say: any error is a factor then."""
    got, expected = evidence.got, evidence.expected
    if got.size < 2 or not (got == got[0]).all():
        return None
    other = "" if (expected != expected[0]).any() else f"; all are to be {number(expected[0])}"
    return Finding("constant", f"every element is {number(got[0])}{other}")


def _varies(evidence: Evidence) -> bool:
    """Whether the right values differ by more than the bound: one rule for all of them then says something."""
    expected = evidence.expected
    with np.errstate(invalid="ignore"):  # inf - inf: they differ, if they do, by more than any bound
        return bool((expected != expected[0]).any() and not np.ptp(expected) <= CLEAR * evidence.bound.max())


def transposed(evidence: Evidence) -> Finding | None:
    """Rows and columns exchanged."""
    if not evidence.matrix:
        return None
    flipped, bound = evidence.comparison.expected.T.ravel(), np.asarray(evidence.comparison.bound).T.ravel()
    if not _within(evidence.got, flipped, bound).all():
        return None
    return Finding("transposed", "rows and columns are exchanged: it is right when read transposed")


def _within(got: np.ndarray, expected: np.ndarray, bound: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(got - expected) <= bound) | (got == expected))


def _clear(evidence: Evidence) -> bool:
    """Whether most wrong elements are wrong by far more than the bound, so that a rule means something."""
    wrong = evidence.comparison.wrong.ravel()
    with np.errstate(invalid="ignore"):
        error = np.abs(evidence.got - evidence.expected)[wrong]
    return bool((error > CLEAR * evidence.bound[wrong]).mean() >= 0.5)


def factor(evidence: Evidence) -> Finding | None:
    """``got = k * expected`` with one k everywhere. A single element must have a round k to say anything, and several
    that are to be the same say nothing."""
    got, expected = evidence.got, evidence.expected
    ratio = _ratio(got, expected, evidence.bound)
    if ratio is None or not _clear(evidence) or (got.size > 1 and not _varies(evidence)):
        return None
    simple = _simple(ratio, {data.size for data in evidence.inputs.values()})
    if got.size == 1 and simple is None:
        return None
    which = "every element is" if got.size > 1 else "it is"
    if simple == -1:
        return Finding("factor", f"{which} the negative of what is expected")
    named = "" if got.size == 1 else next(
        (f" ({dim})" for dim, size in zip(evidence.dims, evidence.comparison.got.shape, strict=True)
         if simple is not None and simple == size and not dim.isdigit()), "",
    )
    return Finding("factor", f"{which} {simple or number(ratio)}{named} times what is expected")


def complement(evidence: Evidence) -> Finding | None:
    """``got = 1 - expected`` everywhere: a part in place of the rest, such as a sigmoid of ``-x``."""
    got, expected = evidence.got, evidence.expected
    if not np.isfinite(expected).all():
        return None
    telling = _varies(evidence) if got.size > 1 else expected[0] % 1 != 0  # whole numbers match by chance
    if not telling or not _clear(evidence):
        return None
    noise = 2 * evidence.bound + 4 * U * (1 + np.abs(expected))
    if not _within(got, 1 - expected, noise).all():
        return None
    which = "every element is" if got.size > 1 else "it is"
    return Finding("complement", f"{which} 1 minus what is expected, as where a sign is the wrong way round")


def factor_of_each_row(evidence: Evidence) -> Finding | None:
    """``got = k * expected`` with one k for each row: a row's sum, count or scale is missing or wrong."""
    if not evidence.matrix or not _clear(evidence):
        return None
    comparison = evidence.comparison
    bound = np.asarray(comparison.bound)
    wrong_rows = np.flatnonzero(comparison.wrong.any(axis=1))
    got = evidence.got.reshape(evidence.matrix)
    if evidence.matrix[1] < 3 or wrong_rows.size > 100_000:
        return None
    ratios = [_ratio(got[row], comparison.expected[row], bound[row]) for row in wrong_rows]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(ratios):
        return None
    low, high = min(known), max(known)
    what = f"each of {counted(len(known), 'row')} is a multiple of what is expected"
    return Finding("factor", f"{what}, {number(low)} to {number(high)} times")


def _ratio(got: np.ndarray, expected: np.ndarray, bound: np.ndarray) -> float | None:
    """The k for which ``got = k * expected`` within the bound everywhere; None where there is none, or it is 1."""
    if not (np.isfinite(got).all() and np.isfinite(expected).all()):
        return None
    largest = int(np.abs(expected).argmax())
    if expected[largest] == 0 or got[largest] == 0:
        return None
    ratio = float(got[largest] / expected[largest])
    noise = (abs(ratio) + 1) * bound + 4 * U * np.abs(got)
    if abs(ratio - 1) < 1e-3 or (np.abs(got - ratio * expected) > noise).any():
        return None
    return ratio


def _simple(ratio: float, sizes: set[int]) -> Fraction | None:
    """The ratio as a whole number or one over one, where it is that within 1e-5: at most 4096, or one of ``sizes``."""
    whole = round(ratio) if abs(ratio) >= 1 else round(1 / ratio)
    simple = Fraction(whole) if abs(ratio) >= 1 else Fraction(1, whole)
    return simple if (abs(whole) <= 4096 or whole in sizes) and abs(ratio / float(simple) - 1) < 1e-5 else None


def offset(evidence: Evidence) -> Finding | None:
    """``got = expected + d`` with one d everywhere."""
    got, expected = evidence.got, evidence.expected
    if got.size < 3 or not (np.isfinite(got).all() and np.isfinite(expected).all()) or not _clear(evidence):
        return None
    if not _varies(evidence):
        return None
    errors = got - expected
    middle = float(np.median(errors))
    noise = 2 * evidence.bound + 4 * U * (np.abs(got) + np.abs(expected))
    if (np.abs(errors - middle) > noise).any():
        return None
    return Finding("offset", f"every element is off by the same {number(middle)}")


def shifted(evidence: Evidence) -> Finding | None:
    """``got[i] = expected[i + k]`` for every i that has such a neighbour."""
    got, expected, bound = evidence.got, evidence.expected, evidence.bound
    columns = (evidence.matrix[1],) if evidence.matrix else ()
    reach = sorted({1, 2, 3, 4, 8, 16, WARP, *evidence.shares, *columns})
    for step in (sign * size for size in reach for sign in (1, -1)):
        here, there = slice(max(0, -step), min(got.size, got.size - step)), slice(max(0, step), got.size + min(0, step))
        if got.size - abs(step) < 3 or not _within(got[here][:64], expected[there][:64], bound[there][:64]).all():
            continue  # a look at the first few settles most steps
        if _within(got[here], expected[there], bound[there]).all() and np.ptp(expected[there]) > 0:
            source = f"{evidence.name}[i {'+' if step > 0 else '-'} {abs(step)}]"
            return Finding("shifted", f"{evidence.name}[i] holds what belongs in {source}")
    return None


#: Tried in order on outputs that were written everywhere.
WHOLE: tuple[Recogniser, ...] = (
    zeros, copied_input, transposed, constant, factor, complement, factor_of_each_row, offset, shifted,
)

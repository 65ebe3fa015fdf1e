"""Why an answer is wrong, as a good interviewer would say it: pure functions of arrays and launch geometry.

Recognisers are tried in order, the most specific first: nothing written; NaN; one rule for the whole output
(``values``); which elements went into a sum (``sums``); one place (``places``); and last, in no pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.devices import Launched
from harness.grading.correctness import Comparison, changed_elements
from harness.grading.evidence import Evidence, Finding, Recogniser, be, counted, first_found, number
from harness.grading.places import PLACES
from harness.grading.sums import wrong_sum
from harness.grading.values import WHOLE, nan, never_written, some_nan, zeros
from harness.results import Mismatch


def _whole(evidence: Evidence) -> Finding | None:
    return first_found(WHOLE, evidence) if evidence.all_written else None


def _place(evidence: Evidence) -> Finding | None:
    """A place, and what is wrong elsewhere where the place is what was never written."""
    found = None if evidence.focus.all() else first_found(PLACES, evidence)
    others = int(evidence.comparison.wrong.sum() - evidence.focus.sum())
    if found is None or not others:
        return found
    place = found.sentence.removeprefix("only ")
    return replace(found, sentence=f"{counted(others, 'element')} {be(others)} wrong, and {place}")


def scattered(evidence: Evidence) -> Finding:
    """No pattern: how many, and how far off."""
    comparison = evidence.comparison
    wrong, unwritten = comparison.wrong.ravel(), comparison.unwritten.ravel()
    count, size = int(wrong.sum()), wrong.size
    what = "the only element is" if size == 1 else f"{count} of {size} elements {be(count)}"
    missing = int(unwritten.sum())
    state = evidence.state(comparison.wrong)
    some = f", {missing} of them never written" if 0 < missing < count else ""
    return Finding("scattered", f"{what} {state}{some}, in no simpler pattern{_how_far(evidence)}")


def _how_far(evidence: Evidence) -> str:
    """Whether the numbers are close: then the arithmetic is to blame rather than the indexing."""
    wrong = evidence.comparison.wrong.ravel()
    got, expected, bound = evidence.got[wrong], evidence.expected[wrong], evidence.bound[wrong]
    if not (np.isfinite(got).all() and np.isfinite(expected).all()) or not bound.all():
        return ""
    scale = np.abs(evidence.expected[np.isfinite(evidence.expected)]).max()
    error = np.abs(got - expected)
    if scale == 0 or error.max() > 0.02 * scale:
        return ""
    return (
        f"; all are close, {number(float((error / bound).max()))} times the allowed error at most:"
        " low precision, a lost term or a term twice"
    )


RECOGNISERS: tuple[Recogniser, ...] = (never_written, nan, zeros, wrong_sum, _whole, _place, some_nan)


def find_pattern(evidence: Evidence) -> Finding:
    """The most specific pattern that explains the wrong elements."""
    return first_found(RECOGNISERS, evidence) or scattered(evidence)


def diagnose(
    case: str,
    calls: Sequence[Comparison],
    *,
    dims: tuple[str, ...],
    inputs: Mapping[str, np.ndarray],
    launches: tuple[Launched, ...] = (),
    sizes: Mapping[str, int] | None = None,
) -> Mismatch | None:
    """What is wrong with one output in one case, None if nothing is.

    ``calls`` are the comparisons of the finished calls of ``solve``, all on the same inputs: a difference between
    them is a pattern of its own where it says more than the first wrong answer does.
    """
    wrong = next((call for call in calls if not call.right), None)
    if wrong is None:
        return None
    evidence = Evidence(wrong, dims, inputs, launches, sizes or {})
    return _mismatch(case, evidence, _between_calls(calls, find_pattern(evidence)))


def _between_calls(calls: Sequence[Comparison], found: Finding) -> Finding:
    """The finding, in the light of how the calls differ."""
    rights = [call.right for call in calls]
    if rights == [True, False]:
        return replace(
            found, word="second_call",
            sentence="right in the first call and wrong in the second, on the same inputs: something is left from the "
            f"first, such as a __device__ or static variable that is not set back; in the second, {found.sentence}",
        )  # fmt: skip
    if rights == [False, True]:
        what = f"wrong in the first call and right in the second, on the same inputs: {found.sentence}"
        return replace(found, word="differs_between_runs", sentence=what)
    same = all(not changed_elements(calls[0].got, call.got).any() for call in calls)
    if found.word == "scattered" and not same:
        return Finding("differs_between_runs", f"two calls on the same inputs give different answers; {found.sentence}")
    return found


def _mismatch(case: str, evidence: Evidence, found: Finding) -> Mismatch:
    comparison = evidence.comparison
    index = np.unravel_index(int(evidence.focus.argmax()), comparison.got.shape)
    bound = float(np.asarray(comparison.bound)[index])
    got = "(never written)" if comparison.unwritten[index] else number(float(comparison.got[index]))
    return Mismatch(
        case=case,
        parameter=comparison.parameter,
        index=tuple(int(place) for place in index),
        **_apart(got, float(comparison.got[index]), float(comparison.expected[index])),
        allowed=f"±{bound:.1e}" if bound else "exact",
        wrong=int(comparison.wrong.sum()),
        size=comparison.got.size,
        pattern=found.word,
        sentence=found.sentence,
        tails=found.tails,
    )


def _apart(text: str, got: float, expected: float) -> dict[str, str]:
    """Both numbers with as many digits as it takes to tell them apart."""
    if text == number(expected):
        return {"got": f"{got:.17g}", "expected": f"{expected:.17g}"}
    return {"got": text, "expected": number(expected)}


def changed_input(case: str, parameter: str, before: np.ndarray, after: np.ndarray) -> Mismatch | None:
    """An input that doesn't hold what it held: ``solve`` may only read it."""
    changed = changed_elements(before, after)
    if not changed.any():
        return None
    index = np.unravel_index(int(changed.argmax()), before.shape)
    count = int(changed.sum())
    return Mismatch(
        case=case,
        parameter=parameter,
        index=tuple(int(place) for place in index),
        got=number(float(after[index])),
        expected=number(float(before[index])),
        allowed="exact",
        wrong=count,
        size=before.size,
        pattern="input_changed",
        sentence=f"solve changed {parameter}, an input: {counted(count, 'element')} of {before.size}",
    )

"""What an interviewer would write down about an answer."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from harness.practice.events import Result
from harness.reports.terminal import join_labels
from harness.reports.text import count
from harness.results import Hazard, Mismatch, Outcome, Severity, Verdict

#: Hazards that belong under a criterion of their own; all others are "hazards".
_BOUNDARY = ("out_of_bounds",)
_LAUNCH = ("launch", "no_launch")

#: Patterns of mismatches that come from the ends of the data, and from a grid that doesn't cover it.
_TAIL, _ONE_BLOCK = "tail", "first_block_only"


class Mark(enum.Enum):
    GOOD = "✓"
    BAD = "✗"
    UNKNOWN = "·"


@dataclass(frozen=True)
class Criterion:
    """One line of the rubric: what was looked at, how it stands, and why."""

    name: str
    mark: Mark
    sentence: str


def rubric(result: Result, *, hints: int, of_hints: int) -> tuple[Criterion, ...]:
    """The criteria, most important first."""
    return (*_of_code(result), _hints(hints, of_hints))


def _of_code(result: Result) -> tuple[Criterion, ...]:
    if result.verdict is None:
        unknown = [Criterion(name, Mark.UNKNOWN, "not seen") for name in ("boundaries", "launch", "hazards", "rung")]
        return (Criterion("all shapes", Mark.BAD, "nothing ran: it does not compile"), *unknown)
    verdict = result.verdict
    return (_shapes(verdict), _boundaries(verdict), _launch(verdict), _hazards(verdict), _rung(verdict))


def _shapes(verdict: Verdict) -> Criterion:
    bad = [case.label for case in verdict.cases if case.outcome is not Outcome.RIGHT]
    if not bad:
        return Criterion("all shapes", Mark.GOOD, f"right for {count(len(verdict.cases), 'case')}")
    good = len(verdict.cases) - len(bad)
    return Criterion("all shapes", Mark.BAD, f"right for {good} of {len(verdict.cases)}; not for {join_labels(bad)}")


def _boundaries(verdict: Verdict) -> Criterion:
    name = "boundaries"
    outside = _of_kind(verdict, _BOUNDARY)
    if outside:
        return Criterion(name, Mark.BAD, outside[0].message)
    tail = _of_pattern(verdict, _TAIL)
    if tail:
        return Criterion(name, Mark.BAD, f"{tail.case}: {tail.sentence}")
    if not any(case.outcome is Outcome.RIGHT for case in verdict.cases):
        return Criterion(name, Mark.UNKNOWN, "can't be told while no case is right")
    return Criterion(name, Mark.GOOD, "nothing outside is touched, and no end is left out")


def _launch(verdict: Verdict) -> Criterion:
    found = _of_kind(verdict, _LAUNCH)
    if found:
        return Criterion("launch", Mark.BAD, found[0].message)
    small = _of_pattern(verdict, _ONE_BLOCK)
    if small:
        return Criterion("launch", Mark.BAD, f"{small.case}: {small.sentence}")
    return Criterion("launch", Mark.GOOD, "every launch is valid")


def _hazards(verdict: Verdict) -> Criterion:
    found = [
        hazard for hazard in verdict.hazards
        if hazard.severity is not Severity.NOTE and hazard.kind not in (*_BOUNDARY, *_LAUNCH)
    ]  # fmt: skip
    if not found:
        return Criterion("hazards", Mark.GOOD, "no race, no barrier missed, nothing read before it is written")
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Criterion("hazards", Mark.BAD, found[0].message + more)


def _rung(verdict: Verdict) -> Criterion:
    speed = verdict.speed
    if speed is None:
        why = "not timed" if verdict.outcome is Outcome.RIGHT else "only a right answer is timed"
        return Criterion("rung", Mark.UNKNOWN, why)
    if speed.grade is None:
        return Criterion("rung", Mark.UNKNOWN, f"none: {speed.refused or 'not graded'}")
    reached = f"{speed.grade.rung} of {len(speed.titles)}" if speed.grade.rung else f"below all {len(speed.titles)}"
    how = f" (predicted for the {speed.gpu})" if speed.predicted else ""
    mark = Mark.GOOD if speed.grade.par_reached else Mark.BAD
    return Criterion("rung", mark, f"{reached}; par is {speed.par}{how}")


def _hints(hints: int, of_hints: int) -> Criterion:
    if not hints:
        return Criterion("hints", Mark.GOOD, "none asked for")
    return Criterion("hints", Mark.BAD, f"{hints} of {of_hints}")


def _of_pattern(verdict: Verdict, pattern: str) -> Mismatch | None:
    found = (case.mismatch for case in verdict.cases if case.mismatch and case.mismatch.pattern == pattern)
    return next(found, None)


def _of_kind(verdict: Verdict, kinds: Iterable[str]) -> list[Hazard]:
    return [hazard for hazard in verdict.hazards if hazard.kind in kinds and hazard.severity is not Severity.NOTE]

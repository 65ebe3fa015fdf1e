"""What hazards and cases come to, taken together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from harness.results import Hazard, Mismatch, Outcome, Severity


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """A fault outweighs a wrong answer, which outweighs a right one."""
    return max(outcomes, key=[Outcome.RIGHT, Outcome.WRONG, Outcome.FAULT].index, default=Outcome.RIGHT)


def merged(hazards: Iterable[Hazard]) -> tuple[Hazard, ...]:
    """One hazard for each kind, kernel and pair of lines, as it was first met, with the counts added; errors first."""
    first: dict[tuple[Any, ...], Hazard] = {}
    for hazard in hazards:
        key = (hazard.kind, hazard.severity, hazard.kernel, hazard.line, hazard.other_line)
        seen = first.get(key)
        first[key] = dataclasses.replace(seen, count=seen.count + hazard.count) if seen else hazard
    return tuple(sorted(first.values(), key=lambda hazard: list(Severity).index(hazard.severity)))


def outcome_of(mismatch: Mismatch | None, hazards: Iterable[Hazard]) -> Outcome:
    """Of one case. A hazard of error class is a fault even where the numbers match, but for ``no_launch``:

    nothing ran that could fault, there is just no answer.
    """
    errors = {hazard.kind for hazard in hazards if hazard.severity is Severity.ERROR}
    if errors - {"no_launch"}:
        return Outcome.FAULT
    return Outcome.WRONG if errors or mismatch else Outcome.RIGHT

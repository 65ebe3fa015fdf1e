"""What hazards and cases come to, taken together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from harness.results import Barrier, Hazard, Mismatch, Outcome, Severity
from harness.simulator.races import gap


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """A fault outweighs a wrong answer, which outweighs a right one."""
    return max(outcomes, key=[Outcome.RIGHT, Outcome.WRONG, Outcome.FAULT].index, default=Outcome.RIGHT)


def merged(hazards: Iterable[Hazard]) -> tuple[Hazard, ...]:
    """One hazard for each kind, kernel and pair of lines, as it was first met, with the counts added; and one race for
    each barrier that is missing. Errors come first."""
    first: dict[tuple[Any, ...], Hazard] = {}
    for hazard in hazards:
        key = (hazard.kind, hazard.severity, hazard.kernel, hazard.line, hazard.other_line)
        seen = first.get(key)
        first[key] = seen.met_again(hazard) if seen else hazard
    return tuple(sorted(_one_barrier(first.values()), key=lambda hazard: list(Severity).index(hazard.severity)))


def _one_barrier(hazards: Iterable[Hazard]) -> list[Hazard]:
    """Races of lanes of one warp are told together with one of several warps that a barrier at their place ends too:
    two remedies for one missing line, of which one is too little, help nobody."""
    kept: list[Hazard] = sorted(hazards, key=lambda hazard: hazard.missing is Barrier.WARP)  # the others as they came
    for narrow in [hazard for hazard in kept if hazard.missing is Barrier.WARP]:
        for place, wide in enumerate(kept):
            where = _common_gap(wide, narrow)
            if where is not None:
                kept[place] = _with_another(wide, narrow, where)
                kept.remove(narrow)
                break
    return kept


def _common_gap(wide: Hazard, narrow: Hazard) -> tuple[int, int] | None:
    """The lines after and before which one barrier ends both races, None where there is no such place: they share a
    line, and both go on downwards or both round a loop."""
    lines = (wide.other_line, wide.line, narrow.other_line, narrow.line)
    if wide.missing is not Barrier.BLOCK or wide.kernel != narrow.kernel or None in lines:
        return None
    first, second, third, fourth = (line for line in lines if line is not None)
    after, before = max(first, third), min(second, fourth)
    shared = first == third or second == fourth
    down, around = first < second and third < fourth and after < before, first > second and third > fourth
    return (after, before) if shared and (down or around) else None


def _with_another(wide: Hazard, narrow: Hazard, where: tuple[int, int]) -> Hazard:
    """Both in one. What was told of several cases already names the other line."""
    other = f"the same holds for line {narrow.line if narrow.line != wide.line else narrow.other_line}"
    message = wide.message if other in wide.message.split("; ") else f"{wide.message}; {other}"
    remedy = f"put {Barrier.BLOCK} {gap(*where)}"
    return dataclasses.replace(wide, count=wide.count + narrow.count, message=message, remedy=remedy)


def outcome_of(mismatch: Mismatch | None, hazards: Iterable[Hazard]) -> Outcome:
    """Of one case. A hazard of error class is a fault even where the numbers match, but for ``no_launch`` and
    ``left_out``: nothing faults, there is just no answer, or a part of one.
    """
    errors = {hazard.kind for hazard in hazards if hazard.severity is Severity.ERROR}
    if errors - {"no_launch", "left_out"}:
        return Outcome.FAULT
    return Outcome.WRONG if errors or mismatch else Outcome.RIGHT

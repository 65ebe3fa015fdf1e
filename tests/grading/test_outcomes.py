"""Hazards taken together: what is one finding, what one remedy ends."""

from __future__ import annotations

import dataclasses

import pytest

from harness.grading.outcomes import merged
from harness.results import Barrier, Hazard, Severity


def race(first: int, second: int, missing: Barrier | None, array: str = "a", kernel: str = "k") -> Hazard:
    message = f"race on {array}[0]: line {first} (thread 1) reads, line {second} (thread 0) writes, no {missing}"
    return Hazard(
        "race", Severity.ERROR, message, second, kernel, count=2, remedy=f"put {missing}", other_line=first,
        missing=missing,
    )  # fmt: skip


def test_the_same_finding_is_told_once_with_its_counts_and_errors_come_first() -> None:
    warning = Hazard("barrier", Severity.WARNING, "some left", 3)
    error = race(3, 5, Barrier.BLOCK)
    assert merged([warning, error, warning, error]) == (
        dataclasses.replace(error, count=4), dataclasses.replace(warning, count=2),
    )  # fmt: skip


def test_a_race_of_warps_outweighs_one_within_a_warp_at_the_same_lines() -> None:
    wide, narrow = race(3, 5, Barrier.BLOCK), race(3, 5, Barrier.WARP)
    for order in ((wide, narrow), (narrow, wide), (narrow, wide, narrow)):
        (told,) = merged(order)
        assert told == dataclasses.replace(wide, count=2 * len(order))


@pytest.mark.parametrize(
    ("wide", "narrow", "where"),
    [
        ((17, 15), (17, 14), "after line 17, before line 14 runs again"),
        ((17, 14), (17, 15), "after line 17, before line 14 runs again"),
        ((14, 17), (15, 17), "between line 15 and line 17"),
        ((14, 19), (14, 17), "between line 14 and line 17"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_one_barrier_that_ends_two_races_is_one_remedy(
    wide: tuple[int, int], narrow: tuple[int, int], where: str, turned: bool
) -> None:
    both = [race(*wide, Barrier.BLOCK, "b"), race(*narrow, Barrier.WARP)]
    (told,) = merged(reversed(both) if turned else both)
    assert told.remedy == f"put __syncthreads() {where}" and told.count == 4 and told.missing is Barrier.BLOCK
    (other,) = set(narrow) - set(wide)
    assert told.message.startswith("race on b") and told.message.endswith(f"; the same holds for line {other}")
    again = merged([told, *both])
    assert [(one.message, one.remedy) for one in again] == [(told.message, told.remedy)]


@pytest.mark.parametrize(
    "narrow",
    [
        race(3, 4, Barrier.WARP),  # before the other's place
        race(9, 5, Barrier.WARP),  # one goes on downwards, the other round the loop
        race(6, 7, Barrier.WARP),  # no line in common: it may be of one warp's own code
        race(5, 9, Barrier.WARP, kernel="another"),
        race(5, 8, None),
    ],
)
def test_races_at_other_places_keep_their_own_remedies_and_those_of_warps_come_first(narrow: Hazard) -> None:
    wide = race(5, 9, Barrier.BLOCK, "b")
    found = merged([narrow, wide])
    assert set(found) == {wide, narrow}
    assert found[0] == wide or narrow.missing is None

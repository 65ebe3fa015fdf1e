"""The rung that a time reaches, over made-up ladders."""

from __future__ import annotations

import dataclasses

import pytest

from harness.grading.grade import grade, too_fast
from harness.results import Grade, Speed, Timing


def timing(microseconds: float) -> Timing:
    return Timing("made up", microseconds * 1e-6, microseconds * 0.99e-6, microseconds * 1.01e-6, 30)


def graded(mine: float, *rungs: float, par: int = 1) -> Grade:
    return grade(timing(mine), [timing(one) for one in rungs], par)


def test_a_rung_is_reached_within_five_percent() -> None:
    assert graded(52, 100, 50, 25).rung == 2 and graded(53, 100, 50, 25).rung == 1


def test_the_next_rung_is_the_slowest_that_is_clearly_faster() -> None:
    found = graded(60, 100, 50, 25)
    assert (found.rung, found.next) == (1, 2)
    assert found.next_ratio == pytest.approx(1.2) and found.best_ratio == pytest.approx(2.4)


def test_the_next_rung_is_further_up_though_one_below_is_faster_too() -> None:
    assert graded(100, 90, 100, 80, 20).next == 3
    assert graded(100, 90, 100).next == 1


def test_of_next_rungs_equally_fast_the_lowest_counts() -> None:
    assert graded(60, 100, 50, 51, 25).next == 2


def test_slower_than_every_rung_reaches_none() -> None:
    found = graded(200, 100, 50)
    assert (found.rung, found.par_reached, found.next) == (None, False, 1)


def test_faster_than_every_rung_is_the_top_with_no_next() -> None:
    found = graded(10, 100, 50)
    assert (found.rung, found.next, found.next_ratio) == (2, None, None) and found.best_ratio == pytest.approx(0.2)


def test_of_rungs_equally_fast_the_highest_counts() -> None:
    assert graded(50, 100, 50.5, 50, 49.5).rung == 4


def test_a_rung_that_is_slower_here_than_the_one_before_does_not_count_for_more() -> None:
    assert graded(80, 100, 40, 90).rung == 3
    assert graded(41, 100, 40, 90).rung == 2


@pytest.mark.parametrize(("mine", "reached"), [(50, True), (52, True), (54, False)])
def test_par_is_reached_by_keeping_up_with_that_rung(mine: float, reached: bool) -> None:
    assert graded(mine, 100, 50, 25, par=2).par_reached is reached


SPEED = Speed(
    label="n = 9", timing=timing(100), rungs=(timing(100),), titles=("only",), par=1, nbytes=36, flops=0, light=90e-6,
    limit="a copy of the same bytes", noisy=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("light", "best", "believed"), [(90, 120, True), (101.9, 120, True), (106, 120, False), (106, 101, True)]
)
def test_what_is_faster_than_light_and_than_any_rung_is_not_believed(
    light: float, best: float, believed: bool
) -> None:
    why = too_fast(dataclasses.replace(SPEED, light=light * 1e-6, rungs=(timing(200), timing(best))))
    assert (why is None) is believed
    if why:
        assert why.startswith("106 % of a copy of the same bytes")

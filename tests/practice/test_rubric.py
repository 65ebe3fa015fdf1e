"""What an interviewer writes down: good, bad, or not to be told from what was seen."""

from __future__ import annotations

import dataclasses

import pytest

from harness.errors import CompileError
from harness.practice.events import Result
from harness.practice.rubric import Mark, rubric
from harness.results import CaseResult, Grade, Hazard, Mismatch, Outcome, Severity, Speed, Timing, Verdict

GOOD = CaseResult("n = 32", "small", Outcome.RIGHT, 0.1)
NOTE = Hazard("leak", Severity.NOTE, "12 bytes are never freed")


def verdict(*cases: CaseResult, hazards: tuple[Hazard, ...] = (), speed: Speed | None = None) -> Verdict:
    outcome = max((case.outcome for case in cases), key=list(Outcome).index)
    return Verdict("add", "add.cu", "simulated", 1, outcome, cases, 0.1, hazards, speed=speed)


def wrong(pattern: str, label: str = "n = 33") -> CaseResult:
    mismatch = Mismatch(label, "c", (32,), "1", "2", "0", 1, 33, pattern, f"a {pattern} it is")
    return CaseResult(label, "small", Outcome.WRONG, 0.1, mismatch)


def marks(result: Result, hints: int = 0) -> dict[str, Mark]:
    return {criterion.name: criterion.mark for criterion in rubric(result, hints=hints, of_hints=3)}


def sentence(result: Result, name: str) -> str:
    return next(criterion.sentence for criterion in rubric(result, hints=1, of_hints=3) if criterion.name == name)


def speed(rung: int | None, *, par_reached: bool) -> Speed:
    timing = Timing("yours", 2.0, 2.0, 2.0, 9)
    grade = Grade(rung, par_reached, None, None, 1.0)
    return Speed("n = 9", timing, (timing, timing), ("one", "two"), 2, 8, 0, 1.0, "a copy", False, grade)


def test_a_right_answer_is_good_all_over_but_for_the_time_that_was_not_taken() -> None:
    found = marks(Result(verdict(GOOD, hazards=(NOTE,))))
    assert found.pop("rung") is Mark.UNKNOWN
    assert set(found.values()) == {Mark.GOOD}


def test_a_tail_left_out_is_a_matter_of_boundaries() -> None:
    result = Result(verdict(GOOD, wrong("tail")))
    found = marks(result)
    assert (found["all shapes"], found["boundaries"], found["launch"]) == (Mark.BAD, Mark.BAD, Mark.GOOD)
    assert sentence(result, "all shapes") == "right for 1 of 2; not for n = 33"
    assert sentence(result, "boundaries") == "n = 33: a tail it is"


def test_one_block_for_all_is_a_matter_of_the_launch() -> None:
    found = marks(Result(verdict(GOOD, wrong("first_block_only"))))
    assert (found["boundaries"], found["launch"]) == (Mark.GOOD, Mark.BAD)


def test_boundaries_cannot_be_told_while_nothing_is_right() -> None:
    assert marks(Result(verdict(wrong("zeros"))))["boundaries"] is Mark.UNKNOWN


@pytest.mark.parametrize(("kind", "name"), [
    ("out_of_bounds", "boundaries"), ("launch", "launch"), ("no_launch", "launch"), ("race", "hazards"),
    ("barrier", "hazards"), ("uninitialised", "hazards"),
])  # fmt: skip
def test_each_hazard_has_its_criterion(kind: str, name: str) -> None:
    fault = CaseResult("n = 33", "small", Outcome.FAULT, 0.1)
    hazard = Hazard(kind, Severity.ERROR, "it does what it must not")
    result = Result(verdict(GOOD, fault, hazards=(hazard, NOTE)))
    bad = {criterion for criterion, mark in marks(result).items() if mark is Mark.BAD}
    assert bad == {"all shapes", name}
    assert sentence(result, name) == "it does what it must not"


def test_more_hazards_are_counted() -> None:
    hazards = tuple(Hazard("race", Severity.WARNING, f"race {number}") for number in (1, 2, 3))
    assert sentence(Result(verdict(GOOD, hazards=hazards)), "hazards") == "race 1 (and 2 more)"


@pytest.mark.parametrize(("rung", "par_reached", "mark", "text"), [
    (2, True, Mark.GOOD, "2 of 2; par is 2"), (1, False, Mark.BAD, "1 of 2; par is 2"),
    (None, False, Mark.BAD, "below all 2; par is 2"),
])  # fmt: skip
def test_the_rung_is_held_against_par(rung: int | None, par_reached: bool, mark: Mark, text: str) -> None:
    result = Result(verdict(GOOD, speed=speed(rung, par_reached=par_reached)))
    assert marks(result)["rung"] is mark
    assert sentence(result, "rung") == text


def test_a_predicted_rung_says_for_which_gpu() -> None:
    predicted = dataclasses.replace(speed(2, par_reached=True), gpu="A100")
    assert sentence(Result(verdict(GOOD, speed=predicted)), "rung") == "2 of 2; par is 2 (predicted for the A100)"


def test_a_grade_that_was_refused_says_why() -> None:
    refused = dataclasses.replace(speed(1, par_reached=False), grade=None, refused="it used no shared memory")
    assert sentence(Result(verdict(GOOD, speed=refused)), "rung") == "none: it used no shared memory"


def test_what_does_not_compile_shows_nothing_else() -> None:
    found = marks(Result(error=CompileError("no")))
    assert found.pop("all shapes") is Mark.BAD
    assert found.pop("hints") is Mark.GOOD
    assert set(found.values()) == {Mark.UNKNOWN}


def test_hints_are_held_against_it() -> None:
    assert marks(Result(verdict(GOOD)), hints=2)["hints"] is Mark.BAD

"""The last page of a session: the answer first, the next step last."""

from __future__ import annotations

from pathlib import Path

import pytest
from click import unstyle

from harness.catalogue import Kata, Parameter, Question
from harness.errors import CompileError, EnvironmentFault
from harness.practice.events import (
    Checked,
    Event,
    Interrupted,
    Key,
    Opened,
    Result,
    Saved,
    SeenElsewhere,
    Snapshot,
    Tick,
)
from harness.practice.records import Ending
from harness.practice.rules import Rules
from harness.practice.session import Session
from harness.reports.attempt import clock, closing_page, result_lines, time_left
from harness.reports.terminal import check_page
from harness.results import CaseResult, Grade, Mismatch, Outcome, Speed, Timing, Verdict

KATA = Kata(
    "add", 1, "Add", "Adds.", "low", 5, ("memory",), (Parameter("c", "float*", "out", (1,)),), ("one", "two", "three"),
    (Question("memory", "Why?", "Because."), Question("gemm", "How?", "So.")), Path("katas/add"),
)  # fmt: skip
TEXT = Snapshot(b"text")
MISMATCH = Mismatch("n = 33", "c", (32,), "1", "2", "exact", 1, 33, "tail", "only the last element is wrong")
CASE = CaseResult("n = 33", "small", Outcome.WRONG, 0.1, MISMATCH)
TIMING = Timing("yours", 2.0, 2.0, 2.0, 9)
SPEED = Speed("n = 9", TIMING, (TIMING,) * 3, ("one", "two", "three"), 2, 8, 0, 1.0, "a copy", False,
              Grade(1, False, 2, 1.5, 2.0))  # fmt: skip


def verdict(outcome: Outcome, *cases: CaseResult, speed: Speed | None = None) -> Result:
    lead = next((case.mismatch for case in cases if case.mismatch), None)
    return Result(Verdict("add", "add.cu", "simulated", 1, outcome, cases, 0.1, speed=speed), lead)


RIGHT, WRONG = verdict(Outcome.RIGHT), verdict(Outcome.WRONG, CASE)
BROKEN = Result(error=EnvironmentFault("there is no compiler"))


def page(*events: Event, result: Result | None = None, interview: bool = False, minutes: float | None = 5,
         path: str = "add.cu") -> list[str]:  # fmt: skip
    """What is left after these events; ``result`` is of the file as it was handed in."""
    session = Session(Rules(3, minutes, interview), lambda: 1)
    for number, event in enumerate(events):
        session.handle(event, float(number))
    if result is not None:
        session.handle(Checked(TEXT, result, 0.1), float(len(events)))
    return unstyle(closing_page(session, KATA, Path(path), rated="Rated somehow", remarks=["A remark."])).splitlines()


START = (Key("enter"), Opened(TEXT))
SUBMIT = (*START, Key("s"), Key("y"))


def test_a_pass_says_how_long_it_took_and_what_is_faster() -> None:
    lines = page(*SUBMIT, result=verdict(Outcome.RIGHT, speed=SPEED))
    assert lines[0].startswith("✓ add is right")
    assert "Passed: 0:03 of 5:00, no hints" in lines
    assert lines[-3:] == ["Rated somehow", "A remark.", "Next: kata solution add 2, or kata practice"]
    assert page(*SUBMIT, result=RIGHT)[-1] == "Next: kata solution add --list, or kata practice"


def test_a_failure_says_why_and_how_to_mend_it() -> None:
    lines = page(*SUBMIT, result=WRONG, path="mine/add.cu")
    assert lines[0].startswith("✗ add is wrong for n = 33")
    assert "Failed: wrong for 1 of 1 case; 0:03 of 5:00, no hints" in lines
    assert lines[-1].startswith("Next: kata watch add mine/add.cu (no clock)")


def test_a_pass_by_the_bell_is_late() -> None:
    ticks = (Tick(),) * 30
    lines = page(*START, *ticks, result=RIGHT, minutes=0.25, interview=True)
    assert any(line.startswith("Passed late: the bell handed it in: 0:") for line in lines)


def test_giving_up_shows_no_result() -> None:
    lines = page(*START, Key("h"), Key("g"), Key("y"))
    assert lines[0].startswith("Given up: 0:0")
    assert "1 hint of 3" in lines[0]
    assert lines[-1] == "Next: kata solution add 1"
    assert page(*START, SeenElsewhere(0, Ending.GAVE_UP))[-1] == "Next: kata solution add 1"


def test_leaving_says_how_to_go_on() -> None:
    lines = page(*START, Interrupted(130))
    assert lines[0] == "Left for another time: 0:02 of 5:00 used, no hints"
    assert lines[-1] == "Next: kata practice add goes on where you left"


def test_leaving_before_the_clock_starts_is_nothing() -> None:
    lines = page(Key("x"))
    assert lines[0] == "The clock was not started."
    assert lines[-1] == "Next: kata practice add"


def test_what_the_machine_lacks_is_said_and_the_attempt_goes_on() -> None:
    lines = page(*SUBMIT, result=BROKEN)
    assert "there is no compiler" in lines[0]
    assert lines[-1] == "Next: kata doctor, then kata practice add goes on where you left"


def test_an_interview_ends_with_its_rubric_and_further_questions() -> None:
    text = "\n".join(page(*SUBMIT, result=WRONG, interview=True))
    order = ["✗ add is wrong", "Rubric", "✗ boundaries", "They would go on to ask", "1. Why?", "2. How?",
             "kata quiz memory, kata quiz gemm", "Failed: wrong for 1 of 1 case", "Rated", "Next: "]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize(("result", "said"), [
    (WRONG, "is wrong for 1 of 1 case"), (verdict(Outcome.FAULT, CASE), "faults for 1 of 1 case"),
    (verdict(Outcome.FAULT), "faults"), (Result(error=CompileError("no")), "does not compile"),
])  # fmt: skip
def test_the_end_says_again_what_is_wrong_and_its_time_once(result: Result, said: str) -> None:
    for interview in (False, True):
        failed = page(*SUBMIT, result=result, interview=interview)
        late = page(*START, *(Tick(),) * 30, result=result, minutes=0.25, interview=interview)
        assert failed[-4] == f"Failed: {said.removeprefix('is ')}; 0:03 of 5:00, no hints"
        assert f"Time is up: what was saved last {said}; 0:15 of 0:15" in late[-4:][0]
        assert sum("0:03" in line for line in failed) == 1


def test_an_interview_that_does_not_compile_has_a_rubric_too() -> None:
    lines = page(*SUBMIT, result=Result(error=CompileError("no", file="add.cu", line=3, evidence="add.cu(3)")),
                 interview=True)  # fmt: skip
    assert lines[0] == "✗ add.cu does not compile"
    assert any("nothing ran: it does not compile" in line for line in lines)


def test_a_watch_left_while_it_checks_does_not_pass_an_older_result_off_as_the_latest() -> None:
    events = (Opened(TEXT), Checked(TEXT, WRONG, 0.1), Saved(Snapshot(b"other")), Key("x"))
    lines = page(*events, minutes=None)
    assert lines[0].startswith("Left before the latest save was checked") and lines[1].startswith("✗ add is wrong")
    assert lines[-1] == "Next: kata check add"


def test_a_watch_ends_with_the_last_result_and_no_clock() -> None:
    lines = page(Opened(TEXT), result=WRONG, minutes=None)
    assert lines[0].startswith("✗ add is wrong")
    assert not any("of 5:00" in line for line in lines)
    step = check_page(WRONG.verdict, WRONG.lead).splitlines()[-1] if WRONG.verdict else ""
    assert lines[-1] == step.strip() and lines[-1].startswith("Next: kata hint add")


def test_the_next_step_of_a_check_is_left_out() -> None:
    assert not any("Next:" in line for line in result_lines(WRONG))


@pytest.mark.parametrize(("seconds", "gone", "left"), [
    (0, "0:00", "0:00"), (0.2, "0:00", "0:01"), (59.5, "0:59", "1:00"), (3599.9, "59:59", "1:00:00"),
    (3661, "1:01:01", "1:01:01"),
])  # fmt: skip
def test_clocks_read_as_people_read_them(seconds: float, gone: str, left: str) -> None:
    assert (clock(seconds), time_left(seconds)) == (gone, left)

"""The screen of a session, at any size and in any state."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.catalogue import Kata, Parameter, Question
from harness.errors import CompileError, EnvironmentFault
from harness.practice.editor import Editor
from harness.practice.events import CaseDone, Checked, EditorReturned, Event, Key, Opened, Result, Saved, Snapshot, Tick
from harness.practice.rules import Rules
from harness.practice.session import Session
from harness.practice.view import Subject, screen
from harness.results import CaseResult, Mismatch, Outcome, Verdict

KATA = Kata(
    "add", 1, "Add", "Adds.", "low", 5, ("memory",), (Parameter("c", "float*", "out", (1,)),),
    ("the first hint, which is a little longer than a narrow screen", "the second", "the third"),
    (Question("memory", "Why?", "Because."),), Path("katas/add"),
)  # fmt: skip
QUESTION = "# Add two vectors\n\n" + "\n\n".join(f"Paragraph {number} of it." for number in range(40))
TEXT = Snapshot(b"text")

MISMATCH = Mismatch("n = 33", "c", (32,), "1", "2", "exact", 1, 33, "tail", "only the last element is wrong")
WRONG = Result(
    Verdict("add", "add.cu", "simulated sm_80", 1, Outcome.WRONG, (
        CaseResult("n = 32", "small", Outcome.RIGHT, 0.1), CaseResult("n = 33", "small", Outcome.WRONG, 0.1, MISMATCH),
    ), 0.2), MISMATCH,
)  # fmt: skip
RIGHT = Result(Verdict("add", "add.cu", "simulated", 1, Outcome.RIGHT, WRONG.verdict.cases[:1], 0.2))  # type: ignore[union-attr]

START = (Key("enter"), Opened(TEXT))
EVENTS: dict[str, tuple[Event, ...]] = {
    "ready": (), "running": START, "saved": (*START, Saved(Snapshot(b"2"))),
    "checking": (*START, Saved(TEXT), CaseDone(CASE := WRONG.verdict.cases[1], 20)),  # type: ignore[union-attr]
    "wrong": (*START, Saved(TEXT), Checked(TEXT, WRONG, 0.1)),
    "right": (*START, Saved(TEXT), Checked(TEXT, RIGHT, 0.1)),
    "not compiled": (*START, Saved(TEXT), Checked(TEXT, Result(error=CompileError("no", evidence="a\nb")), 0.1)),
    "broken": (*START, Saved(TEXT), Checked(TEXT, Result(error=EnvironmentFault("no compiler")), 0.1)),
    "hint": (*START, Key("h"), Key("h")), "question": (*START, Key("q")), "asked": (*START, Key("s")),
    "giving up": (*START, Key("g")), "editor": (*START, EditorReturned("vim\x1b[2J is not there")),
    "judging": (*START, Key("s"), Key("y")), "given up": (*START, Key("g"), Key("y")),
}  # fmt: skip


def sitting(*events: Event, interview: bool = False, minutes: float | None = 5) -> Session:
    session = Session(Rules(3, minutes, interview), lambda: 1)
    for event in events:
        session.handle(event, 0.0)
    return session


def lines(session: Session, width: int = 80, height: int = 24, editor: Editor | None = None) -> list[str]:
    subject = Subject(KATA, QUESTION, Path("add.cu"), editor)
    return [line.plain.rstrip() for line in screen(session, subject, width, height)]


@pytest.mark.parametrize("state", EVENTS)
@pytest.mark.parametrize("minutes", [5, None], ids=["timed", "watch"])
@given(width=st.integers(1, 130), height=st.integers(1, 50))
@settings(max_examples=25, deadline=None)
def test_every_state_fits_every_screen(state: str, minutes: float | None, width: int, height: int) -> None:
    session = sitting(*EVENTS[state], minutes=minutes)
    subject = Subject(KATA, QUESTION, Path("add.cu"), Editor(("vim",), False))
    shown = screen(session, subject, width, height)
    assert len(shown) == height
    assert all(line.cell_len <= width for line in shown)
    assert all("\x1b" not in line.plain and "\n" not in line.plain for line in shown)


def test_what_becomes_of_an_earlier_file_is_said_before_the_clock_starts() -> None:
    kept = "Your softmax_matrix.cu is kept as softmax_matrix.2026-11-30-0142.cu."
    for interview in (False, True):
        session = Session(Rules(3, 5, interview), lambda: 1, notice=kept)
        shown = lines(session)
        assert shown[-2] == kept
        assert shown[-3].startswith("An interview: nothing is checked") is interview


def test_stand_ins_for_what_ascii_lacks_fit_too() -> None:
    subject = Subject(KATA, "√ and ∞, " * 40, Path("add.cu"), None)
    for width in (20, 40, 80):
        for line in screen(sitting(*EVENTS["question"]), subject, width, 24, ascii_only=True):
            assert len(line.plain.encode("ascii", "kata-stand-in")) <= width


def test_the_clock_and_the_keys_are_always_there() -> None:
    session = sitting(*EVENTS["wrong"])
    for width, height in ((80, 24), (40, 8), (24, 4)):
        shown = lines(session, width, height)
        assert shown[0].startswith("add")
        assert "5:00" in shown[0]
        assert shown[-1].startswith("h")


def test_the_clock_counts_down() -> None:
    session = sitting(*START)
    for now in range(1, 6):
        session.handle(Tick(), float(now))
    assert lines(session)[0].endswith("4:55 left of 5:00")


def test_before_the_start_the_question_is_shown() -> None:
    shown = lines(sitting())
    assert any("Add two vectors" in line for line in shown)
    assert shown[1] == "add.cu · the clock has not started"
    assert shown[-1] == "Enter start the clock  x leave"


def test_a_long_question_says_how_much_more_there_is_and_scrolls_to_its_end() -> None:
    session = sitting(*EVENTS["question"])
    assert any("more lines: space or the arrow keys" in line for line in lines(session))
    for _ in range(100):
        session.handle(Key(" "), 0.0)
    shown = lines(session)
    assert any("Paragraph 39" in line for line in shown)
    assert not any("more line" in line for line in shown)
    session.handle(Key("up"), 0.0)  # at once, however often it was pressed down
    assert lines(session) != shown


def test_a_wrong_answer_shows_its_page_and_how_many_cases_pass() -> None:
    shown = lines(sitting(*EVENTS["wrong"]))
    assert shown[1] == "add.cu · 1 of 2 cases right"
    assert any(line.startswith("✗ add is wrong for n = 33") for line in shown)
    assert any("only the last element is wrong" in line for line in shown)
    assert not any("Next:" in line for line in shown)


def test_a_check_that_runs_counts_its_cases() -> None:
    assert lines(sitting(*EVENTS["checking"]))[1] == "add.cu · checking: 0 of 20 cases right, 1 not"


def test_right_says_what_to_do() -> None:
    assert "Right! s hands it in, or go on and make it faster." in lines(sitting(*EVENTS["right"]))


def test_a_prompt_takes_the_place_of_the_keys() -> None:
    shown = lines(sitting(*EVENTS["giving up"]))
    assert "Give up on add? y or n" in shown
    assert shown[-1] == "y yes  n no"


def test_an_interview_shows_no_result() -> None:
    shown = lines(sitting(*START, Saved(TEXT), interview=True))
    assert shown[1] == "add.cu · no checks until you submit"
    assert any("nothing is compiled or checked" in line for line in shown)


def test_a_watch_has_neither_clock_nor_an_end_to_submit() -> None:
    shown = lines(sitting(Opened(TEXT), minutes=None))
    assert shown[0] == "add · watch"
    assert shown[-1] == "h hint  q question  x quit"


@pytest.mark.parametrize("key", "hq")
@pytest.mark.parametrize("minutes", [5, None], ids=["timed", "watch"])
def test_a_key_leads_back_to_the_verdict_and_is_named_where_it_does(key: str, minutes: float | None) -> None:
    session = sitting(*START, Saved(TEXT), Checked(TEXT, WRONG, 0.1), minutes=minutes)
    verdict = lines(session)
    assert "v verdict" not in verdict[-1]
    session.handle(Key(key), 0.0)
    shown = lines(session)
    assert "h hint  q question  v verdict" in shown[-1] and not any("is wrong" in line for line in shown)
    session.handle(Key("v"), 0.0)
    assert lines(session) == verdict


def test_where_there_is_no_verdict_the_key_leads_back() -> None:
    assert "v back" in lines(sitting(*EVENTS["question"]))[-1]
    assert "v back" in lines(sitting(*START, Saved(TEXT), Key("h"), interview=True))[-1]


def test_the_editor_is_offered_where_there_is_one() -> None:
    assert "e edit" in lines(sitting(*START), editor=Editor(("vim",), False))[-1]
    assert "e edit" not in lines(sitting(*START))[-1]


def test_what_an_editor_says_cannot_drive_the_terminal() -> None:
    assert any("vim\\x1b[2J is not there" in line for line in lines(sitting(*EVENTS["editor"])))

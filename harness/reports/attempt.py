"""An attempt for a person: its last result, how it ended, the rubric of an interview, the next step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from click import style

from harness.catalogue import Kata
from harness.practice.events import Checked, Result
from harness.practice.records import Ending
from harness.practice.rubric import Criterion, rubric
from harness.practice.rules import Asked, Phase, Rules
from harness.practice.session import Session
from harness.reports.terminal import check_page, error_page
from harness.reports.text import count, pasted, visible, wrap
from harness.results import Outcome

_COLOURS = {"✓": "green", "✗": "red"}


def clock(seconds: float) -> str:
    """``14:05``, ``1:00:00``; part of a second is left out."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_left(seconds: float) -> str:
    """A clock that shows its last second while there is any of it left."""
    return clock(math.ceil(seconds))


def kind_of(rules: Rules) -> str:
    """``practice``, ``interview`` or ``watch``."""
    return "interview" if rules.interview else "practice" if rules.timed else "watch"


def result_lines(result: Result) -> list[str]:
    """The page of ``kata check``, without the next step: a session with a clock has its own."""
    return _page(result)[0]


def _page(result: Result) -> tuple[list[str], list[str]]:
    """The page of ``kata check``, and its next step."""
    if result.verdict is not None:
        page = check_page(result.verdict, result.lead)
    elif result.error is not None:
        page = error_page(result.error)
    lines = page.splitlines()
    following = next((number for number, line in enumerate(lines) if line.startswith("  Next: ")), len(lines))
    return lines[:following], [line.removeprefix("  ") for line in lines[following:]]


def prompt(asked: Asked, kata: str, path: Path) -> str:
    """The question that waits for yes or no."""
    if asked is Asked.GIVE_UP:
        return f"Give up on {kata}? y or n"
    return f"Hand in {visible(path.name)} once and for all? It is not known to be right. y or n"


def closing_page(session: Session, kata: Kata, path: Path, *, rated: str = "", remarks: Sequence[str] = ()) -> str:
    """What is left on the terminal when the session has gone: the answer first, the next step last."""
    timed = session.rules.timed
    result = session.last.result if session.last else None
    counts = (session.phase is Phase.OVER and session.ending is not Ending.GAVE_UP) or not timed
    lines, step = _page(result) if result and (counts or not result.judged) else ([], [])
    if lines and not timed and session.checking is not None:
        lines = [*wrap("Left before the latest save was checked. Of the save before it:", indent=""), *lines]
        step = []
    if session.rules.interview and counts and result:
        criteria = rubric(result, hints=session.hints, of_hints=len(kata.hints))
        lines += ["", *rubric_lines(criteria), "", *question_lines(kata), ""]
    if timed:  # after a rubric the verdict may be out of sight
        lines += ending_lines(session, kata)
    if rated:
        lines += wrap(rated, indent="", hanging="  ")
    lines += [line for remark in remarks for line in wrap(remark, indent="")]
    if timed or not step:
        step = wrap(next_step(session, kata, path), indent="", hanging="  ")
    return "\n".join([*lines, *step])


def ending_lines(session: Session, kata: Kata) -> list[str]:
    """How a session with a clock ended, in a word why, and how much of the time it took."""
    if not session.begun:
        return ["The clock was not started."]
    minutes = session.rules.minutes or 0
    used = f"{clock(session.used)} of {clock(minutes * 60)}"
    hints = f", {count(session.hints, 'hint')} of {len(kata.hints)}" if session.hints else ", no hints"
    return wrap(_endings(session, used) + hints, indent="", hanging="  ")


def _endings(session: Session, used: str) -> str:
    late = session.rules.minutes is not None and session.used >= session.rules.minutes * 60
    return {
        Ending.PASSED: f"Passed{' late: the bell handed it in' if late else ''}: {used}",
        Ending.FAILED: f"Failed: {_failure(session.last).removeprefix('is ')}; {used}",
        Ending.TIMED_OUT: f"Time is up: what was saved last {_failure(session.last)}; {used}",
        Ending.GAVE_UP: f"Given up: {used}",
        None: f"Left for another time: {used} used",
    }[session.ending]


def _failure(last: Checked | None) -> str:
    """``is wrong for 12 of 24 cases``."""
    if last is None or last.result.outcome is None:
        return "is not right"
    if last.result.verdict is None:
        return "does not compile"
    cases = last.result.verdict.cases
    bad = sum(case.outcome is not Outcome.RIGHT for case in cases)
    verb = "faults" if last.result.outcome is Outcome.FAULT else "is wrong"
    return f"{verb} for {bad} of {count(len(cases), 'case')}" if bad else verb


def rubric_lines(criteria: Iterable[Criterion]) -> list[str]:
    """One line for each criterion, longer ones wrapped under themselves."""
    criteria = list(criteria)
    room = max(len(criterion.name) for criterion in criteria)
    lines = [style("Rubric", bold=True)]
    for criterion in criteria:
        mark = criterion.mark.value
        first, *rest = wrap(f"{mark} {criterion.name:<{room}}  {criterion.sentence}", hanging=" " * (room + 4))
        lines += [first.replace(mark, style(mark, fg=_COLOURS.get(mark)), 1), *rest]
    return lines


def question_lines(kata: Kata) -> list[str]:
    """What an interviewer asks next."""
    lines = [style("They would go on to ask", bold=True)]
    for number, question in enumerate(kata.questions, 1):
        lines += wrap(f"{number}. {question.ask}", hanging="   ")
    topics = dict.fromkeys(question.topic for question in kata.questions)
    return lines + wrap(f"With answers: {', '.join(f'kata quiz {topic}' for topic in topics)}")


def next_step(session: Session, kata: Kata, path: Path) -> str:
    """The last line."""
    name = kata.name
    result = session.last.result if session.last else None
    file = "" if path == Path(f"{name}.cu") else f" {pasted(str(path))}"
    if not session.rules.timed:  # nothing was checked, or not the latest save
        return f"Next: kata check {name}{file}"
    if session.ending is None:
        doctor = "kata doctor, then " if result and not result.judged else ""
        return f"Next: {doctor}kata practice {name}{' goes on where you left' if session.begun else ''}"
    if session.ending is Ending.PASSED:
        speed = result.verdict.speed if result and result.verdict else None
        faster = speed.grade.next if speed and speed.grade else None
        return f"Next: kata solution {name} {faster or '--list'}, or kata practice"
    if session.ending is Ending.GAVE_UP:
        return f"Next: kata solution {name} 1"
    return f"Next: kata watch {name}{file} (no clock), or kata solution {name} 1"

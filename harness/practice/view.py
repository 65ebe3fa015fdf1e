"""What the screen of a session shows, line by line. It only looks: nothing here changes a session but how far it can be
scrolled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from harness.catalogue import Kata
from harness.practice.editor import Editor
from harness.practice.events import CaseDone
from harness.practice.rules import Asked, Panel, Phase
from harness.practice.session import Session
from harness.reports.attempt import clock, kind_of, prompt, result_lines, time_left
from harness.reports.text import STAND_INS, brief_path, count, visible, wrap
from harness.results import Outcome

#: The part of the time, and the seconds, that are left when the clock turns yellow and red.
_SOON, _LAST_SECONDS = 0.25, 60

#: Screens lower than this have no room for anything but the clock, the result and the keys; higher ones for some air.
_LOW, _HIGH = 10, 16


@dataclass(frozen=True)
class Subject:
    """What a session is about: the kata, its question (Markdown), the user's file as shown, the editor if any."""

    kata: Kata
    question: str
    path: Path
    editor: Editor | None


def screen(session: Session, subject: Subject, width: int, height: int, *, ascii_only: bool = False) -> list[Text]:
    """Exactly ``height`` lines of at most ``width`` columns, where ``ascii_only`` even with stand-ins for what ASCII
    lacks. A scroll position past the end is set back to it."""
    low = height < _LOW
    top = [_clock_line(session, subject, width)]
    bottom = [*_messages(session, subject), _keys(session, subject, width)]
    if low:
        bottom = bottom if session.asked else bottom[-1:]
    else:
        top += [_status(session, subject), _rule(session, width), *([Text()] if height >= _HIGH else [])]
        bottom = [Text(), *bottom]
    room = max(height - len(top) - len(bottom), 0)
    body = _body(session, subject, width)
    session.scroll = min(session.scroll, max(len(body) - room, 0))
    lines = [*top, *_window(body, session.scroll, room), *bottom][:height]
    for line in lines:
        _fit(line, width, ascii_only=ascii_only)
    return lines


def _fit(line: Text, width: int, *, ascii_only: bool) -> None:
    """Cut a line that is too long."""
    line.no_wrap = True
    more = sum(len(STAND_INS.get(character, "?")) - 1 for character in line.plain) if ascii_only else 0
    if line.cell_len + more > width:
        line.truncate(max(width - more - 3, 0), overflow="crop")
        line.append("..."[:width])


def _window(body: list[Text], start: int, room: int) -> list[Text]:
    """``room`` lines of ``body``; the last says how much more there is."""
    shown = body[start : start + room]
    more = len(body) - start - room
    if more > 0 and room > 1:
        shown[-1] = Text(f"  ... {count(more + 1, 'more line')}: space or the arrow keys", style="dim")
    return shown + [Text()] * (room - len(shown))


def _clock_line(session: Session, subject: Subject, width: int) -> Text:
    name = Text.assemble((subject.kata.name, "bold"), (f" · {kind_of(session.rules)}", "dim"))
    if session.left is None or session.rules.minutes is None:
        return name
    style = "bold"
    if session.left <= _LAST_SECONDS:
        style = "bold red"
    elif session.left <= session.rules.minutes * 60 * _SOON:
        style = "bold yellow"
    whole = f" of {clock(session.rules.minutes * 60)}"
    left = Text.assemble((f"{time_left(session.left)} left", style), (whole, "dim"))
    gap = width - name.cell_len - left.cell_len
    if gap < 1:
        left, gap = Text(time_left(session.left), style), max(width - name.cell_len - 8, 1)
    return Text.assemble(name, " " * gap, left)


def _rule(session: Session, width: int) -> Text:
    """A line as long as the time that is left."""
    if session.left is None or session.rules.minutes is None:
        return Text("─" * width, style="dim")
    return Text("─" * math.ceil(width * session.left / (session.rules.minutes * 60)), style="dim")


def _status(session: Session, subject: Subject) -> Text:
    """One line: which file, and how it stands."""
    return Text.assemble(brief_path(subject.path), (" · ", "dim"), _standing(session))


def _standing(session: Session) -> Text:
    if session.phase is Phase.READY:
        return Text("the clock is paused" if session.used else "the clock has not started")
    handed = "time is up, " if session.rang else "handed in, " if session.phase is Phase.JUDGING else ""
    if session.checking is not None:
        return Text(handed + "checking" + _so_far(session.progress), style="cyan")
    if session.rules.interview:
        return Text("no checks until you submit")
    if session.last is None:
        return Text("not checked yet: save it", style="dim")
    verdict = session.last.result.verdict
    if verdict is None:
        return Text("does not compile" if session.last.result.judged else "not checked", style="red")
    right = sum(case.outcome is Outcome.RIGHT for case in verdict.cases)
    good = verdict.outcome is Outcome.RIGHT
    doing = ", predicting its time" if session.grading is not None else ""
    of = count(len(verdict.cases), "case")
    return Text(f"{handed}{right} of {of} right{doing}", style="green" if good else "red")


def _so_far(progress: list[CaseDone]) -> str:
    if not progress:
        return ""
    right = sum(done.case.outcome is Outcome.RIGHT for done in progress)
    wrong = f", {len(progress) - right} not" if right < len(progress) else ""
    return f": {right} of {count(progress[-1].total, 'case')} right{wrong}"


def _body(session: Session, subject: Subject, width: int) -> list[Text]:
    if session.panel is Panel.QUESTION:
        return _question(subject, width)
    if session.panel is Panel.HINT:
        return _hints(session, subject)
    if session.last is None or (session.rules.interview and not session.done):
        return [Text(line) for line in wrap(_advice(session, subject))]
    return [Text.from_ansi(line) for line in result_lines(session.last.result)]


def _question(subject: Subject, width: int) -> list[Text]:
    console = Console(width=width, force_terminal=True, highlight=False)
    with console.capture() as captured:
        console.print(Markdown(subject.question, hyperlinks=False, code_theme="ansi_dark"))
    return [Text.from_ansi(line.rstrip()) for line in captured.get().splitlines()]


def _hints(session: Session, subject: Subject) -> list[Text]:
    """All hints so far, the latest first."""
    lines: list[Text] = []
    for number in range(session.hints, 0, -1):
        lines.append(Text(f"Hint {number} of {len(subject.kata.hints)}", style="bold"))
        lines += [*map(Text, wrap(subject.kata.hints[number - 1])), Text()]
    return lines


def _advice(session: Session, subject: Subject) -> str:
    """What to do while there is no result."""
    path = visible(str(subject.path))
    how = f"Press e to edit {path} with {subject.editor.name}" if subject.editor else f"Open {path} in your editor"
    if session.rules.interview:
        return f"{how}, and s to submit it.\nAs in an interview, nothing is compiled or checked before."
    return f"{how}. Every save is checked."


def _messages(session: Session, subject: Subject) -> list[Text]:
    """What the person should know, a line each; one that is empty where that is nothing."""
    if session.asked is not None:
        return [Text(prompt(session.asked, subject.kata.name, subject.path), style="bold yellow")]
    result = session.last.result if session.last else None
    interview = session.phase is Phase.READY and session.rules.interview
    notices = ["An interview: nothing is checked until you submit, once."] * interview
    notices += [visible(session.notice)] if session.notice else []
    if notices:
        return [Text(notice, style="yellow") for notice in notices]
    known = result is not None and result.right and result.complete and session.known_right
    if known and session.rules.timed and session.phase is Phase.RUNNING:
        return [Text("Right! s hands it in, or go on and make it faster.", style="bold green")]
    return [Text()]


#: Keys in the order of the last line, with what they do in full.
_HELP = {
    Phase.READY: (("Enter", "start the clock"), ("x", "leave")),
    Phase.RUNNING: (("h", "hint"), ("q", "question"), ("v", "verdict"), ("e", "edit"), ("s", "submit"),
                    ("g", "give up"), ("x", "quit, resume later")),
    Phase.JUDGING: (("q", "question"), ("v", "verdict"), ("x", "quit")),
}  # fmt: skip
_ONLY_TIMED = ("s", "g")


def _keys(session: Session, subject: Subject, width: int) -> Text:
    if session.asked is Asked.SUBMIT or session.asked is Asked.GIVE_UP:
        keys: tuple[tuple[str, str], ...] = (("y", "yes"), ("n", "no"))
    else:
        keys = _HELP.get(session.phase, ())
    if session.phase is Phase.READY and session.used:
        keys = (("Enter", "go on"), *keys[1:])
    elif session.panel is Panel.RESULT:
        keys = tuple((key, what) for key, what in keys if key != "v")
    elif session.last is None or (session.rules.interview and not session.done):
        keys = tuple((key, "back" if key == "v" else what) for key, what in keys)
    if not session.rules.timed:
        keys = tuple((key, "quit" if key == "x" else what) for key, what in keys if key not in _ONLY_TIMED)
    keys = tuple((key, what) for key, what in keys if key != "e" or subject.editor)
    return next((line for line in _as_lines(keys) if line.cell_len <= width), Text())


def _as_lines(keys: tuple[tuple[str, str], ...]) -> Iterator[Text]:
    """The keys in full, with one word each, and alone."""
    yield Text("  ").join(Text.assemble((key, "bold"), (f" {what}", "dim")) for key, what in keys)
    yield Text("  ").join(Text.assemble((key, "bold"), (f" {what.split()[0].strip(',')}", "dim")) for key, what in keys)
    yield Text(" ").join(Text(key, style="bold") for key, _ in keys)

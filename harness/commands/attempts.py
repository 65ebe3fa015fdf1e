"""What several commands do with attempts that are open, and how a session is run from the command line."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.check import EXIT_CODES
from harness.commands.remembering import warn
from harness.commands.shared import question_of, say

if TYPE_CHECKING:
    from harness.catalogue import Kata
    from harness.practice.editor import Editor
    from harness.practice.history import History
    from harness.practice.records import Attempt
    from harness.practice.session import Session


@contextmanager
def opened_attempts(name: str) -> Iterator[tuple[History, list[Attempt]] | None]:
    """The history and the open attempts at a kata, newest first; None where nothing can be remembered."""
    try:
        from harness.practice.history import open_history
    except ImportError:  # a Python without SQLite
        yield None
        return
    with open_history() as history:
        yield history, history.open_attempts(name)
        warn(history.notices)


def seed() -> int:
    """The inputs of a check, new each time."""
    return int.from_bytes(os.urandom(4))


def now() -> datetime:
    return datetime.now(UTC)


def play(
    session: Session, kata: Kata, path: Path, history: History, attempt: Attempt | None, editor: Editor | None,
    lay_ready: Callable[[], str], *, plain: bool, device: str, gpu_index: int, gpu: str,
) -> None:  # fmt: skip
    """Run a session in this terminal, or in lines where there is none or ``plain`` asks for them."""
    from harness.practice.book import Book
    from harness.practice.checker import Checker
    from harness.practice.display import Display, LiveDisplay, PlainDisplay
    from harness.practice.player import Player
    from harness.practice.view import Subject
    from harness.practice.watching import SavedFile

    subject = Subject(kata, question_of(kata), path, editor)
    player = Player(session, SavedFile(path), Book(history, kata, path, attempt, now), editor, lay_ready)
    display: Display
    if plain or not can_be_live():
        display = PlainDisplay(subject, say, _commands(), player.press)
    else:
        display = LiveDisplay(subject, sys.stdout, sys.stdin.fileno(), player.press)
    player.run(display, Checker(kata.name, path, player.report, device=device, gpu_index=gpu_index, gpu=gpu))


def tell(history: History) -> None:
    """Say what the person must know of the history before the last page, so that its last line stays the last."""
    warn(history.notices)
    history.notices.clear()


def exit_code(session: Session) -> int:
    """As ``kata check`` would end on the same file: 0 right, 1 not, 3 not compiled, 4 faulted, 5 the machine's fault.

    What was given up, or left for another time, is not right; a signal's own code goes before.
    """
    if session.interrupted is not None and session.rules.timed:
        return session.interrupted
    result = session.last.result if session.last else None
    if result is not None and result.error is not None and not result.judged:
        return result.error.exit_code
    from harness.practice.records import Ending

    if session.rules.timed and session.ending in (None, Ending.GAVE_UP):
        return 1
    return EXIT_CODES[result.outcome] if result is not None and result.outcome is not None else 1


def can_be_live() -> bool:
    """Whether there is a terminal that can be drawn on, and keys."""
    return sys.platform != "win32" and all(
        (sys.stdin.isatty(), sys.stdout.isatty(), os.environ.get("TERM", "dumb") != "dumb")
    )


def _commands() -> int | None:
    """Where lines can be read: a pipe, or the terminal while this is in the foreground."""
    try:
        descriptor = sys.stdin.fileno()
        if sys.stdin.isatty():
            return descriptor if os.tcgetpgrp(descriptor) == os.getpgrp() else None
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):
        return None
    return descriptor if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) else None

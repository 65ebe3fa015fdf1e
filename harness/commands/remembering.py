"""What several commands do with the history: keep a check, say what the person must know about the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from harness import catalogue
from harness.commands.shared import say
from harness.errors import EnvironmentFault
from harness.reports.text import wrap

if TYPE_CHECKING:
    from harness.practice.history import History
    from harness.practice.records import CheckRecord

_NO_SQLITE = "This Python was built without SQLite, so nothing is remembered."


def remember(kata: str, path: Path, make: Callable[[datetime, int | None], CheckRecord | None]) -> tuple[str, ...]:
    """Keep the check that ``make`` describes, given the time and the attempt that is open for the file. Answers what
    the person must be told; a check never fails for its record. A file of the catalogue is nobody's practice: a look at
    the best solution must not become somebody's best rung."""
    if _of_the_catalogue(path):
        return ()
    try:
        from harness.practice.history import open_history
        from harness.practice.recording import attempt_for
    except ImportError:
        return (_NO_SQLITE,)
    with open_history() as history:
        check = make(datetime.now(UTC), attempt_for(path, history.open_attempts(kata)))
        if check is not None:
            history.record(check)
        return tuple(history.notices)


def _of_the_catalogue(path: Path) -> bool:
    """Whether this is a solution, or a kernel known to be wrong."""
    home = catalogue.home()
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in (home.solutions, home.wrong))


def practised() -> bool:
    """Whether there is a history to ask: what only looks at it need not make one."""
    from harness.practice.history import FILE, data_folder

    try:
        return (data_folder() / FILE).exists()
    except OSError:  # there may be one: opening it will say why it can't be seen
        return True


@contextmanager
def opened_history() -> Iterator[History]:
    """The history, for a command that is about it; its notices are said at the end. EnvironmentFault without SQLite."""
    try:
        from harness.practice.history import open_history
    except ImportError as error:
        raise EnvironmentFault(_NO_SQLITE, remedy="Install a Python that has it.") from error
    with open_history() as history:
        try:
            yield history
        finally:
            warn(history.notices)


def warn(notices: Iterable[str]) -> None:
    """Say each notice on standard error."""
    for notice in notices:
        say("\n".join(wrap(f"Warning  {notice}", hanging=" " * 9)), err=True)

"""``kata hint``: one hint at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.attempts import now, opened_attempts
from harness.commands.shared import kata_argument, say
from harness.errors import UsageError
from harness.reports.text import wrap

if TYPE_CHECKING:
    from harness.practice.history import History
    from harness.practice.records import Attempt


@click.command("hint")
@kata_argument
@click.argument("number", type=int, required=False, metavar="[1..3]")
def command(name: str, number: int | None) -> None:
    """Show the next hint, the gentlest first.

    It is the one after that shown last, and the first again on another day; or the one with this number. During an
    attempt (kata practice) hints are counted.

    \b
    Example:  kata hint softmax
              kata hint softmax 1
    """
    kata = catalogue.load(name)
    last = len(kata.hints)
    if number is not None and not 1 <= number <= last:
        raise UsageError(f"{name} has hints 1 to {last}, not {number}", remedy=f"kata hint {name}")
    with opened_attempts(name) as found:
        seen = _seen(name, *found) if found else 0
        number = number or min(seen + 1, last)
        say(f"Hint {number} of {last} for {name}")
        say("\n".join(wrap(kata.hints[number - 1])))
        if found:
            _count(name, number, *found)
    further = f"kata hint {name} {number + 1}" if number < last else f"kata solution {name} 1"
    say(f"Next: kata check {name}, or if that is not enough: {further}")


def _seen(name: str, history: History, attempts: list[Attempt]) -> int:
    """The number of the hint that was shown last, in the open attempt or today; 0 for none."""
    if attempts:
        return attempts[0].hints
    shown = history.hint_shown(name)
    return shown[1] if shown and shown[0].astimezone().date() == now().astimezone().date() else 0


def _count(name: str, number: int, history: History, attempts: list[Attempt]) -> None:
    """Tell the open attempts at the kata that hints were seen up to this one."""
    history.show_hint(name, number)
    for attempt in attempts:
        history.save_progress(attempt.id, attempt.used, max(attempt.hints, number))
    if attempts:
        say(f"Counted in your open attempt: {max(attempts[0].hints, number)} so far.")

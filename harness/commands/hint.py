"""``kata hint``: one hint at a time."""

from __future__ import annotations

import click

from harness import catalogue
from harness.commands.attempts import opened_attempts
from harness.commands.shared import kata_argument, say
from harness.errors import UsageError
from harness.reports.text import wrap


@click.command("hint")
@kata_argument
@click.argument("number", type=int, default=1, metavar="[1..3]")
def command(name: str, number: int) -> None:
    """Show one hint, the gentlest first.

    During an attempt (kata practice) hints are counted.

    \b
    Example:  kata hint softmax 2
    """
    kata = catalogue.load(name)
    if not 1 <= number <= len(kata.hints):
        raise UsageError(f"{name} has hints 1 to {len(kata.hints)}, not {number}", remedy=f"kata hint {name}")
    say(f"Hint {number} of {len(kata.hints)} for {name}")
    say("\n".join(wrap(kata.hints[number - 1])))
    _count(name, number)
    further = f"kata hint {name} {number + 1}" if number < len(kata.hints) else f"kata solution {name} 1"
    say(f"Next: kata check {name}, or if that is not enough: {further}")


def _count(name: str, number: int) -> None:
    """Tell the open attempts at the kata that hints were seen up to this one."""
    with opened_attempts(name) as found:
        if found is None:
            return
        history, attempts = found
        for attempt in attempts:
            history.save_progress(attempt.id, attempt.used, max(attempt.hints, number))
        if attempts:
            say(f"Counted in your open attempt: {max(attempts[0].hints, number)} so far.")

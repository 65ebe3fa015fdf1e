"""``kata solution``: the ladder of reference solutions."""

from __future__ import annotations

import sys

import click
from click import style

from harness import catalogue
from harness.commands.attempts import opened_attempts
from harness.commands.shared import allow, kata_argument, say
from harness.errors import UsageError
from harness.reports.colouring import coloured
from harness.reports.text import shown_path

_COLOURS = {"preprocessor": "blue", "comment": "bright_black", "type": "cyan", "keyword": "blue", "string": "yellow",
            "number": "yellow"}  # fmt: skip


@click.command("solution")
@kata_argument
@click.argument("rung", type=int, required=False)
@click.option("--list", "ladder", is_flag=True, help="Show the titles of all rungs.")
@click.option("--yes", is_flag=True, help="Don't ask, though it gives up an open attempt.")
def command(name: str, rung: int | None, ladder: bool, yes: bool) -> None:
    """Show a commented reference solution.

    Rung RUNG of the ladder, else the first. Piped, it is the file and nothing else. During an attempt (kata practice)
    it asks first: seeing a solution is giving up.

    \b
    Example:  kata solution softmax --list
              kata solution softmax 3
    """
    kata = catalogue.load(name)
    rungs = {each.number: each for each in kata.rungs}
    if not rungs:
        raise UsageError(f"{name} has no solutions here", remedy=f"They are looked for in {kata.solutions}.")
    if ladder:
        say(f"Rungs of {name}, simplest first; each takes away a cost of the one before")
        for each in rungs.values():
            say(f"  {each.number}  {each.title}")
        say(f"Next: kata solution {name} {min(rungs)}")
        return
    chosen = min(rungs) if rung is None else rung
    if chosen not in rungs:
        raise UsageError(f"{name} has rungs 1 to {max(rungs)}, not {chosen}", remedy=f"kata solution {name} --list")
    _give_up(name, force=yes)
    source = rungs[chosen].path.read_text(encoding="utf-8")
    if not sys.stdout.isatty():  # `kata solution softmax 3 > softmax.cu` gives the file and nothing else
        say(source, end="")
        return
    say(_in_colour(source))
    say(f"This file: {shown_path(rungs[chosen].path)}")
    further = f"kata solution {name} {chosen + 1}" if chosen + 1 in rungs else "kata list"
    say(f"Next: {further}")


def _in_colour(source: str) -> str:
    """The file line for line as it is, so that what is copied off the screen compiles: the terminal breaks lines."""
    return "".join(
        "".join(style(text, fg=_COLOURS[kind]) if kind else text for kind, text in line) + "\n"
        for line in coloured(source)
    )


def _give_up(name: str, *, force: bool) -> None:
    """End the open attempts at the kata, if the person agrees. UsageError if not, or where nobody can be asked."""
    from harness.practice.records import Ending

    with opened_attempts(name) as found:
        if found is None or not found[1]:
            return
        history, attempts = found
        allow(f"Give up your open attempt at {name}, and see a solution?", force=force,
              remedy=f"Add --yes, or go on with it: kata practice {name}")  # fmt: skip
        for attempt in attempts:
            history.finish(attempt.id, Ending.GAVE_UP, None, None, attempt.used, attempt.hints)

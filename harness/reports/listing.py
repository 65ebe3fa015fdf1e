"""The catalogue for a person: what each kata asks, and when it is due again."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from harness.catalogue import Kata
from harness.reports.text import width, wrap

if TYPE_CHECKING:
    from harness.practice.schedule import Due


def list_lines(katas: Sequence[Kata], due: Sequence[Due], now: datetime) -> list[str]:
    """A line for each of ``katas``; ``due`` is in the order to practise them, empty where nothing was practised yet."""
    room = max((len(kata.name) for kata in katas), default=4)
    when = {one.kata: f"{until(one, now)}: {one.brief}" if one.when else one.brief for one in due}
    if not any(one.when for one in due):
        when = {}
    wide = max(map(len, [*when.values(), "due"])) if when else 0
    column = f"{'due':<{wide}}  " if when else ""
    lines = [f"{'kata':<{room}}  asked   min  {column}what it asks"]
    for kata in katas:
        start = f"{kata.name:<{room}}  {kata.frequency:<6}  {kata.minutes:>3}  "
        if when:
            start += f"{when[kata.name]:<{wide}}  "
        lines += textwrap.wrap(kata.summary, width(), initial_indent=start, subsequent_indent=" " * len(start))
    return [*lines, "", *_next_step(due if when else [], now)]


def until(due: Due, now: datetime) -> str:
    """``now``, ``3 d``, ``2 mo``: how long until it is due."""
    if due.today or due.when is None:
        return "now"
    days = (due.when.astimezone().date() - now.astimezone().date()).days
    return f"{days} d" if days < 60 else f"{round(days / 30.4)} mo"


def _next_step(due: Sequence[Due], now: datetime) -> list[str]:
    if not due:
        return ["Next: kata show NAME, or kata practice, which picks one"]
    first = due[0]
    why = f"last time: {first.why}" if first.when else first.why
    return wrap(f"Next: kata practice {first.kata} ({why})", indent="", hanging="  ")

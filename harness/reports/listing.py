"""The catalogue for a person: what each kata asks, how far they are with it, and when it is due again."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from harness.catalogue import Kata
from harness.reports.text import width, wrap

if TYPE_CHECKING:
    from harness.practice.schedule import Due
    from harness.practice.statistics import KataSums


def list_lines(
    katas: Sequence[Kata], due: Sequence[Due], sums: Mapping[str, KataSums], now: datetime
) -> list[str]:
    """A line for each of ``katas``; ``due`` is in the order to practise them, ``sums`` what was done by name; both are
    empty where nothing was done yet."""
    room = max(map(len, ["kata", *(kata.name for kata in katas)]))
    known = {one.kata: one for one in due}
    states = {kata.name: _state(kata, known.get(kata.name), sums.get(kata.name), now) for kata in katas}
    head = "due" if any(one.when for one in due) else "so far"
    wide = max(map(len, [*states.values(), head]))
    lines = [f"{'kata':<{room}}  asked   min  {head:<{wide}}  what it asks"]
    for kata in katas:
        start = f"{kata.name:<{room}}  {kata.frequency:<6}  {kata.minutes:>3}  {states[kata.name]:<{wide}}  "
        lines += textwrap.wrap(kata.summary, width(), initial_indent=start, subsequent_indent=" " * len(start))
    return [*lines, "", *_next_step(due, sums, now)]


def _state(kata: Kata, due: Due | None, sums: KataSums | None, now: datetime) -> str:
    """When it is due and why; of one that was never practised to the end, what its checks have shown."""
    if due is not None and due.when is not None:
        return f"{until(due, now)}: {due.brief}"
    if sums is None:
        return "new"
    if not sums.right:
        return "tried" if sums.checks else "begun"
    return f"right, {sums.rung}/{len(kata.rungs)}" if sums.rung else "right"


def until(due: Due, now: datetime) -> str:
    """``now``, ``3 d``, ``2 mo``: how long until it is due."""
    if due.today or due.when is None:
        return "now"
    days = (due.when.astimezone().date() - now.astimezone().date()).days
    return f"{days} d" if days < 60 else f"{round(days / 30.4)} mo"


def _next_step(due: Sequence[Due], sums: Mapping[str, KataSums], now: datetime) -> list[str]:
    if not sums or not due:
        return ["Next: kata show NAME, or kata practice, which picks one"]
    first = due[0]
    checked = first.kata in sums
    why = f"last time: {first.why}" if first.when else "not against the clock yet" if checked else first.why
    return wrap(f"Next: kata practice {first.kata} ({why})", indent="", hanging="  ")

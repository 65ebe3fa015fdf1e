"""``kata stats``: what practice adds up to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.remembering import opened_history
from harness.commands.shared import csv_option, json_option, one_form, optional_kata_argument, say, say_json

if TYPE_CHECKING:
    from harness.practice.history import History
    from harness.reports.stats import Stats


@click.command("stats")
@optional_kata_argument
@json_option
@csv_option
def command(name: str | None, as_json: bool, as_csv: bool) -> None:
    """Show your streak, and how far you got in each kata.

    The best rung, the best time that a GPU took, how often it was right, how much you did each week. With NAME, the
    time of each attempt at that kata.

    \b
    Example:  kata stats
              kata stats softmax
    """
    one_form(as_json=as_json, as_csv=as_csv)
    if name:
        catalogue.load(name)
    with opened_history() as history:
        stats = _sums(history, datetime.now(UTC), name)
        tries = history.attempts(name) if name else []
    from harness.reports.stats import stats_csv, stats_lines, stats_record, tries_lines

    if as_json:
        say_json(stats_record(stats))
    elif as_csv:
        say(stats_csv(stats), end="")
    elif name and tries:
        say("\n".join(tries_lines(stats, tries)))
        say(f"\nNext: kata practice {name}")
    elif name:
        say(f"No attempt at {name} yet; kata history {name} shows its checks.")
        say(f"Next: kata practice {name}")
    elif not stats.days:
        say("Nothing yet: every kata check is counted from now on.")
        say("Next: kata list")
    else:
        say("\n".join(stats_lines(stats)))
        say("\nNext: kata list shows what is due; kata history shows each check")


def _sums(history: History, now: datetime, name: str | None) -> Stats:
    """All that was practised; of ``name``, the sums of that kata only."""
    from harness.practice.cards import cards_of
    from harness.practice.statistics import by_day, streak
    from harness.reports.stats import Ladder, Stats

    katas = catalogue.load_all()
    days = by_day(history.moments())
    today = now.astimezone().date()
    known = {card.id for card in cards_of(katas)}
    reviews = history.reviews()
    return Stats(
        katas=tuple(one for one in history.sums() if name in (None, one.kata)), streak=streak(days, today),
        days=days, today=today,
        ladders={kata.name: Ladder(len(kata.rungs), kata.par, kata.minutes) for kata in katas},
        answers=len(reviews), seen=len({review.card for review in reviews} & known), cards=len(known),
    )  # fmt: skip

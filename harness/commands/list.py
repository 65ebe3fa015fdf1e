"""``kata list``: every kata on one line, and which are due."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.remembering import opened_history, practised
from harness.commands.shared import json_option, say, say_json

if TYPE_CHECKING:
    from harness.practice.schedule import Due
    from harness.practice.statistics import KataSums


@click.command("list")
@json_option
def command(as_json: bool) -> None:
    """Show every kata, easiest first, and how far you are.

    \b
    Example:  kata list
    """
    katas = catalogue.load_all()
    now = datetime.now(UTC)
    due: list[Due] = []
    sums: dict[str, KataSums] = {}
    if practised():
        from harness.practice import schedule

        with opened_history() as history:
            due = schedule.due(history, katas, now)
            sums = {one.kata: one for one in history.sums()}
    if as_json:
        from harness.reports.jsonout import list_record

        say_json(list_record(katas, due, sums))
        return
    from harness.reports.listing import list_lines

    say("\n".join(list_lines(katas, due, sums, now)))

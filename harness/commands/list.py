"""``kata list``: every kata on one line."""

from __future__ import annotations

import textwrap

import click

from harness import catalogue
from harness.commands.shared import json_option, say, say_json


@click.command("list")
@json_option
def command(as_json: bool) -> None:
    """Show every kata, easiest first.

    \b
    Example:  kata list
    """
    katas = catalogue.load_all()
    if as_json:
        from harness.reports.jsonout import list_record

        say_json(list_record(katas))
        return
    from harness.reports.text import width

    name_width = max((len(kata.name) for kata in katas), default=4)
    say(f"{'kata':<{name_width}}  asked   min  what it asks")
    for kata in katas:
        start = f"{kata.name:<{name_width}}  {kata.frequency:<6}  {kata.minutes:>3}  "
        say("\n".join(textwrap.wrap(kata.summary, width(), initial_indent=start, subsequent_indent=" " * len(start))))
    say("\nNext: kata show NAME")

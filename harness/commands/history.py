"""``kata history``: what was practised, newest first; and its way to other machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.remembering import opened_history
from harness.commands.shared import csv_option, json_option, one_form, optional_kata_argument, say, say_json, write
from harness.errors import EnvironmentFault, UsageError
from harness.reports.text import count, shown_path

if TYPE_CHECKING:
    from harness.practice.history import History

#: Lines of the table unless ``-n`` says otherwise; programs get everything.
LINES = 20


@click.command("history")
@optional_kata_argument
@click.option("-n", "limit", type=click.IntRange(1), metavar="N", help=f"How many; {LINES} unless given, or --json.")
@json_option
@csv_option
@click.option("--export", "target", metavar="FILE", type=click.Path(path_type=Path), help="Write all of it to FILE.")
@click.option(
    "--import", "source", metavar="FILE", type=click.Path(path_type=Path),
    help="Take in what FILE holds and is not here yet.",
)  # fmt: skip
def command(
    name: str | None, limit: int | None, as_json: bool, as_csv: bool, target: Path | None, source: Path | None
) -> None:
    """Show what you practised, newest first.

    Every check and every attempt, of all katas or of one. FILE is JSON Lines.

    \b
    Example:  kata history softmax
              kata history --export mine.jsonl
    """
    one_form(as_json=as_json, as_csv=as_csv, export=target is not None, import_=source is not None)
    if name is not None:
        catalogue.load(name)
    with opened_history() as history:
        if source:
            _take_in(history, source, name)
        elif target:
            _write_out(history, target, name)
        else:
            _show(history, name, limit, as_json=as_json, as_csv=as_csv)


def _show(history: History, name: str | None, limit: int | None, *, as_json: bool, as_csv: bool) -> None:
    from harness.reports.history import history_csv, history_lines, history_record, merged

    most = limit if limit or as_json or as_csv else LINES
    entries = merged(history.checks(name, limit=most), history.attempts(name, limit=most), most)
    if as_json:
        say_json(history_record(entries))
    elif as_csv:
        say(history_csv(entries), end="")
    elif not entries:
        say(f"Nothing of {name} yet." if name else "Nothing yet: every kata check is remembered from now on.")
        say(f"Next: kata start {name}" if name else "Next: kata list")
    else:
        say("\n".join(history_lines(entries)))
        more = f"; kata history -n {5 * len(entries)} shows more" if len(entries) == most else ""
        say(f"\nNext: kata stats{more}")


def _take_in(history: History, source: Path, name: str | None) -> None:
    from harness.practice.transfer import merge, read_file

    if name is not None:
        raise UsageError("--import takes in all of a file, not one kata", remedy=f"kata history --import {source}")
    store = history.store
    merged = merge(store, read_file(source))
    if store.detached:
        raise EnvironmentFault("nothing was taken in: the history can't be written", remedy=store.trouble or None)
    known = merged.held - merged.new
    say(f"Took in {count(merged.new, 'record')} from {shown_path(source)}"
        + (f"; {known} were here already." if known else "."))  # fmt: skip
    say("Next: kata history")


def _write_out(history: History, target: Path, name: str | None) -> None:
    from harness.practice.transfer import lines, read_rows

    if name is not None:
        raise UsageError("--export writes all of the history, not one kata", remedy=f"kata history --export {target}")
    found = read_rows(history.store)
    text = "\n".join(lines(found)) + "\n"
    if str(target) == "-":
        say(text, end="")
        return
    if target.exists():
        raise UsageError(f"{target} is there already", remedy="Name a file that is not.")
    write(target, text)
    say(f"Wrote {count(sum(map(len, found.values())), 'record')} to {shown_path(target)}.")
    say(f"Next, on the other machine: kata history --import {target.name}")

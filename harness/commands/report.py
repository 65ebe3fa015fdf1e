"""``kata report``: one HTML page of a kernel, to look at and to keep."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.check import EXIT_CODES, checked, resolve
from harness.commands.profile import profiled
from harness.commands.remembering import warn
from harness.commands.shared import (
    allow,
    device_option,
    file_argument,
    gpu_index_option,
    gpu_option,
    kata_argument,
    predicting,
    say,
    write,
)
from harness.errors import KataError, UsageError
from harness.results import Outcome

if TYPE_CHECKING:
    from harness.catalogue import Kata
    from harness.profiles import Profile
    from harness.reports.pictures.practice import Past
    from harness.results import Verdict


@click.command("report")
@kata_argument
@file_argument
@click.option("--html", "out", type=click.Path(path_type=Path), metavar="OUT",
              help="The page to write; ./NAME.html unless given.")  # fmt: skip
@gpu_option
@device_option
@gpu_index_option
@click.option("--force", is_flag=True, help="Replace OUT even if it is not a report.")
@click.pass_context
def command(
    context: click.Context, name: str, file: Path | None, out: Path | None, gpu: str, device: str, gpu_index: int,
    force: bool,
) -> None:  # fmt: skip
    """Write one HTML page about your kernel.

    It is checked and profiled; the page shows the verdict, the source with its figures, what to change, and pictures of
    the memory accesses, the occupancy, the roofline and the ladder. It needs no network. An earlier report is replaced.
    The exit code is that of the check.

    \b
    Example:  kata report softmax
              kata report softmax mine.cu --html mine.html --gpu h100
    """
    from harness.grading import headline
    from harness.reports.advice import doubt
    from harness.reports.html import Report, report_page
    from harness.reports.terminal import answer
    from harness.simulator.gpus import load_gpu

    kata = catalogue.load(name)
    path = resolve(kata, file)
    out = out or Path(f"{name}.html")
    chosen = load_gpu(gpu)
    _make_room(out, path, force=force)
    text = path.read_text(encoding="utf-8-sig")
    seed = int.from_bytes(os.urandom(4))
    verdict = checked(kata, path, predicting(context, device), gpu_index, seed, gpu=gpu)
    profile, undone, why = _figures(kata, path, gpu, verdict)
    report = Report(
        kata, verdict, headline(verdict), text, datetime.now(), profile=profile, gpu=chosen if profile else None,
        why=why, undone=undone, checks=_past(kata),
    )  # fmt: skip
    write(out, report_page(report))
    say(answer(verdict))
    if undone:
        warn([doubt(undone)])
    say(f"Next: open {out} in a browser")
    context.exit(EXIT_CODES[verdict.outcome])


def _make_room(out: Path, source: Path, *, force: bool) -> None:
    """Refuse or ask before ``out`` takes the place of something that is not an earlier report."""
    from harness.reports.html import is_report

    if out.is_dir():
        raise UsageError(f"{out} is a folder", remedy=f"Name a file in it: --html {out / source.stem}.html")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}", remedy="Make it first, or name another.")
    if not out.exists():
        return
    another = "Name another file: --html OUT"
    if not out.is_file():
        raise UsageError(f"{out} is not a regular file", remedy=another)
    if out.samefile(source):
        raise UsageError(f"{out} is your kernel itself", remedy=another)
    try:
        with out.open(encoding="utf-8", errors="replace") as earlier:
            ours = is_report(earlier.read(1 << 12))
    except OSError as error:
        raise UsageError(f"can't read what is in {out}: {error.strerror}", remedy=another) from error
    if not ours:
        allow(f"{out} is not a report. Replace it?", force=force, remedy=f"{another}; or replace it: --force")


def _figures(kata: Kata, path: Path, gpu: str, verdict: Verdict) -> tuple[Profile | None, str | None, str | None]:
    """The profile and what of the work is left out, or why there is none: the verdict is worth a page all the same."""
    if verdict.outcome is Outcome.FAULT:
        return None, None, "the kernel faults"
    try:
        return *profiled(kata, path, gpu), None
    except KataError as error:
        return None, None, error.message


def _past(kata: Kata) -> list[Past]:
    """Earlier checks of this kata, oldest first."""
    from harness.practice.history import open_history
    from harness.reports.pictures.practice import MOST

    with open_history() as history:
        latest = list(history.checks(kata.name, limit=MOST))
    return [(one.when, one.outcome is Outcome.RIGHT, one.rung) for one in reversed(latest)]

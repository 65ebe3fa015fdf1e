"""``kata verify``: the catalogue proves itself."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.shared import json_option, say, say_json
from harness.reports.text import count, shown_path, wrap

if TYPE_CHECKING:
    from harness.verification import Finding, Task


@click.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("-j", "processes", type=click.IntRange(1), metavar="N", help="Processes; as many as cores unless given.")
@click.option("--seed", type=click.IntRange(0), default=1, metavar="N", help="Inputs of the checks (default 1).")
@json_option
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], processes: int | None, seed: int, as_json: bool) -> None:
    """Check the katas themselves, all or those named.

    For people who write katas. Skeletons must fail, solutions pass without a warning, and so must the known-right
    kernels of a checkout; its known-wrong ones must fail for the reason they state.

    \b
    Example:  kata verify softmax
    """
    from harness.verification import concerns, examine_files, plan_tasks, run_all

    started = time.monotonic()
    home = catalogue.home()
    everything = catalogue.load_all()
    katas = [catalogue.load(name) for name in dict.fromkeys(names)] or everything
    findings = [finding for finding in examine_files(home, everything) if concerns(finding, home, katas, everything)]
    tasks, unreadable = plan_tasks(home, katas)

    def progress(done: int) -> None:
        if sys.stderr.isatty() and not as_json:
            say(f"\r  {done} of {len(tasks)} files checked", err=True, end="\n" if done == len(tasks) else "")

    findings += unreadable + run_all(tasks, seed, min(processes or os.cpu_count() or 1, len(tasks)), progress)
    report(tasks, findings, seed, time.monotonic() - started, as_json=as_json)
    context.exit(1 if findings else 0)


def report(tasks: list[Task], findings: list[Finding], seed: int, seconds: float, *, as_json: bool) -> None:
    """Print how many files of each sort were checked, and each finding in words."""
    from harness.verification import Role

    counts = {role.value: sum(task.role is role for task in tasks) for role in Role}
    if as_json:
        from harness.reports.jsonout import SCHEMA

        rows = [{"file": finding.file, "problem": finding.problem} for finding in findings]
        checked = {f"{noun}s".replace(" ", "_"): number for noun, number in counts.items()}
        say_json({"schema": SCHEMA, "checked": checked, "seed": seed, "seconds": round(seconds, 1), "findings": rows})
        return
    what = ", ".join(count(number, noun) for noun, number in counts.items())
    verdict = f"{len(findings)} not as they must be" if findings else "all as they must be"
    say(f"{'✗' if findings else '✓'} {what}: {verdict} ({seconds:.0f} s)")
    for finding in findings:
        say("\n".join(wrap(f"{shown_path(Path(finding.file))}: {finding.problem}", hanging="  ")))

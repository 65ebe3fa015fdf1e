"""``kata profile``: why a kernel is slow, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.check import resolve
from harness.commands.remembering import opened_history, practised, warn
from harness.commands.shared import file_argument, gpu_option, json_option, kata_argument, say, say_json, waiting
from harness.errors import KataError, UsageError

if TYPE_CHECKING:
    from harness.catalogue import Kata, Rung
    from harness.profiles import Profile


@click.command("profile")
@kata_argument
@file_argument
@gpu_option
@click.option("--compare", type=int, metavar="RUNG", help="Beside this rung of the ladder: kata solution NAME --list.")
@click.option("--size", type=click.IntRange(1), default=1, metavar="N", help="The Nth of the sizes it is timed at.")
@json_option
def command(name: str, file: Path | None, gpu: str, compare: int | None, size: int, as_json: bool) -> None:
    """Say why your kernel is slow, line by line.

    Its memory requests, bank conflicts, divergence and occupancy are counted in the simulator at the size that the kata
    is timed at, and its time on a named GPU is predicted from that. It needs no GPU. Whether the kernel is right is for
    kata check. FILE is ./NAME.cu unless given.

    \b
    Example:  kata profile softmax
              kata profile softmax mine.cu --gpu h100
              kata profile softmax --compare 3
    """
    from harness.reports.advice import advice
    from harness.simulator.gpus import load_gpu

    kata = catalogue.load(name)
    path = resolve(kata, file)
    rung = None if compare is None else _rung(kata, compare)
    if size > max(len(kata.speed), 1):
        raise UsageError(f"{name} is timed at {len(kata.speed)} sizes, so there is no number {size}")
    chosen = load_gpu(gpu)
    mine, undone = profiled(kata, path, gpu, size)
    theirs = profiled(kata, rung.path, gpu, size)[0] if rung else None
    _warn_of_the_wrong(kata, path)
    if as_json:
        from harness.reports.profile_json import comparison_record, profile_record

        record = profile_record(mine, advice(mine, chosen), undone)
        say_json(comparison_record(record, theirs, rung.number) if theirs and rung else record)
    elif theirs and rung:
        from harness.reports.compare import comparison_page

        say(comparison_page(mine, theirs, rung, chosen, rung.path.read_text(encoding="utf-8"), undone))
    else:
        from harness.reports.profile import profile_page

        say(profile_page(mine, chosen, path.read_text(encoding="utf-8-sig"), undone))


def profiled(kata: Kata, path: Path, gpu: str, size: int = 1) -> tuple[Profile, str | None]:
    """Profile a file at the kata's size of this number, with a word to whoever waits; and what of the work it leaves
    out there, None for nothing. Raises what :func:`harness.profiling.profile` does, with the file named."""
    from harness.grading.complete import work_done
    from harness.profiling import profile

    sizes = dict(kata.speed[size - 1]) if kata.speed else {}
    try:
        with waiting(f"counting {path}"):
            found = profile(kata, path, gpu, sizes)
            return found, work_done(kata, path, found, sizes).undone
    except KataError as error:
        error.file = error.file or str(path)
        raise


def _warn_of_the_wrong(kata: Kata, path: Path) -> None:
    """Say so where the last check of the file, as it stands, found that it is not right."""
    if not practised():
        return
    from harness.practice.recording import fingerprint
    from harness.results import Outcome

    with opened_history() as history:
        check = history.last_check(kata.name, fingerprint(path))
    if check is not None and check.outcome is not Outcome.RIGHT:
        found = "a fault" if check.outcome is Outcome.FAULT else "wrong answers"
        warn([f"the last check of this file found {found}: its time says little"])


def _rung(kata: Kata, number: int) -> Rung:
    rungs = {rung.number: rung for rung in kata.rungs}
    if number not in rungs:
        known = f"rungs 1 to {max(rungs)}" if rungs else "no solutions here"
        raise UsageError(f"{kata.name} has {known}, not {number}", remedy=f"kata solution {kata.name} --list")
    return rungs[number]

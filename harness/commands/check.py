"""``kata check``: is it right, and if not, why."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.shared import gpu_index_option, json_option, kata_argument, say, say_json
from harness.errors import KataError, UsageError
from harness.reports.text import shown_path
from harness.results import CaseResult, Outcome, Verdict

if TYPE_CHECKING:
    from harness.catalogue import Kata

#: Bytes of the largest file that is taken for a kernel.
_LARGEST = 4 << 20

EXIT_CODES = {Outcome.RIGHT: 0, Outcome.WRONG: 1, Outcome.COMPILE_ERROR: 3, Outcome.FAULT: 4}

#: Progress is for whoever waits: shown at once on a terminal, elsewhere only after this many seconds.
PATIENCE = 1.0


@click.command("check")
@kata_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--device", type=click.Choice(["auto", "gpu", "sim"]), default="auto",
    help="Where to run it; auto is a GPU if there is one that can be used.",
)
@gpu_index_option
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Repeat the inputs of an earlier check.")
@click.option("-v", "--verbose", is_flag=True, help="Every case, every note, all that was printed.")
@json_option
@click.pass_context
def command(
    context: click.Context, name: str, file: Path | None, device: str, gpu_index: int, seed: int | None,
    verbose: bool, as_json: bool,
) -> None:  # fmt: skip
    """Say whether your kernel is right.

    It is compiled, run, and compared with a hidden reference. FILE is ./NAME.cu unless given.

    \b
    Example:  kata check softmax
              kata check softmax mine.cu --seed 7
    """
    chosen = int.from_bytes(os.urandom(4)) if seed is None else seed
    try:
        kata = catalogue.load(name)
        path = resolve(kata, file)
        verdict = _run(kata, path, device, gpu_index, chosen, quiet=as_json)
    except KataError as error:
        if not as_json:
            raise
        from harness.reports.jsonout import check_error_record

        say_json(check_error_record(error, kata=name, file=str(file or f"{name}.cu")))
        context.exit(error.exit_code)
    if as_json:
        from harness.reports.jsonout import check_record

        say_json(check_record(verdict))
    else:
        from harness.grading import headline
        from harness.reports.terminal import check_page

        say(check_page(verdict, headline(verdict), verbose=verbose))
    context.exit(EXIT_CODES[verdict.outcome])


def resolve(kata: Kata, file: Path | None) -> Path:
    """The file to check: ``file``, else ./NAME.cu, else, inside a checkout, its skeleton. UsageError if it can't be
    read."""
    inside = catalogue.home().checkout and Path.cwd().is_relative_to(catalogue.home().katas.parent)
    candidates = [file] if file else [Path(f"{kata.name}.cu"), *([kata.skeleton] if inside else [])]
    path = next((candidate for candidate in candidates if candidate.exists()), None)
    if path is None:
        remedy = f"kata start {kata.name} writes a skeleton, or name your file: kata check {kata.name} FILE"
        raise UsageError(f"there is no file {candidates[0]}", remedy=remedy)
    if path.is_dir():
        remedy = f"kata check {kata.name} {path / kata.skeleton.name}"
        raise UsageError(f"{path} is a folder, not a CUDA file", remedy=remedy)
    if not path.is_file():
        raise UsageError(f"{path} is not a regular file", remedy="Save the kernel in a file, and name that.")
    if path.stat().st_size > _LARGEST:
        raise UsageError(f"{path} has over {_LARGEST >> 20} MB, too much for a kernel", remedy="Name the .cu file.")
    try:
        with path.open("rb") as source:
            binary = b"\0" in source.read(1 << 16)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}", remedy="Check its permissions.") from error
    if binary:
        raise UsageError(f"{path} is not text, so not CUDA source", remedy="Name a .cu file, not what it compiles to.")
    return Path(shown_path(path))


def _run(kata: Kata, path: Path, device: str, gpu_index: int, seed: int, *, quiet: bool) -> Verdict:
    from harness.devices import open_device
    from harness.grading import check_file

    progress = Progress(sys.stderr, quiet=quiet)
    try:
        with closing(open_device(device, gpu_index)) as opened:
            return check_file(kata, path, device=opened, seed=seed, progress=progress)
    finally:
        progress.finish()


class Progress:
    """One line per group of cases, on standard error. On a terminal the line of the running group grows in place."""

    def __init__(self, stream: IO[str], *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.live = stream.isatty() and not quiet
        self.started = time.monotonic()
        self.group: list[CaseResult] = []

    def __call__(self, case: CaseResult) -> None:
        if self.group and case.group != self.group[0].group:
            self.finish()
        self.group.append(case)
        if self.live:
            self._print("\r", end="")

    def finish(self) -> None:
        """End the line of the group that is running, if any."""
        late = time.monotonic() - self.started > PATIENCE
        if self.group and not self.quiet and (self.live or late):
            self._print("\r" if self.live else "")
        self.group = []

    def _print(self, before: str, end: str = "\n") -> None:
        from harness.reports.terminal import group_line

        say(before + group_line(self.group[0].group, self.group), err=True, end=end)

"""``kata check``: is it right, and if not, why."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.remembering import remember, warn
from harness.commands.shared import (
    PassingLine,
    device_option,
    file_argument,
    gpu_index_option,
    gpu_option,
    json_option,
    kata_argument,
    predicting,
    say,
    say_json,
    waiting,
)
from harness.errors import KataError, UsageError
from harness.reports.text import shown_path
from harness.results import CaseResult, Outcome, Verdict

if TYPE_CHECKING:
    from harness.catalogue import Kata
    from harness.simulator.gpus import Gpu

#: Bytes of the largest file that is taken for a kernel.
_LARGEST = 4 << 20

EXIT_CODES = {Outcome.RIGHT: 0, Outcome.WRONG: 1, Outcome.COMPILE_ERROR: 3, Outcome.FAULT: 4}

#: Progress is for whoever waits: shown at once on a terminal, elsewhere only after this many seconds.
PATIENCE = 1.0


@click.command("check")
@kata_argument
@file_argument
@device_option
@gpu_index_option
@gpu_option
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Repeat the inputs of an earlier check.")
@click.option("--sanitize", is_flag=True, help="Run NVIDIA's compute-sanitizer over it too (on a GPU).")
@click.option("-v", "--verbose", is_flag=True, help="Every case, every note, all that was printed.")
@json_option
@click.pass_context
def command(
    context: click.Context, name: str, file: Path | None, device: str, gpu_index: int, gpu: str, seed: int | None,
    sanitize: bool, verbose: bool, as_json: bool,
) -> None:  # fmt: skip
    """Say whether your kernel is right.

    It is compiled, run, and compared with a hidden reference. A right one is timed, or where there is no GPU its time
    is predicted for the one that --gpu names. FILE is ./NAME.cu unless given.

    \b
    Example:  kata check softmax
              kata check softmax mine.cu --seed 7
              kata check softmax --gpu h200
    """
    chosen = int.from_bytes(os.urandom(4)) if seed is None else seed
    try:
        device = predicting(context, device)
        kata = catalogue.load(name)
        path = resolve(kata, file)
        verdict = checked(kata, path, device, gpu_index, chosen, sanitize=sanitize, gpu=gpu, quiet=as_json)
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

        say(check_page(verdict, headline(verdict), verbose=verbose, following=_own_file(kata, path, verdict)))
    context.exit(EXIT_CODES[verdict.outcome])


def _own_file(kata: Kata, path: Path, verdict: Verdict) -> str | None:
    """The next step where it was the kata's skeleton that was checked, which nobody has written in; None for others."""
    from harness.reports.terminal import idle

    if not idle(verdict) or path.resolve() != kata.skeleton.resolve():
        return None
    return f"kata start {kata.name}, for a file of your own (this is the kata's skeleton)"


def resolve(kata: Kata, file: Path | None) -> Path:
    """The file to check: ``file``, else ./NAME.cu, else, inside a checkout, its skeleton. UsageError if it can't be
    read."""
    inside = catalogue.home().checkout and Path.cwd().is_relative_to(catalogue.home().katas.parent)
    candidates = [file] if file else [Path(f"{kata.name}.cu"), *([kata.skeleton] if inside else [])]
    path = next((candidate for candidate in candidates if candidate.exists()), None)
    if path is None:
        remedy = f"kata start {kata.name} writes a skeleton; or name your file, after {kata.name}"
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
            start = source.read(1 << 16)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}", remedy="Check its permissions.") from error
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{path} is UTF-16", remedy="Save it as UTF-8.")
    if b"\0" in start:
        raise UsageError(f"{path} is not text, so not CUDA source", remedy="Name a .cu file, not what it compiles to.")
    return Path(shown_path(path))


def checked(
    kata: Kata, path: Path, device: str, gpu_index: int, seed: int, *, sanitize: bool = False,
    gpu: str | None = None, quiet: bool = False,
) -> Verdict:  # fmt: skip
    """Check a file, with progress unless ``quiet``, and keep what came of it in the history. ``gpu`` names the GPU that
    times are predicted for where there is none to time it on; None predicts none."""
    run = partial(_run, kata, path, device, gpu_index, seed, sanitize=sanitize, gpu=gpu, quiet=quiet)
    return _remembered(kata, path, run)


def _remembered(kata: Kata, path: Path, run: Callable[[], Verdict]) -> Verdict:
    """What ``run`` answers or raises, kept in the history; what that had to say is among the verdict's warnings."""
    from harness.practice.recording import check_of_error, check_of_verdict, fingerprint

    file_hash = fingerprint(path)
    started = time.monotonic()
    try:
        verdict = run()
    except KataError as error:
        seconds = time.monotonic() - started
        failure = error  # the name of an except clause ends with it
        warn(remember(
            kata.name, path,
            lambda when, attempt: check_of_error(failure, kata.name, path, file_hash, when, seconds, attempt),
        ))  # fmt: skip
        raise
    notices = remember(kata.name, path, lambda when, attempt: check_of_verdict(verdict, file_hash, when, attempt))
    return replace(verdict, warnings=(*verdict.warnings, *notices))


def _run(
    kata: Kata, path: Path, device: str, gpu_index: int, seed: int, *, sanitize: bool, gpu: str | None, quiet: bool
) -> Verdict:  # fmt: skip
    from harness.devices import PhysicalDevice, open_device
    from harness.grading import check_file
    from harness.simulator.gpus import load_gpu

    target = load_gpu(gpu) if gpu else None
    if sanitize:
        device = _for_sanitizer(device)
    progress = Progress(sys.stderr, quiet=quiet)
    try:
        with closing(open_device(device, gpu_index)) as opened:
            verdict = check_file(kata, path, device=opened, seed=seed, progress=progress, sanitize=sanitize)
            physical = isinstance(opened, PhysicalDevice)
    finally:
        progress.finish()
    if target is None or physical or verdict.outcome is not Outcome.RIGHT:
        return verdict
    return _with_prediction(kata, path, verdict, target, quiet=quiet)


def _with_prediction(kata: Kata, path: Path, verdict: Verdict, gpu: Gpu, *, quiet: bool) -> Verdict:
    """The verdict with the time that is predicted. Who sees that this is what it waits for may stop it, and still has
    the verdict."""
    from harness.grading import completed
    from harness.grading.ladder import Timed, speed_cases
    from harness.grading.predicted import predict_first

    sizes = speed_cases(kata)
    if not sizes:
        return verdict
    started = time.monotonic()
    message = f"predicting the time at {sizes[0].label} (Ctrl-C skips it)"
    with nullcontext(False) if quiet else waiting(message) as seen:
        try:
            timed = predict_first(kata, path, gpu)
        except KeyboardInterrupt:
            if not seen:
                raise
            timed = Timed(warnings=(f"no time is predicted for the {gpu.title}: you stopped it",))
    return replace(completed(verdict, timed), seconds=verdict.seconds + time.monotonic() - started)


def _for_sanitizer(device: str) -> str:
    """The device that compute-sanitizer can watch. UsageError for the simulator, EnvironmentFault without the tool."""
    from harness.devices.gpu_sanitizer import require_sanitizer

    if device == "sim":
        raise UsageError("--sanitize watches a GPU, and --device sim has none", remedy="leave one of them out")
    require_sanitizer()
    return "gpu"


class Progress:
    """How the cases go, group by group, on standard error: on a terminal one line that is gone when the answer comes,
    elsewhere a line for each group."""

    def __init__(self, stream: IO[str], *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.quiet = quiet
        self.line = PassingLine(stream)
        self.clock = clock
        self.started = clock()
        self.group: list[CaseResult] = []

    def __call__(self, case: CaseResult) -> None:
        if self.group and case.group != self.group[0].group:
            self._end_group()
        self.group.append(case)
        if not self.quiet:
            self.line.show(self._group_line())

    def finish(self) -> None:
        """Leave the terminal to the answer; elsewhere end with the line of the group that is running, if any."""
        self._end_group()
        self.line.clear()

    def _end_group(self) -> None:
        late = self.clock() - self.started > PATIENCE
        if self.group and late and not self.quiet and not self.line.live:
            click.echo(self._group_line(), file=self.line.stream)
        self.group = []

    def _group_line(self) -> str:
        from harness.reports.terminal import group_line

        return group_line(self.group[0].group, self.group)

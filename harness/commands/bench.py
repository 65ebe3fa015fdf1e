"""``kata bench``: the whole ladder of a kata timed on a GPU, or predicted without one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.check import EXIT_CODES, resolve
from harness.commands.remembering import remember
from harness.commands.shared import (
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
from harness.reports.text import wrap
from harness.results import CaseResult, Outcome, Speed, Verdict

if TYPE_CHECKING:
    from harness.catalogue import Kata
    from harness.devices import PhysicalDevice
    from harness.grading.ladder import Timed
    from harness.references import Case
    from harness.simulator.gpus import Gpu


@click.command("bench")
@kata_argument
@file_argument
@device_option
@gpu_index_option
@gpu_option
@json_option
@click.pass_context
def command(
    context: click.Context, name: str, file: Path | None, device: str, gpu_index: int, gpu: str, as_json: bool
) -> None:
    """Time every rung of a kata, and your kernel.

    All run in turn on the GPU at the sizes of the kata. Where there is none, their times are predicted for the GPU
    that --gpu names, and whether your kernel is right is left to kata check. Your kernel is FILE, else ./NAME.cu if
    there is one; without either, or where that one can't be timed, the rungs are timed alone.

    \b
    Example:  kata bench softmax
              kata bench softmax mine.cu
              kata bench softmax --gpu t4
    """
    from harness.devices import PhysicalDevice, open_device
    from harness.grading.ladder import speed_cases
    from harness.simulator.gpus import load_gpu

    device = predicting(context, device)
    target = load_gpu(gpu)
    kata = catalogue.load(name)
    sizes = speed_cases(kata)
    if not sizes:
        raise UsageError(f"{name} has no sizes to be timed at", remedy="its kata.toml would name them: [[speed]]")
    with closing(open_device(device, gpu_index)) as opened:
        if isinstance(opened, PhysicalDevice):
            found = _with_mine(kata, file, partial(_timed, kata, sizes=sizes, device=opened))
        else:
            found = _with_mine(kata, file, partial(_predicted, kata, sizes=sizes, gpu=target))
    if as_json:
        from harness.reports.jsonout import bench_record

        wrong = [f"wrong for {case.label}" for case in found.wrong]
        say_json(bench_record(name, found.device, found.speeds, [*found.warnings, *wrong]))
    else:
        from harness.reports.speed import ladder_table, speed_lines

        _say_the_answer(name, found)
        say(f"{name} on {found.device}" if isinstance(opened, PhysicalDevice) else f"{name}, predicted, not timed")
        for speed in found.speeds:
            say("\n".join([*ladder_table(speed), *speed_lines(speed)]))
        _say_the_rest(name, found.warnings, found.wrong)
    context.exit(EXIT_CODES[found.wrong[0].outcome] if found.wrong else 0)


@dataclass(frozen=True)
class _Found:
    """What a bench came to, an entry of ``speeds`` for each size that could be done."""

    device: str
    speeds: list[Speed]
    warnings: list[str]
    wrong: list[CaseResult]

    @classmethod
    def of(cls, device: str, timed: list[Timed]) -> _Found:
        """What each size came to, taken together."""
        return cls(
            device, [one.speed for one in timed if one.speed],
            [warning for one in timed for warning in one.warnings],
            [one.case for one in timed if one.case and one.case.outcome is not Outcome.RIGHT],
        )  # fmt: skip


def _with_mine(kata: Kata, file: Path | None, run: Callable[[Path | None], _Found]) -> _Found:
    """What ``run`` finds with the user's kernel. One that lies here, and was not asked for, never costs the ladder."""
    if file:
        return run(resolve(kata, file))
    here = Path(f"{kata.name}.cu")
    if not here.exists():
        return run(None)
    try:
        found = run(resolve(kata, here))
    except KataError as error:
        why = error.message
    else:
        if not found.wrong:
            return found
        why = f"{_words(found.wrong[0])} for {found.wrong[0].label}"
    alone = run(None)
    left_out = f"{here} is left out: {why} (kata check {kata.name} says more)"
    return replace(alone, warnings=[*alone.warnings, left_out])


def _timed(kata: Kata, path: Path | None, sizes: Sequence[Case], device: PhysicalDevice) -> _Found:
    """The ladder, run on a GPU."""
    from harness.grading.ladder import ladder_of
    from harness.practice.recording import fingerprint

    file_hash = fingerprint(path) if path else ""
    started = time.perf_counter()
    ladder = ladder_of(kata, path, device, int.from_bytes(os.urandom(4)), time.perf_counter)
    found = _Found.of(device.name, [ladder.time(size) for size in sizes])
    if path is None:
        return found
    seconds = time.perf_counter() - started
    notices = _remembered(kata.name, path, file_hash, device.name, found.speeds, found.wrong, seconds)
    return replace(found, warnings=[*found.warnings, *notices])


def _predicted(kata: Kata, path: Path | None, sizes: Sequence[Case], gpu: Gpu) -> _Found:
    """The ladder without a GPU. Nothing runs to its end, so only what is certain to fail is found wrong."""
    from harness.grading.predicted import predicted_speed

    with waiting(f"predicting times for the {gpu.title}"):
        return _Found.of(f"predicted {gpu.title}", [predicted_speed(kata, path, gpu, size) for size in sizes])


def _remembered(
    name: str, path: Path, file_hash: str, device: str, speeds: list[Speed], wrong: list[CaseResult], seconds: float
) -> tuple[str, ...]:
    """Keep what the largest size showed of the user's kernel; what the person must be told about that."""
    from harness.practice.recording import check_of_verdict

    outcome = wrong[0].outcome if wrong else Outcome.RIGHT
    speed = speeds[-1] if speeds else None
    verdict = Verdict(name, str(path), device, 0, outcome, (), seconds, speed=speed)
    return remember(name, path, lambda when, attempt: check_of_verdict(verdict, file_hash, when, attempt))


def _say_the_answer(name: str, found: _Found) -> None:
    """How the user's kernel stands, at the last size; nothing where none was asked about."""
    from harness.reports.speed import bench_headline

    mine = [speed for speed in found.speeds if speed.timing is not None]
    if found.wrong:
        say(f"{name}: yours {_words(found.wrong[0])} for {found.wrong[0].label}")
    elif mine:
        say("\n".join(wrap(bench_headline(name, mine[-1]), indent="", hanging="  ")))


def _words(case: CaseResult) -> str:
    return "faults" if case.outcome is Outcome.FAULT else "is wrong"


def _say_the_rest(name: str, warnings: list[str], wrong: list[CaseResult]) -> None:
    for warning in warnings:
        say("\n".join(wrap(f"Warning  {warning}", hanging=" " * 9)))
    for case in wrong:
        said = [hazard.message for hazard in case.hazards] or ([case.mismatch.sentence] if case.mismatch else [])
        say("\n".join(wrap(f"{case.outcome.value} for {case.label}: {'; '.join(said)}", hanging=" " * 4)))
    say(f"Next: kata check {name}" if wrong else f"Next: kata solution {name} --list")

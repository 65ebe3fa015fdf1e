"""``kata bench``: the whole ladder of a kata timed on a GPU."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import click

from harness import catalogue
from harness.commands.check import EXIT_CODES, resolve
from harness.commands.shared import gpu_index_option, json_option, kata_argument, say, say_json
from harness.errors import EnvironmentFault, UsageError
from harness.results import CaseResult, Outcome


@click.command("bench")
@kata_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@gpu_index_option
@json_option
@click.pass_context
def command(context: click.Context, name: str, file: Path | None, gpu_index: int, as_json: bool) -> None:
    """Time every rung of a kata, and your kernel.

    All run in turn on the GPU at the sizes of the kata. Your kernel is FILE, or left out. It needs a GPU.

    \b
    Example:  kata bench softmax
              kata bench softmax mine.cu
    """
    from harness.devices import PhysicalDevice, open_device
    from harness.grading.ladder import ladder_of, speed_cases

    kata = catalogue.load(name)
    sizes = speed_cases(kata)
    if not sizes:
        raise UsageError(f"{name} has no sizes to be timed at", remedy="its kata.toml would name them: [[speed]]")
    path = resolve(kata, file) if file else None
    with closing(open_device("gpu", gpu_index)) as device:
        if not isinstance(device, PhysicalDevice):
            raise EnvironmentFault("only a GPU's time says anything")
        seed = int.from_bytes(os.urandom(4))
        ladder = ladder_of(kata, path, device, seed, time.perf_counter)
        timed = [ladder.time(size) for size in sizes]
        about = device.name
    speeds = [one.speed for one in timed if one.speed]
    warnings = [warning for one in timed for warning in one.warnings]
    wrong = [one.case for one in timed if one.case and one.case.outcome is not Outcome.RIGHT]
    if as_json:
        from harness.reports.jsonout import bench_record

        say_json(bench_record(name, about, speeds, [*warnings, *(f"wrong for {case.label}" for case in wrong)]))
    else:
        from harness.reports.speed import ladder_table, speed_lines

        say(f"{name} on {about}")
        for speed in speeds:
            say("\n".join([*ladder_table(speed), *speed_lines(speed)]))
        _say_the_rest(name, warnings, wrong)
    context.exit(EXIT_CODES[wrong[0].outcome] if wrong else 0)


def _say_the_rest(name: str, warnings: list[str], wrong: list[CaseResult]) -> None:
    for warning in warnings:
        say(f"  Warning  {warning}")
    for case in wrong:
        said = [hazard.message for hazard in case.hazards] or ([case.mismatch.sentence] if case.mismatch else [])
        say(f"  {case.outcome.value} for {case.label}: {'; '.join(said)}")
    say(f"Next: kata check {name}" if wrong else f"Next: kata solution {name} --list")

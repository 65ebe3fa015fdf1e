"""A kata's ladder without a GPU: the time of each rung, and of the user's kernel, predicted for a GPU that is named."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.cache import Cache
from harness.catalogue import Kata, Rung
from harness.errors import EnvironmentFault, KataError, KernelFault, UsageError
from harness.grading.forecast import Forecast, forecast
from harness.grading.gates import Work, closed_gate
from harness.grading.grade import grade, too_fast
from harness.grading.ladder import Timed, speed_cases
from harness.grading.outcomes import outcome_of
from harness.references import Case
from harness.results import CaseResult, Hazard, Speed, Timing
from harness.simulator.gpus import Gpu

#: Why nothing is known of the time of a kernel that does its work, and would be too fast by what was counted.
_UNEVEN = "the kernel's blocks do unlike work, and those that were counted don't stand for all"


def predicted_speed(
    kata: Kata, path: Path | None, gpu: Gpu, case: Case, cache: Cache | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Timed:  # fmt: skip
    """The ladder of ``kata`` at one size, and the kernels in ``path`` among it unless that is None.

    What is certainly wrong with these there is a case that is not right; ``clock`` gives its seconds. What can't be
    predicted is a warning. Raises SourceError and CompileError for ``path``.
    """
    start = clock()
    try:
        mine = forecast(kata, path, gpu, case, cache) if path else None
    except (EnvironmentFault, KernelFault, UsageError) as error:
        hazard = _certain(kata, path, case, error) if path else None
        if hazard is None:
            return Timed(warnings=(_unpredicted(gpu, case, error),))
        return Timed(case=_failed(case, hazard, clock() - start))
    if mine and mine.certain:
        return Timed(case=_failed(case, mine.certain, clock() - start))
    rungs = []
    for rung in kata.rungs:
        try:
            rungs.append(forecast(kata, rung.path, gpu, case, cache).timing(rung.title))
        except KataError as error:
            return Timed(warnings=(_unknown(rung, gpu, case, error),))
    if not rungs:
        return Timed(warnings=("there is no solution to compare with",))
    speed = _speed(kata, mine, tuple(rungs), gpu, case)
    if mine and mine.uneven and too_fast(speed):
        return Timed(warnings=(f"{_nothing(gpu, _UNEVEN)} (at {case.label})",))
    return Timed(speed)


def _failed(case: Case, hazard: Hazard, seconds: float) -> CaseResult:
    return CaseResult(case.label, case.group, outcome_of(None, (hazard,)), seconds, hazards=(hazard,))


def _certain(kata: Kata, path: Path, case: Case, error: KataError) -> Hazard | None:
    """What is the kernel's own of an error that came up when it was counted: see :mod:`harness.grading.certain`."""
    from harness.grading.certain import certain_fault  # brings the simulator

    fault = error if isinstance(error, KernelFault) else error.__cause__
    return certain_fault(kata, path, case, fault.hazard if isinstance(fault, KernelFault) else None)


def _unpredicted(gpu: Gpu, case: Case, error: KataError) -> str:
    if isinstance(error, KernelFault) and error.hazard.kind != "launch":  # that one is about this GPU's limits
        return f"at {case.label} a kernel faults when only some blocks run, so there is no grade: {error.message}"
    return f"{_nothing(gpu, error.message)} (at {case.label})"


def _nothing(gpu: Gpu, why: str) -> str:
    return f"no time is predicted for the {gpu.title}: {why}"


def _unknown(rung: Rung, gpu: Gpu, case: Case, error: KataError) -> str:
    return f"no ladder is predicted for {case.label} on the {gpu.title}: of solution {rung.number}, {error.message}"


def _speed(kata: Kata, mine: Forecast | None, rungs: tuple[Timing, ...], gpu: Gpu, case: Case) -> Speed:
    sizes = dict(case.sizes)
    nbytes, flops = kata.least_bytes(sizes), kata.least_flops(sizes)
    copying = nbytes / (gpu.dram_bandwidth * gpu.physics.dram_achieved) + gpu.physics.launch
    computing = flops / gpu.fp32
    timing = mine.timing("yours") if mine else None
    found = Speed(
        label=case.label, timing=timing, rungs=rungs, titles=tuple(rung.title for rung in kata.rungs), par=kata.par,
        nbytes=nbytes, flops=flops, light=max(copying, computing), noisy=False,
        limit="a copy of the same bytes" if computing <= copying else "what the GPU's float32 units can compute",
        gpu=gpu.title, limiter=mine.limiter if mine else None,
    )  # fmt: skip
    if mine is None or timing is None:
        return found
    left_out = f"{mine.undone}: so it is not graded" if mine.undone else None
    refused = left_out or too_fast(found) or closed_gate(kata.gates, mine.shown, Work.of(kata, sizes))
    return replace(found, refused=refused, grade=None if refused else grade(timing, rungs, kata.par))


def predict_first(kata: Kata, path: Path, gpu: Gpu, clock: Callable[[], float] = time.perf_counter) -> Timed:
    """As :func:`predicted_speed` at the first of the sizes that the kata is timed at, if it has any. Never raises a
    KataError: a right kernel stays right, also where it doesn't compile for another GPU."""
    sizes = speed_cases(kata)
    try:
        return predicted_speed(kata, path, gpu, sizes[0], clock=clock) if sizes else Timed()
    except KataError as error:
        return Timed(warnings=(_nothing(gpu, error.message),))
    except MemoryError:
        return Timed(warnings=(_nothing(gpu, "this machine has too little memory for its arrays"),))

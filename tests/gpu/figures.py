"""Figures of speed, measured on this machine's GPU: ``python -m tests.gpu.figures [SECTION ...]``.

Sections: ``ladders`` (every rung against a copy, against the rung before and against PyTorch), ``clock`` (our medians
against other clocks on the same kernels), ``repeat`` (the same kernel graded ten times), ``checks`` (how long a whole
``kata check`` takes), ``agreement`` (verdicts and outputs, simulator against GPU), ``rungs`` (the grade of every right
kernel, predicted for this GPU and measured on it). Results are printed, and kept in the JSON file that ``--out`` names
as they come. It needs PyTorch and Triton beside the extra ``gpu``.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from harness import catalogue, references, source
from harness.compile import compile_program
from harness.devices import Device
from harness.devices.gpu import GpuDevice, GpuExecutable
from harness.devices.simulated import SimulatedDevice
from harness.errors import KataError
from harness.grading import check_file, speed
from harness.grading.judge import Judge
from harness.grading.ladder import Timed, ladder_of, speed_cases
from harness.grading.predicted import predict_first
from harness.simulator.gpus import DEFAULT, Gpu, load_gpu, names
from tests.gpu.clocks import SEED, Direct, do_bench_s, kernel_s, loaded, queued_s, torch_call

ROOT = Path(__file__).resolve().parents[2]

#: How often each clock is asked in turn: where the buffers lie in memory moves a short kernel's time by a few percent.
ROUNDS = 5


def ladders(only: str) -> Iterator[tuple[str, object]]:
    """Every kata at each of its sizes."""
    device = GpuDevice()
    for kata in chosen(only):
        ladder = ladder_of(kata, None, device, SEED, time.perf_counter)
        for case in speed_cases(kata):
            found = ladder.time(case).speed
            assert found is not None
            torch_s = queued_s(torch_call(kata.name, dict(case.sizes)))
            times = [rung.seconds for rung in found.rungs]
            yield f"{kata.name} {case.label}", {
                "rungs_us": [round(1e6 * one, 2) for one in times],
                "spread_percent": [round(100 * rung.spread, 2) for rung in found.rungs],
                "best_percent_of_light": round(100 * found.light / min(times), 1), "limit": found.limit,
                "light_us": round(1e6 * found.light, 2), "torch_us": round(1e6 * torch_s, 2),
                "best_over_torch": round(min(times) / torch_s, 3), "last_over_torch": round(times[-1] / torch_s, 3),
            }  # fmt: skip
    device.close()


def medians(device: GpuDevice, executables: list[GpuExecutable], arguments: Any, nbytes: int) -> list[float]:
    race = device.race(executables, arguments, nbytes)
    rng = np.random.default_rng(SEED)
    samples = speed.take_samples(race.sample, len(executables) + 2, rng, time.perf_counter, cap=1.5)
    return [statistics.median(one) for one in samples]


def chosen(only: str) -> list[catalogue.Kata]:
    """The katas whose name holds this text."""
    return [kata for kata in catalogue.load_all() if only in kata.name]


def clock(only: str) -> Iterator[tuple[str, object]]:
    """Five kernels from 5 µs to 1 ms: our median over those of other clocks."""
    device = GpuDevice()
    for kata, rung, sizes in (
        ("relu", 2, {"n": 1 << 20}), ("softmax_matrix", 7, {"rows": 16384, "cols": 1024}), ("add", 2, {"n": 1 << 25}),
        ("transpose", 3, {"rows": 8192, "cols": 8192}), ("relu", 2, {"n": 1 << 29}),
    ):  # fmt: skip
        if only not in kata:
            continue
        direct = Direct(device, kata, rung, sizes)
        clocks: dict[str, Callable[[], float]] = {
            "ours": lambda direct=direct: medians(device, [direct.executable], direct.arguments, 1 << 20)[0],
            "queued": lambda direct=direct: queued_s(direct), "do_bench": lambda direct=direct: do_bench_s(direct),
        }  # fmt: skip
        rounds = [{name: 1e6 * one() for name, one in clocks.items()} for _ in range(ROUNDS)]
        taken = {name: [one[name] for one in rounds] for name in clocks}
        middle = {name: statistics.median(times) for name, times in taken.items()}
        yield f"{kata} {rung} {direct.case.label}", {
            "us": {name: [round(one, 2) for one in times] for name, times in taken.items()},
            "kernel_us": round(1e6 * kernel_s(direct, direct.launch.name), 2),
            **{f"over_{name}": round(middle["ours"] / middle[name], 4) for name in ("queued", "do_bench")},
        }  # fmt: skip
    device.close()


def repeat(only: str) -> Iterator[tuple[str, object]]:
    """The ratio of a kernel's time to a reference's, in ten checks each with a process of its own."""
    for kata, mine, reference in (("softmax_matrix", 7, 8),):
        if only not in kata:
            continue
        ratios = []
        for _ in range(10):
            device = GpuDevice()
            found = catalogue.load(kata)
            executables = [loaded(device, found, mine), loaded(device, found, reference)]
            judge = Judge(found, executables[0].program.parameter_names, references.load(kata))
            values = judge.inputs(np.random.default_rng(SEED), speed_cases(found)[0])
            times = medians(device, executables, judge.arguments(values), found.least_bytes(values))
            ratios.append(times[0] / times[1])
            device.close()
        spread = (max(ratios) - min(ratios)) / statistics.median(ratios)
        yield f"{kata} {mine} over {reference}", {
            "ratios": [round(ratio, 4) for ratio in ratios], "spread_percent": round(100 * spread, 2),
        }  # fmt: skip


def checks(only: str) -> Iterator[tuple[str, object]]:
    """Seconds of a whole ``kata check`` of each kata's last rung, and of its timing; all is compiled before."""
    device = GpuDevice()
    for kata in chosen(only):
        rungs = [loaded(device, kata, rung.number) for rung in kata.rungs]
        device.load_all(rungs)
        compile_program(rungs[-1].program, arch=SimulatedDevice().arch)
    device.close()
    for kata in chosen(only):
        command = [sys.executable, "-m", "harness.cli", "check", kata.name, str(kata.rungs[-1].path), "--json"]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, cwd=ROOT, check=True)
        whole = time.perf_counter() - started
        cases = json.loads(done.stdout)["cases"]
        timing = sum(case["seconds"] for case in cases if case["group"] == "speed")
        yield kata.name, {"whole_s": round(whole, 2), "timing_s": round(timing, 2)}


@functools.cache
def held_device() -> GpuDevice:
    """This process's GPU: taking one for each file would take longer than the file."""
    return GpuDevice()


def verdict_of(kata: catalogue.Kata, path: Path, device: Device) -> str:
    try:
        return check_file(kata, path, device, SEED, gpu=load_gpu(DEFAULT)).outcome.value
    except KataError as error:
        return f"exit {error.exit_code}"


def judged(path: Path) -> dict[str, object]:
    """One file's verdict on both devices, with no timing unless it is wrong and only that shows it; for a solution, how
    its outputs differ."""
    timed = catalogue.load(path.parent.name)
    kata = dataclasses.replace(timed, speed=())
    devices = held_device(), SimulatedDevice()
    found: dict[str, object] = {"gpu": verdict_of(kata, path, devices[0]), "sim": verdict_of(kata, path, devices[1])}
    if path.parent.parent.name == "wrong" and "right" in found.values():
        found = {"gpu": verdict_of(timed, path, devices[0]), "sim": verdict_of(timed, path, devices[1])}
    if path.parent.parent.name == "solutions":
        program = source.parse(path, kata)
        judge = Judge(kata, program.parameter_names, references.load(kata.name))
        pair = [one.load(program, compile_program(program, arch=one.arch)) for one in devices]
        found["outputs"] = differences(judge, pair)
    return found


def differences(judge: Judge, pair: list[Any]) -> dict[str, object]:
    """Cases with the same bits on both devices, and in both calls on the GPU; and the largest difference elsewhere, in
    units of the last place of the result, and as a part of the error that is allowed."""
    same, repeated, cases, ulps, of_bound = 0, 0, 0, 0.0, 0.0
    for number, case in enumerate(judge.reference.CASES):
        if case.group == "large":
            continue
        values = judge.inputs(np.random.default_rng([SEED, number]), case)
        arguments = judge.arguments(values)
        (left, again), (right, _) = (one.run(arguments).calls for one in pair)
        _, bounds = judge.answer(values)
        allowed = {
            name: bounds[one.name] for one, name in zip(judge.kata.parameters, judge.names, strict=True)
            if one.name in bounds
        }  # fmt: skip
        cases += 1
        same += all(np.array_equal(left[name].view("u4"), right[name].view("u4")) for name in allowed)
        repeated += all(np.array_equal(left[name].view("u4"), again[name].view("u4")) for name in allowed)
        for name in allowed:
            gap = np.abs(left[name].astype(np.float64) - right[name])
            ulps = max(ulps, float(np.nanmax(gap / np.spacing(np.maximum(np.abs(right[name]), 2.0**-126)))))
            if gap.any():
                of_bound = max(of_bound, float(np.nanmax(gap / allowed[name])))
    return {"cases": cases, "same_bits": same, "gpu_repeats": repeated, "most_ulps": round(ulps, 1),
            "most_of_bound": round(of_bound, 4)}  # fmt: skip


def agreement(only: str) -> Iterator[tuple[str, object]]:
    """Every solution, wrong and right kernel; at the end the files on which the two disagree."""
    places = ("solutions", "tests/wrong", "tests/right")
    files = [path for place in places for path in (ROOT / place).glob("*/*.cu") if only in str(path.relative_to(ROOT))]
    apart, passed = [], []
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {str(path.relative_to(ROOT)): pool.submit(judged, path) for path in sorted(files)}
        for name, one in waiting.items():
            try:
                found = one.result()
            except Exception as error:  # noqa: BLE001  the others go on
                found = {"error": repr(error)[-2000:]}
            apart += [name] if found.get("gpu") != found.get("sim") or "error" in found else []
            passed += [name] if name.startswith("tests/wrong") and "right" in found.values() else []
            yield name, found
    yield "disagree", {"files": len(files), "apart": apart, "wrong but passed": passed}


def rungs(only: str) -> Iterator[tuple[str, object]]:
    """Every solution and right kernel at the first size: its time and rung, predicted for this GPU and measured."""
    device = GpuDevice()
    gpu = next(one for one in map(load_gpu, names()) if one.title in device.name)
    files = [path for place in ("solutions", "tests/right") for path in sorted((ROOT / place).glob("*/*.cu"))]
    files = [path for path in files if only in str(path.relative_to(ROOT))]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        guesses = list(pool.map(guessed, files, [gpu] * len(files)))
    tally = {"both graded": 0, "same rung": 0, "within one": 0, "par alike": 0}
    errors = []
    for path, guess in zip(files, guesses, strict=True):
        kata = catalogue.load(path.parent.name)
        timed = ladder_of(kata, path, device, SEED, time.perf_counter).time(speed_cases(kata)[0])
        found = {"predicted": standing(guess), "measured": standing(timed)}
        yield str(path.relative_to(ROOT)), found
        if guess.speed and timed.speed and guess.speed.timing and timed.speed.timing:
            errors.append(guess.speed.timing.seconds / timed.speed.timing.seconds - 1)
            one, other = guess.speed.grade, timed.speed.grade
            if one and other:
                apart = abs((one.rung or 0) - (other.rung or 0))
                tally["both graded"] += 1
                tally["same rung"] += apart == 0
                tally["within one"] += apart <= 1
                tally["par alike"] += one.par_reached == other.par_reached
    device.close()
    yield "of all", tally | {
        "files": len(files), "median_error_percent": round(100 * statistics.median(map(abs, errors)), 1),
        "within_30_percent": sum(abs(one) <= 0.3 for one in errors),
    }  # fmt: skip


def guessed(path: Path, gpu: Gpu) -> Timed:
    return predict_first(catalogue.load(path.parent.name), path, gpu)


def standing(timed: Timed) -> dict[str, object]:
    """A time and its grade, or why there is none."""
    found, case = timed.speed, timed.case
    if found is None or found.timing is None:
        return {"none": [*timed.warnings, *([case.outcome.value] if case else [])]}
    us = round(1e6 * found.timing.seconds, 2)
    if found.grade is None:
        return {"us": us, "refused": found.refused}
    return {"us": us, "rung": found.grade.rung, "par": found.grade.par_reached}


SECTIONS = {"ladders": ladders, "clock": clock, "repeat": repeat, "checks": checks, "agreement": agreement,
            "rungs": rungs}  # fmt: skip


def main() -> None:
    """Measure what was asked for, everything otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--only", default="", metavar="TEXT", help="katas or files whose name holds this text")
    parser.add_argument("--out", type=Path, default=Path("figures.json"))
    asked = parser.parse_args()
    results: dict[str, dict[str, object]] = {}
    for name in asked.sections or SECTIONS:
        results[name] = {}
        started = time.perf_counter()
        try:
            for label, figures in SECTIONS[name](asked.only):
                results[name][label] = figures
                print(label, json.dumps(figures), flush=True)  # noqa: T201
                asked.out.write_text(json.dumps(results, indent=1), encoding="utf-8")
        except Exception:  # noqa: BLE001  the other sections go on
            traceback.print_exc()
        print(f"-- {name}: {time.perf_counter() - started:.1f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

"""Figures of speed, measured on this machine's GPU: ``python -m tests.gpu.figures [SECTION ...]``.

Sections: ``ladders`` (every rung against a copy, against the rung before and against PyTorch), ``clock`` (our medians
against Triton's do_bench on the same kernels), ``repeat`` (the same kernel graded ten times), ``agreement`` (verdicts
and outputs, simulator against GPU). Results are printed, and kept in the JSON file that ``--out`` names as they come.
It needs PyTorch and Triton beside the extra ``gpu``.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import multiprocessing
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from harness import catalogue, references, source
from harness.compile import compile_program
from harness.devices import Buffer
from harness.devices.gpu import GpuDevice, GpuExecutable
from harness.grading import check_file, speed
from harness.grading.judge import Judge
from harness.grading.ladder import ladder_of, speed_cases
from harness.references import Case

ROOT = Path(__file__).resolve().parents[2]
SEED = 20


def torch_call(kata: str, sizes: dict[str, int]) -> Callable[[], object]:
    """What a user of PyTorch would call for the same work, output preallocated where it can be."""
    import torch

    def rand(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda", dtype=torch.float32)

    torch.backends.cuda.matmul.allow_tf32 = False
    n, rows, cols = sizes.get("n", 1), sizes.get("rows", 1), sizes.get("cols", 1)
    m, width, k = sizes.get("M", 1), sizes.get("N", 1), sizes.get("K", 1)
    if kata == "add":
        a, b, out = rand(n), rand(n), rand(n)
        return lambda: torch.add(a, b, out=out)
    if kata in ("sigmoid", "relu"):
        x, out = rand(n), rand(n)
        return (lambda: torch.sigmoid(x, out=out)) if kata == "sigmoid" else (lambda: torch.clamp_min(x, 0, out=out))
    if kata == "reduce_sum":
        x = rand(n)
        return lambda: torch.sum(x)
    if kata == "softmax":
        x, out = rand(n), rand(n)
        return lambda: torch.softmax(x, 0, out=out)
    if kata == "softmax_matrix":
        x, out = rand(rows, cols), rand(rows, cols)
        return lambda: torch.softmax(x, 1, out=out)
    if kata == "transpose":
        x, out = rand(rows, cols), rand(cols, rows)
        return lambda: out.copy_(x.T)
    if kata == "sgemv":
        a, x, y = rand(m, k), rand(k), rand(m)
        return lambda: torch.mv(a, x, out=y)
    a, b, c = rand(m, k), rand(k, width), rand(m, width)
    return lambda: torch.mm(a, b, out=c)


def bench_ms(call: Callable[[], object]) -> float:
    """Triton's median, which flushes the L2 cache between runs, in seconds."""
    from triton.testing import do_bench

    return float(do_bench(call, warmup=50, rep=200, return_mode="median")) * 1e-3


def ladders() -> Iterator[tuple[str, object]]:
    """Every kata at each of its sizes."""
    device = GpuDevice()
    for kata in catalogue.load_all():
        ladder = ladder_of(kata, None, device, SEED, time.perf_counter)
        for case in speed_cases(kata):
            found = ladder.time(case).speed
            assert found is not None
            torch_s = bench_ms(torch_call(kata.name, dict(case.sizes)))
            times = [rung.seconds for rung in found.rungs]
            yield f"{kata.name} {case.label}", {
                "rungs_us": [round(1e6 * one, 2) for one in times],
                "spread_percent": [round(100 * rung.spread, 2) for rung in found.rungs],
                "best_percent_of_light": round(100 * found.light / min(times), 1), "limit": found.limit,
                "light_us": round(1e6 * found.light, 2), "torch_us": round(1e6 * torch_s, 2),
                "best_over_torch": round(min(times) / torch_s, 3), "last_over_torch": round(times[-1] / torch_s, 3),
            }  # fmt: skip
    device.close()


class Direct:
    """A rung launched from this process, in PyTorch's context, by the plan that our device would run."""

    def __init__(self, device: GpuDevice, kata: str, rung: int, sizes: dict[str, int]) -> None:
        import torch

        self.kata = catalogue.load(kata)
        self.executable = loaded(device, self.kata, rung)
        self.case = Case("speed", "random", tuple(sizes.items()))
        self.judge = Judge(self.kata, self.executable.program.parameter_names, references.load(kata))
        self.values = self.judge.inputs(np.random.default_rng(SEED), self.case)
        self.arguments = self.judge.arguments(self.values)
        buffers = [one.data for one in self.arguments if isinstance(one, Buffer)]
        self.tensors = [torch.from_numpy(data.copy()).cuda() for data in buffers]
        plan = self.executable.plan(self.arguments, [tensor.data_ptr() for tensor in self.tensors], [])
        (self.launch,) = plan.steps
        self.cuda = ctypes.CDLL("libcuda.so.1")
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.cuda.cuModuleLoadData(ctypes.byref(module), self.executable.compiled.cubin) == 0
        name = self.launch.kernel.encode()
        assert self.cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name) == 0
        self.packed = ctypes.create_string_buffer(self.launch.args, len(self.launch.args))
        self.size = ctypes.c_size_t(len(self.launch.args))
        self.extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(self.packed), 2, ctypes.addressof(self.size), 0)

    def __call__(self) -> None:
        launch = self.launch
        status = self.cuda.cuLaunchKernel(
            self.function, *launch.grid, *launch.block, launch.shared_bytes, None, None, self.extra
        )
        assert status == 0, status


def loaded(device: GpuDevice, kata: catalogue.Kata, rung: int) -> GpuExecutable:
    program = source.parse(kata.rungs[rung - 1].path, kata)
    return device.load(program, compile_program(program, arch=device.arch))


def medians(device: GpuDevice, executables: list[GpuExecutable], arguments: Any, nbytes: int) -> list[float]:
    race = device.race(executables, arguments, nbytes)
    rng = np.random.default_rng(SEED)
    samples = speed.take_samples(race.sample, len(executables) + 2, rng, time.perf_counter, cap=1.5)
    return [statistics.median(one) for one in samples]


def clock() -> Iterator[tuple[str, object]]:
    """Five kernels from 5 µs to 1 ms: our median over do_bench's."""
    device = GpuDevice()
    for kata, rung, sizes in (
        ("relu", 2, {"n": 1 << 20}), ("softmax_matrix", 7, {"rows": 16384, "cols": 1024}), ("add", 2, {"n": 1 << 25}),
        ("transpose", 3, {"rows": 8192, "cols": 8192}), ("relu", 2, {"n": 1 << 29}),
    ):  # fmt: skip
        direct = Direct(device, kata, rung, sizes)
        theirs = bench_ms(direct)
        ours = medians(device, [direct.executable], direct.arguments, 1 << 20)[0]
        yield f"{kata} {rung} {direct.case.label}", {
            "ours_us": round(1e6 * ours, 2), "do_bench_us": round(1e6 * theirs, 2), "ratio": round(ours / theirs, 4),
        }  # fmt: skip
    device.close()


def repeat() -> Iterator[tuple[str, object]]:
    """The ratio of a kernel's time to a reference's, in ten checks each with a process of its own."""
    for kata, mine, reference in (("softmax_matrix", 7, 8),):
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


def judged(path: Path) -> dict[str, object]:
    """One file's verdict on the GPU with no timing; for a solution, how its outputs differ from the simulator's."""
    from harness.devices.simulated import SimulatedDevice
    from harness.errors import KataError

    kata = dataclasses.replace(catalogue.load(path.parent.name), speed=())
    device = GpuDevice()
    try:
        try:
            verdict = check_file(kata, path, device, SEED).outcome.value
        except KataError as error:
            verdict = f"exit {error.exit_code}"
        found: dict[str, object] = {"gpu": verdict}
        if path.parent.parent.name == "solutions":
            program = source.parse(path, kata)
            judge = Judge(kata, program.parameter_names, references.load(kata.name))
            simulator = SimulatedDevice()
            pair = [one.load(program, compile_program(program, arch=one.arch)) for one in (device, simulator)]
            found["outputs"] = differences(judge, pair)
        return found
    finally:
        device.close()


def differences(judge: Judge, pair: list[Any]) -> dict[str, object]:
    """Cases with the same bits on both devices, and the largest difference in units of the last place elsewhere."""
    same, cases, ulps = 0, 0, 0.0
    for number, case in enumerate(judge.reference.CASES):
        if case.group == "large":
            continue
        arguments = judge.arguments(judge.inputs(np.random.default_rng([SEED, number]), case))
        left, right = (one.run(arguments).calls[0] for one in pair)
        cases += 1
        same += all(np.array_equal(left[name].view("u4"), right[name].view("u4")) for name in left)
        for name in left:
            gap = np.abs(left[name].astype(np.float64) - right[name])
            ulps = max(ulps, float(np.nanmax(gap / np.spacing(np.maximum(np.abs(right[name]), 2.0**-126)))))
    return {"cases": cases, "same_bits": same, "most_ulps": round(ulps, 1)}


def agreement() -> Iterator[tuple[str, object]]:
    """Every solution, wrong and right kernel."""
    files = [path for place in ("solutions", "tests/wrong", "tests/right") for path in (ROOT / place).glob("*/*.cu")]
    with ProcessPoolExecutor(12, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {str(path.relative_to(ROOT)): pool.submit(judged, path) for path in sorted(files)}
        for name, one in waiting.items():
            try:
                yield name, one.result()
            except Exception as error:  # noqa: BLE001  the others go on
                yield name, {"error": repr(error)[-2000:]}


SECTIONS = {"ladders": ladders, "clock": clock, "repeat": repeat, "agreement": agreement}


def main() -> None:
    """Measure what was asked for, everything otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--out", type=Path, default=Path("figures.json"))
    asked = parser.parse_args()
    results: dict[str, dict[str, object]] = {}
    for name in asked.sections or SECTIONS:
        results[name] = {}
        started = time.perf_counter()
        try:
            for label, figures in SECTIONS[name]():
                results[name][label] = figures
                print(label, json.dumps(figures), flush=True)  # noqa: T201
                asked.out.write_text(json.dumps(results, indent=1), encoding="utf-8")
        except Exception:  # noqa: BLE001  the other sections go on
            traceback.print_exc()
        print(f"-- {name}: {time.perf_counter() - started:.1f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

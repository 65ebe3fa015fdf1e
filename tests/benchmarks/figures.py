"""The speed figures of the project: ``python -m tests.benchmarks.figures [commands|checks|simulator|detection|numba]``.

Medians of five whole processes, or of five launches. Wants a quiet machine; says nothing about right and wrong.
``numba`` needs numba, which is no dependency: ``pip install numba``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from harness import catalogue
from harness.compile import compile_program
from harness.references import load
from harness.simulator import Machine, Memory, Module
from harness.source import parse

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5


def processes(command: list[str], before: Callable[[], None] = lambda: None) -> tuple[float, float]:
    """Median wall seconds, and the largest resident set in MB, of a command run :data:`RUNS` times."""
    seconds, largest = [], 0.0
    for _ in range(RUNS):
        before()
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - start)
        largest = max(largest, usage.ru_maxrss / 1024)
    return statistics.median(seconds), largest


def kata(*words: str) -> list[str]:
    """The command, run by this interpreter."""
    return [sys.executable, "-m", "harness.cli", *words]


def commands() -> Iterator[str]:
    """Start-up."""
    for words in (("--help",), ("list",)):
        seconds, _ = processes(kata(*words))
        yield f"kata {' '.join(words):<40} {seconds:6.2f} s"


def checks() -> Iterator[str]:
    """Each kata's best rung, compile cache warm and cold, and its memory."""
    for name in catalogue.names():
        best = catalogue.load(name).rungs[-1].path
        warm, memory = processes(kata("check", name, str(best)))
        with tempfile.TemporaryDirectory() as folder:
            os.environ["KATA_CACHE"] = folder
            cold, _ = processes(kata("check", name, str(best)), before=lambda: _empty(Path(folder)))
            del os.environ["KATA_CACHE"]
        yield f"kata check {name:<16} warm {warm:5.2f} s   cold {cold:5.2f} s   {memory:6.0f} MB"


def _empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


class Launcher:
    """One kata's solution, compiled; runs its ``solve`` on given sizes in the simulator, over and over."""

    def __init__(self, name: str, rung: int, sizes: dict[str, int], watching: bool = True) -> None:
        kata = catalogue.load(name)
        program = parse(kata.rungs[rung - 1].path, kata)
        self.compiled = compile_program(program)
        self.module = Module.parse(self.compiled.ptx)
        self.kata, self.sizes, self.watching = kata, sizes, watching

    def seconds(self) -> float:
        """Simulation alone: the launches of one call of solve."""
        from harness.plan import Launch, Malloc, make_plan

        reference = load(self.kata.name)
        case = next(case for case in reference.CASES if {name for name, _ in case.sizes} == self.sizes.keys())
        case = type(case)(case.group, "random", tuple(self.sizes.items()))
        arguments = reference.inputs(np.random.default_rng(1), case)
        memory = Memory()
        values = []
        for parameter in self.kata.parameters:
            if parameter.role == "scalar":
                values.append(arguments[parameter.name])
                continue
            data = arguments.get(parameter.name)
            shape = parameter.shape_for(arguments)
            initial = np.zeros(shape, np.float32) if data is None and parameter.initial is not None else data
            kind = "input" if parameter.role == "in" else "buffer"
            nbytes = int(np.prod(shape)) * 4
            values.append(memory.allocate(parameter.name, nbytes, data=initial, kind=kind).address)
        plan = make_plan(self.module, self.compiled, tuple(values))
        machine = Machine(self.module, memory, watch_races=self.watching)
        start = time.perf_counter()
        for step in plan.steps:
            if isinstance(step, Malloc):
                memory.allocate("scratch", step.nbytes, kind="scratch", address=step.address)
            elif isinstance(step, Launch):
                machine.launch(step.kernel, step.grid, step.block, step.shared_bytes, step.args)
        return time.perf_counter() - start

    def median(self) -> float:
        """Of :data:`RUNS` calls, after one that decodes the kernel."""
        self.seconds()
        return statistics.median(self.seconds() for _ in range(RUNS))


def simulator() -> Iterator[str]:
    """The tiled GEMM, all checks on."""
    for size in (64, 256):
        seconds = Launcher("sgemm_tile", 1, {"M": size, "N": size, "K": size}).median()
        yield f"sgemm_tile rung 1 at {size}^3, simulation alone   {seconds * 1e3:8.1f} ms"


def detection() -> Iterator[str]:
    """All detection on, against race detection off."""
    for name, rung, sizes in (
        ("sgemm_tile", 1, {"M": 256, "N": 256, "K": 256}),
        ("softmax_matrix", 4, {"rows": 512, "cols": 1000}),
        ("reduce_sum", 7, {"n": 1_000_000}),
    ):
        on, off = (Launcher(name, rung, sizes, watching).median() for watching in (True, False))
        yield f"{name:<16} rung {rung}   on {on * 1e3:7.1f} ms   off {off * 1e3:7.1f} ms   {on / off:4.2f} times"


def numba() -> Iterator[str]:
    """The same kernel and launch in numba's CUDA simulator, in this run."""
    from tests.benchmarks.numba_gemm import TILE, gemm

    size = 64
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    c = np.zeros((size, size), np.float32)
    start = time.perf_counter()
    gemm[(size // TILE, size // TILE), (TILE, TILE)](a, b, c, size, size, size)
    theirs = time.perf_counter() - start
    ours = Launcher("sgemm_tile", 1, {"M": size, "N": size, "K": size}).median()
    ratio = f"{theirs / ours:6.0f} times faster"
    yield f"sgemm_tile 64^3   numba's simulator {theirs:6.2f} s   ours {ours * 1e3:6.1f} ms   {ratio}"


TABLES = {"commands": commands, "checks": checks, "simulator": simulator, "detection": detection, "numba": numba}


def main() -> None:
    """Print the tables named on the command line, or all that need nothing more than the project."""
    for name in sys.argv[1:] or ["commands", "checks", "simulator", "detection"]:
        for line in TABLES[name]():
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

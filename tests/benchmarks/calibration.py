"""Predicted against measured time on an H200: ``python -m tests.benchmarks.calibration [--refit] [--take FILE]``.

Everything predicted comes from what the simulator counts: in ``tests/simulator/calibration/kernels.cu``, and in the
solutions and right kernels of this project, whose times stand in ``tests/simulator/calibration/h200_kernels.json``.
``--refit`` fits the constants of ``gpus.toml`` anew, all together, on all families of kernels but one, and predicts
that one: what errors to expect of kernels that the constants have never seen. ``--take`` writes those times from FILE,
which ``python -m tests.gpu.figures ladders rungs --out FILE`` wrote on an H200.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path

from harness import catalogue
from harness.grading.ladder import speed_cases
from harness.mangling import plain_name
from harness.profiles import LaunchProfile, Prediction, Transfer
from harness.profiling import profile
from harness.simulator.gpus import WARP, Gpu, Physics, load_gpu
from harness.simulator.occupancy import cache_share, place
from harness.simulator.timing import predict_all, whole
from tests.simulator.calibration_rows import FOLDER, Row, compiled, counted, rows

ROOT = Path(__file__).resolve().parents[2]

#: Times of this project's own kernels: their files, sizes and digests, and microseconds.
KERNELS = FOLDER / "h200_kernels.json"

#: Launches shorter than this (in seconds) are mostly launch.
SHORT = 10e-6

#: Pairs of a family that differ by this much must be predicted in order.
APART = 1.5

#: Constants are searched in steps of these factors, and held to where they were by this weight.
STEPS, HOLD = (1.1, 1.03), 0.002

#: Constants that others have measured, and that are not fitted.
PUBLISHED = ("l1", "l2")


@dataclass(frozen=True)
class Measured:
    """One launch, or one call of ``solve``: what was counted, and the seconds it took. ``family`` is its kind: ``mm``,
    ``tr`` (all shared-memory patterns are one), or a kata."""

    name: str
    family: str
    launches: tuple[LaunchProfile, ...]
    transfers: tuple[Transfer, ...]
    seconds: float

    def predicted(self, gpu: Gpu) -> Prediction:
        """What it is predicted to take."""
        return whole(predict_all(self.launches, gpu), self.transfers, gpu)


def measured(gpu: Gpu) -> list[Measured]:
    """All rows, counted with the L1 share that each has on ``gpu``."""
    return [_measured(row, gpu) for row in rows()]


def kernels(gpu: Gpu) -> list[Measured]:
    """This project's kernels that are still as they were when they were timed."""
    found = []
    for row in json.loads(KERNELS.read_text("utf-8"))["kernels"]:
        path = ROOT / row["file"]
        if path.is_file() and _digest(path) == row["digest"]:
            counted_ = profile(catalogue.load(path.parent.name), path, gpu.name, row["sizes"])
            name = f"{path.parent.name}/{path.stem} {counted_.case}"
            launches = tuple(one.launch for one in counted_.launches)
            found.append(Measured(name, path.parent.name, launches, counted_.transfers, row["us"] * 1e-6))
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def take(file: Path) -> None:
    """Write the times of kernels from the figures that were measured on an H200."""
    figures = json.loads(file.read_text("utf-8"))
    times: dict[tuple[Path, tuple[tuple[str, int], ...]], float] = {}
    for kata in catalogue.load_all():
        for case in speed_cases(kata):
            seen = figures["ladders"][f"{kata.name} {case.label}"]["rungs_us"]
            times |= {(rung.path, case.sizes): us for rung, us in zip(kata.rungs, seen, strict=True)}
    for name, found in figures["rungs"].items():
        path = ROOT / name
        if path.parent.parent.name == "right" and "us" in found["measured"]:
            times[path, speed_cases(catalogue.load(path.parent.name))[0].sizes] = found["measured"]["us"]
    lines = ",\n".join(
        json.dumps({"file": str(path.relative_to(ROOT)), "sizes": dict(sizes), "digest": _digest(path), "us": us})
        for (path, sizes), us in sorted(times.items())
    )
    KERNELS.write_text(f'{{"device": "NVIDIA H200", "kernels": [\n{lines}\n]}}\n', "utf-8")


def _measured(row: Row, gpu: Gpu) -> Measured:
    launch = row.measured
    kernel, blocks = launch["kernel"].partition("<")[0], math.prod(launch["grid"])
    needs = next(one for name, one in compiled(gpu.arch).resources.items() if plain_name(name) == kernel)
    shared = needs.shared_bytes + launch["shared_dynamic_bytes"]
    held = place(gpu, kernel, -(-math.prod(launch["block"]) // WARP), needs.registers, shared, blocks)
    found = counted(row, cache_share(gpu, held, blocks, shared), gpu.arch)
    first = row.name.split("_")[0]
    return Measured(row.name, "sp" if first.startswith("sp") else first, (found,), (), launch["time_us_median"] * 1e-6)


def ratio(one: Measured, gpu: Gpu) -> float:
    """Predicted over measured."""
    return one.predicted(gpu).seconds / one.seconds


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value in order, equal ones sharing theirs."""
    places: dict[float, list[int]] = {}
    for number, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(number)
    return [statistics.mean(places[value]) for value in values]


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation."""
    return statistics.correlation(ranks(first), ranks(second))


def pairs(found: Sequence[Measured], gpu: Gpu) -> tuple[int, list[str]]:
    """Pairs of one family at least :data:`APART`: how many, and those predicted in the wrong order."""
    total, wrong = 0, []
    for one, other in combinations(found, 2):
        if one.family != other.family or max(one.seconds, other.seconds) < APART * min(one.seconds, other.seconds):
            continue
        total += 1
        slower, faster = (one, other) if one.seconds > other.seconds else (other, one)
        if slower.predicted(gpu).seconds <= faster.predicted(gpu).seconds:
            wrong.append(f"{slower.name} < {faster.name}")
    return total, wrong


def summary(errors: Sequence[float]) -> str:
    """Of absolute relative errors."""
    within = [sum(error <= bound for error in errors) / len(errors) for bound in (0.1, 0.3)]
    return (
        f"median error {100 * statistics.median(errors):.1f} %, within 10 % {100 * within[0]:.0f} %, "
        f"within 30 % {100 * within[1]:.0f} %, largest {100 * max(errors):.0f} %, {len(errors)} launches"
    )


def table(found: Sequence[Measured], gpu: Gpu) -> Iterator[str]:
    """Every launch, and how good they are together."""
    for one in found:
        guess = one.predicted(gpu)
        most = sorted(guess.terms.items(), key=lambda term: -term[1])[:4]
        shown = " ".join(f"{name} {1e6 * seconds:.0f}" for name, seconds in most)
        off = 100 * ratio(one, gpu) - 100
        times = f"{1e6 * one.seconds:9.1f} {1e6 * guess.seconds:9.1f} {off:+6.1f} %"
        yield f"{one.name:<44} {times}  {guess.limiter:<48}  {shown}"
    long = [one for one in found if one.seconds > SHORT]
    yield f"over {1e6 * SHORT:.0f} µs: {summary([abs(ratio(one, gpu) - 1) for one in long])}"
    order = spearman([one.seconds for one in long], [one.predicted(gpu).seconds for one in long])
    total, wrong = pairs(found, gpu)
    yield f"Spearman {order:.4f}; pairs of a family {APART} times apart: {total - len(wrong)} of {total} in order"
    yield from (f"  wrong order: {pair}" for pair in wrong)


def loss(found: Sequence[Measured], gpu: Gpu, start: Physics) -> float:
    """Errors of logarithms, each family counting as the root of its size, and how far constants moved."""
    sizes: dict[str, int] = {}
    for one in found:
        sizes[one.family] = sizes.get(one.family, 0) + 1
    errors = ((abs(math.log(ratio(one, gpu))), sizes[one.family] ** -0.5) for one in found)
    # Beyond 15 % an error counts linearly: one launch that physics here can't explain must not bend all the rest.
    total = sum(weight * (error**2 if error < 0.15 else 0.3 * error - 0.0225) for error, weight in errors)
    moved = (math.log(getattr(gpu.physics, one.name) / getattr(start, one.name)) for one in fields(Physics))
    return total + HOLD * sum(step**2 for step in moved)


def fitted(found: Sequence[Measured], gpu: Gpu) -> Gpu:
    """``gpu`` with the constants that suit ``found`` best, by pattern search from those it has."""
    start, best, lowest = gpu.physics, gpu, loss(found, gpu, gpu.physics)
    for step in STEPS:
        improved = True
        while improved:
            improved = False
            for name in (one.name for one in fields(Physics) if one.name not in PUBLISHED):
                for factor in (step, 1 / step):
                    tried = _with(best, name, factor)
                    if tried is not None and (found_loss := loss(found, tried, start)) < lowest - 1e-6:
                        best, lowest, improved = tried, found_loss, True
    return best


def _with(gpu: Gpu, name: str, factor: float) -> Gpu | None:
    try:
        return replace(gpu, physics=replace(gpu.physics, **{name: getattr(gpu.physics, name) * factor}))
    except ValueError:  # a part of a whole can't be more than it
        return None


def left_out(found: Sequence[Measured], gpu: Gpu) -> Iterator[str]:
    """Each family predicted by constants that were fitted without it."""
    errors: list[float] = []
    for family in sorted({one.family for one in found}):
        fit = fitted([one for one in found if one.family != family], gpu)
        here = [abs(ratio(one, fit) - 1) for one in found if one.family == family and one.seconds > SHORT]
        errors += here
        yield f"without {family:<8} {summary(here)}" if here else f"without {family:<8} only short launches"
    yield f"left out, all together: {summary(errors)}"
    yield f"nine in ten within a factor of {1 + sorted(errors)[int(0.9 * len(errors))]:.2f}"


def constants(gpu: Gpu) -> Mapping[str, float]:
    """The physics of a GPU by name."""
    return {one.name: getattr(gpu.physics, one.name) for one in fields(Physics)}


def main() -> None:
    """Print the tables; with ``--refit`` the constants fitted anew, and each family left out in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refit", action="store_true")
    parser.add_argument("--take", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    say: Callable[[str], object] = lambda line: (sys.stdout.write(line + "\n"), sys.stdout.flush())  # noqa: E731
    if chosen.take:
        take(chosen.take)
    gpu = load_gpu("h200")
    sets = measured(gpu), kernels(gpu)
    for found in sets:
        for line in table(found, gpu):
            say(line)
    if chosen.refit:
        fit = fitted([*sets[0], *sets[1]], gpu)
        say("fitted to all: " + ", ".join(f"{name} {value:.4g}" for name, value in constants(fit).items()))
        for found in sets:
            for line in list(table(found, fit))[len(found) :]:
                say(line)
        for line in left_out([*sets[0], *sets[1]], fit):
            say(line)


if __name__ == "__main__":
    main()

"""A kernel timed among its kata's reference rungs, in one race on a real GPU, and graded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import compile as compiler
from harness import references, source
from harness.catalogue import Kata
from harness.compile import Compiled
from harness.devices import Executable, PhysicalDevice, Race
from harness.errors import CatalogueError, EnvironmentFault, KataError, KernelFault
from harness.grading import speed
from harness.grading.forecast import forecast
from harness.grading.gates import COUNTED, Shown, Work, closed_gate
from harness.grading.grade import grade, too_fast
from harness.grading.judge import Answer, Judge
from harness.grading.outcomes import outcome_of
from harness.references import Case
from harness.results import CaseResult, Hazard, Mismatch, Outcome, Speed, Timing
from harness.simulator.gpus import DEFAULT, load_gpu

#: Part of the seed of what is timed: no case of the check has it.
_STREAM = 1_000_000


@dataclass(frozen=True)
class Mine:
    """The user's kernel, loaded."""

    path: Path
    compiled: Compiled
    executable: Executable


@dataclass(frozen=True)
class Timed:
    """What timing came to: the speed, or why there is none; and the case that was checked on the way."""

    speed: Speed | None = None
    case: CaseResult | None = None
    warnings: tuple[str, ...] = ()


def unseen(values: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as ordinary as ``values``, and other ones: each array turned on by a third of its length, and halved.

    Made from those, because drawing as many anew takes seconds. No element stays, and no sum of them.
    """
    changed = dict(values)
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            changed[name] = np.roll(value, value.size // 3) * value.dtype.type(0.5)
            changed[name].flags.writeable = False
    return changed


def speed_cases(kata: Kata) -> tuple[Case, ...]:
    """The sizes at which a kata is timed."""
    return tuple(Case("speed", "random", size) for size in kata.speed)


@dataclass
class Ladder:
    """The rungs of a kata, loaded on a device, with the user's kernel ahead of them if there is one."""

    device: PhysicalDevice
    judge: Judge
    seed: int
    clock: Callable[[], float]
    mine: Mine | None = None

    def __post_init__(self) -> None:
        kata = self.judge.kata
        if not kata.rungs:
            raise CatalogueError("there is no solution to compare with", file=str(kata.solutions))
        self.executables = [self.mine.executable] if self.mine else []
        for rung in kata.rungs:
            program = source.parse(rung.path, kata)
            compiled = compiler.compile_program(program, arch=self.device.arch)
            self.executables.append(self.device.load(program, compiled))

    def time(self, case: Case) -> Timed:
        """Time everything at one size; then check the user's kernel there on inputs that no run has seen.

        A size that the GPU's memory can't hold is cut down, and a warning says so.
        """
        fitting = self._fitting(case)
        timed = self._time(fitting)
        if fitting == case:
            return timed
        smaller = f"timed at {fitting.label}: the GPU's memory can't hold {case.label}"
        return dataclasses.replace(timed, warnings=(smaller, *timed.warnings))

    def _fitting(self, case: Case) -> Case:
        """The case, or the first for which there is room as its first size is halved: fewer rows, as long."""
        while not self.device.has_room(self.judge.kata.least_bytes(dict(case.sizes))) and case.sizes[0][1] > 1:
            (name, size), *others = case.sizes
            case = dataclasses.replace(case, sizes=((name, size // 2), *others))
        return case

    def _time(self, case: Case) -> Timed:
        start = self.clock()
        filled = dataclasses.replace(case, values=references.timed_values(self.judge.reference))
        values = self.judge.inputs(self._rng(0), filled)
        nbytes = self.judge.kata.least_bytes(values)
        try:
            race = self.device.race(self.executables, self.judge.arguments(values), nbytes)
        except EnvironmentFault as fault:
            return Timed(warnings=(f"not timed: {fault.message}",))
        except KernelFault as fault:
            return Timed(case=self._case(case, start, None, (fault.hazard,)))
        try:
            with ThreadPoolExecutor(1) as aside:  # the GPU keeps its own time: nothing here disturbs it
                answer = aside.submit(self._another, values) if self.mine else None
                samples = speed.take_samples(race.sample, len(self.executables) + 2, self._rng(1), self.clock)
            found = self._speed(case, race, samples, nbytes, self.judge.kata.least_flops(values))
            if answer is None:
                return Timed(found)
            fresh, right = answer.result()
            seconds, call, hazards = race.fresh(0, self.judge.arguments(fresh))
            replayed = speed.replays(seconds, samples[0], lambda: race.sample((0,))[0], self.clock)
        except KernelFault as fault:
            return Timed(case=self._case(case, start, None, (fault.hazard,)))
        mismatch = self.judge.mismatch(case, fresh, [call], answer=right)
        result = self._case(case, start, mismatch, hazards)
        return Timed(case=result) if result.outcome is not Outcome.RIGHT else Timed(
            self._graded(found, race, case, seconds if replayed else None), result
        )  # fmt: skip

    def _another(self, values: Mapping[str, Any]) -> tuple[Mapping[str, Any], Answer]:
        """Inputs that no run has seen, and what is right for them."""
        fresh = unseen(values)
        return fresh, self.judge.answer(fresh)

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, _STREAM + stream])

    def _speed(self, case: Case, race: Race, samples: list[list[float]], nbytes: int, flops: int) -> Speed:
        """What the samples say of the ladder."""
        rng = self._rng(2)
        titles = tuple(rung.title for rung in self.judge.kata.rungs)
        names = [*(["yours"] if self.mine else []), *titles, "copy", "arithmetic"]
        timings = [speed.timing(name, one, rng) for name, one in zip(names, samples, strict=True)]
        *entrants, copy, arithmetic = timings
        mine, rungs = (entrants[0], entrants[1:]) if self.mine else (None, entrants)
        computing = flops * arithmetic.seconds / race.arithmetic_flops
        moving = computing <= copy.seconds
        return Speed(
            label=case.label, timing=mine, rungs=tuple(rungs), titles=titles, par=self.judge.kata.par, nbytes=nbytes,
            flops=flops, light=max(copy.seconds, computing), noisy=_noisy(mine, copy),
            limit="a copy of the same bytes" if moving else "what the GPU's float32 units can compute",
        )  # fmt: skip

    def _graded(self, found: Speed, race: Race, case: Case, unkept: float | None) -> Speed:
        """With the grade, or with why there is none. ``unkept`` is what a run over unseen inputs took, in seconds, of a
        kernel that keeps its results."""
        assert self.mine is not None and found.timing is not None
        kata = self.judge.kata
        shown = Shown.by_plan(race.plans[0], self.mine.compiled.resources)
        if COUNTED & set(kata.gates):
            shown = self._counted(case) or shown
        refused = too_fast(found) or closed_gate(kata.gates, shown, Work.of(kata, dict(case.sizes)))
        if unkept is not None:
            times = unkept / found.timing.seconds
            refused = f"inputs it had not seen took {times:.1f} times as long, the first time, so it is not graded"
        graded = None if refused else grade(found.timing, found.rungs, found.par)
        return dataclasses.replace(found, refused=refused, grade=graded)

    def _counted(self, case: Case) -> Shown | None:
        """What counting in the simulator shows of the user's kernel; None where it can't be counted."""
        assert self.mine is not None
        try:
            return forecast(self.judge.kata, self.mine.path, load_gpu(DEFAULT), case).shown
        except KataError:
            return None

    def _case(
        self, case: Case, start: float, mismatch: Mismatch | None, hazards: tuple[Hazard, ...]
    ) -> CaseResult:
        outcome = outcome_of(mismatch, hazards)
        return CaseResult(case.label, case.group, outcome, self.clock() - start, mismatch, hazards)


def ladder_of(
    kata: Kata, path: Path | None, device: PhysicalDevice, seed: int, clock: Callable[[], float]
) -> Ladder:
    """The ladder of a kata, with the kernels in ``path`` among it unless that is None."""
    names = tuple(parameter.name for parameter in kata.parameters)
    mine = None
    if path is not None:
        program = source.parse(path, kata)
        compiled = compiler.compile_program(program, arch=device.arch)
        names, mine = program.parameter_names, Mine(path, compiled, device.load(program, compiled))
    return Ladder(device, Judge(kata, names, references.load(kata.name)), seed, clock, mine)


def _noisy(*timings: Timing | None) -> bool:
    return any(one is not None and one.spread > speed.ENOUGH for one in timings)

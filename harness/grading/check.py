"""One check: every case of a kata's reference through one file on one device, and what came of it."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness import compile as compiler
from harness import references, source
from harness.catalogue import Kata
from harness.devices import Argument, Buffer, Device, Executable, PhysicalDevice, Run, open_device
from harness.errors import KernelFault, Unsupported
from harness.grading.agreement import agreed
from harness.grading.judge import Judge
from harness.grading.ladder import Ladder, Mine, Timed, speed_cases
from harness.grading.outcomes import merged, outcome_of, worst
from harness.grading.predicted import predict_first
from harness.grading.sanitized import Sanitized, fold
from harness.references import Case
from harness.results import CaseResult, Mismatch, Outcome, Verdict

if TYPE_CHECKING:
    from harness.simulator.gpus import Gpu
    from harness.source import Program

#: The group of cases that only a GPU has the time for, where there is one.
LARGE = "large"

#: Faults repeat from case to case and are slow to run into: after so many cases with one, the rest are left out.
MOST_FAULTS = 3

#: Once something is wrong, cases go on for so many seconds: enough to say for which sizes.
SECONDS_AFTER_FAILURE = 20.0

#: Patterns that say less than another of as many cases does: a tail of 3 elements of 3 is "never written".
_VAGUE = ("never_written", "zeros", "constant", "scattered")

#: Under compute-sanitizer kernels are slow: cases with more elements, inputs and outputs together, are left out, and so
#: are those that differ from another in their values alone.
MOST_SANITIZED = 20_000


def check_file(
    kata: Kata,
    path: Path,
    device: Device,
    seed: int,
    progress: Callable[[CaseResult], None] | None = None,
    *,
    sanitize: bool = False,
    gpu: Gpu | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Verdict:
    """Judge the kernels in ``path`` as an answer to ``kata``.

    ``seed`` fixes every case's inputs; ``clock`` gives seconds; ``progress`` is called after each case. ``sanitize``
    runs compute-sanitizer over it too, where the device is a GPU; where it isn't, ``gpu`` is the one that times are
    predicted for, None for no times; what certainly goes wrong at the size they are for is then a case of its own.
    Raises SourceError, CompileError, EnvironmentFault and Unsupported; what a kernel does wrong is in the verdict.
    """
    start = clock()
    program = source.parse(path, kata)
    compiled = compiler.compile_program(program, arch=device.arch)
    executable = device.load(program, compiled)
    judge = Judge(kata, program.parameter_names, references.load(kata.name))
    physical = isinstance(device, PhysicalDevice)
    grader = _Grader(judge, executable, seed, clock, _simulated(program) if physical else None)
    grader.run_all(progress)
    cases = agreed(grader.results, judge.reference.CASES)
    told = merged(hazard for result in grader.results for hazard in result.hazards)
    sanitized = Sanitized()
    if sanitize and isinstance(device, PhysicalDevice):
        small = grader.small_cases()
        found = device.sanitize(program, compiled, small)
        sanitized = fold(found, told, len(small), watched=grader.watcher is not None)
    verdict = Verdict(
        kata=kata.name,
        file=str(path),
        device=device.name,
        seed=seed,
        outcome=worst((outcome_of(None, sanitized.hazards), *(one.outcome for one in cases))),
        cases=cases,
        seconds=clock() - start,
        hazards=merged((*sanitized.hazards, *told)),
        printed=grader.printed,
        warnings=(*executable.remarks, *grader.warnings),
        remarks=sanitized.remarks,
    )
    if verdict.outcome is not Outcome.RIGHT:
        return verdict
    timed = Timed()
    if isinstance(device, PhysicalDevice):
        timed = _timed(Ladder(device, judge, seed, clock, Mine(path, compiled, executable)))
    elif gpu is not None:
        timed = predict_first(kata, path, gpu, clock)
    if progress and timed.case:
        progress(timed.case)
    return dataclasses.replace(completed(verdict, timed), seconds=clock() - start)


def completed(verdict: Verdict, timed: Timed) -> Verdict:
    """The verdict with what timing came to, which may have shown one more case."""
    if timed.case is not None:
        verdict = dataclasses.replace(
            verdict,
            outcome=worst((verdict.outcome, timed.case.outcome)),
            cases=(*verdict.cases, timed.case),
            hazards=merged((*verdict.hazards, *timed.case.hazards)),
        )
    return dataclasses.replace(verdict, warnings=(*verdict.warnings, *timed.warnings), speed=timed.speed)


def _simulated(program: Program) -> Executable:
    """The program in the simulator, which sees the hazards that a GPU doesn't."""
    simulator = open_device("sim")
    return simulator.load(program, compiler.compile_program(program, arch=simulator.arch))


def _timed(ladder: Ladder) -> Timed:
    """The kernel's speed at the first of its kata's sizes, if it has any."""
    sizes = speed_cases(ladder.judge.kata)
    return ladder.time(sizes[0]) if sizes else Timed()


def headline(verdict: Verdict) -> Mismatch | None:
    """The mismatch that says most: of the pattern found in most cases, the first with more than one element."""
    found = [result.mismatch for result in verdict.cases if result.mismatch]
    if not found:
        return None
    votes = Counter(mismatch.pattern for mismatch in found)
    votes["scattered"] //= 2  # that nothing explains it may be chance: sums of other parts come as near
    return min(found, key=lambda one: (-votes[one.pattern], one.pattern in _VAGUE, one.size == 1))


@dataclass
class _Grader:
    """The cases of one check, run one after the other. ``watcher`` is the simulator's build, where a GPU runs them."""

    judge: Judge
    executable: Executable
    seed: int
    clock: Callable[[], float]
    watcher: Executable | None = None
    results: list[CaseResult] = field(default_factory=list)
    printed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def run_all(self, progress: Callable[[CaseResult], None] | None) -> None:
        """Run cases until all are done, or enough failed to say what is wrong."""
        cases = self.judge.reference.CASES
        failed_at: float | None = None
        for number, case in enumerate(cases):
            result = self.run_case(case, np.random.default_rng([self.seed, number]))
            self.results.append(result)
            if progress:
                progress(result)
            if result.outcome is not Outcome.RIGHT and failed_at is None:
                failed_at = self.clock()
            why = self._enough(failed_at)
            if why and number + 1 < len(cases):
                self.warnings += (f"{len(cases) - number - 1} of {len(cases)} cases were left out {why}",)
                return

    def small_cases(self) -> list[tuple[Argument, ...]]:
        """What ``solve`` is called with in the cases that compute-sanitizer runs."""
        found = []
        for number, case in enumerate(self.judge.reference.CASES):
            if case.group in ("values", LARGE):
                continue
            arguments = self.judge.arguments(self.judge.inputs(np.random.default_rng([self.seed, number]), case))
            if sum(one.data.size for one in arguments if isinstance(one, Buffer)) <= MOST_SANITIZED:
                found.append(arguments)
        return found

    def _enough(self, failed_at: float | None) -> str | None:
        """Why no more cases need to run, None while they do."""
        if any(hazard.kind in ("runaway", "unfinished") for hazard in self.results[-1].hazards):
            return "after one that did not end"  # the next would take as long
        faults = sum(result.outcome is Outcome.FAULT for result in self.results)
        if faults >= MOST_FAULTS:
            return f"after {faults} with a fault"
        late = failed_at is not None and self.clock() - failed_at > SECONDS_AFTER_FAILURE
        return "to keep this short" if late else None

    def run_case(self, case: Case, rng: np.random.Generator) -> CaseResult:
        """One case, from its inputs to what came of it."""
        start = self.clock()
        values = self.judge.inputs(rng, case)
        run = self._run(case, self.judge.arguments(values))
        hazards = merged((*run.hazards, *([run.fault] if run.fault else [])))
        mismatch = self.judge.mismatch(case, values, run.calls, run.launches)
        outcome = outcome_of(mismatch, hazards)
        self._keep_printed(run, outcome)
        return CaseResult(case.label, case.group, outcome, self.clock() - start, mismatch, hazards)

    def _run(self, case: Case, arguments: tuple[Argument, ...]) -> Run:
        """The case on the device. On a GPU the simulator goes first, on all but large cases, and says what it saw.

        What faults there doesn't run on the GPU at all: the simulator says more of it, and the GPU is spared.
        """
        watched = self._watch(arguments) if case.group != LARGE else None
        if watched is not None and watched.fault is not None:
            return watched
        run = _outcome(self.executable, arguments)
        seen = [hazard for hazard in watched.hazards if hazard not in run.hazards] if watched else []
        return dataclasses.replace(run, hazards=(*run.hazards, *seen))

    def _watch(self, arguments: tuple[Argument, ...]) -> Run | None:
        if self.watcher is None:
            return None
        try:
            return _outcome(self.watcher, arguments)
        except Unsupported as unknown:
            self.watcher = None
            self.warnings += (f"hazards were not looked for: {unknown.message}",)
            return None

    def _keep_printed(self, run: Run, outcome: Outcome) -> None:
        """What kernels printed in the first case that is not right, else in the first that printed."""
        first_failure = outcome is not Outcome.RIGHT and all(r.outcome is Outcome.RIGHT for r in self.results)
        if run.printed and (first_failure or not self.printed):
            self.printed = run.printed


def _outcome(executable: Executable, arguments: tuple[Argument, ...]) -> Run:
    try:
        return executable.run(arguments)
    except KernelFault as fault:  # a launch refused while planning: no call was made
        return Run(calls=(), fault=fault.hazard)

"""One check: every case of a kata's reference through one file on one device, and what came of it."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness import compile as compiler
from harness import references, source
from harness.catalogue import Kata, Parameter
from harness.devices import Buffer, Device, Executable, Run
from harness.errors import KernelFault
from harness.grading.correctness import Comparison
from harness.grading.diagnosis import changed_input, diagnose
from harness.references import Case, Reference
from harness.results import CaseResult, Hazard, Mismatch, Outcome, Severity, Verdict

#: Faults repeat from case to case and are slow to run into: after so many cases with one, the rest are left out.
MOST_FAULTS = 3

#: Once something is wrong, cases go on for so many seconds: enough to say for which sizes.
SECONDS_AFTER_FAILURE = 20.0

#: Patterns that say less than another of as many cases does: a tail of 3 elements of 3 is "never written".
_VAGUE = ("never_written", "zeros", "constant", "scattered")


def check_file(
    kata: Kata,
    path: Path,
    device: Device,
    seed: int,
    progress: Callable[[CaseResult], None] | None = None,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> Verdict:
    """Judge the kernels in ``path`` as an answer to ``kata``.

    ``seed`` fixes every case's inputs; ``clock`` gives seconds; ``progress`` is called after each case. Raises
    SourceError, CompileError, EnvironmentFault and Unsupported; what a kernel does wrong is in the verdict.
    """
    start = clock()
    program = source.parse(path, kata)
    executable = device.load(program, compiler.compile_program(program, arch=device.arch))
    reference = references.load(kata.name)
    grader = _Grader(kata, program.parameter_names, reference, executable, seed, clock)
    grader.run_all(progress)
    return Verdict(
        kata=kata.name,
        file=str(path),
        device=device.name,
        seed=seed,
        outcome=worst(result.outcome for result in grader.results),
        cases=tuple(grader.results),
        seconds=clock() - start,
        hazards=merged(hazard for result in grader.results for hazard in result.hazards),
        printed=grader.printed,
        warnings=grader.warnings,
    )


def headline(verdict: Verdict) -> Mismatch | None:
    """The mismatch that says most: of the pattern found in most cases, the first with more than one element."""
    found = [result.mismatch for result in verdict.cases if result.mismatch]
    if not found:
        return None
    votes = Counter(mismatch.pattern for mismatch in found)
    return min(found, key=lambda one: (-votes[one.pattern], one.pattern in _VAGUE, one.size == 1))


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """A fault outweighs a wrong answer, which outweighs a right one."""
    return max(outcomes, key=[Outcome.RIGHT, Outcome.WRONG, Outcome.FAULT].index, default=Outcome.RIGHT)


def merged(hazards: Iterable[Hazard]) -> tuple[Hazard, ...]:
    """One hazard for each kind, kernel and line, as it was first met, with the counts added; errors first."""
    first: dict[tuple[Any, ...], Hazard] = {}
    for hazard in hazards:
        key = (hazard.kind, hazard.severity, hazard.kernel, hazard.line)
        seen = first.get(key)
        first[key] = dataclasses.replace(seen, count=seen.count + hazard.count) if seen else hazard
    return tuple(sorted(first.values(), key=lambda hazard: list(Severity).index(hazard.severity)))


def outcome_of(mismatch: Mismatch | None, hazards: Iterable[Hazard]) -> Outcome:
    """Of one case. A hazard of error class is a fault even where the numbers match, but for ``no_launch``:

    nothing ran that could fault, there is just no answer.
    """
    errors = {hazard.kind for hazard in hazards if hazard.severity is Severity.ERROR}
    if errors - {"no_launch"}:
        return Outcome.FAULT
    return Outcome.WRONG if errors or mismatch else Outcome.RIGHT


@dataclass
class _Grader:
    """The cases of one check, run one after the other."""

    kata: Kata
    names: tuple[str, ...]
    reference: Reference
    executable: Executable
    seed: int
    clock: Callable[[], float]
    results: list[CaseResult] = field(default_factory=list)
    printed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def run_all(self, progress: Callable[[CaseResult], None] | None) -> None:
        """Run cases until all are done, or enough failed to say what is wrong."""
        cases = self.reference.CASES
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
                self.warnings = (f"{len(cases) - number - 1} of {len(cases)} cases were left out {why}",)
                return

    def _enough(self, failed_at: float | None) -> str | None:
        """Why no more cases need to run, None while they do."""
        if any(hazard.kind == "runaway" for hazard in self.results[-1].hazards):
            return "after one that did not end"  # the next would take as long
        faults = sum(result.outcome is Outcome.FAULT for result in self.results)
        if faults >= MOST_FAULTS:
            return f"after {faults} with a fault"
        late = failed_at is not None and self.clock() - failed_at > SECONDS_AFTER_FAILURE
        return "to keep this short" if late else None

    def run_case(self, case: Case, rng: np.random.Generator) -> CaseResult:
        """One case, from its inputs to what came of it."""
        start = self.clock()
        arguments = self.reference.inputs(rng, case)
        for value in arguments.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # the reference reads these later: they must stay what they are
        run = self._run(tuple(self._argument(*pair, arguments) for pair in self._parameters()))
        hazards = merged((*run.hazards, *([run.fault] if run.fault else [])))
        mismatch = self._mismatch(case, arguments, run)
        outcome = outcome_of(mismatch, hazards)
        self._keep_printed(run, outcome)
        return CaseResult(case.label, case.group, outcome, self.clock() - start, mismatch, hazards)

    def _run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
        try:
            return self.executable.run(arguments)
        except KernelFault as fault:  # a launch refused while planning: no call was made
            return Run(calls=(), fault=fault.hazard)

    def _parameters(self) -> Iterable[tuple[Parameter, str]]:
        """Each parameter of the kata with the user's own name for it."""
        return zip(self.kata.parameters, self.names, strict=True)

    def _argument(self, parameter: Parameter, name: str, arguments: Mapping[str, Any]) -> Buffer | int | float:
        if parameter.role != "out":
            value = arguments[parameter.name]
            return Buffer(name, np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value
        shape = parameter.shape_for(arguments)
        if parameter.initial is None:
            return Buffer.poisoned(name, shape)
        return Buffer(name, np.full(shape, parameter.initial, dtype=np.float32))

    def _mismatch(self, case: Case, arguments: Mapping[str, Any], run: Run) -> Mismatch | None:
        """The first thing wrong: an input changed, else an output in kata.toml's order."""
        if not run.calls:
            return None
        inputs = {name: arguments[p.name] for p, name in self._parameters() if p.role in ("in", "inout")}
        for parameter, name in self._parameters():
            if parameter.role == "in":
                for call in run.calls:
                    if changed := changed_input(case.label, name, inputs[name], call[name]):
                        return changed
        expected = self.reference.expected(arguments)
        bounds = self.reference.error_bound(arguments, expected)
        for parameter, name in self._parameters():
            if parameter.role not in ("out", "inout"):
                continue
            calls = [
                Comparison(name, call[name], expected[parameter.name], bounds[parameter.name], parameter.initial)
                for call in run.calls
            ]
            dims = tuple(str(dim) for dim in parameter.shape)
            if found := diagnose(case.label, calls, dims=dims, inputs=inputs, launches=run.launches):
                return found
        return None

    def _keep_printed(self, run: Run, outcome: Outcome) -> None:
        """What kernels printed in the first case that is not right, else in the first that printed."""
        first_failure = outcome is not Outcome.RIGHT and all(r.outcome is Outcome.RIGHT for r in self.results)
        if run.printed and (first_failure or not self.printed):
            self.printed = run.printed

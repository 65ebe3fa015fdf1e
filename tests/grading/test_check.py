"""A whole check on a device made of NumPy: what becomes of right, wrong, faulting and forgetful kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.catalogue import Parameter
from harness.devices import CALLS, Buffer, Launched, Run
from harness.errors import KernelFault, SourceError
from harness.grading import check, check_file, headline
from harness.references import Arguments, Case
from harness.results import CaseResult, Hazard, Outcome, Severity, Verdict

Kernel = Callable[[dict[str, np.ndarray], int], object]

SIZES = (1, 3, 32, 33, 257, 1000, 1025)


class Doubling:
    """The reference of a made-up kata: y = 2 x, exact."""

    CASES = tuple(Case("small" if n < 100 else "large", "random", (("n", n),)) for n in SIZES)

    def inputs(self, rng: np.random.Generator, case: Case) -> dict[str, Any]:
        return {"x": rng.uniform(1, 2, case["n"]).astype(np.float32), "n": case["n"]}

    def expected(self, arguments: Arguments) -> dict[str, np.ndarray]:
        return {"y": 2.0 * arguments["x"].astype(np.float64)}

    def error_bound(self, arguments: Arguments, expected: object) -> dict[str, np.ndarray]:
        return {"y": np.zeros(1)}


class FakeExecutable:
    remarks = ()

    def __init__(self, kernel: Kernel, **run: Any) -> None:
        self.kernel, self.extra = kernel, run
        self.seen: list[np.ndarray] = []

    def run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
        x, y, n = arguments
        assert isinstance(x, Buffer) and isinstance(y, Buffer) and isinstance(n, int)
        assert (x.name, y.name, y.unset) == ("mine", "out", True)
        self.seen.append(x.data)
        calls = []
        for _ in range(CALLS):
            memory = {"mine": x.data.copy(), "out": y.data.copy()}
            self.kernel(memory, n)
            calls.append(memory)
        launches = (Launched((max(1, n // 256), 1, 1), (256, 1, 1)),)
        return Run(tuple(calls), launches, **self.extra)


def right(memory: dict[str, np.ndarray], n: int) -> None:
    memory["out"][:] = 2 * memory["mine"]


def no_tail(memory: dict[str, np.ndarray], n: int) -> None:
    whole = n - n % 4
    memory["out"][:whole] = 2 * memory["mine"][:whole]


@pytest.fixture
def grade(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Verdict]:
    """A check of an executable that stands for what a file compiles to."""
    parameters = (
        Parameter("x", "const float*", "in", ("n",)),
        Parameter("y", "float*", "out", ("n",)),
        Parameter("n", "int", "scalar"),
    )
    kata = SimpleNamespace(name="doubling", parameters=parameters)
    program = SimpleNamespace(parameter_names=("mine", "out", "count"))
    monkeypatch.setattr(check.source, "parse", lambda path, kata: program)
    monkeypatch.setattr(check.compiler, "compile_program", lambda program, arch: None)
    monkeypatch.setattr(check.references, "load", lambda name: Doubling())

    def run(executable: Any, **options: Any) -> Verdict:
        device = SimpleNamespace(name="fake", arch="sm_80", load=lambda program, compiled: executable)
        kata_: Any = kata
        device_: Any = device
        return check_file(kata_, tmp_path / "mine.cu", device_, options.pop("seed", 1), **options)

    return run


def hazard(kind: str = "out_of_bounds", severity: Severity = Severity.ERROR, line: int | None = 7) -> Hazard:
    return Hazard(kind, severity, "it does what it must not", line)


def test_a_right_kernel_is_right_in_every_case(grade: Callable[..., Verdict]) -> None:
    verdict = grade(FakeExecutable(right))
    assert verdict.outcome is Outcome.RIGHT and len(verdict.cases) == len(SIZES) and headline(verdict) is None
    assert (verdict.kata, verdict.device, verdict.seed, verdict.hazards) == ("doubling", "fake", 1, ())


def test_a_wrong_kernel_goes_on_to_say_for_which_sizes(grade: Callable[..., Verdict]) -> None:
    verdict = grade(FakeExecutable(no_tail))
    wrong = [case.label for case in verdict.cases if case.outcome is Outcome.WRONG]
    assert verdict.outcome is Outcome.WRONG and wrong == ["n = 1", "n = 3", "n = 33", "n = 257", "n = 1025"]


def test_the_headline_is_the_pattern_of_most_cases_in_its_smallest_case(grade: Callable[..., Verdict]) -> None:
    found = headline(grade(FakeExecutable(no_tail)))
    assert found and (found.pattern, found.case, found.parameter) == ("tail", "n = 33", "out")


def test_progress_hears_of_every_case_in_order(grade: Callable[..., Verdict]) -> None:
    heard: list[CaseResult] = []
    verdict = grade(FakeExecutable(right), progress=heard.append)
    assert tuple(heard) == verdict.cases and [case.group for case in heard][:4] == ["small"] * 4


def test_a_seed_repeats_the_inputs_and_another_changes_them(grade: Callable[..., Verdict]) -> None:
    first, again, other = (FakeExecutable(right) for _ in range(3))
    grade(first, seed=5), grade(again, seed=5), grade(other, seed=6)
    assert all(map(np.array_equal, first.seen, again.seen)) and not np.array_equal(first.seen[-1], other.seen[-1])


def test_a_changed_input_is_wrong_though_the_output_is_right(grade: Callable[..., Verdict]) -> None:
    def kernel(memory: dict[str, np.ndarray], n: int) -> None:
        right(memory, n)
        memory["mine"][n // 2] = 0

    found = headline(grade(FakeExecutable(kernel)))
    assert found and found.pattern == "input_changed" and found.parameter == "mine"


def test_state_left_from_the_first_call_shows_in_the_second(grade: Callable[..., Verdict]) -> None:
    calls: list[int] = []

    def kernel(memory: dict[str, np.ndarray], n: int) -> None:
        right(memory, n)
        memory["out"] *= 1 + len(calls) % 2
        calls.append(n)

    found = headline(grade(FakeExecutable(kernel)))
    assert found and found.pattern == "second_call"


def test_an_error_hazard_is_a_fault_even_where_the_numbers_match(grade: Callable[..., Verdict]) -> None:
    assert grade(FakeExecutable(right, hazards=(hazard("race"),))).outcome is Outcome.FAULT


def test_a_warning_does_not_fail(grade: Callable[..., Verdict]) -> None:
    verdict = grade(FakeExecutable(right, hazards=(hazard("barrier", Severity.WARNING),)))
    assert verdict.outcome is Outcome.RIGHT
    assert [(found.kind, found.count) for found in verdict.hazards] == [("barrier", len(SIZES))]


def test_launching_nothing_is_a_wrong_answer_not_a_crash(grade: Callable[..., Verdict]) -> None:
    verdict = grade(FakeExecutable(lambda memory, n: None, hazards=(hazard("no_launch", line=None),)))
    found = headline(verdict)
    assert verdict.outcome is Outcome.WRONG and found and found.pattern == "never_written"


def test_the_check_stops_after_three_faults_and_says_so(grade: Callable[..., Verdict]) -> None:
    class Faulting(FakeExecutable):
        def run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
            return Run((), fault=hazard())

    verdict = grade(Faulting(right))
    assert verdict.outcome is Outcome.FAULT and len(verdict.cases) == 3
    assert [found.count for found in verdict.hazards] == [3] and "4 of 7 cases" in verdict.warnings[0]


def test_the_check_stops_after_one_kernel_that_never_ends(grade: Callable[..., Verdict]) -> None:
    class Endless(FakeExecutable):
        def run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
            return Run((), fault=hazard("runaway"))

    assert len(grade(Endless(right)).cases) == 1


def test_a_launch_refused_while_planning_is_that_cases_fault(grade: Callable[..., Verdict]) -> None:
    class Refused(FakeExecutable):
        def run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
            if arguments[-1] == 1:
                raise KernelFault(hazard("launch"))
            return super().run(arguments)

    verdict = grade(Refused(right))
    assert [case.outcome for case in verdict.cases] == [Outcome.FAULT] + [Outcome.RIGHT] * (len(SIZES) - 1)


def test_what_solve_may_not_do_ends_the_check(grade: Callable[..., Verdict]) -> None:
    class Refused(FakeExecutable):
        def run(self, arguments: tuple[Buffer | int | float, ...]) -> Run:
            raise SourceError("solve reads device memory on the host")

    with pytest.raises(SourceError):
        grade(Refused(right))


def test_a_failing_check_does_not_take_forever(grade: Callable[..., Verdict]) -> None:
    ticks = iter(range(0, 10_000, 9))
    verdict = grade(FakeExecutable(no_tail), clock=lambda: float(next(ticks)))
    assert len(verdict.cases) < len(SIZES) and "left out" in verdict.warnings[0]


def test_a_right_check_takes_the_time_it_needs(grade: Callable[..., Verdict]) -> None:
    ticks = iter(range(0, 10_000, 9))
    assert len(grade(FakeExecutable(right), clock=lambda: float(next(ticks))).cases) == len(SIZES)


def test_what_was_printed_is_kept_once(grade: Callable[..., Verdict]) -> None:
    assert grade(FakeExecutable(right, printed=("hello from block 0",))).printed == ("hello from block 0",)


def test_the_kernel_can_not_touch_what_the_reference_reads(grade: Callable[..., Verdict]) -> None:
    executable = FakeExecutable(right)
    grade(executable)
    with pytest.raises(ValueError, match="read-only"):
        executable.seen[0][0] = 0.0


def test_hazards_of_one_line_are_one_with_the_count_and_errors_come_first() -> None:
    found = check.merged([hazard("a", Severity.NOTE), hazard("b"), hazard("b"), hazard("b", line=9)])
    assert [(one.kind, one.line, one.count) for one in found] == [("b", 7, 2), ("b", 9, 1), ("a", 7, 1)]

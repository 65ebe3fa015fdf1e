"""The catalogue's proof must itself catch a catalogue that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import CatalogueError, CompileError, EnvironmentFault, SourceError
from harness.results import Hazard, Outcome, Severity, Verdict
from harness.verification import (
    Expectation,
    Finding,
    Role,
    Said,
    Task,
    examine_files,
    hear,
    hear_error,
    judge,
    plan_tasks,
    read_expectation,
)  # fmt: skip


def examined(home: Path) -> list[Finding]:
    return examine_files(catalogue.home(), catalogue.load_all())


def test_a_catalogue_as_it_should_be_has_no_findings(home: Path) -> None:
    assert examined(home) == []


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("katas/add/notes.txt", "belongs to no part"),
        ("katas/README.md", "belongs to no kata"),
        ("solutions/sub/1_x.cu", "belongs to no kata"),
        ("solutions/add/3_gap.cu", "without a gap"),
        ("solutions/add/1_twice.cu", "without a gap"),
        ("solutions/add/x.txt", "<number>_<slug>.cu"),
        ("tests/wrong/sub/x.cu", "belongs to no kata"),
        ("tests/wrong/add/x.txt", "is not a wrong kernel"),
        ("tests/right/sub/x.cu", "belongs to no kata"),
        ("tests/right/add/x.txt", "is not a right kernel"),
    ],
)
def test_what_is_out_of_place_is_named(home: Path, path: str, says: str) -> None:
    stray = home / path
    stray.parent.mkdir(parents=True, exist_ok=True)
    number = stray.name[0]
    stray.write_text(f"// Rung {number}: a title\n", encoding="utf-8")
    (only,) = examined(home)
    assert says in only.problem
    assert only.file.startswith(str(home / Path(path).parts[0]))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("katas/add/README.md", "is missing"),
        ("katas/add/add.cu", "is missing"),
        ("solutions/add/1_one_thread_per_element.cu", "without a gap"),
        ("tests/wrong/add/no_solve.cu", "3 wrong kernels"),
    ],
)
def test_what_is_missing_is_named(home: Path, path: str, says: str) -> None:
    (home / path).unlink()
    (only,) = examined(home)
    assert says in only.problem


def test_too_few_hints_or_questions_are_counted(home: Path) -> None:
    toml = home / "katas/add/kata.toml"
    text = toml.read_text(encoding="utf-8").rpartition("[[questions]]")[0]
    toml.write_text(text.replace('[[hints]]\ntext = "Round the number of blocks up."\n', ""), encoding="utf-8")
    assert [finding.problem.split(";")[0] for finding in examined(home)] == ["has 2 hints", "has 2 questions"]


def test_every_file_becomes_a_task(home: Path) -> None:
    tasks, findings = plan_tasks(catalogue.home(), catalogue.load_all())
    assert findings == []
    assert sorted((task.path.name, task.role.value, bool(task.expectation)) for task in tasks) == [
        ("1_one_thread_per_element.cu", "solution", False), ("add.cu", "skeleton", False),
        ("no_solve.cu", "wrong kernel", True), ("past_the_end.cu", "wrong kernel", True),
        ("skips_tail.cu", "wrong kernel", True), ("unknown_name.cu", "wrong kernel", True),
    ]  # fmt: skip


def test_right_kernels_are_tasks_of_their_own(home: Path) -> None:
    kernel = home / "tests/right/add/one_block.cu"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("// One block. Right, because it strides.\n", encoding="utf-8")
    tasks, findings = plan_tasks(catalogue.home(), catalogue.load_all())
    assert findings == examined(home) == []
    assert Task("add", kernel, Role.RIGHT) in tasks
    assert sum(task.must_pass for task in tasks) == 2


def test_a_right_kernel_says_what_is_unusual(home: Path) -> None:
    kernel = home / "tests/right/add/one_block.cu"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("__global__ void add();\n", encoding="utf-8")
    (only,) = examined(home)
    assert "opens with no comment" in only.problem


def test_only_wrong_kernels_have_an_expectation() -> None:
    with pytest.raises(ValueError, match="expectation"):
        Task("add", Path("add.cu"), Role.WRONG)
    with pytest.raises(ValueError, match="expectation"):
        Task("add", Path("add.cu"), Role.RIGHT, Expectation(("tail",), "n"))


def test_an_installed_catalogue_has_no_wrong_kernels(home: Path) -> None:
    for path in sorted((home / "tests").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (home / "tests").rmdir()
    assert examined(home) == []
    tasks, _ = plan_tasks(catalogue.home(), catalogue.load_all())
    assert len(tasks) == 2


@pytest.mark.parametrize(
    ("header", "expectation"),
    [
        ("// expect: tail\n// says: last n % 32\n", Expectation(("tail",), "last n % 32")),
        ("// A kernel.\n//expect:  tail |rows \n// says: x\n// line: 14\n", Expectation(("tail", "rows"), "x", 14)),
        ("// says: x\n// expect: y\nint a;\n// line: 3\n", Expectation(("y",), "x")),
        ("// expect: race\n// says: x\n// line: 7\n", Expectation(("race",), "x", 7)),
    ],
)
def test_expectations_are_read_from_the_opening_comment(tmp_path: Path, header: str, expectation: Expectation) -> None:
    path = tmp_path / "x.cu"
    path.write_text(header, encoding="utf-8")
    assert read_expectation(path) == expectation


@pytest.mark.parametrize("header", ["// says: x\n", "// expect: tail\n", "", "// expect: a\n// says: b\n// line: c\n",
                                    "// expect: race\n// says: race on x\n"])  # fmt: skip
def test_a_kernel_that_expects_nothing_is_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "x.cu"
    path.write_text(header, encoding="utf-8")
    with pytest.raises(CatalogueError):
        read_expectation(path)


def said(outcome: str, *words: str, text: str = "The last n % 32 elements.", lines: tuple[int, ...] = ()) -> Said:
    return Said(outcome, frozenset(words), text, frozenset(lines))


def warned(*warnings: str) -> Said:
    return Said("right", frozenset(), "", frozenset(), warnings)


SKELETON = Task("add", Path("add.cu"), Role.SKELETON)
SOLUTION = Task("add", Path("1_x.cu"), Role.SOLUTION)
UNUSUAL = Task("add", Path("r.cu"), Role.RIGHT)
TAIL = Task("add", Path("w.cu"), Role.WRONG, Expectation(("tail", "rows"), "LAST n"))
LINE = Task("add", Path("w.cu"), Role.WRONG, Expectation(("out_of_bounds",), "", 14))


@pytest.mark.parametrize(
    ("task", "heard", "problem"),
    [
        (SKELETON, said("wrong", "never_written"), None),
        (SKELETON, said("right"), "must fail, but it is right"),
        (SKELETON, said("compile_error", "compile_error"), "a skeleton must compile"),
        (SOLUTION, said("right"), None),
        (SOLUTION, said("wrong", "tail"), "a solution must be right"),
        (SOLUTION, said("fault", "race"), "a solution must be right"),
        (SOLUTION, warned("line 3: threads returned"), "a solution must be silent, but it is warned: line 3"),
        (UNUSUAL, said("right"), None),
        (UNUSUAL, said("fault", "race"), "a right kernel must be right"),
        (UNUSUAL, warned("line 3: threads returned"), "a right kernel must be silent"),
        (SKELETON, warned("line 3: threads returned"), "must fail, but it is right"),
        (TAIL, said("wrong", "tail"), None),
        (TAIL, said("wrong", "rows"), None),
        (TAIL, said("right"), "must fail, but it is right"),
        (TAIL, said("wrong", "scattered"), "must be tail or rows"),
        (TAIL, said("wrong", "tail", text="every third"), "must be told 'LAST n'"),
        (LINE, said("fault", "out_of_bounds", lines=(14, 20)), None),
        (LINE, said("fault", "out_of_bounds", lines=(15,)), "must name line 14, but names [15]"),
        (LINE, said("fault", "out_of_bounds"), "but names none"),
    ],
)
def test_a_file_is_judged_by_what_it_is(task: Task, heard: Said, problem: str | None) -> None:
    answer = judge(task, heard)
    assert answer is None if problem is None else problem in (answer or "")


def test_warnings_are_heard_with_their_line_and_notes_are_not() -> None:
    hazards = (
        Hazard("barrier", Severity.WARNING, "4 threads returned", line=9),
        Hazard("race", Severity.NOTE, "the same value twice", line=12),
    )
    heard = hear(Verdict("add", "r.cu", "simulated", 1, Outcome.RIGHT, (), 0.1, hazards=hazards))
    assert (heard.warnings, heard.words, heard.lines) == (("line 9: 4 threads returned",), frozenset(), frozenset())


def test_errors_are_heard_as_their_kind() -> None:
    heard = hear_error(CompileError("line 3: x", line=3, evidence="detail"))
    assert (heard.words, heard.lines, "detail" in heard.text) == ({"compile_error"}, {3}, True)
    assert hear_error(SourceError("no solve")).words == {"refused"}
    assert hear_error(SourceError("no solve")).outcome != Outcome.RIGHT


def test_a_machine_that_lacks_a_compiler_is_not_the_catalogues_fault() -> None:
    with pytest.raises(EnvironmentFault):
        hear_error(EnvironmentFault("no NVRTC"))

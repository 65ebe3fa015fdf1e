"""The catalogue's proof must itself catch a catalogue that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import CatalogueError, CompileError, EnvironmentFault, SourceError
from harness.results import Outcome
from harness.verification import (
    Expectation,
    Finding,
    Said,
    Task,
    examine_files,
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
    ],
)
def test_what_is_out_of_place_is_named(home: Path, path: str, says: str) -> None:
    stray = home / path
    stray.parent.mkdir(exist_ok=True)
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
    assert sorted((task.path.name, task.must_pass, bool(task.expectation)) for task in tasks) == [
        ("1_one_thread_per_element.cu", True, False), ("add.cu", False, False), ("no_solve.cu", False, True),
        ("past_the_end.cu", False, True), ("skips_tail.cu", False, True), ("unknown_name.cu", False, True),
    ]  # fmt: skip


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
    ],
)
def test_expectations_are_read_from_the_opening_comment(tmp_path: Path, header: str, expectation: Expectation) -> None:
    path = tmp_path / "x.cu"
    path.write_text(header, encoding="utf-8")
    assert read_expectation(path) == expectation


@pytest.mark.parametrize("header", ["// says: x\n", "// expect: tail\n", "", "// expect: a\n// says: b\n// line: c\n"])
def test_a_kernel_that_expects_nothing_is_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "x.cu"
    path.write_text(header, encoding="utf-8")
    with pytest.raises(CatalogueError):
        read_expectation(path)


def said(outcome: str, *words: str, text: str = "The last n % 32 elements.", lines: tuple[int, ...] = ()) -> Said:
    return Said(outcome, frozenset(words), text, frozenset(lines))


SKELETON, SOLUTION = Task("add", Path("add.cu")), Task("add", Path("1_x.cu"), must_pass=True)
TAIL = Task("add", Path("w.cu"), Expectation(("tail", "rows"), "LAST n"))
LINE = Task("add", Path("w.cu"), Expectation(("out_of_bounds",), "", 14))


@pytest.mark.parametrize(
    ("task", "heard", "problem"),
    [
        (SKELETON, said("wrong", "never_written"), None),
        (SKELETON, said("right"), "must fail, but it is right"),
        (SKELETON, said("compile_error", "compile_error"), "a skeleton must compile"),
        (SOLUTION, said("right"), None),
        (SOLUTION, said("wrong", "tail"), "a solution must be right"),
        (SOLUTION, said("fault", "race"), "a solution must be right"),
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


def test_errors_are_heard_as_their_kind() -> None:
    heard = hear_error(CompileError("line 3: x", line=3, evidence="detail"))
    assert (heard.words, heard.lines, "detail" in heard.text) == ({"compile_error"}, {3}, True)
    assert hear_error(SourceError("no solve")).words == {"refused"}
    assert hear_error(SourceError("no solve")).outcome != Outcome.RIGHT


def test_a_machine_that_lacks_a_compiler_is_not_the_catalogues_fault() -> None:
    with pytest.raises(EnvironmentFault):
        hear_error(EnvironmentFault("no NVRTC"))

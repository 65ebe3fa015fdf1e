from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click import unstyle

from harness.errors import CompileError, UsageError
from harness.reports.terminal import check_page, error_page, group_line, join_labels
from harness.results import CaseResult, Hazard, Mismatch, Outcome, Severity, Verdict
from tests.reports.test_speed import SPEED

TAIL = Mismatch(
    "n = 33", "output", (32,), "(never written)", "0.030303", "±6.1e-07", 1, 33, "tail",
    "output[32..32] is never written: only the last n % 32 elements. The loop on line 14 stops at the last full warp.",
)  # fmt: skip
OUTSIDE = Hazard(
    "out_of_bounds", Severity.ERROR, "reads input[33], 1 past its 33 elements", line=2, kernel="softmax",
    block=(0, 0, 0), thread=(1, 0, 0), count=31, remedy="Guard the access with i < n.",
)  # fmt: skip


def case(label: str, outcome: Outcome, mismatch: Mismatch | None = None, *hazards: Hazard) -> CaseResult:
    return CaseResult(label, "small", outcome, 0.1, mismatch, hazards)


def verdict(outcome: Outcome, *cases: CaseResult, file: str = "softmax.cu", **more: tuple[str, ...]) -> Verdict:
    hazards = tuple(dict.fromkeys(hazard for case in cases for hazard in case.hazards))
    return Verdict("softmax", file, "simulated sm_80", 7, outcome, cases, 1.23, hazards, **more)


RIGHT = verdict(Outcome.RIGHT, *(case(f"n = {n}", Outcome.RIGHT) for n in (1, 2, 3)))
WRONG = verdict(Outcome.WRONG, case("n = 32", Outcome.RIGHT), case("n = 33", Outcome.WRONG, TAIL))


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def page(of: Verdict, lead: Mismatch | None = None, *, verbose: bool = False) -> list[str]:
    return unstyle(check_page(of, lead, verbose=verbose)).splitlines()


def test_the_first_line_is_the_answer_and_the_last_the_next_step() -> None:
    right, wrong = page(RIGHT), page(WRONG, TAIL)
    assert right[0].startswith("✓ softmax is right: 3 cases, no hazards")
    assert right[-1] == "  Next: kata solution softmax --list"
    assert wrong[0].startswith("✗ softmax is wrong for n = 33 (right for 1 other case)")
    assert wrong[-1] == "  Next: kata hint softmax   (the same inputs: kata check softmax --seed 7)"


def test_a_right_kernel_with_a_time_is_shown_the_way_to_its_profile() -> None:
    timed = dataclasses.replace(RIGHT, file="mine.cu", speed=SPEED)
    assert page(timed)[-1] == "  Next: kata solution softmax 4, or kata profile softmax mine.cu"


def test_a_mismatch_shows_the_pattern_then_the_first_wrong_element() -> None:
    text = " ".join(" ".join(page(WRONG, TAIL)).split())
    assert "only the last n % 32 elements" in text
    assert "n = 33 output[32] got (never written) expected 0.030303 allowed ±6.1e-07 (1 of 33 wrong)" in text


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_lines_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    long = verdict(Outcome.FAULT, *(case(f"n = {n}", Outcome.FAULT, None, OUTSIDE) for n in range(1000, 1040)))
    for lines in (page(RIGHT), page(WRONG, TAIL), page(long)):
        assert max(map(len, lines)) <= min(int(columns), 100)


def test_file_and_device_move_to_a_second_line_when_the_first_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert page(RIGHT)[0].endswith("softmax.cu · simulated sm_80 · 1.2 s")
    monkeypatch.setenv("COLUMNS", "60")
    assert page(RIGHT)[1] == "  softmax.cu · simulated sm_80 · 1.2 s"


def test_a_hazard_shows_its_line_of_source_and_the_remedy(tmp_path: Path) -> None:
    source = tmp_path / "softmax.cu"
    source.write_text("first\n    output[i] = input[i];\n", encoding="utf-8")
    lines = page(verdict(Outcome.FAULT, case("n = 33", Outcome.FAULT, None, OUTSIDE), file=str(source)))
    assert lines[0].startswith("✗ softmax faults for n = 33: out of bounds")
    text = "\n".join(lines)
    assert "Error  reads input[33], 1 past its 33 elements: line 2\n" in text
    assert "     2 |     output[i] = input[i];" in text
    assert "    Guard the access with i < n." in text


def test_the_first_line_says_what_a_fault_is_where_its_kind_says_too_little() -> None:
    fault = Hazard("missing_lanes", Severity.ERROR, "lane 20 has exited", 3, title="a shuffle that names lanes")
    lines = page(verdict(Outcome.FAULT, case("n = 33", Outcome.FAULT, None, fault)))
    assert lines[0].startswith("✗ softmax faults for n = 33: a shuffle that names lanes")


def test_a_fault_with_a_line_is_to_be_fixed_there_and_a_hint_is_for_who_is_stuck() -> None:
    lines = page(verdict(Outcome.FAULT, case("n = 33", Outcome.FAULT, None, OUTSIDE)))
    assert lines[-2:] == [
        "  Next: fix line 2, and check again (stuck? kata hint softmax)",
        "    (the same inputs: kata check softmax --seed 7)",
    ]
    nowhere = verdict(Outcome.FAULT, case("n = 33", Outcome.FAULT, None, dataclasses.replace(OUTSIDE, line=None)))
    assert page(nowhere)[-1].startswith("  Next: kata hint")


def test_a_hazard_says_in_how_many_cases_it_was_met() -> None:
    again = dataclasses.replace(OUTSIDE, block=(1, 0, 0), count=7)
    cases = case("n = 33", Outcome.FAULT, None, OUTSIDE), case("n = 34", Outcome.FAULT, None, again)
    merged = dataclasses.replace(verdict(Outcome.FAULT, *cases), hazards=(dataclasses.replace(OUTSIDE, count=38),))
    assert "1 past its 33 elements: line 2 (in 2 cases)" in " ".join(" ".join(page(merged)).split())


def test_what_must_be_exact_is_said_so() -> None:
    exact = dataclasses.replace(TAIL, allowed="exact")
    assert "must be exact" in "".join(page(verdict(Outcome.WRONG, case("n = 33", Outcome.WRONG, exact)), exact))


def test_the_file_is_shown_by_its_path_here_unless_that_is_long() -> None:
    def shown(file: str) -> str:
        return "\n".join(page(verdict(Outcome.RIGHT, case("n = 1", Outcome.RIGHT), file=file))[:2])

    assert "katas/softmax/softmax.cu · simulated" in shown("katas/softmax/softmax.cu")
    assert "  softmax.cu · simulated" in shown("/somewhere/else/softmax.cu")
    assert "  mine.cu · simulated" in shown(f"{'far/' * 20}mine.cu")


def test_another_next_step_takes_the_place_of_the_usual_one() -> None:
    assert check_page(WRONG, TAIL, following="kata start softmax").splitlines()[-1] == "  Next: kata start softmax"


def test_notes_are_for_verbose() -> None:
    note = Hazard("race", Severity.NOTE, "every lane writes the same value")
    noted = verdict(Outcome.RIGHT, case("n = 1", Outcome.RIGHT, None, note))
    assert "same value" not in "".join(page(noted))
    assert "same value" in "".join(page(noted, verbose=True))


def test_verbose_shows_every_case() -> None:
    assert sum("n = 3" in line for line in page(WRONG, TAIL, verbose=True)) >= 3


def test_printed_lines_are_bounded_and_cannot_drive_the_terminal() -> None:
    printed = ("[bold]\x1b[31mred\x1b[0m", *(f"line {number}" for number in range(50)))
    lines = page(verdict(Outcome.RIGHT, case("n = 1", Outcome.RIGHT), printed=printed))
    text = "\n".join(lines)
    assert "[bold]\\x1b[31mred\\x1b[0m" in text
    assert "line 49" not in text
    assert "and 39 more lines" in text


def test_a_file_name_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in "".join(page(verdict(Outcome.RIGHT, case("n = 1", Outcome.RIGHT), file="\x1b[2Jx.cu")))


def test_warnings_are_shown() -> None:
    left_out = verdict(Outcome.RIGHT, case("n = 1", Outcome.RIGHT), warnings=("3 of 4 cases were left out",))
    assert "  Warning  3 of 4 cases were left out" in page(left_out)


@pytest.mark.parametrize(
    ("labels", "joined"),
    [
        (["n = 1"], "n = 1"),
        (["n = 1", "n = 33", "n = 33"], "n = 1, 33"),
        (["rows = 1, cols = 2", "rows = 3, cols = 4"], "rows = 1, cols = 2; rows = 3, cols = 4"),
        (["n = 1", "n = 3 (all zero)", "n = 5"], "n = 1; n = 3 (all zero); n = 5"),
        ([f"n = {n}" for n in range(9)], "n = 0, 1, 2, 3, 4, 5 and 3 more"),
    ],
)
def test_case_labels_are_joined(labels: list[str], joined: str) -> None:
    assert join_labels(labels) == joined


def test_a_group_of_cases_is_one_line() -> None:
    cases = [case("n = 1", Outcome.RIGHT), case("n = 2", Outcome.WRONG, TAIL)]
    assert unstyle(group_line("small", cases)) == "  small      1 right, 1 wrong   0.2 s"


def test_a_compile_error_is_the_compilers_own_words() -> None:
    evidence = 'add.cu:3:20: error: identifier "j" is undefined\n      c[i] = a[j];\n               ^'
    error = CompileError("line 3: no j", file="add.cu", line=3, evidence=evidence, remedy="did you mean i?")
    assert unstyle(error_page(error)).splitlines() == [
        "✗ add.cu does not compile", *(f"  {line}" for line in evidence.splitlines()), "  did you mean i?",
        "  Next: fix line 3, and check again",
    ]  # fmt: skip


def test_an_error_with_a_line_but_no_excerpt_gets_one(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("one\ntwo\nthree\n", encoding="utf-8")
    text = unstyle(error_page(UsageError("no such thing", file=str(source), line=2)))
    assert "     2 | two" in text
    assert ":2: no such thing" in text.replace("\n  ", " ")

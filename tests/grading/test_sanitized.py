"""What compute-sanitizer found, beside what the check said without it."""

from __future__ import annotations

import pytest

from harness.devices.gpu_findings import Finding
from harness.grading.sanitized import fold
from harness.results import Hazard, Severity

WRITE = Finding(
    "memcheck", "out_of_bounds", "Invalid __global__ write of size 4 bytes", "k", (7,), 3, (5, 0, 0), (1, 0, 0)
)
RACE = Finding("racecheck", "race", "Error", "k", (9, 13), 256)
UNSET = Finding("initcheck", "uninitialised", "Uninitialized __global__ memory read of size 4 bytes", "k", (4,))


def hazard(kind: str, line: int | None, other: int | None = None) -> Hazard:
    return Hazard(kind, Severity.ERROR, "as the simulator tells it", line, other_line=other)


def test_nothing_found_is_said() -> None:
    sanitized = fold([], [], 12, watched=True)
    assert sanitized.hazards == ()
    (remark,) = sanitized.remarks
    assert remark == "compute-sanitizer (memcheck, racecheck, initcheck, synccheck) over 12 cases: nothing found"


@pytest.mark.parametrize(
    "known", [hazard("out_of_bounds", 7), hazard("use_after_free", 7), hazard("null_pointer", None)], ids=str
)
def test_what_was_told_already_is_not_told_again(known: Hazard) -> None:
    sanitized = fold([WRITE], [known], 3, watched=True)
    assert sanitized.hazards == () and "1 found, of which 1 are told without it" in sanitized.remarks[0]


def test_a_line_in_the_words_of_a_hazard_counts() -> None:
    finding = Finding("synccheck", "barrier", "Barrier error detected", "k", (16,))
    known = Hazard("barrier", Severity.ERROR, "64 threads wait on line 13 while 64 wait at the one on line 16", 13)
    assert fold([finding], [known], 3, watched=True).hazards == ()


def test_either_line_of_a_race_is_the_same_race() -> None:
    assert fold([RACE], [hazard("race", 20, 9)], 3, watched=True).hazards == ()
    assert fold([RACE], [hazard("race", 20, 21)], 3, watched=True).hazards != ()


def test_a_finding_of_its_own_is_an_error_with_its_place() -> None:
    (told,) = fold([WRITE], [hazard("race", 7), hazard("out_of_bounds", 8)], 3, watched=True).hazards
    assert (told.kind, told.severity, told.line, told.count) == ("out_of_bounds", Severity.ERROR, 7, 3)
    assert (told.kernel, told.thread, told.block) == ("k", (5, 0, 0), (1, 0, 0))
    assert told.message == "compute-sanitizer's memcheck: Invalid __global__ write of size 4 bytes in k"


@pytest.mark.parametrize("finding", [RACE, UNSET], ids=["race", "uninitialised"])
def test_what_the_simulator_watched_and_did_not_see_is_a_warning_that_says_so(finding: Finding) -> None:
    (doubted,) = fold([finding], [], 3, watched=True).hazards
    assert doubted.severity is Severity.WARNING and "the simulator watched every access" in (doubted.remedy or "")
    (believed,) = fold([finding], [], 3, watched=False).hazards
    assert believed.severity is Severity.ERROR


def test_a_race_names_both_lines() -> None:
    (told,) = fold([RACE], [], 3, watched=False).hazards
    assert "a race in shared memory between line 9 and line 13 in k" in told.message
    assert (told.line, told.other_line) == (13, 9)


def test_a_note_stays_a_note_and_a_refused_call_is_a_launch() -> None:
    note = Finding("racecheck", "race", "Info", "k", (9,))
    call = Finding("memcheck", "api_error", "Program hit cudaErrorInvalidValue (error 1)")
    told = fold([note, call], [], 3, watched=True).hazards
    assert [(one.kind, one.severity) for one in told] == [("race", Severity.NOTE), ("launch", Severity.ERROR)]

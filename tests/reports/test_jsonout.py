from __future__ import annotations

import json

import pytest

from harness.errors import CompileError, EnvironmentFault, KataError, KernelFault, SourceError, UsageError
from harness.reports.jsonout import SCHEMA, check_error_record, check_record, error_record
from harness.results import CaseResult, Hazard, Mismatch, Outcome, Severity, Verdict

HAZARD = Hazard(
    "misaligned", Severity.ERROR, "reads 16 bytes at 4", line=9, kernel="k", block=(1, 0, 0), thread=(2, 0, 0)
)
MISMATCH = Mismatch("n = 3", "c", (2,), "nan", "1", "±0", 1, 3, "tail", "Only the tail.")
KEYS = {
    "schema", "kata", "file", "verdict", "device", "seed", "seconds", "cases", "mismatches", "hazards", "speed",
    "warnings", "remarks", "printed",
}  # fmt: skip


def test_a_check_has_every_key() -> None:
    cases = (CaseResult("n = 3", "small", Outcome.WRONG, 0.1, MISMATCH, (HAZARD,)),)
    record = check_record(Verdict("add", "add.cu", "simulated sm_80", 7, Outcome.WRONG, cases, 0.5, (HAZARD,), ("hi",)))
    assert json.loads(json.dumps(record)) == record
    assert set(record) == KEYS
    assert (record["schema"], record["verdict"], record["seed"]) == (SCHEMA, "wrong", 7)
    assert record["hazards"] == [
        {"class": "misaligned", "severity": "error", "line": 9, "message": "reads 16 bytes at 4", "kernel": "k",
         "block": [1, 0, 0], "thread": [2, 0, 0], "count": 1, "remedy": None},
    ]  # fmt: skip
    assert record["mismatches"][0]["index"] == [2]
    assert record["cases"] == [{"case": "n = 3", "group": "small", "verdict": "wrong", "seconds": 0.1}]


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (CompileError("x", line=3, evidence="y"), "compile_error"),
        (SourceError("x"), "refused"),
        (KernelFault(HAZARD), "fault"),
        (EnvironmentFault("x"), "environment"),
        (UsageError("x"), "usage"),
    ],
)
def test_an_error_keeps_the_keys_of_a_check(error: KataError, word: str) -> None:
    record = check_error_record(error, kata="add", file="add.cu")
    assert set(record) == KEYS | {"error"}
    assert record["verdict"] == word
    assert record["error"]["line"] == error.line
    assert record["error"]["exit_code"] == error.exit_code
    assert bool(record["hazards"]) == (word == "fault")


def test_other_commands_give_the_error_alone() -> None:
    assert error_record(UsageError("m", remedy="r")) == {
        "schema": SCHEMA,
        "error": {"message": "m", "file": None, "line": None, "evidence": None, "remedy": "r", "exit_code": 2},
    }

"""Reading compute-sanitizer, and what the recorded run on a GPU says about our own check."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import catalogue, references
from harness.devices.gpu_findings import Finding, parse
from harness.errors import EnvironmentFault
from tests.gpu.agreement import Alarm, Heard, Reported, beyond, findings_of, hear, judge, read_alarms, without_cause
from tests.gpu.drivers import MOST_ELEMENTS, Built, KataFile, driver_source, kata_files, pack_cases
from tests.gpu.sanitizer import SEED, dump, is_due, merged, rows

RECORD = Path(__file__).with_name("sanitizer.json")

WRONG = "tests/wrong/reduce_sum/a_kernel.cu"
OTHER = "tests/wrong/reduce_sum/another.cu"

#: Output of compute-sanitizer 2025.3.1 on an H200, cut down.
MEMCHECK = """\
========= COMPUTE-SANITIZER

::kata begin tests/wrong/reduce_sum/a_kernel.cu
========= Invalid __shared__ write of size 4 bytes
=========     at reduce_sum(const float *, float *, int)+0x1f0 in /home/ada/tests/wrong/reduce_sum/a_kernel.cu:18
=========     by thread (224,0,0) in block (0,0,0)
=========     Access to 0x41c is out of bounds
========= 
========= Invalid __shared__ write of size 4 bytes
=========     at reduce_sum(const float *, float *, int)+0x1f0 in /home/ada/tests/wrong/reduce_sum/a_kernel.cu:18
=========     by thread (225,0,0) in block (1,0,0)
=========     Access to 0x41c is out of bounds
========= 

::kata done tests/wrong/reduce_sum/a_kernel.cu

::kata begin tests/wrong/reduce_sum/another.cu
========= Invalid __global__ read of size 16 bytes
=========     at add(const float *, const float *, float *, int)+0x200 in /home/ada/tests/wrong/reduce_sum/another.cu:13
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f734080000c is misaligned
=========     and is inside the nearest allocation at 0x7f7340800000 of size 124 bytes
========= 
========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaLaunchKernel.
========= 
========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaGetLastError.
========= 

::kata fault tests/wrong/reduce_sum/another.cu
========= Target application returned an error
========= ERROR SUMMARY: 4 errors
"""  # noqa: W291  as printed

RACECHECK = """\
::kata begin tests/wrong/reduce_sum/a_kernel.cu
========= Error: Race reported between Write access at reduce_sum(const float *, float *, int)+0x170 in tests/wrong/reduce_sum/a_kernel.cu:13
=========     and Read access at reduce_sum(const float *, float *, int)+0x150 in tests/wrong/reduce_sum/a_kernel.cu:9 [256 hazards]
=========     and Read access at reduce_sum(const float *, float *, int)+0x1b0 in tests/wrong/reduce_sum/a_kernel.cu:13 [128 hazards]
========= 
========= Warning: Race reported between Read access at block_sum(float)+0xb50 in tests/wrong/reduce_sum/a_kernel.cu:22
=========     and Write access at block_sum(float)+0xcf0 in tests/wrong/reduce_sum/a_kernel.cu:18 [28 hazards]
========= 
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""  # noqa: E501, W291  as printed

INITCHECK = """\
::kata begin tests/wrong/reduce_sum/a_kernel.cu
========= Uninitialized __global__ memory read of size 4 bytes
=========     at void sgemm<(int)16>(const float *, float *, int)+0x1020 in /a/tests/wrong/reduce_sum/a_kernel.cu:11
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f3c42800400
========= 
"""  # noqa: W291  as printed

SYNCCHECK = """\
::kata begin tests/wrong/reduce_sum/a_kernel.cu
========= Barrier error detected. Divergent thread(s) in block.
=========     at reduce_sum(const float *, float *, int)+0x420 in /a/tests/wrong/reduce_sum/a_kernel.cu:16
=========     by thread (160,0,0) in block (0,0,0)
========= 

::kata timeout tests/wrong/reduce_sum/a_kernel.cu
"""  # noqa: W291  as printed


def test_memcheck_says_what_where_and_how_often() -> None:
    said = parse(MEMCHECK, "memcheck", [WRONG, OTHER], 100)
    (finding,) = said.findings[WRONG]
    title = "Invalid __shared__ write of size 4 bytes"
    assert finding == Finding("memcheck", "out_of_bounds", title, "reduce_sum", (18,), 2, (224, 0, 0), (0, 0, 0))
    assert not said.unknown


def test_a_misaligned_access_is_not_out_of_bounds_and_a_failed_call_belongs_to_the_file_that_ran() -> None:
    misaligned, call = parse(MEMCHECK, "memcheck", [WRONG, OTHER], 100).findings[OTHER]
    assert (misaligned.kind, misaligned.lines) == ("misaligned", (13,))
    assert (call.kind, call.lines, call.count) == ("api_error", (), 1)  # told once, not again by cudaGetLastError


def test_how_each_file_ended_is_read_from_the_runner() -> None:
    assert parse(MEMCHECK, "memcheck", [WRONG, OTHER], 100).ended == {WRONG: "done", OTHER: "fault"}
    assert parse(SYNCCHECK, "synccheck", [WRONG], 100).ended == {WRONG: "timeout"}
    assert parse(INITCHECK, "initcheck", [WRONG], 100).ended == {WRONG: None}


def test_a_race_is_one_finding_for_each_pair_of_accesses() -> None:
    findings = parse(RACECHECK, "racecheck", [WRONG], 100).findings[WRONG]
    assert [(one.says, one.lines, one.count, one.function) for one in findings] == [
        ("Error", (9, 13), 256, "reduce_sum"),
        ("Error", (13,), 128, "reduce_sum"),
        ("Warning", (18, 22), 28, "block_sum"),
    ]


def test_initcheck_and_synccheck_are_read() -> None:
    (unset,) = parse(INITCHECK, "initcheck", [WRONG], 100).findings[WRONG]
    assert (unset.kind, unset.lines, unset.function) == ("uninitialised", (11,), "sgemm")
    (barrier,) = parse(SYNCCHECK, "synccheck", [WRONG], 100).findings[WRONG]
    assert (barrier.kind, barrier.lines, barrier.thread) == ("barrier", (16,), (160, 0, 0))


def test_a_title_that_nobody_knows_is_kept_not_dropped() -> None:
    said = parse("::kata begin x.cu\n========= Something new\n", "memcheck", ["x.cu"], 100)
    assert said.unknown == {"x.cu": ["Something new"]}


def test_a_file_after_which_too_much_was_printed_is_named() -> None:
    assert parse(MEMCHECK, "memcheck", [WRONG, OTHER], 100).full is None
    assert parse(MEMCHECK, "memcheck", [WRONG, OTHER], 4).full == OTHER
    assert parse(MEMCHECK, "memcheck", [WRONG, OTHER], 2).full == WRONG


def test_the_record_reads_back_as_it_was() -> None:
    findings = parse(RACECHECK, "racecheck", [WRONG], 100).findings[WRONG]
    row: dict[str, Any] = {"digest": "0", "findings": [one.as_json() for one in findings]}
    recorded = json.loads(dump({"format": 1, "files": {WRONG: row, OTHER: {"digest": "1"}}}))
    assert findings_of(recorded["files"][WRONG]) == tuple(findings)
    assert recorded["files"][OTHER] == {"digest": "1"}


def heard(kind: str, *lines: int, severity: str = "error") -> Heard:
    return Heard((Reported(kind, severity, frozenset(lines)),))


RACE = Finding("racecheck", "race", "Error", "k", (9, 13))
UNSET = Finding("initcheck", "uninitialised", "Uninitialized ...", "k", (7,))
PAST = Finding("memcheck", "out_of_bounds", "Invalid ...", "k", (7,))


@pytest.mark.parametrize(
    ("finding", "said", "verdict"),
    [
        (RACE, heard("race", 13, 20), "met"),
        (RACE, heard("race", 20), "elsewhere"),
        (RACE, heard("race", 13, severity="note"), "missed"),
        (RACE, Heard(), "missed"),
        (RACE, heard("uninitialised", 4), "later"),
        (PAST, heard("null_pointer", 7), "met"),
        (PAST, heard("out_of_bounds", 6), "later"),
        (UNSET, heard("out_of_bounds", 7), "met"),
        (UNSET, Heard(refused="no solve"), "refused"),
    ],
)
def test_a_finding_is_met_by_its_class_at_one_of_its_lines(finding: Finding, said: Heard, verdict: str) -> None:
    (judged,) = judge(WRONG, [finding], said)
    assert judged.verdict == verdict


def test_a_false_alarm_has_a_verdict_of_its_own_unless_we_raise_it_too() -> None:
    alarm = Alarm(WRONG, "racecheck", ((9, 13), (1, 2)), "a flag that is meant to be polled")
    (judged,) = judge(WRONG, [RACE], Heard(), [alarm])
    assert judged.verdict == "false alarm"
    assert without_cause([alarm], [judged]) == [f"{WRONG}: racecheck at 1, 2 is no longer reported"]
    for path, finding in ((OTHER, RACE), (WRONG, PAST)):
        assert next(judge(path, [finding], Heard(), [alarm])).verdict == "missed"
    (judged,) = judge(WRONG, [RACE], heard("race", 13), [alarm])
    assert judged.verdict == "met"
    assert f"{WRONG}: racecheck at 9, 13 is met by our own check" in without_cause([alarm], [judged])


def test_a_false_alarm_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="reason"):
        Alarm(WRONG, "racecheck", ((9, 13),), "")


def test_only_what_a_record_does_not_hold_has_to_run() -> None:
    file = kata_files()[0]
    row: dict[str, Any] = {"digest": file.digest}
    assert is_due(file, None, 10, 99) and is_due(file, {"digest": "old"}, 10, 99) and not is_due(file, row, 10, 99)
    cut = row | {"ended": {"memcheck": "timeout 10 s"}, "elements": 99}
    assert is_due(file, cut, 20, 99) and is_due(file, cut, 10, 50) and not is_due(file, cut, 10, 99)
    assert not is_due(file, row | {"ended": {"memcheck": "fault"}}, 20, 99)


def test_a_record_is_added_to_by_the_same_tools_only() -> None:
    path, other = (file.path for file in kata_files()[:2])
    made = dict.fromkeys(("format", "device", "driver", "tool", "compiler", "flags", "seed"), "x")
    found = {"digest": "1", "findings": [RACE.as_json()]}
    older = made | {"files": {path: found, other: {"digest": "2"}, "tests/wrong/add/gone.cu": {"digest": "3"}}}
    smaller = {"digest": "1", "elements": 9, "findings": [PAST.as_json()]}
    files = merged(older, made | {"files": {path: smaller}})["files"]
    assert list(files) == [path, other] and len(files[path]["findings"]) == 2  # smaller cases may find less
    assert merged(older, made | {"files": {path: {"digest": "4"}}})["files"][path] == {"digest": "4"}
    with pytest.raises(EnvironmentFault, match="driver"):
        merged(older, made | {"driver": "y", "files": {}})


def test_we_say_more_where_no_tool_found_the_class() -> None:
    said = Heard((*heard("race", 9).hazards, *heard("launch", 30).hazards, *heard("race", 9, severity="note").hazards))
    assert list(beyond([PAST], said)) == [said.hazards[0], said.hazards[1]]
    assert list(beyond([RACE], said)) == [said.hazards[1]]


def test_a_driver_holds_the_file_and_passes_the_arguments_of_its_kata() -> None:
    file = KataFile("solutions/sgemv/1_thread_per_row.cu", "sgemv")
    source = driver_source(file, catalogue.load("sgemv"))
    assert f'#include "{file.path}"' in source
    call = " ".join(source.split("solve(")[1].split(";")[0].split())
    assert [part.strip().split("<")[0] for part in call.split(", ")] == ["static_cast"] * 3 + [
        "kata_argument_3", "kata_argument_4)",
    ]  # fmt: skip


def test_cases_hold_the_inputs_of_a_check_and_leave_outputs_unset() -> None:
    kata = catalogue.load("relu")
    packed = pack_cases(kata, SEED)
    case = references.load("relu").CASES[0]
    values = references.load("relu").inputs(np.random.default_rng([SEED, 0]), case)["x"]
    nbytes = values.nbytes
    head = struct.pack("<iQi", 0, nbytes, 1) + values.tobytes() + struct.pack("<Qii", nbytes, 0, case["n"])
    assert packed.startswith(head)
    assert len(packed) < 4 * MOST_ELEMENTS * len(references.load("relu").CASES)


def test_rows_hold_files_of_one_kata_each_once() -> None:
    files = [KataFile(f"tests/wrong/{kata}/{n}.cu", kata) for n in range(7) for kata in ("add", "relu")]
    built = [Built(file, Path("x"), Path("y")) for file in files]
    found = rows(built, 5)
    assert sorted(one.file.path for row in found for one in row) == sorted(file.path for file in files)
    assert all(len({one.file.kata for one in row}) == 1 and len(row) <= 5 for row in found)
    assert [len(row) for row in found] == [4, 4, 3, 3]


def recorded() -> dict[str, Any]:
    files: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))["files"]
    return files


def test_all_that_tools_found_in_solutions_and_right_kernels_are_false_alarms() -> None:
    alarms = read_alarms()
    for path, row in recorded().items():
        if not path.startswith("tests/wrong/"):
            for finding in findings_of(row):
                assert any(alarm.covers(path, finding) for alarm in alarms), (path, finding)


@pytest.mark.parametrize("alarm", read_alarms(), ids=lambda alarm: alarm.file.split("/")[-1])
def test_every_false_alarm_is_still_raised_and_not_by_us(alarm: Alarm) -> None:
    file = KataFile.at(alarm.file)
    assert recorded()[alarm.file]["digest"] == file.digest
    judged = judge(alarm.file, findings_of(recorded()[alarm.file]), hear(file, SEED), [alarm])
    assert without_cause([alarm], judged) == []


def unchanged_samples() -> list[str]:
    """For each tool and class the first ten recorded files that are still what they were."""
    chosen: dict[str, None] = {}
    met: Counter[tuple[str, str]] = Counter()
    for path, row in recorded().items():
        file = KataFile.at(path)
        keys = {(one.tool, one.kind) for one in findings_of(row)}
        if file.exists and file.digest == row["digest"] and any(met[key] < 10 for key in keys):
            met.update(keys)
            chosen[path] = None
    return list(chosen)


@pytest.mark.parametrize("path", unchanged_samples())
def test_what_compute_sanitizer_found_we_report(path: str) -> None:
    findings = findings_of(recorded()[path])
    judged = list(judge(path, findings, hear(KataFile.at(path), SEED), read_alarms()))
    assert [one for one in judged if one.verdict not in ("met", "later", "false alarm")] == []

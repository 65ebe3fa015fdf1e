from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

import pytest

from harness.practice.records import Ending
from harness.results import Outcome
from tests.conftest import PAST_THE_END, RIGHT, SYNTAX_ERROR, TAIL, Run
from tests.practice.making import NOON, Clock, check, opened


def filled(memory: Path) -> None:
    """Twenty-four checks and two attempts, one of them open."""
    clock = Clock()
    with opened(memory, clock) as history:
        for hour in range(24):
            history.record(check(NOON.replace(hour=hour, day=9), outcome=Outcome.RIGHT if hour % 2 else Outcome.FAULT))
        began = history.begin("add", "/desk/add.cu", 5, False)
        history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 2, 123, 1)
        clock.move(minutes=9)
        history.begin("add", "/desk/add.cu", 5, True)


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(RIGHT, "right"), (TAIL, "wrong"), (PAST_THE_END, "fault"), (SYNTAX_ERROR, "compile_error"),
     (RIGHT.replace("solve", "answer"), "compile_error")],
)  # fmt: skip
def test_every_check_is_remembered(home: Path, desk: Path, kata: Run, source: str, verdict: str) -> None:
    (desk / "add.cu").write_text(source, encoding="utf-8")
    kata("check", "add")
    (entry,) = json.loads(kata("history", "--json").stdout)["history"]
    assert (entry["what"], entry["kata"], entry["verdict"]) == ("check", "add", verdict)
    assert entry["file"] == str(desk / "add.cu") and len(entry["file_hash"]) == 64


def test_a_look_at_a_solution_is_nobodys_practice(home: Path, desk: Path, kata: Run) -> None:
    for file in ("solutions/add/1_one_thread_per_element.cu", "tests/wrong/add/skips_tail.cu"):
        assert kata("check", "add", str(home / file)).returncode in (0, 1)
    assert json.loads(kata("history", "--json").stdout)["history"] == []


def test_a_check_that_says_nothing_about_a_file_is_not_remembered(home: Path, desk: Path, kata: Run) -> None:
    assert kata("check", "add", "nowhere.cu").returncode == 2
    assert json.loads(kata("history", "--json").stdout)["history"] == []


def test_a_check_belongs_to_the_attempt_that_is_open_for_its_file(
    home: Path, desk: Path, memory: Path, kata: Run
) -> None:
    for name in ("add.cu", "other.cu"):
        (desk / name).write_text(RIGHT, encoding="utf-8")
    with opened(memory) as history:
        began = history.begin("add", str(desk / "add.cu"), 5, False)
    kata("check", "add", "other.cu")
    kata("check", "add")
    with opened(memory) as history:
        assert [one.attempt for one in history.checks()] == [began.id, None]


def test_the_table_is_newest_first_in_local_time_and_limited(home: Path, memory: Path, kata: Run) -> None:
    filled(memory)
    done = kata("history", TZ="Asia/Kathmandu")
    lines = done.stdout.splitlines()
    assert lines[0] == "2026-03-10 17:54  add  interview: open, 0:00 of 5:00"
    assert lines[1] == "2026-03-10 17:45  add  practice: passed, 2:03 of 5:00, 1 hint, rung 2"
    assert lines[2] == "2026-03-10 04:45  add  check: right, rung 2, 41.2 µs, H200"
    assert len(lines) == 22 and lines[-1].startswith("Next: ") and "-n" in lines[-1]
    assert max(map(len, lines)) <= 80
    assert len(kata("history", "-n", "3").stdout.splitlines()) == 5


def test_programs_get_everything(home: Path, memory: Path, kata: Run) -> None:
    filled(memory)
    record = json.loads(kata("history", "add", "--json").stdout)
    assert record["schema"] == 1 and len(record["history"]) == 26
    rows = list(csv.DictReader(kata("history", "--csv").stdout.splitlines()))
    assert len(rows) == 26
    assert [row["ending"] for row in rows[:3]] == ["open", "passed", ""]
    assert (rows[1]["hints"], rows[2]["verdict"]) == ("1", "right")
    assert rows[2]["when"] == "2026-03-09T23:00:00+00:00"


def test_without_anything_it_says_how_to_begin(home: Path, kata: Run) -> None:
    assert "Next: kata list" in kata("history").stdout
    assert "Next: kata start add" in kata("history", "add").stdout
    assert kata("history", "ad").returncode == 2


def test_a_history_moves_to_another_machine(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    filled(memory)
    assert "26 records" in kata("history", "--export", "mine.jsonl").stdout
    assert kata("history", "--export", "-").stdout == (desk / "mine.jsonl").read_text(encoding="utf-8")
    there = {"KATA_HOME": str(desk / "there")}
    assert "Took in 26 records" in kata("history", "--import", "mine.jsonl", **there).stdout
    assert "26 were here already" in kata("history", "--import", "mine.jsonl", **there).stdout
    assert kata("history", "--csv", **there).stdout == kata("history", "--csv").stdout


def test_nothing_is_overwritten_by_an_export(home: Path, desk: Path, kata: Run) -> None:
    (desk / "mine.jsonl").write_text("mine")
    done = kata("history", "--export", "mine.jsonl")
    assert (done.returncode, (desk / "mine.jsonl").read_text()) == (2, "mine")


def test_nothing_is_taken_in_where_nothing_can_be_written(home: Path, memory: Path, desk: Path, kata: Run) -> None:
    filled(memory)
    kata("history", "--export", "mine.jsonl")
    (desk / "file").write_text("")
    done = kata("history", "--import", "mine.jsonl", KATA_HOME=str(desk / "file"))
    assert done.returncode == 5 and "nothing was taken in" in done.stderr and not done.stdout


def test_a_bad_file_is_refused_with_line_and_remedy(home: Path, desk: Path, kata: Run) -> None:
    bad = '{"kata_history": 1}\n{"check": {"file": "' + "long " * 99 + '"}}\n'
    (desk / "bad.jsonl").write_text(bad, encoding="utf-8")
    done = kata("history", "--import", "bad.jsonl")
    assert done.returncode == 2
    assert max(map(len, done.stderr.splitlines())) <= 80
    assert "bad.jsonl:2:" in done.stderr and "kata history --export FILE" in " ".join(done.stderr.split())
    assert json.loads(kata("history", "--json").stdout)["history"] == []


@pytest.mark.parametrize("line", ["--json --csv", "--export a --import b", "add --import b", "add --export a"])
def test_what_does_not_go_together_is_refused(home: Path, kata: Run, line: str) -> None:
    done = kata("history", *line.split())
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_check_never_fails_for_the_history(home: Path, desk: Path, tmp_path: Path, kata: Run) -> None:
    (desk / "add.cu").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "file").write_text("")
    place = {"KATA_HOME": str(tmp_path / "file"), "KATA_CACHE": str(tmp_path / "cache")}
    done = kata("check", "add", **place)
    assert done.returncode == 0
    assert done.stdout.startswith("✓ add is right") and done.stdout.splitlines()[-1].startswith("  Next: ")
    assert "Warning  The history" in done.stdout and "KATA_HOME" in done.stdout
    record = json.loads(kata("check", "add", "--json", **place).stdout)
    assert record["verdict"] == "right" and "waits in" in " ".join(record["warnings"])
    (tmp_path / "file").unlink()
    entries = json.loads(kata("history", "--json", **place).stdout)["history"]
    assert [entry["verdict"] for entry in entries] == ["right", "right"]


def test_a_damaged_history_is_set_aside_by_a_check(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    (desk / "add.cu").write_text(TAIL, encoding="utf-8")
    (memory / "history.sqlite").write_text("nonsense " * 1000)
    done = kata("check", "add")
    assert done.returncode == 1
    (kept,) = memory.glob("history-damaged-*")
    assert kept.name in "".join(line.strip() for line in done.stdout.splitlines())
    assert len(json.loads(kata("history", "--json").stdout)["history"]) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_check_does_not_wait_for_a_pipe_in_the_place_of_the_history(
    home: Path, desk: Path, memory: Path, kata: Run
) -> None:
    (desk / "add.cu").write_text(RIGHT, encoding="utf-8")
    os.mkfifo(memory / "history.sqlite")
    done = kata("check", "add")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert said.startswith("✓ add is right") and "is no file but a pipe" in said and "waits in" in said
    for name in ("stats", "history"):
        done = kata(name)
        assert done.returncode == 0 and "is no file but a pipe" in " ".join(done.stderr.split())
    (memory / "history.sqlite").unlink()
    assert len(json.loads(kata("history", "--json").stdout)["history"]) == 1

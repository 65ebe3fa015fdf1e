from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness.practice.records import Ending, Grade
from harness.results import Outcome
from tests.conftest import Run
from tests.practice.making import Clock, check, opened


def filled(memory: Path) -> None:
    """Three days in a row up to now, and a day long ago; of a kata in the catalogue and of one that has left it."""
    clock = Clock(datetime.now(UTC))
    with opened(memory, clock) as history:
        for ago in (0, 1, 2, 60):
            history.record(check(clock.now - timedelta(days=ago), rung=None))
        history.record(check(clock.now, kata="gone", rung=9, outcome=Outcome.WRONG))
        began = history.begin("add", "/desk/add.cu", 5, False)
        history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 1, 150, 0)
        history.review("add/none", Grade.GOOD)


def test_the_page_has_the_streak_a_line_for_each_kata_and_the_weeks(home: Path, memory: Path, kata: Run) -> None:
    filled(memory)
    lines = kata("stats").stdout.splitlines()
    assert lines[0].startswith("3 days in a row (longest 3): 5 checks, 1 attempt")
    (add,) = (line for line in lines if line.startswith("add "))
    assert add.split() == ["add", "4", "4", "█", "1/1", "41.2", "µs", "████····", "2:30", "of", "5"]
    assert any(line.startswith("gone ") for line in lines)
    weeks = next(number for number, line in enumerate(lines) if "█|  the most: " in line)
    assert "checks, attempts begun and cards of the quiz" in lines[weeks + 1]
    assert lines[-1].startswith("Next: ")
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)


def test_the_same_for_programs(home: Path, memory: Path, kata: Run) -> None:
    filled(memory)
    record = json.loads(kata("stats", "--json").stdout)
    assert record["streak"] == {"current": 3, "longest": 3, "days": 4}
    add, gone = record["katas"]
    assert (add["checks"], add["best_rung"], add["speed_us"], add["quickest_seconds"]) == (4, 1, 41.2, 150)
    assert (gone["kata"], gone["right"], gone["best_rung"], gone["rungs"]) == ("gone", 0, None, None)
    assert record["quiz"] == {"answers": 1, "seen": 0, "cards": 3}
    assert sum(record["days"].values()) == 7
    rows = list(csv.DictReader(kata("stats", "--csv").stdout.splitlines()))
    assert [(row["kata"], row["checks"]) for row in rows] == [("add", "4"), ("gone", "1")]


def test_columns_that_no_kata_has_anything_for_are_left_out(home: Path, memory: Path, kata: Run) -> None:
    with opened(memory, Clock(datetime.now(UTC))) as history:
        history.record(check(datetime.now(UTC), predicted=True))
    head = kata("stats").stdout.splitlines()[2]
    assert head.split() == ["kata", "checks", "right", "best", "rung"]


def test_a_kata_without_a_rung_yet_has_none_of_them(home: Path, memory: Path, kata: Run) -> None:
    with opened(memory, Clock(datetime.now(UTC))) as history:
        history.record(check(datetime.now(UTC), outcome=Outcome.WRONG, rung=None, speed_us=None))
    assert kata("stats").stdout.splitlines()[3].split() == ["add", "1", "0", "·", "0/1"]


def test_without_anything_it_says_how_to_begin(home: Path, kata: Run) -> None:
    done = kata("stats")
    assert done.returncode == 0 and "Next: kata list" in done.stdout
    assert json.loads(kata("stats", "--json").stdout)["katas"] == []


def test_one_kata_has_a_bar_for_each_attempt(home: Path, memory: Path, kata: Run) -> None:
    assert "Next: kata practice add" in kata("stats", "add").stdout
    filled(memory)
    with opened(memory, Clock(datetime.now(UTC) - timedelta(days=9))) as history:
        history.finish(history.begin("add", "/desk/add.cu", 5, False).id, Ending.GAVE_UP, None, None, 600, 2)
    lines = kata("stats", "add").stdout.splitlines()
    assert lines[0] == "add: 2 attempts, 1 passed, best rung 1 of 1, quickest pass 2:30"
    assert lines[2].endswith("  ████████████████████  gave up, 10:00 of 5:00, 2 hints")
    assert lines[3].endswith("  ██████████··········  passed, 2:30 of 5:00, rung 1")
    assert max(map(len, lines)) <= 80
    assert [one["kata"] for one in json.loads(kata("stats", "add", "--json").stdout)["katas"]] == ["add"]
    assert kata("stats", "ad").returncode == 2


def test_only_answers_of_the_quiz_are_practice_too(home: Path, memory: Path, kata: Run) -> None:
    with opened(memory, Clock(datetime.now(UTC))) as history:
        history.review("add/none", Grade.GOOD)
    done = kata("stats")
    assert done.returncode == 0 and done.stdout.startswith("1 day in a row") and "quiz: 1 answer" in done.stdout


def test_bars_are_ascii_where_they_must_be(home: Path, memory: Path, kata: Run) -> None:
    filled(memory)
    done = kata("stats", PYTHONIOENCODING="ascii")
    assert done.stdout.isascii() and "?" not in done.stdout

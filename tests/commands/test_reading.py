"""The commands that only show: list, show, hint, solution."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pexpect
import pytest

from harness.practice.records import Ending
from harness.results import Outcome
from tests.conftest import PATIENCE, RIGHT, Run, command, environment
from tests.practice.making import Clock, check, opened


def test_list_has_a_line_for_each_kata(home: Path, kata: Run) -> None:
    done = kata("list")
    assert done.returncode == 0
    assert "kata  asked   min  so far  what it asks" in done.stdout
    assert "add   low       5  new     c = a + b, element by element" in done.stdout


def test_list_json_has_the_metadata(home: Path, kata: Run) -> None:
    record = json.loads(kata("list", "--json").stdout)
    assert record["schema"] == 1
    (only,) = record["katas"]
    assert only["name"] == "add"
    assert only["signature"].startswith("void solve(")
    assert only["rungs"] == [{"number": 1, "title": "one thread per element"}]
    assert (only["frequency"], only["minutes"], only["topics"], only["hints"]) == ("low", 5, ["memory"], 3)


def test_list_says_what_is_due_and_why_once_something_was_practised(home: Path, memory: Path, kata: Run) -> None:
    assert "due" not in kata("list").stdout.splitlines()[0]
    assert json.loads(kata("list", "--json").stdout)["katas"][0]["due"] is None
    now = datetime.now(UTC)
    with opened(memory, Clock(now - timedelta(days=3))) as history:
        began = history.begin("add", "/desk/add.cu", 5, False)
        history.finish(began.id, Ending.GAVE_UP, None, None, 60, 0)
    lines = kata("list").stdout.splitlines()
    assert "min  due           what it asks" in lines[0] and "  now: gave up  c = a + b" in lines[1]
    assert lines[-1].startswith("Next: kata practice add (last time: you gave up")
    assert max(map(len, lines)) <= 80
    due = json.loads(kata("list", "--json").stdout)["katas"][0]["due"]
    assert due["today"] is True and "gave up" in due["why"]
    with opened(memory, Clock(now)) as history:
        began = history.begin("add", "/desk/add.cu", 5, False)
        history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 1, 60, 0)
    assert " d: at par  " in kata("list").stdout


def test_list_says_what_checks_have_shown_before_the_first_practice(home: Path, memory: Path, kata: Run) -> None:
    now = datetime.now(UTC)
    with opened(memory) as history:
        history.record(check(now, outcome=Outcome.WRONG, rung=None))
    lines = kata("list").stdout.splitlines()
    assert " 5  tried   c = a + b" in lines[1]
    assert lines[-1] == "Next: kata practice add (not against the clock yet)"
    with opened(memory) as history:
        history.record(check(now, outcome=Outcome.RIGHT, rung=1))
    assert " 5  right, 1/1  c = a + b" in kata("list").stdout.splitlines()[1]
    done = json.loads(kata("list", "--json").stdout)["katas"][0]["done"]
    assert done == {"checks": 2, "right": 1, "attempts": 0, "best_rung": 1}


def test_show_renders_the_question_and_the_signature(home: Path, kata: Run) -> None:
    done = kata("show", "add")
    assert "Add two vectors" in done.stdout
    assert "#" not in done.stdout
    assert "void solve(const float* a, const float* b, float* c, int n)" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_file_in_place_of_the_kata_is_told_apart(home: Path, kata: Run) -> None:
    done = kata("check", "add.cu")
    assert done.returncode == 2 and "The kata is add; a file comes after it" in done.stderr


def test_hints_come_one_at_a_time(home: Path, kata: Run) -> None:
    first, second, last, again = (kata("hint", "add").stdout for _ in range(4))
    assert "Which element" in first and "Round the number" not in first
    assert first.splitlines()[-1].endswith("kata hint add 2")
    assert "Round the number" in second and again == last
    assert "blockDim.x" in last
    assert last.splitlines()[-1].endswith("kata solution add 1")
    assert kata("hint", "add", "1").stdout == first and kata("hint", "add").stdout == second


def test_hints_start_over_on_another_day(home: Path, memory: Path, kata: Run) -> None:
    with opened(memory, Clock(datetime.now(UTC) - timedelta(days=1))) as history:
        history.show_hint("add", 2)
    assert kata("hint", "add").stdout.startswith("Hint 1 of 3")


def test_the_ladder_lists_every_rung(home: Path, kata: Run) -> None:
    done = kata("solution", "add", "--list")
    assert "  1  one thread per element" in done.stdout


def test_a_piped_solution_is_the_file_itself(home: Path, kata: Run) -> None:
    assert kata("solution", "add", "1").stdout == RIGHT
    assert kata("solution", "add").stdout == RIGHT


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_solution_on_a_terminal_is_line_for_line_the_file(home: Path, desk: Path) -> None:
    long = f"{RIGHT}// {'a comment as long as they get ' * 9}\n\tint tab;\n"
    (home / "solutions/add/1_one_thread_per_element.cu").write_text(long, encoding="utf-8")
    program, *arguments = command("solution", "add", "1")
    child = pexpect.spawn(program, arguments, cwd=str(desk), env=environment(), timeout=PATIENCE, encoding="utf-8")
    child.expect(pexpect.EOF)
    shown = click.unstyle(child.before or "").replace("\r\n", "\n")
    assert "\x1b[" in (child.before or "") and shown.startswith(f"{long}\nThis file: ")
    assert shown.splitlines()[-1] == "Next: kata list"


def test_every_page_fits_80_columns(home: Path, kata: Run) -> None:
    for arguments in (("list",), ("show", "add"), ("hint", "add"), ("solution", "add", "--list")):
        assert max(map(len, kata(*arguments).stdout.splitlines())) <= 80

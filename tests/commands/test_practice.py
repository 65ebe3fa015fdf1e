"""``practice`` and ``watch`` without a terminal, and what ``hint`` and ``solution`` do to an open attempt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest

from harness.practice.history import FILE, History
from harness.practice.records import Attempt, Ending
from harness.results import Outcome
from tests.conftest import RIGHT, SKELETON, TAIL, Run, command, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals end the sessions")


def attempts(memory: Path) -> list[Attempt]:
    """What the history holds."""
    with History(memory / FILE, lambda: datetime.now(UTC)) as history:
        return list(history.attempts())


class Piped:
    """``kata`` with pipes at both ends, read line by line."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            command(*arguments), env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        )  # fmt: skip
        self.lines: list[str] = []
        self.watchdog = threading.Timer(60, self.process.kill)  # a test that waits for the wrong line fails soon

    def __enter__(self) -> Piped:
        self.watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    def type(self, text: str) -> None:
        pipe: IO[str] | None = self.process.stdin
        assert pipe is not None
        pipe.write(text + "\n")
        pipe.flush()

    def until(self, beginning: str) -> str:
        """The next line that begins like this."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if line.startswith(beginning):
                return line.rstrip()
        raise AssertionError(f"no line begins with {beginning!r}:\n" + "\n".join(self.lines))

    def end(self) -> tuple[int, str]:
        """The exit code, and the last line."""
        assert self.process.stdout is not None
        self.lines += [line.rstrip() for line in self.process.stdout]
        return self.process.wait(60), self.lines[-1]


def test_lines_from_start_to_passed(home: Path, desk: Path, memory: Path) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs: 5:00 left.")
        assert (desk / "add.cu").read_text(encoding="utf-8") == SKELETON
        (desk / "add.cu").write_text(TAIL, encoding="utf-8")
        piped.until("✗ add is wrong for")
        (desk / "add.cu").write_text(RIGHT, encoding="utf-8")
        piped.until("✓ add is right")
        piped.type("s")
        code, last = piped.end()
    assert code == 0
    assert last == "Next: kata solution add --list, or kata practice"
    (attempt,) = attempts(memory)
    assert (attempt.ending, attempt.outcome, attempt.hints) == (Ending.PASSED, Outcome.RIGHT, 0)
    assert attempt.file == str(desk / "add.cu")
    assert 0 < attempt.used < 60


def test_every_check_of_an_attempt_is_in_the_history(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        (desk / "add.cu").write_text(RIGHT.replace("a[i]", "a[j]"), encoding="utf-8")
        piped.until("✗ add.cu does not compile")
        (desk / "add.cu").write_text(TAIL, encoding="utf-8")
        piped.until("✗ add is wrong for")
        piped.type("x")
        assert piped.end()[0] == 1
    (attempt,) = attempts(memory)
    assert attempt.ending is None
    with History(memory / FILE, lambda: attempt.began) as history:
        assert [(check.outcome, check.attempt) for check in history.checks()] == [
            (Outcome.WRONG, attempt.id), (Outcome.COMPILE_ERROR, attempt.id),
        ]  # fmt: skip


def test_an_earlier_file_is_kept_and_said(home: Path, desk: Path) -> None:
    (desk / "add.cu").write_text("// mine\n", encoding="utf-8")
    with Piped("practice", "add") as piped:
        piped.until("Your add.cu is kept as add.20")
        assert not any(line.startswith("The clock runs") for line in piped.lines)
        piped.type("g")
        piped.until("Give up on add? y or n")
        piped.type("y")
        code, last = piped.end()
    assert (code, last) == (1, "Next: kata solution add 1")
    (kept,) = desk.glob("add.20*.cu")
    assert kept.read_text(encoding="utf-8") == "// mine\n"
    assert any(kept.name in line for line in piped.lines)


def test_time_runs_out_where_nobody_can_press_a_key(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    done = kata("practice", "add", "--minutes", "0.005")
    assert done.returncode == 1
    assert "Time is up" in done.stdout
    assert "Ctrl-C quits, and the attempt is kept for later." in done.stdout
    assert "\x1b" not in done.stdout
    (attempt,) = attempts(memory)
    assert attempt.ending is Ending.TIMED_OUT
    assert attempt.late


def test_a_history_that_cannot_be_written_costs_nothing_but_a_warning(home: Path, desk: Path, kata: Run) -> None:
    (desk / "not a folder").write_text("", encoding="utf-8")
    refused = str(desk / "not a folder" / "data")
    done = kata("practice", "add", "--minutes", "0.005", KATA_HOME=refused, XDG_CACHE_HOME=str(desk / "cache"))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("Next: ")
    assert "".join(refused.split()) in "".join(done.stderr.split())


def test_no_name_takes_what_is_due_and_says_why(home: Path, desk: Path, kata: Run) -> None:
    done = kata("practice", "--minutes", "0.005")
    assert done.stdout.splitlines()[0] == "add: not practised yet"


def test_ctrl_c_keeps_the_attempt_which_goes_on_from_any_folder(home: Path, desk: Path, tmp_path: Path) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        piped.process.send_signal(signal.SIGINT)
        code, last = piped.end()
    assert (code, last) == (130, "Next: kata practice add goes on where you left")
    os.chdir(tmp_path)
    (desk / "add.cu").write_text(RIGHT, encoding="utf-8")
    with Piped("practice", "--minutes", "9") as piped:
        piped.until("add: you left an attempt at it")
        piped.until("--new begins another.")
        piped.until("✓ add is right")
        piped.type("s")
        assert piped.end()[0] == 0
    assert not (tmp_path / "add.cu").exists()


def test_one_attempt_runs_in_one_terminal_until_that_ends_or_is_killed(home: Path, desk: Path, kata: Run) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        for arguments in (("practice", "add"), ("practice",), ("practice", "add", "--new")):
            done = kata(*arguments)
            assert done.returncode == 2 and done.stdout == ""
            assert f", process {piped.process.pid})" in " ".join(done.stderr.split())
            assert done.stderr.splitlines()[-1] == "  Go on there; or leave it there with x, and it goes on here."
        piped.process.kill()
        piped.process.wait(60)
    with Piped("practice", "add") as again:
        again.until("Going on with your attempt")
        again.until("The clock runs")


def test_a_new_attempt_gives_the_open_one_up(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        piped.type("x")
        piped.end()
    kata("practice", "add", "--new", "--minutes", "0.005")
    assert [attempt.ending for attempt in attempts(memory)] == [Ending.TIMED_OUT, Ending.GAVE_UP]


def test_an_attempt_whose_file_is_gone_gets_a_skeleton(home: Path, desk: Path) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        piped.type("x")
        piped.end()
    (desk / "add.cu").unlink()
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        assert (desk / "add.cu").read_text(encoding="utf-8") == SKELETON
        piped.type("x")
        piped.end()


def test_an_interview_in_lines_ends_with_rubric_and_questions(home: Path, desk: Path) -> None:
    with Piped("practice", "add", "--interview") as piped:
        piped.until("Edit add.cu. Nothing is checked until you submit.")
        (desk / "add.cu").write_text(RIGHT, encoding="utf-8")
        piped.until("saved; nothing is checked until you submit")
        piped.type("submit")
        piped.until("Hand in add.cu once and for all?")
        piped.type("yes")
        code, _ = piped.end()
    assert code == 0
    text = "\n".join(piped.lines)
    assert text.index("✓ add is right") < text.index("Rubric") < text.index("1. Question 1?") < text.index("Passed: ")


def test_a_watch_ends_with_the_exit_code_of_the_last_check(home: Path, desk: Path, kata: Run) -> None:
    (desk / "mine.cu").write_text(TAIL, encoding="utf-8")
    with Piped("watch", "add", "mine.cu") as piped:
        piped.until("✗ add is wrong for")
        piped.process.send_signal(signal.SIGINT)
        code, last = piped.end()
    assert code == 1 and "Next: kata hint add" in "\n".join(piped.lines)
    assert "(the same inputs: kata check add mine.cu --seed " in last
    assert kata("watch", "add").returncode == 2


def test_hints_elsewhere_count_in_the_open_attempt(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    assert "open attempt" not in kata("hint", "add", "3").stdout
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        assert "Counted in your open attempt: 2 so far." in kata("hint", "add", "2").stdout
        assert "Counted in your open attempt: 2 so far." in kata("hint", "add", "1").stdout
        piped.type("h")
        piped.until("Hint ")
        piped.type("x")
        piped.end()
    assert attempts(memory)[0].hints in (2, 3)
    assert "Counted in your open attempt: 3 so far." in kata("hint", "add").stdout


def test_a_solution_during_an_attempt_asks_and_gives_it_up(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    with Piped("practice", "add") as piped:
        piped.until("The clock runs")
        refused = kata("solution", "add", "1")
        assert refused.returncode == 2
        assert "--yes" in refused.stderr
        assert refused.stdout == ""
        assert kata("solution", "add", "--list").returncode == 0
        assert attempts(memory)[0].ending is None
        shown = kata("solution", "add", "1", "--yes")
        assert shown.stdout == RIGHT
        (desk / "add.cu").write_text(RIGHT, encoding="utf-8")  # too late
        code, last = piped.end()
    assert (code, last) == (1, "Next: kata solution add 1")
    assert attempts(memory)[0].ending is Ending.GAVE_UP
    assert kata("solution", "add", "1").returncode == 0


def test_usage_is_checked_before_anything_is_written(home: Path, desk: Path, kata: Run) -> None:
    assert kata("practice", "ad").returncode == 2
    for minutes in ("0", "-1", "x", "nan", "inf", "1e300"):
        assert kata("practice", "add", "--minutes", minutes).returncode == 2, minutes
    assert kata("practice", "add", EDITOR="'vim").returncode == 2
    assert list(desk.iterdir()) == []


def test_a_check_on_the_side_belongs_to_the_attempt(home: Path, desk: Path, memory: Path, kata: Run) -> None:
    with Piped("practice", "add", "--interview") as piped:
        piped.until("The clock runs")
        assert json.loads(kata("check", "add", "--json").stdout)["verdict"] == "wrong"
        piped.type("x")
        piped.end()
    (attempt,) = attempts(memory)
    with History(memory / FILE, lambda: attempt.began) as history:
        assert [check.attempt for check in history.checks()] == [attempt.id]

"""Whole sessions in a real pseudo-terminal: keys, signals, editors, another size, a killed process."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import KERNEL, PATIENCE, RIGHT, SKELETON, TAIL, command, environment

pexpect = pytest.importorskip("pexpect")
termios = pytest.importorskip("termios")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

#: Entering and leaving the terminal's other screen, and showing its cursor.
SCREEN_ON, SCREEN_OFF, CURSOR_ON = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"


class Child(pexpect.spawn):
    """A process at a terminal, whose output is read without its bold and dim."""

    _cut = ""

    def read_nonblocking(self, size: int = 1, timeout: float | None = None) -> str:
        text = self._cut + super().read_nonblocking(size, timeout)
        begun = re.search(r"\x1b[^A-Za-z]*$", text)  # a sequence that is not complete yet
        text, self._cut = (text[: begun.start()], text[begun.start() :]) if begun else (text, "")
        return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Seat:
    """A person at a terminal, in the folder ``desk``."""

    def __init__(self, desk: Path) -> None:
        self.desk = desk
        self.file = desk / "add.cu"
        self.children: list[Child] = []

    def open(self, *arguments: str, **changes: str) -> Child:
        """``kata`` with these arguments, at a terminal of 80 by 24."""
        program, *rest = command(*arguments)
        return self.spawn(program, rest, changes)

    def spawn(self, program: str, arguments: list[str], changes: dict[str, str]) -> Child:
        env = environment(TERM="xterm-256color", NO_COLOR="1", **changes)
        for name in ("COLUMNS", "LINES", *({"VISUAL", "EDITOR"} - set(changes))):
            env.pop(name, None)
        child = Child(
            program, arguments, cwd=str(self.desk), env=env, timeout=PATIENCE, dimensions=(24, 80), encoding="utf-8"
        )
        self.children.append(child)
        return child

    def save(self, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")


@pytest.fixture
def seat(home: Path, desk: Path) -> Iterator[Seat]:
    seat = Seat(desk)
    yield seat
    for child in seat.children:
        child.close(force=True)


def begin(child: Child) -> None:
    """Start the clock, and wait until it runs."""
    child.expect("Enter (start the clock|go on)")
    child.send("\r")
    child.expect("quit, resume later")


def end(child: Child) -> list[str]:
    """The lines that are left on the terminal when the session is gone."""
    child.expect_exact(SCREEN_OFF)
    child.expect(pexpect.EOF)
    rest = child.before
    child.close()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", rest)
    return [line.rstrip() for line in plain.splitlines() if line.strip()]


def modes(child: Child) -> int:
    """The terminal's local modes: echo, whole lines, signals."""
    return int(termios.tcgetattr(child.child_fd)[3])


def test_from_the_question_to_passed(seat: Seat) -> None:
    child = seat.open("practice", "add")
    before = modes(child)
    child.expect_exact(SCREEN_ON)
    child.expect("Add two vectors")
    begin(child)
    assert seat.file.read_text(encoding="utf-8") == SKELETON
    assert modes(child) != before
    seat.save(TAIL)
    child.expect("✗ add is wrong for")
    child.send("h")
    child.expect("Hint 1 of 3")
    child.setwinsize(12, 50)
    child.expect("─" * 45)
    seat.save(RIGHT)
    child.expect("Right! s hands it in")
    child.send("s")
    lines = end(child)
    assert child.exitstatus == 0
    assert lines[0].startswith("✓ add is right: 23 cases, no hazards")
    assert any(line.startswith("Passed: 0:0") and "1 hint of 3" in line for line in lines)
    assert any(line.startswith("Rated hard (1 hint), due on ") for line in lines)
    assert lines[-1].startswith("Next: kata solution add --list")


def test_the_terminal_is_given_back_as_it_was(seat: Seat) -> None:
    shell = seat.spawn("/bin/sh", ["-c", f"{' '.join(command('practice', 'add'))}; echo code $?; stty -a"], {})
    begin(shell)
    shell.kill(signal.SIGWINCH)
    os.kill(child_of(shell.pid), signal.SIGTERM)
    shell.expect_exact(SCREEN_OFF)
    shell.expect("code 143")
    shell.expect(pexpect.EOF)
    assert re.search(r" icanon", shell.before)
    assert re.search(r" echo ", shell.before)


def child_of(pid: int) -> int:
    """The one child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()[0])


def test_time_runs_out(seat: Seat) -> None:
    child = seat.open("practice", "add", "--minutes", "0.03")
    begin(child)
    seat.save(TAIL)
    lines = end(child)
    assert child.exitstatus == 1
    assert lines[0].startswith("✗ add is wrong for")
    assert any(line.startswith("Time is up") for line in lines)
    assert lines[-1].startswith("Next: kata watch add")


def test_giving_up(seat: Seat) -> None:
    child = seat.open("practice", "add")
    begin(child)
    child.send("g")
    child.expect("Give up on add\\? y or n")
    child.send("n")
    child.expect("quit, resume later")
    child.send("g")
    child.expect("Give up on add")
    child.send("y")
    lines = end(child)
    assert child.exitstatus == 1
    assert lines[0].startswith("Given up: 0:0")
    assert lines[-1] == "Next: kata solution add 1"


def test_ctrl_c_keeps_the_attempt_and_the_next_practice_goes_on_with_it(seat: Seat) -> None:
    child = seat.open("practice", "add", "--minutes", "7")
    begin(child)
    seat.save(TAIL)
    child.expect("✗ add is wrong for")
    child.sendintr()
    lines = end(child)
    assert child.exitstatus == 130
    assert lines[-1] == "Next: kata practice add goes on where you left"
    child = seat.open("practice")
    child.expect("you left an attempt at it")
    child.expect("Going on with your attempt of .*: [1-6]:")
    begin(child)
    child.expect("✗ add is wrong for")  # what was saved is still there, and is checked at once
    child.send("x")
    end(child)
    assert child.exitstatus == 1


def test_a_killed_process_goes_on_with_what_was_saved_last(seat: Seat) -> None:
    child = seat.open("practice", "add")
    begin(child)
    child.send("h")
    child.expect("Hint 1 of 3")
    seat.save(TAIL)
    child.expect("✗ add is wrong for")
    child.kill(signal.SIGKILL)
    child.expect(pexpect.EOF)
    child = seat.open("practice", "add")
    child.expect("Going on with your attempt")
    begin(child)
    child.expect("✗ add is wrong for")
    child.send("h")
    child.expect("Hint 1 of 3")  # seen before: shown again, not counted again
    seat.save(RIGHT)
    child.expect("Right!")
    child.send("s")
    assert any("1 hint of 3" in line for line in end(child))
    assert child.exitstatus == 0


def test_ctrl_z_stops_it_and_fg_brings_it_back(seat: Seat) -> None:
    shell = seat.spawn("/bin/bash", ["--norc", "--noprofile", "-i"], {"PS1": "at-the-shell "})
    shell.expect("at-the-shell ")
    shell.sendline(" ".join(command("practice", "add")))
    begin(shell)
    shell.send("\x1a")
    shell.expect_exact(SCREEN_OFF)
    shell.expect("Stopped")
    shell.expect("at-the-shell ")
    shell.sendline("echo $((6 * 7)) typed and seen")
    shell.expect("42 typed and seen")
    shell.sendline("fg")
    shell.expect_exact(SCREEN_ON)
    shell.expect("quit, resume later")
    seat.save(RIGHT)
    shell.expect("Right!")
    shell.send("x")
    shell.expect_exact(SCREEN_OFF)
    shell.expect("Left for another time")
    shell.sendline("exit")
    shell.expect(pexpect.EOF)


def test_an_editor_of_the_terminal_gets_it_and_the_view_comes_back(seat: Seat) -> None:
    (seat.desk / "answer").write_text(RIGHT, encoding="utf-8")
    editor = seat.desk / "my editor"
    editor.write_text('#!/bin/sh\necho "editing with $1"\nread line\ncp answer "$2"\n', encoding="utf-8")
    editor.chmod(0o755)
    child = seat.open("practice", "add", VISUAL="'./my editor' --now")
    child.expect("Enter start the clock")
    child.send("\r")
    child.expect("editing with --now")
    child.send("\r")
    child.expect_exact(SCREEN_ON)
    child.expect("Right!")
    child.send("s")
    end(child)
    assert child.exitstatus == 0


def test_the_bell_rings_in_the_editor_and_what_is_saved_after_it_does_not_count(seat: Seat) -> None:
    (seat.desk / "answer").write_text(RIGHT, encoding="utf-8")
    child = seat.open("practice", "add", "--minutes", "0.02", EDITOR="sh -c 'read line; cp answer add.cu'")
    child.expect("Enter start the clock")
    child.send("\r")
    child.expect_exact("\a")
    child.send("\r")
    lines = end_after_editing(child)
    assert lines[0].startswith("✗ add: solve launches no kernel")
    assert seat.file.read_text(encoding="utf-8") == RIGHT
    assert child.exitstatus == 1


def end_after_editing(child: Child) -> list[str]:
    """As :func:`end`, where the view comes back once more when the editor is done."""
    child.expect_exact(SCREEN_ON)
    return end(child)


def test_a_signal_ends_the_editor_too(seat: Seat) -> None:
    child = seat.open("practice", "add", EDITOR="sh -c 'echo editing; exec sleep 60'")
    child.expect("Enter start the clock")
    child.send("\r")
    child.expect("editing")
    child.kill(signal.SIGTERM)
    lines = end_after_editing(child)
    assert child.exitstatus == 143
    assert lines[-1] == "Next: kata practice add goes on where you left"


def test_an_editor_that_is_not_there_is_said(seat: Seat) -> None:
    child = seat.open("practice", "add", EDITOR="no-such-editor")
    child.expect("Enter start the clock")
    child.send("\r")
    child.expect("can't start no-such-editor")
    child.send("x")
    end(child)


def test_an_interview_says_nothing_until_it_is_handed_in(seat: Seat) -> None:
    child = seat.open("practice", "add", "--interview")
    begin(child)
    seat.save(KERNEL.format(guard="true", grid="(n + 127) / 128"))
    child.expect("saved; nothing is checked until you submit")
    child.send("s")
    child.expect("once and for all")
    child.send("y")
    lines = end(child)
    assert child.exitstatus == 4
    text = "\n".join(lines)
    assert text.count("Failed: faults for ") == 1
    assert re.search(r"✗ boundaries +", text)
    assert re.search(r"✓ hints +none asked for", text)
    assert "1. Question 1?" in text
    assert lines[-3].startswith("Failed: ") and lines[-2].startswith("Rated again (failed), due on ")
    assert lines[-1].startswith("Next: ")


def test_plain_at_a_terminal_takes_letters_and_draws_nothing(seat: Seat) -> None:
    child = seat.open("practice", "add", "--plain", EDITOR="vim")
    child.expect("Type a letter and Enter: h hint, s submit, g give up, x quit")
    child.sendline("h")
    child.expect("Hint 1 of 3")
    child.sendintr()
    child.expect("Next: kata practice add goes on where you left")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert SCREEN_ON not in str(child.before)


def test_a_watch_checks_at_once_and_on_every_save(seat: Seat) -> None:
    seat.save(TAIL)
    child = seat.open("watch", "add")
    child.expect("✗ add is wrong for")
    seat.file.unlink()
    child.expect("add.cu can't be read: No such file or directory")
    seat.save(RIGHT)
    child.expect("✓ add is right")
    child.sendintr()
    lines = end(child)
    assert child.exitstatus == 0
    assert lines[-1] == "Next: kata solution add --list"

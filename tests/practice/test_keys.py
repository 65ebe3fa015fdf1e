"""What a terminal sends, as keys."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.practice.keys import Keyboard, decode


@pytest.mark.parametrize(("sent", "keys"), [
    ("h", ["h"]), ("\r", ["enter"]), ("\n", ["enter"]), ("\x1b", ["escape"]), ("\x1b[A", ["up"]), ("\x1bOB", ["down"]),
    ("\x1b[5~", ["page_up"]), ("\x1b[6~x", ["page_down", "x"]), ("hy", ["h", "y"]), ("\x1b[1;5C", []), ("\x1b[", []),
    ("\x00\x7f\t", []), (" ", [" "]), ("ä", ["ä"]),
])  # fmt: skip
def test_keys_are_told_apart(sent: str, keys: list[str]) -> None:
    assert decode(sent) == keys


@given(st.text())
def test_nothing_that_is_sent_breaks_it(sent: str) -> None:
    assert all(key for key in decode(sent))


def test_the_terminal_is_as_it_was_after_stopping_and_starting_again() -> None:
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    pressed: list[str] = []
    keyboard = Keyboard(slave, pressed.append)
    for _ in range(2):
        keyboard.start()
        keyboard.start()
        assert termios.tcgetattr(slave) != before
        keyboard.stop()
        keyboard.stop()
        assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)

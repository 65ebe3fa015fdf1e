"""Which editor, and whether it needs the terminal."""

from __future__ import annotations

import queue
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.practice.editor import Editing, Editor, find_editor, open_editor
from tests.conftest import PATIENCE


@pytest.mark.parametrize(("environment", "command", "windowed"), [
    ({"EDITOR": "vim"}, ("vim",), False), ({"EDITOR": "vim", "VISUAL": "nano -w"}, ("nano", "-w"), False),
    ({"VISUAL": "  ", "EDITOR": "hx"}, ("hx",), False), ({"EDITOR": "code --wait"}, ("code", "--wait"), True),
    ({"EDITOR": "/opt/my\\ editors/micro"}, ("/opt/my editors/micro",), False),
    ({"EDITOR": "'/usr/local/bin/subl' -n"}, ("/usr/local/bin/subl", "-n"), True),
    ({"EDITOR": "emacs"}, ("emacs",), False), ({"EDITOR": "emacs", "DISPLAY": ":0"}, ("emacs",), True),
    ({"EDITOR": "emacs -nw", "DISPLAY": ":0"}, ("emacs", "-nw"), False),
    ({"EDITOR": "emacsclient -t", "WAYLAND_DISPLAY": "wayland-0"}, ("emacsclient", "-t"), False),
    ({"EDITOR": "vim -g"}, ("vim", "-g"), True), ({"EDITOR": "gedit"}, ("gedit",), True),
    ({"EDITOR": "something-new"}, ("something-new",), False),
])  # fmt: skip
def test_the_editor_is_the_one_that_is_set(
    environment: dict[str, str], command: tuple[str, ...], windowed: bool
) -> None:
    assert find_editor(environment) == Editor(command, windowed)


def test_no_editor_is_none() -> None:
    assert find_editor({}) is None
    assert find_editor({"EDITOR": ""}) is None


def test_an_editor_that_is_no_command_line_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match=r"\$EDITOR .* quotation"):
        find_editor({"EDITOR": "'vim"})


def run(editor: Editor, path: Path) -> str | None:
    """Open it, and wait: what it was in trouble with."""
    said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    opened = open_editor(editor, path, said.put)
    assert isinstance(opened, Editing)
    return said.get(timeout=PATIENCE)


def python(program: str, *, windowed: bool = True) -> Editor:
    return Editor((sys.executable, "-c", program), windowed)


def test_an_editor_gets_the_path_and_says_when_it_is_done(tmp_path: Path) -> None:
    path = tmp_path / "a file.cu"
    assert run(python("import sys; open(sys.argv[1], 'w').write('edited')"), path) is None
    assert path.read_text(encoding="utf-8") == "edited"


def test_an_editor_that_fails_is_said(tmp_path: Path) -> None:
    assert "exit code 3" in str(run(python("raise SystemExit(3)"), tmp_path / "add.cu"))


def test_an_editor_that_is_not_there_is_said(tmp_path: Path) -> None:
    said = open_editor(Editor((str(tmp_path / "none"),), False), tmp_path / "add.cu", lambda trouble: None)
    assert said == "can't start none: No such file or directory"


def test_an_editor_can_be_ended(tmp_path: Path) -> None:
    said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    opened = open_editor(python("import time; time.sleep(60)"), tmp_path / "add.cu", said.put)
    assert isinstance(opened, Editing)
    opened.end()
    assert "exit code" in str(said.get(timeout=PATIENCE))

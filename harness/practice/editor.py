"""The editor that the user has chosen, and whether it needs the terminal for itself."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError

#: Editors that open a window of their own. Any other is taken to run in the terminal, as most that are called by
#: ``$EDITOR`` do.
WINDOWED = frozenset((
    "code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "subl", "sublime_text", "zed", "zeditor",
    "gedit", "gnome-text-editor", "kate", "kwrite", "xed", "pluma", "mousepad", "leafpad", "geany", "lapce", "pulsar",
    "gvim", "mvim", "nvim-qt", "neovide", "clion", "pycharm", "idea", "fleet", "mate", "bbedit", "notepad",
    "notepad++", "open", "xdg-open",
))  # fmt: skip

#: Emacs opens a window wherever it finds a display, unless told.
_EMACS = frozenset(("emacs", "emacsclient"))
_EMACS_IN_TERMINAL = frozenset(("-nw", "-t", "--tty", "-tty", "--no-window-system"))

#: Seconds that an editor has to end by itself when the session must.
_PATIENCE = 2.0


@dataclass(frozen=True)
class Editor:
    """A command line that takes a file's path as its last argument."""

    command: tuple[str, ...]
    windowed: bool

    @property
    def name(self) -> str:
        return Path(self.command[0]).name


def find_editor(environment: Mapping[str, str]) -> Editor | None:
    """What ``$VISUAL``, else ``$EDITOR`` names; None where neither does. UsageError where it is no command line."""
    for variable in ("VISUAL", "EDITOR"):
        text = environment.get(variable, "").strip()
        if not text:
            continue
        try:
            command = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError(f"${variable} is not a command line: {error}", remedy=f"it holds {text!r}") from error
        if command:
            return Editor(command, _windowed(command, environment))
    return None


def _windowed(command: tuple[str, ...], environment: Mapping[str, str]) -> bool:
    name = Path(command[0]).name.lower().removesuffix(".exe")
    if name in _EMACS:
        display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
        return bool(display) and not _EMACS_IN_TERMINAL & set(command)
    return name in WINDOWED or (name in ("vim", "vi") and "-g" in command)


class Editing:
    """One run of an editor. ``ended`` is called from a thread of its own, with what went wrong, if something did."""

    def __init__(self, editor: Editor, path: Path, ended: Callable[[str | None], None]) -> None:
        self.editor = editor
        self._ended = ended
        quiet = subprocess.DEVNULL if editor.windowed else None
        self._process = subprocess.Popen(
            [*editor.command, str(path)], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=editor.windowed
        )
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        code = self._process.wait()
        self._ended(f"{self.editor.name} ended with exit code {code}" if code else None)

    def end(self) -> None:
        """Make an editor that holds the terminal give it back: most save a recovery file when told to hang up."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def open_editor(editor: Editor, path: Path, ended: Callable[[str | None], None]) -> Editing | str:
    """Start it; or, in words, why that didn't work."""
    try:
        return Editing(editor, path, ended)
    except OSError as error:
        return f"can't start {editor.name}: {os.strerror(error.errno or 0)}"

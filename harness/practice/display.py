"""The two ways to show a session: a live screen with keys, and plain lines for a pipe or a reader of screens."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Protocol

from rich.console import Console, Group
from rich.live import Live

from harness.practice.editor import Editor
from harness.practice.events import Checked
from harness.practice.keys import Keyboard
from harness.practice.rules import Asked, Panel, Phase
from harness.practice.session import Session
from harness.practice.view import Subject, screen
from harness.reports.attempt import prompt, result_lines, time_left
from harness.reports.speed import speed_lines
from harness.reports.text import wrap

#: Called with the name of a key.
Pressed = Callable[[str], None]


class Display(Protocol):
    """Shows a session between :meth:`resume` and :meth:`pause`, which may both be called again at any time."""

    def takes_turns_with(self, editor: Editor) -> bool:
        """Whether this editor can be opened from here at all."""
        ...

    def resume(self) -> None: ...

    def pause(self) -> None:
        """Give the terminal back as it was found."""
        ...

    def show(self, session: Session) -> None: ...

    def ring(self) -> None:
        """Time is up."""
        ...


class LiveDisplay:
    """The whole screen of a terminal."""

    def __init__(self, subject: Subject, terminal: IO[str], keys: int, pressed: Pressed) -> None:
        self._subject = subject
        self._console = Console(file=terminal, highlight=False)
        self._keyboard = Keyboard(keys, pressed)
        self._live: Live | None = None

    def takes_turns_with(self, editor: Editor) -> bool:
        return True

    def resume(self) -> None:
        self.pause()
        self._keyboard.start()
        self._live = Live(
            console=self._console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._live.start()

    def pause(self) -> None:
        live, self._live = self._live, None
        try:
            if live is not None:
                with suppress(OSError):  # the terminal was closed, which is why we end
                    live.stop()
        finally:
            self._keyboard.stop()

    def show(self, session: Session) -> None:
        if self._live is not None:
            width, height = self._console.size
            ascii_only = not self._console.encoding.startswith("utf")
            lines = screen(session, self._subject, width, height, ascii_only=ascii_only)
            self._live.update(Group(*lines), refresh=True)

    def ring(self) -> None:
        self._console.bell()


class PlainDisplay:
    """Lines, each said once. ``commands``, if any, is where letters are typed, each followed by Enter.

    The clock starts at once: there may be nobody to press a key.
    """

    def __init__(self, subject: Subject, say: Callable[[str], None], commands: int | None, pressed: Pressed) -> None:
        self._subject, self._say, self._commands, self._pressed = subject, say, commands, pressed
        self._started = False
        self._phase: Phase | None = None
        self._last: Checked | None = None
        self._hints = 0
        self._panel = Panel.RESULT
        self._asked: Asked | None = None
        self._notice = ""
        self._marks: list[float] = []

    def takes_turns_with(self, editor: Editor) -> bool:
        return editor.windowed

    def resume(self) -> None:
        if self._started:
            return
        self._started = True
        self._pressed("enter")
        if self._commands is not None:
            threading.Thread(target=self._listen, args=(self._commands,), daemon=True).start()

    def pause(self) -> None:
        """Nothing was taken from the terminal."""

    def ring(self) -> None:
        self._say("Time is up: what was saved last is graded.")

    def show(self, session: Session) -> None:
        if session.phase is not self._phase:
            self._phase = session.phase
            self._say_phase(session)
        self._say_time(session)
        if session.last is not self._last:
            before, self._last = self._last, session.last
            if session.last is not None and not session.done:
                self._say_result(session, session.last, before)
        self._say_asked_for(session)

    def _say_phase(self, session: Session) -> None:
        if session.phase is Phase.RUNNING:
            self._marks = [] if session.left is None else [
                mark for mark in (session.left / 2, 300.0, 60.0) if mark < session.left
            ]  # fmt: skip
            self._hints = session.hints
            path = self._subject.path
            if session.left is not None:
                self._say(f"The clock runs: {time_left(session.left)} left.")
            checked = "Nothing is checked until you submit." if session.rules.interview else "Every save is checked."
            self._say("\n".join(wrap(f"Edit {path}. {checked}", indent="")))
            self._say("\n".join(wrap(self._commands_text(session), indent="")))

    def _commands_text(self, session: Session) -> str:
        later = ", and the attempt is kept for later" if session.rules.timed else ""
        if self._commands is None:
            return f"Ctrl-C quits{later}."
        letters = "h hint, s submit, g give up, x quit" if session.rules.timed else "h hint, x quit"
        return f"Type a letter and Enter: {letters}. Ctrl-C quits{later}."

    def _say_time(self, session: Session) -> None:
        passed = [mark for mark in self._marks if session.left is not None and session.left <= mark]
        if passed and session.phase is Phase.RUNNING:
            self._marks = [mark for mark in self._marks if mark not in passed]
            self._say(f"{time_left(min(passed))} left.")

    def _say_result(self, session: Session, last: Checked, before: Checked | None) -> None:
        """The page of a check; where only its time has come since, that."""
        speed = last.result.verdict.speed if last.result.verdict else None
        if before is not None and not before.result.complete and before.snapshot == last.snapshot:
            if speed is not None:
                self._say("\n".join(speed_lines(speed)))
            return
        when = f"{time_left(session.left)} left" if session.left is not None else ""
        self._say("\n".join(["", *([when] if when else []), *result_lines(last.result)]))

    def _say_asked_for(self, session: Session) -> None:
        if session.panel is Panel.HINT and (self._panel is not Panel.HINT or session.hints > self._hints):
            kata = self._subject.kata
            self._say(f"\nHint {session.hints} of {len(kata.hints)}")
            self._say("\n".join(wrap(kata.hints[session.hints - 1])))
        self._hints, self._panel = session.hints, session.panel
        if session.asked is not self._asked:
            self._asked = session.asked
            if session.asked is not None:
                self._say(prompt(session.asked, self._subject.kata.name, self._subject.path))
        if session.notice != self._notice:
            self._notice = session.notice
            if session.notice:
                self._say(session.notice)

    def _listen(self, descriptor: int) -> None:
        """Each line's first letter is a key. Read from the descriptor: a stream would be locked at exit."""
        waiting = b""
        while sent := os.read(descriptor, 1024):
            *lines, waiting = (waiting + sent).split(b"\n")
            for line in lines:
                letter = line.decode(errors="ignore").strip()[:1].lower()
                if letter:
                    self._pressed(letter)

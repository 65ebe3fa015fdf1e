"""A session run for real: its events come from the clock, the file, the keys, signals and the process that checks."""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from harness.practice.book import Book
from harness.practice.checker import Checker
from harness.practice.display import Display
from harness.practice.editor import Editing, Editor, open_editor
from harness.practice.events import (
    Action,
    Begin,
    Check,
    Checked,
    Edit,
    EditorReturned,
    Event,
    Graded,
    Interrupted,
    Keep,
    Key,
    Noticed,
    Opened,
    Resumed,
    Ring,
    Saved,
    Suspended,
    Tick,
)
from harness.practice.rules import Phase
from harness.practice.session import Session
from harness.practice.watching import SavedFile, Watch

#: Signals that ask to leave; a shell reports them as 128 and their number.
_LEAVING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")

#: Those that a terminal sends to the editor too, when that has it.
_FROM_KEYS = ("SIGINT", "SIGQUIT")


class Wake:
    """Something may have happened to the file, or the window has another size: look again."""


class Player:
    """Runs one session to its end. ``lay_ready`` makes the attempt's file, and says what the person should know of
    that; ``clock`` gives seconds that never go back.

    Everything but the checks happens in the thread that calls :meth:`run`, one event after the other.
    """

    def __init__(
        self, session: Session, file: SavedFile, book: Book, editor: Editor | None, lay_ready: Callable[[], str],
        *, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.session = session
        self._file, self._book, self._editor, self._lay_ready, self._clock = file, book, editor, lay_ready, clock
        self._events: queue.SimpleQueue[Event | Wake] = queue.SimpleQueue()
        self._watch: Watch | None = None
        self._editing: Editing | None = None
        self._continued = False
        self._trouble = ""
        self._doing: dict[type, Callable[[Any], None]] = {
            Begin: lambda action: self._begin(), Check: lambda action: self._checker.check(action),
            Keep: lambda action: self._keep(), Edit: lambda action: self._edit(),
            Ring: lambda action: self._display.ring(),
        }  # fmt: skip

    def report(self, event: Event) -> None:
        """Let something happen, from any thread or signal handler."""
        self._events.put(event)

    def press(self, key: str) -> None:
        """Let a key be pressed."""
        self._events.put(Key(key))

    def run(self, display: Display, checker: Checker) -> None:
        """Until the session is over or left, and the terminal is ours again."""
        self._display, self._checker = display, checker
        with self._signals():
            try:
                if self.session.phase is Phase.RUNNING:
                    self._begin()
                display.resume()
                display.show(self.session)
                while not self.session.done or self._editing is not None:
                    self._step()
            finally:
                self._close()

    def _close(self) -> None:
        try:
            if self._editing is not None:
                self._editing.end()
            else:
                self._display.pause()
        finally:
            self._book.complete()
            if self._watch is not None:
                self._watch.close()
            self._checker.close()

    def _step(self) -> None:
        event = self._next()
        if isinstance(event, Tick | Wake | Key) and self._watch is not None:
            self._look(lasting=isinstance(event, Tick))  # what was saved before a key or the bell counts before it
        if isinstance(event, Suspended):
            self._suspend()
        elif isinstance(event, Interrupted) and self._editing is not None:
            self._editing.end()
            self._handle(event)
        elif not isinstance(event, Wake):
            self._handle(event)
        if self._events.empty() and self._editing is None:
            self._display.show(self.session)

    def _look(self, *, lasting: bool) -> None:
        """Take what was saved. What is wrong with the file is told where it is ``lasting``, not between two steps of
        a save."""
        snapshot = self._file.look(self._clock())
        if self._file.trouble != self._trouble and (lasting or not self._file.trouble):
            self._trouble = self._file.trouble
            self._handle(Noticed(self._trouble))
        if snapshot is not None:
            self._handle(Saved(snapshot))

    def _next(self) -> Event | Wake:
        """The next event; a tick whenever another second of the clock has gone by."""
        left = self.session.left
        seconds = 1.0 if left is None else (left % 1.0 or 1.0)
        try:
            return self._events.get(timeout=seconds + 0.002)
        except queue.Empty:
            return Tick()

    def _handle(self, event: Event) -> None:
        if isinstance(event, EditorReturned) and self._editing is not None:
            self._editing = None
            self._display.resume()
        if isinstance(event, Resumed) and self._editing is None:
            self._display.resume()
        for action in self.session.handle(event, self._clock()):
            self._do(action)
        if isinstance(event, Checked):
            self._book.record(event)
        if isinstance(event, Graded):
            self._book.complete(event)
        if self.session.phase is Phase.OVER:
            self._book.finish(self.session)

    def _do(self, action: Action) -> None:
        self._doing[type(action)](action)

    def _begin(self) -> None:
        said = self._lay_ready()
        self._book.begin(self.session.rules)
        self._watch = Watch(self._file.path, lambda: self._events.put(Wake()))
        self._watch.start()
        snapshot = self._file.look(self._clock())
        if snapshot is not None:
            self._handle(Opened(snapshot))
        if said:
            self._handle(Noticed(said))

    def _keep(self) -> None:
        seen = self._book.keep(self.session)
        if seen is not None and not self.session.done:
            self._events.put(seen)

    def _edit(self) -> None:
        editor = self._editor
        if editor is None or self._editing is not None or not self._display.takes_turns_with(editor):
            return
        if not editor.windowed:
            self._display.pause()
        opened = open_editor(editor, self._file.path, lambda trouble: self._returned(editor, trouble))
        if isinstance(opened, str):
            if not editor.windowed:
                self._display.resume()
            self._handle(EditorReturned(opened))
        elif not editor.windowed:
            self._editing = opened

    def _returned(self, editor: Editor, trouble: str | None) -> None:
        if trouble or not editor.windowed:
            self.report(EditorReturned(trouble))

    def _suspend(self) -> None:
        """Stop, as Ctrl-Z asks, with the terminal given back and the clock stopped; go on when continued."""
        self._handle(Suspended())
        if self._editing is None:
            self._display.pause()
        self._continued = False
        previous = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, previous)
        if not self._continued:  # no shell to come back from: the system doesn't stop it
            self.report(Resumed())

    def _leave(self, number: int, _frame: FrameType | None) -> None:
        if self._editing is None or signal.Signals(number).name not in _FROM_KEYS:
            self.report(Interrupted(128 + number))

    def _continue(self, _number: int, _frame: FrameType | None) -> None:
        self._continued = True
        self.report(Resumed())

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Signals become events; those that a system lacks are left out."""
        wanted: dict[str, Any] = dict.fromkeys(_LEAVING, self._leave) | {
            "SIGTSTP": lambda number, frame: self.report(Suspended()), "SIGCONT": self._continue,
            "SIGWINCH": lambda number, frame: self._events.put(Wake()),
        }  # fmt: skip
        known = {getattr(signal, name): handler for name, handler in wanted.items() if hasattr(signal, name)}
        previous = {number: signal.signal(number, handler) for number, handler in known.items()}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

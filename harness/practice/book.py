"""What a session leaves in the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from harness.catalogue import Kata
from harness.practice.events import Checked, Graded, SeenElsewhere
from harness.practice.history import History
from harness.practice.recording import attempt_for, check_of_error, check_of_verdict
from harness.practice.records import Attempt
from harness.practice.rules import Rules
from harness.practice.session import Session


class Book:
    """Writes one session down: an attempt, begun now or earlier, or a watch, which only leaves its checks."""

    def __init__(
        self, history: History, kata: Kata, path: Path, attempt: Attempt | None, now: Callable[[], datetime]
    ) -> None:
        self._history, self._kata, self._path, self._now = history, kata, path, now
        self._attempt = attempt.id if attempt else None
        self._held: Checked | None = None

    def begin(self, rules: Rules) -> None:
        """Open the attempt, unless it goes on with an earlier one."""
        if self._attempt is None and rules.minutes is not None:
            path = str(self._path.absolute())
            self._attempt = self._history.begin(self._kata.name, path, rules.minutes, rules.interview).id

    def keep(self, session: Session) -> SeenElsewhere | None:
        """Write down how far it is; what other commands did to the attempt meanwhile."""
        if self._attempt is None:
            return None
        self._history.save_progress(self._attempt, session.clock.used, session.hints)
        attempt = self._history.attempt(self._attempt)
        if attempt.ending is None and attempt.hints == session.hints:
            return None
        return SeenElsewhere(attempt.hints, attempt.ending)

    def record(self, checked: Checked) -> None:
        """Keep a check, when it is complete: see :meth:`complete`."""
        self.complete()
        self._held = checked
        if checked.result.complete:
            self.complete()

    def complete(self, graded: Graded | None = None) -> None:
        """Write down a check that waited for its time: with it, or as it is where that won't come any more."""
        held, self._held = self._held, None
        if held is not None:
            self._write(replace(held, result=graded.result) if graded else held)

    def _write(self, checked: Checked) -> None:
        """A check belongs to the open attempt, if there is one for the file."""
        result, digest, now = checked.result, checked.snapshot.digest, self._now()
        attempt = self._attempt
        if attempt is None:
            attempt = attempt_for(self._path, self._history.open_attempts(self._kata.name))
        if result.verdict is not None:
            self._history.record(check_of_verdict(result.verdict, digest, now, attempt))
        elif result.error is not None:
            name, seconds = self._kata.name, checked.seconds
            check = check_of_error(result.error, name, self._path, digest, now, seconds, attempt)
            if check is not None:
                self._history.record(check)

    def finish(self, session: Session) -> Attempt | None:
        """End the attempt as the session ended; None where that has no ending. One ended elsewhere stays as it is."""
        if self._attempt is None or session.ending is None:
            return None
        result = session.last.result if session.last else None
        outcome, rung = (result.outcome, result.rung) if result else (None, None)
        return self._history.finish(self._attempt, session.ending, outcome, rung, session.used, session.hints)

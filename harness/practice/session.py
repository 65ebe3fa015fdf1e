"""One attempt as a state machine: events and the time go in, actions come out. It touches nothing else.

What counts:

* the clock runs from Enter until the file is handed in, given up or the bell; it stops while the session is suspended
  or left, and a gap between two events that no live session would leave (a stopped process, a sleeping laptop) counts
  as :data:`harness.practice.rules.LONGEST_GAP`;
* handing in is final: it is graded once, passed or failed. The bell hands in what was saved last;
* a right answer's time is when it was saved, if a check had found it right before it was handed in, and otherwise when
  the clock stopped. So a right file that the bell had to hand in, with no check that knew it, is late: it has used all
  of its time. One that was known to be right and was only being polished isn't;
* a newer save never waits behind older ones: while a check runs, only the newest content is checked next, and how fast
  an older one would be is not worked out to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.practice.events import (
    Action,
    Begin,
    CaseDone,
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
    Result,
    Resumed,
    Ring,
    Saved,
    SeenElsewhere,
    Snapshot,
    Suspended,
    Tick,
)
from harness.practice.records import Ending
from harness.practice.rules import Asked, Panel, Phase, Rules, Stopwatch

#: Seconds on the clock after which progress is written down, whatever happens.
KEEP_EVERY = 5.0

#: Lines that a page key scrolls.
PAGE = 10


class Session:
    """An attempt, or a watch without a clock. ``seeds`` gives the inputs of each check; ``notice`` is what the person
    should know before it begins."""

    def __init__(
        self, rules: Rules, seeds: Callable[[], int], *, used: float = 0.0, hints: int = 0, notice: str = ""
    ) -> None:
        self.rules = rules
        self.seeds = seeds
        self.clock = Stopwatch(used)
        self.phase = Phase.READY if rules.timed else Phase.RUNNING
        self.panel = Panel.QUESTION if rules.timed else Panel.RESULT
        self.scroll = 0
        self.asked: Asked | None = None
        self.notice = notice
        self.hints = hints
        self.current: Snapshot | None = None
        self.checking: Snapshot | None = None
        self.progress: list[CaseDone] = []
        self.grading: Snapshot | None = None
        self.last: Checked | None = None
        self.rang = False
        self.ending: Ending | None = None
        self.interrupted: int | None = None
        self.begun = self._resumed = used > 0
        self._kept = used
        self._saved_at: dict[str, float] = {}
        self._right: dict[str, Checked] = {}

    @property
    def used(self) -> float:
        """Seconds on the clock; of a right answer, until it was saved."""
        if self.ending is Ending.PASSED and self.current and self.current.digest in self._right:
            return self._saved_at[self.current.digest]
        return self.clock.used

    @property
    def left(self) -> float | None:
        """Seconds until the bell, None without a clock."""
        return None if self.rules.minutes is None else max(self.rules.minutes * 60 - self.clock.used, 0.0)

    @property
    def done(self) -> bool:
        return self.phase in (Phase.OVER, Phase.LEFT)

    @property
    def known_right(self) -> bool:
        """Whether a check has found the file right as it stands."""
        return self.current is not None and self.current.digest in self._right

    def handle(self, event: Event, now: float) -> list[Action]:
        """What to do now that this has happened, in order."""
        self.clock.advance(now)
        begun = self.phase is Phase.RUNNING  # the file of one that begins is not there yet
        actions = [] if self.done else _HANDLERS[type(event)](self, event)
        if begun and self.phase is Phase.RUNNING and self.left == 0:
            self.rang = True
            self.notice = ""
            actions += [Ring(), *self._hand_in()]
        if self.clock.used - self._kept >= KEEP_EVERY and self.phase is Phase.RUNNING:
            actions.append(Keep())
        if any(isinstance(action, Keep) for action in actions):
            self._kept = self.clock.used
        return actions

    def _begin(self) -> list[Action]:
        self.phase = Phase.RUNNING
        self.begun = True
        self.panel = Panel.RESULT
        self.scroll = 0
        self.clock.running = True
        return [Begin(), *([Edit()] if self.left else [])]

    def _opened(self, event: Opened) -> list[Action]:
        """A fresh skeleton needs no check; what an earlier session left does."""
        self.current = event.snapshot
        self._saved_at[event.snapshot.digest] = self.clock.used
        fresh = self.rules.timed and not self._resumed
        return [] if fresh or self.rules.interview else self._check_newest()

    def _saved(self, event: Saved) -> list[Action]:
        if self.phase is not Phase.RUNNING:
            return []  # handed in is handed in
        self.current = event.snapshot
        self._saved_at.setdefault(event.snapshot.digest, self.clock.used)
        self.notice = "saved; nothing is checked until you submit" if self.rules.interview else ""
        return [Keep()] if self.rules.interview else [Keep(), *self._check_newest()]

    def _check_newest(self) -> list[Action]:
        """Start a check of the file as it stands, unless one runs: its end will."""
        if self.checking is not None or self.current is None:
            return []
        self.checking = self.current
        self.progress = []
        self.grading = None
        return [Check(self.current, self.seeds())]

    def _case_done(self, event: CaseDone) -> list[Action]:
        self.progress.append(event)
        return []

    def _checked(self, event: Checked) -> list[Action]:
        self.checking = None
        self.progress = []
        self.last = event
        self.grading = None if event.result.complete else event.snapshot
        self.panel = Panel.RESULT
        self.scroll = 0
        known = self.phase is Phase.RUNNING
        if event.result.right and known:
            self._right[event.snapshot.digest] = event
        if self.phase is Phase.JUDGING and event.snapshot == self.current:
            return self._judge(event.result)
        return [Keep(), *(self._check_newest() if event.snapshot != self.current else [])]

    def _graded(self, event: Graded) -> list[Action]:
        """The last result, and what is known of its content, are whole now: it may not be right after all."""
        if event.snapshot != self.grading or self.last is None:
            return []
        self.grading = None
        self.last = replace(self.last, result=event.result)
        if self._right.pop(event.snapshot.digest, None) and event.result.right:
            self._right[event.snapshot.digest] = self.last
        return self._judge(event.result) if self.phase is Phase.JUDGING else [Keep()]

    def _hand_in(self) -> list[Action]:
        """Grade the file as it stands, once and for all."""
        self.phase = Phase.JUDGING
        self.asked = None
        self.clock.running = False
        if self.current is None:  # the file was never there to be read
            return self._end(Ending.TIMED_OUT if self.rang else Ending.FAILED)
        known = self._right.get(self.current.digest)
        if known is not None and (known.result.complete or self.grading == self.current):
            self.last = known
            return self._judge(known.result)
        return [Keep(), *self._check_newest()]

    def _judge(self, result: Result) -> list[Action]:
        """End with the result of what was handed in, when all of it is there."""
        if not result.judged:
            self.phase = Phase.LEFT  # the machine's fault: the attempt stays open
            return [Keep()]
        if not result.complete:
            return [Keep()]
        return self._end(Ending.PASSED if result.right else Ending.TIMED_OUT if self.rang else Ending.FAILED)

    def _end(self, ending: Ending) -> list[Action]:
        self.phase = Phase.OVER
        self.clock.running = False
        self.ending = ending
        return [Keep()]

    def _leave(self) -> list[Action]:
        begun = self.phase is not Phase.READY
        self.phase = Phase.LEFT
        self.clock.running = False
        return [Keep()] if begun else []

    def _interrupt(self, event: Interrupted) -> list[Action]:
        self.interrupted = event.exit_code
        return self._leave()

    def _suspend(self, _event: Suspended) -> list[Action]:
        self.clock.running = False
        return [Keep()]

    def _resume(self, _event: Resumed) -> list[Action]:
        self.clock.running = self.phase is Phase.RUNNING and self.rules.timed
        return []

    def _editor_returned(self, event: EditorReturned) -> list[Action]:
        self.notice = event.trouble or ""
        return []

    def _noticed(self, event: Noticed) -> list[Action]:
        self.notice = event.text
        return []

    def _elsewhere(self, event: SeenElsewhere) -> list[Action]:
        self.hints = max(self.hints, event.hints)
        return self._end(event.ending) if event.ending is not None else []

    def _key(self, event: Key) -> list[Action]:
        if self.asked is not None:
            return self._answer(event.name)
        if event.name in _SCROLLS:
            self.scroll = max(self.scroll + _SCROLLS[event.name], 0)
            return []
        action = _KEYS[self.phase].get(event.name)
        return action(self) if action else []

    def _answer(self, key: str) -> list[Action]:
        asked, self.asked = self.asked, None
        if key not in ("y", "Y"):
            return []
        return self._hand_in() if asked is Asked.SUBMIT else self._end(Ending.GAVE_UP)

    def _submit(self) -> list[Action]:
        if self.known_right:
            return self._hand_in()
        return self._ask(Asked.SUBMIT)

    def _give_up(self) -> list[Action]:
        return self._ask(Asked.GIVE_UP)

    def _ask(self, question: Asked) -> list[Action]:
        if self.rules.timed:
            self.asked = question
        return []

    def _hint(self) -> list[Action]:
        """The next hint; the latest once more where something else was shown in between."""
        again = self.hints and self.panel is not Panel.HINT
        if not again and self.hints < self.rules.hints:
            self.hints += 1
        self._show(Panel.HINT)
        return [Keep()]

    def _question(self) -> list[Action]:
        self._show(Panel.RESULT if self.panel is Panel.QUESTION else Panel.QUESTION)
        return []

    def _back(self) -> list[Action]:
        self._show(Panel.RESULT)
        return []

    def _show(self, panel: Panel) -> None:
        self.panel = panel
        self.scroll = 0

    def _edit(self) -> list[Action]:
        return [Edit()]


_SCROLLS = {"up": -1, "down": 1, "page_up": -PAGE, "page_down": PAGE, " ": PAGE}

_Press = Callable[[Session], list[Action]]

_LOOKING: dict[str, _Press] = {
    "q": Session._question, "v": Session._back, "escape": Session._back, "x": Session._leave,
}  # fmt: skip

#: What each key does, by phase.
_KEYS: dict[Phase, dict[str, _Press]] = {
    Phase.READY: {"enter": Session._begin, "x": Session._leave},
    Phase.RUNNING: _LOOKING | {
        "h": Session._hint, "s": Session._submit, "g": Session._give_up, "e": Session._edit,
    },
    Phase.JUDGING: _LOOKING,
}  # fmt: skip

_HANDLERS: dict[type, Callable[[Session, Any], list[Action]]] = {
    Tick: lambda session, event: [],
    Opened: Session._opened, Saved: Session._saved, CaseDone: Session._case_done, Checked: Session._checked,
    Graded: Session._graded, Key: Session._key, EditorReturned: Session._editor_returned,
    Noticed: Session._noticed, Suspended: Session._suspend, Resumed: Session._resume,
    Interrupted: Session._interrupt, SeenElsewhere: Session._elsewhere,
}  # fmt: skip

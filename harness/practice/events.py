"""What happens to a session, and what it asks for in return."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from harness.errors import EnvironmentFault, KataError
from harness.practice.records import Ending
from harness.results import CaseResult, Mismatch, Outcome, Verdict


@dataclass(frozen=True)
class Snapshot:
    """What the user's file held at one moment."""

    content: bytes

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Result:
    """What a check came to: a verdict, or the error that ended it before there was one.

    ``lead`` is the mismatch that says most, None where there is none. ``complete`` is False while it is still being
    worked out how fast a right answer would be.
    """

    verdict: Verdict | None = None
    lead: Mismatch | None = None
    error: KataError | None = None
    complete: bool = True

    def __post_init__(self) -> None:
        if (self.verdict is None) == (self.error is None):
            raise ValueError("a check ends with a verdict or with an error")

    @property
    def judged(self) -> bool:
        """Whether it says anything of the file: a machine that lacks something doesn't."""
        return not isinstance(self.error, EnvironmentFault)

    @property
    def outcome(self) -> Outcome | None:
        """None where nothing was judged. A file that is refused counts as one that doesn't compile."""
        if self.verdict is not None:
            return self.verdict.outcome
        return Outcome.COMPILE_ERROR if self.judged else None

    @property
    def right(self) -> bool:
        return self.outcome is Outcome.RIGHT

    @property
    def rung(self) -> int | None:
        """The rung of the ladder that it keeps up with, None where none or not timed."""
        speed = self.verdict.speed if self.verdict else None
        return speed.grade.rung if speed and speed.grade else None


@dataclass(frozen=True)
class Tick:
    """Some time went by."""


@dataclass(frozen=True)
class Opened:
    """The file lies ready; nothing of it is checked yet."""

    snapshot: Snapshot


@dataclass(frozen=True)
class Saved:
    """The file holds something new."""

    snapshot: Snapshot


@dataclass(frozen=True)
class CaseDone:
    """One of ``total`` cases of the check that is running is done."""

    case: CaseResult
    total: int


@dataclass(frozen=True)
class Checked:
    """The check of ``snapshot`` is done, after so many seconds; where it is not complete, :class:`Graded` follows."""

    snapshot: Snapshot
    result: Result
    seconds: float


@dataclass(frozen=True)
class Graded:
    """How fast the right answer ``snapshot`` is has been worked out, or what is wrong with it at that size; ``result``
    is the whole of its check."""

    snapshot: Snapshot
    result: Result


@dataclass(frozen=True)
class Key:
    """A key was pressed: a character, or ``enter escape up down page_up page_down``."""

    name: str


@dataclass(frozen=True)
class EditorReturned:
    """The editor has ended. ``trouble`` says why it didn't work, if it didn't."""

    trouble: str | None = None


@dataclass(frozen=True)
class Noticed:
    """Something of the file that the person should know, or no longer."""

    text: str


@dataclass(frozen=True)
class Suspended:
    """The person does something else for now (Ctrl-Z)."""


@dataclass(frozen=True)
class Resumed:
    """And is back."""


@dataclass(frozen=True)
class Interrupted:
    """A signal asks to leave. ``exit_code`` is as a shell reports it."""

    exit_code: int


@dataclass(frozen=True)
class SeenElsewhere:
    """What other commands did to this attempt: hints asked for in all, and how it was ended, if it was."""

    hints: int
    ending: Ending | None = None


Event = (
    Tick | Opened | Saved | CaseDone | Checked | Graded | Key | EditorReturned | Noticed | Suspended
    | Resumed | Interrupted | SeenElsewhere
)  # fmt: skip


@dataclass(frozen=True)
class Begin:
    """Lay the file ready, and write down that the attempt has begun."""


@dataclass(frozen=True)
class Check:
    """Check this content, on the inputs of ``seed``."""

    snapshot: Snapshot
    seed: int


@dataclass(frozen=True)
class Keep:
    """Write down how far the attempt is."""


@dataclass(frozen=True)
class Edit:
    """Open the editor."""


@dataclass(frozen=True)
class Ring:
    """Ring the bell: time is up."""


Action = Begin | Check | Keep | Edit | Ring

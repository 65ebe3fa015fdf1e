"""What kinds of session there are, the states that they go through, and their clock."""

from __future__ import annotations

import enum
from dataclasses import dataclass

#: Seconds between two events beyond which the session can't have been running. Ticks come every second.
LONGEST_GAP = 5.0



class Phase(enum.Enum):
    """``READY``: the question is shown, the clock stands. ``JUDGING``: handed in, the last check runs. ``OVER``: it
    has an ending. ``LEFT``: it has none yet, and can go on another time."""

    READY = enum.auto()
    RUNNING = enum.auto()
    JUDGING = enum.auto()
    OVER = enum.auto()
    LEFT = enum.auto()


class Panel(enum.Enum):
    """What most of the screen shows."""

    RESULT = enum.auto()
    QUESTION = enum.auto()
    HINT = enum.auto()


class Asked(enum.Enum):
    """A question that waits for yes or no."""

    SUBMIT = enum.auto()
    GIVE_UP = enum.auto()


@dataclass(frozen=True)
class Rules:
    """What kind of session: ``minutes`` None is one without a clock (``kata watch``), ``hints`` how many there are."""

    hints: int
    minutes: float | None = None
    interview: bool = False

    def __post_init__(self) -> None:
        if self.minutes is not None and not self.minutes > 0:
            raise ValueError("minutes: a clock starts with some")
        if self.interview and self.minutes is None:
            raise ValueError("interview: it has a clock")

    @property
    def timed(self) -> bool:
        return self.minutes is not None


@dataclass
class Stopwatch:
    """Seconds used. Only what is told through :meth:`advance` goes by."""

    used: float = 0.0
    running: bool = False
    _last: float | None = None

    def advance(self, now: float) -> None:
        """It is ``now``, in seconds of any clock that never goes back."""
        if self.running and self._last is not None:
            self.used += min(max(now - self._last, 0.0), LONGEST_GAP)
        self._last = now

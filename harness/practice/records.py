"""What practice leaves behind, as frozen records that check themselves: checks, attempts, answers of the quiz."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness.results import Outcome


class Ending(enum.StrEnum):
    """How an attempt ended. ``TIMED_OUT``: the clock ran out, and what was saved last was not right."""

    PASSED = "passed"
    FAILED = "failed"
    GAVE_UP = "gave_up"
    TIMED_OUT = "timed_out"


class Grade(enum.IntEnum):
    """How well something was remembered, numbered as FSRS numbers its ratings."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4

    @property
    def word(self) -> str:
        """``again``, ``hard``, ``good``, ``easy``."""
        return self.name.lower()


@dataclass(frozen=True)
class CheckRecord:
    """One ``kata check`` or ``kata bench`` of a file.

    ``when`` is UTC; ``file_hash`` the SHA-256 of the file's bytes, in hexadecimal; ``rung`` the best rung it keeps up
    with, None where none or not graded; ``seconds`` what the whole check took; ``attempt`` the id of the attempt that
    was open for it, if any; ``speed_us`` the kernel's time in microseconds at the kata's last timed size, and
    ``predicted`` whether that time and rung come from a model instead of a clock.
    """

    when: datetime
    kata: str
    file: str
    file_hash: str
    outcome: Outcome
    rung: int | None
    device: str
    seconds: float
    attempt: int | None
    speed_us: float | None
    predicted: bool

    def __post_init__(self) -> None:
        check_instant("when", self.when)
        if not self.kata or not self.file:
            raise ValueError("kata, file: a check is of a file for a kata")
        if len(self.file_hash) != 64 or set(self.file_hash) - set("0123456789abcdef"):
            raise ValueError(f"file_hash: {self.file_hash!r} is not a SHA-256 in hexadecimal")
        if self.rung is not None and self.rung < 1:
            raise ValueError("rung: rungs start at 1")
        if not self.seconds >= 0 or (self.speed_us is not None and not self.speed_us > 0):
            raise ValueError("seconds, speed_us: a time is not negative, and a kernel takes some")


@dataclass(frozen=True)
class Attempt:
    """One try at a kata under the clock, open until it has an ``ending``.

    ``began`` and ``ended`` are UTC; ``minutes`` what the clock allowed; ``used`` the seconds on it so far, pauses
    excluded; ``hints`` how many were asked for; ``outcome`` and ``rung`` of the last check that counts.
    """

    id: int
    kata: str
    file: str
    began: datetime
    minutes: float
    interview: bool
    hints: int
    used: float
    ending: Ending | None
    ended: datetime | None
    outcome: Outcome | None
    rung: int | None

    def __post_init__(self) -> None:
        check_instant("began", self.began)
        if not self.kata or not self.file:
            raise ValueError("kata, file: an attempt is at a kata, in a file")
        if not self.minutes > 0 or self.hints < 0 or not self.used >= 0:
            raise ValueError("minutes, hints, used: the clock starts with some minutes, and nothing is negative")
        if (self.ending is None) != (self.ended is None):
            raise ValueError("ending, ended: an attempt has both or neither")
        if self.ended is not None:
            check_instant("ended", self.ended)
        if self.rung is not None and self.rung < 1:
            raise ValueError("rung: rungs start at 1")

    @property
    def late(self) -> bool:
        """Whether the clock has run out."""
        return self.used >= self.minutes * 60


@dataclass(frozen=True)
class Review:
    """One card of the quiz, answered at ``when`` (UTC) and graded by the person. ``card`` is :attr:`Card.id`."""

    when: datetime
    card: str
    grade: Grade

    def __post_init__(self) -> None:
        check_instant("when", self.when)
        if not self.card:
            raise ValueError("card: a review is of a card")


def check_instant(key: str, when: datetime) -> None:
    """ValueError unless ``when`` is aware and in UTC."""
    if when.utcoffset() != timedelta(0):
        raise ValueError(f"{key}: {when.isoformat()} is not in UTC")

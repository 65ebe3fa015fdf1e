"""Histories and records for tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness.practice.history import FILE, History
from harness.practice.records import Attempt, CheckRecord, Ending
from harness.results import Outcome

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


def opened(folder: Path, now: Callable[[], datetime] | None = None, *refuges: Path, patience: float = 5.0) -> History:
    return History(folder / FILE, now or Clock(), refuges=refuges, patience=patience)


def check(
    when: datetime = NOON, kata: str = "add", outcome: Outcome = Outcome.RIGHT, rung: int | None = 2,
    attempt: int | None = None, speed_us: float | None = 41.2, predicted: bool = False,
) -> CheckRecord:  # fmt: skip
    return CheckRecord(when, kata, "/desk/add.cu", "0a" * 32, outcome, rung, "H200", 3.5, attempt, speed_us, predicted)


def attempt(
    ending: Ending | None = Ending.PASSED, minutes: float = 20, used: float = 600, hints: int = 0,
    outcome: Outcome | None = Outcome.RIGHT, rung: int | None = None, began: datetime = NOON,
) -> Attempt:  # fmt: skip
    ended = None if ending is None else began + timedelta(seconds=used)
    return Attempt(1, "add", "/desk/add.cu", began, minutes, False, hints, used, ending, ended, outcome, rung)

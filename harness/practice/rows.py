"""Records as rows of the database, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from harness.practice.records import Attempt, CheckRecord, Ending, Grade, Review
from harness.results import Outcome

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

#: Columns of each table, in the order of the rows made here.
COLUMNS = {
    "checks": ("id", "at", "kata", "file", "file_hash", "outcome", "rung", "device", "seconds", "attempt", "speed_us",
               "predicted"),
    "attempts": ("id", "kata", "file", "began", "minutes", "interview", "hints", "used", "ending", "ended", "outcome",
                 "rung"),
    "reviews": ("id", "at", "card", "grade"),
}  # fmt: skip

#: When a row of each was, or began.
TIMES = {"checks": "at", "attempts": "began", "reviews": "at"}

Row = tuple[Any, ...]


def stamp(when: datetime) -> int:
    """Microseconds since 1970."""
    return (when - _EPOCH) // _MICROSECOND


def instant(microseconds: int) -> datetime:
    """The UTC instant of :func:`stamp`."""
    return _EPOCH + timedelta(microseconds=microseconds)


def check_row(identity: int, check: CheckRecord) -> Row:
    """A row of ``checks``."""
    return (identity, stamp(check.when), check.kata, check.file, check.file_hash, check.outcome.value, check.rung,
            check.device, check.seconds, check.attempt, check.speed_us, int(check.predicted))  # fmt: skip


def check_of(row: Row) -> CheckRecord:
    """The record of a row of ``checks``."""
    _, at, kata, file, file_hash, outcome, rung, device, seconds, attempt, speed_us, predicted = row
    return CheckRecord(instant(at), kata, file, file_hash, Outcome(outcome), rung, device, seconds, attempt, speed_us,
                       bool(predicted))  # fmt: skip


def attempt_row(attempt: Attempt) -> Row:
    """A row of ``attempts``."""
    ended = None if attempt.ended is None else stamp(attempt.ended)
    return (attempt.id, attempt.kata, attempt.file, stamp(attempt.began), attempt.minutes, int(attempt.interview),
            attempt.hints, attempt.used, attempt.ending, ended, attempt.outcome, attempt.rung)  # fmt: skip


def attempt_of(row: Row) -> Attempt:
    """The record of a row of ``attempts``."""
    identity, kata, file, began, minutes, interview, hints, used, ending, ended, outcome, rung = row
    return Attempt(
        identity, kata, file, instant(began), minutes, bool(interview), hints, used,
        Ending(ending) if ending is not None else None, instant(ended) if ended is not None else None,
        Outcome(outcome) if outcome is not None else None, rung,
    )  # fmt: skip


def review_row(identity: int, review: Review) -> Row:
    """A row of ``reviews``."""
    return (identity, stamp(review.when), review.card, int(review.grade))


def review_of(row: Row) -> Review:
    """The record of a row of ``reviews``."""
    _, at, card, grade = row
    return Review(instant(at), card, Grade(grade))

"""What practice adds up to: pure sums, over days and over the history of each kata."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from harness.practice.rows import instant, stamp


@dataclass(frozen=True)
class KataSums:
    """All that was done for one kata: numbers of checks and attempts, and how many of each came out right; ``last`` is
    when the latest of them was (UTC).

    ``rung`` is the best that a right kernel kept up with, ``speed_us`` the shortest measured time of one, in
    microseconds, ``used`` the seconds on the clock of the quickest pass; each None where there is none.
    """

    kata: str
    checks: int
    right: int
    attempts: int
    passed: int
    last: datetime
    rung: int | None
    speed_us: float | None
    used: float | None


@dataclass(frozen=True)
class Streak:
    """Days in a row: ``current`` up to today or yesterday (today is not over yet), the ``longest`` ever, and ``days``
    practised in all."""

    current: int
    longest: int
    days: int


def by_day(moments: Sequence[int], zone: tzinfo | None = None) -> dict[date, int]:
    """How many of these moments (as :func:`rows.stamp`, in order) each day of ``zone`` saw, oldest first; days without
    any are left out. ``zone`` is the system's unless given."""
    found: dict[date, int] = {}
    start = 0
    while start < len(moments):
        day = instant(moments[start]).astimezone(zone).date()
        tomorrow = datetime.combine(day + timedelta(1), time(), zone).astimezone(UTC)
        end = bisect_left(moments, stamp(tomorrow), lo=start + 1)
        found[day] = found.get(day, 0) + end - start
        start = end
    return found


def streak(days: Iterable[date], today: date) -> Streak:
    """The streak of a set of local days."""
    practised = sorted(set(days))
    longest = run = 0
    for before, day in zip([None, *practised], practised, strict=False):
        run = run + 1 if before == day - timedelta(1) else 1
        longest = max(longest, run)
    alive = bool(practised) and practised[-1] >= today - timedelta(1)
    return Streak(run if alive else 0, longest, len(practised))


def weeks(counts: Mapping[date, int], today: date, number: int) -> list[tuple[date, int]]:
    """The last ``number`` weeks, oldest first: each week's Monday, and how much was done in it."""
    monday = today - timedelta(today.weekday())
    starts = [monday - timedelta(weeks=ago) for ago in reversed(range(number))]
    return [(start, sum(counts.get(start + timedelta(day), 0) for day in range(7))) for start in starts]

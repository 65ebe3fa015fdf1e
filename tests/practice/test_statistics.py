from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.practice.rows import instant, stamp
from harness.practice.statistics import by_day, streak, weeks

TODAY = date(2026, 3, 10)


def back(*days: int) -> list[date]:
    return [TODAY - timedelta(ago) for ago in days]


@pytest.mark.parametrize(
    ("days", "current", "longest"),
    [
        ([], 0, 0),
        (back(0), 1, 1),
        (back(1), 1, 1),
        (back(2), 0, 1),
        (back(0, 1, 2), 3, 3),
        (back(1, 2, 0, 1), 3, 3),
        (back(0, 2, 3, 4, 5, 9), 1, 4),
        (back(3, 4), 0, 2),
    ],
)
def test_a_streak_ends_with_the_first_whole_day_off(days: list[date], current: int, longest: int) -> None:
    found = streak(days, TODAY)
    assert (found.current, found.longest, found.days) == (current, longest, len(set(days)))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "America/Sao_Paulo",
                                  "Australia/Lord_Howe", "Pacific/Apia"])  # fmt: skip
@given(moments=st.lists(st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)), max_size=30))
def test_every_moment_is_counted_on_its_local_day(zone: str, moments: list[datetime]) -> None:
    ordered = sorted(stamp(moment) for moment in moments)
    found = by_day(ordered, ZoneInfo(zone))
    assert found == Counter(instant(moment).astimezone(ZoneInfo(zone)).date() for moment in ordered)
    assert list(found) == sorted(found)


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_an_instant_survives_the_database(when: datetime) -> None:
    assert instant(stamp(when)) == when


def test_weeks_begin_on_monday_and_hold_what_was_done_in_them() -> None:
    counts = {date(2026, 3, 9): 3, date(2026, 3, 8): 2, date(2026, 3, 2): 1, date(2026, 1, 1): 9}
    assert weeks(counts, TODAY, 3) == [(date(2026, 2, 23), 0), (date(2026, 3, 2), 3), (date(2026, 3, 9), 3)]

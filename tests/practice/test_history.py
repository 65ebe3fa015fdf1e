from __future__ import annotations

import random
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.practice import statistics
from harness.practice.records import CheckRecord, Ending, Grade, Review
from harness.practice.transfer import merge, read_rows
from harness.results import Outcome
from tests.benchmarks.history import kills, writers
from tests.practice.making import NOON, Clock, attempt, check, opened


def test_what_is_recorded_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    made = [check(), replace(check(NOON + timedelta(seconds=1)), rung=None, speed_us=None, predicted=True)]
    with opened(tmp_path) as history:
        for one in made:
            history.record(one)
    with opened(tmp_path) as history:
        assert list(history.checks()) == made[::-1]
        assert history.notices == []


def test_checks_come_newest_first_by_kata_and_limited(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        for hour, kata in enumerate(("add", "relu", "add", "add")):
            history.record(check(NOON + timedelta(hours=hour), kata))
        assert [one.when.hour for one in history.checks()] == [15, 14, 13, 12]
        assert [one.when.hour for one in history.checks("add", limit=2)] == [15, 14]
        assert list(history.checks("gemm")) == []


def test_an_attempt_is_open_until_it_is_finished(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as history:
        began = history.begin("add", "/desk/add.cu", 20, True)
        assert (began.began, began.interview, began.ending) == (NOON, True, None)
        assert history.open_attempts("add") == [began] and history.open_attempts("relu") == []
    with opened(tmp_path, clock) as history:
        history.save_progress(began.id, 61.5, 2)
        (resumed,) = history.open_attempts()
        assert (resumed.id, resumed.used, resumed.hints) == (began.id, 61.5, 2)
        clock.move(minutes=5)
        ended = history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 3, 250.0, 2)
        assert (ended.ending, ended.ended, ended.rung, ended.used) == (Ending.PASSED, clock.now, 3, 250.0)
        assert history.open_attempts() == [] and history.attempts() == [ended]


def test_progress_never_goes_back_and_an_ending_is_final(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        identity = history.begin("add", "/desk/add.cu", 20, False).id
        history.save_progress(identity, 100, 2)
        history.save_progress(identity, 90, 1)
        assert (history.attempt(identity).used, history.attempt(identity).hints) == (100, 2)
        ended = history.finish(identity, Ending.GAVE_UP, None, None, 95, 1)
        assert (ended.used, ended.hints) == (95, 2)
        history.save_progress(identity, 500, 3)
        assert history.finish(identity, Ending.PASSED, Outcome.RIGHT, 4, 9, 0) == ended


def test_a_check_names_its_attempt(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        history.begin("relu", "/desk/relu.cu", 5, False)
        mine = history.begin("add", "/desk/add.cu", 5, False)
        history.record(check(attempt=mine.id))
        assert next(history.checks()).attempt == mine.id


def test_an_attempt_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        with pytest.raises(KeyError):
            history.attempt(7)
        with pytest.raises(KeyError):
            history.save_progress(7, 1, 0)


def test_answers_are_kept_in_order(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as history:
        history.review("add/1", Grade.GOOD)
        clock.move(days=-1)
        history.review("add/2", Grade.AGAIN)
        assert [(one.card, one.grade) for one in history.reviews()] == [("add/2", Grade.AGAIN), ("add/1", Grade.GOOD)]


_checks = st.builds(
    check, when=st.datetimes(datetime(2025, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC)),
    kata=st.sampled_from(["add", "relu"]), outcome=st.sampled_from(Outcome), rung=st.none() | st.integers(1, 5),
    speed_us=st.none() | st.floats(0.5, 1e6), predicted=st.booleans(),
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(checks=st.lists(_checks, max_size=12))
def test_sums_in_sql_are_those_of_the_records(
    checks: list[CheckRecord], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with opened(tmp_path_factory.mktemp("sums")) as history:
        for one in checks:
            history.record(one)
        sums = {one.kata: one for one in history.sums()}
        assert history.moments() == sorted(history.moments()) and len(history.moments()) == len(checks)
    assert set(sums) == {one.kata for one in checks}
    for kata, found in sums.items():
        mine = [one for one in checks if one.kata == kata]
        right = [one for one in mine if one.outcome is Outcome.RIGHT]
        assert (found.checks, found.right, found.last) == (len(mine), len(right), max(one.when for one in mine))
        assert found.rung == max((one.rung for one in right if one.rung), default=None)
        speeds = [one.speed_us for one in right if one.speed_us and not one.predicted]
        assert found.speed_us == min(speeds, default=None)


def test_sums_count_attempts_and_the_quickest_pass(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        for ending, used, rung in ((Ending.PASSED, 500, 2), (Ending.PASSED, 400, 3), (Ending.GAVE_UP, 10, None)):
            identity = history.begin("add", "/desk/add.cu", 20, False).id
            outcome = Outcome.RIGHT if ending is Ending.PASSED else None
            history.finish(identity, ending, outcome, rung, used, 0)
        (sums,) = history.sums()
        assert (sums.attempts, sums.passed, sums.used, sums.rung, sums.checks) == (3, 2, 400, 3, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: replace(check(), when=datetime(2026, 1, 1)),
        lambda: replace(check(), file_hash="abc"),
        lambda: replace(check(), rung=0),
        lambda: replace(check(), seconds=-1),
        lambda: replace(check(), seconds=float("nan")),
        lambda: replace(check(), kata=""),
        lambda: replace(attempt(), ended=None),
        lambda: replace(attempt(), minutes=0),
        lambda: replace(attempt(), hints=-1),
        lambda: Review(datetime(2026, 1, 1), "add/1", Grade.GOOD),
        lambda: Review(NOON, "", Grade.GOOD),
    ],
)
def test_records_check_themselves(wrong: object) -> None:
    with pytest.raises(ValueError, match=r".+: .+"):
        wrong()  # type: ignore[operator]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal, starts writers by fork")
def test_a_kill_at_any_moment_loses_nothing_that_was_promised(tmp_path: Path) -> None:
    tally = kills(20, tmp_path, random.Random(7))
    assert tally.good and tally.promised, tally


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    held, _ = writers(100, tmp_path)
    assert held == 200


def test_each_day_of_a_zone_is_counted(tmp_path: Path) -> None:
    from zoneinfo import ZoneInfo

    berlin, clock = ZoneInfo("Europe/Berlin"), Clock()
    with opened(tmp_path, clock) as history:
        history.record(check(datetime(2026, 3, 28, 22, 59, tzinfo=UTC)))  # 23:59 there
        history.record(check(datetime(2026, 3, 28, 23, 0, tzinfo=UTC)))  # midnight there, the day of 23 hours
        history.record(check(datetime(2026, 3, 29, 21, 59, tzinfo=UTC)))  # 23:59 of that day
        clock.now = datetime(2026, 3, 29, 22, 0, tzinfo=UTC)
        history.begin("add", "/desk/add.cu", 5, False)
        history.review("add/1", Grade.GOOD)
        days = statistics.by_day(history.moments(), berlin)
    assert {day.day: number for day, number in days.items()} == {28: 1, 29: 2, 30: 2}


def test_merging_the_same_again_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as first, opened(tmp_path / "b") as second:
        first.record(check(attempt=first.begin("add", "/desk/add.cu", 5, False).id))
        found = read_rows(first.store)
        assert [merge(second.store, found).new for _ in range(2)] == [2, 0]
        (moved,) = second.attempts()
        assert moved.id == next(second.checks()).attempt

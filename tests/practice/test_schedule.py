from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import catalogue
from harness.practice import schedule
from harness.practice.records import Ending, Grade
from harness.results import Outcome
from tests.practice.making import NOON, Clock, attempt, opened


@pytest.mark.parametrize(
    ("tried", "grade", "says"),
    [
        (attempt(Ending.GAVE_UP, outcome=None), Grade.AGAIN, "gave up"),
        (attempt(Ending.GAVE_UP, outcome=Outcome.RIGHT), Grade.AGAIN, "gave up"),
        (attempt(Ending.FAILED, outcome=Outcome.WRONG), Grade.AGAIN, "not right"),
        (attempt(Ending.TIMED_OUT, used=1200, outcome=Outcome.WRONG), Grade.AGAIN, "time ran out"),
        (attempt(Ending.TIMED_OUT, used=1200, outcome=None), Grade.AGAIN, "time ran out"),
        (attempt(Ending.TIMED_OUT, used=1200, rung=4), Grade.HARD, "after the 20 minutes"),
        (attempt(used=1200), Grade.HARD, "after the 20 minutes"),
        (attempt(used=60, hints=1, rung=4), Grade.HARD, "1 hint"),
        (attempt(used=60, hints=3), Grade.HARD, "3 hints"),
        (attempt(used=1199, rung=4), Grade.GOOD, "passed in 20 of 20 minutes"),
        (attempt(used=60, rung=2), Grade.GOOD, "passed in 1 of 20"),
        (attempt(used=60, rung=None), Grade.GOOD, "passed"),
        (attempt(used=900, rung=3), Grade.EASY, "at par"),
        (attempt(used=901, rung=3), Grade.GOOD, "passed"),
    ],
)
def test_the_rating_follows_from_the_result(tried: object, grade: Grade, says: str) -> None:
    rating = schedule.rate(tried, par=3)  # type: ignore[arg-type]
    assert rating.grade is grade
    assert says in rating.why and "\n" not in rating.why
    assert len(rating.brief) <= 8


def test_an_open_attempt_is_not_rated() -> None:
    with pytest.raises(ValueError, match="open"):
        schedule.rate(attempt(None), par=1)


_answers = st.lists(
    st.tuples(st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)), st.sampled_from(Grade)),
    min_size=1, max_size=12,
)  # fmt: skip


@given(answers=_answers, data=st.data())
def test_what_is_due_depends_on_the_answers_and_not_on_their_order(
    answers: list[tuple[datetime, Grade]], data: st.DataObject
) -> None:
    when = schedule.next_due(answers)
    assert when == schedule.next_due(data.draw(st.permutations(answers)))
    assert when is not None and when >= max(at for at, _ in answers) + timedelta(days=1)


@given(answers=_answers)
def test_a_better_last_answer_is_never_due_sooner(answers: list[tuple[datetime, Grade]]) -> None:
    last = max(at for at, _ in answers) + timedelta(days=3)
    whens = [schedule.next_due([*answers, (last, grade)]) for grade in Grade]
    assert whens == sorted(whens, key=lambda when: when or last)


def test_never_tried_is_never_due() -> None:
    assert schedule.next_due([]) is None


def test_intervals_grow_with_each_success() -> None:
    answers, gaps = [(NOON, Grade.GOOD)], []
    for _ in range(4):
        when = schedule.next_due(answers)
        assert when is not None
        gaps.append(when - answers[-1][0])
        answers.append((when, Grade.GOOD))
    assert gaps == sorted(gaps) and gaps[-1] > 10 * gaps[0]


def test_what_was_failed_comes_first_then_the_new_then_what_is_known(home: Path, tmp_path: Path) -> None:
    (add,) = catalogue.load_all()
    others = [catalogue.Kata(**(vars(add) | {"name": name})) for name in ("bad", "easy", "worse")]
    clock = Clock()
    with opened(tmp_path, clock) as history:
        for kata, ending in (("worse", Ending.GAVE_UP), ("bad", Ending.FAILED), ("easy", Ending.PASSED)):
            clock.move(hours=1)
            began = history.begin(kata, f"/desk/{kata}.cu", 20, False)
            outcome = Outcome.RIGHT if ending is Ending.PASSED else Outcome.WRONG
            history.finish(began.id, ending, outcome, 4, 60, 0)
        history.begin("add", "/desk/add.cu", 20, False)  # open: no result yet
        found = schedule.due(history, [add, *others], clock.move(days=1), UTC)
    assert [one.kata for one in found] == ["worse", "bad", "add", "easy"]
    assert [one.today for one in found] == [True, True, False, False]
    assert [one.brief for one in found] == ["gave up", "failed", "new", "at par"]
    assert found[2].when is None and found[3].when is not None


def test_the_latest_result_gives_the_reason(home: Path, tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as history:
        for ending, hints in ((Ending.GAVE_UP, 0), (Ending.PASSED, 2)):
            began = history.begin("add", "/desk/add.cu", 20, False)
            outcome = Outcome.RIGHT if ending is Ending.PASSED else None
            history.finish(began.id, ending, outcome, None, 60, hints)
            clock.move(days=1)
        (found,) = schedule.due(history, catalogue.load_all(), clock.now)
    assert "2 hints" in found.why


def test_days_are_local_ones() -> None:
    east = timezone(timedelta(hours=9))
    tonight, morning = datetime(2026, 3, 10, 14, tzinfo=UTC), datetime(2026, 3, 9, 22, tzinfo=UTC)
    assert schedule.by_today(tonight, morning, east)  # 23:00 and 7:00 of one day there
    assert not schedule.by_today(tonight, morning, UTC)

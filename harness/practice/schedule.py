"""What to practise next: spaced repetition by FSRS, from results instead of feelings.

What FSRS knows of a kata or card is worked out anew from the attempts or answers, oldest first, each time it is asked
for. So two histories can be merged, and nothing stored can contradict them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from harness.practice.records import Attempt, Ending, Grade
from harness.reports.text import count
from harness.results import Outcome

if TYPE_CHECKING:
    from harness.catalogue import Kata
    from harness.practice.history import History

#: The part of the clock that must be left for an attempt to have had time to spare.
TO_SPARE = 1 / 4

#: Chance of still knowing it at which FSRS brings something back. Its authors advise 0.7 to 0.97, 0.9 unless there is
#: a reason: https://github.com/open-spaced-repetition/py-fsrs
RETENTION = 0.9


@dataclass(frozen=True)
class Rating:
    """How an attempt counts, ``why`` in one line, and in a word or two for a narrow column."""

    grade: Grade
    why: str
    brief: str


@dataclass(frozen=True)
class Due:
    """When a kata is due (UTC), None where it has not been tried; ``today`` whether that is today or was before, by
    local days; ``why`` in one line, ``brief`` in a word or two."""

    kata: str
    when: datetime | None
    today: bool
    why: str
    brief: str


def rate(attempt: Attempt, par: int) -> Rating:
    """How an attempt that has ended counts. ``par`` is the rung that a good answer keeps up with.

    A pass is one where the last check was right, in time or not. ValueError for an attempt that is still open.
    """
    if attempt.ending is None:
        raise ValueError("an open attempt has no rating yet")
    if attempt.ending is Ending.GAVE_UP:
        return Rating(Grade.AGAIN, "you gave up", "gave up")
    if attempt.ending is not Ending.PASSED and attempt.outcome is not Outcome.RIGHT:
        timed_out = attempt.ending is Ending.TIMED_OUT
        why = "time ran out before it was right" if timed_out else "it was not right"
        return Rating(Grade.AGAIN, why, "time up" if timed_out else "failed")
    if attempt.ending is Ending.TIMED_OUT or attempt.late:
        return Rating(Grade.HARD, f"passed, but after the {attempt.minutes:g} minutes", "late")
    if attempt.hints:
        return Rating(Grade.HARD, f"passed, with {count(attempt.hints, 'hint')}", count(attempt.hints, "hint"))
    took = f"passed in {max(1, round(attempt.used / 60))} of {attempt.minutes:g} minutes"
    if attempt.rung is not None and attempt.rung >= par and attempt.used <= attempt.minutes * 60 * (1 - TO_SPARE):
        return Rating(Grade.EASY, f"{took}, at par", "at par")
    return Rating(Grade.GOOD, took, "passed")


def due(history: History, katas: Iterable[Kata], now: datetime, zone: tzinfo | None = None) -> list[Due]:
    """Every kata, what to practise first at the front: those due, the longest overdue first; then those never tried,
    in the order given; then the others, soonest first. ``zone`` is the system's unless given."""
    ended = defaultdict(list)
    for attempt in history.attempts():
        if attempt.ended is not None:
            ended[attempt.kata].append(attempt)
    found = [_due_of(kata, ended[kata.name], now, zone) for kata in katas]
    found.sort(key=lambda one: (0 if one.today else 1 if one.when is None else 2, one.when or now))
    return found


def by_today(when: datetime, now: datetime, zone: tzinfo | None = None) -> bool:
    """Whether ``when`` is today or earlier, by the days of ``zone``: what is due tonight may be done this morning."""
    return when.astimezone(zone).date() <= now.astimezone(zone).date()


def next_due(answers: Iterable[tuple[datetime, Grade]]) -> datetime | None:
    """When something is due that was graded so at these times (UTC, in any order); None if it never was."""
    import fsrs

    # Steps of minutes are for facts learnt in one sitting; the least interval here is a day. Fuzz would give another
    # answer each time it is asked.
    scheduler = fsrs.Scheduler(
        desired_retention=RETENTION, learning_steps=(), relearning_steps=(), enable_fuzzing=False
    )
    card, asked = fsrs.Card(card_id=1), False
    for when, grade in sorted(answers):
        card, _ = scheduler.review_card(card, fsrs.Rating(grade), when.astimezone(UTC))
        asked = True
    return card.due if asked else None


def _due_of(kata: Kata, ended: list[Attempt], now: datetime, zone: tzinfo | None) -> Due:
    rated = [(attempt.ended, rate(attempt, kata.par)) for attempt in ended if attempt.ended]
    when = next_due((at, rating.grade) for at, rating in rated)
    if when is None:
        return Due(kata.name, None, False, "not practised yet", "new")
    _, latest = max(rated, key=lambda pair: pair[0])
    return Due(kata.name, when, by_today(when, now, zone), latest.why, latest.brief)

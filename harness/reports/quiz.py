"""Cards of the quiz for a person and for a program."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from click import style

from harness.practice.records import Grade
from harness.reports.jsonout import SCHEMA
from harness.reports.text import count, width, wrap

if TYPE_CHECKING:
    from harness.practice.cards import Standing


def question_lines(standing: Standing, number: int, of: int) -> list[str]:
    """The head of a card and its question."""
    card = standing.card
    seen = f"answered {count(len(standing.reviews), 'time')}" if standing.reviews else "new"
    head = style(f"{number} of {of}", bold=True) + f" · {card.topic} · {card.kata} · {seen}"
    return [head, *wrap(card.ask)]


def answer_lines(standing: Standing) -> list[str]:
    """The answer, line breaks of the catalogue's file undone."""
    return wrap(" ".join(standing.card.answer.split()))


def graded_line(grade: Grade, when: datetime, now: datetime) -> str:
    """``good: again in 3 days``."""
    days = (when.astimezone().date() - now.astimezone().date()).days
    return f"  {grade.word}: it comes again in {count(days, 'day')}"


def closing_lines(grades: Sequence[Grade], left: int) -> list[str]:
    """What this sitting came to; ``left`` cards are due still, or new."""
    counts = ", ".join(f"{grades.count(grade)} {grade.word}" for grade in Grade if grade in grades)
    first = f"{count(len(grades), 'card')} answered{f': {counts}' if counts else ''}; {left} due or new."
    return [first, "Next: kata quiz" if left else "Next: kata practice"]


def list_lines(found: Sequence[Standing], now: datetime) -> list[str]:
    """A line for each card: its topic, when it is due, the question."""
    topics = max(len(one.card.topic) for one in found)
    lines = [f"{'topic':<{topics}}  {'due':<6}  question"]
    for one in found:
        start = f"{one.card.topic:<{topics}}  {_due(one, now):<6}  "
        lines += textwrap.wrap(one.card.ask, width(), initial_indent=start, subsequent_indent=" " * len(start))
    new = sum(one.when is None for one in found)
    due = sum(one.today for one in found)
    return [*lines, "", f"{count(len(found), 'card')}: {due} due, {new} new", "Next: kata quiz"]


def cards_record(found: Iterable[Standing]) -> dict[str, Any]:
    """Every card for a program; ``due`` is null where it was never answered."""
    return {"schema": SCHEMA, "cards": [
        {"id": one.card.id, "kata": one.card.kata, "topic": one.card.topic, "ask": one.card.ask,
         "answer": one.card.answer, "answers": len(one.reviews), "due": one.when.isoformat() if one.when else None,
         "today": one.today}
        for one in found
    ]}  # fmt: skip


def _due(one: Standing, now: datetime) -> str:
    if one.when is None:
        return "new"
    days = (one.when.astimezone().date() - now.astimezone().date()).days
    return "now" if one.today else f"{days} d" if days < 60 else f"{round(days / 30.4)} mo"

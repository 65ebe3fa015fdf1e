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

#: How well a card was known, in the words of the keys that say so.
WORDS = {Grade.AGAIN: "not", Grade.HARD: "hardly", Grade.GOOD: "well", Grade.EASY: "at once"}


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
    """``well: it comes again in 3 days``."""
    days = (when.astimezone().date() - now.astimezone().date()).days
    return f"  {WORDS[grade]}: it comes again in {count(days, 'day')}"


def closing_lines(grades: Sequence[Grade], left: int, topic: str | None) -> list[str]:
    """What this sitting came to; ``left`` cards of the topic are due still, or new."""
    counts = ", ".join(f"{grades.count(grade)} {word}" for grade, word in WORDS.items() if grade in grades)
    first = f"{count(len(grades), 'card')} answered{f': {counts}' if counts else ''}; {left} due or new."
    return [first, f"Next: {command(topic)}" if left else "Next: kata practice"]


def none_lines(topic: str | None) -> list[str]:
    """There is no card to ask."""
    again = command(topic)
    return ["No card is due, and none is new.",
            *wrap(f"Next: {again} --ahead asks before they are due; {again} --list shows when that is", indent="",
                  hanging="  ")]  # fmt: skip


def command(topic: str | None) -> str:
    """What asks the cards of a topic."""
    return f"kata quiz {topic}" if topic else "kata quiz"


def list_lines(found: Sequence[Standing], now: datetime, topic: str | None) -> list[str]:
    """A line for each card of the topic: what it is about, when it is due, the question."""
    topics = max(len(one.card.topic) for one in found)
    lines = [f"{'topic':<{topics}}  {'due':<6}  question"]
    for one in found:
        start = f"{one.card.topic:<{topics}}  {_due(one, now):<6}  "
        lines += textwrap.wrap(one.card.ask, width(), initial_indent=start, subsequent_indent=" " * len(start))
    new = sum(one.when is None for one in found)
    due = sum(one.today for one in found)
    return [*lines, "", f"{count(len(found), 'card')}: {due} due, {new} new", f"Next: {command(topic)}"]


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

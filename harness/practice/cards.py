"""The quiz: the questions of all katas as cards that come back when they are about to be forgotten."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from harness.catalogue import QUESTION_TOPICS, Kata
from harness.errors import UsageError
from harness.practice.records import Review
from harness.practice.schedule import by_today, next_due


@dataclass(frozen=True)
class Card:
    """One question. ``id`` is the kata and a digest of the question, so a question put anew is a new card."""

    id: str
    kata: str
    topic: str
    ask: str
    answer: str


@dataclass(frozen=True)
class Standing:
    """A card and its answers so far; ``when`` it is due (UTC), None where it was never answered; ``today`` whether that
    is today or was before, by local days."""

    card: Card
    reviews: tuple[Review, ...]
    when: datetime | None
    today: bool

    def after(self, review: Review) -> datetime:
        """When it is due once this answer counts too."""
        when = _due([*self.reviews, review])
        assert when is not None  # it has an answer
        return when


def cards_of(katas: Iterable[Kata]) -> tuple[Card, ...]:
    """Every question, in the catalogue's order."""
    return tuple(
        Card(f"{kata.name}/{hashlib.sha256(question.ask.encode()).hexdigest()[:12]}", kata.name, question.topic,
             question.ask, question.answer)
        for kata in katas for question in kata.questions
    )  # fmt: skip


def about(cards: Iterable[Card], topic: str | None) -> tuple[Card, ...]:
    """The cards of a topic, or of a kata; all for None. UsageError where there are none."""
    cards = tuple(cards)
    chosen = tuple(card for card in cards if topic in (None, card.topic, card.kata))
    if not chosen:
        katas = ", ".join(dict.fromkeys(card.kata for card in cards))
        raise UsageError(f"there are no questions about {topic!r}",
                         remedy=f"Topics: {', '.join(QUESTION_TOPICS)}. Or a kata: {katas}.")  # fmt: skip
    return chosen


def standings(
    cards: Iterable[Card], reviews: Iterable[Review], now: datetime, zone: tzinfo | None = None
) -> list[Standing]:
    """What is known of each card, in the order given."""
    answers = defaultdict(list)
    for review in reviews:
        answers[review.card].append(review)
    found = []
    for card in cards:
        when = _due(answers[card.id])
        found.append(Standing(card, tuple(answers[card.id]), when, when is not None and by_today(when, now, zone)))
    return found


def deal(found: Sequence[Standing], number: int, chance: random.Random, *, ahead: bool = False) -> list[Standing]:
    """At most ``number`` cards to ask now: those due, the longest overdue first; then new ones, shuffled so that topics
    mix; and with ``ahead`` those that are not due yet, soonest first."""
    waiting = sorted((one for one in found if one.when is not None), key=lambda one: (one.when, one.card.id))
    new = [one for one in found if one.when is None]
    chance.shuffle(new)
    early = [one for one in waiting if not one.today] if ahead else []
    return [*(one for one in waiting if one.today), *new, *early][:number]


def _due(reviews: Iterable[Review]) -> datetime | None:
    return next_due((review.when, review.grade) for review in reviews)

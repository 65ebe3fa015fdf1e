from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import UsageError
from harness.practice.cards import about, cards_of, deal, standings
from harness.practice.records import Grade, Review
from tests.practice.making import NOON

CARDS = cards_of(catalogue.load_all())


def test_there_are_at_least_sixty_cards_and_some_on_every_topic() -> None:
    assert len(CARDS) >= 60
    topics = Counter(card.topic for card in CARDS)
    assert set(topics) == set(catalogue.QUESTION_TOPICS) and min(topics.values()) >= 8


def test_each_card_has_a_name_of_its_own_that_stays() -> None:
    assert len({card.id for card in CARDS}) == len(CARDS)
    assert cards_of(catalogue.load_all()) == CARDS


def test_a_question_put_anew_is_a_new_card(home: Path) -> None:
    before = cards_of(catalogue.load_all())
    toml = home / "katas/add/kata.toml"
    toml.write_text(toml.read_text().replace("Question 2?", "Question 2, really?").replace("Answer 1.", "Better."))
    after = cards_of(catalogue.load_all())
    assert [one.id == other.id for one, other in zip(before, after, strict=True)] == [True, False, True]


def test_a_topic_and_a_kata_choose_cards() -> None:
    assert {card.topic for card in about(CARDS, "warps")} == {"warps"}
    assert {card.kata for card in about(CARDS, "softmax")} == {"softmax"}
    assert about(CARDS, None) == CARDS


def test_an_unknown_topic_is_told_the_list() -> None:
    with pytest.raises(UsageError, match="'wraps'") as caught:
        about(CARDS, "wraps")
    assert caught.value.remedy
    assert all(topic in caught.value.remedy for topic in catalogue.QUESTION_TOPICS)
    assert "sgemm_tile" in caught.value.remedy


def test_due_cards_come_before_new_ones_and_those_that_are_not_due_wait() -> None:
    first, second, third = CARDS[:3]
    reviews = [
        Review(NOON - timedelta(days=9), first.id, Grade.AGAIN),
        Review(NOON - timedelta(days=30), second.id, Grade.HARD),
        Review(NOON, third.id, Grade.EASY),
        Review(NOON, "left/the catalogue", Grade.GOOD),
    ]
    found = standings(CARDS, reviews, NOON)
    dealt = deal(found, 1000, random.Random(1))
    assert [one.card for one in dealt[:2]] == [second, first]
    assert {one.card for one in dealt[2:]} == set(CARDS[3:])
    ahead = deal(found, 1000, random.Random(1), ahead=True)
    assert ahead[:-1] == dealt and ahead[-1].card == third
    assert deal(found, 5, random.Random(1)) == dealt[:5]


def test_new_cards_are_shuffled_by_the_source_given() -> None:
    found = standings(CARDS, [], NOON)
    orders = [[one.card.id for one in deal(found, 99, random.Random(seed))] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(card.id for card in CARDS)


def test_an_answer_moves_its_card() -> None:
    (standing, *_) = standings(CARDS[:1], [Review(NOON, CARDS[0].id, Grade.GOOD)], NOON + timedelta(days=9))
    assert standing.today
    now = NOON + timedelta(days=9)
    again, easy = (standing.after(Review(now, CARDS[0].id, grade)) for grade in (Grade.AGAIN, Grade.EASY))
    assert now < again < easy

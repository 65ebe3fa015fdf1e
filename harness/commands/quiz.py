"""``kata quiz``: what an interviewer asks next, as cards to grade oneself by."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.remembering import opened_history
from harness.commands.shared import json_option, one_form, say, say_json

if TYPE_CHECKING:
    from harness.practice.cards import Standing
    from harness.practice.history import History
    from harness.practice.records import Grade

#: Cards of a sitting unless ``-n`` says otherwise.
CARDS = 10

QUIT = "q"
_LEAVE = {QUIT: QUIT, "x": QUIT}  # x leaves everything else
SHOW = {" ": "show", "\r": "show", "\n": "show", "": "show"} | _LEAVE
GRADES = {"1": "again", "2": "hard", "3": "good", "4": "easy"} | _LEAVE


@dataclass(frozen=True)
class Input:
    """Where choices come from: ``read`` answers a key or a line, EOFError at the end; ``show`` names what asks for the
    answer; ``echoes`` says whether what is typed, and its line end, is on the screen already."""

    read: Callable[[], str]
    show: str
    echoes: bool


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [word for word in (*catalogue.QUESTION_TOPICS, *catalogue.folders()) if word.startswith(incomplete)]


@click.command("quiz")
@click.argument("topic", required=False, shell_complete=_complete)
@click.option("-n", "number", type=click.IntRange(1), default=CARDS, metavar="N", help=f"How many cards ({CARDS}).")
@click.option("--ahead", is_flag=True, help="Ask those too that are not due yet.")
@click.option("--plain", is_flag=True, help="Read lines, not keys; as it is where there is no terminal.")
@click.option("--list", "as_list", is_flag=True, help="Show the questions and when each is due; ask nothing.")
@json_option
def command(topic: str | None, number: int, ahead: bool, plain: bool, as_list: bool, as_json: bool) -> None:
    """Answer an interviewer's questions, and grade yourself.

    TOPIC is reductions, memory, warps, numerics, gemm or a kata; all unless given. What you knew badly comes again
    soon, what you knew well later.

    \b
    Example:  kata quiz warps
    """
    one_form(as_list=as_list, as_json=as_json)
    from harness.practice.cards import about, cards_of, deal, standings
    from harness.reports import quiz

    now = datetime.now(UTC)
    cards = about(cards_of(catalogue.load_all()), topic)
    with opened_history() as history:
        found = standings(cards, history.reviews(), now)
        if as_json:
            say_json(quiz.cards_record(found))
        elif as_list:
            say("\n".join(quiz.list_lines(found, now, topic)))
        else:
            dealt = deal(found, number, random.Random(), ahead=ahead)
            ready = sum(one.today or one.when is None for one in found)
            if dealt:
                grades = _sit(history, dealt, _input(plain))
                say("\n" + "\n".join(quiz.closing_lines(grades, ready - len(grades), topic)))
            else:
                say("\n".join(quiz.none_lines(topic)))


def _sit(history: History, dealt: list[Standing], typed: Input) -> list[Grade]:
    """Ask each card until all are answered or the person has had enough. Each answer is kept at once."""
    from harness.practice.records import Grade
    from harness.reports import quiz

    keys = "   ".join(f"{key} {quiz.WORDS[Grade[GRADES[key].upper()]]}" for key in "1234")
    grades: list[Grade] = []
    for index, standing in enumerate(dealt, 1):
        say("\n".join(quiz.question_lines(standing, index, len(dealt))))
        if _choose(f"{typed.show}: the answer   q: quit", SHOW, typed) == QUIT:
            break
        say("\n".join(quiz.answer_lines(standing)))
        chosen = _choose(f"you knew it: {keys}   q: quit", GRADES, typed)
        if chosen == QUIT:
            break
        grade = Grade[chosen.upper()]
        review = history.review(standing.card.id, grade)
        say(quiz.graded_line(grade, standing.after(review), review.when) + "\n")
        grades.append(grade)
    return grades


def _choose(prompt: str, choices: Mapping[str, str], typed: Input) -> str:
    """What one of the ``choices`` means; asked again until one is given. The end of the input is quitting."""
    while True:
        say(f"  [{prompt}] ", end="")
        try:
            given = typed.read()
        except EOFError:
            given = QUIT
        if not typed.echoes:
            say()
        if given.lower() in choices:
            return choices[given.lower()]


def _input(plain: bool) -> Input:
    if not plain and sys.stdin.isatty() and sys.stdout.isatty():
        return Input(click.getchar, "space", echoes=False)

    def line() -> str:
        sys.stdout.flush()
        text = sys.stdin.readline()
        if not text:
            raise EOFError
        return text.strip()

    return Input(line, "Enter", echoes=sys.stdin.isatty())

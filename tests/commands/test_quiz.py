from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CTRL_C, PATIENCE, Run, command, environment, press
from tests.practice.making import opened


def typed(text: str, desk: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The quiz with these lines at its standard input."""
    return subprocess.run(
        command("quiz", *arguments), cwd=desk, env=environment(), input=text, capture_output=True, encoding="utf-8",
        check=False,
    )  # fmt: skip


def test_cards_are_asked_answered_and_graded_line_by_line(home: Path, desk: Path, memory: Path) -> None:
    done = typed("\n3\n\n1\n\n4\n", desk)
    assert done.returncode == 0 and done.stderr == ""
    for number in (1, 2, 3):
        assert f"Question {number}?" in done.stdout and f"Answer {number}." in done.stdout
    assert done.stdout.index("Question") < done.stdout.index("Answer")
    assert "3 cards answered: 1 not, 1 well, 1 at once; 0 due or new." in done.stdout
    with opened(memory) as history:
        assert [one.grade.word for one in history.reviews()] == ["good", "again", "easy"]
    assert "No card is due" in typed("", desk).stdout


def test_it_can_be_left_at_any_time_and_answers_stay(home: Path, desk: Path, memory: Path) -> None:
    for text, kept in (("", 0), ("q\n", 0), ("\nq\n", 0), ("\n", 0), ("\n2\nq\n", 1)):
        done = typed(text, desk)
        assert done.returncode == 0, done.stderr
        with opened(memory) as history:
            assert len(history.reviews()) == kept


def test_what_is_no_choice_is_asked_again(home: Path, desk: Path, memory: Path) -> None:
    done = typed("z\n\n7\n\nGOOD\n3\nQ\n", desk)
    assert "1 card answered: 1 well; 2 due or new." in done.stdout
    assert done.stdout.splitlines()[-1] == "Next: kata quiz"


def test_as_many_are_asked_as_wanted(home: Path, desk: Path) -> None:
    for leave in "qx":
        assert "1 of 2" in typed(f"{leave}\n", desk, "-n", "2").stdout
    assert "1 card answered" in typed("\n3\n", desk, "-n", "1").stdout


def test_the_words_of_the_keys_are_the_words_of_what_follows(home: Path, desk: Path) -> None:
    done = typed("\n1\n\n2\n\n3\n", desk)
    assert "you knew it: 1 not   2 hardly   3 well   4 at once" in done.stdout
    for said in ("  not: it comes again in 1 day", "  hardly: it comes", "  well: it comes", "1 not, 1 hardly, 1 well"):
        assert said in done.stdout
    assert not {"again:", "hard:", "good:", "good"} & set(done.stdout.split())


def test_a_topic_is_gone_on_with(home: Path, desk: Path) -> None:
    assert typed("\n3\n", desk, "memory", "-n", "1").stdout.splitlines()[-1] == "Next: kata quiz memory"
    assert typed("", desk, "memory", "--list").stdout.splitlines()[-1] == "Next: kata quiz memory"
    typed("\n3\n\n3\n", desk, "memory")
    assert "Next: kata quiz memory --ahead" in typed("", desk, "memory").stdout


def test_not_due_yet_can_be_asked_ahead(home: Path, desk: Path) -> None:
    typed("\n3\n\n3\n\n3\n", desk)
    assert "1 of 3" in typed("q\n", desk, "--ahead").stdout


def test_the_list_and_json_ask_nothing(home: Path, desk: Path, kata: Run) -> None:
    typed("\n4\n", desk, "-n", "1")
    lines = kata("quiz", "--list").stdout.splitlines()
    assert sum("memory" in line for line in lines) == 3 and "3 cards: 0 due, 2 new" in lines
    assert max(map(len, lines)) <= 80
    cards = json.loads(kata("quiz", "--json").stdout)["cards"]
    assert sorted(card["answers"] for card in cards) == [0, 0, 1]
    assert {card["due"] is None for card in cards if card["answers"]} == {False}


def test_an_unknown_topic_is_told_the_list(home: Path, kata: Run) -> None:
    done = kata("quiz", "wraps")
    assert done.returncode == 2 and "reductions, memory, warps, numerics, gemm" in " ".join(done.stderr.split())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_at_a_terminal_single_keys_do(home: Path, desk: Path, memory: Path) -> None:
    import pexpect

    program, *arguments = command("quiz")
    child = pexpect.spawn(program, arguments, cwd=str(desk), env=environment(), timeout=PATIENCE, encoding="utf-8")
    for key in "31":
        child.expect("space: the answer")
        press(child, " ", "4 at once")
        press(child, key, "it comes again in")
    child.expect("space: the answer")
    press(child, CTRL_C, "stopped")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    with opened(memory) as history:
        assert [int(one.grade) for one in history.reviews()] == [3, 1]

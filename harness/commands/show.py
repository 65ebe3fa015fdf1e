"""``kata show``: the question."""

from __future__ import annotations

import click

from harness import catalogue
from harness.commands.shared import kata_argument, page, say
from harness.errors import CatalogueError


@click.command("show")
@kata_argument
def command(name: str) -> None:
    """Show the question of a kata.

    \b
    Example:  kata show softmax
    """
    kata = catalogue.load(name)
    try:
        question = kata.question.read_text(encoding="utf-8")
    except OSError as error:
        raise CatalogueError(f"can't read the question: {error.strerror}", file=str(kata.question)) from error
    from rich.markdown import Markdown

    page(Markdown(question, hyperlinks=False, code_theme="ansi_dark"))
    say(f"\n{kata.signature}")
    say(f"{kata.minutes} minutes in an interview · asked: {kata.frequency} · topics: {', '.join(kata.topics)}")
    say(f"\nNext: kata start {name}, then kata check {name}")

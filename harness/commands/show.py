"""``kata show``: the question."""

from __future__ import annotations

import click

from harness import catalogue
from harness.commands.shared import kata_argument, page, question_of, say


@click.command("show")
@kata_argument
def command(name: str) -> None:
    """Show the question of a kata.

    \b
    Example:  kata show softmax
    """
    kata = catalogue.load(name)
    question = question_of(kata)
    from rich.markdown import Markdown

    page(Markdown(question, hyperlinks=False, code_theme="ansi_dark"))
    if kata.signature not in question:
        say(f"\n{kata.signature}")
    say(f"\nAsked: {kata.frequency} · topics: {', '.join(kata.topics)}")
    say(f"\nNext: kata start {name}, then kata check {name}")

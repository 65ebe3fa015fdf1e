"""``kata watch``: checked on every save, without a clock."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness import catalogue
from harness.commands.attempts import exit_code, play, seed, tell
from harness.commands.check import resolve
from harness.commands.remembering import opened_history
from harness.commands.shared import (
    device_option,
    file_argument,
    gpu_index_option,
    gpu_option,
    kata_argument,
    predicting,
    say,
)


@click.command("watch")
@kata_argument
@file_argument
@click.option("--plain", is_flag=True, help="Lines instead of a screen with keys; always so in a pipe.")
@device_option
@gpu_index_option
@gpu_option
@click.pass_context
def command(
    context: click.Context, name: str, file: Path | None, plain: bool, device: str, gpu_index: int, gpu: str
) -> None:  # fmt: skip
    """Check your kernel on every save.

    FILE is ./NAME.cu unless given. It ends with x or Ctrl-C, and the exit code of the last check.

    \b
    Example:  kata watch softmax
    """
    from harness.practice.editor import find_editor
    from harness.practice.rules import Rules
    from harness.practice.session import Session
    from harness.reports.attempt import closing_page

    kata = catalogue.load(name)
    path = resolve(kata, file)
    session = Session(Rules(len(kata.hints)), seed)
    editor = find_editor(os.environ)
    device = predicting(context, device)
    with opened_history() as history:
        play(session, kata, path, history, None, editor, lambda: "",
             plain=plain, device=device, gpu_index=gpu_index, gpu=gpu)  # fmt: skip
        tell(history)
    say(closing_page(session, kata, path))
    context.exit(exit_code(session))

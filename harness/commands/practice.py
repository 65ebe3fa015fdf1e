"""``kata practice``: one kata against the clock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import catalogue
from harness.commands.attempts import can_be_live, exit_code, now, play, seed, tell
from harness.commands.remembering import opened_history
from harness.commands.shared import (
    device_option,
    gpu_index_option,
    gpu_option,
    optional_kata_argument,
    page,
    predicting,
    question_of,
    say,
)
from harness.errors import UsageError
from harness.reports.text import shown_path, wrap

if TYPE_CHECKING:
    from harness.catalogue import Kata
    from harness.practice.editor import Editor
    from harness.practice.history import History
    from harness.practice.records import Attempt
    from harness.practice.session import Session


#: Minutes of a day: whoever asks for more has no clock.
LONGEST = 24 * 60


def _minutes(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Above 0 and up to :data:`LONGEST`; a range of click's lets "nan" pass."""
    if value is None or 0 < value <= LONGEST:
        return value
    raise click.BadParameter(f"{value:g} is not above 0 and up to {LONGEST}", context, option)


@click.command("practice")
@optional_kata_argument
@click.option("--minutes", type=float, callback=_minutes, metavar="M", help="Another time than the kata's.")
@click.option("--interview", is_flag=True, help="As the real thing: no checks until you submit, once.")
@click.option("--new", is_flag=True, help="Begin anew; an attempt that is still open counts as given up.")
@click.option("--no-editor", is_flag=True, help="Don't open $VISUAL or $EDITOR.")
@click.option("--plain", is_flag=True, help="Lines instead of a screen with keys; always so in a pipe.")
@device_option
@gpu_index_option
@gpu_option
@click.pass_context
def command(
    context: click.Context, name: str | None, minutes: float | None, interview: bool, new: bool, no_editor: bool,
    plain: bool, device: str, gpu_index: int, gpu: str,
) -> None:  # fmt: skip
    """Practise a kata against the clock.

    NAME, or the one that is due. You get a fresh ./NAME.cu (an earlier one is kept, dated), and every save is
    checked. An attempt that you left goes on where it was. It ends with the exit codes of kata check; 1 too when you
    give up or leave.

    \b
    Example:  kata practice softmax
              kata practice softmax --interview
    """
    from harness.practice.editor import find_editor

    device = predicting(context, device)
    editor = None if no_editor else find_editor(os.environ)
    with opened_history() as history:
        kata, why = _choose(name, history)
        with _alone(kata):
            if why:
                say("\n".join(wrap(f"{kata.name}: {why}", indent="")))
            attempt = _open_attempt(kata, history, new=new)
            session = _run(kata, history, attempt, editor, minutes=minutes, interview=interview,
                           plain=plain, device=device, gpu_index=gpu_index, gpu=gpu)  # fmt: skip
    context.exit(exit_code(session))


@contextmanager
def _alone(kata: Kata) -> Iterator[None]:
    """UsageError while another process practises the kata: two clocks on one attempt and one file."""
    from harness.practice.history import data_folder
    from harness.practice.lock import HeldElsewhere, held

    mine = f"since {now().astimezone():%d %B, %H:%M}, process {os.getpid()}"
    try:
        with held(data_folder() / f"{kata.name}.lock", mine):
            yield
    except HeldElsewhere as error:
        which = f" ({error})" if str(error) else ""
        remedy = "Go on there; or leave it there with x, and it goes on here."
        raise UsageError(f"{kata.name} is being practised in another terminal{which}", remedy=remedy) from error


def _choose(name: str | None, history: History) -> tuple[Kata, str]:
    """The kata to practise, and why it is that one where the person didn't say."""
    if name is not None:
        return catalogue.load(name), ""
    katas = {kata.name: kata for kata in catalogue.load_all()}
    left = next((attempt for attempt in history.open_attempts() if attempt.kata in katas), None)
    if left is not None:
        return katas[left.kata], "you left an attempt at it"
    from harness.practice.schedule import due

    first = due(history, katas.values(), now())[0]
    return katas[first.kata], first.why


def _open_attempt(kata: Kata, history: History, *, new: bool) -> Attempt | None:
    """The attempt to go on with, if any. Where a new one is wanted, all that are open are given up."""
    from harness.practice.records import Ending

    attempts = history.open_attempts(kata.name)
    if not new:
        return attempts[0] if attempts else None
    for attempt in attempts:
        history.finish(attempt.id, Ending.GAVE_UP, None, None, attempt.used, attempt.hints)
    return None


def _going_on(attempt: Attempt, minutes: float | None, interview: bool) -> str:
    from harness.reports.attempt import time_left

    left = max(attempt.minutes * 60 - attempt.used, 0)
    text = f"Going on with your attempt of {attempt.began.astimezone():%d %B, %H:%M}: {time_left(left)} left."
    if (minutes and minutes != attempt.minutes) or (interview and not attempt.interview):
        text += " It keeps its rules; --new begins another."
    return text


def _run(
    kata: Kata, history: History, attempt: Attempt | None, editor: Editor | None, *, minutes: float | None,
    interview: bool, plain: bool, device: str, gpu_index: int, gpu: str,
) -> Session:  # fmt: skip
    """A session from its first screen to its last page: a new attempt, or the rest of ``attempt``."""
    from rich.markdown import Markdown

    from harness.practice.attempt import kept_as, lay_ready

    path = Path(shown_path(Path(attempt.file))) if attempt else Path(f"{kata.name}.cu")
    skeleton, began = kata.skeleton.read_bytes(), now().astimezone()
    kept: list[str] = []

    def make_file() -> str:
        if attempt is None or not path.exists():
            kept.append(_kept(path, lay_ready(path, skeleton, began)))
        return "".join(kept)

    if attempt is not None:
        say("\n".join(wrap(_going_on(attempt, minutes, interview), indent="")))
    notice = _kept(path, kept_as(path, skeleton, began)) if attempt is None else ""
    session = _session(kata, attempt, minutes or float(kata.minutes), interview, notice)
    if plain or not can_be_live():
        page(Markdown(question_of(kata), hyperlinks=False, code_theme="ansi_dark"))
        say(f"\n{kata.signature}\n")
    play(session, kata, path, history, attempt, editor, make_file,
         plain=plain, device=device, gpu_index=gpu_index, gpu=gpu)  # fmt: skip
    _close(session, kata, path, history, [remark for remark in kept if remark])
    return session


def _session(kata: Kata, attempt: Attempt | None, minutes: float, interview: bool, notice: str) -> Session:
    from harness.practice.rules import Rules
    from harness.practice.session import Session

    if attempt is None:
        return Session(Rules(len(kata.hints), minutes, interview), seed, notice=notice)
    rules = Rules(len(kata.hints), attempt.minutes, attempt.interview)
    return Session(rules, seed, used=attempt.used, hints=attempt.hints)


def _kept(path: Path, earlier: Path | None) -> str:
    return f"Your {shown_path(path)} is kept as {shown_path(earlier)}." if earlier else ""


def _close(session: Session, kata: Kata, path: Path, history: History, remarks: list[str]) -> None:
    """The last page: the answer first, the next step last."""
    from harness.practice.rules import Phase
    from harness.reports.attempt import closing_page

    tell(history)
    rated = _rated(kata, history) if session.phase is Phase.OVER else ""
    say(closing_page(session, kata, path, rated=rated, remarks=remarks))


def _rated(kata: Kata, history: History) -> str:
    """How the attempt that has just ended counts, and when the kata comes again."""
    from harness.practice.schedule import due, rate

    attempt = next(one for one in history.attempts(kata.name) if one.ending is not None)
    rating = rate(attempt, kata.par)
    when = due(history, [kata], now())[0].when
    day = when.astimezone() if when else None
    again = f", due on {day.day} {day:%B}" if day else ""
    return f"Rated {rating.grade.word} ({rating.brief}){again}"

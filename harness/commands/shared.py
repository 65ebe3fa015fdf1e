"""What several commands need: the NAME argument, printing, asking before anything is replaced."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness import catalogue
from harness.errors import EnvironmentFault, UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in catalogue.folders() if name.startswith(incomplete)]


def kata_argument(function: _Command) -> _Command:
    """The positional NAME of a kata, with completion."""
    return click.argument("name", shell_complete=_complete)(function)


def json_option(function: _Command) -> _Command:
    """``--json``: the same answer for a program."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")(function)


def gpu_index_option(function: _Command) -> _Command:
    """``--gpu-index``: which of several GPUs."""
    return click.option(
        "--gpu-index", type=click.IntRange(0), default=0, metavar="N", help="Which GPU, where there are several."
    )(function)


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print, without colours when piped or when NO_COLOR is set."""
    stream = sys.stderr if err else sys.stdout  # named, or click would write UTF-8 to an ASCII stream
    click.echo(text + end, file=stream, nl=False, color=False if os.environ.get("NO_COLOR") else None)


def say_json(record: dict[str, Any]) -> None:
    """Print one JSON object; ASCII, so that any encoding carries it."""
    click.echo(json.dumps(record, indent=2))


def page(*renderables: RenderableType) -> None:
    """Print rich text: Markdown, highlighted code."""
    from rich.console import Console

    from harness.reports.text import width

    console = Console(width=width(), highlight=False, markup=False, emoji=False)
    with console.capture() as capture:  # rich would end the process itself on a closed pipe
        console.print(*renderables)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()))


def allow(question: str, *, force: bool, remedy: str) -> None:
    """Ask before something of the user's is replaced. UsageError where nobody can answer, or the answer is no."""
    if force:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question.rstrip('?')}: not without asking, and nobody is there to answer", remedy=remedy)
    if not click.confirm(question, default=False):
        raise UsageError("left as it was")


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all. EnvironmentFault names what the system refused."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise EnvironmentFault(f"can't write {path}: {error.strerror}", remedy="Choose another folder.") from error
    finally:
        partial.unlink(missing_ok=True)

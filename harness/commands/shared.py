"""What several commands need: the NAME argument, printing, asking before anything is replaced."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from harness import catalogue
from harness.errors import CatalogueError, EnvironmentFault, UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.catalogue import Kata

#: The GPU whose time is predicted unless ``--gpu`` names another; here too, so that commands start without a simulator.
GPU = "a100"

_Command = TypeVar("_Command", bound=Callable[..., Any])


def complete_kata(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of katas that begin like this."""
    return [name for name in catalogue.folders() if name.startswith(incomplete)]


def kata_argument(function: _Command) -> _Command:
    """The positional NAME of a kata, with completion."""
    return click.argument("name", shell_complete=complete_kata)(function)


def file_argument(function: _Command) -> _Command:
    """The positional FILE after NAME, which may be left out; or FILE in place of NAME, where it is named after it."""
    return click.argument("file", required=False, type=click.Path(path_type=Path), callback=_file)(function)


def _file(context: click.Context, _parameter: click.Parameter, file: Path | None) -> Path | None:
    first = Path(context.params["name"])
    if file is None and first.suffix == ".cu" and first.is_file() and first.stem in catalogue.folders():
        context.params["name"] = first.stem
        return first
    return file


def optional_kata_argument(function: _Command) -> _Command:
    """The positional NAME of a kata, which may be left out."""
    return click.argument("name", required=False, shell_complete=complete_kata)(function)


def csv_option(function: _Command) -> _Command:
    """``--csv``: the same answer for a spreadsheet."""
    return click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")(function)


def one_form(**asked: bool) -> None:
    """UsageError where more than one of these ways to answer was asked for."""
    names = [f"--{name.removeprefix('as_').rstrip('_')}" for name, wanted in asked.items() if wanted]
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} do not go together", remedy="Ask for one of them.")


def json_option(function: _Command) -> _Command:
    """``--json``: the same answer for a program."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")(function)


def device_option(function: _Command) -> _Command:
    """``--device``: where kernels run."""
    return click.option(
        "--device", type=click.Choice(["auto", "gpu", "sim"]), default="auto",
        help="Where to run it; auto is a GPU if there is one that can be used.",
    )(function)  # fmt: skip


def gpu_index_option(function: _Command) -> _Command:
    """``--gpu-index``: which of several GPUs."""
    return click.option(
        "--gpu-index", type=click.IntRange(0), default=0, metavar="N", help="Which GPU, where there are several."
    )(function)


def _complete_gpu(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from harness.simulator.gpus import names

    return [name for name in names() if name.startswith(incomplete)]


def gpu_option(function: _Command) -> _Command:
    """``--gpu``: for which GPU a time is predicted."""
    return click.option(
        "--gpu", default=GPU, metavar="NAME", show_default=True, shell_complete=_complete_gpu,
        help="Predict the time on this GPU.",
    )(function)  # fmt: skip


def predicting(context: click.Context, device: str) -> str:
    """The device, which is the simulator where ``--gpu`` was given by hand. UsageError for a GPU that is not known, and
    where one was asked for to run on as well."""
    from harness.simulator.gpus import load_gpu

    load_gpu(context.params["gpu"])
    if context.get_parameter_source("gpu") is not ParameterSource.COMMANDLINE:
        return device
    if device == "gpu":
        remedy = "leave one of them out: --gpu predicts what --device gpu would measure"
        raise UsageError("--gpu is for a time without a GPU, and --device gpu takes one", remedy=remedy)
    return "sim"


class PassingLine:
    """One line that is there while something runs: each text takes the place of the one before, and none is left.
    Only where ``stream`` is a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.live = stream.isatty()
        self._columns = 0

    def show(self, text: str) -> None:
        """Show this in place of what is there, cut where the terminal ends: a second row would stay."""
        from harness.reports.text import width

        bare = click.unstyle(text)
        if len(bare) >= width():
            text = bare = bare[: width() - 1]
        self._print("\r" + text + " " * (self._columns - len(bare)))
        self._columns = len(bare)

    def clear(self) -> None:
        """Leave an empty line, to write on."""
        if self._columns:
            self._print("\r" + " " * self._columns + "\r")
        self._columns = 0

    def _print(self, text: str) -> None:
        if self.live:
            _print(text, self.stream)


@contextmanager
def waiting(message: str) -> Iterator[bool]:
    """A line on a terminal while something runs that takes a moment; gives whether it can be seen."""
    line = PassingLine(sys.stderr)
    line.show(f"  {message} ...")
    try:
        yield line.live
    finally:
        line.clear()


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print, without colours when piped or when NO_COLOR is set."""
    _print(text + end, sys.stderr if err else sys.stdout)


def _print(text: str, stream: IO[str]) -> None:
    """``stream`` is named, or click would write UTF-8 to an ASCII one."""
    click.echo(text, file=stream, nl=False, color=False if os.environ.get("NO_COLOR") else None)


def say_json(record: dict[str, Any]) -> None:
    """Print one JSON object; ASCII, so that any encoding carries it."""
    click.echo(json.dumps(record, indent=2))


def question_of(kata: Kata) -> str:
    """The question, as Markdown. CatalogueError where it can't be read."""
    try:
        return kata.question.read_text(encoding="utf-8")
    except OSError as error:
        raise CatalogueError(f"can't read the question: {error.strerror}", file=str(kata.question)) from error


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
    if not click.confirm(question, default=False, err=True):
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

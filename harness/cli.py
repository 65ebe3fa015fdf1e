"""The ``kata`` command: a lazy click group, and the one place where errors become words and exit codes."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from harness.errors import EnvironmentFault, KataError, UsageError

#: Verbs in the order a person meets them; each is ``harness.commands.<verb>.command``.
VERBS = (
    "list", "show", "practice", "start", "check", "watch", "profile", "report", "bench", "hint", "solution", "history",
    "stats", "quiz", "reset", "doctor", "verify",
)  # fmt: skip

#: As a shell reports a process ended by SIGINT or SIGPIPE.
INTERRUPTED, CLOSED_PIPE = 130, 141

#: EX_SOFTWARE of sysexits.h.
OUR_FAULT = 70

_BUG = "kata itself failed: a bug, not your kernel. Please report it with the lines above."


class _ClosedPipe(Exception):
    """Whoever read our output has gone: not an error of ours, and nobody to tell."""


@contextmanager
def _noticing_a_closed_pipe() -> Iterator[None]:
    """Keep a closed pipe from click, which would make exit code 1 of it: here that means "wrong"."""
    try:
        yield
    except BrokenPipeError as error:
        raise _ClosedPipe from error


class Verbs(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"harness.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verb = args[0]
        if verb not in VERBS and not verb.startswith("-") and not ctx.resilient_parsing:
            import difflib

            from harness import catalogue

            close = difflib.get_close_matches(verb, VERBS, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            if verb in catalogue.folders():
                hint = f" It is a kata: kata show {verb}"
            raise click.UsageError(f"There is no command {verb!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _noticing_a_closed_pipe():  # --help and --version print here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _noticing_a_closed_pipe():
            return super().invoke(ctx)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="cuda-kata", prog_name="kata")
def cli() -> None:
    """Practise CUDA interview questions on any machine, with or without a GPU.

    Your kernel is compiled by NVIDIA's compiler, run, and compared with a hidden reference.

    \b
    Example:
      kata list               what there is to practise
      kata show softmax       the question
      kata start softmax      a skeleton to edit: softmax.cu
      kata check softmax      right or wrong, and why
      kata profile softmax    what makes it slow, line by line

    \b
    Exit codes: 0 right, 1 wrong, 2 usage, 3 compile error or refused,
    4 kernel fault, 5 something this machine lacks.

    \b
    Completion (bash; zsh and fish alike):
      eval "$(_KATA_COMPLETE=bash_source kata)"
    """


def _replace_closed_streams() -> None:
    """Started with ``>&-``, Python has None for a stream; what is printed then goes nowhere."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  for the process's life
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def main() -> NoReturn:
    """Run the command line and exit."""
    from harness.reports.text import fit_streams

    _replace_closed_streams()
    fit_streams()
    try:
        code = cli.main(prog_name="kata", standalone_mode=False)
        sys.stdout.flush()
    except (_ClosedPipe, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered has nowhere to go
        code = CLOSED_PIPE
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        code = INTERRUPTED
    except click.ClickException as error:
        if _for_programs():
            _show(UsageError(error.format_message()))
        else:
            error.show()
        code = error.exit_code
    except KataError as error:
        _show(error)
        code = error.exit_code
    except MemoryError:
        click.echo("kata: this machine has too little memory for that check", err=True)
        code = EnvironmentFault.exit_code
    except Exception as error:  # noqa: BLE001  a bug must not leave with exit code 1, which means "wrong"
        missing = _missing(error)
        if missing is None:
            traceback.print_exc()
        click.echo(missing or _BUG, err=True)
        code = OUR_FAULT if missing is None else EnvironmentFault.exit_code
    sys.exit(code if isinstance(code, int) else 0)


def _missing(error: Exception) -> str | None:
    """What the machine lacks, where that is all there is to an error that nobody expected."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return f"kata: can't write: {error.strerror}"
    try:
        Path.cwd()
    except OSError:
        return "kata: the folder that you are in is gone; cd to another"
    return None


def _for_programs() -> bool:
    """Whether JSON was asked for, in whatever else the command line is wrong."""
    return "--json" in sys.argv[1:]


def _show(error: KataError) -> None:
    from harness.commands.shared import say, say_json

    if _for_programs():
        from harness.reports.jsonout import error_record

        say_json(error_record(error))
        return
    from harness.reports.terminal import error_page

    say(error_page(error), err=True)


if __name__ == "__main__":
    main()

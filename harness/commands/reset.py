"""``kata reset``: back to the skeleton, the old file kept."""

from __future__ import annotations

import itertools
from pathlib import Path

import click

from harness import catalogue
from harness.commands.shared import allow, kata_argument, say, write
from harness.errors import EnvironmentFault, UsageError
from harness.reports.text import shown_path


@click.command("reset")
@kata_argument
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Don't ask.")
def command(name: str, folder: Path, force: bool) -> None:
    """Start a kata over, keeping your file.

    The skeleton takes its place, and yours is renamed to NAME.cu.1.bak (2, 3, ...).

    \b
    Example:  kata reset softmax
    """
    kata = catalogue.load(name)
    path = folder / f"{name}.cu"
    if not path.is_file():
        raise UsageError(f"there is no {shown_path(path)} to reset", remedy=f"kata start {name} makes one.")
    skeleton = kata.skeleton.read_text(encoding="utf-8")
    if _same(path, skeleton):
        say(f"{shown_path(path)} is the skeleton, untouched: there is nothing to keep.")
        say(f"Next: kata show {name}")
        return
    kept = _free_name(path)
    allow(
        f"Put the skeleton in place of {shown_path(path)}, and keep yours as {kept.name}?", force=force,
        remedy=f"Add --force: kata reset {name} --force",
    )  # fmt: skip
    try:
        path.rename(kept)
    except OSError as error:
        raise EnvironmentFault(f"can't rename {path}: {error.strerror}") from error
    write(path, skeleton)
    say(f"Your file is now {shown_path(kept)}; {shown_path(path)} is the skeleton again.")
    say(f"Next: kata show {name}")


def _same(path: Path, text: str) -> bool:
    """Whether a file holds just this; one that can't be read as text does not."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _free_name(path: Path) -> Path:
    """``softmax.cu.1.bak``, or the first number that is free."""
    candidates = (path.with_name(f"{path.name}.{number}.bak") for number in itertools.count(1))
    return next(candidate for candidate in candidates if not candidate.exists())

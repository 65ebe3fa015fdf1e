"""``kata start``: a skeleton to write in."""

from __future__ import annotations

from pathlib import Path

import click

from harness import catalogue
from harness.commands.shared import allow, kata_argument, say, write
from harness.errors import UsageError
from harness.reports.text import pasted, shown_path


@click.command("start")
@kata_argument
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is already there, without asking.")
def command(name: str, folder: Path, force: bool) -> None:
    """Copy a kata's skeleton to ./NAME.cu, or into DIR.

    \b
    Example:  kata start softmax
    """
    kata = catalogue.load(name)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", remedy=f"Make it first: mkdir -p {folder}")
    path = folder / f"{name}.cu"
    if path.is_dir():
        raise UsageError(f"{path} is a folder", remedy="Name another folder to write the skeleton in.")
    if path.exists():
        allow(
            f"Replace {shown_path(path)} with an empty skeleton?", force=force,
            remedy=f"Keep it and run `kata check {name}`, run `kata reset {name}` (keeps a copy), or add --force.",
        )  # fmt: skip
    write(path, kata.skeleton.read_text(encoding="utf-8"))
    say(f"Wrote {shown_path(path)}: write the kernel and its launch there.")
    where = "" if folder == Path() else f" {pasted(shown_path(path))}"
    say(f"Next: kata check {name}{where}")

"""What is installed, and what the README promises about it."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


def fenced(text: str) -> list[str]:
    """The lines inside a text's fenced blocks."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            lines.append(line)
    return lines


def test_the_wheel_carries_katas_and_solutions_and_no_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (*ROOT.glob("katas/*/*"), *ROOT.glob("solutions/*/*")):
        assert f"harness/data/{path.relative_to(ROOT).as_posix()}" in names
    for path in (ROOT / "harness").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in names
    assert not any(name.startswith(("tests/", "katas/", "solutions/")) for name in names)


def test_ci_runs_the_line_of_the_readme() -> None:
    script = ROOT / ".ci" / "run"
    commands = [line for line in script.read_text(encoding="utf-8").splitlines() if "pytest" in line]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(commands) == 1
    assert commands[0] in fenced(readme)
    if os.name == "posix":
        assert script.stat().st_mode & stat.S_IXUSR


def test_the_files_that_the_readme_names_exist() -> None:
    for line in fenced((ROOT / "README.md").read_text(encoding="utf-8")):
        for word in line.split():
            if word.startswith(("solutions/", "tests/", "katas/")) and word.endswith(".cu"):
                assert (ROOT / word).is_file(), f"{word} is in README.md"

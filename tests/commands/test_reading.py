"""The commands that only show: list, show, hint, solution."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import RIGHT, Run


def test_list_has_a_line_for_each_kata(home: Path, kata: Run) -> None:
    done = kata("list")
    assert done.returncode == 0
    assert "add  low       5  c = a + b, element by element" in done.stdout


def test_list_json_has_the_metadata(home: Path, kata: Run) -> None:
    record = json.loads(kata("list", "--json").stdout)
    assert record["schema"] == 1
    (only,) = record["katas"]
    assert only["name"] == "add"
    assert only["signature"].startswith("void solve(")
    assert only["rungs"] == [{"number": 1, "title": "one thread per element"}]
    assert (only["frequency"], only["minutes"], only["topics"], only["hints"]) == ("low", 5, ["memory"], 3)


def test_show_renders_the_question_and_the_signature(home: Path, kata: Run) -> None:
    done = kata("show", "add")
    assert "Add two vectors" in done.stdout
    assert "#" not in done.stdout
    assert "void solve(const float* a, const float* b, float* c, int n)" in done.stdout
    assert "\x1b" not in done.stdout


def test_hints_come_one_at_a_time(home: Path, kata: Run) -> None:
    first, last = kata("hint", "add").stdout, kata("hint", "add", "3").stdout
    assert "Which element" in first and "Round the number" not in first
    assert first.splitlines()[-1].endswith("kata hint add 2")
    assert "blockDim.x" in last
    assert last.splitlines()[-1].endswith("kata solution add 1")


def test_the_ladder_lists_every_rung(home: Path, kata: Run) -> None:
    done = kata("solution", "add", "--list")
    assert "  1  one thread per element" in done.stdout


def test_a_piped_solution_is_the_file_itself(home: Path, kata: Run) -> None:
    assert kata("solution", "add", "1").stdout == RIGHT
    assert kata("solution", "add").stdout == RIGHT


def test_every_page_fits_80_columns(home: Path, kata: Run) -> None:
    for arguments in (("list",), ("show", "add"), ("hint", "add"), ("solution", "add", "--list")):
        assert max(map(len, kata(*arguments).stdout.splitlines())) <= 80

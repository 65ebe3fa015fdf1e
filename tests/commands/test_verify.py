from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import RIGHT, TAIL, Run

#: Right, but for threads that return before a barrier.
RETURNS_EARLY = RIGHT.replace("if (i < n)", "if (i >= n) return;\n    __syncthreads();\n   ")


def test_a_catalogue_that_holds_is_proved(home: Path, kata: Run) -> None:
    done = kata("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skeleton, 1 solution, 0 right kernels, 4 wrong kernels: all as they must be" in done.stdout


def test_every_discrepancy_is_said_in_words(home: Path, kata: Run) -> None:
    (home / "katas/add/add.cu").write_text(RIGHT, encoding="utf-8")
    (home / "solutions/add/2_wrong.cu").write_text(f"// Rung 2: wrong\n{TAIL}", encoding="utf-8")
    right, wrong = home / "tests/right/add", home / "tests/wrong/add"
    right.mkdir(parents=True)
    (right / "silent.cu").write_text(RIGHT, encoding="utf-8")
    (right / "warned.cu").write_text(RETURNS_EARLY, encoding="utf-8")
    (wrong / "right_after_all.cu").write_text(f"// expect: tail\n// says: tail\n{RIGHT}", encoding="utf-8")
    (wrong / "says_nothing.cu").write_text(RIGHT, encoding="utf-8")
    (home / "katas/add/stray.txt").write_text("", encoding="utf-8")
    done = kata("verify", "add", "-j", "2", "--json")
    assert done.returncode == 1
    problems = {Path(row["file"]).name: row["problem"] for row in json.loads(done.stdout)["findings"]}
    names = {"add.cu", "2_wrong.cu", "warned.cu", "right_after_all.cu", "says_nothing.cu", "stray.txt"}
    assert set(problems) == names
    assert problems["add.cu"] == "must fail, but it is right"
    assert problems["2_wrong.cu"].startswith("a solution must be right, but it is wrong")
    assert problems["warned.cu"].startswith("a right kernel must be silent, but it is warned: line ")
    assert "must fail" in problems["right_after_all.cu"]
    assert "expect" in problems["says_nothing.cu"]


def test_a_wrong_kernel_may_be_wrong_only_where_it_is_timed(home: Path, kata: Run) -> None:
    toml = home / "katas/add/kata.toml"
    toml.write_text(toml.read_text().replace("[[hints]]", "[[speed]]\nn = 4000000\n[[hints]]", 1), encoding="utf-8")
    idle = RIGHT.replace("    add<<<", "    if (n < 3000000) add<<<")
    text = f"// expect: no_launch\n// says: launches no kernel\n{idle}"
    (home / "tests/wrong/add/idle_when_large.cu").write_text(text, encoding="utf-8")
    done = kata("verify", "add")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 wrong kernels: all as they must be" in done.stdout


def test_an_unknown_kata_is_a_usage_error(home: Path, kata: Run) -> None:
    assert kata("verify", "ad").returncode == 2

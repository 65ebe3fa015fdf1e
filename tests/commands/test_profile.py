"""``kata profile`` from end to end: a real kernel compiled, counted in the simulator, explained."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.commands.shared import GPU
from harness.simulator.gpus import DEFAULT
from tests.conftest import PAST_THE_END, RIGHT, SYNTAX_ERROR, TAIL, Run

#: Element i of ``a`` is read n / 32 elements from its neighbours.
SCATTERED = RIGHT.replace("a[i]", "a[min(n - 1, i % (n / 32 + 1) * 32 + i / (n / 32 + 1))]")


@pytest.fixture
def sized(home: Path) -> Path:
    """The small catalogue's kata with a size to be timed at."""
    toml = home / "katas/add/kata.toml"
    text = toml.read_text(encoding="utf-8").replace("[[hints]]", "[[speed]]\nn = 1048576\n[[hints]]", 1)
    toml.write_text(text, encoding="utf-8")
    return home


#: Most of the elements are left out at the size that it is timed at, and none at those of the check.
LEFT_OUT = RIGHT.replace("(n + 127) / 128", "n == 1048576 ? 512 : (n + 127) / 128")


def write(desk: Path, source: str, name: str = "add.cu") -> None:
    (desk / name).write_text(source, encoding="utf-8")


def test_the_answer_comes_first_and_the_worst_line_is_explained(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, SCATTERED)
    done = kata("profile", "add")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0].startswith("add takes about ") and " on A100-80 SXM: " in lines[0]
    assert lines[-1] == "  Next: kata report add --html add.html"
    assert any(line.startswith("   4 ") and "!" in line.split("│")[0] for line in lines)
    assert "sectors a request where 4 would do" in " ".join(done.stdout.split())
    assert max(map(len, lines)) <= 80 and "\x1b" not in done.stdout and done.stderr == ""


def test_a_file_that_the_last_check_found_wrong_is_doubted_once(sized: Path, desk: Path, kata: Run) -> None:
    for source, said in ((PAST_THE_END, "a fault"), (TAIL, "wrong answers")):
        write(desk, source)
        assert kata("check", "add").returncode != 0
        done = kata("profile", "add")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("add takes about ")
        assert done.stderr == f"  Warning  the last check of this file found {said}: its time says little\n"
    write(desk, RIGHT)
    assert kata("check", "add").returncode == 0
    assert kata("profile", "add").stderr == ""


def test_a_solve_without_a_launch_is_told_how_to_launch_and_its_file_once(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, re.sub(r"\w+<<<.*;", "", RIGHT))
    done = kata("profile", "add")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == "✗ add.cu: solve launches no kernel"
    assert "kernel<<<blocks, threads>>>(...)" in done.stderr


def test_json_has_the_figures_of_every_line_and_of_a_reference(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, SCATTERED, "mine.cu")
    done = kata("profile", "add", "mine.cu", "--json", "--compare", "1", "--gpu", "h100")
    record = json.loads(done.stdout)
    assert (record["schema"], record["kata"], record["file"], record["gpu"]) == (1, "add", "mine.cu", "h100")
    assert record["case"] == "n = 1048576" and done.stderr == ""
    loads = [
        next(one for one in side["launches"][0]["lines"] if one["line"] == 4)["memory"]["global_load"]
        for side in (record, record["reference"])
    ]
    assert loads[0]["units"] > 4 * loads[1]["units"] and loads[1]["units"] == loads[1]["ideal"]
    assert record["advice"][0]["class"] == "uncoalesced_load"
    assert record["predicted"]["seconds"] > record["reference"]["predicted"]["seconds"]


def test_a_reference_solution_stands_beside(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, SCATTERED)
    lines = kata("profile", "add", "--compare", "1").stdout.splitlines()
    assert lines[0].startswith("add: rung 1 would be ") and lines[-1] == "  Next: kata solution add 1"


def test_a_kernel_that_leaves_work_out_is_doubted_before_its_figures(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, LEFT_OUT)
    undone = "at n = 1048576 only the first 65,536 of 1,048,576 elements of c are written"
    for arguments in ((), ("--compare", "1")):
        done = kata("profile", "add", *arguments)
        first, *others = done.stdout.splitlines()
        assert done.returncode == 0 and first.startswith("add") and max(map(len, others)) <= 80
        warning = f"Warning {undone}: its figures say little unless it does all of the work n = 1048576"
        assert " ".join(" ".join(others).split()).startswith(warning)
    assert kata("profile", "add").stdout.endswith("  Next: kata check add, once it does all of the work\n")
    record = json.loads(kata("profile", "add", "--json", "--compare", "1").stdout)
    assert record["undone"] == undone and record["reference"]["undone"] is None


@pytest.mark.parametrize(
    ("source", "code", "line", "says"),
    [
        (SYNTAX_ERROR, 3, 4, "does not compile"),
        (RIGHT.replace("a[i]", "a[i + n]"), 4, 4, "add.cu:4"),
    ],
)
def test_what_cannot_be_profiled_ends_as_a_check_would(
    sized: Path, desk: Path, kata: Run, source: str, code: int, line: int, says: str
) -> None:
    write(desk, source)
    done = kata("profile", "add")
    assert (done.returncode, done.stdout) == (code, "") and says in done.stderr and "Traceback" not in done.stderr
    error = json.loads(kata("profile", "add", "--json").stdout)["error"]
    assert (error["exit_code"], error["line"]) == (code, line)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere.cu",), "there is no file nowhere.cu"),
        (("--gpu", "a10O"), "known are t4, a10"),
        (("--compare", "9"), "rungs 1 to 1, not 9"),
        (("--size", "2"), "there is no number 2"),
    ],
)
def test_what_was_asked_wrongly_is_said(
    sized: Path, desk: Path, kata: Run, arguments: tuple[str, ...], says: str
) -> None:
    write(desk, RIGHT)
    done = kata("profile", "add", *arguments)
    assert done.returncode == 2 and says in " ".join(done.stderr.split())


def test_a_kata_that_is_not_timed_has_no_size(home: Path, desk: Path, kata: Run) -> None:
    write(desk, RIGHT)
    done = kata("profile", "add")
    assert done.returncode == 2 and "no size" in done.stderr


def test_the_gpu_of_the_command_is_that_of_the_model() -> None:
    assert GPU == DEFAULT

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.devices.gpu_probe import pycuda_installed
from tests.conftest import PAST_THE_END, RIGHT, SYNTAX_ERROR, Run

STANDIN = Path(__file__).parent.parent / "devices" / "standin"


@pytest.mark.skipif(pycuda_installed(), reason="PyCUDA is installed here")
def test_a_gpu_that_is_asked_for_and_not_there_is_said_to_be_missing(kata: Run) -> None:
    done = kata("bench", "add", "--device", "gpu")
    assert done.returncode == 5 and "PyCUDA is not installed" in done.stderr and "kata doctor" in done.stderr


def test_without_a_gpu_the_ladder_is_predicted_and_says_so(sized: Path, kata: Run) -> None:
    file = sized / "solutions/add/1_one_thread_per_element.cu"
    done = kata("bench", "add", str(file), "--gpu", "t4")
    assert done.returncode == 0, done.stderr
    first, second, *_ = done.stdout.splitlines()
    assert first == "add: yours reaches rung 1 of 1, par reached; as fast as the best"
    assert second == "add, predicted, not timed" and "predicted for the T4" in done.stdout
    assert kata("bench", "add", "--gpu", "t4").stdout.splitlines()[0] == second
    assert "waits   for" in done.stdout and "rung    1 of 1, par reached" in done.stdout
    record = json.loads(kata("bench", "add", "--device", "sim", "--json").stdout)
    (speed,) = record["speed"]
    assert record["device"] == "predicted A100-80 SXM" and speed["gpu"] == "A100-80 SXM" and speed["predicted"] is True
    assert speed["yours"] is None and speed["rungs"][0]["samples"] == 0 and speed["rungs"][0]["seconds"] > 0


def test_a_file_that_faults_there_is_said_to(sized: Path, kata: Run) -> None:
    done = kata("bench", "add", str(sized / "tests/wrong/add/past_the_end.cu"), "--gpu", "t4")
    assert done.returncode == 4
    first, *_, last = done.stdout.splitlines()
    assert first == "add: yours faults for n = 1000" and last == "Next: kata check add"
    assert "past the end of a" in done.stdout


def test_a_file_that_lies_there_is_timed_too(sized: Path, desk: Path, kata: Run) -> None:
    (desk / "add.cu").write_text(RIGHT, encoding="utf-8")
    done = kata("bench", "add", "--gpu", "t4")
    assert done.returncode == 0 and done.stdout.startswith("add: yours reaches rung 1 of 1, par reached; as fast as")


@pytest.mark.parametrize(("source", "why"), [
    (SYNTAX_ERROR, 'line 4: identifier "j" is undefined'), (PAST_THE_END, "faults for n = 1000"), ("", "is empty"),
])  # fmt: skip
def test_a_file_that_lies_there_and_cannot_be_timed_leaves_the_ladder(
    sized: Path, desk: Path, kata: Run, source: str, why: str
) -> None:
    (desk / "add.cu").write_text(source, encoding="utf-8")
    done = kata("bench", "add", "--gpu", "t4")
    assert done.returncode == 0 and done.stdout.startswith("add, predicted, not timed"), done.stderr
    assert "1 one thread per element" in done.stdout
    said = " ".join(done.stdout.split())
    assert "Warning add.cu is left out: " in said and why in said and "(kata check add says more)" in said


def test_a_file_that_does_not_compile_has_no_time(sized: Path, kata: Run, tmp_path: Path) -> None:
    file = tmp_path / "broken.cu"
    file.write_text("void solve(const float* a, const float* b, float* c, int n) { nothing<<<1, 1>>>(a); }")
    assert kata("bench", "add", str(file), "--gpu", "t4").returncode == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--gpu", "h20"), "did you mean h200?"), (("--gpu", "t4", "--device", "gpu"), "leave one of them out")],
)
def test_a_gpu_that_makes_no_sense_is_refused(kata: Run, words: tuple[str, ...], said: str) -> None:
    for command in ("bench", "check"):
        done = kata(command, "add", *words)
        assert done.returncode == 2 and said in done.stderr


def test_a_kata_without_sizes_can_not_be_timed(home: Path, kata: Run) -> None:
    done = kata("bench", "add")
    assert done.returncode == 2 and "[[speed]]" in done.stderr


@pytest.fixture
def sized(home: Path) -> Path:
    """The small catalogue's kata with a size."""
    toml = home / "katas/add/kata.toml"
    toml.write_text(toml.read_text().replace("[[hints]]", "[[speed]]\nn = 1000\n[[hints]]", 1), encoding="utf-8")
    return home


def test_the_ladder_and_a_file_are_shown_as_a_table_and_as_json(sized: Path, kata: Run, tmp_path: Path) -> None:
    path = f"{STANDIN}:{Path(__file__).parents[2]}"
    file = sized / "solutions/add/1_one_thread_per_element.cu"
    done = kata("bench", "add", str(file), PYTHONPATH=path, PATH="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("add: yours reaches rung 1 of 1, par reached; ")
    assert "add on stand-in GPU" in done.stdout and "one thread per element" in done.stdout and "█" in done.stdout
    record = json.loads(kata("bench", "add", "--json", PYTHONPATH=path, PATH="").stdout)
    assert record["speed"][0]["yours"] is None and record["speed"][0]["rungs"][0]["seconds"] > 0

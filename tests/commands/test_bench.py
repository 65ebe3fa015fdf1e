from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.devices.gpu_probe import pycuda_installed
from tests.conftest import Run

STANDIN = Path(__file__).parent.parent / "devices" / "standin"


@pytest.mark.skipif(pycuda_installed(), reason="PyCUDA is installed here")
def test_without_a_gpu_bench_says_what_is_missing(kata: Run) -> None:
    done = kata("bench", "add")
    assert done.returncode == 5 and "PyCUDA is not installed" in done.stderr and "kata doctor" in done.stderr


def test_a_kata_without_sizes_can_not_be_timed(home: Path, kata: Run) -> None:
    done = kata("bench", "add")
    assert done.returncode == 2 and "[[speed]]" in done.stderr


@pytest.fixture
def timed(home: Path) -> Path:
    """The small catalogue's kata with a size, and this machine's Python with a stand-in for PyCUDA."""
    toml = home / "katas/add/kata.toml"
    toml.write_text(toml.read_text().replace("[[hints]]", "[[speed]]\nn = 1000\n[[hints]]", 1), encoding="utf-8")
    return home


def test_the_ladder_and_a_file_are_shown_as_a_table_and_as_json(timed: Path, kata: Run, tmp_path: Path) -> None:
    path = f"{STANDIN}:{Path(__file__).parents[2]}"
    file = timed / "solutions/add/1_one_thread_per_element.cu"
    done = kata("bench", "add", str(file), PYTHONPATH=path, PATH="")
    assert done.returncode == 0, done.stderr
    assert "add on stand-in GPU" in done.stdout and "one thread per element" in done.stdout and "█" in done.stdout
    record = json.loads(kata("bench", "add", "--json", PYTHONPATH=path, PATH="").stdout)
    assert record["speed"][0]["yours"] is None and record["speed"][0]["rungs"][0]["seconds"] > 0

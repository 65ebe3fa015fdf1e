"""``kata check --sanitize`` where it can't be had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.devices.gpu_probe import find_sanitizer
from tests.conftest import RIGHT, Run


@pytest.fixture
def file(home: Path, desk: Path) -> Path:
    path = desk / "add.cu"
    path.write_text(RIGHT, encoding="utf-8")
    return path


def test_the_simulator_cannot_be_watched(file: Path, kata: Run) -> None:
    done = kata("check", "add", str(file), "--sanitize", "--device", "sim")
    assert done.returncode == 2 and "--sanitize watches a GPU" in done.stderr


@pytest.mark.skipif(find_sanitizer() is not None, reason="compute-sanitizer is installed here")
def test_a_machine_without_the_tool_is_told_what_to_install(file: Path, kata: Run) -> None:
    done = kata("check", "add", str(file), "--sanitize")
    assert done.returncode == 5 and "compute-sanitizer is not here" in done.stderr and "CUDA toolkit" in done.stderr
    record = json.loads(kata("check", "add", str(file), "--sanitize", "--json").stdout)
    assert record["verdict"] == "environment" and record["remarks"] == []

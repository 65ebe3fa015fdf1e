from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.commands import doctor
from tests.conftest import Run


def test_a_machine_that_can_check_is_healthy(home: Path, kata: Run) -> None:
    done = kata("doctor")
    assert done.returncode == 0, done.stdout
    for name in ("python", "katas", "parser", "compiler", "compiles", "headers", "cache", "gpu"):
        assert f" {name} " in done.stdout
    assert "NVRTC 13." in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "kata check runs on this machine." and lines[-1] == "Next: kata list"


def test_json_lists_every_check(home: Path, kata: Run) -> None:
    record = json.loads(kata("doctor", "--json").stdout)
    assert record["schema"] == 1
    assert record["ok"] is True
    assert {"name", "ok", "detail", "needed", "remedy"} == set(record["checks"][0])


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which the compiler's package can't be imported."""
    really = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("cuda"):
            raise ModuleNotFoundError("No module named 'cuda'")
        return really(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)


@pytest.mark.parametrize(("platform", "remedy"), [("darwin", "Linux container"), ("linux", "nvidia-cuda-nvrtc<14")])
def test_a_missing_compiler_has_a_way_out(
    no_compiler: None, monkeypatch: pytest.MonkeyPatch, platform: str, remedy: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    finding = doctor._compiler()
    assert (finding.ok, finding.needed) == (False, True)
    assert remedy in (finding.remedy or "")


def test_what_is_needed_and_missing_is_exit_code_5(
    home: Path, no_compiler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    done = CliRunner().invoke(doctor.command, [])
    assert done.exit_code == 5
    assert "✗ compiler" in done.stdout
    assert "can't run here yet: compiler" in done.stdout.splitlines()[0]


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("KATA_CACHE", str(blocked))
    finding = doctor._cache()
    assert (finding.ok, finding.needed) == (False, False)
    assert "KATA_CACHE" in (finding.remedy or "")

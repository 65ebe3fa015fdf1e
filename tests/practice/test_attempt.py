"""The attempt's file: a fresh skeleton, and nothing of the user's lost."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from harness.errors import EnvironmentFault, UsageError
from harness.practice.attempt import lay_ready

NOW = datetime(2026, 11, 30, 1, 42)
SKELETON = b"// skeleton\n"


def test_the_skeleton_is_written_where_nothing_was(tmp_path: Path) -> None:
    path = tmp_path / "add.cu"
    assert lay_ready(path, SKELETON, NOW) is None
    assert path.read_bytes() == SKELETON


def test_an_earlier_attempt_is_kept_dated_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "add.cu"
    kept = []
    for number in range(3):
        path.write_bytes(b"attempt %d" % number)
        kept.append(lay_ready(path, SKELETON, NOW))
    assert [name.name for name in kept if name] == [
        "add.2026-11-30-0142.cu", "add.2026-11-30-0142-2.cu", "add.2026-11-30-0142-3.cu",
    ]  # fmt: skip
    assert [name.read_bytes() for name in kept if name] == [b"attempt 0", b"attempt 1", b"attempt 2"]
    assert path.read_bytes() == SKELETON


def test_an_untouched_skeleton_is_not_worth_keeping(tmp_path: Path) -> None:
    path = tmp_path / "add.cu"
    path.write_bytes(SKELETON)
    assert lay_ready(path, SKELETON, NOW) is None
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_in_the_way_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        lay_ready(tmp_path, SKELETON, NOW)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="can't write"):
        lay_ready(tmp_path / "none" / "add.cu", SKELETON, NOW)

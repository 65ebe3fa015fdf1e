"""Saves as editors make them: in place, in pieces, by replacing the file, by deleting it first."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.practice.events import Snapshot
from harness.practice.watching import EMPTY_SECONDS, SavedFile, Watch
from tests.conftest import PATIENCE, environment


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "add.cu"
    path.write_bytes(b"first")
    return path


def test_what_is_there_is_new_once(path: Path) -> None:
    file = SavedFile(path)
    assert file.look(0) == Snapshot(b"first")
    assert file.look(1) is None


def test_a_save_in_place_is_seen(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    path.write_bytes(b"second")
    assert file.look(1) == Snapshot(b"second")


def test_a_file_that_replaces_it_is_seen(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    other = path.with_name(".add.cu.swp")
    other.write_bytes(b"other")
    other.replace(path)
    assert file.look(1) == Snapshot(b"other")


def test_a_replacement_of_the_same_size_and_time_is_seen(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    found = path.stat()
    other = path.with_name("other")
    other.write_bytes(b"FIRST")
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(path)
    assert file.look(1) == Snapshot(b"FIRST")


def test_a_touch_or_the_same_content_saved_again_is_nothing_new(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    os.utime(path, (1, 1))
    assert file.look(1) is None
    path.write_bytes(b"first")
    assert file.look(2) is None


def test_a_file_deleted_and_made_again_is_seen(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    path.unlink()
    assert file.look(1) is None
    assert "No such file" in file.trouble
    path.write_bytes(b"again")
    assert file.look(2) == Snapshot(b"again")
    assert file.trouble == ""


def test_a_file_emptied_to_be_written_is_not_taken_for_a_save(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    path.write_bytes(b"")
    assert file.look(10) is None
    assert file.look(10 + EMPTY_SECONDS / 2) is None
    path.write_bytes(b"whole")
    assert file.look(10 + EMPTY_SECONDS) == Snapshot(b"whole")


def test_a_file_that_stays_empty_is_empty(path: Path) -> None:
    file = SavedFile(path)
    file.look(0)
    path.write_bytes(b"")
    assert file.look(10) is None
    assert file.look(10 + EMPTY_SECONDS) == Snapshot(b"")
    path.write_bytes(b"x")
    assert file.look(20) == Snapshot(b"x")
    path.write_bytes(b"")
    assert file.look(30) is None  # the wait begins anew


def test_a_folder_in_its_place_is_trouble_not_a_crash(path: Path) -> None:
    path.unlink()
    path.mkdir()
    file = SavedFile(path)
    assert file.look(0) is None
    assert "directory" in file.trouble


class Bell:
    """Counts what a watch says, and can be waited for."""

    def __init__(self) -> None:
        self._rung = threading.Semaphore(0)

    def ring(self) -> None:
        self._rung.release()

    def rings(self, seconds: float = PATIENCE) -> bool:
        return self._rung.acquire(timeout=seconds)


@pytest.fixture(params=["false", "true"], ids=["events", "polling"])
def bell(path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bell]:
    """Rung by a watch of ``path``, until it has rung once for sure."""
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", request.param)
    bell = Bell()
    watch = Watch(path, bell.ring)
    watch.start()
    for number in range(100):  # the system may take a moment to begin watching
        path.write_bytes(b"ready %d" % number)
        os.utime(path, (number, number))
        if bell.rings(0.5):
            break
    else:
        pytest.fail("a save was never noticed")
    yield bell
    watch.close()


def test_the_watch_rings_for_every_way_to_save_but_not_for_other_files(path: Path, bell: Bell) -> None:
    while bell.rings(0.5):
        pass
    other = path.with_name("other")
    other.write_bytes(b"a neighbour")
    os.utime(other, (1000, 1000))  # polling tells files apart by whole seconds; the session's ticks by nanoseconds
    assert not bell.rings(0.5)
    other.replace(path)
    assert bell.rings()
    while bell.rings(0.5):
        pass
    path.unlink()
    assert bell.rings()
    path.write_bytes(b"again")
    assert bell.rings()


def test_a_folder_that_goes_away_ends_the_watch_quietly(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "nowhere" / "add.cu", lambda: None)
    watch.start()
    watch.close()


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX")
def test_a_system_with_no_watches_left_ends_the_watch_quietly(path: Path) -> None:
    program = """
import os, resource, sys, threading
from pathlib import Path
import watchfiles  # loaded before nothing can be opened any more
from harness.practice.watching import SavedFile, Watch
import platform
platform.uname()
watch = Watch(Path(sys.argv[1]), lambda: None)
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
watch.start()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
os.close(held.pop())
assert SavedFile(Path(sys.argv[1])).look(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], env=environment(WATCHFILES_FORCE_POLLING="false"),
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")

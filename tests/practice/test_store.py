"""The history's file in bad shape, and places where it can't be written."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.practice.history import FILE
from harness.practice.records import Ending, Grade
from harness.practice.schema import MIGRATIONS, NewerSchemaError, migrate
from harness.results import Outcome
from tests.conftest import PATIENCE, environment
from tests.practice.making import NOON, Clock, check, opened

#: A history of schema 1 as its first release wrote it: it must be read for ever.
VERSION_1 = """
CREATE TABLE checks (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kata TEXT NOT NULL,
    file TEXT NOT NULL, file_hash TEXT NOT NULL, outcome TEXT NOT NULL, rung INTEGER, device TEXT NOT NULL,
    seconds REAL NOT NULL, attempt INTEGER, speed_us REAL, predicted INTEGER NOT NULL);
CREATE TABLE attempts (id INTEGER PRIMARY KEY, kata TEXT NOT NULL, file TEXT NOT NULL,
    began INTEGER NOT NULL, minutes REAL NOT NULL, interview INTEGER NOT NULL, hints INTEGER NOT NULL,
    used REAL NOT NULL, ending TEXT, ended INTEGER, outcome TEXT, rung INTEGER);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, card TEXT NOT NULL,
    grade INTEGER NOT NULL);
CREATE INDEX checks_by_kata ON checks (kata, at, outcome, rung, predicted, speed_us);
CREATE INDEX checks_by_time ON checks (at);
CREATE INDEX attempts_by_kata ON attempts (kata, began);
INSERT INTO checks VALUES (4503599627370497, 1773144000000000, 'add', '/desk/add.cu',
    '0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a', 'right', 2, 'H200', 3.5,
    4503599627370498, 41.2, 0);
INSERT INTO attempts VALUES (4503599627370498, 'add', '/desk/add.cu', 1773144000000000, 20.0, 0,
    1, 300.0, 'passed', 1773144300000000, 'right', 2);
INSERT INTO reviews VALUES (4503599627370499, 1773144000000000, 'add/1', 3);
PRAGMA user_version = 1;
"""
VERSION_2 = VERSION_1.replace("PRAGMA user_version = 1;", """
CREATE TABLE hints (kata TEXT PRIMARY KEY, at INTEGER NOT NULL, number INTEGER NOT NULL);
PRAGMA user_version = 2;
""")
OLDER = (VERSION_1, VERSION_2)


@pytest.mark.parametrize("script", OLDER)
def test_a_file_of_each_older_schema_is_read(tmp_path: Path, script: str) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        db.executescript(script)
    with opened(tmp_path) as history:
        assert list(history.checks()) == [check(attempt=4503599627370498)]
        assert [(one.id, one.ending, one.hints) for one in history.attempts()] == [(4503599627370498, Ending.PASSED, 1)]
        assert [one.grade for one in history.reviews()] == [Grade.GOOD]
        history.record(check())
        assert history.notices == []


def test_there_is_a_file_of_every_schema_to_be_tested() -> None:
    assert len(OLDER) == len(MIGRATIONS)


#: Three versions of another database, for the way from each to the last.
STEPS = (
    ("CREATE TABLE checks (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO checks VALUES (1, 'kept')"),
    ("ALTER TABLE checks ADD COLUMN rung INTEGER", "UPDATE checks SET rung = 1"),
    ("CREATE INDEX by_name ON checks (name)",),
)


@pytest.mark.parametrize("version", range(len(STEPS) + 1))
def test_every_version_becomes_the_last_with_its_rows(version: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, STEPS[:version])
        migrate(db, STEPS)
        migrate(db, STEPS)
        assert db.execute("SELECT id, name, rung FROM checks").fetchall() == [(1, "kept", 1)]
        assert db.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_migration_that_fails_leaves_the_file_as_it_was() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, STEPS[:1])
        with pytest.raises(sqlite3.OperationalError):
            migrate(db, (*STEPS[:2], ("ALTER TABLE nothing ADD COLUMN x",)))
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("SELECT * FROM checks").fetchall() == [(1, "kept")]


def test_a_newer_schema_is_refused() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, STEPS)
        with pytest.raises(NewerSchemaError, match="schema 3"):
            migrate(db, STEPS[:2])


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def _garbage(path: Path) -> None:
    path.write_bytes(b"this was a history once " * 4000)


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _pages_overwritten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


def _no_tables(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("DROP TABLE reviews")


def _other_columns(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("ALTER TABLE checks ADD COLUMN uid TEXT NOT NULL DEFAULT ''")


@pytest.mark.parametrize("harm", [_newer, _garbage, _cut_off, _pages_overwritten, _no_tables, _other_columns])
def test_an_unusable_file_is_set_aside_and_said(tmp_path: Path, harm: object) -> None:
    with opened(tmp_path) as history:
        for second in range(50):
            history.record(check(NOON.replace(second=second)))
    harm(tmp_path / FILE)  # type: ignore[operator]
    damaged = (tmp_path / FILE).read_bytes()
    with opened(tmp_path) as history:
        history.record(check())
        assert list(history.checks()) == [check()]
        (notice,) = history.notices
    (kept,) = (path for path in tmp_path.iterdir() if path.name != FILE)
    assert kept.read_bytes() == damaged
    assert str(kept) in notice and ("--import" in notice or ".recover" in notice)
    with opened(tmp_path) as history:
        assert history.notices == [] and list(history.checks()) == [check()]


def _folder(path: Path) -> None:
    (path / "kept").mkdir(parents=True)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


def _device(path: Path) -> None:
    path.symlink_to(os.devnull)


#: Opens the history in a process of its own: what waits for a pipe can't be interrupted otherwise.
PRACTISE = (
    "import sys; from pathlib import Path\n"
    "from tests.practice.making import *\n"
    "with opened(Path(sys.argv[1])) as history:\n"
    "    history.record(check())\n"
    "    assert list(history.checks()) == [check()]\n"
    "    print(*history.notices, sep='\\n')"
)


@pytest.mark.skipif(sys.platform != "linux", reason="makes sockets by mknod")
@pytest.mark.parametrize(
    ("make", "kind", "name"),
    [
        (_folder, "a folder", FILE), (_pipe, "a pipe", FILE), (_socket, "a socket", FILE), (_device, "a device", FILE),
        *((_pipe, "a pipe", f"{FILE}-{beside}") for beside in ("journal", "wal", "shm")),
    ],
)  # fmt: skip
def test_what_is_no_file_is_said_and_left_alone(tmp_path: Path, make: object, kind: str, name: str) -> None:
    strange = tmp_path / name
    make(strange)  # type: ignore[operator]
    before = strange.lstat()
    done = subprocess.run(
        [sys.executable, "-c", PRACTISE, str(tmp_path)], env=environment(), capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    unread, waits = done.stdout.splitlines()
    assert f"The history {tmp_path / FILE} can't be read" in unread and f"is no file but {kind}" in unread
    assert str(strange) in unread and "Move that away" in unread and "KATA_HOME" in unread
    assert "waits in" in waits
    assert (strange.lstat().st_ino, strange.lstat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    strange.rename(tmp_path / "moved")
    with opened(tmp_path) as history:
        assert list(history.checks()) == [check()] and history.notices == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_named_like_a_side_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    refuge = tmp_path / "refuge"
    with opened(tmp_path / "data", Clock(), refuge) as history:
        history.record(check())
    (waiting,) = refuge.iterdir()
    mark = waiting.name.rpartition("-")[0]
    os.mkfifo(refuge / f"{mark}-0.jsonl")
    (tmp_path / "data").unlink()
    program = (
        "import sys; from pathlib import Path\n"
        "from tests.practice.making import *\n"
        "with opened(Path(sys.argv[1]), Clock(), Path(sys.argv[2])) as history:\n"
        "    print(len(list(history.checks())), history.notices)"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "data"), str(refuge)]
    done = subprocess.run(arguments, env=environment(), capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stdout.strip() == "1 []", done.stderr
    assert [path.name for path in refuge.iterdir()] == [f"{mark}-0.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_in_the_way_of_a_side_file_is_left_alone(tmp_path: Path) -> None:
    """Its name is random: here it is made to be foreseen."""
    (tmp_path / "data").write_text("a file, not a folder")
    first, second = tmp_path / "first", tmp_path / "second"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from tests.practice.making import *\n"
        "data, first, second = (Path(name) for name in sys.argv[1:])\n"
        "with History(data / FILE, Clock(), refuges=(first, second), identify=lambda: 7) as history:\n"
        "    history.record(check())\n"
        "(kept,) = first.iterdir()\n"
        "kept.unlink()\n"
        "os.mkfifo(kept.with_suffix('.new'))\n"
        "with History(data / FILE, Clock(), refuges=(first, second), identify=lambda: 7) as history:\n"
        "    history.record(check())"
    )
    arguments = [sys.executable, "-c", program, *map(str, (tmp_path / "data", first, second))]
    done = subprocess.run(arguments, env=environment(), capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert [path.suffix for path in (*first.iterdir(), *second.iterdir())] == [".new", ".jsonl"]


def test_each_file_set_aside_has_a_name_of_its_own(tmp_path: Path) -> None:
    for number in range(3):
        _garbage(tmp_path / FILE)
        with opened(tmp_path):
            assert len(list(tmp_path.glob("history-damaged-*"))) == number + 1


def test_two_that_find_the_damage_set_aside_one_file(tmp_path: Path) -> None:
    with opened(tmp_path) as first, opened(tmp_path) as second:
        for one in (first, second):
            one.record(check())
        _pages_overwritten(tmp_path / FILE)
        first.record(check())
        second.record(check(kata="relu"))
        assert {one.kata for one in first.checks()} == {"add", "relu"}
    assert len(list(tmp_path.glob("history-damaged-*"))) == 1


def test_an_attempt_outlives_the_file_it_began_in(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        began = history.begin("add", "/desk/add.cu", 20, False)
        history.save_progress(began.id, 100, 1)
        _garbage(tmp_path / FILE)
        history.save_progress(began.id, 200, 1)
        (tmp_path / FILE).unlink()
        ended = history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 2, 300, 1)
        assert (ended.id, ended.began, ended.used, ended.hints) == (began.id, NOON, 300, 1)
        assert len(history.notices) == 1
    with opened(tmp_path) as history:
        assert history.attempts() == [ended]


def test_a_folder_that_cannot_be_made_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    refuge = tmp_path / "refuge"
    with opened(tmp_path / "data", Clock(), refuge) as history:
        began = history.begin("add", "/desk/add.cu", 20, False)
        history.save_progress(began.id, 10, 1)
        history.record(check(attempt=began.id))
        history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 2, 20, 1)
        history.review("add/1", Grade.EASY)
        said = " ".join(history.notices)
    assert str(tmp_path / "data") in said and str(refuge) in said and "KATA_HOME" in said
    (tmp_path / "data").unlink()
    with opened(tmp_path / "data", Clock(), refuge) as history:
        (ended,) = history.attempts()
        assert (ended.ending, ended.used, ended.hints) == (Ending.PASSED, 20, 1)
        assert list(history.checks()) == [check(attempt=ended.id)]
        assert [one.grade for one in history.reviews()] == [Grade.EASY]
        assert history.notices == []
    assert list(refuge.iterdir()) == []


def test_where_nothing_can_be_written_the_person_is_given_the_record(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    with opened(tmp_path / "data") as history:
        history.record(check())
        said = "\n".join(history.notices)
    (tmp_path / "saved.jsonl").write_text("\n".join(line.strip() for line in said.splitlines()[-2:]))
    from harness.practice.transfer import merge, read_file

    with opened(tmp_path / "other") as history:
        assert merge(history.store, read_file(tmp_path / "saved.jsonl")).new == 1
        assert list(history.checks()) == [check()]


def test_what_is_done_while_another_program_holds_the_file_waits(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        history.record(check())
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")  # as good as read-only for everybody else
        with opened(tmp_path, patience=0.0) as history:
            history.record(check(kata="relu"))
            assert {one.kata for one in history.checks()} == {"add", "relu"}
            assert "another program" in history.notices[0]
    with opened(tmp_path) as history:
        assert {one.kata for one in history.checks()} == {"add", "relu"}


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files by setrlimit")
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """The limit stops the growing database and not the small side file, as a disk with little room left does."""
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from tests.practice.making import *\n"
        "folder = Path(sys.argv[1])\n"
        "with opened(folder) as history:\n"
        "    size = (folder / FILE).stat().st_size\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))\n"
        "    for number in range(100): history.record(check(NOON + timedelta(seconds=number)))\n"
        "    began = history.begin('relu', '/desk/relu.cu', 5, False)\n"
        "    history.finish(began.id, Ending.PASSED, Outcome.RIGHT, 1, 42, 0)\n"
        "    print(len(list(history.checks())), len(history.attempts()), *history.notices)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("100 1 ") and "full" in done.stdout and "waits in" in done.stdout
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM checks").fetchone()[0] < 100
    with opened(tmp_path) as history:
        assert len(set(history.checks())) == 100 and [one.used for one in history.attempts()] == [42]
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_side_file_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    refuge = tmp_path / "refuge"
    with opened(tmp_path / "data", Clock(), refuge) as history:
        history.record(check())
    (waiting,) = refuge.iterdir()
    waiting.write_text("{}")
    (tmp_path / "data").unlink()
    with opened(tmp_path / "data", Clock(), refuge) as history:
        (notice,) = history.notices
    (kept,) = refuge.iterdir()
    assert str(kept) in notice and kept.read_text() == "{}"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_read_and_what_is_done_waits_elsewhere(tmp_path: Path) -> None:
    data, refuge = tmp_path / "data", tmp_path / "refuge"
    with opened(data) as history:
        history.record(check())
    data.chmod(0o555)
    try:
        with opened(data, Clock(), refuge) as history:
            history.record(check(kata="relu"))
            assert len(list(history.checks())) == 2
            assert "yours to read and write" in history.notices[0]
    finally:
        data.chmod(0o755)
    with opened(data, Clock(), refuge) as history:
        assert len(list(history.checks())) == 2

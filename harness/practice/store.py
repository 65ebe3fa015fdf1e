"""The database file of the history: opened and migrated, set aside where it is unusable, done without where it can't
be written.

The journal is SQLite's ordinary rollback journal, not WAL: writes are few and small, a history at rest is one file, and
that works in folders shared over a network or with a container, where WAL's shared memory does not.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from harness.practice import rows
from harness.practice.schema import NewerSchemaError, migrate

_Answer = TypeVar("_Answer")

#: Seconds to wait for another process that writes; a write takes milliseconds.
PATIENCE = 5.0

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

_ROOM = "Make room there, or name another folder in KATA_HOME."
_RIGHTS = "Make it, and its folder, yours to read and write, or name another folder in KATA_HOME."
_AWAY = "Move that away, or name another folder in KATA_HOME."
_HELD = "End what holds it, or name another folder in KATA_HOME."

#: What the machine refuses, by SQLite's primary result code, and what to do about it.
_REFUSED = {
    sqlite3.SQLITE_FULL: ("the disk is full", _ROOM), sqlite3.SQLITE_IOERR: ("the disk fails, or is full", _ROOM),
    sqlite3.SQLITE_READONLY: ("it is read-only", _RIGHTS), sqlite3.SQLITE_PERM: ("permission denied", _RIGHTS),
    sqlite3.SQLITE_CANTOPEN: ("it, or a file beside it, can't be opened", _RIGHTS),
    sqlite3.SQLITE_BUSY: ("another program does not let go of it", _HELD),
    sqlite3.SQLITE_LOCKED: ("another program holds it", _HELD),
    sqlite3.SQLITE_PROTOCOL: ("files can't be locked there", "Name another folder in KATA_HOME."),
}  # fmt: skip

_TABLES = {**rows.COLUMNS, "hints": ("kata", "at", "number")}

#: What SQLite reads, beside the database: the journal to roll back from, and what another program left in WAL mode.
_BESIDE = ("", "-journal", "-wal", "-shm")

_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


class Store:
    """A connection that keeps working: ``trouble`` says why the file can't be written and what to do, None while it
    can (empty where ``notices`` say so already); from then on what is written goes to a copy in memory. ``notices`` are
    sentences that the person must be told.
    """

    def __init__(self, path: Path, now: Callable[[], datetime], patience: float = PATIENCE) -> None:
        self.path = path
        self._patience = patience
        self.notices: list[str] = []
        self.trouble: str | None = None
        self._now = now
        self._opened: tuple[int, int] | None = None
        self._db = self._open()

    @property
    def detached(self) -> bool:
        """Whether what is written stays in memory."""
        return self.trouble is not None

    def read(self, sql: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        bound = tuple(values)
        return self._persist(lambda db: db.execute(sql, bound).fetchall())

    def write(self, change: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        """What ``change`` answers, done in one transaction; it may run again, on another connection."""

        def whole(db: sqlite3.Connection) -> _Answer:
            db.execute("BEGIN IMMEDIATE")
            try:
                answer = change(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # SQLite itself may have rolled back already
                    db.execute("ROLLBACK")
                raise
            return answer

        return self._persist(whole)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _persist(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        if not self.detached and _identity(self.path) != self._opened:  # removed, or set aside by another process
            self._db.close()
            self._db = self._open()
        try:
            return work(self._db)
        except sqlite3.DatabaseError as error:
            if self.detached or _code(error) not in _DAMAGED | _REFUSED.keys():
                raise
            self._db.close()
            self._db = self._mend(error)
        return work(self._db)

    def _open(self) -> sqlite3.Connection:
        before = _identity(self.path)
        strange = no_file(self.path)
        if strange:
            return self._do_without(strange, _AWAY)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None)
        except OSError as error:
            return self._detach(f"{error.filename or self.path}: {error.strerror}", _RIGHTS)
        except sqlite3.DatabaseError as error:
            return self._mend(error)
        try:
            _prepare(db)
        except (sqlite3.DatabaseError, NewerSchemaError) as error:
            db.close()
            self._opened = before
            return self._mend(error)
        self._opened = _identity(self.path)
        if before not in (None, self._opened):  # set aside by another process while we opened it
            db.close()
            return self._open()
        return db

    def _mend(self, error: sqlite3.DatabaseError | NewerSchemaError) -> sqlite3.Connection:
        """A connection to go on with after ``error``, which is raised where nothing explains it but a bug."""
        if isinstance(error, NewerSchemaError):
            remedy = "Update kata, then take it in: kata history --import {}"
            return self._set_aside("newer", f"was written by a newer kata ({error})", remedy)
        code = _code(error)
        if code in _DAMAGED:
            remedy = "SQLite may save what is in it: sqlite3 {} .recover"
            return self._set_aside("damaged", f"is damaged ({error})", remedy)
        if code in _REFUSED:
            return self._detach(*_REFUSED[code])
        raise error

    def _set_aside(self, kind: str, problem: str, remedy: str) -> sqlite3.Connection:
        """Rename the file, unless another process has done so meanwhile, and start a new one."""
        if _identity(self.path) == self._opened:
            kept = _free_name(self.path, f"{self.path.stem}-{kind}-{self._now().astimezone():%Y%m%d-%H%M%S}")
            try:
                journal = Path(f"{self.path}-journal")
                if journal.exists():  # first: it must never meet the new file
                    journal.rename(f"{kept}-journal")
                self.path.rename(kept)
            except OSError as error:
                return self._detach(f"it {problem} and can't be renamed: {error.strerror}", _RIGHTS)
            self.notices.append(f"The history {self.path} {problem}. It is kept as {kept}, and a new one begins. "
                                + remedy.format(kept))  # fmt: skip
        return self._open()

    def _detach(self, reason: str, remedy: str) -> sqlite3.Connection:
        """Go on in memory, with what can be read of the file; it is said at once where that is nothing."""
        self.trouble = f"The history {self.path} can't be written: {reason}. {remedy}"
        db = sqlite3.connect(":memory:", isolation_level=None)
        try:
            uri = f"{self.path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=self._patience, isolation_level=None)) as file:
                file.execute("BEGIN")
                file.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the lock, or gives up
                file.backup(db)
            migrate(db)
        except (sqlite3.DatabaseError, NewerSchemaError):
            db.close()
            return self._do_without(reason, remedy)
        return db

    def _do_without(self, reason: str, remedy: str) -> sqlite3.Connection:
        """Go on in memory, with nothing of the file, and say so."""
        self.notices.append(f"The history {self.path} can't be read: {reason}. {remedy}")
        self.trouble = ""
        db = sqlite3.connect(":memory:", isolation_level=None)
        migrate(db)
        return db


def no_file(database: Path) -> str | None:
    """What is no file in the place of a database, or of what SQLite keeps beside one: opening a pipe would wait for
    ever. None where there is no such thing."""
    for ending in _BESIDE:
        path = Path(f"{database}{ending}")
        try:
            kind = stat.S_IFMT(path.stat().st_mode)
        except OSError:  # nothing there, or nothing that can be seen: opening it says why
            continue
        if kind != stat.S_IFREG:
            return f"{path if ending else 'it'} is no file but {_KINDS.get(kind, 'something else')}"
    return None


def _prepare(db: sqlite3.Connection) -> None:
    """Migrate it, and see that it is ours."""
    migrate(db)
    for table, columns in _TABLES.items():
        found = {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        if not found:
            raise _damaged(f"its table {table} is missing")
        if found != set(columns):
            raise _damaged(f"its table {table} is not kata's")


def _damaged(problem: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(problem)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _code(error: sqlite3.DatabaseError) -> int:
    """The primary result code; an error of Python's own, like a closed connection, has none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file this is, whatever its name; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _free_name(path: Path, stem: str) -> Path:
    candidates = [path.with_name(f"{stem}{number}{path.suffix}") for number in ("", *(f"-{n}" for n in range(2, 100)))]
    return next(candidate for candidate in candidates if not candidate.exists())

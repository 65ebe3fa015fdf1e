"""The history's tables, and how a file of any earlier version becomes one of this version."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

#: One tuple of statements for each version; a file's version is how many were applied (``PRAGMA user_version``).
#: Those that were ever released stay as they are: a change is a further tuple.
#:
#: Instants are microseconds since 1970 in UTC. ``id`` is a random number that names a record the same way in every copy
#: of a history, so that two can be merged; a check names its attempt by it.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE checks (
            id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kata TEXT NOT NULL,
            file TEXT NOT NULL, file_hash TEXT NOT NULL, outcome TEXT NOT NULL, rung INTEGER, device TEXT NOT NULL,
            seconds REAL NOT NULL, attempt INTEGER, speed_us REAL, predicted INTEGER NOT NULL)""",
        """CREATE TABLE attempts (
            id INTEGER PRIMARY KEY, kata TEXT NOT NULL, file TEXT NOT NULL,
            began INTEGER NOT NULL, minutes REAL NOT NULL, interview INTEGER NOT NULL, hints INTEGER NOT NULL,
            used REAL NOT NULL, ending TEXT, ended INTEGER, outcome TEXT, rung INTEGER)""",
        """CREATE TABLE reviews (
            id INTEGER PRIMARY KEY, at INTEGER NOT NULL, card TEXT NOT NULL,
            grade INTEGER NOT NULL)""",
        "CREATE INDEX checks_by_kata ON checks (kata, at, outcome, rung, predicted, speed_us)",
        "CREATE INDEX checks_by_time ON checks (at)",
        "CREATE INDEX attempts_by_kata ON attempts (kata, began)",
    ),
    (
        # the hint of each kata that was shown last outside of a session; of this machine only, so without an id
        "CREATE TABLE hints (kata TEXT PRIMARY KEY, at INTEGER NOT NULL, number INTEGER NOT NULL)",
    ),
)


class NewerSchemaError(Exception):
    """The file was written by a later version of this program."""


def migrate(db: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Bring ``db`` (in autocommit mode) to the last version, whole or not at all.

    NewerSchemaError where it is past that already. Two processes may come here at once: the second finds it done.
    """
    if _version(db) == len(migrations):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        found = _version(db)
        if found > len(migrations):
            raise NewerSchemaError(f"schema {found}; this kata knows schemas up to {len(migrations)}")
        for statement in (statement for step in migrations[found:] for statement in step):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(migrations)}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)

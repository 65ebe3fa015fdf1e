"""The history as text, for copies and other machines: JSON Lines, one record each, merged without duplicates."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.practice import rows
from harness.practice.schema import NewerSchemaError, migrate
from harness.practice.store import Store, no_file

#: What the first line of a file says; a change to the keys changes the number.
FORMAT = {"kata_history": 1}

_SQLITE = b"SQLite format 3\0"
_REMEDY = "Nothing was taken in. Files for this come from: kata history --export FILE"


@dataclass(frozen=True)
class _Form:
    """How a column is written: ``read`` makes its value of JSON's, or raises ValueError; ``show`` goes back."""

    read: Callable[[Any], Any]
    show: Callable[[Any], Any] = lambda value: value

    def or_null(self) -> _Form:
        return _Form(
            lambda value: None if value is None else self.read(value),
            lambda value: None if value is None else self.show(value),
        )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("is text")
    value.encode()  # a lone surrogate is no text
    return value


def _identity(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise ValueError("is an integer of at most 53 bits")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("is a number")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise ValueError("is an integer from 0")
    return value


def _flag(value: Any) -> int:
    if not isinstance(value, bool):
        raise ValueError("is true or false")
    return int(value)


def _instant(value: Any) -> int:
    when = datetime.fromisoformat(_text(value))
    if when.tzinfo is None or not 2000 <= when.year < 2200:
        raise ValueError("is an instant with its offset from UTC, like 2026-01-31T12:00:00+00:00")
    return rows.stamp(when.astimezone(UTC))


_TEXT, _ID, _NUMBER, _COUNT = _Form(_text), _Form(_identity), _Form(_number), _Form(_count)
_FLAG, _INSTANT = _Form(_flag, bool), _Form(_instant, lambda value: rows.instant(value).isoformat())

#: For each table: the word that a line starts with, and the key and form of each column.
_TABLES: dict[str, tuple[str, dict[str, tuple[str, _Form]]]] = {
    "checks": ("check", {
        "id": ("id", _ID), "at": ("when", _INSTANT), "kata": ("kata", _TEXT), "file": ("file", _TEXT),
        "file_hash": ("file_hash", _TEXT), "outcome": ("outcome", _TEXT), "rung": ("rung", _COUNT.or_null()),
        "device": ("device", _TEXT), "seconds": ("seconds", _NUMBER), "attempt": ("attempt", _ID.or_null()),
        "speed_us": ("speed_us", _NUMBER.or_null()), "predicted": ("predicted", _FLAG),
    }),
    "attempts": ("attempt", {
        "id": ("id", _ID), "kata": ("kata", _TEXT), "file": ("file", _TEXT), "began": ("began", _INSTANT),
        "minutes": ("minutes", _NUMBER), "interview": ("interview", _FLAG), "hints": ("hints", _COUNT),
        "used": ("used", _NUMBER), "ending": ("ending", _TEXT.or_null()), "ended": ("ended", _INSTANT.or_null()),
        "outcome": ("outcome", _TEXT.or_null()), "rung": ("rung", _COUNT.or_null()),
    }),
    "reviews": ("review", {
        "id": ("id", _ID), "at": ("when", _INSTANT), "card": ("card", _TEXT), "grade": ("grade", _COUNT),
    }),
}  # fmt: skip
_BY_WORD = {word: (table, fields) for table, (word, fields) in _TABLES.items()}

#: How a row proves that it is one: its record can be made.
_RECORDS: dict[str, Callable[[rows.Row], object]] = {
    "checks": rows.check_of, "attempts": rows.attempt_of,
    "reviews": rows.review_of,
}  # fmt: skip

#: A check or an answer never changes; an attempt that has ended is more than one that is open.
_MERGE = {
    "checks": "DO NOTHING",
    "reviews": "DO NOTHING",
    "attempts": "DO UPDATE SET hints = max(attempts.hints, excluded.hints), used = excluded.used, "
    "ending = excluded.ending, ended = excluded.ended, outcome = excluded.outcome, rung = excluded.rung "
    "WHERE attempts.ending IS NULL AND (excluded.ending IS NOT NULL OR excluded.used > attempts.used)",
}  # fmt: skip

Rows = dict[str, list[rows.Row]]


@dataclass(frozen=True)
class Merged:
    """How many records a file held, and how many of them were new here."""

    held: int
    new: int


def read_rows(store: Store, only: Iterable[tuple[str, int]] | None = None) -> Rows:
    """Rows by table, oldest first: all, or those named by table and id."""
    names = {table: ", ".join(columns) for table, columns in rows.COLUMNS.items()}
    if only is None:
        return {
            table: store.read(f"SELECT {names[table]} FROM {table} ORDER BY {rows.TIMES[table]}") for table in names
        }
    found: Rows = {table: [] for table in names}
    for table, identity in only:
        found[table] += store.read(f"SELECT {names[table]} FROM {table} WHERE id = ?", (identity,))
    return found


def lines(found: Rows) -> Iterator[str]:
    """A file's lines, without line ends."""
    yield json.dumps(FORMAT)
    for table, (word, fields) in _TABLES.items():
        forms = [fields[column] for column in rows.COLUMNS[table]]
        for row in found[table]:
            entry = {key: form.show(value) for (key, form), value in zip(forms, row, strict=True)}
            yield json.dumps({word: entry})


def read_file(path: Path) -> Rows:
    """The rows of an exported file, or of another history's database. UsageError names the line that is wrong."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}", remedy=_REMEDY) from error
    if content.startswith(_SQLITE):
        return _read_database(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong(path, content[: error.start].count(b"\n") + 1, "not text in UTF-8") from error
    return parse(path, text.split("\n"))


def merge(store: Store, found: Rows) -> Merged:
    """Take in every row that is not here yet, and the endings of attempts that are open here: all or none."""

    def change(db: sqlite3.Connection) -> int:
        before = _size(db)
        for table, columns in rows.COLUMNS.items():
            db.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
                f"ON CONFLICT (id) {_MERGE[table]}", found[table],
            )  # fmt: skip
        return _size(db) - before

    return Merged(sum(map(len, found.values())), store.write(change))


def _size(db: sqlite3.Connection) -> int:
    return sum(int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in rows.COLUMNS)


def parse(path: Path, text: list[str]) -> Rows:
    """The rows of a file's lines. UsageError names the line of ``path`` that is wrong."""
    found: Rows = {table: [] for table in _TABLES}
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _wrong(path, number, f"not JSON: {error}") from error
        if number == 1:
            if entry != FORMAT:
                raise _wrong(path, 1, f"the first line is not {json.dumps(FORMAT)}")
            continue
        try:
            table, row = _row(entry)
        except ValueError as error:
            raise _wrong(path, number, str(error)) from error
        found[table].append(row)
    if not text[0].strip():
        raise _wrong(path, 1, f"the first line is not {json.dumps(FORMAT)}")
    return found


def _row(entry: Any) -> tuple[str, rows.Row]:
    """The table and row of one line. ValueError says what is wrong with it."""
    if not isinstance(entry, dict) or len(entry) != 1 or not set(entry) <= set(_BY_WORD):
        raise ValueError('a line is {"check": ...}, {"attempt": ...} or {"review": ...}')
    ((word, given),) = entry.items()
    table, fields = _BY_WORD[word]
    if not isinstance(given, dict) or set(given) != {key for key, _ in fields.values()}:
        raise ValueError(f"{word}: has the keys {', '.join(key for key, _ in fields.values())}")
    row = []
    for column in rows.COLUMNS[table]:
        key, form = fields[column]
        try:
            row.append(form.read(given[key]))
        except ValueError as error:
            raise ValueError(f"{word}: {key}: {error}, not {given[key]!r}") from error
    try:
        _RECORDS[table](tuple(row))
    except ValueError as error:
        raise ValueError(f"{word}: {error}") from error
    return table, tuple(row)


def _read_database(path: Path) -> Rows:
    strange = no_file(path)
    if strange:
        remedy = "Copy the database into a file, and take that in."
        raise UsageError(f"{path} can't be read as a history: {strange}", remedy=remedy)
    try:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
                file.backup(copy)
            migrate(copy)
            found = {
                table: copy.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {rows.TIMES[table]}").fetchall()
                for table, columns in rows.COLUMNS.items()
            }
    except NewerSchemaError as error:
        raise UsageError(f"{path} was written by a newer kata ({error})", remedy="Update kata first.") from error
    except sqlite3.DatabaseError as error:
        remedy = f"SQLite may save what is in it: sqlite3 {path} .recover"
        raise UsageError(f"{path} can't be read as a history: {error}", remedy=remedy) from error
    return parse(path, list(lines(found)))


def _wrong(path: Path, line: int, problem: str) -> UsageError:
    return UsageError(problem, file=str(path), line=line, remedy=_REMEDY)

"""Everything practised: one SQLite file, to which any number of processes may write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from harness.practice import rows, spill
from harness.practice.records import Attempt, CheckRecord, Ending, Grade, Review
from harness.practice.statistics import KataSums
from harness.practice.store import PATIENCE, Store
from harness.results import Outcome

_CHECK_SUMS = """SELECT kata, count(*), count(*) FILTER (WHERE outcome = 'right'), max(at),
    max(rung) FILTER (WHERE outcome = 'right'), min(speed_us) FILTER (WHERE outcome = 'right' AND NOT predicted)
    FROM checks GROUP BY kata"""
_ATTEMPT_SUMS = """SELECT kata, count(*), count(*) FILTER (WHERE ending = 'passed'), max(began),
    max(rung) FILTER (WHERE outcome = 'right'), min(used) FILTER (WHERE ending = 'passed')
    FROM attempts GROUP BY kata"""
_MOMENTS = "SELECT at FROM checks UNION ALL SELECT began FROM attempts UNION ALL SELECT at FROM reviews ORDER BY 1"

#: The file's name in the data folder.
FILE = "history.sqlite"


def data_folder() -> Path:
    """``$KATA_HOME``, else the user's data folder."""
    named = os.environ.get("KATA_HOME")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("kata"))


def open_history() -> History:
    """The history in the data folder, by the real clock."""
    return History(data_folder() / FILE, lambda: datetime.now(UTC), refuges=spill.refuges())


def new_identity() -> int:
    """A number that no other record has, here or elsewhere: 53 random bits, which JSON carries everywhere."""
    return int.from_bytes(os.urandom(7)) >> 3


class History:
    """Checks, attempts and answers. Created, migrated, or set aside and begun anew when opened; the file's state never
    fails the practice: ``notices`` holds what the person must be told about it, and fills as things happen.

    Where the file can't be written, what happens is kept in a side file, in its folder or in one of ``refuges``, and
    taken in when a history is next opened. ``patience`` is how many seconds to wait for another process that writes.
    To be used by the thread that opened it.
    """

    def __init__(
        self, path: Path, now: Callable[[], datetime], *, refuges: tuple[Path, ...] = (),
        identify: Callable[[], int] = new_identity, patience: float = PATIENCE,
    ) -> None:  # fmt: skip
        self._now = now
        self._identify = identify
        self._held: dict[int, Attempt] = {}
        self.store = Store(path, now, patience)
        self._spill = spill.Spill((path.parent, *refuges), path, identify)
        if not self.store.detached:
            self.store.notices += self._spill.take_in(self.store)

    @property
    def notices(self) -> list[str]:
        """Sentences that the person must be told, each once."""
        return self.store.notices

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    def record(self, check: CheckRecord) -> None:
        """Keep a check. It is on the disk when this returns."""
        self._insert("checks", rows.check_row(self._identify(), check))

    def begin(self, kata: str, file: str, minutes: float, interview: bool) -> Attempt:
        """A new open attempt."""
        attempt = Attempt(self._identify(), kata, file, self._now(), minutes, interview, 0, 0.0, None, None, None, None)
        self._insert("attempts", rows.attempt_row(attempt))
        return self.attempt(attempt.id)

    def save_progress(self, attempt_id: int, used: float, hints: int) -> None:
        """What an open attempt has come to at least: the session and ``kata hint`` may both say so. Nothing where it
        has ended."""
        self._update(attempt_id, "used = max(used, ?), hints = max(hints, ?)", (used, hints))

    def finish(
        self, attempt_id: int, ending: Ending, outcome: Outcome | None, rung: int | None, used: float, hints: int
    ) -> Attempt:
        """End an open attempt now; ``used`` may be less than was saved. One that has ended stays as it is, and is what
        is returned."""
        fields = "used = ?, hints = max(hints, ?), ending = ?, ended = ?, outcome = ?, rung = ?"
        ended = rows.stamp(self._now())
        self._update(attempt_id, fields, (used, hints, ending.value, ended, outcome and outcome.value, rung))
        return self.attempt(attempt_id)

    def attempt(self, attempt_id: int) -> Attempt:
        """The attempt of this id. KeyError if there is none."""
        found = self._attempts("WHERE id = ?1", (attempt_id, 1))
        if not found:
            raise KeyError(attempt_id)
        self._held[attempt_id] = found[0]
        return found[0]

    def open_attempts(self, kata: str | None = None) -> list[Attempt]:
        """Attempts without an ending, newest first."""
        return self._attempts("WHERE ending IS NULL AND (?1 IS NULL OR kata = ?1)", (kata, -1))

    def attempts(self, kata: str | None = None, *, limit: int | None = None) -> list[Attempt]:
        """Attempts, newest first, all or the newest ``limit``."""
        return self._attempts("WHERE ?1 IS NULL OR kata = ?1", (kata, -1 if limit is None else limit))

    def checks(self, kata: str | None = None, *, limit: int | None = None) -> Iterator[CheckRecord]:
        """Checks, newest first, all or the newest ``limit``."""
        found = self.store.read(
            f"SELECT {', '.join(rows.COLUMNS['checks'])} FROM checks WHERE ?1 IS NULL OR kata = ?1 "
            "ORDER BY at DESC LIMIT ?2", (kata, -1 if limit is None else limit),
        )  # fmt: skip
        return map(rows.check_of, found)

    def last_check(self, kata: str, file_hash: str) -> CheckRecord | None:
        """The newest check of a file's content as an answer to a kata, if there is one."""
        found = self.store.read(
            f"SELECT {', '.join(rows.COLUMNS['checks'])} FROM checks WHERE kata = ? AND file_hash = ? "
            "ORDER BY at DESC LIMIT 1", (kata, file_hash),
        )  # fmt: skip
        return rows.check_of(found[0]) if found else None

    def show_hint(self, kata: str, number: int) -> None:
        """Keep that this hint is shown now."""
        sql = "INSERT OR REPLACE INTO hints (kata, at, number) VALUES (?, ?, ?)"
        self.store.write(lambda db: db.execute(sql, (kata, rows.stamp(self._now()), number)))

    def hint_shown(self, kata: str) -> tuple[datetime, int] | None:
        """When a hint was last shown (UTC), and which."""
        found = self.store.read("SELECT at, number FROM hints WHERE kata = ?", (kata,))
        return (rows.instant(found[0][0]), found[0][1]) if found else None

    def review(self, card: str, grade: Grade) -> Review:
        """Keep the answer to a card of the quiz, given now."""
        review = Review(self._now(), card, grade)
        self._insert("reviews", rows.review_row(self._identify(), review))
        return review

    def reviews(self) -> list[Review]:
        """Answers to cards, oldest first."""
        columns = ", ".join(rows.COLUMNS["reviews"])
        return [rows.review_of(row) for row in self.store.read(f"SELECT {columns} FROM reviews ORDER BY at")]

    def sums(self) -> list[KataSums]:
        """What all checks and attempts of each kata come to, by name."""
        checked = {
            kata: (count, right, last, rung, fastest)
            for kata, count, right, last, rung, fastest in self.store.read(_CHECK_SUMS)
        }
        tried = {
            kata: (count, passed, last, rung, used)
            for kata, count, passed, last, rung, used in self.store.read(_ATTEMPT_SUMS)
        }
        none = (0, 0, 0, None, None)
        found = []
        for kata in sorted(checked.keys() | tried.keys()):
            checks, right, last_check, rung, fastest = checked.get(kata, none)
            attempts, passed, last_attempt, attempt_rung, used = tried.get(kata, none)
            found.append(KataSums(
                kata, checks, right, attempts, passed, rows.instant(max(last_check, last_attempt)),
                max((one for one in (rung, attempt_rung) if one), default=None), fastest, used,
            ))  # fmt: skip
        return found

    def moments(self) -> list[int]:
        """When something was practised (a check, the start of an attempt, an answer), oldest first, as
        :func:`rows.stamp`."""
        return [at for (at,) in self.store.read(_MOMENTS)]

    def _attempts(self, where: str, values: tuple[object, int]) -> list[Attempt]:
        """Newest first; ``values`` are what ``where`` compares with, and how many are wanted, -1 for all."""
        columns = ", ".join(rows.COLUMNS["attempts"])
        found = self.store.read(f"SELECT {columns} FROM attempts {where} ORDER BY began DESC LIMIT ?2", values)
        return [rows.attempt_of(row) for row in found]

    def _insert(self, table: str, row: rows.Row) -> None:
        """Put a row in, unless it is there: a write may be done twice."""
        columns = rows.COLUMNS[table]
        places = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) ON CONFLICT (id) DO NOTHING"
        self.store.write(lambda db: db.execute(sql, row))
        self._keep(table, row[0])

    def _update(self, attempt_id: int, fields: str, values: tuple[object, ...]) -> None:
        try:
            self.attempt(attempt_id)
        except KeyError:
            if attempt_id not in self._held:
                raise
            self._insert("attempts", rows.attempt_row(self._held[attempt_id]))  # the file is another one than before
        sql = f"UPDATE attempts SET {fields} WHERE id = ? AND ending IS NULL"
        self.store.write(lambda db: db.execute(sql, (*values, attempt_id)))
        self._keep("attempts", attempt_id)

    def _keep(self, table: str, identity: int) -> None:
        """Put what was just written beside the file, where it didn't get into it."""
        if self.store.detached:
            self.store.notices += self._spill.keep(self.store, table, identity)

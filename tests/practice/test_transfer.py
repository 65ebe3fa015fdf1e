"""Export and import: whole, merged, and told what is wrong with a file."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.practice import rows
from harness.practice.history import FILE, History
from harness.practice.records import Attempt, CheckRecord, Ending, Grade
from harness.practice.transfer import lines, merge, parse, read_file, read_rows
from harness.results import Outcome
from tests.conftest import PATIENCE, environment
from tests.practice.making import NOON, Clock, attempt, check, opened


def practised(folder: Path) -> History:
    """A history with a check, an attempt that has ended, one that is open, and an answer."""
    history = opened(folder)
    ended = history.begin("add", "/desk/ädd \u2028.cu", 20, False)
    history.record(check(attempt=ended.id))
    history.finish(ended.id, Ending.PASSED, Outcome.RIGHT, 2, 300.5, 1)
    history.begin("relu", "/desk/relu.cu", 5, True)
    history.review("add/1", Grade.HARD)
    return history


def exported(history: History, path: Path) -> Path:
    path.write_text("\n".join(lines(read_rows(history.store))) + "\n", encoding="utf-8")
    return path


def everything(history: History) -> tuple[object, ...]:
    return list(history.checks()), {one.id: one for one in history.attempts()}, history.reviews()


def test_what_is_exported_is_imported_whole(tmp_path: Path) -> None:
    with practised(tmp_path / "a") as first, opened(tmp_path / "b") as second:
        path = exported(first, tmp_path / "a.jsonl")
        merged = merge(second.store, read_file(path))
        assert (merged.held, merged.new) == (4, 4)
        assert everything(second) == everything(first)
        assert merge(second.store, read_file(path)).new == 0
        assert everything(second) == everything(first)


def test_two_histories_that_went_their_own_ways_come_together(tmp_path: Path) -> None:
    with practised(tmp_path / "a") as first, opened(tmp_path / "b") as second:
        merge(second.store, read_file(exported(first, tmp_path / "a.jsonl")))
        (unfinished,) = first.open_attempts()
        first.save_progress(unfinished.id, 50, 1)
        second.finish(unfinished.id, Ending.GAVE_UP, None, None, 60, 2)
        second.record(check(NOON.replace(hour=13)))
        merge(first.store, read_file(exported(second, tmp_path / "b.jsonl")))
        merge(second.store, read_file(exported(first, tmp_path / "c.jsonl")))
        assert everything(first) == everything(second)
        assert first.open_attempts() == [] and first.attempt(unfinished.id).ending is Ending.GAVE_UP


def test_a_database_set_aside_is_imported_too(tmp_path: Path) -> None:
    with practised(tmp_path / "a") as first:
        before = everything(first)
    with opened(tmp_path / "b") as second:
        assert merge(second.store, read_file(tmp_path / "a" / FILE)).new == 4
        assert everything(second) == before


def good(tmp_path: Path) -> list[str]:
    with practised(tmp_path / "source") as history:
        return list(lines(read_rows(history.store)))


def changed(line: str, **fields: object) -> str:
    ((word, entry),) = json.loads(line).items()
    return json.dumps({word: entry | fields})


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"when": "yesterday"}, "when: "),
        ({"when": "2026-01-01T00:00:00"}, "offset from UTC"),
        ({"when": "0001-01-01T00:00:00+00:00"}, "offset from UTC"),
        ({"outcome": "splendid"}, "splendid"),
        ({"seconds": "3"}, "seconds: is a number"),
        ({"seconds": float("inf")}, "seconds: is a number"),
        ({"seconds": -1}, "seconds"),
        ({"rung": 0}, "rungs start at 1"),
        ({"rung": True}, "rung: is an integer"),
        ({"rung": 1 << 70}, "rung: is an integer"),
        ({"predicted": 1}, "predicted: is true or false"),
        ({"id": "x"}, "id: is an integer"),
        ({"id": 1 << 60}, "id: is an integer"),
        ({"kata": ""}, "kata: is text"),
        ({"kata": "\ud800"}, "kata: "),
        ({"file_hash": "zz"}, "SHA-256"),
        ({"colour": "red"}, "has the keys"),
    ],
)
def test_a_wrong_value_is_named_with_its_line_and_nothing_is_taken_in(
    tmp_path: Path, fields: dict[str, object], says: str
) -> None:
    text = good(tmp_path)
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join([*text, changed(text[1], **fields)]), encoding="utf-8")
    with pytest.raises(UsageError, match="check: ") as caught:
        read_file(path)
    assert says in caught.value.message
    assert (caught.value.file, caught.value.line) == (str(path), len(text) + 1)
    assert caught.value.remedy and "--export" in caught.value.remedy


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"\n\n", 1),
        (b"hello", 1),
        (b'{"kata_history": 2}\n', 1),
        (b'{"kata_history": 1}\n{"check": 3}\n', 2),
        (b'{"kata_history": 1}\n[1, 2]\n', 2),
        (b'{"kata_history": 1}\n{"visit": {}}\n', 2),
        (b'{"kata_history": 1}\n\n{"check"\n', 3),
        (b'{"kata_history": 1}\n"caf\xe9"\n', 2),
        (b'{"kata_history": 1}\n' + b"[" * 100_000, 2),
        (b"\x00\x01\x02", 1),
    ],
)
def test_a_file_of_another_sort_is_refused_with_its_line(tmp_path: Path, content: bytes, line: int) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_file(path)
    assert caught.value.line == line


@pytest.mark.parametrize("harm", [lambda content: content[:3000], lambda content: content[:100] + bytes(9000)])
def test_a_damaged_database_is_refused(tmp_path: Path, harm: object) -> None:
    practised(tmp_path).close()
    path = tmp_path / FILE
    path.write_bytes(harm(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(UsageError, match="can't be read as a history"):
        read_file(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(UsageError, match="can't read"):
            read_file(path)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /dev/stdin")
def test_a_pipe_is_read_as_text_and_a_database_in_it_is_refused(tmp_path: Path) -> None:
    with practised(tmp_path / "a") as history:
        text, database = exported(history, tmp_path / "a.jsonl"), tmp_path / "a" / FILE
    program = (
        "from pathlib import Path; from harness.practice.transfer import read_file\n"
        "print(*(len(rows) for rows in read_file(Path('/dev/stdin')).values()))"
    )
    taken, refused = (
        subprocess.run(
            [sys.executable, "-c", program], input=file.read_bytes(), env=environment(), capture_output=True,
            check=False, timeout=PATIENCE,
        )
        for file in (text, database)
    )  # fmt: skip
    assert taken.stdout.split() == [b"1", b"2", b"1"]
    assert b"is no file but a pipe" in refused.stderr


def test_import_survives_a_line_end_of_another_system(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_bytes(("\r\n".join(good(tmp_path)) + "\r\n").encode())
    with opened(tmp_path / "b", Clock()) as history:
        assert merge(history.store, read_file(path)).new == 4


_checks = st.builds(
    check, when=st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC)),
    kata=st.text(min_size=1), outcome=st.sampled_from(Outcome), rung=st.none() | st.integers(1, 9),
    attempt=st.none() | st.integers(0, 2**53 - 1), speed_us=st.none() | st.floats(1e-3, 1e9), predicted=st.booleans(),
)  # fmt: skip
_attempts = st.builds(
    attempt, ending=st.none() | st.sampled_from(Ending), minutes=st.floats(0.1, 1e4), used=st.floats(0, 1e6),
    hints=st.integers(0, 9), outcome=st.none() | st.sampled_from(Outcome), rung=st.none() | st.integers(1, 9),
)  # fmt: skip


@given(checks=st.lists(_checks, max_size=5), attempts=st.lists(_attempts, max_size=5))
def test_every_record_survives_the_text(checks: list[CheckRecord], attempts: list[Attempt]) -> None:
    found = {
        "checks": [rows.check_row(number, one) for number, one in enumerate(checks)],
        "attempts": [rows.attempt_row(one) for one in attempts],
        "reviews": [],
    }
    assert parse(Path("text"), "\n".join(lines(found)).split("\n")) == found
    assert [rows.check_of(row) for row in found["checks"]] == checks
    assert [rows.attempt_of(row) for row in found["attempts"]] == attempts

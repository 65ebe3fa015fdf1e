"""The history for a person, for a program, and as a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from typing import Any

from click import style

from harness.practice.records import Attempt, CheckRecord, Ending
from harness.reports.jsonout import SCHEMA
from harness.reports.text import count, duration, visible, wrap
from harness.results import Outcome

Entry = CheckRecord | Attempt


def merged(checks: Iterable[CheckRecord], attempts: Iterable[Attempt], limit: int | None) -> list[Entry]:
    """Both by time, newest first, at most ``limit``."""
    entries: list[Entry] = [*checks, *attempts]
    return sorted(entries, key=when_of, reverse=True)[:limit]


def when_of(entry: Entry) -> datetime:
    """When it was: an attempt when it began."""
    return entry.when if isinstance(entry, CheckRecord) else entry.began


def history_lines(entries: Sequence[Entry], zone: tzinfo | None = None) -> list[str]:
    """A line for each, with its local time."""
    room = max(len(visible(entry.kata)) for entry in entries)
    lines = []
    for entry in entries:
        start = f"{when_of(entry).astimezone(zone):%Y-%m-%d %H:%M}  {visible(entry.kata):<{room}}  "
        good = entry.outcome is Outcome.RIGHT
        said = _check(entry) if isinstance(entry, CheckRecord) else _attempt(entry)
        first, *rest = wrap(start + said, indent="", hanging=" " * len(start))
        word = said.split(",")[0]
        lines += [first.replace(word, style(word, fg="green" if good else None)), *rest]
    return lines


def history_record(entries: Iterable[Entry]) -> dict[str, Any]:
    """The answer of ``kata history`` for a program, newest first."""
    return {"schema": SCHEMA, "history": [_fields(entry) for entry in entries]}


def history_csv(entries: Iterable[Entry]) -> str:
    """One row for each; a field that one kind of entry lacks is empty."""
    rows = [_fields(entry) for entry in entries]
    return table_csv(_FIELDS, rows)


def table_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """RFC 4180 text with a header; None is an empty field, and no field is a formula to a spreadsheet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Text without control characters; what a spreadsheet would run (OWASP, "CSV Injection") begins with a quote."""
    if not isinstance(value, str):
        return value
    return "'" + visible(value) if value.startswith(("=", "+", "-", "@", "\t", "\r")) else visible(value)


def clock(seconds: float) -> str:
    """``12:03`` minutes."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def attempt_words(attempt: Attempt) -> str:
    """``passed, 12:03 of 20:00, 1 hint, rung 3``."""
    ending = {
        Ending.PASSED: "passed", Ending.FAILED: "failed", Ending.GAVE_UP: "gave up", Ending.TIMED_OUT: "time ran out",
        None: "open",
    }[attempt.ending]  # fmt: skip
    hints = f", {count(attempt.hints, 'hint')}" if attempt.hints else ""
    rung = f", rung {attempt.rung}" if attempt.rung else ""
    took = f"{clock(attempt.used)} of {clock(attempt.minutes * 60)}"
    return f"{ending}, {took}{hints}{rung}"


_FIELDS = ("when", "what", "kata", "verdict", "ending", "rung", "seconds", "minutes", "hints", "interview", "attempt",
           "file", "file_hash", "device", "speed_us", "predicted")  # fmt: skip


def _fields(entry: Entry) -> dict[str, Any]:
    verdict = entry.outcome.value if entry.outcome else None
    fields: dict[str, Any] = {"when": when_of(entry).isoformat(), "kata": entry.kata, "verdict": verdict,
                              "rung": entry.rung, "file": entry.file}  # fmt: skip
    if isinstance(entry, CheckRecord):
        return {"what": "check"} | fields | {
            "seconds": round(entry.seconds, 3), "attempt": entry.attempt, "file_hash": entry.file_hash,
            "device": entry.device, "speed_us": entry.speed_us, "predicted": entry.predicted,
        }  # fmt: skip
    return {"what": "attempt"} | fields | {
        "attempt": entry.id, "ending": entry.ending.value if entry.ending else "open",
        "seconds": round(entry.used, 3), "minutes": entry.minutes, "hints": entry.hints, "interview": entry.interview,
    }  # fmt: skip


def _check(check: CheckRecord) -> str:
    rung = f", rung {check.rung}{' (predicted)' if check.predicted else ''}" if check.rung else ""
    speed = f", {duration(check.speed_us * 1e-6)}" if check.speed_us else ""
    where = f", {visible(check.device)}" if check.device != "none" else ""
    return f"check: {check.outcome.value.replace('_', ' ')}{rung}{speed}{where}"


def _attempt(attempt: Attempt) -> str:
    return f"{'interview' if attempt.interview else 'practice'}: {attempt_words(attempt)}"

"""What a check came to, as a record of the history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from harness.errors import CompileError, KataError, KernelFault, SourceError
from harness.practice.records import Attempt, CheckRecord
from harness.results import Outcome, Speed, Verdict

#: Errors that say something about the file, and what; any other is about the machine or the command.
_OUTCOMES = {CompileError: Outcome.COMPILE_ERROR, SourceError: Outcome.COMPILE_ERROR, KernelFault: Outcome.FAULT}


def fingerprint(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal. OSError where it can't be read."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_of_verdict(verdict: Verdict, file_hash: str, when: datetime, attempt: int | None = None) -> CheckRecord:
    """The record of a check that reached a verdict at ``when`` (UTC)."""
    rung, speed_us = standing(verdict.speed)
    return CheckRecord(
        when, verdict.kata, str(Path(verdict.file).absolute()), file_hash, verdict.outcome, rung, verdict.device,
        verdict.seconds, attempt, speed_us, predicted=verdict.speed is not None and verdict.speed.predicted,
    )  # fmt: skip


def check_of_error(
    error: KataError, kata: str, path: Path, file_hash: str, when: datetime, seconds: float, attempt: int | None = None
) -> CheckRecord | None:
    """The record of a check that ended in ``error``; None where that says nothing about the file."""
    outcome = next((outcome for kind, outcome in _OUTCOMES.items() if isinstance(error, kind)), None)
    if outcome is None:
        return None
    return CheckRecord(
        when, kata, str(path.absolute()), file_hash, outcome, None, "none", seconds, attempt, None, predicted=False
    )


def standing(speed: Speed | None) -> tuple[int | None, float | None]:
    """The rung reached and the kernel's time in microseconds, None for what isn't known or doesn't count."""
    if speed is None or speed.timing is None or speed.grade is None:
        return None, None
    return speed.grade.rung, speed.timing.seconds * 1e6


def attempt_for(path: Path, attempts: Iterable[Attempt]) -> int | None:
    """The id of the first of these open attempts whose file is ``path``."""
    return next((one.id for one in attempts if Path(one.file).absolute() == path.absolute()), None)

"""Records for programs. Every one carries ``schema``, which changes when a key changes its meaning or goes away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harness.catalogue import Kata
from harness.errors import CompileError, EnvironmentFault, KataError, KernelFault, SourceError
from harness.results import CaseResult, Hazard, Mismatch, Speed, Timing, Verdict

if TYPE_CHECKING:
    from harness.practice.schedule import Due
    from harness.practice.statistics import KataSums

SCHEMA = 1

#: The ``verdict`` of a check that ended in an error, by the error's class; any other error is ``usage``.
_ERROR_VERDICTS = ((CompileError, "compile_error"), (SourceError, "refused"), (KernelFault, "fault"),
                   (EnvironmentFault, "environment"))  # fmt: skip


def check_record(verdict: Verdict) -> dict[str, Any]:
    """The answer of ``kata check``. ``speed`` is empty where no time was taken."""
    return {
        "schema": SCHEMA,
        "kata": verdict.kata,
        "file": verdict.file,
        "verdict": verdict.outcome.value,
        "device": verdict.device,
        "seed": verdict.seed,
        "seconds": round(verdict.seconds, 3),
        "cases": [_case(case) for case in verdict.cases],
        "mismatches": [_mismatch(case.mismatch) for case in verdict.cases if case.mismatch],
        "hazards": [_hazard(hazard) for hazard in verdict.hazards],
        "speed": speed_fields(verdict.speed) if verdict.speed else {},
        "warnings": list(verdict.warnings),
        "remarks": list(verdict.remarks),
        "printed": list(verdict.printed),
    }


def bench_record(kata: str, device: str, speeds: Iterable[Speed], warnings: Iterable[str]) -> dict[str, Any]:
    """The answer of ``kata bench``: an entry for each size."""
    return {
        "schema": SCHEMA, "kata": kata, "device": device, "speed": [speed_fields(speed) for speed in speeds],
        "warnings": list(warnings),
    }  # fmt: skip


def speed_fields(speed: Speed) -> dict[str, Any]:
    """What timing one size showed. Times are seconds; ``of_light`` is 1 at the speed of light."""
    grade = speed.grade
    return {
        "case": speed.label, "bytes": speed.nbytes, "flops": speed.flops, "light": speed.light,
        "limit": speed.limit, "noisy": speed.noisy, "par": speed.par,
        "yours": _timing(speed, speed.timing) if speed.timing else None,
        "rungs": [
            {"rung": number, "title": rung.name} | _timing(speed, rung) for number, rung in enumerate(speed.rungs, 1)
        ],
        "grade": None if grade is None else {
            "rung": grade.rung, "par_reached": grade.par_reached, "next": grade.next, "next_ratio": grade.next_ratio,
            "best_ratio": grade.best_ratio,
        },
        "refused": speed.refused, "predicted": speed.predicted, "gpu": speed.gpu, "limiter": speed.limiter,
    }  # fmt: skip


def _timing(speed: Speed, timing: Timing) -> dict[str, Any]:
    return {"seconds": timing.seconds, "low": timing.low, "high": timing.high, "samples": timing.samples,
            "of_light": speed.of_light(timing)}  # fmt: skip


def check_error_record(error: KataError, *, kata: str, file: str) -> dict[str, Any]:
    """The answer of ``kata check`` when it ended before a verdict: the same keys, and ``error``."""
    word = next((word for kind, word in _ERROR_VERDICTS if isinstance(error, kind)), "usage")
    hazards = [_hazard(error.hazard)] if isinstance(error, KernelFault) else []
    return {
        "schema": SCHEMA, "kata": kata, "file": file, "verdict": word, "device": None, "seed": None, "seconds": None,
        "cases": [], "mismatches": [], "hazards": hazards, "speed": {}, "warnings": [], "remarks": [], "printed": [],
        "error": error_fields(error),
    }  # fmt: skip


def error_record(error: KataError) -> dict[str, Any]:
    """The answer of any other command that ended in an error."""
    return {"schema": SCHEMA, "error": error_fields(error)}


def error_fields(error: KataError) -> dict[str, Any]:
    """What an error says, key by key."""
    return {"message": error.message, "file": error.file, "line": error.line, "evidence": error.evidence,
            "remedy": error.remedy, "exit_code": error.exit_code}  # fmt: skip


def list_record(
    katas: Iterable[Kata], due: Iterable[Due] = (), sums: Mapping[str, KataSums] | None = None
) -> dict[str, Any]:
    """The answer of ``kata list``. ``due`` of a kata that was never practised to the end is null, and so is ``done`` of
    one for which nothing was."""
    known, done = {one.kata: one for one in due}, sums or {}
    return {
        "schema": SCHEMA,
        "katas": [
            _kata(kata) | {"due": _due(known.get(kata.name)), "done": _done(done.get(kata.name))} for kata in katas
        ],
    }


def _done(sums: KataSums | None) -> dict[str, Any] | None:
    if sums is None:
        return None
    return {"checks": sums.checks, "right": sums.right, "attempts": sums.attempts, "best_rung": sums.rung}


def _due(due: Due | None) -> dict[str, Any] | None:
    if due is None or due.when is None:
        return None
    return {"when": due.when.isoformat(), "today": due.today, "why": due.why}


def _kata(kata: Kata) -> dict[str, Any]:
    return {
        "name": kata.name, "title": kata.title, "summary": kata.summary, "frequency": kata.frequency,
        "minutes": kata.minutes, "topics": list(kata.topics), "signature": kata.signature, "hints": len(kata.hints),
        "questions": len(kata.questions),
        "rungs": [{"number": rung.number, "title": rung.title} for rung in kata.rungs],
    }  # fmt: skip


def _case(case: CaseResult) -> dict[str, Any]:
    return {"case": case.label, "group": case.group, "verdict": case.outcome.value, "seconds": round(case.seconds, 3)}


def _mismatch(mismatch: Mismatch) -> dict[str, Any]:
    return {
        "case": mismatch.case, "parameter": mismatch.parameter, "index": list(mismatch.index), "got": mismatch.got,
        "expected": mismatch.expected, "allowed": mismatch.allowed, "wrong": mismatch.wrong, "size": mismatch.size,
        "pattern": mismatch.pattern, "sentence": mismatch.sentence,
    }  # fmt: skip


def _hazard(hazard: Hazard) -> dict[str, Any]:
    return {
        "class": hazard.kind, "severity": hazard.severity.value, "line": hazard.line, "message": hazard.message,
        "kernel": hazard.kernel, "block": hazard.block and list(hazard.block),
        "thread": hazard.thread and list(hazard.thread), "count": hazard.count, "remedy": hazard.remedy,
    }  # fmt: skip

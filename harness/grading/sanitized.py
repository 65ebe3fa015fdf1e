"""What compute-sanitizer found, folded into what a check says: nothing twice, and false alarms as warnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.devices.gpu_findings import CLASSES, TOOLS, Finding
from harness.results import Hazard, Severity

#: Where the simulator watched the same cases and saw nothing, these are doubted: why.
_DOUBTS = {
    "race": "racecheck knows barriers, and not the other ways to wait, like flags and named barriers",
    "uninitialised": "initcheck takes moving what nobody wrote for using it",
}

_LINE = re.compile(r"\blines? (\d+)")
_SEVERITIES = {"Error": Severity.ERROR, "Warning": Severity.WARNING, "Info": Severity.NOTE}


@dataclass(frozen=True)
class Sanitized:
    """The hazards that only compute-sanitizer told of, and a sentence about all that it found, if it ran."""

    hazards: tuple[Hazard, ...] = ()
    remarks: tuple[str, ...] = ()


def fold(findings: Iterable[Finding], known: Sequence[Hazard], cases: int, *, watched: bool) -> Sanitized:
    """What ``findings`` add to the ``known`` hazards. ``watched``: the simulator saw every access of the ``cases``."""
    found = tuple(findings)
    added = tuple(hazard_of(one, watched=watched) for one in found if not any(_is(one, hazard) for hazard in known))
    told = len(found) - len(added)
    ran = f"compute-sanitizer ({', '.join(TOOLS)}) over {cases} cases"
    if not found:
        return Sanitized((), (f"{ran}: nothing found",))
    return Sanitized(added, (f"{ran}: {len(found)} found, of which {told} are told without it",))


def hazard_of(finding: Finding, *, watched: bool) -> Hazard:
    """A finding in our words."""
    kind = "launch" if finding.kind == "api_error" else finding.kind
    severity = _SEVERITIES.get(finding.says, Severity.ERROR)
    remedy = None
    if watched and severity is Severity.ERROR and kind in _DOUBTS:
        severity = Severity.WARNING
        remedy = f"the simulator watched every access and saw none; {_DOUBTS[kind]}"
    return Hazard(
        kind, severity, _sentence(finding), line=finding.lines[-1] if finding.lines else None,
        kernel=finding.function, block=_dim(finding.block), thread=_dim(finding.thread), count=finding.count,
        remedy=remedy, other_line=finding.lines[0] if len(finding.lines) > 1 else None,
    )  # fmt: skip


def _sentence(finding: Finding) -> str:
    where = f" in {finding.function}" if finding.function else ""
    what = finding.says
    if finding.kind == "race":
        lines = " and ".join(f"line {line}" for line in finding.lines)
        what = "a race in shared memory" + (f" between {lines}" if len(finding.lines) > 1 else "")
    return f"compute-sanitizer's {finding.tool}: {what}{where}"


def _dim(numbers: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    return (numbers[0], numbers[1], numbers[2]) if numbers else None


def _is(finding: Finding, hazard: Hazard) -> bool:
    """Whether a hazard tells of the same thing: of its class, at one of its lines where any are known."""
    mine = lines_of(hazard)
    return hazard.kind in CLASSES[finding.kind] and (not mine or not finding.lines or bool(mine & set(finding.lines)))


def lines_of(hazard: Hazard) -> frozenset[int]:
    """Every line that a hazard names."""
    named = {int(number) for number in _LINE.findall(hazard.message)}
    return frozenset(named | {line for line in (hazard.line, hazard.other_line) if line is not None})

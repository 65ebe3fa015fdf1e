"""How far our own check of a file agrees with what compute-sanitizer found in it.

A finding of theirs is met where we report its class (:data:`CLASSES`) in the same file at a line that it names: either
line of a race, and of a value read before it was written the line of the load or of its use. It is ``later`` where a
fault of ours at another line ended the launch before that line was reached: a tool lets the other threads run on.
racecheck follows shared memory alone and initcheck global memory alone, so where we report a race in global memory or
unset shared memory, we say more.
"""

from __future__ import annotations

import itertools
import multiprocessing
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.gpu.drivers import ROOT, KataFile, kata_files
from tests.gpu.findings import TOOLS, Finding

#: What we call each class of theirs. initcheck knows no bounds: what lies past the end is memory that nobody wrote. A
#: CUDA call that failed may have failed for a fault before it.
CLASSES: Mapping[str, frozenset[str]] = {
    "out_of_bounds": frozenset({"out_of_bounds", "null_pointer", "use_after_free"}),
    "misaligned": frozenset({"misaligned"}),
    "race": frozenset({"race"}),
    "uninitialised": frozenset({"uninitialised", "out_of_bounds"}),
    "barrier": frozenset({"barrier", "missing_lanes"}),
    "api_error": frozenset({"launch", "trap", "assert", "double_free", "invalid_free", "out_of_bounds"}),
}

#: Errors of ours that end a launch.
_FAULTS = frozenset({"out_of_bounds", "misaligned", "null_pointer", "use_after_free", "uninitialised", "barrier"})

#: What can become of a finding of theirs, the best first. ``elsewhere``: of its class we report other lines.
VERDICTS = ("met", "later", "refused", "elsewhere", "missed")

_LINE = re.compile(r"\blines? (\d+)")


@dataclass(frozen=True)
class Reported:
    """One hazard of ours, with every line that it names."""

    kind: str
    severity: str
    lines: frozenset[int]


@dataclass(frozen=True)
class Heard:
    """What our check said about a file; ``refused`` where it did not get as far as running it."""

    hazards: tuple[Reported, ...] = ()
    refused: str | None = None


@dataclass(frozen=True)
class Judged:
    """A finding of theirs, and which of :data:`VERDICTS` became of it."""

    file: str
    finding: Finding
    verdict: str


@dataclass
class Report:
    """All of it. ``changed`` files are not those that were recorded, and are left out; so are those never recorded."""

    judged: list[Judged] = field(default_factory=list)
    more: list[tuple[str, Reported]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    files: int = 0
    unrecorded: int = 0

    @property
    def missed(self) -> list[Judged]:
        """What they found and we did not, or not at that line."""
        return [one for one in self.judged if one.verdict in ("missed", "elsewhere")]

    def table(self) -> str:
        """The table of agreement, for a person."""
        head = f"{'':<12}{'files':>7}{'findings':>10}"
        lines = [f"{self.files} files", head + "".join(f"{verdict:>11}" for verdict in VERDICTS)]
        for tool in TOOLS:
            rows = [one for one in self.judged if one.finding.tool == tool]
            counts = Counter(one.verdict for one in rows)
            head = f"{tool:<12}{len({one.file for one in rows}):>7}{len(rows):>10}"
            lines.append(head + "".join(f"{counts[verdict]:>11}" for verdict in VERDICTS))
        lines.append("we say more: " + (", ".join(f"{kind} {n}" for kind, n in self._more().items()) or "nothing"))
        for one in self.missed:
            theirs = f"{one.finding.tool} {one.finding.kind} at {', '.join(map(str, one.finding.lines)) or 'no line'}"
            lines.append(f"{one.verdict}: {one.file}: {theirs}: {one.finding.says}")
        if self.unrecorded:
            lines.append(f"not recorded: {self.unrecorded} more files of this checkout")
        if self.changed:
            lines.append(f"changed since they were recorded: {', '.join(self.changed)}")
        return "\n".join(lines)

    def _more(self) -> Counter[str]:
        return Counter(reported.kind for _, reported in self.more)


def findings_of(row: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The findings of one file's entry of the record."""
    return tuple(Finding.from_json(one) for one in row.get("findings", ()))


def judge(path: str, findings: Iterable[Finding], heard: Heard) -> Iterator[Judged]:
    """What became of each finding."""
    for finding in findings:
        yield Judged(path, finding, _verdict(finding, heard))


def _verdict(finding: Finding, heard: Heard) -> str:
    if heard.refused:
        return "refused"
    weights = ("error", "warning", "note") if finding.says == "Info" else ("error", "warning")
    hazards = [one for one in heard.hazards if one.severity in weights]
    same = [one for one in hazards if one.kind in CLASSES[finding.kind]]
    if same and (not finding.lines or any(one.lines & set(finding.lines) for one in same)):
        return "met"
    if any(one.kind in _FAULTS for one in hazards):
        return "later"
    return "elsewhere" if same else "missed"


def beyond(findings: Iterable[Finding], heard: Heard) -> Iterator[Reported]:
    """Our errors and warnings of classes that no tool found in the file."""
    known = frozenset().union(*(CLASSES[finding.kind] for finding in findings))
    for one in heard.hazards:
        if one.kind not in known and one.severity != "note":
            yield one


def hear(file: KataFile, seed: int) -> Heard:
    """Check a file in the simulator."""
    from harness import catalogue
    from harness.devices import open_device
    from harness.errors import CompileError, SourceError
    from harness.grading import check_file

    try:
        verdict = check_file(catalogue.load(file.kata), ROOT / file.path, device=open_device("sim"), seed=seed)
    except (CompileError, SourceError) as error:
        return Heard(refused=error.message)
    return Heard(tuple(
        Reported(hazard.kind, hazard.severity.value, frozenset(_lines(hazard.line, hazard.message)))
        for hazard in verdict.hazards
    ))  # fmt: skip


def _lines(line: int | None, message: str) -> Iterator[int]:
    if line is not None:
        yield line
    yield from map(int, _LINE.findall(message))


def compare(recorded: Mapping[str, Any], *, only: str, seed: int, processes: int) -> Report:
    """Check every recorded file whose path holds ``only`` and which is still the same."""
    report = Report()
    chosen = []
    known = recorded["files"]
    report.unrecorded = sum(only in file.path and file.path not in known for file in kata_files())
    for path, row in known.items():
        file = KataFile(path, path.split("/")[-2])
        if only not in path or "not_built" in row:
            continue
        if not file.exists or file.digest != row["digest"]:
            report.changed.append(path)
            continue
        chosen.append((file, findings_of(row)))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        heard = pool.map(hear, [file for file, _ in chosen], itertools.repeat(seed))
        for (file, findings), said in zip(chosen, heard, strict=True):
            report.files += 1
            report.judged += judge(file.path, findings, said)
            report.more += ((file.path, one) for one in beyond(findings, said))
    return report

"""How far our own check of a file agrees with what compute-sanitizer found in it.

A finding of theirs is met where we report its class (``CLASSES``) in the same file at a line that it names: either
line of a race, and of a value read before it was written the line of the load or of its use. It is ``later`` where a
fault of ours at another line ended the launch before that line was reached: a tool lets the other threads run on.
racecheck follows shared memory alone and initcheck global memory alone, so where we report a race in global memory or
unset shared memory, we say more. Some findings of theirs are no mistakes: ``false_alarms.toml`` lists them with the
reason, and every entry of it has to be met with.
"""

from __future__ import annotations

import itertools
import multiprocessing
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.devices.gpu_findings import CLASSES, TOOLS, Finding
from harness.grading.sanitized import lines_of
from tests.gpu.drivers import ROOT, KataFile, kata_files

#: Errors of ours that end a launch.
_FAULTS = frozenset({
    "out_of_bounds", "misaligned", "null_pointer", "use_after_free", "uninitialised", "barrier", "missing_lanes",
})  # fmt: skip

#: What can become of a finding of theirs, the best first. ``elsewhere``: of its class we report other lines.
VERDICTS = ("met", "later", "refused", "false alarm", "elsewhere", "missed")

ALARMS = Path(__file__).with_name("false_alarms.toml")


@dataclass(frozen=True)
class Alarm:
    """Findings of one tool in one file that are no mistakes: the lines of each, and why."""

    file: str
    tool: str
    lines: tuple[tuple[int, ...], ...]
    why: str

    def __post_init__(self) -> None:
        if not (self.lines and self.why and self.tool in TOOLS):
            raise ValueError(f"a false alarm has a tool, lines and a reason: {self}")

    def covers(self, path: str, finding: Finding) -> bool:
        """Whether it is about this finding."""
        return (self.file, self.tool) == (path, finding.tool) and finding.lines in self.lines


def read_alarms(path: Path = ALARMS) -> tuple[Alarm, ...]:
    """The table of false alarms."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["alarm"]
    return tuple(Alarm(**row | {"lines": tuple(tuple(lines) for lines in row["lines"])}) for row in rows)


def without_cause(alarms: Iterable[Alarm], judged: Iterable[Judged]) -> list[str]:
    """What is wrong with the table, in words: lines of it that no tool reports any more, or that we report too."""
    found = {(one.file, one.finding.tool, one.finding.lines): one.verdict for one in judged}
    return [
        f"{alarm.file}: {alarm.tool} at {', '.join(map(str, lines)) or 'no line'} is "
        + (f"{verdict} by our own check" if verdict else "no longer reported")
        for alarm in alarms for lines in alarm.lines
        if (verdict := found.get((alarm.file, alarm.tool, lines))) != "false alarm"
    ]  # fmt: skip


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
    alarms: tuple[Alarm, ...] = ()
    stale: list[str] = field(default_factory=list)
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
        lines = [f"{self.files} files", head + "".join(f"{verdict:>13}" for verdict in VERDICTS)]
        for tool in TOOLS:
            rows = [one for one in self.judged if one.finding.tool == tool]
            counts = Counter(one.verdict for one in rows)
            head = f"{tool:<12}{len({one.file for one in rows}):>7}{len(rows):>10}"
            lines.append(head + "".join(f"{counts[verdict]:>13}" for verdict in VERDICTS))
        lines.append("we say more: " + (", ".join(f"{kind} {n}" for kind, n in self._more().items()) or "nothing"))
        for alarm in self.alarms:
            lines.append(f"false alarm of {alarm.tool}: {alarm.file}: {alarm.why}")
        lines += [f"stale in {ALARMS.name}: {what}" for what in self.stale]
        for one in self.missed:
            theirs = f"{one.finding.tool} {one.finding.kind} at {', '.join(map(str, one.finding.lines)) or 'no line'}"
            lines.append(f"{one.verdict}: {one.file}: {theirs}: {one.finding.says}")
        if self.unrecorded:
            lines.append(f"not recorded: {self.unrecorded} more files of this checkout")
        if self.changed:
            lines.append(f"changed since they were recorded: {', '.join(self.changed)}")
        return "\n".join(lines)

    def told_alone(self) -> str:
        """Every place where we say more, for a person to look at."""
        return "\n".join(
            f"{path}: {one.severity} {one.kind} at {', '.join(map(str, sorted(one.lines))) or 'no line'}"
            for path, one in sorted(self.more, key=lambda pair: (pair[1].kind, pair[0]))
        )

    def _more(self) -> Counter[str]:
        return Counter(reported.kind for _, reported in self.more)


def findings_of(row: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The findings of one file's entry of the record."""
    return tuple(Finding.from_json(one) for one in row.get("findings", ()))


def judge(path: str, findings: Iterable[Finding], heard: Heard, alarms: Iterable[Alarm] = ()) -> Iterator[Judged]:
    """What became of each finding."""
    for finding in findings:
        verdict = _verdict(finding, heard)
        if verdict != "met" and any(alarm.covers(path, finding) for alarm in alarms):
            verdict = "false alarm"
        yield Judged(path, finding, verdict)


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
        Reported(hazard.kind, hazard.severity.value, lines_of(hazard))
        for hazard in verdict.hazards
    ))  # fmt: skip


def compare(recorded: Mapping[str, Any], *, only: str, seed: int, processes: int) -> Report:
    """Check every recorded file whose path holds ``only`` and which is still the same."""
    report, alarms = Report(), read_alarms()
    chosen = []
    known = recorded["files"]
    report.unrecorded = sum(only in file.path and file.path not in known for file in kata_files())
    for path, row in known.items():
        file = KataFile.at(path)
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
            report.judged += judge(file.path, findings, said, alarms)
            report.more += ((file.path, one) for one in beyond(findings, said))
    compared = {file.path for file, _ in chosen}
    report.alarms = tuple(one for one in alarms if one.file in compared)
    report.stale = without_cause([one for one in alarms if only in one.file], report.judged)
    return report

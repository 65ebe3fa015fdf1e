"""What compute-sanitizer prints, as records: one for each class, function and pair of lines, with a count.

    ========= Invalid __global__ write of size 4 bytes
    =========     at scale(const float *, float *, int)+0x70 in /home/ada/tests/wrong/add/one_past_the_end.cu:12
    =========     by thread (5,0,0) in block (0,0,0)

A record starts at a line that is not indented after the ``=========``, and its details are indented. Where one process
runs many files, one after the other, a record belongs to the file that it names, else to the one that was running.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")

#: A program that runs many files prints lines of the mark, the first word or how a file ended, and the file's path.
MARK, BEGIN = "::kata", "begin"

#: What we call each class of a tool's findings. initcheck knows no bounds: what lies past the end is memory that nobody
#: wrote. A CUDA call that failed may have failed for a fault before it.
CLASSES: Mapping[str, frozenset[str]] = {
    "out_of_bounds": frozenset({"out_of_bounds", "null_pointer", "use_after_free"}),
    "misaligned": frozenset({"misaligned"}),
    "race": frozenset({"race"}),
    "uninitialised": frozenset({"uninitialised", "out_of_bounds"}),
    "barrier": frozenset({"barrier", "missing_lanes"}),
    "illegal_instruction": frozenset({"barrier", "trap"}),  # the GPU's own word for a barrier of two counts
    "api_error": frozenset({
        "launch", "trap", "assert", "double_free", "invalid_free", "null_pointer", "out_of_bounds", "out_of_memory",
        "barrier",
    }),
}  # fmt: skip

_PREFIX = "========="
_PLACE = re.compile(r"(?P<function>\S.*?)\+0x[0-9a-f]+ in (?P<file>\S.*):(?P<line>\d+)")
_THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
_HAZARDS = re.compile(r"\[(\d+) hazards?\]")
_NAME = re.compile(r"(~?\w+)\s*(?:<.*>)?\(")

#: The class of a record by how it starts; None for what is no finding. The first that matches decides.
_TITLES: tuple[tuple[re.Pattern[str], str | None], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"COMPUTE-SANITIZER|\w+ SUMMARY|Target application returned an error", None),
        (r"Error: process didn't terminate successfully", None),  # how it ended is recorded
        (r"Program hit .* call to (cudaGetLastError|cudaPeekAtLastError)", None),  # told where it came up
        (r"Invalid __\w+__ .*of size", "out_of_bounds"),
        (r"(Error|Warning|Info): Race reported", "race"),
        (r"Uninitialized|Host API uninitialized", "uninitialised"),
        (r"Barrier error detected", "barrier"),
        (r"Illegal instruction", "illegal_instruction"),
        (r"Program hit", "api_error"),
    )
)


@dataclass(frozen=True)
class Finding:
    """One thing a tool found. ``lines`` are the lines of the user's file that it names: of a race, of both accesses.

    ``kind`` is the class in our words, or ``api_error`` for a CUDA call that failed; ``says`` is the tool's own title,
    of a race its severity; ``thread`` and ``block`` are where it was first met.
    """

    tool: str
    kind: str
    says: str
    function: str | None = None
    lines: tuple[int, ...] = ()
    count: int = 1
    thread: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Without what is not known."""
        return {key: value for key, value in asdict(self).items() if value not in (None, ())}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Finding:
        """The record that :meth:`as_json` wrote."""
        return cls(**row | {key: tuple(row[key]) for key in ("lines", "thread", "block") if key in row})


@dataclass
class Said:
    """What one process said about the files it ran, in that order.

    ``ended`` is the runner's last word on each file, None for one during which the process went down. ``unknown`` are
    titles that this module has no class for. ``full`` is the file with which the process had said all that it may: what
    it said of those after it is not all.
    """

    ended: dict[str, str | None] = field(default_factory=dict)
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    unknown: dict[str, list[str]] = field(default_factory=dict)
    full: str | None = None


def parse(text: str, tool: str, paths: Collection[str], limit: int) -> Said:
    """Read the output of ``tool`` over a process that ran the files ``paths`` and may print ``limit`` errors."""
    said = Said()
    found: dict[str, list[Finding]] = {}
    for number, (running, title, details) in enumerate(_records(text, said)):
        if number >= limit:
            said.full = said.full or running
        kind = next((kind for pattern, kind in _TITLES if pattern.match(title)), "unknown")
        if kind is None:
            continue
        path = _named([title, *details], paths) or running
        if path is None or kind == "unknown":
            said.unknown.setdefault(path or "", []).append(title)
        else:
            found.setdefault(path, []).extend(_read(tool, kind, title, details, path))
    said.findings = {path: list(_merged(findings)) for path, findings in found.items()}
    return said


def _records(text: str, said: Said) -> Iterator[tuple[str | None, str, list[str]]]:
    """The file that was running, title and details of each record; notes in ``said`` how far the process came."""
    record: tuple[str | None, str, list[str]] | None = None
    running: str | None = None
    for line in text.splitlines():
        if line.startswith(MARK):
            _, word, running = line.split(" ", 2)
            said.ended[running] = None if word == BEGIN else word
        content = line.removeprefix(_PREFIX)
        if content == line or not content.strip():
            continue  # what the program itself printed, or the space between two records
        if content.startswith("  ") and record is not None:
            record[2].append(content.strip())
            continue
        if record is not None:
            yield record
        record = (running, content.strip(), [])
    if record is not None:
        yield record


def _read(tool: str, kind: str, title: str, details: list[str], path: str) -> Iterator[Finding]:
    if kind == "race":
        yield from _read_race(tool, title, details, path)
        return
    text = "\n".join(details)
    if kind == "out_of_bounds" and "is misaligned" in text:
        kind = "misaligned"
    function, lines = _where(details, path)
    found = _THREAD.search(text)
    numbers = tuple(int(number) for number in found.groups()) if found else ()
    yield Finding(tool, kind, title.rstrip("."), function, lines[:1], 1, numbers[:3] or None, numbers[3:] or None)


def _read_race(tool: str, title: str, details: list[str], path: str) -> Iterator[Finding]:
    """One finding for each access that races with the one in the title."""
    function, first = _where([title], path)
    for detail in details:
        hazards = _HAZARDS.search(detail)
        if hazards:
            _, second = _where([detail], path)
            lines = tuple(sorted({*first, *second}))
            yield Finding(tool, "race", title.split(":")[0], function, lines, int(hazards[1]))


def _where(texts: Iterable[str], path: str) -> tuple[str | None, tuple[int, ...]]:
    """The function, and the lines of the file ``path``, innermost first."""
    function: str | None = None
    lines: list[int] = []
    for place in _places(texts):
        name = _NAME.search(place["function"])
        function = function or (name[1] if name else None)
        if _is(place["file"], path):
            lines.append(int(place["line"]))
    return function, tuple(lines)


def _named(texts: Iterable[str], paths: Collection[str]) -> str | None:
    """The file of ``paths`` that a record names."""
    for place in _places(texts):
        for path in paths:
            if _is(place["file"], path):
                return path
    return None


def _places(texts: Iterable[str]) -> Iterator[re.Match[str]]:
    for text in texts:
        yield from _PLACE.finditer(text)


def _is(file: str, path: str) -> bool:
    """Whether a file, named as the compiler was told of it, is the one at ``path`` in a checkout."""
    return file == path or file.endswith(f"/{path}")


def _merged(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One for each class, function and lines, as it was first met, with the counts added."""
    first: dict[tuple[Any, ...], Finding] = {}
    for finding in findings:
        key = (finding.kind, finding.says, finding.function, finding.lines)
        seen = first.get(key)
        first[key] = dataclasses.replace(seen, count=seen.count + finding.count) if seen else finding
    yield from first.values()

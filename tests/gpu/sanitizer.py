"""compute-sanitizer over every kata file of the checkout, and how far our own check agrees with it.

On a machine with an NVIDIA GPU and the CUDA toolkit, from the checkout:

    python -m tests.gpu.sanitizer --out tests/gpu/sanitizer.json

builds ``tests/wrong``, ``tests/right`` and ``solutions`` with nvcc, runs memcheck, racecheck, initcheck and synccheck
over each, and records what they found; ``--update tests/gpu/sanitizer.json`` runs only what that record does not hold:
files that are new, have changed, or were cut off by a shorter limit or with larger cases. On any machine,

    python -m tests.gpu.sanitizer --compare tests/gpu/sanitizer.json

checks the same files in the simulator and prints a table: what both found, what we miss, where we say more, and which
of their findings are false alarms (``tests/gpu/false_alarms.toml`` says why).
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.devices.gpu_findings import TOOLS, Finding, parse
from harness.devices.gpu_sanitizer import MOST_PRINTED, watching
from harness.errors import EnvironmentFault, KataError
from tests.gpu import agreement, drivers
from tests.gpu.drivers import DONE, MOST_ELEMENTS, ROOT, TIMEOUT, Built, KataFile

#: Inputs of both sides: a check with this seed sees the same numbers.
SEED = 3

FORMAT = 1

#: Files that one process runs. Starting one under a tool takes seconds, a file's cases a fraction of one.
MOST_IN_A_ROW = 25


@dataclass(frozen=True)
class ToolRun:
    """One tool over one file. ``ended`` is the runner's word, or how the process went down."""

    path: str
    tool: str
    ended: str
    findings: tuple[Finding, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """One tool over a row of files of one kata."""

    tool: str
    row: tuple[Built, ...]
    runner: Path
    limit: int
    keep: Path | None


def run_task(task: Task) -> list[ToolRun]:
    """Run a row, in as many processes as it takes: what ends one early is held against the file that was running."""
    runs: list[ToolRun] = []
    while len(runs) < len(task.row):
        left = task.row[len(runs) :]
        code, text = _run_process(task, left)
        said = parse(text, task.tool, [one.file.path for one in left], MOST_PRINTED)
        if task.keep:
            (task.keep / f"{task.tool}-{left[0].library.stem}.txt").write_text(text, encoding="utf-8")
        for path, word in (said.ended or {left[0].file.path: None}).items():
            findings, unknown = said.findings.get(path, ()), dict.fromkeys(said.unknown.get(path, ()))
            ended = {None: f"exit {code}", TIMEOUT: f"{TIMEOUT} {task.limit} s"}.get(word, word)
            runs.append(ToolRun(path, task.tool, str(ended), tuple(findings), tuple(unknown)))
            if path == said.full:
                break
    return runs


def _run_process(task: Task, row: Sequence[Built]) -> tuple[int, str]:
    """Exit code and output of one process. The runner ends itself at a file's limit; if it doesn't, we do."""
    files = [part for one in row for part in (one.file.path, str(one.library), str(one.cases))]
    command = [*watching(drivers.toolkit("compute-sanitizer"), task.tool), str(task.runner), str(task.limit), *files]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=drivers.environment(), start_new_session=True
        )
        try:
            code = process.wait(task.limit * (len(row) + 2))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        output.seek(0)
        return code, output.read()


def rows(built: Iterable[Built], most: int) -> list[tuple[Built, ...]]:
    """Files of one kata in rows of at most ``most``, of about one length; the longest first."""
    found: list[tuple[Built, ...]] = []
    by_kata = itertools.groupby(sorted(built, key=lambda one: one.file.kata), key=lambda one: one.file.kata)
    for _, group in by_kata:
        files = tuple(group)
        parts = -(-len(files) // most)
        found += (files[part::parts] for part in range(parts))
    return sorted(found, key=len, reverse=True)


def record(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build, run and tell: what goes into the JSON file. KataError where an older record can't be added to."""
    folder = arguments.build.resolve()
    drivers.write_cases(folder, SEED, arguments.elements)
    older = json.loads(arguments.update.read_text(encoding="utf-8")) if arguments.update else {"files": {}}
    files = [file for file in drivers.kata_files() if arguments.only in file.path]
    files = [file for file in files if is_due(file, older["files"].get(file.path), arguments.limit, arguments.elements)]
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(arguments.workers, multiprocessing.get_context("spawn")) as pool:
        built = list(pool.map(drivers.build, files, itertools.repeat(folder)))
        good = [one for one in built if one.error is None]
        say(f"{len(good)} of {len(files)} files built")
        runner = drivers.build_runner(folder)
        if arguments.build_only:
            return {}
        tasks = [
            Task(tool, row, runner, arguments.limit, arguments.keep)
            for row in rows(good, arguments.row) for tool in TOOLS
        ]  # fmt: skip
        start = time.monotonic()
        runs = [run for done in pool.map(run_task, tasks) for run in done]
    say(f"{len(runs)} runs in {time.monotonic() - start:.0f} s")
    found = {one.file.path: _row(one, runs, arguments.elements) for one in built}
    return merged(older, _about() | {"files": found})


def is_due(file: KataFile, row: Mapping[str, Any] | None, limit: int, elements: int) -> bool:
    """Whether a file has to run: its entry is missing, of another text, or was cut off, by less than ``limit`` seconds
    or with cases of more than these ``elements``."""
    if row is None or row["digest"] != file.digest:
        return True
    cut = [word.split() for word in row.get("ended", {}).values() if word.startswith(TIMEOUT)]
    return any(int(seconds) < limit or elements < row.get("elements", MOST_ELEMENTS) for _, seconds, _ in cut)


def merged(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """The newer record, and of the older one the files that it says nothing of and that still exist. EnvironmentFault
    where the two were made by different tools."""
    same = ("format", "device", "driver", "tool", "compiler", "flags", "seed")
    for key in same:
        if key in older and older[key] != newer[key]:
            raise EnvironmentFault(
                f"the record was made with {key} {older[key]}, and here it is {newer[key]}",
                remedy="make it anew, without --update",
            )  # fmt: skip
    kept = {path: row for path, row in older["files"].items() if KataFile.at(path).exists}
    files = kept | {path: _joined(kept.get(path), row) for path, row in newer["files"].items()}
    return {**newer, "files": {file.path: files[file.path] for file in drivers.kata_files() if file.path in files}}


def _joined(older: Mapping[str, Any] | None, newer: dict[str, Any]) -> dict[str, Any]:
    """The newer entry; with smaller cases it may not find what the older one of the same text did."""
    if older is None or older["digest"] != newer["digest"] or "elements" not in newer:
        return newer
    findings = {_key(one): one for row in (newer, older) for one in row.get("findings", ())}
    return newer | ({"findings": list(findings.values())} if findings else {})


def _key(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    return finding["tool"], finding["kind"], finding["says"], tuple(finding.get("lines", ()))


def _row(built: Built, runs: Iterable[ToolRun], elements: int) -> dict[str, Any]:
    """One file's entry, without what is as it should be."""
    row: dict[str, Any] = {"digest": built.file.digest}
    if elements < MOST_ELEMENTS:
        row["elements"] = elements
    if built.error is not None:
        return row | {"not_built": built.error.strip().splitlines()[0].replace(f"{ROOT}/", "")}
    mine = [run for run in runs if run.path == built.file.path]
    ended = {run.tool: run.ended for run in mine if run.ended != DONE}
    unknown = sorted({title for run in mine for title in run.unknown})
    findings = [finding.as_json() for run in mine for finding in run.findings]
    told = {"ended": ended, "unknown": unknown, "findings": findings}
    return row | {key: value for key, value in told.items() if value}


def _about() -> dict[str, Any]:
    """What ran where."""
    device, driver = _line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split(", ")
    return {
        "format": FORMAT,
        "device": device,
        "driver": driver,
        "tool": _line(drivers.toolkit("compute-sanitizer"), "--version", holding="Version"),
        "compiler": _line(drivers.toolkit("nvcc"), "--version", holding="release"),
        "flags": " ".join(drivers.FLAGS),
        "seed": SEED,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _line(*command: str, holding: str = "") -> str:
    """The first line that a command prints with this text in it."""
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return next(line.strip() for line in printed.splitlines() if holding in line)


def dump(recorded: dict[str, Any]) -> str:
    """JSON with one line for each finding: readable, and small in a diff."""
    files = recorded.pop("files")
    lines = []
    for path, row in files.items():
        findings = row.pop("findings", [])
        head = json.dumps(row)[1:-1]
        if findings:
            inner = ",\n".join(f"   {json.dumps(finding)}" for finding in findings)
            head += f', "findings": [\n{inner}\n  ]'
        lines.append(f"  {json.dumps(path)}: {{{head}}}")
    about = json.dumps(recorded, indent=1)[:-2]
    return about + ',\n "files": {\n' + ",\n".join(lines) + "\n }\n}\n"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """The command line; 1 where ``--compare`` finds that we miss something, or a false alarm that is none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write what the tools found to this file")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="no GPU: compare this record with our own check")
    parser.add_argument("--update", type=Path, metavar="FILE", help="run only what this record does not hold yet")
    parser.add_argument("--more", action="store_true", help="with --compare: list where we say more")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path holds this text")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="programs at a time")
    parser.add_argument("--row", type=int, default=MOST_IN_A_ROW, metavar="N", help="files that one process runs")
    parser.add_argument("--limit", type=int, default=20, metavar="SECONDS", help="for one tool over one file")
    parser.add_argument("--elements", type=int, default=MOST_ELEMENTS, metavar="N", help="cases up to this size")
    parser.add_argument("--build", type=Path, default=ROOT / "build/sanitizer", metavar="FOLDER", help="for binaries")
    parser.add_argument("--build-only", action="store_true", help="compile, and run nothing")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep each tool's own output there")
    arguments = parser.parse_args()
    try:
        if arguments.compare:
            recorded = json.loads(arguments.compare.read_text(encoding="utf-8"))
            report = agreement.compare(recorded, only=arguments.only, seed=SEED, processes=arguments.workers)
            say(report.table() + (f"\n{report.told_alone()}" if arguments.more else ""))
            return 1 if report.missed or report.stale else 0
        recorded = record(arguments)
    except KataError as error:
        sys.stderr.write(f"{error.message}{f': {error.remedy}' if error.remedy else ''}\n")
        return 5
    if arguments.out and recorded:
        arguments.out.write_text(dump(recorded), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

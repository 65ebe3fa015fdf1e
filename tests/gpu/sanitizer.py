"""compute-sanitizer over every kata file of the checkout, and how far our own check agrees with it.

On a machine with an NVIDIA GPU and the CUDA toolkit, from the checkout:

    python -m tests.gpu.sanitizer --out tests/gpu/sanitizer.json

builds ``tests/wrong``, ``tests/right`` and ``solutions`` with nvcc, runs memcheck, racecheck, initcheck and synccheck
over each, and records what they found. On any machine,

    python -m tests.gpu.sanitizer --compare tests/gpu/sanitizer.json

checks the same files in the simulator and prints a table: what both found, what we miss, where we say more.
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
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import KataError
from tests.gpu import agreement, drivers
from tests.gpu.drivers import DONE, ROOT, Built
from tests.gpu.findings import TOOLS, Finding, parse

#: Inputs of both sides: a check with this seed sees the same numbers.
SEED = 3

FORMAT = 1

#: Files that one process runs. Starting one under a tool takes seconds, a file's cases a fraction of one.
MOST_IN_A_ROW = 25

# A launch that faulted ends, and those after it run: each case has its say. The padding keeps an access past the end
# from landing in the next allocation.
_OPTIONS = {
    "memcheck": ("--destroy-on-device-error", "kernel", "--padding", "65536"),
    "racecheck": ("--racecheck-detect-level", "info", "--racecheck-num-workers", "2"),
    "initcheck": (),
    "synccheck": (),
}
_COMMON = ("--show-backtrace", "device", "--strip-paths", "no", "--max-connections", "100")

#: Errors that one process prints.
MOST_PRINTED = 5000


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
            runs.append(ToolRun(path, task.tool, word or f"exit {code}", tuple(findings), tuple(unknown)))
            if path == said.full:
                break
    return runs


def _run_process(task: Task, row: Sequence[Built]) -> tuple[int, str]:
    """Exit code and output of one process. The runner ends itself at a file's limit; if it doesn't, we do."""
    files = [part for one in row for part in (one.file.path, str(one.library), str(one.cases))]
    tool = ["--tool", task.tool, *_OPTIONS[task.tool], *_COMMON, "--print-limit", str(MOST_PRINTED)]
    command = [drivers.toolkit("compute-sanitizer"), *tool, str(task.runner), str(task.limit), *files]
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
    """Build, run and tell: what goes into the JSON file."""
    folder = arguments.build.resolve()
    drivers.write_cases(folder, SEED)
    files = [file for file in drivers.kata_files() if arguments.only in file.path]
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
    return _about() | {"files": {one.file.path: _row(one, runs) for one in built}}


def _row(built: Built, runs: Iterable[ToolRun]) -> dict[str, Any]:
    """One file's entry, without what is as it should be."""
    row: dict[str, Any] = {"digest": built.file.digest}
    if built.error is not None:
        return row | {"not_built": built.error.strip().splitlines()[0]}
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
    """The command line; 1 where ``--compare`` finds that we miss something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write what the tools found to this file")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="no GPU: compare this record with our own check")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path holds this text")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="programs at a time")
    parser.add_argument("--row", type=int, default=MOST_IN_A_ROW, metavar="N", help="files that one process runs")
    parser.add_argument("--limit", type=int, default=20, metavar="SECONDS", help="for one tool over one file")
    parser.add_argument("--build", type=Path, default=ROOT / "build/sanitizer", metavar="FOLDER", help="for binaries")
    parser.add_argument("--build-only", action="store_true", help="compile, and run nothing")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep each tool's own output there")
    arguments = parser.parse_args()
    try:
        if arguments.compare:
            recorded = json.loads(arguments.compare.read_text(encoding="utf-8"))
            report = agreement.compare(recorded, only=arguments.only, seed=SEED, processes=arguments.workers)
            say(report.table())
            return 1 if report.missed else 0
        recorded = record(arguments)
    except KataError as error:
        sys.stderr.write(f"{error.message}{f': {error.remedy}' if error.remedy else ''}\n")
        return 5
    if arguments.out and recorded:
        arguments.out.write_text(dump(recorded), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

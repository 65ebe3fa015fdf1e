"""The history under the worst treatment, and how fast its sums are.

    python -m tests.benchmarks.history kills 1000      # kill -9 at random moments of writing
    python -m tests.benchmarks.history writers 500     # two processes at once, this many records each
    python -m tests.benchmarks.history stats 100000    # kata stats over this many checks, the whole process

Each prints what it found and ends with 1 where something was lost.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness.practice import rows
from harness.practice.history import FILE, History, new_identity
from harness.practice.records import CheckRecord, Ending
from harness.practice.transfer import merge
from harness.results import Outcome
from tests.conftest import command, environment

#: Seconds within which a writer is killed; in each millisecond it writes about one record.
LIFE = 0.05


@dataclass
class Tally:
    """What became of the writers that were killed."""

    killed: int = 0
    promised: int = 0
    lost: int = 0
    corrupt: int = 0
    notices: int = 0

    @property
    def good(self) -> bool:
        return not (self.lost or self.corrupt or self.notices)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def now() -> datetime:
    return datetime.now(UTC)


def check(number: int, kata: str = "add") -> CheckRecord:
    """A record that is told from others by its ``seconds``."""
    return CheckRecord(now(), kata, "/desk/add.cu", "0" * 64, Outcome.RIGHT, 2, "simulated", number, None, None, False)


def kills(number: int, folder: Path, chance: random.Random) -> Tally:
    """Kill ``number`` writers at random moments; every tenth starts on a file that isn't there yet."""
    tally = Tally()
    promised: set[tuple[str, int]] = set()
    path = folder / FILE
    for turn in range(number):
        if turn % 10 == 0:
            path = folder / str(turn) / FILE
            promised = set()
        promised |= _killed_writer(path, turn, chance.uniform(0, LIFE))
        sound = _integrity(path)
        with History(path, now) as history:
            held = {("check", int(one.seconds)) for one in history.checks()}
            held |= {("attempt", round(one.used)) for one in history.attempts() if one.ending}
            tally.notices += len(history.notices)
        tally.killed += 1
        tally.corrupt += sound != "ok"
        tally.lost += len(promised - held)
        if turn % 10 == 9 or turn == number - 1:
            tally.promised += len(promised)
    return tally


def _integrity(path: Path) -> str:
    if not path.exists():
        return "ok"  # killed before there was a file
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (sound,) = db.execute("PRAGMA integrity_check").fetchone()
    return str(sound)


def _killed_writer(path: Path, turn: int, life: float) -> set[tuple[str, int]]:
    """Fork a writer, kill it after ``life`` seconds: the records of which it had been told that they are kept."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _write_forever(path, turn, write)
    os.close(write)
    time.sleep(life)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read) as told:
        lines = told.read().split("\n")[:-1]  # what follows the last line end was being written
    return {(kind, int(number)) for kind, number in (line.split() for line in lines)}


def _write_forever(path: Path, turn: int, told: int) -> None:
    """Checks and attempts without end, each told when the history has it."""
    try:
        history = History(path, now)
        for number in range(turn * 1_000_000, (turn + 1) * 1_000_000):
            history.record(check(number))
            os.write(told, f"check {number}\n".encode())
            attempt = history.begin("add", "/desk/add.cu", 5, False)
            history.save_progress(attempt.id, number - 0.4, 1)
            history.finish(attempt.id, Ending.PASSED, Outcome.RIGHT, 2, number, 1)
            os.write(told, f"attempt {number}\n".encode())
    finally:
        os._exit(1)


def writers(number: int, folder: Path) -> tuple[int, float]:
    """Two processes that each record ``number`` checks in one file at once: how many are there, and the seconds."""
    path = folder / FILE
    program = (
        "import sys; from pathlib import Path; from tests.benchmarks.history import History, check, now\n"
        "with History(Path(sys.argv[1]), now) as history:\n"
        "    for number in range(int(sys.argv[2])): history.record(check(number, sys.argv[3]))\n"
        "    sys.exit('; '.join(history.notices) or 0)"
    )
    started = time.perf_counter()
    both = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(number), kata], env=environment())
        for kata in ("add", "relu")
    ]
    codes = [process.wait() for process in both]
    seconds = time.perf_counter() - started
    with History(path, now) as history:
        held = {(one.kata, one.seconds) for one in history.checks()}
    return (0 if any(codes) else len(held)), seconds


def fill(path: Path, number: int) -> None:
    """A history of ``number`` checks over three years, of all ten katas."""
    chance = random.Random(1)
    names = ("add", "reduce_sum", "relu", "sgemm_naive", "sgemm_tile", "sgemv", "sigmoid", "softmax", "softmax_matrix",
             "transpose")  # fmt: skip
    began = rows.stamp(now() - timedelta(days=3 * 365))
    step = 3 * 365 * 86_400_000_000 // number
    checks = [
        (new_identity(), began + index * step, chance.choice(names), "/home/someone/cuda/kernel.cu", "0" * 64,
         chance.choice(list(Outcome)).value, chance.randint(1, 4), "NVIDIA H200", chance.random(), None,
         1 + 100 * chance.random(), 0)
        for index in range(number)
    ]  # fmt: skip
    with History(path, now) as history:
        merge(history.store, {"checks": checks, "attempts": [], "reviews": []})


def stats(number: int, folder: Path) -> list[float]:
    """Seconds of five whole runs of ``kata stats`` over ``number`` checks."""
    fill(folder / FILE, number)
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        done = subprocess.run(
            command("stats"), env=environment(KATA_HOME=str(folder)), capture_output=True, text=True, check=True
        )
        seconds.append(time.perf_counter() - started)
        assert f"{number} checks" in done.stdout
    return seconds


def _report_kills(number: int, folder: Path) -> bool:
    seed = random.SystemRandom().getrandbits(32)
    tally = kills(number, folder, random.Random(seed))
    say(f"{tally.killed} killed, {tally.promised} finished records promised: {tally.lost} lost, {tally.corrupt} files "
        f"not ok by integrity_check, {tally.notices} complaints (seed {seed})")  # fmt: skip
    return tally.good


def _report_writers(number: int, folder: Path) -> bool:
    held, seconds = writers(number, folder)
    say(f"2 processes, {number} records each: {held} of {2 * number} there, {seconds:.1f} s")
    return held == 2 * number


def _report_stats(number: int, folder: Path) -> bool:
    seconds = stats(number, folder)
    say(f"kata stats over {number} checks: median {statistics.median(seconds):.2f} s of {len(seconds)} processes "
        f"({min(seconds):.2f} to {max(seconds):.2f}), load average {os.getloadavg()[0]:.2f}")  # fmt: skip
    return True


REPORTS: dict[str, tuple[Callable[[int, Path], bool], int]] = {
    "kills": (_report_kills, 1000), "writers": (_report_writers, 500), "stats": (_report_stats, 100_000),
}  # fmt: skip


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in REPORTS:
        say(__doc__ or "")
        return 2
    report, usual = REPORTS[arguments[0]]
    with tempfile.TemporaryDirectory() as folder:
        return 0 if report(int(arguments[1]) if arguments[1:] else usual, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

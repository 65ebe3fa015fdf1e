"""The figures of ``kata practice``: ``python -m tests.benchmarks.practice [verdict|replace|waiting]``.

``verdict``: seconds from a save to its verdict on the screen of a pseudo-terminal, over 30 saves of ``add`` in turn
right and wrong, after two that warm it up; ``replace``: the same where each save replaces the file, as many editors do.
``waiting``: processor time over 60 s in which nothing happens, of the view, and of the process that checks. Linux, and
a quiet machine.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect

ROOT = Path(__file__).resolve().parents[2]

SAVES, WARMING, SECONDS = 30, 2, 60


def _open(folder: str) -> pexpect.spawn:
    """``kata practice add`` with the clock running, at a terminal of 80 by 24, with a history of its own."""
    env = os.environ | {"KATA_HOME": str(Path(folder) / "home"), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    arguments = ["-m", "harness.cli", "practice", "add", "--minutes", "60", "--no-editor", "--device", "sim"]
    child = pexpect.spawn(
        sys.executable, arguments, cwd=folder, env=env, dimensions=(24, 80), timeout=60, encoding="utf-8"
    )
    child.delaybeforesend = None
    child.expect("start the clock")
    child.send("\r")
    child.expect("resume later")
    return child


def _in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _replacing(path: Path, text: str) -> None:
    other = path.with_name(f".{path.name}.new")
    other.write_text(text, encoding="utf-8")
    other.replace(path)


def _saves(save: Callable[[Path, str], None]) -> Iterator[str]:
    right = (ROOT / "solutions/add/1_one_thread_per_element.cu").read_text(encoding="utf-8")
    wrong = right.replace("] + ", "] - ")
    if wrong == right:
        raise ValueError("the first solution of add adds no more")
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        child = _open(folder)
        for number in range(SAVES + WARMING):
            text, verdict = ((right, "is right: "), (wrong, "is wrong for "))[number % 2]
            start = time.perf_counter()
            save(Path(folder) / "add.cu", f"{text}\n// save {number}\n")
            child.expect_exact(verdict)
            taken.append(time.perf_counter() - start)
        child.close(force=True)
    taken = sorted(taken[WARMING:])
    late = taken[int(SAVES * 0.95)]
    yield f"save to verdict   median {statistics.median(taken):5.2f} s   95th percentile {late:5.2f} s"


def verdict() -> Iterator[str]:
    """The file written in place."""
    yield from _saves(_in_place)


def replace() -> Iterator[str]:
    """The file replaced by another."""
    yield from _saves(_replacing)


def waiting() -> Iterator[str]:
    """Processor time of a session that waits."""
    with tempfile.TemporaryDirectory() as folder:
        child = _open(folder)
        worker = int(Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text(encoding="utf-8").split()[0])
        _drain(child, 5)  # the process that checks has warmed up
        before = {pid: _processor(pid) for pid in (child.pid, worker)}
        start = time.perf_counter()
        _drain(child, SECONDS)
        lasted = time.perf_counter() - start
        view, checks = ((_processor(pid) - before[pid]) / lasted for pid in before)
        child.close(force=True)
    yield f"waiting {lasted:.0f} s   the view {view:.2%} of a core, the process that checks {checks:.2%}"


def _drain(child: pexpect.spawn, seconds: float) -> None:
    """Read what is drawn for so long, as a terminal does."""
    child.expect([pexpect.TIMEOUT, pexpect.EOF], timeout=seconds)


def _processor(pid: int) -> float:
    """Seconds of processor time that a process has used, all threads, in user mode and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


TABLES = {"verdict": verdict, "replace": replace, "waiting": waiting}


def main() -> None:
    """Print the figures named on the command line, or all."""
    for name in sys.argv[1:] or TABLES:
        for line in TABLES[name]():
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Seconds and memory of profiling rungs at their speed size: ``python -m tests.benchmarks.profiles [KATA ...]``.

Each rung is a process of its own, twice: the first fills the compile cache. Wants a quiet machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from harness import catalogue
from harness.catalogue import Rung

ROOT = Path(__file__).resolve().parents[2]
GPU = "h200"

_PROFILE = """
import sys
from pathlib import Path
from harness import catalogue
from harness.profiling import profile

found = profile(catalogue.load(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
print("; ".join(f"{one.launch.sampling.counted} of {one.launch.blocks} blocks" for one in found.launches))
"""


def measured(kata: str, rung: Rung) -> str:
    """One line about one rung: wall and processor seconds, and the largest resident set."""
    command = [sys.executable, "-c", _PROFILE, kata, str(rung.path), GPU]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    used = usage.ru_utime + usage.ru_stime
    return (
        f"{kata:<15} {rung.path.stem:<30} {wall:6.2f} s   {used:6.2f} s of processor   "
        f"{usage.ru_maxrss / 1024:6.0f} MB   {said}"
    )


def lines(names: list[str]) -> Iterator[str]:
    """A line for each rung of the katas named, or of all."""
    for name in names or catalogue.names():
        for rung in catalogue.load(name).rungs:
            yield measured(name, rung)


if __name__ == "__main__":
    for line in lines(sys.argv[1:]):
        print(line, flush=True)  # noqa: T201  a script's own output
    print(f"load average {os.getloadavg()[0]:.1f}")  # noqa: T201  as above

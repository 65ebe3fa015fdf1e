"""Predict every solution at every size on every GPU, for the package: ``python -m tests.benchmarks.forecasts``.

Only what is missing is predicted, and what nothing asks for any more is dropped: a changed solution, GPU or
``timing.MODEL`` has other keys. ``--anew`` predicts everything, and says what came out otherwise than before. With the
table, ``kata check`` and ``kata bench`` need no minute of their own for a ladder (``grading/forecast.py``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import catalogue
from harness.catalogue import Kata, Rung
from harness.errors import KataError
from harness.grading.forecast import compute, forecast_key
from harness.grading.ladder import speed_cases
from harness.references import Case
from harness.simulator.gpus import Gpu, load_gpu, names

TABLE = Path(__file__).resolve().parents[2] / "harness" / "grading" / "forecasts.json"


def wanted(gpus: tuple[str, ...]) -> Iterator[tuple[str, Kata, Rung, Gpu, Case]]:
    """Everything to be predicted, with its key: the sizes that ``kata check`` times first."""
    katas = catalogue.load_all()
    for rank in range(max(len(kata.speed) for kata in katas)):
        for gpu in map(load_gpu, gpus):
            for kata in katas:
                for case in speed_cases(kata)[rank : rank + 1]:
                    for rung in kata.rungs:
                        yield forecast_key(kata, rung.path, gpu, case), kata, rung, gpu, case


def kept() -> dict[str, Any]:
    """The table as it is."""
    return json.loads(TABLE.read_text("utf-8"))["forecasts"] if TABLE.is_file() else {}


def write(table: dict[str, Any]) -> None:
    """One line an entry, by key, so that a change shows as what it is."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(table[key])}" for key in sorted(table))
    TABLE.write_text(f'{{"made_by": "python -m tests.benchmarks.forecasts", "forecasts": {{\n{lines}\n}}}}\n', "utf-8")


def main() -> None:
    """Bring the table up to date, for the GPUs named on the command line or all; it is written as it grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpus", nargs="*", metavar="GPU", help=f"some of {', '.join(names())}")
    parser.add_argument("--anew", action="store_true")
    arguments = parser.parse_args()
    chosen = tuple(arguments.gpus) or names()
    known = {key for key, *_ in wanted(names())}
    table = {key: entry for key, entry in kept().items() if key in known}
    missing = [row for row in wanted(chosen) if arguments.anew or row[0] not in table]
    for number, (key, kata, rung, gpu, case) in enumerate(missing, 1):
        started = time.perf_counter()
        before = table.get(key)
        try:
            table[key] = compute(kata, rung.path, gpu, case)
        except KataError as error:
            said = f"not predicted: {error.message}"
        else:
            said = f"{1e6 * table[key]['seconds']:.1f} µs, {table[key]['limiter']}"
            said += f" (was {1e6 * before['seconds']:.1f} µs)" if before and before != table[key] else ""
            write(table)
        took = time.perf_counter() - started
        what = f"{gpu.name} {kata.name} {rung.number} {case.label}"
        sys.stdout.write(f"{number}/{len(missing)} {what}: {said} ({took:.1f} s)\n")
        sys.stdout.flush()
    write(table)


if __name__ == "__main__":
    main()

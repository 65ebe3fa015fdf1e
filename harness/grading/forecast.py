"""The time of one file predicted at one size, and kept.

Predicting takes seconds and always comes to the same, so what it came to is kept by content: with the package for its
own solutions (``forecasts.json``, made by ``python -m tests.benchmarks.forecasts``), else in the user's cache.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cache import Cache, default_folder
from harness.catalogue import Kata
from harness.grading.complete import WorkDone, work_done
from harness.grading.gates import Shown
from harness.references import Case
from harness.results import Hazard, Severity, Timing
from harness.simulator.gpus import Gpu
from harness.simulator.timing import MODEL

#: Part of each key: raise it when what is kept changes.
_FORMAT = 1

#: Raise it when only what is said of work left out changes, which concerns no solution: what the user's cache holds is
#: made anew.
_FOLDER = "forecasts-2"


@dataclass(frozen=True)
class Forecast:
    """What one file is predicted to take, in seconds, what it then waits for, and what it shows to gates.

    ``undone``, ``certain`` and ``uneven`` are those of :class:`harness.grading.complete.WorkDone`, at that size.
    """

    seconds: float
    low: float
    high: float
    limiter: str
    shown: Shown
    undone: str | None = None
    certain: Hazard | None = None
    uneven: bool = False

    def timing(self, name: str) -> Timing:
        """As a time among others."""
        return Timing(name, self.seconds, self.low, self.high, 0)


def forecast(kata: Kata, path: Path, gpu: Gpu, case: Case, cache: Cache | None = None) -> Forecast:
    """Predict the kernels in ``path`` at one size, or take what is kept. Raises what profiling raises."""
    kept = cache or Cache(default_folder() / _FOLDER)
    key = forecast_key(kata, path, gpu, case)
    found = _shipped().get(key) or kept.get(key)
    if found is None:
        found = compute(kata, path, gpu, case)
        kept.put(key, found)
    made: dict[str, Any] = {"shown": Shown(**found["shown"])}
    if "certain" in found:
        made["certain"] = _hazard(found["certain"])
    return Forecast(**found | made)


def forecast_key(kata: Kata, path: Path, gpu: Gpu, case: Case) -> str:
    """Names everything that a prediction is made of."""
    made_of = (_FORMAT, MODEL, repr(gpu), kata.name, case.sizes, path.read_bytes())
    return hashlib.sha256(repr(made_of).encode()).hexdigest()


def compute(kata: Kata, path: Path, gpu: Gpu, case: Case) -> dict[str, Any]:
    """A forecast's fields, made anew."""
    from harness.profiling import profile  # brings the compiler and the simulator

    found = profile(kata, path, gpu.name, case.sizes)
    guess = found.prediction
    done = work_done(kata, path, found, dict(case.sizes))
    return {
        "seconds": guess.seconds, "low": guess.low, "high": guess.high, "limiter": guess.limiter,
        "shown": Shown.by_profile(found).fields(), **_kept(done),
    }  # fmt: skip


def _kept(done: WorkDone) -> dict[str, Any]:
    """What there is to say of it, as JSON holds it: nothing, of a kernel that does all of the work."""
    fields = {"undone": done.undone, "certain": done.certain and _fields(done.certain), "uneven": done.uneven}
    return {name: value for name, value in fields.items() if value}


def _fields(hazard: Hazard) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(hazard).items() if value is not None}


def _hazard(fields: Mapping[str, Any]) -> Hazard:
    places = {name: tuple(fields[name]) for name in ("block", "thread") if name in fields}
    known: dict[str, Any] = {**fields, **places, "severity": Severity(fields["severity"])}
    return Hazard(**known)


@functools.cache
def _shipped() -> Mapping[str, Any]:
    table = importlib.resources.files("harness.grading").joinpath("forecasts.json")
    return json.loads(table.read_text("utf-8"))["forecasts"] if table.is_file() else {}

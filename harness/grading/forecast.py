"""The time of one file predicted at one size, and kept.

Predicting takes seconds and always comes to the same, so what it came to is kept by content: with the package for its
own solutions (``forecasts.json``, made by ``python -m tests.benchmarks.forecasts``), else in the user's cache.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import source
from harness.cache import Cache, default_folder
from harness.catalogue import Kata
from harness.grading.complete import undone
from harness.grading.gates import Shown
from harness.references import Case
from harness.results import Timing
from harness.simulator.gpus import Gpu
from harness.simulator.timing import MODEL

#: Part of each key: raise it when what is kept changes.
_FORMAT = 1


@dataclass(frozen=True)
class Forecast:
    """What one file is predicted to take, in seconds, what it then waits for, and what it shows to gates.

    ``undone`` says what of the work it leaves out at that size, None for nothing.
    """

    seconds: float
    low: float
    high: float
    limiter: str
    shown: Shown
    undone: str | None = None

    def timing(self, name: str) -> Timing:
        """As a time among others."""
        return Timing(name, self.seconds, self.low, self.high, 0)


def forecast(kata: Kata, path: Path, gpu: Gpu, case: Case, cache: Cache | None = None) -> Forecast:
    """Predict the kernels in ``path`` at one size, or take what is kept. Raises what profiling raises."""
    kept = cache or Cache(default_folder() / "forecasts")
    key = forecast_key(kata, path, gpu, case)
    found = _shipped().get(key) or kept.get(key)
    if found is None:
        found = compute(kata, path, gpu, case)
        kept.put(key, found)
    return Forecast(**found | {"shown": Shown(**found["shown"])})


def forecast_key(kata: Kata, path: Path, gpu: Gpu, case: Case) -> str:
    """Names everything that a prediction is made of."""
    made_of = (_FORMAT, MODEL, repr(gpu), kata.name, case.sizes, path.read_bytes())
    return hashlib.sha256(repr(made_of).encode()).hexdigest()


def compute(kata: Kata, path: Path, gpu: Gpu, case: Case) -> dict[str, Any]:
    """A forecast's fields, made anew."""
    from harness.profiling import profile  # brings the compiler and the simulator

    found = profile(kata, path, gpu.name, case.sizes)
    guess = found.prediction
    left_out = undone(kata, source.parse(path, kata).parameter_names, found, dict(case.sizes))
    return {
        "seconds": guess.seconds, "low": guess.low, "high": guess.high, "limiter": guess.limiter,
        "shown": Shown.by_profile(found).fields(), **({"undone": left_out} if left_out else {}),
    }  # fmt: skip


@functools.cache
def _shipped() -> Mapping[str, Any]:
    table = importlib.resources.files("harness.grading").joinpath("forecasts.json")
    return json.loads(table.read_text("utf-8"))["forecasts"] if table.is_file() else {}

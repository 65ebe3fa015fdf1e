"""y[i] = max(x[i], 0), bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case
from harness.references.values import fill
from harness.references.vectors import OVER_A_MILLION, vector_cases

CASES = vector_cases(
    (257, "integers"), (258, "constant"), (259, "marker"), (1001, "huge"), (1002, "tiny"), (1003, "denormal"),
    (127, "negative"), (1026, "holes"),
    large=OVER_A_MILLION,
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """One vector; -inf is as good a value as any other."""
    n = case["n"]
    return {"x": fill(rng, case.values, (n,)), "n": n}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """The larger of each value and 0."""
    return {"y": np.maximum(arguments["x"].astype(np.float64), 0.0)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """None: the answer is exact."""
    return {"y": np.zeros(1)}

"""c[i] = a[i] + b[i], bit for bit: one float32 addition has one right answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case
from harness.references.values import fill
from harness.references.vectors import OVER_A_MILLION, vector_cases

CASES = vector_cases(
    (257, "integers"), (258, "constant"), (259, "marker"), (1001, "huge"), (1002, "tiny"), (1003, "denormal"),
    (127, "negative"),
    large=OVER_A_MILLION,
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """Two independent vectors of one kind."""
    n = case["n"]
    return {"a": fill(rng, case.values, (n,)), "b": fill(rng, case.values, (n,)), "n": n}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """The float64 sum rounded once to float32: right, since 53 bits are more than 2 * 24 + 1."""
    total = arguments["a"].astype(np.float64) + arguments["b"].astype(np.float64)
    return {"c": total.astype(np.float32).astype(np.float64)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """None: the answer is exact."""
    return {"c": np.zeros(1)}

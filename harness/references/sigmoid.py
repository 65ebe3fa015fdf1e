"""y[i] = 1 / (1 + e^-x[i]), finite for every |x| up to 1e4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case
from harness.references.values import fill
from harness.references.vectors import OVER_A_MILLION, vector_cases

CASES = vector_cases(
    (257, "integers"), (258, "constant"), (259, "marker"), (1001, "large"), (1002, "tiny"), (1003, "apart"),
    (127, "negative"), (1026, "rising"),
    large=OVER_A_MILLION,
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """One vector of magnitudes up to 1e4."""
    n = case["n"]
    return {"x": fill(rng, case.values, (n,)), "n": n}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """In float64, from e^-|x| so that nothing overflows: 1 / (1 + e) for x >= 0, e / (1 + e) below."""
    x = arguments["x"].astype(np.float64)
    e = np.exp(-np.abs(x))
    return {"y": np.where(x >= 0.0, 1.0, e) / (1.0 + e)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """8 ulp of the answer, for an exponential, an addition and a division that are each off by a few, and 1e-7.

    The absolute part lets ``__expf`` pass: it is off by 2 + 1.173 |x| ulp (CUDA C++ Programming Guide, "Intrinsic
    Functions"), which is most, 6e-8, near x = -2.
    """
    ulp = np.spacing(expected["y"].astype(np.float32)).astype(np.float64)
    return {"y": 8.0 * ulp + 1e-7}

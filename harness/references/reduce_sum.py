"""output[0] = the sum of a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case, U
from harness.references.values import fill
from harness.references.vectors import OVER_A_MILLION, vector, vector_cases

CASES = (
    *vector_cases(
        (33, "wide integers"), (511, "wide integers"), (1021, "integers"), (10_007, "integers"), (513, "constant"),
        (259, "marker"), (1001, "huge"), (1002, "tiny"), (300, "negative"),
        large=OVER_A_MILLION,
    ),
    vector("large", OVER_A_MILLION, "integers"),
)

#: Of 2**25 normal values half may be left out within the error that float32 makes of their sum.
TIMED = "few integers"


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """One vector."""
    n = case["n"]
    return {"input": fill(rng, case.values, (n,)), "n": n}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """The float64 sum, as the one element of ``output``."""
    return {"output": arguments["input"].sum(dtype=np.float64, keepdims=True)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """0 where float32 is exact in any order, else 4 u sqrt(n) sum|x|.

    n - 1 roundings of at most u times a partial sum act like a random walk (Higham and Mary 2019, "A New Approach to
    Probabilistic Rounding Error Analysis").
    """
    x = arguments["input"].astype(np.float64)
    magnitude = np.abs(x).sum()
    exact = any(_adds_up_exactly(x, magnitude, unit) for unit in (1.0, 0.5, 0.125))
    return {"output": np.full(1, 0.0 if exact else 4.0 * U * np.sqrt(x.size) * magnitude)}


def _adds_up_exactly(x: np.ndarray, magnitude: float, unit: float) -> bool:
    """Whether every partial sum is a multiple of ``unit`` that float32's 24 bits hold."""
    return bool(magnitude < 2.0**24 * unit and (x / unit == np.rint(x / unit)).all())

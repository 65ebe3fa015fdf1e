"""output[i] = e^(input[i] - max) / sum of e^(input[j] - max), over the whole vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case, U
from harness.references.values import fill
from harness.references.vectors import vector_cases

CASES = vector_cases(
    (1000, "constant"), (255, "marker"), (257, "integers"), (1001, "negative"), (515, "deeply negative"),
    (517, "near the lowest"), (1002, "tiny"), (1003, "apart"), (1025, "far apart"), (5003, "rising"),
    (1026, "holes"), (5002, "masked"),
    large=300_007,  # more than 512 blocks of 512, or 1024 of 256: what a last block of as many threads combines
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """One vector. Some values may be -inf, but never all."""
    n = case["n"]
    return {"input": fill(rng, case.values, (n,)), "n": n}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """In float64, with the maximum subtracted."""
    x = arguments["input"].astype(np.float64)
    e = np.exp(x - x.max())
    return {"output": e / e.sum()}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A part of 2e-5 + 4 u sqrt(n) of each probability, and the smallest normal float32 for those next to 0.

    x - max is off by at most u * 104 before e^(x - max) leaves float32's range, which makes 6e-6 of the exponential;
    the sum behaves as in ``reduce_sum``, and all of its terms are positive.
    """
    p = expected["output"]
    return {"output": (2e-5 + 4.0 * U * np.sqrt(p.size)) * p + 2.0**-126}

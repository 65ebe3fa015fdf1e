"""Softmax of each row: output[r][c] = e^(input[r][c] - max of row r) / sum over row r of e^(input[r][j] - max)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case, U
from harness.references.values import fill


def _case(group: str, rows: int, cols: int, values: str = "random") -> Case:
    return Case(group, values, (("rows", rows), ("cols", cols)))


CASES = (
    *(_case("small", *sizes) for sizes in ((1, 1), (1, 2), (3, 1), (5, 32), (3, 33))),
    *(_case("ragged", *sizes) for sizes in ((7, 127), (9, 132), (33, 257), (1, 1025), (6, 514), (3, 5000))),
    *(_case("round", *sizes) for sizes in ((32, 128), (4, 1024))),
    *(_case("values", rows, cols, values) for rows, cols, values in (
        (4, 500, "constant"), (5, 127, "marker"), (6, 31, "integers"), (7, 257, "deeply negative"),
        (6, 258, "near the lowest"), (5, 131, "rows apart"), (3, 300, "tiny"),
        (9, 129, "large"), (10, 130, "apart"), (5, 260, "far apart"), (4, 515, "rising"), (8, 1024, "holes"),
        (3, 702, "masked"),
    )),
    _case("large", 512, 1000),
    _case("large", 2053, 3),
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """One matrix. Some values of a row may be -inf, but never all."""
    rows, cols = case["rows"], case["cols"]
    return {"input": fill(rng, case.values, (rows, cols)), "rows": rows, "cols": cols}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """In float64, with each row's maximum subtracted."""
    x = arguments["input"].astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {"output": e / e.sum(axis=1, keepdims=True)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A part of 2e-5 + 4 u sqrt(cols) of each probability, and the smallest normal float32 for those next to 0.

    The reasons are those of the kata ``softmax``: rounding x - max before e^x, and a sum of positive terms.
    """
    p = expected["output"]
    return {"output": (2e-5 + 4.0 * U * np.sqrt(p.shape[1])) * p + 2.0**-126}

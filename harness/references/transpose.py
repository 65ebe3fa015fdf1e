"""output[col][row] = input[row][col]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case
from harness.references.values import fill


def _case(group: str, rows: int, cols: int, values: str = "random") -> Case:
    return Case(group, values, (("rows", rows), ("cols", cols)))


CASES = (
    *(_case("small", *sizes) for sizes in ((1, 1), (1, 2), (2, 1), (3, 2), (31, 32), (32, 32), (33, 31))),
    *(_case("ragged", *sizes) for sizes in ((1, 257), (257, 1), (64, 31), (255, 257), (1000, 3), (3, 1000))),
    _case("round", 64, 128),
    *(_case("values", rows, cols, values) for rows, cols, values in (
        (65, 70, "integers"), (33, 64, "wide integers"), (40, 50, "marker"), (31, 29, "huge"), (29, 31, "tiny"),
        (30, 45, "denormal"), (47, 34, "holes"),
    )),
    _case("large", 500, 300),
    _case("large", 70_001, 1),
    _case("large", 1, 70_001),
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """One matrix, of any floats."""
    rows, cols = case["rows"], case["cols"]
    return {"input": fill(rng, case.values, (rows, cols)), "rows": rows, "cols": cols}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """The same values, turned."""
    return {"output": arguments["input"].T.astype(np.float64)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """0: nothing is computed."""
    return {"output": np.zeros(1)}

"""y = A x."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case
from harness.references.gemm import product_bound
from harness.references.values import fill


def _case(group: str, m: int, k: int, values: str = "random") -> Case:
    return Case(group, values, (("M", m), ("K", k)))


CASES = (
    *(_case("small", *sizes) for sizes in ((1, 1), (1, 2), (2, 1), (3, 3), (31, 33), (33, 31))),
    *(_case("ragged", *sizes) for sizes in ((7, 127), (9, 128), (255, 257), (1, 65), (35, 1025))),
    *(_case("round", *sizes) for sizes in ((8, 512), (64, 1024))),
    *(_case("values", m, k, values) for m, k, values in (
        (129, 255, "integers"), (65, 1001, "wide integers"), (5, 2044, "wide integers"), (17, 129, "constant"),
        (20, 132, "marker"), (31, 100, "huge"), (33, 101, "tiny"), (19, 254, "negative"),
    )),
    _case("large", 333, 1000),
    _case("large", 70_001, 1),
    _case("large", 2, 10_008, "integers"),
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """A and x of the case's kind. Wide integers meet 0, 1 and -1, so that float32 holds every sum."""
    m, k = case["M"], case["K"]
    second = "marker" if case.values == "wide integers" else case.values
    return {"A": fill(rng, case.values, (m, k)), "x": fill(rng, second, (k,)), "M": m, "K": k}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """The float64 product."""
    return {"y": arguments["A"].astype(np.float64) @ arguments["x"].astype(np.float64)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """See :func:`harness.references.gemm.product_bound`."""
    return {"y": product_bound(arguments["A"], arguments["x"])}

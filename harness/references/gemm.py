"""C = A B, as ``sgemm_naive`` and ``sgemm_tile`` ask it: the same cases, the same answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.references import Arguments, Case, U
from harness.references.values import fill


def case(group: str, m: int, n: int, k: int, values: str = "random") -> Case:
    """One case: A is m x k, B is k x n."""
    return Case(group, values, (("M", m), ("N", n), ("K", k)))


CASES = (
    *(case("small", *sizes) for sizes in ((1, 1, 1), (1, 2, 3), (3, 1, 2), (2, 3, 1), (31, 32, 33), (33, 31, 7))),
    *(case("ragged", *sizes) for sizes in (
        (1, 257, 41), (255, 1, 33), (17, 130, 1), (127, 129, 9), (130, 100, 36), (128, 128, 8), (128, 256, 25),
    )),
    case("round", 64, 64, 64),
    *(case("values", m, n, k, values) for m, n, k, values in (
        (65, 66, 35, "integers"), (37, 41, 49, "wide integers"), (33, 35, 40, "constant"), (40, 30, 18, "marker"),
        (20, 33, 31, "huge"), (31, 20, 33, "tiny"), (34, 36, 20, "negative"),
    )),
    case("large", 257, 255, 129),
    case("large", 2051, 3, 5),
    case("large", 2, 2053, 3, "integers"),
    case("large", 3, 5, 264, "integers"),
)


def inputs(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """A and B of the case's kind. Wide integers meet small ones, so that float32 holds every sum."""
    m, n, k = case["M"], case["N"], case["K"]
    second = "integers" if case.values == "wide integers" else case.values
    return {"A": fill(rng, case.values, (m, k)), "B": fill(rng, second, (k, n)), "M": m, "N": n, "K": k}


def expected(arguments: Arguments) -> dict[str, np.ndarray]:
    """The float64 product."""
    return {"C": arguments["A"].astype(np.float64) @ arguments["B"].astype(np.float64)}


def error_bound(arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """See :func:`product_bound`."""
    return {"C": product_bound(arguments["A"], arguments["B"])}


def product_bound(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far each element of ``a @ b`` may be off: 0 where float32 is exact in any order, else 8 u sqrt(K) (|a| |b|).

    K roundings of at most u times a partial sum act like a random walk (Higham and Mary 2019, "A New Approach to
    Probabilistic Rounding Error Analysis"); products and their sums round alike, with or without ``fma``.
    """
    magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    bound = 8.0 * U * np.sqrt(a.shape[-1]) * magnitude
    whole = bool((a == np.rint(a)).all() and (b == np.rint(b)).all())
    return np.where(whole & (magnitude < 2.0**24), 0.0, bound)

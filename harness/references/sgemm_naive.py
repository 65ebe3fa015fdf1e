"""C = A B, one thread for each element of C."""

from __future__ import annotations

from harness.references.gemm import CASES as SHARED
from harness.references.gemm import case, error_bound, expected, inputs

__all__ = ["CASES", "error_bound", "expected", "inputs"]

CASES = (
    *SHARED,
    case("large", 70_001, 1, 2, "integers"),  # more rows than a grid is tall: 65,535
    case("large", 5, 3, 4099, "integers"),
)

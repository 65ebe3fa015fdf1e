"""C = A B, through tiles in shared memory."""

from __future__ import annotations

from harness.references.gemm import CASES, error_bound, expected, inputs

__all__ = ["CASES", "error_bound", "expected", "inputs"]

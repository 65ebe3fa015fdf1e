"""The tiled GEMM of the sgemm_tile kata for numba's CUDA simulator, which finds ``cuda`` among a module's globals."""

from __future__ import annotations

import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

from numba import cuda, float32

TILE = 32


@cuda.jit
def gemm(a, b, c, m, n, k):  # type: ignore[no-untyped-def]
    """C = A B for row-major A (m x k), B (k x n), C (m x n), a block of TILE x TILE threads to a tile of C."""
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = float32(0)
    for start in range(0, k, TILE):
        left[y, x] = a[row, start + x] if row < m and start + x < k else float32(0)
        right[y, x] = b[start + y, col] if start + y < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += left[y, i] * right[i, x]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total

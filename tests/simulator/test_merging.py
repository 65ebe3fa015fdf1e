"""Which shared loads the machine code makes one."""

from __future__ import annotations

import numpy as np
import pytest

from harness.profiles import Traffic, total
from tests.simulator.running import Bench


def loads(body: str, setup: str = "") -> Traffic:
    """What the shared loads of one warp come to. ``t`` is the thread, ``tile`` a static array of words."""
    source = f"""\
KERNEL k(float* y, int n) {{
    __shared__ float tile[2048];
    extern __shared__ float sized[];
    int t = threadIdx.x;
    {setup}
    for (int i = t; i < 2048; i += 32) tile[i] = sized[i] = y[i];
    __syncthreads();
    {body}
}}"""
    y = np.random.default_rng(1).random(2048, dtype=np.float32)
    found = Bench(source).count(block=32, shared=8192, y=y, n=4)
    return total(one.counters for one in found.instructions).shared_load


@pytest.mark.parametrize(
    ("body", "requests", "wavefronts"),
    [
        ("y[t] = tile[4 * t] + tile[4 * t + 1] + tile[4 * t + 2] + tile[4 * t + 3];", 1, 4),
        ("y[t] = tile[4 * t + 3] + tile[4 * t + 1] + tile[4 * t + 2] + tile[4 * t];", 1, 4),
        ("y[t] = tile[2 * t] + tile[2 * t + 1];", 1, 2),
        ("y[t] = tile[4 * t] + tile[4 * t + 1] + tile[4 * t + 2];", 2, 4 + 4),
        ("y[t] = tile[4 * t + 1] + tile[4 * t + 2];", 2, 4 + 4),
        ("y[t] = tile[t] + tile[t + 1];", 2, 2),
        ("y[t] = tile[n * t] + tile[n * t + 1];", 2, 4 + 4),
        ("y[t] = tile[(t & ~3)] + tile[(t & ~3) + 1] + tile[(t & ~3) + 2] + tile[(t & ~3) + 3];", 1, 2),
        ("y[t] = tile[64] + tile[65] + tile[66] + tile[67];", 1, 2),
        ("float a = tile[4 * t]; tile[t] = 1; y[t] = a + tile[4 * t + 1];", 2, 4 + 4),
        ("float a = tile[4 * t]; __syncthreads(); y[t] = a + tile[4 * t + 1];", 2, 4 + 4),
        ("volatile float* v = tile; y[t] = v[2 * t] + v[2 * t + 1];", 2, 2 + 2),
    ],
)
def test_neighbouring_words_are_loaded_at_once(body: str, requests: int, wavefronts: int) -> None:
    found = loads(body)
    assert (found.requests, found.units) == (requests, wavefronts)
    assert found.lanes == 32 * requests


def test_a_pointer_that_moves_by_whole_vectors_stays_aligned() -> None:
    walk = """float a = 0; const float* p = tile + 8 * t;
    #pragma unroll 1
    for (int k = 0; k < 3; ++k, p += {step}) {body}"""
    found = loads(walk.format(step=4, body="a += p[0] + p[1] + p[2] + p[3]; y[t] = a;"))
    assert found.requests == 3
    found = loads(walk.format(step=3, body="a += p[0] + p[1]; y[t] = a;"))
    assert found.requests == 6

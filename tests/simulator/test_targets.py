"""Through which of its pointers a kernel may write."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.simulator import Module
from harness.simulator.targets import written_through
from tests.planning import compiled, with_body

OFFSETS = {"a": 0, "b": 8}


@pytest.mark.parametrize(("kernel", "written"), [
    ("__global__ void k(const float* a, float* b, int n) { b[threadIdx.x] = a[n]; }", "b"),
    ("__global__ void k(float* a, float* b, int n) { atomicAdd(a + n, b[0]); }", "a"),
    ("__global__ void k(float* a, float* b, int n) { float* to = n > 3 ? a : b; to[threadIdx.x] = n; }", "ab"),
    ("__global__ void k(float* a, float* b, int n) { for (int i = 0; i < n; ++i) *b++ = a[i]; }", "b"),
    ("__device__ __noinline__ void put(float* to, float x) { *to = x; }\n"
     "__global__ void k(float* a, float* b, int n) { put(b + n, a[0]); }", "b"),
    ("struct Two { float *a, *b; };\n__global__ void k(Two two, int n) { two.b[n] = two.a[0]; }", "b"),
    ("__global__ void k(const float* a, float* b, int n) { if (a[n] > b[n]) __trap(); }", ""),
])  # fmt: skip
def test_a_kernel_writes_where_its_stores_and_atomics_go(tmp_path: Path, kernel: str, written: str) -> None:
    arguments = "Two{out, out}, n" if "Two" in kernel else "out, out, n"
    made = compiled(tmp_path, with_body(f"k<<<1, 1>>>({arguments});", kernel + "\n"))
    module = Module.parse(made.ptx, "scale.cu")
    name = next(entry for entry in module.entries if entry != "kata_entry")
    assert written_through(module, name) & set(OFFSETS.values()) == {OFFSETS[one] for one in written}

"""A kernel cut down for counting counts what the whole one does, and computes what decides its way."""

from __future__ import annotations

import numpy as np
import pytest

from harness.profiles import InstructionCounters
from harness.simulator.counters import Tally
from harness.simulator.kernel import Kernel
from harness.simulator.machine import Launch
from harness.simulator.memory import Backing
from harness.simulator.slicing import lean
from harness.simulator.summing import Sums
from tests.simulator.running import Bench

KERNELS = {
    "values only": """\
KERNEL k(const float* x, float* y, int* z) {
    int i = threadIdx.x;
    y[i] = x[i] * x[i + 1] + sqrtf(x[i]);
}""",
    "a branch on a value": """\
KERNEL k(const float* x, float* y, int* z) {
    int i = threadIdx.x;
    if (x[i] > 0.5f) y[i] = x[i]; else if (z[i] & 1) y[64] = 1;
}""",
    "an address from memory": """\
KERNEL k(const float* x, float* y, int* z) {
    y[z[threadIdx.x] & 63] = x[z[threadIdx.x + 1] & 63];
}""",
    "a value through shared memory and shuffles": """\
KERNEL k(const float* x, float* y, int* z) {
    __shared__ int s[64];
    int i = threadIdx.x;
    s[i] = z[i];
    __syncthreads();
    int v = s[63 - i];
    for (int o = 16; o; o >>= 1) v = max(v, __shfl_xor_sync(0xffffffff, v, o));
    for (int k = 0; k < (v & 7); ++k) y[i + k] += x[i];
}""",
    "data through shared memory and shuffles": """\
KERNEL k(const float* x, float* y, int* z) {
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = x[i];
    __syncthreads();
    float v = s[63 - i];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    if (i % 32 == 0) atomicAdd(y, v);
}""",
    "what a store left": """\
KERNEL k(const float* x, float* y, int* z) {
    int i = threadIdx.x;
    z[i] = 3 * i;
    __syncthreads();
    for (int k = 0; k < (z[63 - i] & 3); ++k) y[i] = k;
}""",
    "an answered atomic": """\
KERNEL k(const float* x, float* y, int* z) {
    int ticket = atomicAdd(z, 1);
    if (ticket % 3 == 0) y[ticket & 63] = x[threadIdx.x];
}""",
    "a guard and a vote": """\
KERNEL k(const float* x, float* y, int* z) {
    unsigned m = __ballot_sync(0xffffffff, x[threadIdx.x] > 0.5f);
    if (m >> (threadIdx.x & 31) & 1) y[__popc(m & ((1u << (threadIdx.x & 31)) - 1))] = x[threadIdx.x];
}""",
    "an asynchronous copy": """\
#include <cuda_pipeline.h>
KERNEL k(const float* x, float* y, int* z) {
    __shared__ int s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &z[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[s[63 - threadIdx.x] & 63] = 1;
}""",
}


def arguments() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        "x": rng.random(128, dtype=np.float32), "y": np.zeros(128, np.float32),
        "z": rng.integers(0, 1000, 128).astype(np.int32),
    }  # fmt: skip


def counted(source: str, *, cut: bool) -> tuple[InstructionCounters, ...]:
    bench = Bench(source)
    addresses = [bench.place(name, value).address for name, value in arguments().items()]
    kernel: Kernel = bench.module.kernel("k")
    tally = Tally(1 << 16, {})
    packed = Backing(24, data=np.array(addresses, np.uint64).view(np.uint8), written=True)
    Launch(
        lean(kernel) if cut else kernel, "k", bench.memory, (2, 1, 1), (64, 1, 1), kernel.dynamic_start, packed,
        bench.printed.append, bench.machine.budget, False, None, tally,
    ).run()  # fmt: skip
    return tuple(Sums(kernel, [(part, np.ones(part.blocks)) for part in tally.parts], 2).instructions())


@pytest.mark.parametrize("source", KERNELS.values(), ids=KERNELS)
def test_the_cut_kernel_counts_what_the_whole_one_does(source: str) -> None:
    assert counted(source, cut=True) == counted(source, cut=False)


def test_arithmetic_that_only_ends_in_an_output_is_left_out() -> None:
    bench = Bench(KERNELS["values only"])
    bench.count(block=64, **arguments())
    assert not bench.array("y").any()


def test_a_kernel_is_cut_once() -> None:
    kernel = Bench(KERNELS["values only"]).module.kernel("k")
    assert lean(kernel) is lean(kernel) and lean(kernel) is not kernel

"""A kernel cut down for counting counts what the whole one does, and computes what decides its way."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import KernelFault
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
    "what atomics without an answer left": """\
KERNEL k(const float* x, float* y, int* z) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (z[threadIdx.x] & 1) atomicAdd(&count, 1);
    __syncthreads();
    for (int k = 0; k < count; ++k) y[threadIdx.x + k] = x[k];
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
    "few lanes on each of many ways": """\
KERNEL k(const float* x, float* y, int* z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float u = x[i & 127], v;
    switch (i & 7) {
        case 0: v = x[1] / u; break;
        case 1: v = sqrtf(u); break;
        case 2: v = u * u + 3; break;
        case 3: v = __sinf(u); break;
        case 4: v = x[2] / u; break;
        case 5: v = rsqrtf(u); break;
        case 6: v = __expf(u); break;
        default: v = __logf(u); break;
    }
    y[i & 127] = v;
}""",
    "arguments of a call": """\
__device__ __noinline__ int next(int i, const int* z) { return z[i & 127] + 1; }
KERNEL k(const float* x, float* y, int* z) {
    int i = next(next(threadIdx.x, z), z);
    for (int k = 0; k < (i & 7); ++k) y[(i + k) & 127] = x[k];
}""",
    "a call through a pointer": """\
typedef float (*Way)(float, float);
__device__ __noinline__ float one(float a, float b) { return a + b; }
__device__ __noinline__ float other(float a, float b) { return a > b ? sqrtf(a) : b; }
__device__ Way ways[2] = {one, other};
KERNEL k(const float* x, float* y, int* z) {
    int i = threadIdx.x;
    y[i] = ways[z[i] & 1](x[i], x[i + 1]);
}""",
    "a struct by its address": """\
struct Range { int first, last; };
__device__ __noinline__ void halve(Range* r) { r->last = r->first + (r->last - r->first) / 2; }
KERNEL k(const float* x, float* y, int* z) {
    Range r = {int(threadIdx.x), int(threadIdx.x) + (z[threadIdx.x] & 15)};
    halve(&r);
    for (int k = r.first; k < r.last; ++k) y[k] = x[k];
}""",
    "a local array": """\
KERNEL k(const float* x, float* y, int* z) {
    int own[8];
    for (int k = 0; k < 8; ++k) own[k] = z[threadIdx.x + k];
    for (int k = 0; k < (own[z[0] & 7] & 7); ++k) y[threadIdx.x] += x[own[k] & 127];
}""",
    "a counter that is set back": """\
KERNEL k(const float* x, float* y, int* z) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    int ticket = atomicAdd(&counter, 1);
    for (int k = 0; k < ticket; k += 9) y[ticket] = x[k];
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


def test_a_failed_assertion_is_told_in_words() -> None:
    source = "KERNEL k(const int* z) { assert(z[threadIdx.x] < 30); }"
    with pytest.raises(KernelFault, match=r"thread 30 of block 0 finds `z\[threadIdx.x\] < 30` false"):
        Bench(source).count(z=np.arange(32, dtype=np.int32))


def test_what_a_counted_kernel_prints_is_what_it_would_print() -> None:
    bench = Bench('KERNEL k(int* z) { if (threadIdx.x == 3) printf("%d and %s\\n", z[3] + 1, "so on"); }')
    bench.count(z=np.arange(32, dtype=np.int32))
    assert bench.printed == ["4 and so on\n"]


def test_arithmetic_that_only_ends_in_an_output_is_left_out() -> None:
    bench = Bench(KERNELS["values only"])
    bench.count(block=64, **arguments())
    assert not bench.array("y").any()


def test_a_kernel_is_cut_once() -> None:
    kernel = Bench(KERNELS["values only"]).module.kernel("k")
    assert lean(kernel) is lean(kernel) and lean(kernel) is not kernel

"""Where accesses go: every kind of memory, and what is said of those that go nowhere."""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.results import Hazard
from tests.simulator.running import Bench, Unset, assembly, fault, fault_of, line_of, silent


def test_local_arrays_are_each_lanes_own() -> None:
    source = """KERNEL k(int* out) {
        int x[8]; short y[5]; double z[3];
        int i = threadIdx.x;
        for (int n = 0; n < 8; ++n) x[(n + i) % 8] = n * i;
        for (int n = 0; n < 5; ++n) y[(n * i) % 5] = n;
        z[i % 3] = i; z[(i + 1) % 3] = 1; z[(i + 2) % 3] = 2;
        out[i] = x[i * 5 % 8] * 1000 + y[0] * 10 + (int)z[0];
    }"""

    def alone(i: int) -> int:
        x = {(n + i) % 8: n * i for n in range(8)}
        y = {(n * i) % 5: n for n in range(5)}
        return x[i * 5 % 8] * 1000 + y[0] * 10 + {0: i, 2: 1, 1: 2}[i % 3]

    # y[0] needs a value in every lane: n = 0 always writes it.
    np.testing.assert_array_equal(silent(source, block=64, out=Unset("i4", 64))["out"], [alone(i) for i in range(64)])


def test_one_generic_load_may_reach_every_space() -> None:
    source = """
    __constant__ int constant[2] = {40, 41};
    __device__ int variable[2] = {50, 51};
    KERNEL k(int* out, const int* data) {
        __shared__ int shared[2];
        int local[2] = {30, (int)threadIdx.x};
        if (threadIdx.x < 2) shared[threadIdx.x] = 20 + threadIdx.x;
        __syncthreads();
        const int* place[5] = {data, shared, local, constant, variable};
        out[threadIdx.x] = place[threadIdx.x % 5][threadIdx.x / 5 % 2];
    }"""
    out = silent(source, block=40, out=Unset("i4", 40), data=np.array([10, 11], "i4"))["out"]
    expected = [i if i % 5 == 2 and i // 5 % 2 else (10, 20, 30, 40, 50)[i % 5] + i // 5 % 2 for i in range(40)]
    np.testing.assert_array_equal(out, expected)


def test_generic_stores_and_atomics_reach_their_spaces() -> None:
    source = """__device__ __noinline__ void put(int* where, int x) { *where = x; atomicAdd(where, 100); }
    KERNEL k(int* out) {
        __shared__ int shared[32];
        int i = threadIdx.x;
        put(i % 2 ? &shared[i] : &out[i], i);
        if (i % 2) out[i] = shared[i];
    }"""
    np.testing.assert_array_equal(silent(source, out=Unset("i4", 32))["out"], np.arange(32) + 100)


# --- faults


def check(hazard: Hazard, kind: str, line: int, thread: int, *words: str, block: int = 0) -> None:
    assert (hazard.kind, hazard.line) == (kind, line), hazard.message
    assert (hazard.block, hazard.thread) == ((block, 0, 0), (thread, 0, 0))
    assert f"thread {thread} of block {block}" in hazard.message
    for word in words:
        assert word in hazard.message, hazard.message


READ = """KERNEL k(float* out, const float* x, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i + shift]; // access
}"""


def test_a_read_past_the_end_says_by_how_much_and_of_what() -> None:
    hazard = fault(READ, grid=2, block=64, out=Unset("f4", 128), x=np.zeros(100, "f4"), shift=0)
    check(
        hazard, "out_of_bounds", 3, 36, "reads 4 bytes", "x[100]", "4 bytes past the end of x", "100 elements", block=1
    )


@pytest.mark.parametrize(("kind", "width"), [("char", 1), ("short", 2), ("float", 4)])
def test_elements_are_counted_in_units_of_the_access(kind: str, width: int) -> None:
    source = f"KERNEL k({kind}* x) {{\n x[threadIdx.x] = x[threadIdx.x] + 1; }}"
    hazard = fault(source, block=64, x=np.zeros(40, f"u{width}"))
    assert "x[40]" in hazard.message and hazard.thread == (40, 0, 0)


def test_a_read_before_the_start_says_so() -> None:
    hazard = fault(READ, block=32, out=Unset("f4", 32), x=np.zeros(32, "f4"), shift=-2)
    check(hazard, "out_of_bounds", 3, 0, "x[-2]", "8 bytes before the start of x")


def test_a_write_past_the_end_is_a_write() -> None:
    hazard = fault(READ, block=40, out=Unset("f4", 33), x=np.zeros(64, "f4"), shift=0)
    check(hazard, "out_of_bounds", 3, 33, "writes 4 bytes", "out[33]")


def test_the_red_zone_between_buffers_is_nobodys() -> None:
    source = "KERNEL k(float* a, float* b) { a[b - a - 1] = 1; }"
    hazard = fault(source, block=1, a=np.zeros(4, "f4"), b=np.zeros(4, "f4"))
    assert hazard.kind == "out_of_bounds" and "b[-1], 4 bytes before the start of b" in hazard.message


def test_a_null_pointer_is_called_one() -> None:
    hazard = fault(READ, block=32, out=Unset("f4", 32), x=0, shift=1)
    check(hazard, "null_pointer", 3, 0, "null pointer")


def test_use_after_free_names_the_allocation() -> None:
    bench = Bench(READ)
    scratch = bench.memory.allocate("scratch", 128, data=bytes(128), kind="scratch")
    bench.memory.free(scratch.address)
    hazard = fault_of(lambda: bench.launch(block=32, out=Unset("f4", 32), x=scratch, shift=1))
    check(hazard, "use_after_free", 3, 0, "scratch + 4 bytes", "cudaFree")


def test_a_wild_pointer_is_placed_by_what_is_nearest() -> None:
    hazard = fault(READ, block=1, out=Unset("f4", 1), x=0x7FFF_0000_0000, shift=0)
    assert hazard.kind == "out_of_bounds"


def test_shared_memory_ends_where_the_launch_says() -> None:
    source = """extern __shared__ float tile[];
    KERNEL k(float* out) {
        tile[threadIdx.x] = 1; // write
        out[threadIdx.x] = tile[threadIdx.x];
    }"""
    silent(source, shared=128, out=Unset("f4", 32))
    hazard = fault(source, shared=100, out=Unset("f4", 32))
    check(
        hazard, "out_of_bounds", line_of(source, "write"), 25, "tile[25]", "4 bytes past the end of tile", "100 bytes"
    )
    assert "or give the launch more shared bytes: k<<<blocks, threads, bytes>>>(...)" in (hazard.remedy or "")


@pytest.mark.parametrize("first", ["", "__shared__ int count; if (threadIdx.x == 0) count = n; __syncthreads();"])
def test_a_launch_that_forgets_its_shared_bytes_is_told_to_give_them(first: str) -> None:
    source = f"""extern __shared__ float tile[];
    KERNEL k(float* out, int n) {{
        {first}
        tile[threadIdx.x] = n; // write
        out[threadIdx.x] = tile[threadIdx.x ^ 1] + {"count" if first else "n"};
    }}"""
    hazard = fault(source, out=Unset("f4", 32), n=32)
    check(hazard, "out_of_bounds", line_of(source, "write"), 0, "tile[0]", "past the end of tile (0 bytes)")
    assert hazard.remedy == "give the launch its shared bytes: k<<<blocks, threads, bytes>>>(...)"


def test_the_end_of_one_shared_array_is_no_way_into_the_next() -> None:
    source = """KERNEL k(float* out, int shift) {
        __shared__ float a[32];
        __shared__ float b[32];
        int i = threadIdx.x;
        a[i] = 1; b[i] = 2;
        __syncthreads();
        out[i] = a[i + shift] + b[i - shift]; // read
    }"""
    silent(source, out=Unset("f4", 32), shift=0)
    line = line_of(source, "read")
    past = fault(source, out=Unset("f4", 32), shift=1)
    check(past, "out_of_bounds", line, 31, "a[32]", "4 bytes past the end of a (128 bytes)")
    before = fault(source, out=Unset("f4", 32), shift=-1)
    check(before, "out_of_bounds", line, 0, "a[-1]", "4 bytes before the start of a")


@pytest.mark.parametrize("pick", ["(r & 2) ? b : a", "table[r & 1]"])
def test_a_pointer_that_goes_from_array_to_array_is_no_mistake(pick: str) -> None:
    source = f"""KERNEL k(float* out, int rounds) {{
        __shared__ float a[32], b[32];
        int i = threadIdx.x;
        a[i] = i; b[i] = 10 + i;
        float* table[2] = {{b, a}};
        float* p = a;
        float sum = 0;
        #pragma unroll 1
        for (int r = 0; r < rounds; ++r) {{
            sum += p[i];
            p = {pick};
        }}
        out[i] = sum;
    }}"""
    out = silent(source, out=Unset("f4", 32), rounds=5)["out"]
    visits = [0, *((r & 2) // 2 if "?" in pick else 1 - r % 2 for r in range(4))]
    np.testing.assert_array_equal(out, [sum(i + 10 * b for b in visits) for i in range(32)])


def test_a_local_array_ends_too() -> None:
    source = """KERNEL k(float* out, int shift) {
        float x[4] = {1, 2, 3, 4};
        x[threadIdx.x & 3] = 7;
        out[threadIdx.x] = x[(threadIdx.x & 3) + shift]; // read
    }"""
    hazard = fault(source, out=Unset("f4", 32), shift=400)
    check(hazard, "out_of_bounds", line_of(source, "read"), 0, "local memory", "past the end")


def test_parameters_end_too() -> None:
    text = assembly("mov.u64 %rd1, out;\nld.param.u64 %rd2, [%rd1+8];")
    hazard = fault(text, block=1, out=0)
    assert hazard.kind == "out_of_bounds" and "param memory" in hazard.message


def test_the_first_bad_lane_of_a_divergent_access_is_named() -> None:
    source = """KERNEL k(float* out, const float* x) {
        int i = threadIdx.x;
        if (i % 7 == 3) out[i] = x[i * 4];
    }"""
    check(fault(source, block=64, out=Unset("f4", 64), x=np.zeros(64, "f4")), "out_of_bounds", 3, 17, "x[68]")


def test_blocks_and_threads_are_named_by_as_many_numbers_as_they_have_dimensions() -> None:
    source = "KERNEL k(int* out) { if (blockIdx.y == 1 && threadIdx.z == 2) out[1000] = threadIdx.y; }"
    hazard = fault(source, grid=(2, 2), block=(4, 2, 3), out=Unset("i4", 4))
    assert (hazard.block, hazard.thread) == ((0, 1, 0), (0, 0, 2))
    assert re.search(r"thread \(0, 0, 2\) of block \(0, 1\)", hazard.message)

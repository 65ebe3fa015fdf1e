"""Launches counted: per line, per kind of access, on all blocks or on a sample of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import KernelFault, Unsupported
from harness.profiles import Counters, Traffic, total
from harness.simulator.counting import Counted
from tests.simulator.running import Bench, assembly, line_of


def counters(found: Counted) -> Counters:
    return total(one.counters for one in found.instructions)


def at(found: Counted, line: int) -> Counters:
    """What one line of the source counted."""
    return total(one.counters for one in found.instructions if one.line == line)


def floats(count: int) -> np.ndarray:
    return np.random.default_rng(1).random(count, dtype=np.float32)


LOOP = """\
KERNEL k(const int* trips, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    #pragma unroll 1
    for (int k = 0; k < trips[i]; ++k) // head
        sum += k * out[k]; // body
    out[i] = sum;
}"""


@settings(max_examples=25)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=150), st.integers(1, 3))
def test_a_loop_counts_warps_and_lanes_turn_by_turn(trips: list[int], blocks: int) -> None:
    """Against a count by hand: a warp runs the body as long as one of its lanes does."""
    trips = trips * blocks
    block = len(trips) // blocks
    found = Bench(LOOP).count(grid=blocks, block=block, trips=np.array(trips, np.int32), out=np.zeros(512, np.int32))
    warps = [trips[start + first : start + min(first + 32, block)]
             for start in range(0, len(trips), block) for first in range(0, block, 32)]  # fmt: skip
    loads = at(found, line_of(LOOP, "body")).global_load
    assert loads.requests == sum(map(max, warps))
    assert loads.lanes == sum(trips) and loads.nbytes == 4 * sum(trips)
    assert found.sampling.whole
    # Lanes part wherever some leave the loop and others stay: once for each number of turns but the largest.
    assert counters(found).divergent == sum(len(set(warp)) - 1 for warp in warps)




def test_every_instruction_of_a_small_kernel_is_accounted_for() -> None:
    body = """\
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 40;
@!%p1 bra DONE;
mul.lo.u32 %r2, %r1, %r1;
@%p1 add.u32 %r2, %r2, 1;
fma.rn.f32 %f1, %f2, %f3, %f4;
DONE:
bar.sync 0;
ret;"""
    found = Bench(assembly(body, parameters="")).count(block=64)
    # Two warps of 32; lanes 0 to 39 take the middle, so the second warp parts.
    expected = {1: (2, 64), 2: (2, 64), 3: (2, 64), 4: (2, 40), 5: (2, 40), 6: (2, 40), 8: (2, 64), 9: (2, 64)}
    assert {line: (c.instructions, c.lanes) for line in expected for c in [at(found, line)]} == expected
    whole = counters(found)
    assert whole.instructions == 16 and whole.lanes == sum(lanes for _, lanes in expected.values())
    assert dict(whole.pipes) == {"move": 2, "integer": 6, "branch": 4, "fp32": 2, "barrier": 2}
    assert (whole.branches, whole.divergent, whole.barriers) == (2, 1, 2)
    assert (whole.flops, whole.double_flops) == (80, 0)


@pytest.mark.parametrize(
    ("expression", "requests", "sectors", "ideal"),
    [
        ("x[i]", 4, 16, 16),
        ("x[i + 1]", 4, 20, 16),
        ("x[2 * i]", 4, 32, 16),
        ("x[32 * i]", 4, 128, 16),
        ("x[0]", 4, 4, 4),
        ("x[i / 2]", 4, 8, 8),
        ("((const float4*)x)[i].x + ((const float4*)x)[i].w", 4, 64, 64),
        ("((const float2*)x)[i].x + ((const float2*)x)[i].y", 4, 32, 32),
        ("(i % 2 ? x[i] : 0.0f)", 4, 16, 8),
        ("(i < 40 ? x[i] : 0.0f)", 2, 5, 5),
        ("((const signed char*)x)[i]", 4, 4, 4),
    ],
)
def test_a_load_counts_requests_and_sectors(expression: str, requests: int, sectors: int, ideal: int) -> None:
    source = f"KERNEL k(const float* x, float* y) {{ int i = threadIdx.x; y[i] = {expression}; }}"
    load = counters(Bench(source).count(block=128, x=floats(8192), y=np.zeros(128, np.float32))).global_load
    assert (load.requests, load.units, load.ideal) == (requests, sectors, ideal)


def test_threads_of_a_flat_block_are_counted_in_warps_of_their_order() -> None:
    source = """\
KERNEL k(const float* x, float* y) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    y[column * 64 + row] = x[row * 64 + column];
}"""
    found = counters(Bench(source).count(grid=(8, 16), block=(8, 4), x=floats(4096), y=floats(4096)))
    # A warp covers 4 rows of 8 floats: 4 sectors, read in rows; written in columns of 4 neighbours: 8 sectors.
    assert found.global_load == Traffic(128, 4096, 16384, 512, 512, 512)
    assert found.global_store == Traffic(128, 4096, 16384, 1024, 512, 1024)


def test_blocks_of_three_axes_with_a_partial_warp() -> None:
    source = "KERNEL k(float* y) { y[threadIdx.x + 3 * (threadIdx.y + 5 * threadIdx.z)] = 1; }"
    store = counters(Bench(source).count(block=(3, 5, 3), y=np.zeros(45, np.float32))).global_store
    assert store == Traffic(2, 45, 180, 6, 6, 2)


SHARED = """\
KERNEL k(float* y, int stride) {
    __shared__ float tile[32 * 33];
    tile[threadIdx.x * stride] = y[threadIdx.x]; // store
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x]; // load
}"""


@pytest.mark.parametrize(("stride", "wavefronts"), [(1, 1), (2, 2), (32, 32), (33, 1)])
def test_bank_conflicts_are_counted_on_their_line(stride: int, wavefronts: int) -> None:
    found = Bench(SHARED).count(block=32, y=floats(32), stride=stride)
    store = at(found, line_of(SHARED, "store"))
    assert store.shared_store == Traffic(1, 32, 128, wavefronts, 1)
    assert at(found, line_of(SHARED, "load")).shared_load.requests == 1


def test_the_worst_access_is_kept_as_an_example() -> None:
    worst = Bench(SHARED).count(block=32, y=floats(32), stride=32).worst[0]
    assert (worst.name, worst.verb, worst.space, worst.units) == ("tile", "store", "shared", 32)
    assert worst.addresses == tuple(128 * lane for lane in range(32)) and worst.line == line_of(SHARED, "store")


def test_dynamic_shared_memory_and_generic_pointers_are_told_apart() -> None:
    source = """\
KERNEL k(const float* x, float* y) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const float* from = threadIdx.x < 16 ? tile : x;
    y[threadIdx.x] = from[2 * (threadIdx.x % 16)]; // get
}"""
    found = Bench(source).count(block=32, shared=128, x=floats(64), y=np.zeros(32, np.float32))
    line = at(found, line_of(source, "get"))
    assert line.shared_load == Traffic(1, 16, 64, 1, 1)
    assert line.global_load == Traffic(1, 16, 64, 4, 2, 1)


def test_local_arrays_are_counted_apart() -> None:
    source = """\
KERNEL k(const int* index, float* y) {
    float own[64];
    for (int k = 0; k < 64; ++k) own[k] = k * y[0];
    y[threadIdx.x] = own[index[threadIdx.x]]; // look up
}"""
    same = Bench(source).count(block=32, index=np.full(32, 5, np.int32), y=floats(32))
    other = Bench(source).count(block=32, index=np.arange(32, dtype=np.int32), y=floats(32))
    line = line_of(source, "look up")
    assert at(same, line).local_load == Traffic(1, 32, 128, 4, 4, 1)
    assert at(other, line).local_load == Traffic(1, 32, 128, 32, 4, 32)


def test_asynchronous_copies_count_where_they_read_and_where_they_land() -> None:
    source = """\
#include <cuda_pipeline.h>
KERNEL k(const float4* x, float* y) {
    __shared__ float4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[2 * threadIdx.x], 16); // copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = tile[threadIdx.x].x;
}"""
    found = total(
        one.counters for one in Bench(source).count(block=32, x=floats(256), y=floats(32)).instructions
        if one.mnemonic.startswith("cp.async.ca") or one.mnemonic.startswith("cp.async.cg")
    )  # fmt: skip
    assert found.global_load == Traffic(1, 32, 512, 32, 16, 8)
    assert found.shared_store == Traffic(1, 32, 512, 4, 4)


ATOMICS = """\
KERNEL k(int* bins, float* sum, const int* value) {
    __shared__ int own[32];
    own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[value[threadIdx.x]], 1); // shared
    __syncthreads();
    atomicAdd(&bins[value[threadIdx.x]], own[threadIdx.x]); // global
    atomicAdd(sum, 1.0f); // one address
}"""


def test_atomics_count_the_lanes_that_meet() -> None:
    value = np.array([0] * 8 + [1] * 4 + list(range(2, 22)), np.int32)
    found = Bench(ATOMICS).count(
        grid=3, block=32, bins=np.zeros(32, np.int32), sum=np.zeros(1, np.float32), value=value
    )  # fmt: skip
    shared, bins = (at(found, line_of(ATOMICS, mark)) for mark in ("shared", "global"))
    assert (shared.shared_conflicts, shared.shared_atomic.units) == (24, 24)
    assert (bins.global_conflicts, bins.global_atomic.requests) == (24, 3)
    assert bins.global_atomic.units == 3 * (8 + 1 + 1)
    one = at(found, line_of(ATOMICS, "one address"))
    assert (one.global_atomic.units, one.global_atomic.ideal, one.global_conflicts) == (96, 3, 96)
    assert found.same_address == 96


def test_library_code_counts_on_the_line_that_calls_it() -> None:
    source = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ float twice(float x) { return x + x; } // own function
KERNEL k(float* y) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float sum = cg::reduce(warp, twice(y[threadIdx.x]), cg::plus<float>()); // library
    y[threadIdx.x] = sum;
}"""
    found = Bench(source).count(block=32, y=floats(32))
    assert at(found, line_of(source, "library")).pipes["exchange"] >= 5
    assert at(found, line_of(source, "own function")).flops == 32
    assert {one.line for one in found.instructions} <= set(range(1, 10))


def test_what_a_block_comes_back_to_is_told_from_what_it_never_loaded() -> None:
    source = """\
KERNEL k(const float* x, float* y) {
    float sum = 0;
    for (int turn = 0; turn < 2; ++turn)
        #pragma unroll 1
        for (int i = threadIdx.x; i < (1 << 15); i += 128) sum += x[i];
    y[threadIdx.x] = sum;
}"""
    small, large = (
        Bench(source).count(block=128, cache_bytes=size, x=floats(1 << 15), y=np.zeros(128, np.float32)).chain.steps
        for size in (1 << 14, 1 << 20)
    )
    assert (small["fetch"], small["refetch"], small["l1"]) == (256, 256, 512)
    assert (large["fetch"], large["refetch"], large["l1"]) == (256, 0, 512)


# --- samples

RAGGED = """\
KERNEL k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += stride) y[i] = x[i] + 1.0f;
}""".replace("stride", "gridDim.x * blockDim.x")


@pytest.mark.parametrize(
    ("n", "grid"), [(1 << 20, 4096), ((1 << 20) - 77, 4096), ((1 << 21) + 12345, 5000), (999, 4000)]
)
def test_a_sample_of_a_row_of_blocks_counts_what_all_do(n: int, grid: int) -> None:
    arguments = {"x": floats(n), "y": np.zeros(n, np.float32), "n": n}
    whole = Bench(RAGGED).count(grid=grid, block=256, **arguments)
    assert whole.sampling.whole
    sample = Bench(RAGGED).count(grid=grid, block=256, whole_work=0, **arguments)
    assert 0 < sample.sampling.counted < 80 and sample.sampling.numbers[-1] == grid - 1
    assert counters(sample) == counters(whole)
    for mine, other in zip(sample.footprints, whole.footprints, strict=True):
        assert (mine.name, mine.read_by_blocks, mine.written_by_blocks) == (
            other.name, other.read_by_blocks, other.written_by_blocks,
        )  # fmt: skip
        assert mine.read == pytest.approx(other.read, rel=0.02)
        assert mine.written == pytest.approx(other.written, rel=0.02)


TILED = """\
KERNEL k(const float* x, float* y, int rows, int columns) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
}"""


@pytest.mark.parametrize(("rows", "columns"), [(640, 960), (631, 953), (333, 16)])
def test_edges_of_a_matrix_weigh_what_they_are(rows: int, columns: int) -> None:
    grid = (-(-columns // 16), -(-rows // 16))
    arguments = {"x": floats(rows * columns), "y": np.zeros(rows * columns, np.float32), "rows": rows,
                 "columns": columns}  # fmt: skip
    whole = counters(Bench(TILED).count(grid=grid, block=(16, 16), **arguments))
    found = Bench(TILED).count(grid=grid, block=(16, 16), whole_work=0, **arguments)
    sample = counters(found)
    assert found.sampling.counted < grid[0] * grid[1]
    assert sample.instructions == whole.instructions and sample.lanes == whole.lanes
    assert (sample.global_load.requests, sample.global_load.lanes, sample.global_load.nbytes) == (
        whole.global_load.requests, whole.global_load.lanes, whole.global_load.nbytes,
    )  # fmt: skip
    assert sample.sectors == pytest.approx(whole.sectors, rel=0.05)
    # Each warp issues the same on average, however many edges were among the blocks that were looked at.
    warps = grid[0] * grid[1] * 8
    issued = sum(pipe for name, pipe in whole.pipes.items() if name == "memory")
    assert found.chain.slots["memory"] == pytest.approx(issued / warps, rel=0.05)


def test_what_all_blocks_read_is_read_once() -> None:
    source = """\
KERNEL k(const float* A, const float* x, float* y) {
    float sum = 0;
    for (int c = threadIdx.x; c < 512; c += 128) sum += A[blockIdx.x * 512 + c] * x[c];
    y[blockIdx.x * 128 + threadIdx.x] = sum;
}"""
    found = Bench(source).count(
        grid=2048, block=128, whole_work=0, A=floats(1 << 20), x=floats(512), y=np.zeros(1 << 18, np.float32)
    )  # fmt: skip
    assert [(one.name, one.read, one.written) for one in found.footprints] == [
        ("A", 4 << 20, 0), ("x", 2048, 0), ("y", 0, 1 << 20),
    ]  # fmt: skip
    assert [one.read_by_blocks for one in found.footprints] == [4 << 20, 2048 * 2048, 0]


WAITING = """\
KERNEL k(volatile int* ready, float* y) {
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0) while (ready[blockIdx.x - 1] == 0) {} // wait
        __threadfence();
        ready[blockIdx.x] = 1;
    }
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = 1;
}"""


def test_blocks_that_wait_for_those_before_them_are_counted_from_the_first_on() -> None:
    found = Bench(WAITING).count(
        grid=1000, block=64, whole_work=0, ready=np.zeros(1000, np.int32), y=np.zeros(64000, np.float32)
    )  # fmt: skip
    assert found.sampling.numbers == tuple(range(32))
    assert f"line {line_of(WAITING, 'wait')}" in found.sampling.notes[0]
    assert counters(found).barriers == 2000


GRID_BARRIER = """\
KERNEL k(int* arrived, float* y) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {} // wait
    }
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = 1;
}"""


def test_blocks_that_all_wait_for_each_other_are_run_together_or_refused() -> None:
    found = Bench(GRID_BARRIER).count(grid=60, block=64, arrived=np.zeros(1, np.int32), y=np.zeros(3840, np.float32))
    assert found.sampling.whole and counters(found).barriers == 120
    with pytest.raises(Unsupported, match="5,000 blocks wait for each other") as raised:
        Bench(GRID_BARRIER).count(grid=5000, block=64, arrived=np.zeros(1, np.int32), y=np.zeros(320000, np.float32))
    assert raised.value.line == line_of(GRID_BARRIER, "wait") and raised.value.remedy


LAST_BLOCK = """\
KERNEL k(unsigned* done, float* y) {
    __shared__ bool last;
    y[blockIdx.x * 64 + threadIdx.x] = 1;
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(done, 1) == gridDim.x - 1; // count
    __syncthreads();
    if (last) for (int b = threadIdx.x; b < gridDim.x; b += 64) y[b] = 2; // last
}"""


def test_work_for_the_last_block_is_counted_where_all_blocks_run_and_spoken_of_where_not() -> None:
    arguments = {"done": np.zeros(1, np.uint32), "y": np.zeros(640_000, np.float32)}
    whole = Bench(LAST_BLOCK).count(grid=10_000, block=64, **arguments)
    last = line_of(LAST_BLOCK, "last")
    assert whole.sampling.whole and not whole.sampling.notes
    assert at(whole, last).global_store.lanes == 10_000
    sample = Bench(LAST_BLOCK).count(grid=10_000, block=64, whole_work=0, **arguments)
    assert at(sample, last).global_store.lanes == 0
    assert f"atomic (line {line_of(LAST_BLOCK, 'count')})" in sample.sampling.notes[0]


def test_a_queue_of_work_makes_a_sample_count_too_much_and_that_is_said() -> None:
    source = """\
KERNEL k(int* next, float* y, int tiles) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1); // take
        __syncthreads();
        if (tile >= tiles) break;
        y[tile * 32 + threadIdx.x] = 1;
        __syncthreads();
    }
}"""
    found = Bench(source).count(
        grid=100, block=32, whole_work=0, next=np.zeros(1, np.int32), y=np.zeros(64_000, np.float32), tiles=2000
    )  # fmt: skip
    assert any(note.startswith("Blocks take their work") and "(line 4)" in note for note in found.sampling.notes)
    whole = Bench(source).count(
        grid=100, block=32, next=np.zeros(1, np.int32), y=np.zeros(64_000, np.float32), tiles=2000
    )  # fmt: skip
    assert whole.sampling.whole and counters(whole).global_store.requests == 2000


def test_a_kernel_that_never_ends_is_a_fault_also_when_counted() -> None:
    source = "KERNEL k(volatile int* stop) { while (*stop == 0) {} }"
    with pytest.raises(KernelFault) as raised:
        Bench(source).count(grid=1, block=32, stop=np.zeros(1, np.int32))
    assert raised.value.hazard.kind == "runaway"

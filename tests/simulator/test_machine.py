"""Launches: batches of blocks, what is reported of them, and the time they may take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from harness.simulator import Budget
from harness.simulator.machine import BATCH_LANES
from tests.simulator.running import Bench, Unset, fault, fault_of, line_of, run, silent


def test_a_grid_of_more_lanes_than_a_batch_runs_whole() -> None:
    blocks = 2 * BATCH_LANES // 256 + 3
    source = """KERNEL k(int* out, int n) {
        __shared__ int last[256];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        last[threadIdx.x] = i * 3;
        __syncthreads();
        if (i < n) out[i] = last[255 - threadIdx.x];
    }"""
    n = blocks * 256 - 7
    out = silent(source, grid=blocks, block=256, out=Unset("i4", n), n=n)["out"]
    i = np.arange(n)
    np.testing.assert_array_equal(out, (i // 256 * 256 + 255 - i % 256) * 3)


def test_only_the_blocks_chosen_run_under_their_own_numbers() -> None:
    bench = Bench("KERNEL k(int* out) { out[blockIdx.y * gridDim.x + blockIdx.x] = blockIdx.x + 10 * blockIdx.y; }")
    out = bench.place("out", np.zeros(12, np.int32))
    packed = int(out.address).to_bytes(8, "little")
    bench.machine.launch("k", (4, 3, 1), (32, 1, 1), 0, packed, blocks=(1, 6, 11))
    assert bench.array("out").tolist() == [0, 1, 0, 0, 0, 0, 12, 0, 0, 0, 0, 23]


def test_a_fault_of_a_chosen_block_names_it() -> None:
    bench = Bench("KERNEL k(int* out) { out[64 + blockIdx.x] = 1; }")
    packed = int(bench.place("out", np.zeros(70, np.int32)).address).to_bytes(8, "little")
    hazard = fault_of(
        lambda: bench.machine.launch("k", (50, 1, 1), (1, 1, 1), 0, packed, blocks=(0, 5, 9, 30))
    )
    assert hazard.block == (9, 0, 0)


def test_a_fault_in_a_later_batch_names_its_own_block() -> None:
    blocks = BATCH_LANES // 1024 + 5
    source = "KERNEL k(int* out, int n) { out[blockIdx.x * 1024 + threadIdx.x] = n; }"
    hazard = fault(source, grid=blocks, block=1024, out=Unset("i4", (blocks - 2) * 1024 + 30), n=1)
    assert (hazard.block, hazard.thread) == ((blocks - 2, 0, 0), (30, 0, 0))


def test_a_large_block_has_all_its_threads() -> None:
    out = silent(
        """KERNEL k(int* out) {
            int count = __syncthreads_count(threadIdx.x < 1000);
            if (threadIdx.x == 1023) out[blockIdx.x] = count;
        }""",
        grid=3, block=1024, out=Unset("i4", 3),
    )["out"]  # fmt: skip
    np.testing.assert_array_equal(out, [1000] * 3)


@pytest.mark.parametrize(
    ("grid", "block", "body"),
    [
        (256, 256, "float x[4096]; for (int j = 0; j < n; ++j) x[j] = j; if (n) out[0] = x[n - 1];"),
        (2048, 32, "__shared__ float x[12000]; if (threadIdx.x < n) { x[n] = n; if (x[n] > n) out[0] = x[n]; }"),
    ],
    ids=["local arrays", "shared arrays"],
)
def test_a_batch_takes_a_bounded_amount_of_memory(grid: int, block: int, body: str) -> None:
    bench = Bench(f"KERNEL k(float* out, int n) {{ {body} }}")
    tracemalloc.start()
    bench.launch(grid=grid, block=block, out=Unset("f4", 1), n=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 30


def test_findings_are_counted_not_repeated() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[64];
        x[threadIdx.x] = threadIdx.x; // write
        out[64 * blockIdx.x + threadIdx.x] = x[(threadIdx.x + 32) % 64]; // read
    }"""
    (race,) = run(source, grid=4, block=64, out=Unset("i4", 256)).hazards
    assert race.count == 256 and race.line == line_of(source, "read")


def test_a_launch_is_spoken_of_by_the_name_it_is_given() -> None:
    bench = Bench(
        "template <class T> __global__ void scale(T* out) { out[0] = out[99]; } template __global__ void scale(int*);"
    )
    arguments = bench.place("out", np.zeros(4, "i4")).address.to_bytes(8, "little")
    with pytest.raises(Exception, match=r"out\[99\]") as raised:
        bench.machine.launch("_Z5scaleIiEvPT_", (1, 1, 1), (32, 1, 1), 0, arguments, name="scale<int>")
    assert raised.value.hazard.kernel == "scale<int>"  # type: ignore[attr-defined]


# --- time


class Clock:
    """Time that passes by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


CHANGING = """KERNEL k(unsigned* out, unsigned n) {
    unsigned x = threadIdx.x | 1;
    while (x != n) { // loop
        x = x * 1664525u + 1013904222u | 1u;
    }
    out[0] = x;
}"""


def test_a_launch_that_uses_up_its_time_is_ended_at_the_loop() -> None:
    hazard = fault(CHANGING, out=Unset("u4", 1), n=0, budget=Budget(5, Clock()))
    assert hazard.kind == "unfinished" and "5 s" in hazard.message and "32 threads" in hazard.message
    assert hazard.line in (line_of(CHANGING, "loop"), line_of(CHANGING, "loop") + 1)
    assert "GPU" in (hazard.remedy or "")


def test_time_is_counted_from_the_start_of_each_launch() -> None:
    clock = Clock()
    bench = Bench("KERNEL k(int* out) { out[0] = 1; }", budget=Budget(3, clock))
    for _ in range(5):
        bench.launch(block=1, out=Unset("i4", 1))
    assert clock.now >= 5

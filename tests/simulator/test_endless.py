"""Launches that never end are proved so; those that end late are left to end. No clock is involved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.results import Hazard
from harness.simulator import Budget
from tests.simulator.running import Unset, fault, line_of, silent

#: No launch is ever late.
TIMELESS = Budget(1.0, clock=lambda: 0.0)


def endless(source: str, **launch: Any) -> Hazard:
    hazard = fault(source, budget=TIMELESS, **launch)
    assert hazard.kind == "runaway" and "never ends" in hazard.message, hazard.message
    assert "condition" in (hazard.remedy or "")
    return hazard


def test_a_loop_that_changes_nothing_never_ends() -> None:
    source = """KERNEL k(int* out, int n) {
        int i = threadIdx.x;
        while (i < n) { // loop
            out[i] = i;
        }
    }"""
    hazard = endless(source, block=64, out=Unset("i4", 64), n=10)
    assert "10 threads" in hazard.message
    assert hazard.line in (line_of(source, "loop"), line_of(source, "loop") + 1)


def test_one_thread_is_spoken_of_as_one() -> None:
    source = "KERNEL k(volatile int* out) { while (threadIdx.x == 40) out[0] = 1; }"
    hazard = endless(source, block=64, out=Unset("i4", 1))
    assert "1 thread " in hazard.message and hazard.thread == (40, 0, 0)


def test_values_that_come_back_again_and_again_prove_it() -> None:
    source = """KERNEL k(unsigned* out, unsigned stop) {
        unsigned x = threadIdx.x;
        while (x != stop) x = (x * 5 + 3) % 64;
        out[threadIdx.x] = x;
    }"""
    endless(source, block=64, out=Unset("u4", 64), stop=99)


def test_a_counter_that_wraps_to_where_it_was_is_no_way_out() -> None:
    source = """KERNEL k(int* out, int step) {
        unsigned char c = 0;
        #pragma unroll 1
        do c += step; while (c != 7);
        out[0] = c;
    }"""
    endless(source, block=1, out=Unset("i4", 1), step=64)
    assert silent(source, block=1, out=Unset("i4", 1), step=1, budget=TIMELESS)["out"][0] == 7


def test_a_flag_that_nobody_will_set_is_waited_for_in_vain() -> None:
    source = """__device__ volatile int flag;
    KERNEL k(int* out) {
        while (flag == 0) {} // wait
        out[threadIdx.x] = 1;
    }"""
    assert endless(source, grid=3, block=32, out=Unset("i4", 96)).line == line_of(source, "wait")


def test_a_lock_that_is_never_given_back() -> None:
    source = """__device__ int lock;
    KERNEL k(int* total) {
        while (atomicCAS(&lock, 0, 1) != 0) {} // lock
        total[threadIdx.x] += 1;
    }"""
    hazard = endless(source, total=np.zeros(32, "i4"))
    assert "31 threads" in hazard.message and hazard.line == line_of(source, "lock")


def test_writing_the_same_value_over_and_over_is_no_change() -> None:
    source = """KERNEL k(volatile int* out) {
        for (;;) { out[threadIdx.x] = 5; atomicMax((int*)out + 32, 3); }
    }"""
    endless(source, out=np.zeros(33, "i4"))


def test_lanes_that_wait_at_a_barrier_for_one_that_loops() -> None:
    source = """KERNEL k(volatile int* out) {
        if (threadIdx.x == 0) while (out[0] == 0) {} // loop
        __syncthreads();
        out[threadIdx.x] = 1;
    }"""
    hazard = endless(source, block=64, out=np.zeros(64, "i4"))
    assert "1 thread " in hazard.message and hazard.line == line_of(source, "loop")


def test_lanes_that_loop_apart_are_all_stuck() -> None:
    source = """KERNEL k(volatile int* out) {
        if (threadIdx.x % 2) while (out[0] == 0) {}
        else while (out[1] == 0) {}
    }"""
    endless(source, block=64, out=np.zeros(64, "i4"))


@pytest.mark.parametrize("body", ["x += 1;", "x = x * 1664525u + 1u;", "x = x + 1; out[32 + i] = x;"])
def test_a_long_loop_that_gets_somewhere_is_left_to_end(body: str) -> None:
    source = f"""KERNEL k(volatile unsigned* out, int rounds) {{
        unsigned i = threadIdx.x, x = i;
        #pragma unroll 1
        for (int r = 0; r < rounds; ++r) {{ {body} }}
        out[i] = x;
    }}"""
    silent(source, out=Unset("u4", 64), rounds=5000, budget=TIMELESS)


def test_a_flag_that_comes_late_is_waited_for() -> None:
    source = """__device__ volatile int flag;
    KERNEL k(int* out, int rounds) {
        if (threadIdx.x == 32) {
            unsigned x = 1;
            #pragma unroll 1
            for (int r = 0; r < rounds; ++r) x = x * 1664525u + 1u;
            out[1] = x;
            flag = 1;
        } else if (threadIdx.x == 0) {
            while (flag == 0) {}
            out[0] = 1;
        }
    }"""
    assert silent(source, block=64, out=np.zeros(2, "i4"), rounds=4000, budget=TIMELESS)["out"][0] == 1


def test_memory_that_changes_back_and_forth_is_not_mistaken_for_an_end() -> None:
    """Two threads pass a counter to each other; each sees the same registers again at every look."""
    source = """__device__ volatile int turn;
    KERNEL k(int* out, int rounds) {
        int me = threadIdx.x / 32;
        if (threadIdx.x % 32 == 0) {
            for (;;) {
                int now = turn;
                if (now >= rounds) break;
                if (now % 2 == me) turn = now + 1;
            }
            out[me] = turn;
        }
    }"""
    out = silent(source, block=64, out=Unset("i4", 2), rounds=400, budget=TIMELESS, watch_races=False)["out"]
    np.testing.assert_array_equal(out, [400, 400])


@pytest.mark.parametrize("clock", ["clock64()", "(long long)clock()", "timer()"])
def test_a_wait_for_the_clock_ends(clock: str) -> None:
    source = f"""__device__ long long timer() {{
        long long now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        return now;
    }}
    KERNEL k(int* out) {{
        long long start = {clock};
        while ({clock} - start < 3000) {{}}
        out[threadIdx.x] = 1;
    }}"""
    assert silent(source, out=Unset("i4", 32), budget=TIMELESS)["out"].all()


def test_a_barrier_of_a_grid_whose_last_blocks_have_not_started_says_so() -> None:
    source = """__device__ volatile unsigned arrived;
    KERNEL k(int* out) {
        if (threadIdx.x > 0) return;
        atomicAdd((unsigned*)&arrived, 1u);
        while (arrived < gridDim.x) {} // wait
        out[0] = 1;
    }"""
    hazard = fault(source, budget=TIMELESS, grid=66, block=1024, out=Unset("i4", 1))
    assert hazard.kind == "runaway" and hazard.line == line_of(source, "wait")
    assert "2 of 66 have not started yet" in str(hazard.remedy) and "launch a second one" in str(hazard.remedy)

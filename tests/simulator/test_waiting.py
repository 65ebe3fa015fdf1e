"""Barriers and warp gates: who passes, who is told that nobody else will come."""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.results import Hazard, Severity
from tests.simulator.running import Unset, assembly, fault, line_of, run, silent


def zeros(count: int) -> np.ndarray:
    return np.zeros(count, "i4")


def says(hazard: Hazard, kind: str, line: int, *words: str) -> None:
    assert (hazard.kind, hazard.line) == (kind, line), hazard.message
    for word in words:
        assert word in hazard.message, hazard.message
    assert hazard.remedy


# --- __syncthreads()


def test_a_barrier_makes_every_write_before_it_visible() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[256];
        int i = threadIdx.x;
        x[i] = i;
        for (int by = 128; by; by /= 2) {
            __syncthreads();
            if (i < by) x[i] += x[i + by];
        }
        if (i == 0) out[blockIdx.x] = x[0];
    }"""
    np.testing.assert_array_equal(silent(source, grid=5, block=256, out=Unset("i4", 5))["out"], [255 * 128] * 5)


def test_blocks_do_not_wait_for_each_other() -> None:
    source = """KERNEL k(int* out) {
        for (int n = 0; n <= blockIdx.x; ++n) __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
    }"""
    out = silent(source, grid=7, block=40, out=Unset("i4", 280))["out"]
    np.testing.assert_array_equal(out, np.repeat(np.arange(7), 40))


def test_barriers_count_and_vote_over_the_block() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x, mine = out + 4 * (blockIdx.x * blockDim.x + i) - out;
        out[mine] = __syncthreads_count(i % 3 == 0);
        out[mine + 1] = __syncthreads_and(i < 77 + blockIdx.x) != 0;
        out[mine + 2] = __syncthreads_or(i == 70) != 0;
        out[mine + 3] = __syncthreads_or(i > 1000) != 0;
    }"""
    out = silent(source, grid=4, block=80, out=Unset("i4", 4 * 320))["out"].reshape(4, 80, 4)
    for block in range(4):
        np.testing.assert_array_equal(out[block], [[27, block == 3, 1, 0]] * 80)


def test_two_barriers_on_two_lines_that_fill_up_together_are_an_error() -> None:
    source = """KERNEL k(int* out) {
        if (threadIdx.x < 24) {
            __syncthreads(); // one
        } else {
            out[threadIdx.x] = 1;
            __syncthreads(); // two
        }
    }"""
    hazard = fault(source, block=64, out=zeros(64))
    one, two = line_of(source, "one"), line_of(source, "two")
    says(hazard, "barrier", one, "24 threads", f"line {one}", "40 wait", f"line {two}")


def test_the_same_barrier_reached_along_two_ways_is_none() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[64];
        int i = threadIdx.x;
        if (i % 2) x[i] = i; else x[i] = -i;
        __syncthreads();
        out[i] = x[63 - i];
    }"""
    expected = [j if j % 2 else -j for j in range(63, -1, -1)]
    np.testing.assert_array_equal(silent(source, block=64, out=Unset("i4", 64))["out"], expected)


def test_a_barrier_that_cannot_fill_says_who_waits_where() -> None:
    source = """KERNEL k(int* out) {
        if (threadIdx.x < 24) {
            __syncthreads(); // one
        } else {
            asm volatile("bar.sync 1, 64;"); // two
        }
    }"""
    hazard = fault(source, block=64, out=zeros(64))
    one, two = sorted([line_of(source, "one"), line_of(source, "two")])
    assert hazard.kind == "barrier" and hazard.line in (one, two)
    for words in (
        "of 64 threads of the block wait",
        "the others never come",
        f"line {one + two - hazard.line} instead",
    ):
        assert words in hazard.message


def test_threads_that_returned_are_warned_about_and_counted() -> None:
    source = """KERNEL k(int* out) {
        if (threadIdx.x < 40) {
            __syncthreads(); // barrier
            out[threadIdx.x] = 1;
        }
    }"""
    ran = run(source, block=64, out=zeros(64))
    (warning,) = ran.of(Severity.WARNING)
    says(warning, "barrier", line_of(source, "barrier"), "24 of 64 threads", "have left the kernel")
    assert ran["out"].sum() == 40


def test_a_warp_that_returns_whole_is_warned_about_too_when_others_wait() -> None:
    source = """KERNEL k(int* out) {
        if (threadIdx.x >= 64) return;
        __syncthreads(); // barrier
        out[threadIdx.x] = 1;
    }"""
    (warning,) = run(source, block=96, out=zeros(64)).hazards
    says(warning, "barrier", line_of(source, "barrier"), "32 of 96 threads")


AROUND = """KERNEL k(const int* in, int* out, int n) {
    __shared__ int x[256];
    int i = threadIdx.x;
    x[i] = in[i];
    __syncthreads();
    for (int by = n / 2; by; by /= 2) {
        if (i < by) {
            x[i] += x[i + by];
            __syncthreads(); // barrier
        }
    }
    if (i == 0) *out = x[0];
}"""


def test_lanes_that_go_around_a_barrier_at_which_others_of_their_warp_wait_are_an_error() -> None:
    hazard = fault(AROUND, block=256, in_=np.arange(256, dtype="i4"), out=zeros(1), n=256)
    line = line_of(AROUND, "barrier")
    says(hazard, "barrier", line, f"16 of 32 lanes of warp 0 go around the __syncthreads() on line {line}", "by luck")
    assert hazard.thread == (16, 0, 0) and "out of the `if`" in (hazard.remedy or "")


def test_whole_warps_that_go_around_a_barrier_and_leave_are_warned_about() -> None:
    source = AROUND.replace("by; by /= 2", "by > 16; by /= 2")
    ran = run(source, block=256, in_=np.arange(256, dtype="i4"), out=zeros(1), n=256)
    (warning,) = ran.hazards
    line = line_of(source, "barrier")
    says(warning, "barrier", line, f"128 of 256 threads of the block have left the kernel when the others meet at the "
         f"__syncthreads() on line {line}")  # fmt: skip
    assert warning.severity is Severity.WARNING


@pytest.mark.parametrize(
    "body",
    [
        "if (i % 2) { out[i] = i; return; } __syncthreads(); out[i] = -i;",
        "for (int k = 0; k < 9; ++k) { if (i % 9 == k) { out[i] = k; return; } __syncthreads(); }",
        "for (int k = 0;; ++k) { __syncthreads(); if (in[k] == i % 9) { if (i > 5) out[i] = 0; return; } }",
        "\n#pragma unroll 1\nfor (int k = 0; k < i; ++k) { __syncthreads(); out[i] += k; } if (i > 3) out[i] = 1;",
    ],
    ids=["before a store of all", "in a loop", "as the only way out of a loop", "at the end of a loop"],
)
def test_lanes_that_leave_early_after_some_work_are_only_warned_about(body: str) -> None:
    ran = run(
        f"KERNEL k(const int* in, int* out) {{ int i = threadIdx.x;\n{body}\n}}", block=64,
        in_=np.arange(9, dtype="i4"), out=zeros(64),
    )  # fmt: skip
    assert {(hazard.kind, hazard.severity) for hazard in ran.hazards} == {("barrier", Severity.WARNING)}


def test_lanes_that_come_to_the_same_barrier_a_turn_later_go_around_it_all_the_same() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x, odd = i % 2;
        #pragma unroll 1
        for (int k = 0; k < 4; ++k) {
            if (k % 2 == odd) __syncthreads(); // barrier
            out[i] += k * odd;
        }
    }"""
    line = line_of(source, "barrier")
    says(fault(source, block=64, out=zeros(64)), "barrier", line, "16 of 32 lanes of warp 0 go around")


def test_the_last_warp_is_counted_as_it_is() -> None:
    source = """KERNEL k(int* out, int n) {
        int i = threadIdx.x;
        if (i < n) { out[i] = 1; __syncthreads(); /* barrier */ }
        if (out[0] > 5) out[i] = 2;
    }"""
    says(fault(source, block=72, out=zeros(72), n=69), "barrier", 3, "3 of 8 lanes of warp 2 go around")


def test_lanes_may_go_around_a_barrier_that_is_not_aligned() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x;
        if (i % 2) asm volatile("BARRIER 1;" ::: "memory"); // barrier
        if (i > 5) out[i] = 2;
    }"""
    assert not run(source.replace("BARRIER", "barrier.sync"), block=64, out=zeros(64)).of(Severity.ERROR)
    for aligned in ("bar.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned"):
        hazard = fault(source.replace("BARRIER", aligned), block=64, out=zeros(64))
        line = line_of(source, "barrier")
        says(hazard, "barrier", line, f"16 of 32 lanes of warp 0 go around the barrier on line {line}")


# --- named barriers


@pytest.mark.parametrize("barrier", ["barrier.sync", "bar.sync"])
def test_a_barrier_for_a_number_of_threads_counts_whole_warps(barrier: str) -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x;
        if (i % 2) asm volatile("BARRIER 1, 32;" ::: "memory"); // barrier
        if (i > 5) out[i] = 2;
    }"""
    hazard = fault(source.replace("BARRIER", barrier), block=64, out=zeros(64))
    says(hazard, "barrier", line_of(source, "barrier"), "16 of 32 lanes of a warp come to barrier 1")


def test_named_barriers_hold_only_those_who_come() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[64];
        int i = threadIdx.x, half = i / 32, name = 1 + half;
        for (int n = 0; n <= 3 * half; ++n) {
            x[i] = i + n;
            asm volatile("bar.sync %0, 32;" :: "r"(name) : "memory");
            out[i] = x[i ^ 5];
            asm volatile("bar.sync %0, 32;" :: "r"(name) : "memory");
        }
    }"""
    out = silent(source, block=64, out=zeros(64))["out"]
    np.testing.assert_array_equal(out, [(i ^ 5) + 3 * (i // 32) for i in range(64)])


PRODUCER = """KERNEL k(int* out) {
    __shared__ int x[64];
    int i = threadIdx.x;
    if (i < 64) {
        for (int n = 0; n < 3; ++n) {
            asm volatile("bar.sync 2, 128;" ::: "memory");  // room
            x[i] = 100 * n + i;
            asm volatile("bar.arrive 1, 128;" ::: "memory"); // full
        }
    } else {
        int sum = 0;
        asm volatile("bar.arrive 2, 128;" ::: "memory");
        for (int n = 0; n < 3; ++n) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            sum += x[i - 64] + x[127 - i];
            if (n < 2) asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
        out[64 * blockIdx.x + i - 64] = sum;
    }
}"""


def test_warps_that_produce_and_warps_that_consume_take_turns() -> None:
    out = silent(PRODUCER, grid=3, block=128, out=zeros(192))["out"]
    np.testing.assert_array_equal(out, [2 * 300 + 3 * 63] * 192)


def test_a_named_barrier_with_too_few_threads_is_an_error_with_both_numbers() -> None:
    source = """KERNEL k(int* out) {
        if (threadIdx.x < 32) asm volatile("bar.sync 3, 96;"); // barrier
        out[threadIdx.x] = 1;
    }"""
    says(fault(source, block=96, out=zeros(96)), "barrier", line_of(source, "barrier"), "32 of 96 threads")


def test_one_named_barrier_of_two_sets_of_warps_is_an_error() -> None:
    """The hardware counts arrivals: it would let warps of both sets through together."""
    source = """KERNEL k(int* out) {
        if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory"); // one
        else asm volatile("bar.sync NAME, 64;" ::: "memory"); // two
        asm volatile("bar.sync %0, 64;" :: "r"(3 + threadIdx.x / 64 * STEP) : "memory"); // together
        out[threadIdx.x] = 1;
    }"""
    silent(source.replace("NAME", "2").replace("STEP", "1"), block=128, out=zeros(128))
    hazard = fault(source.replace("NAME", "1").replace("STEP", "1"), block=128, out=zeros(128))
    assert {hazard.line, *map(int, re.findall(r"line (\d+)", hazard.message))} == {
        line_of(source, "one"), line_of(source, "two"),
    }  # fmt: skip
    assert "can't know that its last meeting is over" in hazard.message and "1 to 15" in (hazard.remedy or "")
    hazard = fault(source.replace("NAME", "2").replace("STEP", "0"), block=128, out=zeros(128))
    says(hazard, "barrier", line_of(source, "together"), "128 threads come to barrier 3, which is for 64")


def test_a_named_barrier_may_pass_to_other_warps_once_they_know_that_it_is_free() -> None:
    source = """KERNEL k(int* out) {
        int warp = threadIdx.x / 32;
        if (warp < 2) asm volatile("bar.sync 1, 64;" ::: "memory");
        FREE
        if (warp > 0) asm volatile("bar.sync 1, 64;" ::: "memory"); // again
        out[threadIdx.x] = warp;
    }"""
    silent(source.replace("FREE", "__syncthreads();"), block=96, out=zeros(96))
    told = 'if (warp > 0) asm volatile("bar.sync 2, 64;" ::: "memory");'  # warp 1, which was there, tells warp 2
    silent(source.replace("FREE", told), block=96, out=zeros(96))
    says(fault(source.replace("FREE", ""), block=96, out=zeros(96)), "barrier", line_of(source, "again"), "last")


@pytest.mark.parametrize("other", ['asm volatile("bar.sync 1, 96;");', 'asm volatile("bar.arrive 1, 96;");'])
def test_a_named_barrier_is_for_as_many_threads_wherever_it_is_met(other: str) -> None:
    source = f"""KERNEL k(int* out) {{
        if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); // here
        else {other} // there
        out[threadIdx.x] = 1;
    }}"""
    hazard = fault(source, block=64, out=zeros(64))
    assert hazard.kind == "barrier" and {"64 threads", "96 threads"} <= set(re.findall(r"\d+ threads", hazard.message))
    assert {hazard.line, *map(int, re.findall(r"line (\d+)", hazard.message))} == {
        line_of(source, "here"), line_of(source, "there"),
    }  # fmt: skip


def test_lanes_may_arrive_at_different_barriers_in_one_instruction() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[96];
        int i = threadIdx.x, warp = i / 32;
        x[i] = warp > 0 ? 0 : i;
        for (int n = 1; n < 3; ++n) {
            if (warp == n) {
                asm volatile("bar.sync %0, 64;" :: "r"(n) : "memory");
                x[i] = x[i - 32] + 1;
            }
            if (warp == n - 1) asm volatile("bar.arrive %0, 64;" :: "r"(n) : "memory");
        }
        if (warp == 2) out[i - 64] = x[i];
    }"""
    np.testing.assert_array_equal(silent(source, block=96, out=Unset("i4", 32))["out"], np.arange(32) + 2)


# --- warps


def test_a_shuffle_in_a_branch_that_some_named_lanes_never_take_is_an_error() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x;
        if (i < 16) out[i] = __shfl_sync(0xFFFFFFFF, i, 0); // one
        else out[i] = __shfl_sync(0xFFFFFFFF, i * 2, 0); // two
    }"""
    hazard = fault(source, out=zeros(32))
    assert hazard.kind == "missing_lanes" and hazard.line in (line_of(source, "one"), line_of(source, "two"))
    assert "0xffffffff" in hazard.message and "never come" in hazard.message
    assert "lanes 0 to 15" in hazard.message or "lanes 16 to 31" in hazard.message
    assert "__ballot_sync" in (hazard.remedy or "")


@pytest.mark.parametrize(
    ("call", "lane"),
    [
        ("out[i] = __shfl_sync(0xFF, i, 0);", 8),
        ("out[i] = __ballot_sync(0xFFFE, i);", 0),
        ("__syncwarp(0xFFFF);", 16),
        ("out[i] = __reduce_add_sync(0x7FFFFFFF, i);", 31),
        ("out[i] = __match_any_sync(0xFFFF0000, i);", 0),
    ],
)
def test_a_caller_outside_its_own_mask_is_an_error(call: str, lane: int) -> None:
    source = f"KERNEL k(int* out) {{ int i = threadIdx.x;\n {call}\n out[i] += 1; }}"
    hazard = fault(source, out=zeros(32))
    says(hazard, "missing_lanes", 2, f"lane {lane} ", "leaves itself out")
    assert hazard.thread == (lane, 0, 0)


def test_lanes_that_come_later_are_waited_for() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x, x = 0;
        for (int n = 0; n < i * 10; ++n) x += n ^ i;
        out[i] = __shfl_xor_sync(0xFFFFFFFF, x, 1);
    }"""
    alone = [sum(n ^ i for n in range(i * 10)) for i in range(32)]
    np.testing.assert_array_equal(silent(source, out=Unset("i4", 32))["out"], [alone[i ^ 1] for i in range(32)])


def test_named_lanes_that_have_returned_are_not_waited_for_but_warned_about() -> None:
    source = """KERNEL k(unsigned* out) {
        if (threadIdx.x >= 20) return;
        out[threadIdx.x] = __ballot_sync(0xFFFFFFFF, 1); // vote
    }"""
    ran = run(source, out=np.zeros(32, "u4"))
    np.testing.assert_array_equal(ran["out"], [(1 << 20) - 1] * 20 + [0] * 12)
    (hazard,) = ran.hazards
    says(hazard, "missing_lanes", line_of(source, "vote"), "lanes 20 to 31",
         "returned at the branch on line 2 before this line")  # fmt: skip
    assert hazard.severity is Severity.WARNING
    silent(source.replace("0xFFFFFFFF", "0xFFFFF"), out=np.zeros(32, "u4"))


@pytest.mark.parametrize("call", ["__any_sync(0xFFFFFFFF, i < 3)", "__reduce_add_sync(0xFFFFFFFF, i)",
                                  "__shfl_xor_sync(0xFFFFFFFF, i, 1)", "(__syncwarp(), i)"])  # fmt: skip
def test_named_lanes_that_go_another_way_and_leave_are_an_error(call: str) -> None:
    source = f"""KERNEL k(int* out) {{
        int i = threadIdx.x;
        if (i < 16) out[i] = {call}; // call
        else atomicAdd(&out[32], 1);
    }}"""
    hazard = fault(source, out=zeros(33))
    says(hazard, "missing_lanes", line_of(source, "call"), "lanes 16 to 31", "0xffffffff", "without coming here",
         "at the branch on line 3")  # fmt: skip
    assert (hazard.title or "").endswith("that names lanes which have left the kernel")
    assert "__ballot_sync" in (hazard.remedy or "")
    silent(source.replace("0xFFFFFFFF", "0xFFFF").replace("__syncwarp()", "__syncwarp(0xFFFF)"), out=zeros(33))


def test_the_branch_named_is_the_one_at_which_those_who_left_parted_from_those_who_stay() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x, x = 0;
        if (i < 16) { // outer
            if (i >= LEAVE) { atomicAdd(&out[40], i); if (i == 15) atomicAdd(&out[41], 1); return; } // inner
            x = __shfl_xor_sync(MASK, i, 1);
        } else if (i % 3 == 0) {
            out[i] = 1;
            if (i % 2) return;
            atomicAdd(&out[42], 1);
            return;
        }
        out[i] = x;
    }"""
    for leave, mask, where in (("8", "0xFFFF", "inner"), ("16", "0xFFFFFFFF", "outer")):
        text = source.replace("LEAVE", leave).replace("MASK", mask)
        assert f"at the branch on line {line_of(source, where)} and left" in fault(text, out=zeros(43)).message


def test_the_value_of_a_lane_that_left_or_never_was_is_told_apart() -> None:
    source = """KERNEL k(int* out, int n) {
        int i = threadIdx.x;
        if (i >= n) return; // return
        int x = __shfl_down_sync(0xFFFFFFFF, i, 8); // shuffle
        atomicAdd(out, x);
    }"""
    hazard = fault(source, out=zeros(1), n=20)
    says(hazard, "missing_lanes", line_of(source, "shuffle"), "the value of lane 20 of its warp, which has exited at "
         f"the branch on line {line_of(source, 'return')}, and uses it")  # fmt: skip
    assert hazard.title == "a shuffle that names lanes which have left the kernel"
    assert "neutral value" in (hazard.remedy or "") and "__ballot_sync" in (hazard.remedy or "")
    hazard = fault(source, block=20, out=zeros(1), n=20)
    says(hazard, "missing_lanes", line_of(source, "shuffle"), "the value of lane 20 of its warp, which does not exist")
    assert hazard.title is None


def test_warps_of_a_block_pass_a_warp_barrier_apart() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x;
        for (int n = 0; n < i / 32; ++n) __syncwarp();
        out[i] = i;
    }"""
    np.testing.assert_array_equal(silent(source, block=128, out=Unset("i4", 128))["out"], np.arange(128))


def test_lanes_waiting_for_each_other_at_two_places_are_an_error() -> None:
    text = assembly(
        """
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 16;
        @%p1 bra LOW;
        vote.sync.ballot.b32 %r2, %p1, 0xFFFFFFFF;
        bra END;
        LOW:
        bar.warp.sync 0xFFFFFFFF;
        END:
        ret;
        """
    )
    hazard = fault(text, out=0)
    assert hazard.kind == "missing_lanes" and hazard.line in (4, 7) and "instead" in hazard.message


def test_a_guard_keeps_lanes_out_of_a_barrier() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 7;
        setp.lt.u32 %p2, %r1, 32;
        @%p1 bar.warp.sync 0x7F;
        @%p2 bar.sync 1, 32;
        @!%p2 bar.sync 2, 32;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r1;
        """
    )
    np.testing.assert_array_equal(silent(text, block=64, out=Unset("u4", 64))["out"], np.arange(64))


def test_a_guard_that_keeps_some_threads_out_of_a_barrier_of_all_is_an_error() -> None:
    text = assembly("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 0, 64;\nbar.sync 1, 64;")
    hazard = fault(text, block=64, out=0)
    assert hazard.kind == "barrier" and "32 of 64 threads" in hazard.message

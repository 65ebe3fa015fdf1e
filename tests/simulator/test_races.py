"""Races: what two threads do to one place with nothing between them that orders it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.results import Barrier, Hazard, Severity
from tests.simulator.running import Bench, Ran, Unset, line_of, run, silent


def ints(count: int) -> Unset:
    return Unset("i4", count)


def only(ran: Ran, severity: Severity = Severity.ERROR) -> Hazard:
    (hazard,) = ran.hazards
    assert hazard.kind == "race" and hazard.severity is severity, hazard.message
    return hazard


def tells(hazard: Hazard, source: str, first: str, second: str, *words: str) -> None:
    """Both lines, the later one being the finding's; and words of the message."""
    one, two = line_of(source, first), line_of(source, second)
    assert hazard.line == two and f"line {one} (" in hazard.message and f"line {two} (" in hazard.message, (
        hazard.message
    )
    for word in words:
        assert word in hazard.message, hazard.message


# --- shared memory

REVERSE = """KERNEL k(int* out) {
    __shared__ int tile[128];
    int i = threadIdx.x;
    tile[i] = i; // write
    BETWEEN
    out[128 * blockIdx.x + i] = tile[(i + SHIFT) % 128]; // read
}"""


def reverse(between: str = "", shift: int = 32) -> str:
    return REVERSE.replace("BETWEEN", between).replace("SHIFT", str(shift))


def test_a_read_of_another_warps_write_needs_a_barrier() -> None:
    source = reverse()
    hazard = only(run(source, grid=2, block=128, out=ints(256)))
    tells(hazard, source, "write", "read", "race on tile[", "writes", "reads", "no __syncthreads() between them")
    assert "tile[32]" in hazard.message and "thread 32" in hazard.message and "thread 0" in hazard.message
    assert hazard.thread == (0, 0, 0) and hazard.count == 256 and hazard.other_line == line_of(source, "write")
    assert "__syncthreads()" in (hazard.remedy or "")
    silent(reverse("__syncthreads();"), grid=2, block=128, out=ints(256))


def test_within_a_warp_it_works_by_luck_and_the_remedy_is_smaller() -> None:
    source = reverse(shift=0).replace("(i + 0) % 128", "i ^ 1")
    hazard = only(run(source, block=128, out=ints(128)))
    tells(hazard, source, "write", "read", "no __syncwarp() between them", "luck")
    assert (hazard.remedy or "").startswith("put __syncwarp() between") and "__syncthreads()" in (hazard.remedy or "")
    for between in ("__syncwarp();", "__syncthreads();"):
        silent(source.replace("\n    \n", f"\n    {between}\n"), block=128, out=ints(128))


def test_a_race_within_a_warp_and_then_across_warps_is_told_as_what_takes_more() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[64];
        int i = threadIdx.x, sum = 0;
        x[i] = i; // write
        for (int by = 1; by < 64; by *= 32) sum += x[i ^ by]; // read
        out[i] = sum;
    }"""
    hazard = only(run(source, block=64, out=ints(64)))
    tells(hazard, source, "write", "read", "no __syncthreads() between them")
    assert (hazard.remedy or "").startswith("put __syncthreads() between") and hazard.missing is Barrier.BLOCK


def test_a_threads_own_cell_is_its_own() -> None:
    silent(reverse(shift=0), block=128, out=ints(128))


def test_a_write_after_another_threads_read_is_a_race_too() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[64];
        int i = threadIdx.x;
        tile[i] = i;
        __syncthreads();
        int x = tile[63 - i]; // read
        tile[i] = x; // write
        __syncthreads();
        out[i] = tile[i];
    }"""
    tells(only(run(source, block=64, out=ints(64))), source, "read", "write", "reads", "writes")


def test_two_writes_are_a_race() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[128];
        int i = threadIdx.x;
        tile[i] = 0; // first
        tile[(i + 32) % 128] = 1; // second
        __syncthreads();
        out[i] = tile[i];
    }"""
    tells(only(run(source, block=128, out=ints(128))), source, "first", "second", "writes")


def test_a_loop_without_its_second_barrier_names_the_way_round() -> None:
    source = """KERNEL k(int* out, int rounds) {
        __shared__ int tile[64];
        int i = threadIdx.x, sum = 0;
        for (int r = 0; r < rounds; ++r) {
            tile[i] = r + i; // write
            __syncthreads();
            sum += tile[(i + 32) % 64]; // read
            LAST
        }
        out[i] = sum;
    }"""
    silent(source.replace("LAST", ""), block=64, out=ints(64), rounds=1)
    silent(source.replace("LAST", "__syncthreads();"), block=64, out=ints(64), rounds=4)
    hazard = only(run(source.replace("LAST", ""), block=64, out=ints(64), rounds=4))
    tells(hazard, source, "read", "write")
    write, read = line_of(source, "write"), line_of(source, "read")
    assert f"after line {read}, before line {write} runs again" in (hazard.remedy or "")


def test_a_line_that_reads_and_writes_is_told_to_do_it_in_two_steps() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[128];
        int i = threadIdx.x;
        tile[i] = i;
        __syncthreads();
        if (i < 32) {
            UPDATE // last
        }
        __syncthreads();
        out[i] = tile[i];
    }"""
    broken = source.replace("UPDATE", "tile[i] += tile[i + 16];")
    hazard = only(run(broken, block=128, out=ints(128)))
    remedy = f"put __syncwarp() within line {line_of(broken, 'last')}, between its reading and its writing"
    assert (hazard.remedy or "").startswith(remedy)
    silent(source.replace("UPDATE", "int v = tile[i + 16]; __syncwarp(); tile[i] += v;"), block=128, out=ints(128))


@pytest.mark.parametrize("rounds", [10, 6000])
def test_many_accesses_between_two_do_not_hide_their_race(rounds: int) -> None:
    source = """KERNEL k(int* out, int rounds) {
        __shared__ int tile[64];
        int i = threadIdx.x, sum = 0;
        tile[i] = i; // write
        #pragma unroll 1
        for (int r = 0; r < rounds; ++r) sum += *(volatile int*)&tile[i];
        out[i] = tile[i ^ 32] + sum; // read
    }"""
    tells(only(run(source, block=64, out=ints(64), rounds=rounds)), source, "write", "read")


def test_blocks_that_pass_their_barriers_at_different_times_are_judged_apart() -> None:
    source = """KERNEL k(int* out, int careless) {
        __shared__ int tile[64];
        int i = threadIdx.x, sum = 0;
        for (int r = 0; r <= blockIdx.x; ++r) {
            tile[i] = r + i; // write
            __syncthreads();
            sum += tile[i ^ 32]; // read
            if (blockIdx.x != careless) __syncthreads();
        }
        out[64 * blockIdx.x + i] = sum;
    }"""
    silent(source, grid=6, block=64, out=ints(384), careless=-1)
    hazard = only(run(source, grid=6, block=64, out=ints(384), careless=3))
    tells(hazard, source, "read", "write")
    assert hazard.block == (3, 0, 0) and hazard.count == 3 * 64


def test_neighbouring_bytes_do_not_race() -> None:
    source = """KERNEL k(int* out) {
        __shared__ char bytes[128];
        __shared__ short pairs[64];
        int i = threadIdx.x;
        bytes[i] = i; pairs[i / 2] = 7;
        out[i] = bytes[i];
    }"""
    notes = run(source, block=128, out=ints(128)).hazards
    assert all(hazard.severity is Severity.NOTE for hazard in notes)
    bad = source.replace("out[i] = bytes[i];", "out[i] = *(int*)&bytes[i & ~3]; // read")
    errors = [hazard for hazard in run(bad, block=128, out=ints(128)).hazards if hazard.severity is Severity.ERROR]
    assert len(errors) == 1 and "bytes[" in errors[0].message


def test_lanes_of_one_instruction_that_write_one_value_are_a_note() -> None:
    source = """KERNEL k(int* out, int n) {
        __shared__ int flag;
        flag = n; // write
        __syncthreads();
        out[threadIdx.x] = flag;
    }"""
    hazard = only(run(source, block=64, out=ints(64), n=5), Severity.NOTE)
    assert hazard.line == line_of(source, "write") and "the same value" in hazard.message and hazard.remedy is None


def test_lanes_of_one_instruction_that_write_different_values_race() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int last;
        last = threadIdx.x; // write
        __syncthreads();
        out[threadIdx.x] = last;
    }"""
    hazard = only(run(source, block=64, out=ints(64)))
    assert (
        hazard.line == line_of(source, "write") and "different values" in hazard.message and "last[0]" in hazard.message
    )


def test_a_read_by_one_and_a_write_by_the_same_thread_are_in_order() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[64];
        int i = threadIdx.x;
        for (int r = 0; r < 5; ++r) tile[i] = r ? tile[i] * 2 + r : i;
        out[i] = tile[i];
    }"""
    silent(source, block=64, out=ints(64))


def test_a_vector_access_meets_the_scalars_inside_it() -> None:
    source = """KERNEL k(float* out) {
        __shared__ __align__(16) float tile[256];
        int i = threadIdx.x;
        tile[i] = i; // write
        if (i < 64) {
            float4 v = reinterpret_cast<float4*>(tile)[63 - i]; // read
            out[i] = v.x + v.y + v.z + v.w;
        }
    }"""
    tells(only(run(source, block=256, out=Unset("f4", 64))), source, "write", "read")


def test_shuffles_order_nothing_in_memory() -> None:
    source = reverse("int x = __shfl_sync(0xFFFFFFFF, i, 0); if (x < 0) return;").replace("(i + 32) % 128", "i ^ 1")
    assert only(run(source, block=128, out=ints(128)))


def test_a_partial_syncwarp_orders_only_its_lanes() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[32];
        int i = threadIdx.x;
        tile[i] = i; // write
        if (i < 16) {
            __syncwarp(0xFFFF);
            out[i] = tile[PLACE]; // read
        }
    }"""
    silent(source.replace("PLACE", "15 - i"), out=ints(16))
    hazard = only(run(source.replace("PLACE", "31 - i"), out=ints(16)))
    tells(hazard, source, "write", "read", "__syncwarp()")


def test_a_barrier_of_part_of_a_warp_does_not_spoil_the_next_one_of_all() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[32];
        int i = threadIdx.x;
        tile[i] = i;
        __syncwarp();
        if (i < 16) {
            __syncwarp(0xFFFF);
            out[i] = tile[31 - i];
        }
        __syncwarp();
        tile[i] = 0;
        __syncwarp();
        if (i >= 24) {
            __syncwarp(0xFF000000);
            __syncwarp(0xFF000000);
            out[i] = tile[i - 24];
        }
        __syncwarp();
        tile[31 - i] = 1;
    }"""
    silent(source, out=np.zeros(32, "i4"))


def test_atomics_do_not_race_with_atomics_but_with_plain_accesses() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int sum;
        if (threadIdx.x == 0) sum = 0; // clear
        BETWEEN
        atomicAdd(&sum, 1); // add
        __syncthreads();
        out[threadIdx.x] = sum;
    }"""
    silent(source.replace("BETWEEN", "__syncthreads();"), block=64, out=ints(64))
    hazard = only(run(source.replace("BETWEEN", ""), block=64, out=ints(64)))
    tells(hazard, source, "clear", "add", "writes", "updates")


@pytest.mark.parametrize("who", ["0", "40", "blockDim.x - 1"])
def test_whoever_reads_a_sum_waits_for_all_updates(who: str) -> None:
    source = f"""KERNEL k(int* out) {{
        __shared__ int sum;
        int i = threadIdx.x;
        if (i == 0) sum = 0;
        __syncthreads();
        atomicAdd(&sum, i); // add
        if (i == {who}) out[0] = sum; // read
    }}"""
    tells(only(run(source, block=96, out=ints(1))), source, "add", "read", "updates", "reads")


def test_a_barrier_is_a_fresh_start_for_a_counter() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int count;
        int i = threadIdx.x;
        if (i == 0) count = 0;
        __syncthreads();
        if (i < 32) atomicAdd(&count, 1);
        if (i >= 32) atomicAdd(&count, 2);
        __syncthreads();
        if (i == 1) atomicAdd(&count, 1); // add
        BETWEEN
        if (i == 0) out[0] = count; // read
    }"""
    assert silent(source.replace("BETWEEN", "__syncthreads();"), block=64, out=ints(1))["out"][0] == 97
    tells(only(run(source.replace("BETWEEN", ""), block=64, out=ints(1))), source, "add", "read")


def test_a_plain_read_before_updates_races_with_those_of_others() -> None:
    source = """KERNEL k(int* out, int* best, const int* x) {
        int i = threadIdx.x;
        if (i == 32 && *best >= 0) atomicMax(best, x[i]); // read
        if (i == 0) atomicMax(best, x[i]); // update
    }"""
    ran = run(source, block=64, out=ints(1), best=np.zeros(1, "i4"), x=np.arange(64, dtype="i4"))
    tells(only(ran), source, "read", "update")


def test_two_blocks_have_shared_memory_each() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int x[32];
        x[threadIdx.x] = blockIdx.x;
        out[32 * blockIdx.x + threadIdx.x] = x[threadIdx.x];
    }"""
    silent(source, grid=8, block=32, out=ints(256))


def test_a_race_through_a_pointer_is_named_by_its_array() -> None:
    source = """__device__ __noinline__ void put(int* place, int x) {
        *place = x; // write
    }
    KERNEL k(int* out) {
        __shared__ int a[64], b[64];
        int i = threadIdx.x;
        put(i % 2 ? &a[i] : &b[i], i);
        out[i] = (i % 2 ? b : a)[i ^ 33]; // read
    }"""
    hazard = run(source, block=64, out=ints(64)).hazards[0]
    assert hazard.kind == "race" and ("a[" in hazard.message or "b[" in hazard.message)


# --- named barriers


def test_a_named_barrier_orders_those_who_meet_there() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[128];
        int i = threadIdx.x;
        tile[i] = i; // write
        if (i < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("bar.sync 2, 64;" ::: "memory");
        out[i] = tile[i ^ MASK]; // read
    }"""
    silent(source.replace("MASK", "33"), block=128, out=ints(128))
    hazard = only(run(source.replace("MASK", "65"), block=128, out=ints(128)))
    tells(hazard, source, "write", "read", "no __syncthreads() between them")


HAND_OVER = """KERNEL k(int* out) {
    __shared__ int tile[32];
    int i = threadIdx.x;
    if (i < 32) {
        tile[i] = i; // write
        asm volatile("bar.ARRIVE 1, 64;" ::: "memory");
        LATER
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[i - 32] = tile[63 - i]; // read
    }
}"""


def test_who_arrives_publishes_to_those_who_wait() -> None:
    silent(HAND_OVER.replace("ARRIVE", "arrive").replace("LATER", ""), block=64, out=ints(32))


def test_who_only_arrives_may_not_write_again() -> None:
    source = HAND_OVER.replace("ARRIVE", "arrive").replace("LATER", "tile[i] = 0; // again")
    hazard = only(run(source, block=64, out=ints(32)))
    lines = {hazard.line, hazard.other_line}
    assert lines == {line_of(source, "read"), line_of(source, "again")}


# --- global memory


def test_a_block_that_reads_its_neighbours_result_races() -> None:
    source = """KERNEL k(int* x) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] = i; // write
        __syncthreads();
        if (i >= 32) x[i - 32] += 1; // read
    }"""
    hazard = run(source, grid=4, block=32, x=ints(128)).of(Severity.ERROR)[0]
    assert hazard.kind == "race" and "blocks run in any order" in hazard.message and "x[" in hazard.message
    assert "__threadfence()" in (hazard.remedy or "")


def test_a_plain_sum_by_many_threads_races_within_and_between_blocks() -> None:
    source = """KERNEL k(int* sum) {
        sum[0] += threadIdx.x; // add
    }"""
    for grid, block in ((1, 64), (4, 1)):
        errors = run(source, grid=grid, block=block, sum=np.zeros(1, "i4")).of(Severity.ERROR)
        assert errors and all(error.kind == "race" and error.line == line_of(source, "add") for error in errors)
        assert "sum[0]" in errors[0].message


def test_two_blocks_that_write_one_element_race() -> None:
    source = """KERNEL k(int* x) {
        x[threadIdx.x] = blockIdx.x; // write
    }"""
    errors = run(source, grid=3, block=32, x=ints(32)).of(Severity.ERROR)
    assert errors and "x[0]" in errors[0].message and errors[0].line == line_of(source, "write")


def test_blocks_of_different_batches_race_too() -> None:
    source = """KERNEL k(int* x) {
        if (threadIdx.x == 0 && (blockIdx.x == 0 || blockIdx.x == gridDim.x - 1)) x[0] = blockIdx.x; // write
    }"""
    errors = run(source, grid=200, block=1024, x=ints(1)).of(Severity.ERROR)
    assert errors and "blocks" in errors[0].message


def test_a_grid_stride_loop_is_silent() -> None:
    source = """KERNEL k(float* x, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = x[i] * 2 + i;
    }"""
    silent(source, grid=3, block=64, x=np.ones(1000, "f4"), n=1000)


def test_launches_are_ordered() -> None:
    bench = Bench("""KERNEL put(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
    KERNEL swap(int* out, const int* x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = x[n - 1 - i];
    }""")
    x, out = ints(256), ints(256)
    for _ in range(2):
        assert bench.launch("put", grid=4, block=64, x=x).hazards == ()
        assert bench.launch("swap", grid=4, block=64, out=out, x=x, n=256).hazards == ()


def test_within_a_block_a_barrier_orders_global_memory() -> None:
    source = """KERNEL k(int* x) {
        int i = blockIdx.x * 64 + threadIdx.x;
        x[i] = i; // write
        BETWEEN
        int y = x[i ^ 32]; // read
        __syncthreads();
        x[i] = y;
    }"""
    silent(source.replace("BETWEEN", "__syncthreads();"), grid=3, block=64, x=ints(192))
    tells(
        only(run(source.replace("BETWEEN", ""), grid=3, block=64, x=ints(192))),
        source,
        "write",
        "read",
        "__syncthreads()",
    )


def test_neighbouring_bytes_of_global_memory_do_not_race() -> None:
    source = """KERNEL k(unsigned char* x, int both) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] = i; // write
        if (both) x[i] = x[i + both - 1] + 1; // read
    }"""
    silent(source, grid=4, block=33, x=Unset("u1", 132), both=1)
    errors = run(source, grid=4, block=33, x=np.zeros(170, "u1"), both=34).of(Severity.ERROR)
    assert errors and all("blocks run in any order" in error.message for error in errors)
    assert any("x[33]" in error.message for error in errors)


def test_a_finding_counts_and_names_both_threads_in_three_dimensions() -> None:
    source = """KERNEL k(int* out) {
        __shared__ int tile[4][32];
        tile[threadIdx.y][threadIdx.x] = 1; // write
        out[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.y ^ 1][threadIdx.x]; // read
    }"""
    hazard = only(run(source, block=(32, 4), out=ints(128)))
    assert hazard.count == 128 and hazard.thread == (0, 0, 0)
    assert "(thread (0, 1))" in hazard.message and "(thread (0, 0))" in hazard.message


def test_threads_that_write_different_values_to_one_place_are_asked_about_the_index_first() -> None:
    source = "KERNEL k(int* out) { out[threadIdx.y] = threadIdx.x + 1; }"
    hazard = only(run(source, block=(16, 2), out=ints(2)))
    assert hazard.message.startswith("thread (0, 0) and thread (")
    assert (hazard.remedy or "").startswith("give each thread an element of its own: is the index the same for both?")


def test_race_watching_can_be_left_out() -> None:
    assert run(reverse(), block=128, out=ints(128), watch_races=False).hazards == ()


@pytest.mark.parametrize("group", ["cg::this_thread_block()", "cg::tiled_partition<32>(cg::this_thread_block())"])
def test_cooperative_groups_order_like_what_they_stand_for(group: str) -> None:
    mask = 63 if "tiled" not in group else 31
    source = f"""#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    KERNEL k(int* out) {{
        __shared__ int tile[64];
        auto group = {group};
        tile[threadIdx.x] = threadIdx.x;
        group.sync();
        out[threadIdx.x] = tile[threadIdx.x ^ {mask}];
    }}"""
    out = silent(source, block=64, out=ints(64))["out"]
    np.testing.assert_array_equal(out, np.arange(64) ^ mask)


@pytest.mark.parametrize("writer", [0, 3, 7])
def test_no_reader_of_many_is_forgotten_who_is_in_another_warp(writer: int) -> None:
    """The writing warp's own lanes are ordered by its __syncwarp(), those of the others are not."""
    source = """KERNEL k(int* out) {
        __shared__ int word;
        int i = threadIdx.x;
        if (i == 0) word = 5;
        __syncthreads();
        out[i] = word; // read
        if (i / 32 == WRITER) {
            __syncwarp();
            if (i % 32 == 0) word = 6; // write
        }
    }""".replace("WRITER", str(writer))
    tells(only(run(source, block=256, out=ints(256))), source, "read", "write", "reads", "writes")


@pytest.mark.parametrize("absent", [1, 2, 3])
def test_a_named_barrier_that_one_reading_warp_does_not_come_to_leaves_it_behind(absent: int) -> None:
    source = """KERNEL k(int* out) {
        __shared__ int word;
        int i = threadIdx.x, warp = i / 32;
        if (i == 0) word = 5;
        __syncthreads();
        out[i] = word; // read
        if (warp == 0) asm volatile("bar.sync 1, COUNT;" ::: "memory");
        else if (warp != ABSENT) asm volatile("bar.arrive 1, COUNT;" ::: "memory");
        if (i == 0) word = 6; // write
    }"""
    silent(source.replace("COUNT", "128").replace("ABSENT", "9"), block=128, out=ints(128))
    source = source.replace("COUNT", "96").replace("ABSENT", str(absent))
    hazard = only(run(source, block=128, out=ints(128)))
    tells(hazard, source, "read", "write")
    assert re.search(r"\(thread (\d+)\) reads", hazard.message)[1] in map(str, range(32 * absent, 32 * absent + 32))


def test_blocks_that_write_one_value_by_one_instruction_are_a_note_however_far_apart() -> None:
    """1,200 blocks of 64 don't run at once here: the first have ended when the last begin."""
    source = """KERNEL k(int* out) {
        out[threadIdx.x] = VALUE; // write
    }"""
    ran = run(source.replace("VALUE", "threadIdx.x"), grid=1200, block=64, out=ints(64))
    assert {one.severity for one in ran.hazards} == {Severity.NOTE}
    assert all("the same value" in one.message and one.line == line_of(source, "write") for one in ran.hazards)
    differing = run(source.replace("VALUE", "blockIdx.x"), grid=1200, block=64, out=ints(64))
    assert differing.of(Severity.ERROR)

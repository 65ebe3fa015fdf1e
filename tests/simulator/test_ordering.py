"""What orders two threads: barriers, warps, fences with atomics. Random programs are judged by vector clocks too."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.results import Hazard, Severity
from tests.simulator.running import Ran, Unset, assembly, line_of, run, silent

# --- any program of a few threads, against the definition

#: Threads that do something, of a block of 64: two in each warp. The others only come to barriers.
ACTORS = (0, 1, 32)
CELLS = 3


@dataclass(frozen=True)
class Touch:
    """One actor reads, writes or updates a cell."""

    actor: int
    deed: str
    cell: int


Event = Touch | str
events = st.lists(
    st.builds(Touch, st.sampled_from(ACTORS), st.sampled_from(["read", "write", "update"]), st.integers(0, CELLS - 1))
    | st.sampled_from(["block", "warp", "low warp", "zero and two", "hand over", "named"]),
    min_size=2,
    max_size=14,
)

SYNC = {
    "block": ["bar.sync 0;"],
    "named": ["bar.sync 15, 64;"],
    "warp": ["bar.warp.sync 0xFFFFFFFF;"],
    "low warp": ["setp.ge.u32 %p2, %r1, 32;", "@%p2 bra SKIP{n};", "bar.warp.sync 0xFFFFFFFF;", "SKIP{n}:"],
    "zero and two": ["and.b32 %r5, %r1, -3;", "setp.ne.u32 %p2, %r5, 0;", "@%p2 bra SKIP{n};", "bar.warp.sync 5;",
                     "SKIP{n}:"],
    "hand over": ["setp.ge.u32 %p2, %r1, 32;", "@%p2 bra WAIT{n};", "bar.arrive {n}, 64;", "bra DONE{n};",
                  "WAIT{n}:", "bar.sync {n}, 64;", "DONE{n}:"],
}  # fmt: skip


def text_of(script: list[Event], space: str) -> str:
    """The events in order, each touch on an address from %rd1 (global) or %r2 (shared)."""
    base = "%rd1" if space == "global" else "%r2"
    lines = ["ld.param.u64 %rd1, [out];", "mov.u32 %r1, %tid.x;", "mov.u32 %r2, cells;", "mov.u32 %r3, 1;"]
    lines += [f"st.shared.u32 [%r2+{4 * cell}], 0;" for cell in range(CELLS) if space == "shared"]
    if space == "shared":
        lines.append("bar.sync 0;")
    for n, event in enumerate(script, start=1):
        if isinstance(event, Touch):
            where = f"[{base}+{4 * event.cell}]"
            deed = {"read": f"ld.{space}.u32 %r4, {where};", "write": f"st.{space}.u32 {where}, %r1;",
                    "update": f"red.{space}.add.u32 {where}, %r3;"}[event.deed]  # fmt: skip
            lines += [f"setp.eq.u32 %p1, %r1, {event.actor};", f"@%p1 {deed}"]
        else:
            lines += [line.format(n=n) for line in SYNC[event]]
    return assembly("\n".join(lines), extra=f".shared .align 4 .b8 cells[{4 * CELLS}];")


def racy(script: list[Event]) -> set[int]:
    """Cells that two actors touch, not both to read or both to update, with nothing between them, by vector clocks."""
    clock = {actor: dict.fromkeys(ACTORS, 0) for actor in ACTORS}
    past: list[tuple[Touch, int]] = []
    found = set()

    def join(groups: list[tuple[int, ...]], of: tuple[int, ...] = ACTORS) -> None:
        for group in groups:
            merged = {
                actor: max(clock[one][actor] for one in of if one in group or len(groups) == 1) for actor in ACTORS
            }
            for actor in group:
                clock[actor] = dict(merged)

    for event in script:
        if isinstance(event, Touch):
            now = clock[event.actor]
            now[event.actor] += 1
            for number, (before, time) in enumerate(past):
                counts = {before.deed, event.deed} not in ({"update"}, {"read"})
                # Whoever updated it later itself has seen that update.
                counts &= before.deed != "update" or Touch(event.actor, "update", event.cell) not in dict(past[number:])
                if counts and before.cell == event.cell and before.actor != event.actor and now[before.actor] < time:
                    found.add(event.cell)
            past.append((event, now[event.actor]))
        elif event in ("block", "named"):
            join([ACTORS])
        elif event == "hand over":  # who waits learns; who arrives does not
            join([(32,)])
        elif event != "zero and two":  # of those only one is an actor
            join([(0, 1), (32,)] if event == "warp" else [(0, 1)], (0, 1) if event == "low warp" else ACTORS)
    return found


@pytest.mark.parametrize("space", ["shared", "global"])
@settings(max_examples=120, deadline=None)
@given(script=events)
def test_a_race_is_told_where_nothing_happens_before_and_nowhere_else(space: str, script: list[Event]) -> None:
    ran = run(text_of(script, space), block=64, out=np.zeros(CELLS, "u4"))
    told = {
        int(number)
        for hazard in ran.of(Severity.ERROR)
        for number in re.findall(r"(?:out|cells)\[(\d+)\]", hazard.message)
    }
    assert told == racy(script), [hazard.message for hazard in ran.hazards]


# --- between blocks

LAST_BLOCK = """__device__ unsigned count;
KERNEL k(float* out, float* partial, const float* x, int n) {
    __shared__ float s[64];
    __shared__ bool last;
    int i = threadIdx.x;
    float v = 0;
    for (int j = blockIdx.x * 64 + i; j < n; j += gridDim.x * 64) v += x[j];
    s[i] = v;
    __syncthreads();
    for (int by = 32; by; by /= 2) { if (i < by) s[i] += s[i + by]; __syncthreads(); }
    if (i == 0) {
        partial[blockIdx.x] = s[0]; // partial
        BEFORE
        last = atomicAdd(&count, 1) == gridDim.x - 1;
        AFTER
    }
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int b = i; b < gridDim.x; b += 64) sum += partial[b]; // collect
        s[i] = sum;
        __syncthreads();
        for (int by = 32; by; by /= 2) { if (i < by) s[i] += s[i + by]; __syncthreads(); }
        if (i == 0) { out[0] = s[0]; count = 0; }
    }
}"""


def last_block(before: str, after: str = "__threadfence();") -> tuple[str, Ran]:
    source = LAST_BLOCK.replace("BEFORE", before).replace("AFTER", after)
    x = np.arange(5000, dtype="f4")
    ran = run(source, grid=20, block=64, out=Unset("f4", 1), partial=Unset("f4", 20, "scratch"), x=x, n=5000)
    assert ran["out"][0] == x.sum()
    return source, ran


def between_blocks(source: str, ran: Ran, first: str, second: str, name: str) -> None:
    (hazard,) = (one for one in ran.of(Severity.ERROR) if f"race on {name}[" in one.message)
    assert (hazard.kind, hazard.line, hazard.other_line) == ("race", line_of(source, second), line_of(source, first))
    assert "blocks run in any order" in hazard.message
    assert "__threadfence()" in (hazard.remedy or "")


def test_the_last_block_may_collect_after_a_fence_and_an_atomic() -> None:
    assert last_block("__threadfence();")[1].hazards == ()


def test_who_counts_itself_in_collects_with_no_fence_of_its_own() -> None:
    assert last_block("__threadfence();", after="")[1].hazards == ()


def test_who_waits_for_a_flag_needs_a_fence_before_it_collects() -> None:
    source = """__device__ int raised;
KERNEL k(float* out, float* value) {
    if (blockIdx.x == 0) {
        value[0] = 3.0f;  // told
        __threadfence();
        *(volatile int*)&raised = 1;
    } else {
        while (*(volatile int*)&raised == 0) { }
        AFTER
        out[0] = value[0];  // read
    }
}"""
    fenced = source.replace("AFTER", "__threadfence();")
    silent(fenced, grid=2, block=1, out=Unset("f4", 1), value=Unset("f4", 1, "scratch"))
    for reading in ("*(volatile float*)&value[0]", "__ldcg(&value[0])"):  # not from a cache that may be stale
        fresh = source.replace("AFTER", "").replace("= value[0]", f"= {reading}")
        silent(fresh, grid=2, block=1, out=Unset("f4", 1), value=Unset("f4", 1, "scratch"))
    bare = source.replace("AFTER", "")
    ran = run(bare, grid=2, block=1, out=Unset("f4", 1), value=Unset("f4", 1, "scratch"))
    (hazard,) = ran.of(Severity.ERROR)
    assert (hazard.line, hazard.other_line) == (line_of(bare, "read"), line_of(bare, "told"))
    assert "no __threadfence() stands between the flag or count that tells of it and the reading" in hazard.message


@pytest.mark.parametrize("fences", [("", ""), ("", "__threadfence();"), ("__threadfence_block();", "")])
def test_without_a_fence_before_the_atomic_the_last_block_collects_by_luck(fences: tuple[str, str]) -> None:
    source, ran = last_block(*fences)
    between_blocks(source, ran, "partial", "collect", "partial")


ALL_WRITE = """__device__ unsigned count;
KERNEL k(float* out, float* partial) {
    __shared__ bool last;
    int i = threadIdx.x;
    partial[blockIdx.x * 64 + i] = i; // partial
    BETWEEN
    __syncthreads();
    if (i == 0) last = atomicAdd(&count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        float sum = 0;
        for (int b = i; b < gridDim.x * 64; b += 64) sum += partial[b]; // collect
        out[i] = sum;
    }
}"""


def all_write(between: str) -> tuple[str, Ran]:
    source = ALL_WRITE.replace("BETWEEN", between)
    return source, run(source, grid=20, block=64, out=Unset("f4", 64), partial=Unset("f4", 1280, "scratch"))


@pytest.mark.parametrize("between", ["__threadfence();", "__syncthreads(); if (i == 0) __threadfence();"])
def test_a_block_publishes_what_all_its_threads_wrote(between: str) -> None:
    assert all_write(between)[1].hazards == ()


@pytest.mark.parametrize("between", ["", "if (i < 32) __threadfence();"])
def test_what_no_fence_covers_is_not_published(between: str) -> None:
    source, ran = all_write(between)
    between_blocks(source, ran, "partial", "collect", "partial")


FLAG = """__device__ int flag;
KERNEL k(int* out, int* data) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            data[0] = 42; // write
            RELEASE
        } else {
            ACQUIRE
            out[blockIdx.x] = data[0]; // read
        }
    }
}"""


@pytest.mark.parametrize(
    ("release", "acquire"),
    [
        ("__threadfence(); atomicExch(&flag, 1);", "while (atomicAdd(&flag, 0) != 1) {} __threadfence();"),
        ("__threadfence(); *(volatile int*)&flag = 1;",
         "while (*(volatile int*)&flag != 1) {} __threadfence();"),
        ('asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(&flag) : "memory");',
         'int x; do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(&flag) : "memory");\n'
         "while (x != 1);"),
        ('asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(&flag) : "memory");',
         "while (*(volatile int*)&flag != 1) {} __threadfence();"),
    ],
    ids=["fence and atomic", "fence and volatile", "release and acquire", "releasing atomic"],
)  # fmt: skip
def test_a_flag_with_a_fence_hands_data_to_another_block(release: str, acquire: str) -> None:
    source = FLAG.replace("RELEASE", release).replace("ACQUIRE", acquire)
    out = silent(source, grid=3, block=32, out=np.zeros(3, "i4"), data=Unset("i4", 1, "scratch"))["out"]
    np.testing.assert_array_equal(out, [0, 42, 42])


@pytest.mark.parametrize(
    "release", ["atomicExch(&flag, 1);", "*(volatile int*)&flag = 1;", "__threadfence_block(); atomicExch(&flag, 1);"]
)
def test_a_flag_without_a_fence_hands_over_nothing(release: str) -> None:
    source = FLAG.replace("RELEASE", release).replace("ACQUIRE", "while (atomicAdd(&flag, 0) != 1) {}")
    ran = run(source, grid=3, block=32, out=np.zeros(3, "i4"), data=Unset("i4", 1, "scratch"))
    between_blocks(source, ran, "write", "read", "data")


def test_news_is_handed_on_from_block_to_block() -> None:
    source = """__device__ int turn;
    KERNEL k(int* sums, const int* x) {
        if (threadIdx.x == 0) {
            int b = blockIdx.x, before = 0;
            while (atomicAdd(&turn, 0) != b) {}
            __threadfence();
            for (int n = 0; n < b; ++n) before += sums[n];
            sums[b] = before + x[b];
            __threadfence();
            atomicAdd(&turn, 1);
        }
    }"""
    sums = silent(source, grid=6, block=32, sums=Unset("i4", 6), x=np.ones(6, "i4"))["sums"]
    np.testing.assert_array_equal(sums, [1, 2, 4, 8, 16, 32])


def test_writing_again_after_the_release_is_not_covered_by_it() -> None:
    source = FLAG.replace("RELEASE", "__threadfence(); atomicExch(&flag, 1);\ndata[0] = 43; // again")
    source = source.replace("ACQUIRE", "while (atomicAdd(&flag, 0) != 1) {}")
    errors = run(source, grid=2, block=32, out=np.zeros(2, "i4"), data=Unset("i4", 1, "scratch")).of(Severity.ERROR)
    assert {frozenset({one.line, one.other_line}) for one in errors} == {
        frozenset({line_of(source, "again"), line_of(source, "read")})
    }


def test_a_fence_within_a_block_needs_the_flag_to_be_seen() -> None:
    source = """__device__ int flag;
    KERNEL k(int* out, const int* in) {
        __shared__ int data;
        int i = threadIdx.x;
        if (i == 32) {
            data = in[0]; // write
            __threadfence();
            atomicExch(&flag, 1);
        }
        if (i == 0) {
            while (atomicAdd(&flag, 0) != 1) {}
            __threadfence_block();
            out[0] = data;
        }
        if (i == 64) out[1] = data; // careless
    }"""
    errors = run(source, block=96, out=np.zeros(2, "i4"), data=np.ones(1, "i4")).of(Severity.ERROR)
    assert {one.line for one in errors} == {line_of(source, "careless")} and errors[0].other_line == line_of(
        source, "write"
    )


def hazards_of(source: str) -> tuple[Hazard, ...]:
    return run(source, grid=8, block=64, total=np.zeros(1, "i4")).hazards


def test_a_lock_orders_what_its_holders_do() -> None:
    source = """__device__ int lock;
    KERNEL k(int* total) {
        if (threadIdx.x == 0) {
            while (atomicCAS(&lock, 0, 1) != 0) {}
            FENCE
            total[0] += 1; // add
            FENCE
            atomicExch(&lock, 0);
        }
    }"""
    assert hazards_of(source.replace("FENCE", "__threadfence();")) == ()
    (race,) = hazards_of(source.replace("FENCE", ""))
    assert race.kind == "race" and race.line == line_of(source, "add")


def test_an_acquiring_read_needs_no_fence() -> None:
    source = FLAG.replace("RELEASE", "__threadfence(); atomicExch(&flag, 1);").replace("ACQUIRE", "WAIT")
    wait = """int x;
        do asm volatile("ld.WORD.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(&flag) : "memory"); while (x != 1);"""
    data = {"out": np.zeros(3, "i4"), "data": Unset("i4", 1, "scratch")}
    silent(source.replace("WAIT", wait.replace("WORD", "acquire")), grid=3, block=32, **data)
    (race,) = run(source.replace("WAIT", wait.replace("WORD", "relaxed")), grid=3, block=32, **data).of(Severity.ERROR)
    assert "no __threadfence() stands between" in race.message


# --- flags in shared memory

SHARED_FLAG = """KERNEL k(int* out) {
    __shared__ DATA int data;
    __shared__ volatile int flag;
    int i = threadIdx.x;
    if (i == 0) flag = 0;
    __syncthreads();
    if (i == 32) {
        data = blockIdx.x; // write
        RELEASE
        flag = 1;
    }
    if (i == 0) {
        while (flag != 1) {}
        ACQUIRE
        out[blockIdx.x] = data; // read
    }
}"""


def shared_flag(release: str, acquire: str, data: str = "") -> tuple[str, Ran]:
    source = SHARED_FLAG.replace("RELEASE", release).replace("ACQUIRE", acquire).replace("DATA", data)
    return source, run(source, grid=3, block=64, out=Unset("i4", 3))


@pytest.mark.parametrize("data", ["", "volatile"])
@pytest.mark.parametrize("fence", ["__threadfence_block();", "__threadfence();"])
def test_a_flag_in_shared_memory_hands_data_to_another_warp(fence: str, data: str) -> None:
    assert shared_flag(fence, fence, data)[1].hazards == ()


@pytest.mark.parametrize(
    ("release", "acquire", "data", "words"),
    [
        ("", "__threadfence_block();", "", "no __syncthreads() between them"),
        ("", "__threadfence_block();", "volatile", "no __threadfence_block() keeps the flag that tells"),
        ("__threadfence_block();", "", "", "no __threadfence_block() stands between the flag or count"),
    ],
    ids=["not released", "overtaken", "not acquired"],
)
def test_a_flag_in_shared_memory_needs_a_fence_on_both_sides(release: str, acquire: str, data: str, words: str) -> None:
    source, ran = shared_flag(release, acquire, data)
    (hazard,) = ran.of(Severity.ERROR)
    assert (hazard.line, hazard.other_line) == (line_of(source, "read"), line_of(source, "write"))
    assert words in hazard.message and hazard.remedy


def test_the_turns_of_one_atomic_are_taken_in_order() -> None:
    """All blocks count in one instruction here; the first can't know what the others did before they counted."""
    source = """__device__ int count;
    KERNEL k(int* out, int* data) {
        if (threadIdx.x != 0) return;
        data[blockIdx.x] = 1; // write
        __threadfence();
        if (atomicAdd(&count, 1) != FIRST_OR_LAST) return;
        __threadfence();
        for (int b = 0; b < gridDim.x; ++b) out[0] += data[b]; // read
    }"""
    data = {"out": np.zeros(1, "i4"), "data": Unset("i4", 4, "scratch")}
    silent(source.replace("FIRST_OR_LAST", "3"), grid=4, block=32, **data)
    (race,) = run(source.replace("FIRST_OR_LAST", "0"), grid=4, block=32, **data).of(Severity.ERROR)
    assert (race.line, race.other_line) == (line_of(source, "read"), line_of(source, "write"))


# --- results taken too early

TAKEN = """KERNEL k(float* out, float* sum, int* count) {
    if (threadIdx.x != 0) return;
    atomicAdd(sum, 1.0f); // add
    __threadfence();
    int before = atomicAdd(count, 1);
    WHEN
    out[blockIdx.x] = TAKING; // take
}"""
TAKING = ["atomicAdd(sum, 0.0f)", "*(volatile float*)sum"]


def taken(taking: str, when: str) -> tuple[str, Ran]:
    source = TAKEN.replace("TAKING", taking).replace("WHEN", when)
    return source, run(source, grid=6, block=32, out=np.zeros(6, "f4"), sum=np.zeros(1, "f4"), count=np.zeros(1, "i4"))


@pytest.mark.parametrize("taking", TAKING)
def test_a_sum_is_taken_when_all_blocks_are_done_with_it(taking: str) -> None:
    assert taken(taking, "if (before != gridDim.x - 1) return; __threadfence();")[1].hazards == ()
    source, ran = taken(taking, "")
    assert ran.of(Severity.ERROR)
    for hazard in ran.of(Severity.ERROR):
        assert hazard.line == line_of(source, "take") and "all other blocks are done with it" in hazard.message


def test_a_ticket_may_be_drawn_at_any_time() -> None:
    source = """__device__ int next;
    KERNEL k(int* out) {
        for (int i = atomicAdd(&next, 1); i < 100; i = atomicAdd(&next, 1)) out[i] = i;
    }"""
    silent(source, grid=3, block=32, out=Unset("i4", 100))

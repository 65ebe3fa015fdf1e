"""``cp.async``: bytes land when their thread waits for the group they were committed to, and not before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import Unsupported
from tests.simulator.running import Ran, Unset, assembly, fault, line_of, run, silent

X = np.arange(1, 4097, dtype="f4")


@dataclass(frozen=True)
class Copy:
    """Number ``source`` of the input to ``slot`` of shared memory; perhaps only for odd lanes."""

    slot: int
    source: int
    odd: bool


Action = Copy | str | int
SLOTS = 4
copies = st.builds(Copy, st.integers(0, SLOTS - 1), st.integers(0, 50), st.booleans())
#: Copies, perhaps committed, then perhaps a wait, and a look at what is there.
rounds = st.tuples(
    st.lists(copies, min_size=1, max_size=2),
    st.sampled_from([["commit"], ["commit"], []]),
    st.sampled_from([[], [0], [1], [2], ["all"]]),
    st.just(["look"]),
).map(lambda parts: [action for part in parts for action in part])
scripts = st.lists(rounds, min_size=1, max_size=6).map(lambda parts: [action for part in parts for action in part])


def text_of(script: list[Action]) -> str:
    """Each lane has SLOTS cells of its own; a look stores all of them."""
    lines = ["ld.param.u64 %rd1, [out];", "ld.param.u64 %rd2, [data];", "mov.u32 %r1, %tid.x;", "and.b32 %r2, %r1, 1;",
             "setp.eq.u32 %p1, %r2, 1;", "mov.u32 %r3, cells;", f"mad.lo.u32 %r3, %r1, {4 * SLOTS}, %r3;",
             f"mul.wide.u32 %rd3, %r1, {4 * SLOTS};", "add.s64 %rd1, %rd1, %rd3;", "mov.u32 %r4, 0;"]  # fmt: skip
    lines += [f"st.shared.u32 [%r3+{4 * slot}], %r4;" for slot in range(SLOTS)]
    looks = 0
    for action in script:
        if isinstance(action, Copy):
            guard = "@%p1 " if action.odd else ""
            lines.append(f"{guard}cp.async.ca.shared.global [%r3+{4 * action.slot}], [%rd2+{4 * action.source}], 4;")
        elif isinstance(action, int):
            lines.append(f"cp.async.wait_group {action};")
        elif action == "look":
            for slot in range(SLOTS):
                lines += [
                    f"ld.shared.u32 %r5, [%r3+{4 * slot}];",
                    f"st.global.u32 [%rd1+{looks * 64 * 4 * SLOTS + 4 * slot}], %r5;",
                ]
            looks += 1
        else:
            lines.append({"commit": "cp.async.commit_group;", "all": "cp.async.wait_all;"}[action])
    return assembly(
        "\n".join(lines), ".param .u64 out, .param .u64 data", f".shared .align 16 .b8 cells[{64 * 4 * SLOTS}];"
    )


def alone(script: list[Action], lane: int) -> list[list[float]]:
    """What one lane sees at each look."""
    cells, looks = [0.0] * SLOTS, []
    open_group: list[Copy] = []
    groups: list[list[Copy]] = []

    def land(count: int) -> None:
        for group in groups[:count]:
            for copy in group:
                cells[copy.slot] = float(X[copy.source])
        del groups[:count]

    for action in script:
        if isinstance(action, Copy):
            if lane % 2 or not action.odd:
                open_group.append(action)
        elif isinstance(action, int):
            land(max(0, len(groups) - action))
        elif action == "look":
            looks.append(list(cells))
        else:
            groups.append(open_group)
            open_group = []
            if action == "all":
                land(len(groups))
    return looks


@settings(max_examples=40, deadline=None)
@given(scripts)
def test_a_copy_lands_when_its_group_is_waited_for(script: list[Action]) -> None:
    looks = script.count("look")
    out = run(text_of(script), block=64, out=np.zeros(max(looks, 1) * 64 * SLOTS, "f4"), data=X)["out"].reshape(
        -1, 64, SLOTS
    )
    for lane in range(64):
        assert out[:looks, lane].tolist() == alone(script, lane)


def staged(width: int, source_bytes: str = "") -> str:
    kind = "cg" if width == 16 else "ca"
    return f"""KERNEL k(float* out, const float* x) {{
        __shared__ __align__(16) float tile[256];
        int i = threadIdx.x;
        if (i < {1024 // width}) {{
            unsigned to = __cvta_generic_to_shared((char*)tile + {width} * i);
            asm volatile("cp.async.{kind}.shared.global [%0], [%1], {width}{source_bytes};"
                         :: "r"(to), "l"((const char*)x + {width} * i), "r"(i % {width + 1}) : "memory");
        }}
        asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        out[i] = tile[i ^ 5];
    }}"""


@pytest.mark.parametrize("width", [4, 8, 16])
def test_copies_of_every_width_arrive_whole(width: int) -> None:
    out = silent(staged(width), block=256, out=Unset("f4", 256), x=X[:256])["out"]
    np.testing.assert_array_equal(out, X[np.arange(256) ^ 5])


@pytest.mark.parametrize("width", [4, 8, 16])
def test_bytes_beyond_the_source_are_zeros_and_never_read(width: int) -> None:
    out = silent(staged(width, ", %2"), block=256, out=Unset("f4", 256), x=X[:256])["out"]
    rows = X[:256].view("u1").reshape(-1, width).copy()
    for i, row in enumerate(rows):
        row[i % (width + 1) :] = 0
    np.testing.assert_array_equal(out, rows.reshape(-1).view("f4")[np.arange(256) ^ 5])


def test_a_source_of_no_bytes_may_lie_anywhere() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        __shared__ float tile[64];
        int i = threadIdx.x;
        unsigned to = __cvta_generic_to_shared(&tile[i]);
        int bytes = i < n ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(to), "l"(x + i), "r"(bytes) : "memory");
        asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        out[i] = tile[63 - i];
    }"""
    out = silent(source, block=64, out=Unset("f4", 64), x=X[:50], n=50)["out"]
    np.testing.assert_array_equal(out[::-1], np.where(np.arange(64) < 50, X[:64], 0))


def unwaited(wait: str, index: str = "i", first: str = "") -> Ran:
    source = f"""KERNEL k(float* out, const float* x) {{
        __shared__ float tile[64];
        int i = threadIdx.x;
        {first}
        unsigned to = __cvta_generic_to_shared(&tile[i]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + i) : "memory"); // copy
        {wait}
        out[i] = tile[{index}]; // read
    }}"""
    return run(source, block=64, out=Unset("f4", 64), x=X[:64])


WAIT = 'asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;" ::: "memory");'


def test_without_a_wait_the_old_value_is_read() -> None:
    ran = unwaited("__syncthreads();", first="tile[i] = -1;")
    np.testing.assert_array_equal(ran["out"], [-1] * 64)


def test_without_a_wait_memory_that_held_nothing_still_holds_nothing() -> None:
    source = """KERNEL k(float* out, const float* x) {
        __shared__ float tile[64];
        unsigned to = __cvta_generic_to_shared(&tile[threadIdx.x]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + threadIdx.x) : "memory");
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x]; // read
    }"""
    hazard = fault(source, block=64, out=Unset("f4", 64), x=X[:64])
    assert (hazard.kind, hazard.line) == ("uninitialised", line_of(source, "read")) and "tile[0]" in hazard.message


def test_an_uncommitted_copy_is_waited_for_by_wait_all() -> None:
    ran = unwaited('asm volatile("cp.async.wait_all;" ::: "memory");')
    np.testing.assert_array_equal(ran["out"], X[:64])


def test_waiting_for_ones_own_copies_does_not_wait_for_another_threads() -> None:
    (race,) = unwaited(WAIT, index="63 - i").hazards
    assert (race.kind, race.line) == ("race", 8) and "line 6" in race.message and "__syncthreads()" in race.message


def test_after_a_wait_and_a_barrier_everything_is_there() -> None:
    ran = unwaited(WAIT + " __syncthreads();", index="63 - i")
    assert ran.hazards == ()
    np.testing.assert_array_equal(ran["out"], X[63::-1])


def test_two_buffers_take_turns() -> None:
    source = """#include <cuda_pipeline_primitives.h>
    KERNEL k(float* out, const float* x, int n) {
        __shared__ float tile[2][64];
        int i = threadIdx.x;
        __pipeline_memcpy_async(&tile[0][i], &x[i], 4);
        __pipeline_commit();
        float sum = 0;
        for (int r = 0; r < n; ++r) {
            if (r + 1 < n) __pipeline_memcpy_async(&tile[(r + 1) & 1][i], &x[64 * (r + 1) + i], 4);
            __pipeline_commit();
            __pipeline_wait_prior(1);
            __syncthreads();
            sum += tile[r & 1][63 - i];
            __syncthreads();
        }
        out[i] = sum;
    }"""
    out = silent(source, block=64, out=Unset("f4", 64), x=X[:640], n=10)["out"]
    np.testing.assert_array_equal(out, X[:640].reshape(10, 64).sum(axis=0)[::-1])


def test_a_second_buffer_refilled_too_early_is_a_race() -> None:
    source = """#include <cuda_pipeline_primitives.h>
    KERNEL k(float* out, const float* x, int n) {
        __shared__ float tile[64];
        int i = threadIdx.x;
        float sum = 0;
        for (int r = 0; r < n; ++r) {
            __pipeline_memcpy_async(&tile[i], &x[64 * r + i], 4); // refill
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            sum += tile[63 - i]; // read
        }
        out[i] = sum;
    }"""
    (race,) = run(source, block=64, out=Unset("f4", 64), x=X[:640], n=10).hazards
    assert (
        race.kind == "race"
        and race.line == line_of(source, "refill")
        and f"line {line_of(source, 'read')}" in race.message
    )


def test_a_copy_from_outside_a_buffer_or_misaligned_is_a_fault() -> None:
    source = """KERNEL k(const float* x, int skip) {
        __shared__ __align__(16) float tile[64];
        unsigned to = __cvta_generic_to_shared(&tile[4 * threadIdx.x]);
        x += 4 * threadIdx.x + skip;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x) : "memory"); // copy
    }"""
    line = line_of(source, "copy")
    past = fault(source, block=16, x=X[:60], skip=0)
    assert (past.kind, past.line, past.thread) == ("out_of_bounds", line, (15, 0, 0)) and "x[60]" in past.message
    askew = fault(source, block=15, x=X[:64], skip=1)
    assert (askew.kind, askew.line) == ("misaligned", line)


@pytest.mark.parametrize(
    "text",
    ["cp.async.mbarrier.arrive.shared.b64 [%r1];", "cp.reduce.async.bulk.global.shared.add.u32 [%rd1], [%r1], 16;"],
)
def test_other_kinds_of_copies_are_refused(text: str) -> None:
    with pytest.raises(Unsupported, match="copy form") as refused:
        run(assembly(text), out=0)
    assert refused.value.line == 1

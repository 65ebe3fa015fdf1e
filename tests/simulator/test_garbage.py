"""Values that nobody wrote: free to be moved and dropped, an error where they are felt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import KernelFault
from tests.simulator.running import Bench, Ran, Unset, assembly, fault, fault_of, line_of, run, silent

SCRATCH = Unset("f4", 64, "scratch")


def refused(source: str, mark: str, *words: str, used: str = "", **launch: Any) -> None:
    """A launch that ends at the line of ``mark``, where the garbage was read, and says where it was used."""
    hazard = fault(source, **launch)
    assert (hazard.kind, hazard.line) == ("uninitialised", line_of(source, mark)), hazard.message
    for word in (*words, *([f"line {line_of(source, used)}"] if used else [])):
        assert word in hazard.message, hazard.message


# --- what may be done with it


def test_garbage_may_be_moved_from_scratch_to_scratch() -> None:
    source = """KERNEL k(float4* to, const float4* from) {
        to[threadIdx.x] = from[threadIdx.x];
    }"""
    silent(source, block=16, to=Unset("f4", 64, "scratch"), origin=SCRATCH)


def test_a_struct_is_copied_whole_with_its_padding() -> None:
    source = """struct Item { float value; char mark; int count; };
    KERNEL k(float* out, Item* items) {
        __shared__ Item mine[32];
        int i = threadIdx.x;
        items[i].value = i; items[i].mark = 3; items[i].count = 2 * i;
        mine[i] = items[i];
        __syncthreads();
        Item other = mine[31 - i];
        out[i] = other.value + other.mark + other.count;
    }"""
    out = silent(source, out=Unset("f4", 32), items=Unset("u1", 12 * 32, "scratch"))["out"]
    np.testing.assert_array_equal(out, 3 * np.arange(31, -1, -1) + 3)


def test_a_vector_that_is_partly_written_gives_the_part_that_was() -> None:
    source = """KERNEL k(float* out, float* x) {
        int i = threadIdx.x;
        x[4 * i] = i; x[4 * i + 2] = 10;
        __syncwarp();
        float4 v = reinterpret_cast<float4*>(x)[i]; // read
        out[i] = v.x + v.z;
    }"""
    np.testing.assert_array_equal(silent(source, block=16, out=Unset("f4", 16), x=SCRATCH)["out"], np.arange(16) + 10)
    refused(source.replace("v.z", "v.y"), "read", "x[0]", block=16, out=Unset("f4", 16), x=SCRATCH)


def test_a_half_of_a_word_that_was_written_is_good() -> None:
    source = """#include <cuda_fp16.h>
    KERNEL k(float* out, __half* x) {
        int i = threadIdx.x;
        x[2 * i] = __int2half_rn(i);
        __syncwarp();
        __half2 v = reinterpret_cast<__half2*>(x)[i]; // read
        out[i] = __low2float(v);
    }"""
    np.testing.assert_array_equal(
        silent(source, out=Unset("f4", 32), x=Unset("f2", 64, "scratch"))["out"], np.arange(32)
    )
    bad = source.replace("__low2float", "__high2float")
    refused(bad, "read", "x[0]", out=Unset("f4", 32), x=Unset("f2", 64, "scratch"))


def test_a_value_that_is_selected_away_was_never_used() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        int i = threadIdx.x;
        float v = x[i];
        out[i] = i < n ? i : v * 2 + 1;
    }"""
    np.testing.assert_array_equal(silent(source, out=Unset("f4", 32), x=SCRATCH, n=99)["out"], np.arange(32))


def test_arithmetic_whose_result_is_dropped_is_none() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        int i = threadIdx.x;
        float sum = 0;
        for (int j = 0; j < 4; ++j) sum = fmaf(x[i + j], 2, sum);
        if (i >= n) out[i] = sum;
    }"""
    silent(source, out=np.zeros(32, "f4"), x=SCRATCH, n=32)


def test_a_register_written_again_is_good_again() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        int i = threadIdx.x;
        float v = x[i];
        #pragma unroll 1
        for (int j = 0; j < n; ++j) v = j;
        out[i] = v;
    }"""
    np.testing.assert_array_equal(silent(source, out=Unset("f4", 32), x=SCRATCH, n=3)["out"], [2] * 32)


def test_only_the_lanes_that_read_it_hold_it() -> None:
    source = """KERNEL k(float* out, float* x) {
        int i = threadIdx.x;
        if (i % 2) x[i] = i;
        __syncwarp();
        float v = x[i];
        if (i % 2) out[i] = v;
    }"""
    np.testing.assert_array_equal(silent(source, out=np.zeros(32, "f4"), x=SCRATCH)["out"][1::2], np.arange(1, 32, 2))


def test_a_whole_new_value_clears_the_mark_of_a_place() -> None:
    source = """KERNEL k(float* out, const float* x) {
        __shared__ float tile[32];
        int i = threadIdx.x;
        tile[i] = x[i];
        tile[i] = i;
        __syncthreads();
        out[i] = tile[31 - i];
    }"""
    silent(source, out=Unset("f4", 32), x=SCRATCH)


# --- where it is felt

USES = {
    "an output": "out[i] = v;",
    "an output after arithmetic": "out[i] = v * 0 + 1;",
    "an address": "out[(int)v & 31] = 1;",
    "an index of a load": "out[i] = table[(int)v & 31];",
    "a branch": "if (v > 0) out[i] = 1;",
    "a loop's condition": "for (int j = 0; j < v; ++j) out[i] = j;",
    "a switch": "switch ((int)v) { case 0: out[0] = 5; break; case 1: out[1] = 2; break; case 2: out[7] = 9; break; "
                "case 3: out[3] = 1; break; case 4: out[3] = 8; break; case 5: out[9] = 8; }",
    "an atomic": "atomicAdd(out, v);",
    "a vote": "out[i] = __ballot_sync(0xFFFFFFFF, v > 0);",
    "a shuffle's lane": "out[i] = __shfl_sync(0xFFFFFFFF, i, (int)v);",
    "a reduction": "out[i] = __reduce_add_sync(0xFFFFFFFF, (int)v);",
    "a barrier's vote": "out[i] = __syncthreads_count(v > 0);",
}  # fmt: skip


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
def test_a_use_that_can_be_felt_is_an_error_at_the_read(use: str) -> None:
    source = f"""KERNEL k(float* out, const float* x, const float* table) {{
        int i = threadIdx.x;
        float v = x[i]; // read
        {use} // use
    }}"""
    refused(source, "read", "thread 0 of block 0", "x[0]", "nothing has written", used="use", out=np.zeros(32, "f4"),
            x=SCRATCH, table=np.zeros(32, "f4"))  # fmt: skip


def test_the_first_lane_that_uses_garbage_is_named() -> None:
    source = """KERNEL k(float* out, float* x) {
        int i = threadIdx.x;
        if (i != 7) x[i] = 1;
        __syncwarp();
        out[i] = x[i]; // read
    }"""
    hazard = fault(source, out=np.zeros(32, "f4"), x=SCRATCH)
    assert hazard.thread == (7, 0, 0) and "x[7]" in hazard.message and hazard.line == line_of(source, "read")


def test_a_local_array_holds_nothing_until_written() -> None:
    source = """KERNEL k(float* out, int n) {
        float x[8];
        for (int j = 0; j < n; ++j) x[j] = j;
        out[threadIdx.x] = x[threadIdx.x & 7]; // read
    }"""
    silent(source, out=Unset("f4", 32), n=8)
    refused(source, "read", "local", out=Unset("f4", 32), n=5)


def test_shared_memory_holds_nothing_until_written_and_is_named() -> None:
    source = """KERNEL k(float* out) {
        __shared__ float a[32], b[32];
        int i = threadIdx.x;
        a[i] = b[0] = i == 0;
        if (i < 20) b[i] = 1;
        __syncthreads();
        out[i] = a[i] + b[i]; // read
    }"""
    hazard = fault(source, grid=2, out=Unset("f4", 32), watch_races=False)
    assert (hazard.kind, hazard.line, hazard.thread) == ("uninitialised", line_of(source, "read"), (20, 0, 0))
    assert "b[20]" in hazard.message and hazard.block == (0, 0, 0)


def test_what_a_block_leaves_in_shared_memory_is_not_there_for_the_next() -> None:
    source = """KERNEL k(float* out) {
        __shared__ float x[32];
        if (blockIdx.x == 0) x[threadIdx.x] = 1;
        __syncthreads();
        out[32 * blockIdx.x + threadIdx.x] = x[threadIdx.x]; // read
    }"""
    silent(source, grid=1, out=Unset("f4", 32))
    assert fault(source, grid=2, out=Unset("f4", 64)).block == (1, 0, 0)


def test_an_output_is_garbage_until_the_kernel_writes_it() -> None:
    source = "KERNEL k(float* out) {\n out[threadIdx.x] += 1; }"
    hazard = fault(source, out=Unset("f4", 32))
    assert (hazard.kind, hazard.line) == ("uninitialised", 2) and "out[0]" in hazard.message


def test_dynamic_shared_memory_is_garbage_too() -> None:
    source = """extern __shared__ int tile[];
    KERNEL k(int* out) {
        out[threadIdx.x] = tile[threadIdx.x]; // read
    }"""
    refused(source, "read", "tile[0]", shared=128, out=Unset("i4", 32))


# --- on its way


def through(middle: str) -> str:
    return f"""KERNEL k(float* out, const float* x) {{
        __shared__ float tile[32];
        int i = threadIdx.x;
        float v = x[i]; // read
        {middle}
    }}"""


@pytest.mark.parametrize(
    "middle",
    [
        "tile[i] = v; __syncthreads(); out[i] = tile[31 - i];",
        "v = __shfl_xor_sync(0xFFFFFFFF, v, 1); out[i] = v;",
        "float a[4] = {1, 2, 3, 4}; a[i & 3] = v; out[i] = a[i & 3];",
        "tile[i] = v; __syncthreads(); v = tile[i ^ 3]; __syncthreads(); tile[i] = v; __syncwarp(); out[i] = tile[i];",
        "unsigned w = __float_as_uint(v) >> 8; out[i] = (w & 0xFF) + 1;",
    ],
    ids=["shared memory", "a shuffle", "a local array", "shared memory twice", "shifts and masks"],
)
def test_garbage_is_followed_to_its_use_and_blamed_on_its_read(middle: str) -> None:
    refused(through(middle), "read", "x[", out=Unset("f4", 32), x=SCRATCH)


def test_a_shuffle_moves_garbage_from_lane_to_lane() -> None:
    source = """KERNEL k(float* out, float* x) {
        int i = threadIdx.x;
        if (i >= 16) x[i] = i;
        __syncwarp();
        float v = __shfl_down_sync(0xFFFFFFFF, x[i], 16);
        if (i < 16) out[i] = v;
    }"""
    np.testing.assert_array_equal(silent(source, out=Unset("f4", 16), x=SCRATCH)["out"], np.arange(16, 32))
    bad = source.replace("i >= 16) x", "i < 16) x")
    assert fault(bad, out=Unset("f4", 16), x=SCRATCH).kind == "uninitialised"


def test_garbage_passes_from_launch_to_launch_with_the_memory() -> None:
    bench = Bench("""KERNEL copy(float* to, const float* from) { to[threadIdx.x] = from[threadIdx.x]; }
    KERNEL show(float* out, const float* x) {
        out[threadIdx.x] = x[threadIdx.x];
    }""")
    one, two = (bench.place(name, Unset("f4", 32, "scratch")) for name in ("one", "two"))
    bench.launch("copy", to=two, origin=one)
    assert fault_of(lambda: bench.launch("show", out=Unset("f4", 32), x=two)).kind == "uninitialised"


# --- exactly which bits

#: Instructions that take %r2 to %r3, one script a line.
MOVES = """
shl.b32 %r3, %r2, 8;
shl.b32 %r3, %r2, 20;
shr.u32 %r3, %r2, 8;
shr.u32 %r3, %r2, 28;
shr.s32 %r3, %r2, 12;
and.b32 %r3, %r2, 0x00FF00F0;
or.b32 %r3, %r2, 0xFF0000FF;
xor.b32 %r3, %r2, 0x12345678;
not.b32 %r3, %r2;
cvt.u32.u8 %r3, %r2;
cvt.s32.s8 %r3, %r2;
cvt.u32.u16 %r3, %r2;
cvt.s32.s16 %r3, %r2;
bfe.u32 %r3, %r2, 4, 12;
bfe.s32 %r3, %r2, 16, 8;
bfi.b32 %r3, %r2, 0x55555555, 8, 12;
bfi.b32 %r3, 0x33, %r2, 8, 16;
prmt.b32 %r3, %r2, 0x01020304, 0x7160;
prmt.b32 %r3, %r2, 0, 0x0123;
lop3.b32 %r3, %r2, 0xFFFF, 0xFF0000, 0xC0;
lop3.b32 %r3, %r2, 0xFF, 0x1, 0x96;
shf.l.wrap.b32 %r3, %r2, %r2, 12;
shf.r.clamp.b32 %r3, %r2, 5, 16;
selp.b32 %r3, %r2, 5, %p1;
selp.b32 %r3, 5, %r2, %p1;
mov.b32 {%h1, %h2}, %r2; cvt.u32.u16 %r3, %h2;
mov.b32 {%h1, %h2}, %r2; mov.b32 %r3, {%h2, %h1};
mov.b64 %rd5, {%r2, 7}; shr.u64 %rd6, %rd5, 8; cvt.u32.u64 %r3, %rd6;
mov.b64 %rd5, {7, %r2}; mov.b64 {%r4, %r3}, %rd5;
cvt.u64.u32 %rd5, %r2; shl.b64 %rd5, %rd5, 24; mov.b64 {%r4, %r3}, %rd5;
st.local.u32 [frame], %r2; ld.local.u16 %r3, [frame+2];
st.local.u16 [frame+4], %r2; ld.local.u32 %r3, [frame+4];
st.shared.u8 [cell+4], %r2; ld.shared.u32 %r3, [cell+4];
""".strip().split("\n")

SETUP = """
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [scratch];
.reg .b16 %h<4>;
.local .align 4 .b8 frame[8];
.shared .align 4 .b8 cell[8];
setp.eq.u64 %p1, %rd2, %rd2;
mov.u32 %r9, 0xA5;
st.local.u32 [frame+4], 0;
st.shared.u32 [cell+4], 0;
""".strip().split("\n")


def moving(script: list[str], written: int) -> str:
    """One thread: write some bytes of a word, send the word through the script, store it to the output."""
    body = list(SETUP)
    body += [f"st.global.u8 [%rd2+{byte}], %r9;" for byte in range(4) if written >> byte & 1]
    body.append("ld.global.u32 %r2, [%rd2];")
    for one in script:
        body += [one, "mov.u32 %r2, %r3;"]
    return assembly("\n".join([*body, "st.global.u32 [%rd1], %r2;"]), ".param .u64 out, .param .u64 scratch")


def moved(text: str, scratch: np.ndarray | Unset) -> Ran | None:
    try:
        return run(text, block=1, out=Unset("u4", 1), scratch=scratch)
    except KernelFault as error:
        assert error.hazard.kind == "uninitialised"
        return None


@settings(max_examples=120, deadline=None)
@given(st.lists(st.sampled_from(MOVES), min_size=1, max_size=4), st.integers(0, 14))
def test_a_store_is_refused_exactly_when_unwritten_bits_can_change_it(script: list[str], written: int) -> None:
    text = moving(script, written)
    fills = [0, 0xFFFFFFFF, 0x5A5A5A5A, 0x12345678, 0x9C71E3D5]
    outcomes = {int(moved(text, np.array([fill], "u4"))["out"][0]) for fill in fills}  # type: ignore[index]
    found = moved(text, Unset("u4", 1, "scratch"))
    assert (found is None) == (len(outcomes) > 1), (script, written, outcomes)

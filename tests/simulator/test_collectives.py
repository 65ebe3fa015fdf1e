"""What a warp does together, against its definition lane by lane."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.running import Unset, assembly, fault, line_of, run, silent

EVERYONE = 0xFFFF_FFFF
lanes32 = st.lists(st.integers(0, EVERYONE), min_size=32, max_size=32)
masks = st.integers(1, EVERYONE)

#: Lanes of a mask, ascending.
Members = list[int]


def members(mask: int) -> Members:
    return [lane for lane in range(32) if mask >> lane & 1]


# --- shuffles

SHUFFLES = """template <int W> __device__ void every(unsigned* out, unsigned v, int by, unsigned mask) {
    out[0] = __shfl_sync(mask, v, by, W);
    out[1] = __shfl_up_sync(mask, v, by, W);
    out[2] = __shfl_down_sync(mask, v, by, W);
    out[3] = __shfl_xor_sync(mask, v, by, W);
}
KERNEL k(unsigned* out, const unsigned* value, const int* by) {
    int i = threadIdx.x;
    every<32>(out + 24 * i, value[i], by[i], 0xFFFFFFFF);
    every<16>(out + 24 * i + 4, value[i], by[i], 0xFFFFFFFF);
    every<8>(out + 24 * i + 8, value[i], by[i], 0xFFFFFFFF);
    every<4>(out + 24 * i + 12, value[i], by[i], 0xFFFFFFFF);
    every<2>(out + 24 * i + 16, value[i], by[i], 0xFFFFFFFF);
    every<1>(out + 24 * i + 20, value[i], by[i], 0xFFFFFFFF);
}"""


def givers(lane: int, by: int, width: int) -> list[int]:
    """Whose value ``lane`` gets from the four kinds of shuffle."""
    start, end = lane // width * width, lane // width * width + width - 1
    index = start | (by & (width - 1))
    up = lane - by if lane - by >= start else lane
    down = lane + by if lane + by <= end else lane
    other = lane ^ by if lane ^ by <= end else lane
    return [index, up, down, other]


@settings(max_examples=25, deadline=None)
@given(lanes32, st.lists(st.integers(0, 31), min_size=32, max_size=32) | st.integers(0, 31).map(lambda by: [by] * 32))
def test_shuffles_take_the_value_their_definition_names(values: list[int], by: list[int]) -> None:
    out = silent(SHUFFLES, out=Unset("u4", 32 * 24), value=np.array(values, "u4"), by=np.array(by, "i4"))["out"]
    expected = [
        values[giver] for lane in range(32) for width in (32, 16, 8, 4, 2, 1) for giver in givers(lane, by[lane], width)
    ]
    np.testing.assert_array_equal(out, expected)


def test_every_warp_shuffles_among_itself() -> None:
    source = "KERNEL k(int* out) { out[threadIdx.x] = __shfl_sync(0xFFFFFFFF, threadIdx.x, 5); }"
    np.testing.assert_array_equal(silent(source, block=128, out=Unset("i4", 128))["out"], np.arange(128) // 32 * 32 + 5)


def test_wide_and_floating_values_are_shuffled_whole() -> None:
    source = """KERNEL k(double* d, long long* l) {
        int i = threadIdx.x;
        d[i] = __shfl_xor_sync(0xFFFFFFFF, i * 0.1, 7);
        l[i] = __shfl_down_sync(0xFFFFFFFF, (long long)i << 33, 3);
    }"""
    ran = silent(source, d=Unset("f8", 32), l=Unset("i8", 32))
    np.testing.assert_array_equal(ran["d"], [(i ^ 7) * 0.1 for i in range(32)])
    np.testing.assert_array_equal(ran["l"], [(i + 3 if i < 29 else i) << 33 for i in range(32)])


def test_the_predicate_of_a_shuffle_says_whether_it_stayed_inside() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd1, %rd1, %rd2;
        shfl.sync.up.b32 %r2|%p1, %r1, 3, 0x1800, 0xFFFFFFFF;
        selp.u32 %r3, 100, 0, %p1;
        add.u32 %r3, %r3, %r2;
        st.global.u32 [%rd1], %r3;
        """
    )
    expected = [100 + i - 3 if i % 8 >= 3 else i for i in range(32)]
    np.testing.assert_array_equal(silent(text, out=Unset("u4", 32))["out"], expected)


DOWN = """KERNEL k(int* out, int n) {
    int i = threadIdx.x;
    if (i < n) {
        unsigned mask = __activemask();
        int other = __shfl_down_sync(mask, i, 2); // shuffle
        out[i] = %s;
    }
}"""


def test_a_value_from_a_lane_that_is_not_there_may_be_dropped() -> None:
    out = silent(DOWN % "i + 2 < n ? other : -1", out=np.zeros(32, "i4"), n=10)["out"]
    np.testing.assert_array_equal(out[:10], [2, 3, 4, 5, 6, 7, 8, 9, -1, -1])


def test_using_a_value_from_a_lane_that_is_not_there_is_an_error_at_the_shuffle() -> None:
    source = DOWN % "other"
    hazard = fault(source, out=np.zeros(32, "i4"), n=10)
    assert hazard.line == line_of(source, "shuffle") and hazard.thread == (8, 0, 0)
    assert "lane 10" in hazard.message


def test_lanes_beyond_the_block_are_not_there_either() -> None:
    source = "KERNEL k(int* out) {\n out[threadIdx.x] = __shfl_down_sync(0xFFFFFFFF, threadIdx.x, 1); }"
    hazard = fault(source, block=40, out=Unset("i4", 40))
    assert hazard.line == 2 and hazard.thread == (39, 0, 0) and "does not exist" in hazard.message


# --- votes, matches, reductions

VOTES = """KERNEL k(unsigned* out, const unsigned* value, unsigned mask, unsigned limit) {
    int i = threadIdx.x;
    if (mask >> i & 1) {
        bool yes = value[i] < limit;
        out[8 * i] = __ballot_sync(mask, yes);
        out[8 * i + 1] = __any_sync(mask, yes);
        out[8 * i + 2] = __all_sync(mask, yes);
        int same;
        out[8 * i + 3] = __match_any_sync(mask, value[i]);
        out[8 * i + 4] = __match_all_sync(mask, value[i], &same);
        out[8 * i + 5] = same;
        out[8 * i + 6] = __match_any_sync(mask, (unsigned long long)value[i] << 32);
        out[8 * i + 7] = __activemask();
    }
}"""


@settings(max_examples=40, deadline=None)
@given(
    masks | st.just(EVERYONE),
    st.lists(st.integers(0, 3), min_size=32, max_size=32) | st.just([2] * 32),
    st.integers(0, 4),
)
def test_votes_and_matches_are_over_the_named_lanes(mask: int, values: list[int], limit: int) -> None:
    ran = silent(VOTES, out=np.zeros(256, "u4"), value=np.array(values, "u4"), mask=mask, limit=limit)
    yes = sum(1 << lane for lane in members(mask) if values[lane] < limit)
    agree = len({values[lane] for lane in members(mask)}) == 1
    for lane, row in enumerate(ran["out"].reshape(32, 8).tolist()):
        same = sum(1 << other for other in members(mask) if values[other] == values[lane])
        expected = [yes, yes != 0, yes == mask, same, mask if agree else 0, agree, same, mask]
        assert row == (expected if mask >> lane & 1 else [0] * 8)


REDUCTIONS: list[tuple[str, str, Callable[[int, int], int]]] = [
    ("__reduce_add_sync", "unsigned", lambda a, b: a + b & EVERYONE),
    ("__reduce_min_sync", "unsigned", min),
    ("__reduce_max_sync", "unsigned", max),
    ("__reduce_min_sync", "int", min),
    ("__reduce_max_sync", "int", max),
    ("__reduce_and_sync", "unsigned", lambda a, b: a & b),
    ("__reduce_or_sync", "unsigned", lambda a, b: a | b),
    ("__reduce_xor_sync", "unsigned", lambda a, b: a ^ b),
]


@pytest.mark.parametrize(
    ("name", "kind", "combine"), REDUCTIONS, ids=[f"{name} {kind}" for name, kind, _ in REDUCTIONS]
)
@settings(max_examples=8, deadline=None)
@given(value=lanes32, split=st.integers(1, EVERYONE - 1))
def test_reductions_are_over_each_group_of_lanes(
    name: str, kind: str, combine: Callable[[int, int], int], value: list[int], split: int
) -> None:
    source = f"""KERNEL k({kind}* out, const {kind}* value, unsigned split) {{
        int i = threadIdx.x;
        unsigned mask = split >> i & 1 ? split : ~split;
        out[i] = {name}(mask, value[i]);
    }}"""
    dtype = "i4" if kind == "int" else "u4"
    values = np.array(value, "u4").view(dtype)
    out = silent(source, out=Unset(dtype, 32), value=values, split=split)["out"]
    for group in (members(split), members(~split & EVERYONE)):
        assert out[group].tolist() == [reduce(combine, [values[lane].item() for lane in group])] * len(group)


def test_parts_of_a_warp_vote_apart_in_one_instruction() -> None:
    source = """KERNEL k(unsigned* out) {
        int i = threadIdx.x;
        unsigned mask = i < 16 ? 0xFFFF : 0xFFFF0000;
        out[i] = __ballot_sync(mask, i % 3 == 0) ^ __shfl_xor_sync(mask, i, 1);
    }"""
    out = silent(source, out=Unset("u4", 32))["out"]
    thirds = sum(1 << i for i in range(0, 32, 3))
    np.testing.assert_array_equal(out, [thirds & (0xFFFF if i < 16 else 0xFFFF0000) ^ (i ^ 1) for i in range(32)])


def test_one_lane_is_elected() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd1, %rd1, %rd2;
        setp.lt.u32 %p2, %r1, 4;
        @%p2 ret;
        elect.sync %r2|%p1, 0xFFFFFFF0;
        selp.u32 %r3, 100, 0, %p1;
        add.u32 %r3, %r3, %r2;
        st.global.u32 [%rd1], %r3;
        """
    )
    np.testing.assert_array_equal(silent(text, out=np.zeros(32, "u4"))["out"], [0] * 4 + [104] + [4] * 27)


def test_uniform_values_are_shuffled_and_voted_on() -> None:
    source = """KERNEL k(unsigned* out, int n) {
        const unsigned all = 0xFFFFFFFF;
        out[threadIdx.x] = __shfl_xor_sync(all, n, 3) + __ballot_sync(all, n == 5) + __reduce_add_sync(all, n);
    }"""
    out = silent(source, out=Unset("u4", 32), n=5)["out"]
    np.testing.assert_array_equal(out, [(5 + EVERYONE + 160) & EVERYONE] * 32)


def test_a_vote_in_a_loop_with_fewer_lanes_each_round() -> None:
    source = """KERNEL k(unsigned* out) {
        int i = threadIdx.x;
        unsigned mask = 0xFFFFFFFF, sum = 0;
        for (int round = 0; round < 8; ++round) {
            mask = __ballot_sync(mask, i >= 4 * round);
            if (i < 4 * round) break;
            sum = sum * 3 + __popc(mask) + __shfl_sync(mask, i, 31);
        }
        out[i] = sum;
    }"""

    def alone(i: int) -> int:
        total = 0
        for step in range(i // 4 + 1):
            total = total * 3 + 32 - 4 * step + 31
        return total

    np.testing.assert_array_equal(silent(source, out=Unset("u4", 32))["out"], [alone(i) for i in range(32)])


def test_a_warp_sum_of_a_partial_block_is_right_with_neutral_values() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float v = i < n ? x[i] : 0;
        for (int by = 16; by; by /= 2) v += __shfl_down_sync(0xFFFFFFFF, v, by);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);
    }"""
    x = np.arange(150, dtype="f4")
    assert run(source, grid=3, block=64, out=np.zeros(1, "f4"), x=x, n=150)["out"][0] == x.sum()

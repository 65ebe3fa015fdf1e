"""Atomics: what many lanes do to few cells is what they would do one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.running import Unset, assembly, fault, line_of, run, silent

LANES = 70
U32 = (1 << 32) - 1

Number = int | float
#: (C++ function, C++ type, dtype, what one lane does to the cell)
Rule = tuple[str, str, str, Callable[[Number, Number], Number]]
RULES: list[Rule] = [
    ("atomicAdd", "int", "i4", lambda old, x: old + x),
    ("atomicAdd", "unsigned", "u4", lambda old, x: old + x),
    ("atomicAdd", "unsigned long long", "u8", lambda old, x: old + x),
    ("atomicAdd", "float", "f4", lambda old, x: np.float32(old) + np.float32(x)),
    ("atomicAdd", "double", "f8", lambda old, x: old + x),
    ("atomicSub", "int", "i4", lambda old, x: old - x),
    ("atomicMin", "int", "i4", min),
    ("atomicMax", "int", "i4", max),
    ("atomicMin", "unsigned", "u4", min),
    ("atomicMax", "unsigned", "u4", max),
    ("atomicMin", "long long", "i8", min),
    ("atomicMax", "unsigned long long", "u8", max),
    ("atomicInc", "unsigned", "u4", lambda old, x: 0 if old >= x else old + 1),
    ("atomicDec", "unsigned", "u4", lambda old, x: x if old == 0 or old > x else old - 1),
    ("atomicAnd", "unsigned", "u4", lambda old, x: old & x),
    ("atomicOr", "unsigned long long", "u8", lambda old, x: old | x),
    ("atomicXor", "int", "i4", lambda old, x: old ^ x),
    ("atomicExch", "float", "f4", lambda old, x: x),
    ("atomicExch", "unsigned long long", "u8", lambda old, x: x),
]
IDS = [f"{name} {kind}" for name, kind, _, _ in RULES]

SOURCE = """KERNEL answered({type}* cells, const int* place, const {type}* value, {type}* old) {{
    int i = threadIdx.x;
    if (place[i] >= 0) old[i] = {name}(&cells[place[i]], value[i]);
}}
KERNEL unanswered({type}* cells, const int* place, const {type}* value, {type}* old) {{
    int i = threadIdx.x;
    if (place[i] >= 0) {name}(&cells[place[i]], value[i]);
    old[i] = 0;
}}
KERNEL in_shared({type}* cells, const int* place, const {type}* value, {type}* old) {{
    __shared__ {type} mine[8];
    int i = threadIdx.x;
    if (i < 8) mine[i] = cells[i];
    __syncthreads();
    if (place[i] >= 0) old[i] = {name}(&mine[place[i]], value[i]);
    __syncthreads();
    if (i < 8) cells[i] = mine[i];
}}"""

#: Few cells with many lanes each, or many with few; -1 for a lane that does nothing.
places = st.sampled_from([0, 1, 3, 7]).flatmap(
    lambda last: st.lists(st.integers(-1, last), min_size=LANES, max_size=LANES)
)


def sequential(rule: Rule, cells: np.ndarray, place: list[int], value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells and old values after every lane had its turn, in lane order."""
    now, old = list(cells.tolist()), np.zeros(LANES, cells.dtype)
    wrap = (1 << 8 * cells.itemsize) - 1
    for lane, where in enumerate(place):
        if where < 0:
            continue
        old[lane] = now[where]
        result = rule[3](now[where], value[lane].item())
        if cells.dtype.kind in "iu":
            result = np.array([int(result) & wrap], f"u{cells.itemsize}").view(cells.dtype)[0].item()
        now[where] = result
    return np.array(now, cells.dtype), old


@pytest.mark.parametrize("kernel", ["answered", "unanswered", "in_shared"])
@pytest.mark.parametrize("rule", RULES, ids=IDS)
@settings(max_examples=5, deadline=None)
@given(place=places, seed=st.integers(0, 1000))
def test_every_lane_has_its_turn(rule: Rule, kernel: str, place: list[int], seed: int) -> None:
    name, kind, dtype, _ = rule
    rng = np.random.default_rng(seed)
    small = rng.random() < 0.5
    draw = rng.integers(0, 6 if small else 1 << 31, LANES + 8)
    numbers = draw.astype(dtype) - np.array(3, dtype) if dtype[0] != "u" else draw.astype(dtype)
    cells, value = numbers[:8], numbers[8:]
    expected, old = sequential(rule, cells, place, value)
    ran = silent(
        SOURCE.format(name=name, type=kind), kernel, block=LANES, cells=cells, place=np.array(place, "i4"), value=value,
        old=np.zeros(LANES, dtype),
    )  # fmt: skip
    np.testing.assert_array_equal(ran["cells"], expected)
    if kernel != "unanswered":
        np.testing.assert_array_equal(ran["old"], old)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, LANES)), min_size=LANES, max_size=LANES))
def test_compare_and_swap_is_what_some_order_of_the_lanes_gives(asks: list[tuple[int, int]]) -> None:
    """Lane i swaps in the value i + 1, which no other does, so the values of a cell tell the order of the swaps."""
    source = """typedef unsigned long long u64;
    KERNEL k(u64* cells, const int* place, const u64* compare, u64* old) {
        int i = threadIdx.x;
        old[i] = atomicCAS(&cells[place[i]], compare[i], i + 1ull);
    }"""
    place, compare = np.array(asks, "i4").T
    ran = silent(
        source, block=LANES, cells=np.zeros(3, "u8"), place=np.ascontiguousarray(place), compare=compare.astype("u8"),
        old=Unset("u8", LANES),
    )  # fmt: skip
    old = ran["old"].astype(int)
    for cell in range(3):
        here = np.flatnonzero(place == cell)
        swapped = {int(compare[lane]): int(lane) for lane in here if old[lane] == compare[lane]}
        now, values = 0, [0]
        while now in swapped:
            now = swapped.pop(now) + 1
            values.append(now)
        assert not swapped and ran["cells"][cell] == now and set(old[here]) <= set(values)
        assert not (compare[here] == 0).any() or now


def test_a_maximum_of_floats_by_swaps_ends() -> None:
    source = """KERNEL k(float* best, const float* x) {
        float mine = x[threadIdx.x];
        int* cell = (int*)best;
        int seen = *cell;
        while (__int_as_float(seen) < mine) {
            int before = atomicCAS(cell, seen, __float_as_int(mine));
            if (before == seen) break;
            seen = before;
        }
    }"""
    x = np.random.default_rng(1).normal(size=1024).astype("f4")
    ran = silent(source, block=1024, best=np.full(1, -np.inf, "f4"), x=x)
    assert ran["best"][0] == x.max()


def test_halves_are_added_two_at_a_time() -> None:
    source = """#include <cuda_fp16.h>
    KERNEL k(__half2* total, const __half2* x) { atomicAdd(total, x[threadIdx.x]); }"""
    x = np.arange(64, dtype="f2") / 8
    total = silent(source, total=np.zeros(2, "f2"), x=x)["total"]
    np.testing.assert_array_equal(total, [x[0::2].sum(), x[1::2].sum()])


def test_a_generic_address_may_be_shared_for_one_lane_and_global_for_the_next() -> None:
    source = """KERNEL k(int* total) {
        __shared__ int mine;
        mine = 0;
        __syncwarp();
        atomicAdd(threadIdx.x % 3 ? total : &mine, 1);
        __syncwarp();
        if (threadIdx.x == 0) total[1] = mine;
    }"""
    ran = run(source, total=np.zeros(2, "i4"))
    np.testing.assert_array_equal(ran["total"], [21, 11])


def test_an_atomic_of_a_whole_grid_is_exact() -> None:
    source = "KERNEL k(unsigned* count, unsigned* seen) { seen[atomicAdd(count, 1)] += 1; }"
    ran = silent(source, grid=300, block=256, count=np.zeros(1, "u4"), seen=np.zeros(300 * 256, "u4"))
    assert ran["count"][0] == 300 * 256 and (ran["seen"] == 1).all()


def test_an_atomic_on_what_nobody_wrote_is_a_use_of_it_but_an_exchange_is_none() -> None:
    source = """KERNEL add(int* count) {
        atomicAdd(count, 1); // use
    }
    KERNEL put(int* count) { atomicExch(count, 1); }"""
    hazard = fault(source, "add", count=Unset("i4", 1, "scratch"))
    assert (hazard.kind, hazard.line) == ("uninitialised", line_of(source, "use")) and "count[0]" in hazard.message
    assert silent(source, "put", count=Unset("i4", 1, "scratch"))["count"][0] == 1


def test_what_an_exchange_gives_back_is_garbage_the_first_time() -> None:
    source = """KERNEL k(int* count, int* out) {
        out[threadIdx.x] = atomicExch(count, 1); // use
    }"""
    hazard = fault(source, count=Unset("i4", 1, "scratch"), out=Unset("i4", 32))
    assert (hazard.kind, hazard.line) == ("uninitialised", line_of(source, "use"))


def test_an_atomic_out_of_bounds_or_misaligned_is_named_as_an_update() -> None:
    source = "KERNEL k(int* count, int n) { atomicAdd((int*)((char*)count + n), 1); }"
    past = fault(source, count=np.zeros(4, "i4"), n=16)
    assert past.kind == "out_of_bounds" and "updates 4 bytes" in past.message
    assert fault(source, count=np.zeros(4, "i4"), n=2).kind == "misaligned"


def test_an_answer_that_nobody_reads_is_none() -> None:
    text = assembly("ld.param.u64 %rd1, [out];\natom.global.add.u32 %r1, [%rd1], 2;\nred.global.max.u32 [%rd1], 50;")
    assert silent(text, block=8, out=np.zeros(1, "u4"))["out"][0] == 50

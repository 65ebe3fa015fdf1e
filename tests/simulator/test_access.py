"""Loads and stores: every width and vector, alignment, and what an access that faults leaves behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.results import Hazard
from tests.simulator.running import Bench, Unset, assembly, fault, fault_of, line_of, run, silent

BYTES = np.arange(256, dtype="u1") * 37 + 11
KINDS = [(kind, n) for kind in ("u8", "u16", "u32", "u64", "f32", "f64") for n in (1, 2, 4) if int(kind[1:]) * n <= 128]


@pytest.mark.parametrize(("kind", "count"), KINDS)
def test_vectors_of_every_width_are_copied_whole(kind: str, count: int) -> None:
    width = int(kind[1:]) // 8 * count
    letter = "%f" if kind == "f32" else "%d" if kind == "f64" else "%rd" if kind == "u64" else "%r"
    names = ", ".join(f"{letter}{10 + n}" for n in range(count))
    vector, braces = ("", names) if count == 1 else (f".v{count}", f"{{{names}}}")
    text = assembly(
        f"""
        .reg .f64 %d<20>;
        ld.param.u64 %rd1, [out];
        ld.param.u64 %rd2, [data];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, {width};
        add.s64 %rd1, %rd1, %rd3;
        add.s64 %rd2, %rd2, %rd3;
        ld.global{vector}.{kind} {braces}, [%rd2+{width}];
        st.global{vector}.{kind} [%rd1], {braces};
        """,
        ".param .u64 out, .param .u64 data",
    )
    out = silent(text, block=15, out=Unset("u1", 15 * width), data=BYTES[: 16 * width])["out"]
    np.testing.assert_array_equal(out, BYTES[width : 16 * width])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 63), min_size=32, max_size=32), st.lists(st.integers(0, 255), min_size=32, max_size=32))
def test_scattered_bytes_leave_their_neighbours_alone(places: list[int], values: list[int]) -> None:
    source = """KERNEL k(unsigned char* out, const unsigned char* place, const unsigned char* value) {
        out[place[threadIdx.x]] = value[threadIdx.x];
    }"""
    out = run(source, out=BYTES[:64], place=np.array(places, "u1"), value=np.array(values, "u1"))["out"]
    expected = BYTES[:64].copy()
    for place, value in zip(places, values, strict=True):
        expected[place] = value  # where lanes meet, the highest one's value stays
    np.testing.assert_array_equal(out, expected)


def test_inputs_may_be_read_through_the_read_only_path_and_hints() -> None:
    source = """KERNEL k(float* out, const float* __restrict__ x) {
        int i = threadIdx.x;
        __stcs(out + i, __ldg(x + i) + __ldcs(x + i) + __ldcg(x + i));
    }"""
    x = np.arange(32, dtype="f4")
    np.testing.assert_array_equal(silent(source, out=Unset("f4", 32), x=x)["out"], 3 * x)


def check(hazard: Hazard, kind: str, line: int, thread: int, *words: str, block: int = 0) -> None:
    assert (hazard.kind, hazard.line) == (kind, line), hazard.message
    assert (hazard.block, hazard.thread) == ((block, 0, 0), (thread, 0, 0))
    assert f"thread {thread} of block {block}" in hazard.message
    for word in words:
        assert word in hazard.message, hazard.message


def test_nothing_is_written_by_an_access_that_faults() -> None:
    bench = Bench("KERNEL k(float* out, const float* x) {\n out[threadIdx.x] = x[threadIdx.x];\n}")
    fault_of(lambda: bench.launch(block=40, out=np.full(33, 7, "f4"), x=np.zeros(64, "f4")))
    np.testing.assert_array_equal(bench.array("out"), np.full(33, 7))


@pytest.mark.parametrize(("vector", "width"), [("float4", 16), ("float2", 8), ("double", 8)])
def test_a_misaligned_vector_names_its_type_and_what_it_needs(vector: str, width: int) -> None:
    source = f"""KERNEL k({vector}* out, const float* x) {{
        out[threadIdx.x] = reinterpret_cast<const {vector}*>(x + 1)[threadIdx.x]; // access
    }}"""
    hazard = fault(source, block=4, out=Unset("f4", 16), x=np.zeros(64, "f4"))
    check(
        hazard,
        "misaligned",
        line_of(source, "access"),
        0,
        f"{width} bytes at x + 4 bytes",
        f"multiple of {width} bytes",
    )
    assert vector in (hazard.remedy or "")


def test_only_the_misaligned_lane_is_blamed() -> None:
    source = """KERNEL k(float* out, const float* x) {
        int i = threadIdx.x;
        *reinterpret_cast<float2*>(out + 2 * i + (i == 5)) = make_float2(x[i], x[i]);
    }"""
    check(fault(source, block=8, out=Unset("f4", 20), x=np.zeros(8, "f4")), "misaligned", 3, 5, "writes 8 bytes")


def test_a_write_to_constant_memory_is_refused() -> None:
    source = """__constant__ int table[4];
    KERNEL address(const int** out) { out[0] = table; }
    KERNEL k(int* where) {
        where[threadIdx.x] = 1;
    }"""
    bench = Bench(source)
    place = bench.launch("address", block=1, out=Unset("u8", 1))["out"][0]
    check(
        fault_of(lambda: bench.launch("k", block=4, where=int(place))),
        "read_only",
        4,
        0,
        "writes table",
        "__constant__",
    )

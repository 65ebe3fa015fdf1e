"""C++ variables without a value: registers that are read before anything wrote them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import KernelFault
from harness.simulator.kernel import Kernel
from harness.simulator.slicing import lean
from tests.simulator.programs import (
    MASK,
    REGISTERS,
    SLOTS,
    TABLE,
    Collective,
    Lane,
    Node,
    Statement,
    arrays,
    graph_text,
    graphs,
    program_text,
    programs,
    run_graph,
    run_program,
)
from tests.simulator.running import Bench, Unset, assembly, fault, line_of, module, silent

WORDS = "uses a variable before it has a value"


def unset(kernel: Kernel) -> set[str]:
    """The names of the registers that may be read before they are written."""
    return {name for name, number in kernel.numbers.items() if number in kernel.unset}


# --- which registers


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("mov.u32 %r1, 5;\nadd.u32 %r2, %r1, %r1;", set()),
        ("add.u32 %r2, %r1, %r1;", {"%r1"}),
        ("mov.u32 %r1, %tid.x;\nmov.u64 %rd1, %clock64;", set()),
        ("setp.eq.u32 %p1, 1, 1;\n@%p1 mov.u32 %r1, 5;", {"%r1"}),
        ("@%p1 bra END;\nmov.u32 %r1, 5;\nEND:\nadd.u32 %r2, %r1, 1;", {"%p1", "%r1"}),
        ("LOOP:\nmov.u32 %r1, %tid.x;\nadd.f32 %f1, %f1, %f1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;", {"%f1"}),
        ("bra END;\nadd.u32 %r2, %r1, 1;\nEND:", set()),
        ("add.cc.u32 %r1, 1, 2;\naddc.u32 %r2, 1, 2;", set()),
        ("mov.b64 {%r1, %r2}, %rd1;\nst.shared.v2.u32 [cell], {%r2, %r3};", {"%rd1", "%r3"}),
    ],
)
def test_registers_that_some_way_reads_before_it_writes_them_are_known(body: str, names: set[str]) -> None:
    text = assembly(f"{body}\nret;", extra=".shared .align 8 .b8 cell[8];")
    assert unset(module(text).kernel("main")) == names


def test_a_kernel_that_is_only_counted_has_none() -> None:
    kernel = module(assembly("add.u32 %r2, %r1, %r1;\nret;")).kernel("main")
    assert kernel.unset and not lean(kernel).unset


def test_registers_of_a_called_function_count_too() -> None:
    source = """__device__ __noinline__ float sum(const float* x, int n) {
        float total;
        for (int j = 0; j < n; ++j) total += x[j]; // use
        return total;
    }
    KERNEL k(float* out, const float* x, int n) {
        out[threadIdx.x] = sum(x, n); // felt
    }"""
    hazard = fault(source, out=Unset("f4", 32), x=np.ones(8, "f4"), n=8)
    assert (hazard.kind, hazard.line) == ("uninitialised", line_of(source, "use"))
    assert len(unset(module(source).kernel("k"))) == 1


# --- where it is felt


def test_the_first_use_is_named_and_where_its_result_goes() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        float sum;
        for (int j = 0; j < n; ++j)
            sum += x[j]; // use
        out[threadIdx.x] = sum; // felt
    }"""
    hazard = fault(source, out=Unset("f4", 32), x=np.ones(8, "f4"), n=8)
    assert (hazard.kind, hazard.line, hazard.thread) == ("uninitialised", line_of(source, "use"), (0, 0, 0))
    assert f"{WORDS}, and the result on line {line_of(source, 'felt')}" in hazard.message
    assert "where it is declared" in (hazard.remedy or "") and "a variable" in (hazard.title or "")


def test_the_first_thread_that_has_no_value_is_named() -> None:
    source = """KERNEL k(float* out, const float* x) {
        int i = threadIdx.x;
        float v;
        if (i != 7) v = x[i];
        v += __shfl_xor_sync(0xFFFFFFFF, v, 1); // use
        out[i] = v;
    }"""
    hazard = fault(source, grid=2, out=Unset("f4", 32), x=np.ones(32, "f4"), watch_races=False)
    assert (hazard.kind, hazard.line, hazard.thread) == ("uninitialised", line_of(source, "use"), (6, 0, 0))


USES = {
    "an output": "out[i] = v;",
    "an address": "out[v & 31] = 1;",
    "a branch": "if (v & 5) out[i] = 1;",
    "an atomic": "atomicAdd(out, v);",
    "a reduction": "out[i] = __reduce_add_sync(0xFFFFFFFF, v);",
    "an output behind shared memory": "cell[i] = v; __syncthreads(); out[i] = cell[i ^ 1];",
    "an output behind a local array": "int a[4] = {1, 2, 3, 4}; a[i & 3] = v; out[i] = a[i & 3];",
}


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
def test_a_use_that_can_be_felt_is_an_error_at_the_first_use(use: str) -> None:
    source = f"""KERNEL k(int* out, const int* x, int n) {{
        __shared__ int cell[32];
        int i = threadIdx.x;
        int v;
        if (i < n) v = x[i];
        v = __shfl_sync(0xFFFFFFFF, v, i ^ 2) + 1; // first
        cell[i] = 0;
        {use}
    }}"""
    hazard = fault(source, out=np.zeros(32, "i4"), x=np.zeros(32, "i4"), n=9)
    assert (hazard.kind, hazard.line) == ("uninitialised", line_of(source, "first")), hazard.message
    assert WORDS in hazard.message
    silent(source, out=np.zeros(32, "i4"), x=np.arange(32, dtype="i4"), n=32, watch_races=False)


# --- what may be done with it


def test_a_value_that_only_its_own_thread_had_may_be_dropped() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        int i = threadIdx.x;
        float v;
        if (i < n) v = x[i];
        float same = __shfl_sync(0xFFFFFFFF, v, i);
        if (i < n) out[i] = same;
    }"""
    silent(source, out=np.zeros(32, "f4"), x=np.ones(32, "f4"), n=9)


def test_a_value_that_is_selected_away_was_never_used() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        int i = threadIdx.x;
        float v;
        if (i < n) v = x[i];
        float next = __shfl_down_sync(0xFFFFFFFF, v, 1);
        out[i] = i + 1 < n ? next + v : 0.0f;
    }"""
    silent(source, out=Unset("f4", 32), x=np.ones(32, "f4"), n=9)


def test_a_variable_that_the_first_round_sets_has_a_value_in_the_next() -> None:
    source = """KERNEL k(float* out, const float* x, int n) {
        float sum;
        for (int j = 0; j < n; ++j) {
            if (j == 0) sum = x[j]; else sum += x[j]; // use
        }
        out[threadIdx.x] = sum;
    }"""
    np.testing.assert_array_equal(silent(source, out=Unset("f4", 32), x=np.ones(8, "f4"), n=8)["out"], [8] * 32)
    assert fault(source, out=Unset("f4", 32), x=np.ones(8, "f4"), n=0).kind == "uninitialised"


def test_one_set_by_every_way_of_a_switch_has_a_value() -> None:
    source = """KERNEL k(int* out, const int* x) {
        int i = threadIdx.x, v;
        switch (i & 3) {
            case 0: v = x[0]; break;
            case 1: v = x[i]; break;
            case 2: v = x[31 - i]; break;
            case 3: v = x[i ^ 1]; break;
        }
        out[i] = v;
    }"""
    silent(source, out=Unset("i4", 32), x=np.arange(32, dtype="i4"))


def ptx(*lines: str) -> str:
    """A kernel whose %rd1 is its thread's place in the output, %r9 its number, and %p9 whether that is below 16."""
    start = ["ld.param.u64 %rd1, [out];", "mov.u32 %r9, %tid.x;", "mul.wide.u32 %rd2, %r9, 4;",
             "add.s64 %rd1, %rd1, %rd2;", "setp.lt.u32 %p9, %r9, 16;"]  # fmt: skip
    return assembly("\n".join([*start, *lines, "ret;"]))


def test_a_guarded_write_gives_a_value_to_its_lanes_alone() -> None:
    lines = ["@%p9 mov.u32 %r1, 7;", "{} st.global.u32 [%rd1], %r1;"]
    out = silent(ptx(lines[0], lines[1].format("@%p9")), out=np.zeros(32, "u4"))["out"]
    np.testing.assert_array_equal(out, [7] * 16 + [0] * 16)
    hazard = fault(ptx(lines[0], lines[1].format("")), out=np.zeros(32, "u4"))
    assert (hazard.kind, hazard.line, hazard.thread) == ("uninitialised", 7, (16, 0, 0))


def test_what_some_lanes_do_with_a_register_gives_no_value_to_others() -> None:
    lines = ["@%p9 mov.u32 %r1, 1;", "@!%p9 bra JOIN;", "add.u32 %r1, %r2, 1;", "NEXT:", "mov.u32 %r1, 5;", "JOIN:"]
    hazard = fault(ptx(*lines, "st.global.u32 [%rd1], %r1;"), out=np.zeros(32, "u4"))
    assert (hazard.kind, hazard.thread) == ("uninitialised", (16, 0, 0))
    silent(ptx(*lines, "@%p9 st.global.u32 [%rd1], %r1;"), out=np.zeros(32, "u4"))


PREDICATES = {
    "a guard": "@%p1 st.global.u32 [%rd1], 1;",
    "a branch": "@%p1 bra END;\nst.global.u32 [%rd1], 1;\nEND:",
    "a selection": "selp.u32 %r1, 1, 2, %p1;\nst.global.u32 [%rd1], %r1;",
    "a vote": "vote.sync.ballot.b32 %r1, %p1, -1;\nst.global.u32 [%rd1], %r1;",
    "arithmetic": "or.pred %p2, %p1, %p9;\nselp.u32 %r1, 1, 2, %p2;\nst.global.u32 [%rd1], %r1;",
}


@pytest.mark.parametrize("use", PREDICATES.values(), ids=list(PREDICATES))
def test_predicates_without_a_value_are_felt_too(use: str) -> None:
    set_here = "setp.eq.u32 %p1, %r9, 3;"
    assert fault(ptx(use), out=np.zeros(32, "u4")).kind == "uninitialised"
    assert fault(ptx(f"@%p9 {set_here}", use), out=np.zeros(32, "u4")).thread == (16, 0, 0)
    silent(ptx(set_here, use), out=np.zeros(32, "u4"))


def test_a_predicate_that_another_decides_needs_no_value() -> None:
    use = ["mov.pred %p3, %p1;", "and.pred %p2, %p3, %p9;", "@%p9 setp.eq.u32 %p2, %r9, 3;",
           "selp.u32 %r1, 1, 2, %p2;", "st.global.u32 [%rd1], %r1;"]  # fmt: skip
    out = silent(ptx(*use), out=np.zeros(32, "u4"))["out"]
    np.testing.assert_array_equal(out, [1 if n == 3 else 2 for n in range(32)])


# --- random programs


class Felt(Exception):
    """A value that nobody set decides something."""


class Vague:
    """A word without a value: arithmetic gives another, a decision by it is felt."""

    def _vague(self, *others: object) -> Vague:
        return self

    def _felt(self, *others: object) -> NoReturn:
        raise Felt

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _vague
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _vague
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _vague
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __index__ = _felt
    __eq__ = __ne__ = _felt
    __hash__ = None  # type: ignore[assignment]


GRID, BLOCK = 2, 64
SLOTS_OF_ALL = np.zeros(GRID * BLOCK * SLOTS, "u4")
FILLS = (0, MASK, 0x5A5A_5A5A, 0x9E37_79B9)
missing = st.sets(st.integers(0, REGISTERS - 1), min_size=1, max_size=2)


def lanes_with(missing: set[int], fill: Any) -> list[Lane]:
    """All lanes, with ``fill`` where nothing is set."""
    lanes = [Lane.of(n) for n in range(GRID * BLOCK)]
    for lane in lanes:
        for n in missing:
            lane.registers[n] = fill
    return lanes


def without(text: str, missing: set[int]) -> str:
    """The kernel without the instructions that set these registers at its start."""
    for n in missing:
        text = text.replace(f"mad.lo.u32 %r{n}, %r23, {2 * n + 3}, {n};", "")
    return text


def launched(text: str) -> np.ndarray | None:
    """The output that a launch leaves, None where it ends at a value that nobody set."""
    bench = Bench(text)
    memory = bench.memory.allocate("memory", 4 * GRID * BLOCK * SLOTS, data=SLOTS_OF_ALL, kind="scratch")
    try:
        return bench.launch(grid=GRID, block=BLOCK, out=np.zeros(GRID * BLOCK * REGISTERS, "u4"),
                            table=np.array(TABLE, "u4"), memory=memory)["out"]  # fmt: skip
    except KernelFault as error:
        assert error.hazard.kind == "uninitialised"
        return None


def compare(text: str, missing: set[int], work: Callable[[list[Lane]], object]) -> None:
    """A launch ends early only if a thread, followed by itself, feels a value that nobody set; it always does if such
    a value can change the output. ``work`` is the program, done by all lanes."""
    left = launched(without(text, missing))
    outcomes = set()
    for fill in FILLS:
        lanes = lanes_with(missing, fill)
        work(lanes)
        outcomes.add(arrays(lanes)[0].tobytes())
    if left is None:
        assert is_felt(missing, work), "nothing was felt"
    else:
        assert outcomes == {left.tobytes()}


def is_felt(missing: set[int], work: Callable[[list[Lane]], object]) -> bool:
    """Whether a value that nobody set decides something or is stored to the output."""
    lanes = lanes_with(missing, Vague())
    try:
        work(lanes)
    except Felt:
        return True
    return any(isinstance(value, Vague) for lane in lanes if not lane.done for value in lane.registers)


@settings(max_examples=60, deadline=None)
@given(programs, missing)
def test_structured_programs_end_where_a_value_that_nobody_set_is_felt(
    program: list[Statement | Collective], missing: set[int]
) -> None:
    compare(program_text(program), missing, lambda lanes: run_program(program, lanes, BLOCK))


@settings(max_examples=60, deadline=None)
@given(graphs, missing)
def test_any_graph_of_blocks_ends_where_a_value_that_nobody_set_is_felt(graph: list[Node], missing: set[int]) -> None:
    compare(graph_text(graph), missing, lambda lanes: [run_graph(graph, lane) for lane in lanes])


@pytest.mark.parametrize("what", ["ld.global.u32 %r2, [%rd1]", "atom.global.add.u32 %r2, [%rd1], 1"])
def test_what_an_instruction_under_a_guard_leaves_as_it_was_is_no_use_of_it(what: str) -> None:
    body = f"""ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 16;
@%p1 {what};
@%p1 {what};
@%p1 st.global.u32 [%rd1], %r2;
ret;"""
    silent(assembly(body), out=np.zeros(1, "u4"), watch_races=False)

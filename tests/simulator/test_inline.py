"""Calls inlined: each with registers, labels and parameters of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from harness.errors import Unsupported
from harness.simulator.inline import Flat, builtin_call, inline
from harness.simulator.parser import parse
from harness.simulator.ptx import Instruction
from tests.simulator.running import assembly, compiled

TWICE = """
.func (.param .b32 result) twice (.param .b32 x) {
.reg .b32 %r<3>;
ld.param.u32 %r1, [x];
add.u32 %r2, %r1, %r1;
st.param.b32 [result], %r2;
ret;
}
"""
CALLS = """
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %r1;
call.uni (b), twice, (a);
ld.param.b32 %r2, [b];
}
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %r2;
call.uni (b), twice, (a);
ld.param.b32 %r3, [b];
}
"""


def instructions(flat: Flat) -> Iterator[Instruction]:
    return (item for item in flat.body if isinstance(item, Instruction))


def test_each_call_gets_registers_labels_and_parameters_of_its_own() -> None:
    flat = inline(parse(assembly(CALLS, extra=TWICE)), "main")
    assert not any(item.opcode == "call" for item in instructions(flat))
    added = [item.operands[0] for item in instructions(flat) if item.opcode == "add"]
    assert len(added) == len(set(added)) == 2
    labels = [item for item in flat.body if isinstance(item, str)]
    assert len(labels) == len(set(labels))


def test_a_functions_own_shared_variable_is_one_for_all_its_calls() -> None:
    source = """__device__ __noinline__ int* mine() { __shared__ int x[4]; return x; }
    KERNEL k(unsigned long long* out) { out[0] = mine() - (int*)0; out[1] = mine() - (int*)0; }"""
    flat = inline(parse(compiled(source)), "k")
    assert sum(variable.space == "shared" for variable in flat.variables.values()) == 1


def test_functions_without_a_body_stay_calls() -> None:
    flat = inline(parse(compiled('KERNEL k() { printf("%d", threadIdx.x); }')), "k")
    (call,) = (item for item in instructions(flat) if item.opcode == "call")
    results, name, arguments = builtin_call(call)
    assert name == "vprintf" and len(results) == 1 and len(arguments) == 2
    assert set(results + arguments) <= flat.variables.keys()


def test_recursion_through_a_second_function_is_refused() -> None:
    extra = """
    .func b (); .func a () { call b; ret; } .func b () { call a; ret; }
    """
    with pytest.raises(Unsupported, match="calls itself") as refused:
        inline(parse(assembly("call a;", extra=extra)), "main")
    assert re.search("loop", refused.value.remedy or "")


def test_a_call_with_another_number_of_arguments_is_refused() -> None:
    with pytest.raises(Unsupported, match="another number of arguments"):
        inline(parse(assembly("{\n.param .b32 a;\ncall twice, (a);\n}", extra=TWICE)), "main")

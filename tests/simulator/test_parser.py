"""PTX text to records: every form of statement and operand that a compiler or a person writes."""

from __future__ import annotations

import struct

import pytest

from harness.errors import Unsupported
from harness.simulator.parser import parse
from harness.simulator.ptx import Address, Function, Immediate, Instruction, Operand, Register, Symbol, Vector
from tests.simulator.running import assembly, compiled


def main(body: str, extra: str = "") -> Function:
    return parse(assembly(body, extra=extra), "kernel.cu").functions["main"]


def one(text: str) -> Instruction:
    (instruction,) = (item for item in main(text).body if isinstance(item, Instruction))
    return instruction


def source(text: str) -> Operand:
    return one(f"mov.b32 %r1, {text};").operands[1]


def test_an_instruction_has_an_opcode_modifiers_types_and_a_guard() -> None:
    instruction = one("@!%p3 cvt.rn.sat.f32.s32 %f1, %r2;")
    assert (instruction.opcode, instruction.modifiers) == ("cvt", ("rn", "sat", "f32", "s32"))
    assert instruction.types == ("f32", "s32") and instruction.type == "s32" and instruction.has("sat")
    assert instruction.guard == Register("%p3", negated=True)
    assert instruction.operands == (Register("%f1"), Register("%r2"))
    assert instruction.line == 1


@pytest.mark.parametrize(
    ("text", "value", "bits"),
    [
        ("17", 17, 0),
        ("-5", -5, 0),
        ("0x1F", 31, 0),
        ("0x80000000U", 0x80000000, 0),
        ("0b101", 5, 0),
        ("017", 15, 0),
        ("0", 0, 0),
        ("0f3F800000", 0x3F800000, 32),
        ("0d3FF0000000000000", 0x3FF0000000000000, 64),
        ("1.5", struct.unpack("<Q", struct.pack("<d", 1.5))[0], 64),
    ],
)
def test_literals_are_read_in_every_notation(text: str, value: int, bits: int) -> None:
    assert source(text) == Immediate(value, bits)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("[%rd1]", Address(Register("%rd1"), 0)),
        ("[%rd1+16]", Address(Register("%rd1"), 16)),
        ("[%rd1+-16]", Address(Register("%rd1"), -16)),
        ("[%rd1 + 0x10]", Address(Register("%rd1"), 16)),
        ("[tile+4]", Address("tile", 4)),
        ("[out]", Address("out", 0)),
        ("[4096]", Address(None, 4096)),
    ],
)
def test_addresses_have_a_base_and_an_offset(text: str, address: Address) -> None:
    assert one(f"ld.global.u32 %r1, {text};").operands[1] == address


def test_vectors_pairs_symbols_and_the_sink_are_operands() -> None:
    assert one("ld.global.v2.u32 {%r1, %r2}, [%rd1];").operands[0] == Vector((Register("%r1"), Register("%r2")))
    assert one("shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;").operands[0] == Vector((Register("%r1"), Register("%p1")))
    assert one("mov.u64 %rd1, table+8;").operands[1] == Symbol("table", 8)
    assert one("atom.global.add.u32 _, [%rd1], 1;").operands[0] == Register("_")
    assert source("%tid.x") == Register("%tid.x")


def test_state_spaces_with_two_words_stay_apart_from_types() -> None:
    instruction = one("st.shared::cta.u32 [%r1], %r2;")
    assert instruction.types == ("u32",) and instruction.modifiers[0].startswith("shared")


def test_comments_are_no_code() -> None:
    body = main("mov.u32 %r1, 1; // mov.u32 %r2, 2;\n/* a; b\n */ mov.u32 %r3, 3;").body
    assert [item.operands[0] for item in body if isinstance(item, Instruction)] == [Register("%r1"), Register("%r3")]


def test_labels_stand_in_the_body_and_tables_name_them() -> None:
    function = main("top:\nmov.u32 %r1, 1;\nchoices: .branchtargets top, end;\nbrx.idx %r1, choices;\nend:\nret;")
    assert {"top", "end"} <= {item for item in function.body if isinstance(item, str)}
    assert function.tables == {"choices": ("top", "end")}


def test_registers_of_an_inner_scope_are_their_own() -> None:
    function = main("mov.u32 %r1, 1;\n{\n.reg .b64 %r1;\nmov.u64 %r1, 2;\n}\nmov.u32 %r2, %r1;")
    outer, inner, last = (item for item in function.body if isinstance(item, Instruction))
    names = [item.operands[0] for item in (outer, inner)]
    assert names[0] == Register("%r1") and names[1] != names[0] and last.operands[1] == Register("%r1")
    assert function.registers["%r1"] == "b32" and function.registers[names[1].name] == "b64"  # type: ignore[union-attr]


def test_inline_assembly_of_a_kernel_is_read() -> None:
    text = compiled(
        'KERNEL k(int* out) { int x; asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; add.u32 %0, t, %1; }" '
        ': "=r"(x) : "n"(5)); out[threadIdx.x] = x; }'
    )
    assert "k" in parse(text, "kernel.cu").functions


def test_variables_have_a_space_size_alignment_and_initial_bytes() -> None:
    extra = """
    .visible .global .align 4 .u32 numbers[3] = {1, -1, 0x10};
    .const .align 8 .f64 half = 0d3FE0000000000000;
    .global .align 1 .b8 text[4] = {72, 105};
    .extern .shared .align 16 .b8 dynamic[];
    .global .align 8 .u64 pointers[2] = {numbers+4, generic(half)};
    .global .align 4 .b8 grid[2][3][4];
    .global .v4 .f32 quad;
    """
    variables = parse(assembly("ret;", extra=extra)).variables
    assert variables["numbers"].initial == struct.pack("<IiI", 1, -1, 16)
    assert (variables["half"].space, variables["half"].initial) == ("const", struct.pack("<d", 0.5))
    assert variables["text"].initial == b"Hi\0\0"
    assert (variables["dynamic"].size, variables["dynamic"].align, variables["dynamic"].space) == (0, 16, "shared")
    assert variables["pointers"].links == ((0, "numbers", 4), (8, "half", 0))
    assert variables["grid"].size == 24 and variables["grid"].initial is None
    assert (variables["quad"].size, variables["quad"].align) == (16, 16)


def test_parameters_may_be_structs_and_pointers() -> None:
    text = assembly("ret;", ".param .align 8 .b8 pair[24], .param .u64 .ptr .global .align 16 data, .param .f32 x")
    parameters = parse(text).functions["main"].parameters
    assert [(one.name, one.size, one.align) for one in parameters] == [("pair", 24, 8), ("data", 8, 8), ("x", 4, 4)]


def test_functions_without_a_body_are_only_declared() -> None:
    extra = """
    .extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 buffer);
    .func (.param .b32 result) twice (.param .b32 x) ;
    .func (.param .b32 result) twice (.param .b32 x) { ret; }
    """
    translation = parse(assembly("ret;", extra=extra))
    assert "vprintf" not in translation.functions
    twice = translation.functions["twice"]
    assert not twice.entry and len(twice.results) == len(twice.parameters) == 1


def test_inlined_code_takes_the_line_of_the_users_call() -> None:
    text = """\
.version 8.0
.target sm_80
.address_size 64
.file 1 "kernel.cu"
.file 2 "library.h"
.visible .entry main()
{
.reg .b32 %r<9>;
.loc 1 5 3
mov.u32 %r1, 1;
.loc 2 77 3, function_name info, inlined_at 1 6 9
mov.u32 %r2, 2;
.loc 2 80 3
mov.u32 %r3, 3;
.loc 1 8 1
mov.u32 %r4, 4;
.loc 1 0 1
ret;
}
"""
    body = parse(text, "kernel.cu").functions["main"].body
    lines = [item.line for item in body if isinstance(item, Instruction)]
    assert lines == [5, 6, 6, 8, 8]


def test_a_helper_of_the_user_keeps_its_own_lines() -> None:
    source = """__device__ float twice(float x) {
        return x * 2 + 1; // body
    }
    KERNEL k(float* out) {
        out[0] = twice(out[1]);
    }"""
    body = parse(compiled(source), "kernel.cu").functions["k"].body
    lines = {item.opcode: item.line for item in body if isinstance(item, Instruction)}
    assert lines["fma"] == 2 and lines["st"] == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mov.u32 %r1, 1 + ;", "PTX operand"),
        ("mov.u32 %r1, @5;", "PTX operand"),
        ("ld.global.u32 %r1, [%rd1*4];", "PTX address"),
        ("5mov.u32 %r1;", "PTX instruction"),
        (".shared nonsense;", "PTX variable"),
    ],
)
def test_text_it_cannot_read_is_refused_as_written(text: str, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        main(text)


def test_text_that_ends_in_the_middle_is_refused() -> None:
    with pytest.raises(Unsupported, match="ends inside"):
        parse(assembly("ret;").rstrip().removesuffix("}"))

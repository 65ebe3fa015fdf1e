"""Registers read and written as other types than they were made with, as PTX allows."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import Unsupported
from harness.simulator.operands import fits, registers
from harness.simulator.ptx import Address, Immediate, Register, Vector
from tests.simulator.exact import instruction
from tests.simulator.running import Unset, assembly, silent

STORE = """
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 8;
add.s64 %rd1, %rd1, %rd2;
.reg .b16 %h<9>;
.reg .b64 %x;
"""


def value(body: str) -> int:
    """What lane 1 leaves in %x."""
    out = silent(assembly(f"{STORE}{body}\nst.global.u64 [%rd1], %x;"), block=2, out=Unset("u8", 2))["out"]
    return int(out[1])


def test_a_float_register_may_be_read_as_bits_and_back() -> None:
    assert value("mov.f32 %f1, 0f40490FDB;\nmov.b32 %r2, %f1;\ncvt.u64.u32 %x, %r2;") == 0x40490FDB
    assert (
        value("mov.u32 %r2, 0x3F800000;\nadd.f32 %f1, %r2, %r2;\nmov.b32 %r3, %f1;\ncvt.u64.u32 %x, %r3;") == 0x40000000
    )


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("ld.global.u8 %r2, [%rd1];", 0xF1),
        ("ld.global.s8 %r2, [%rd1];", 0xFFFF_FFF1),
        ("ld.global.u16 %r2, [%rd1];", 0xE2F1),
        ("ld.global.s16 %r2, [%rd1];", 0xFFFF_E2F1),
        ("ld.global.b8 %r2, [%rd1];", 0xF1),
    ],
)
def test_a_narrow_load_is_extended_by_its_own_sign(load: str, expected: int) -> None:
    assert value(f"mov.u64 %x, 0xD4C3E2F1;\nst.global.u64 [%rd1], %x;\n{load}\ncvt.u64.u32 %x, %r2;") == expected


def test_a_narrow_store_takes_the_low_bits() -> None:
    assert value(
        "mov.u64 %x, 0x1111111111111111;\nst.global.u64 [%rd1], %x;\nmov.u32 %r2, 0x8765ABCD;\n"
        "st.global.u8 [%rd1+1], %r2;\nst.global.u16 [%rd1+4], %r2;\nld.global.u64 %x, [%rd1];"
    ) == 0x1111_ABCD_1111_CD11  # fmt: skip


def test_arithmetic_reads_the_low_half_of_a_wider_register() -> None:
    assert (
        value("mov.u32 %r2, 0x12348001;\nmov.b32 {%h1, %h2}, %r2;\nadd.u16 %h3, %h1, %h2;\ncvt.u64.u16 %x, %h3;")
        == 0x9235
    )
    assert value("mov.u32 %r2, 0x123480F0;\ncvt.s32.s8 %r3, %r2;\ncvt.u64.u32 %x, %r3;") == 0xFFFF_FFF0


def test_a_literal_wraps_to_the_type_that_reads_it() -> None:
    assert value("mov.u32 %r2, -1;\ncvt.u64.u32 %x, %r2;") == 0xFFFF_FFFF
    assert value("mov.u64 %x, -2;") == (1 << 64) - 2
    assert value("mov.u32 %r2, 5;\nadd.u32 %r3, %r2, 0xFFFFFFFE;\ncvt.u64.u32 %x, %r3;") == 3
    assert value("mov.f32 %f1, 1.5;\nmov.b32 %r2, %f1;\ncvt.u64.u32 %x, %r2;") == 0x3FC0_0000


def test_a_negated_predicate_is_read_as_its_opposite() -> None:
    assert value(
        "setp.eq.u32 %p1, %r1, 1;\nmov.u64 %x, 5;\n@!%p1 mov.u64 %x, 6;\nand.pred %p2, %p1, !%p1;\n@%p2 mov.u64 %x, 7;"
    ) == 5  # fmt: skip


def test_results_of_a_sink_go_nowhere() -> None:
    assert value("mov.u32 %r2, 9;\nmov.b32 {%h1, _}, %r2;\ncvt.u64.u16 %x, %h1;") == 9
    assert (
        value("mov.u64 %x, 4;\nst.global.u64 [%rd1], %x;\natom.global.add.u64 _, [%rd1], 3;\nld.global.u64 %x, [%rd1];")
        == 7
    )


def test_operands_name_the_registers_inside_them() -> None:
    operand = Vector((Register("%r1"), Immediate(3), Register("_"), Address(Register("%rd1"), 4), Address("out", 0)))
    assert list(registers(operand)) == ["%r1", "%rd1"]


def test_operands_are_counted_with_vectors_taken_apart() -> None:
    fits(instruction("mov.b32 {%a, %b}, %c"), 3)
    with pytest.raises(Unsupported, match="3 operands where 4 are expected"):
        fits(instruction("mov.b32 {%a, %b}, %c"), 4)


def test_uniform_and_varying_values_mix() -> None:
    out = silent(
        """KERNEL k(int* out, int n) {
            int x = n * 2, y = threadIdx.x;
            if (threadIdx.x & 1) { int t = x; x = y; y = t; }
            out[threadIdx.x] = x * 1000 + y;
        }""",
        out=Unset("i4", 32), n=7,
    )["out"]  # fmt: skip
    np.testing.assert_array_equal(out, [i * 1000 + 14 if i & 1 else 14000 + i for i in range(32)])

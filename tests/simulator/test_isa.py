"""The instruction table as a whole: shapes, dtypes, inputs left alone, and refusals that say what and where."""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.errors import Unsupported
from harness.simulator import isa
from harness.simulator.isa import COMPUTE, Pipe
from harness.simulator.ptx import DTYPES
from tests.simulator.exact import instruction

#: At least one instruction of every row.
EXAMPLES_TEXT = """
mov.b32 %a, %b | mov.b64 %a, {%b,%c} | mov.b64 {%a,%b}, %c | cvt.rn.f16.f32 %a, %b | cvt.u16.u32 %a, %b
cvt.rzi.s64.f64 %a, %b | cvt.rn.bf16x2.f32 %a, %b, %c | cvt.rm.f64.u64 %a, %b | cvt.rna.tf32.f32 %a, %b
cvt.pack.sat.u8.s32.b32 %a, %b, %c, %d | add.f32 %a, %b, %c | add.rz.f64 %a, %b, %c | add.s32 %a, %b, %c
add.bf16x2 %a, %b, %c | add.cc.u32 %a, %b, %c | add.sat.s32 %a, %b, %c | sub.rn.ftz.sat.f32 %a, %b, %c
mul.wide.s16 %a, %b, %c | mul.hi.s64 %a, %b, %c | mul.f16x2 %a, %b, %c | mad.lo.s32 %a, %b, %c, %d
mad.rn.f32 %a, %b, %c, %d | fma.rn.f64 %a, %b, %c, %d | fma.rp.f32 %a, %b, %c, %d | fma.rn.relu.bf16 %a, %b, %c, %d
div.s32 %a, %b, %c | div.full.f32 %a, %b, %c | div.rz.f64 %a, %b, %c | rem.u64 %a, %b, %c | min.f32 %a, %b, %c
max.s16x2 %a, %b, %c | abs.s64 %a, %b | neg.f16 %a, %b | addc.cc.s32 %a, %b, %c | subc.u64 %a, %b, %c
madc.hi.u32 %a, %b, %c, %d | mul24.hi.s32 %a, %b, %c | mad24.lo.u32 %a, %b, %c, %d | sad.u16 %a, %b, %c, %d
dp4a.s32.u32 %a, %b, %c, %d | dp2a.hi.u32.u32 %a, %b, %c, %d | vabsdiff4.u32.u32.u32.add %a, %b, %c, %d
and.pred %p, %q, %r | or.b64 %a, %b, %c | xor.b16 %a, %b, %c | not.pred %p, %q | cnot.b32 %a, %b
lop3.b32 %a, %b, %c, %d, 0x96 | lop3.and.b32 %a|%p, %b, %c, %d, 0x96, %q | shl.b16 %a, %b, %c | shr.s64 %a, %b, %c
shf.l.wrap.b32 %a, %b, %c, %d | bfe.s64 %a, %b, %c, %d | bfi.b32 %a, %b, %c, %d, %e | bfind.shiftamt.s64 %a, %b
bmsk.clamp.b32 %a, %b, %c | szext.wrap.s32 %a, %b, %c | brev.b64 %a, %b | popc.b64 %a, %b | clz.b64 %a, %b
fns.b32 %a, %b, %c, %d | prmt.b32 %a, %b, %c, %d | prmt.b32.rc16 %a, %b, %c, %d | setp.lt.f32 %p, %a, %b
setp.ne.and.u64 %p|%q, %a, %b, %r | setp.eq.f16x2 %p|%q, %a, %b | set.gt.f32.s32 %a, %b, %c
set.eq.u32.f16x2 %a, %b, %c | set.lt.or.bf16.bf16 %a, %b, %c, %p | selp.f64 %a, %b, %c, %p
slct.b16.f32 %a, %b, %c, %d | testp.finite.f64 %p, %a | copysign.f32 %a, %b, %c | sqrt.rm.f32 %a, %b
rcp.rn.f64 %a, %b | rsqrt.approx.f32 %a, %b | sin.approx.f32 %a, %b | cos.approx.ftz.f32 %a, %b
lg2.approx.f32 %a, %b | ex2.approx.f16x2 %a, %b | tanh.approx.bf16 %a, %b
"""
EXAMPLES = re.split(r"\s+\|\s+|\n", EXAMPLES_TEXT.strip())


def test_every_row_has_an_example() -> None:
    assert {instruction(text).opcode for text in EXAMPLES} == set(COMPUTE)


@pytest.mark.parametrize("text", EXAMPLES)
def test_results_have_the_declared_dtype_and_the_broadcast_shape(text: str) -> None:
    inst = instruction(text)
    operation = isa.operation(inst)
    assert isinstance(isa.pipe(inst), Pipe)
    kinds = [*operation.sources, *(["pred"] * operation.carry_in)]
    rng = np.random.default_rng(0)
    for uniform in range(2 ** len(kinds)):
        sizes = [1 if uniform >> i & 1 else 50 for i in range(len(kinds))]
        if inst.opcode == "lop3":
            sizes[3] = 1  # its table is a literal
        values = [
            rng.integers(0, 2, n).astype(bool)
            if kind == "pred"
            else rng.integers(0, 256, n * DTYPES[kind].itemsize, dtype="u1").view(DTYPES[kind])
            for kind, n in zip(kinds, sizes, strict=True)
        ]
        before = [value.tobytes() for value in values]
        with np.errstate(all="ignore"):
            results = operation.function(*values)
        assert [value.tobytes() for value in values] == before, "a source was changed"
        results = results if isinstance(results, tuple) else (results,)
        expected = [*operation.results, *(["pred"] * operation.carry_out)]
        assert [r.dtype for r in results] == [DTYPES[kind] for kind in expected]
        sizes_made = [r.size for r in results]
        # The word of a lop3 does not depend on its predicate, so it may stay uniform.
        assert all(r.ndim == 1 for r in results) and max(sizes_made) == max(sizes)
        assert set(sizes_made) <= ({1, max(sizes)} if inst.opcode == "lop3" else {max(sizes)})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("frobnicate.b32 %a, %b", "unknown"),
        ("add.wild.f32 %a, %b, %c", r"\.wild"),
        ("shl.f32 %a, %b, %c", "f32"),
        ("max.f32 %a, %b, %c, %d", "3 operands"),
        ("fma.rn.s32 %a, %b, %c, %d", "s32"),
        ("cvt.rn.e4m3x2.f32 %a, %b, %c", "e4m3x2"),
        ("mov.b128 %a, %b", "b128"),
        ("add %a, %b, %c", "combination"),
        ("tanh.approx.f64 %a, %b", "tanh"),
    ],
)
def test_what_the_table_lacks_is_refused_by_name_and_line(text: str, why: str) -> None:
    with pytest.raises(Unsupported, match=why) as refused:
        isa.operation(instruction(text))
    assert text in refused.value.message and refused.value.line == 7


def test_pipes_follow_the_type_unless_the_row_names_one() -> None:
    for text, pipe in {
        "add.f32 %a, %b, %c": Pipe.FP32,
        "fma.rn.f64 %a, %b, %c, %d": Pipe.FP64,
        "add.f16x2 %a, %b, %c": Pipe.FP16,
        "add.s32 %a, %b, %c": Pipe.INTEGER,
        "ex2.approx.f32 %a, %b": Pipe.SPECIAL,
        "and.pred %p, %q, %r": Pipe.PREDICATE,
        "cvt.u64.u32 %a, %b": Pipe.CONVERT,
        "mov.u32 %a, %b": Pipe.MOVE,
    }.items():
        assert isa.pipe(instruction(text)) is pipe


def test_a_row_names_a_bare_opcode() -> None:
    with pytest.raises(ValueError, match=r"add\.f32"):
        isa.Row("add.f32", lambda inst: isa.operation(inst))

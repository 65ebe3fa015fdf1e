"""The table of the instructions that only compute: one row per opcode.

A row builds an :class:`Operation` from an instruction, once, when its kernel is loaded. What a row doesn't know raises:
a modifier outside its ``words``, a type or rounding that its builder's tables lack, operands that don't fit.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from harness.errors import Unsupported
from harness.simulator import bits, convert, floating, halves, integer, predicates
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Instruction, Operand, Vector

Builder = Callable[[Instruction], Operation]


class Pipe(enum.StrEnum):
    """The execution pipe that an instruction occupies, for counters and predicted time. ``NONE`` is for what machine
    code has no instruction for: parameters are operands there, address spaces are one."""

    FP32 = "fp32"
    FP64 = "fp64"
    FP16 = "fp16"
    INTEGER = "integer"
    SPECIAL = "special"
    CONVERT = "convert"
    MOVE = "move"
    PREDICATE = "predicate"
    MEMORY = "memory"
    EXCHANGE = "exchange"
    BARRIER = "barrier"
    BRANCH = "branch"
    NONE = "none"


@dataclass(frozen=True)
class Row:
    """One opcode. ``words`` are the modifiers it may carry besides types; ``pipe`` None means the pipe of its type."""

    opcode: str
    build: Builder
    pipe: Pipe | None = None
    words: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.opcode or "." in self.opcode:
            raise ValueError(f"a row is for one opcode without modifiers, not {self.opcode!r}")


_HALF = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
_FLOAT = frozenset({"f32", "f64"})
_TYPE_PIPES: dict[str, Pipe] = {
    "f32": Pipe.FP32, "f64": Pipe.FP64, "pred": Pipe.PREDICATE, **dict.fromkeys(_HALF, Pipe.FP16),
}


def _by_type(integers: Builder | None, floats: Builder | None, of_halves: Builder | None) -> Builder:
    """One builder out of three, by the instruction's type."""
    def build(inst: Instruction) -> Operation:
        kind = inst.type if inst.types else ""
        chosen = of_halves if kind in _HALF else floats if kind in _FLOAT else integers
        if chosen is None:
            raise KeyError(kind)
        return chosen(inst)

    return build


def _row(opcode: str, build: Builder, words: str = "", pipe: Pipe | None = None) -> Row:
    return Row(opcode, build, pipe, frozenset(words.split()))


_ROUND = "rn rz rm rp ftz sat"
_COMPARE = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"
_EXTREME = "ftz NaN xorsign abs relu u16x2 s16x2"

ROWS: tuple[Row, ...] = (
    _row("mov", bits.move, pipe=Pipe.MOVE),
    _row("cvt", convert.convert, "rn rz rm rp rna rni rzi rmi rpi ftz sat relu pack tf32", Pipe.CONVERT),
    _row("add", _by_type(integer.binary, floating.arithmetic, halves.arithmetic), _ROUND + " cc u16x2 s16x2"),
    _row("sub", _by_type(integer.binary, floating.arithmetic, halves.arithmetic), _ROUND + " cc"),
    _row("mul", _by_type(integer.multiply, floating.arithmetic, halves.arithmetic), _ROUND + " lo hi wide"),
    _row("mad", _by_type(integer.multiply_add, floating.arithmetic, None), _ROUND + " lo hi wide cc"),
    _row("fma", _by_type(None, floating.arithmetic, halves.arithmetic), _ROUND + " relu"),
    _row("div", _by_type(integer.divide, floating.arithmetic, None), "rn rz rm rp ftz approx full"),
    _row("rem", integer.divide),
    _row("min", _by_type(integer.binary, floating.minmax, halves.minmax), _EXTREME),
    _row("max", _by_type(integer.binary, floating.minmax, halves.minmax), _EXTREME),
    _row("abs", _by_type(integer.unary, floating.sign, halves.arithmetic), "ftz"),
    _row("neg", _by_type(integer.unary, floating.sign, halves.arithmetic), "ftz"),
    # integers
    _row("addc", integer.carrying, "cc"),
    _row("subc", integer.carrying, "cc"),
    _row("madc", integer.carrying, "lo hi cc"),
    _row("mul24", integer.multiply24, "lo hi"),
    _row("mad24", integer.multiply24, "lo hi sat"),
    _row("sad", integer.sad),
    _row("dp4a", integer.dot),
    _row("dp2a", integer.dot, "lo hi"),
    _row("vabsdiff4", integer.absolute_difference4, "add"),
    # bits
    _row("and", bits.logic),
    _row("or", bits.logic),
    _row("xor", bits.logic),
    _row("not", bits.logic),
    _row("cnot", bits.cnot),
    _row("lop3", bits.lop3, "and or xor"),
    _row("shl", bits.shift),
    _row("shr", bits.shift),
    _row("shf", bits.funnel, "l r wrap clamp"),
    _row("bfe", bits.extract),
    _row("bfi", bits.insert),
    _row("bfind", bits.find, "shiftamt"),
    _row("bmsk", bits.mask, "clamp wrap"),
    _row("szext", bits.extend, "clamp wrap"),
    _row("brev", bits.reverse),
    _row("popc", bits.count),
    _row("clz", bits.count),
    _row("fns", bits.nth_set),
    _row("prmt", bits.permute, "f4e b4e rc8 ecl ecr rc16"),
    # predicates and choices
    _row("setp", predicates.setp, _COMPARE),
    _row("set", predicates.set_, _COMPARE),
    _row("selp", predicates.selp, pipe=Pipe.MOVE),
    _row("slct", predicates.slct, "ftz", Pipe.MOVE),
    _row("testp", floating.classify, "finite infinite number notanumber normal subnormal"),
    _row("copysign", floating.copysign),
    # roots and special functions
    _row("sqrt", floating.arithmetic, "rn rz rm rp ftz approx", Pipe.SPECIAL),
    _row("rcp", floating.arithmetic, "rn rz rm rp ftz approx", Pipe.SPECIAL),
    _row("rsqrt", floating.arithmetic, "approx ftz", Pipe.SPECIAL),
    _row("sin", floating.arithmetic, "approx ftz", Pipe.SPECIAL),
    _row("cos", floating.arithmetic, "approx ftz", Pipe.SPECIAL),
    _row("lg2", floating.arithmetic, "approx ftz", Pipe.SPECIAL),
    _row("ex2", _by_type(None, floating.arithmetic, halves.arithmetic), "approx ftz", Pipe.SPECIAL),
    _row("tanh", _by_type(None, floating.arithmetic, halves.arithmetic), "approx", Pipe.SPECIAL),
)

#: The rows by opcode.
COMPUTE: dict[str, Row] = {row.opcode: row for row in ROWS}


def pipe(inst: Instruction) -> Pipe:
    """The pipe a computing instruction runs on; KeyError if it isn't one."""
    row = COMPUTE[inst.opcode]
    return row.pipe or _TYPE_PIPES.get(inst.type if inst.types else "", Pipe.INTEGER)


def flops(inst: Instruction) -> int:
    """Floating-point additions and multiplications of one lane: what Nsight Compute's operation counts add up."""
    kind = inst.type if inst.types else ""
    return _FLOPS.get(inst.opcode, 0) * (kind in _FLOAT or kind in _HALF) * (2 if kind.endswith("x2") else 1)


_FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}


def operation(inst: Instruction) -> Operation:
    """What ``inst`` computes. Raises Unsupported, with its text and line, for anything the table doesn't know."""
    row = COMPUTE.get(inst.opcode)
    if row is None:
        raise _unsupported(inst, "the opcode is unknown")
    strange = [word for word in inst.modifiers if word not in DTYPES and word not in row.words]
    if strange:
        raise _unsupported(inst, f"unknown modifier .{strange[0]}")
    try:
        result = row.build(inst)
    except (KeyError, IndexError, ValueError) as error:
        raise _unsupported(inst, f"this combination is not in the table ({error})") from error
    expected = len(result.results) + len(result.sources)
    if sum(map(_registers, inst.operands)) != expected:
        raise _unsupported(inst, f"it should have {expected} operands")
    return result


def _registers(operand: Operand) -> int:
    return len(operand.items) if isinstance(operand, Vector) else 1


def _unsupported(inst: Instruction, why: str) -> Unsupported:
    text = inst.text or ".".join((inst.opcode, *inst.modifiers))
    return Unsupported(
        f"the simulator can't run the PTX instruction `{text}`: {why}", line=inst.line,
        remedy="rewrite the expression on this line, or run the kernel on a GPU",
    )

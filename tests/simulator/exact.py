"""Truths for the arithmetic tests that share nothing with the simulator: exact rounding of rationals, bit patterns."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from harness.simulator import isa
from harness.simulator.ptx import DTYPES, Immediate, Instruction, Operand, Register, Vector

#: Precision in bits, least and greatest exponent of a normal number.
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def _operand(text: str) -> Operand:
    text = text.strip()
    if text.startswith("{"):
        return Vector(tuple(_operand(item) for item in text.strip("{}").split(",")))
    if "|" in text:
        return Vector(tuple(_operand(item) for item in text.split("|")))
    if text.startswith("%") or text == "_":
        return Register(text)
    return Immediate(int(text, 0))


def instruction(text: str) -> Instruction:
    """``lop3.b32 %r1, %r2, %r3, %r4, 0x96`` as a record."""
    name, _, rest = text.partition(" ")
    opcode, *modifiers = name.split(".")
    operands = re.findall(r"\{[^}]*\}|[^,{}\s][^,{}]*", rest)
    return Instruction(opcode, tuple(modifiers), tuple(map(_operand, operands)), line=7, text=text)


def run(text: str, *values: Any) -> Any:
    """Executes an instruction on sources given as sequences of numbers, or as arrays reinterpreted as they are."""
    operation = isa.operation(instruction(text))
    kinds = [*operation.sources, *(["pred"] if operation.carry_in else [])]
    assert len(kinds) == len(values), f"{text} takes {kinds}"
    sources = [_array(kind, value) for kind, value in zip(kinds, values, strict=True)]
    with np.errstate(all="ignore"):
        return operation.function(*sources)


def _array(kind: str, value: Any) -> np.ndarray:
    dtype = DTYPES[kind]
    if isinstance(value, np.ndarray):
        return value.view(dtype)
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if dtype.kind in "ui":
        mask = (1 << 8 * dtype.itemsize) - 1
        return np.array([int(v) & mask for v in values], dtype=f"u{dtype.itemsize}").view(dtype)
    return np.array(values, dtype=dtype)


def wrap(value: int, kind: str) -> int:
    """An integer as a register of a PTX type holds it."""
    dtype = DTYPES[kind]
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> bits - 1 else value


def rounded(exact: Fraction, kind: str, mode: str = "rn", zero: float = 0.0) -> float:
    """A rational rounded to a float type, gradual underflow and overflow included, as a Python float.

    ``zero`` is what an exact zero gives.
    """
    precision, least, greatest = FORMATS[kind]
    if exact == 0:
        return zero
    negative, size = exact < 0, abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    count, rest = divmod(size, unit)
    up = {
        "rn": rest * 2 > unit or (rest * 2 == unit and count % 2 == 1),
        "rz": False,
        "rp": rest > 0 and not negative,
        "rm": rest > 0 and negative,
    }[mode]
    result = (count + up) * unit
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** greatest
    if result > largest:
        outward = mode == "rn" or (mode == "rp" and not negative) or (mode == "rm" and negative)
        size_rounded = math.inf if outward else float(largest)
    else:
        size_rounded = float(result)
    return -size_rounded if negative else size_rounded


def bits(value: float, kind: str) -> int:
    """The bit pattern of a float that is a number of the type."""
    if kind == "bf16":
        return bits(value, "f32") >> 16
    dtype = DTYPES[kind]
    return int(np.array([value], dtype=dtype).view(f"u{dtype.itemsize}")[0])


def same(got: np.ndarray, expected: list[float]) -> None:
    """Bit for bit equal, any NaN being as good as another; fails naming the lane."""
    got = np.asarray(got)
    wanted = np.array(expected, dtype=got.dtype)
    raw = f"u{got.itemsize}"
    wrong = (got.view(raw) != wanted.view(raw)) & ~(np.isnan(got) & np.isnan(wanted))
    lanes = np.flatnonzero(wrong)
    assert not lanes.size, f"lane {lanes[0]}: {got[lanes[0]]!r} != {wanted[lanes[0]]!r} ({lanes.size} lanes)"

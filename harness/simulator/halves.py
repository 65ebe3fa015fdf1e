"""float16 and bfloat16 arithmetic, one number or two in a register, rounded once.

A float16 register is a NumPy float16. NumPy does its sums and products in float32, and as 24 >= 2 * 11 + 2 bits the
second rounding is harmless (Figueroa, 1995). bfloat16 is not a NumPy type: it is the upper half of a float32, and
24 >= 2 * 8 + 2.
"""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.simulator.elementwise import Array, finished, join, pick, split
from harness.simulator.floating import extreme_of
from harness.simulator.operation import Operation
from harness.simulator.ptx import Instruction
from harness.simulator.rounding import F32, F64, NARROW, to_odd, two_sum

F16 = np.dtype("f2")
_U32 = np.uint32
_NAN_BF16 = np.uint16(0x7FFF)


# ---- bfloat16 ------------------------------------------------------------------------------------

def from_bf16(raw: Array) -> Array:
    """bfloat16 bits to float32, exactly."""
    return (raw.astype(_U32) << _U32(16)).view(F32)


#: What to add to a float32's bits before its lower half is cut off.
_BEFORE_CUTTING: dict[str, Callable[[Array], Any]] = {
    "rn": lambda bits: _U32(0x7FFF) + ((bits >> _U32(16)) & _U32(1)),
    "rz": lambda bits: _U32(0),
}


def to_bf16(x: Array, mode: str = "rn") -> Array:
    """float32 to bfloat16 bits, to nearest or toward zero; NaN gives 0x7fff."""
    bits = x.view(_U32)
    result = ((bits + _BEFORE_CUTTING[mode](bits)) >> _U32(16)).astype(np.uint16)
    nan = np.isnan(x)
    return np.where(nan, _NAN_BF16, result) if nan.any() else result


def narrow_to_bf16(exact: Array, mode: str = "rn") -> Array:
    """float64, exact or rounded to odd, to bfloat16 bits in one rounding."""
    return to_bf16(_odd32(exact), mode)


def _odd32(exact: Array) -> Array:
    """float64 (exact or rounded to odd) to float32, rounded to odd."""
    near = NARROW["rz"](exact, F32)
    lost = (near < exact) | (near > exact)
    return (near.view(_U32) | lost).view(F32)


def fma_bf16(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of bfloat16 held as float32, as a float32 that rounds to bfloat16 as the exact value does.

    Rounding twice goes wrong only where the float32 lies halfway between two bfloat16: those lanes are done to odd.
    """
    product = a.astype(F64) * b
    near = (product + c).astype(F32)
    halfway = (near.view(_U32) & _U32(0xFFFF)) == _U32(0x8000)
    if halfway.any():
        addend = np.broadcast_to(c, near.shape)[halfway].astype(F64)
        near[halfway] = _odd32(to_odd(*two_sum(np.broadcast_to(product, near.shape)[halfway], addend)))
    return near


def fma_f16(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of float16. A float64 sum is exact wherever it could lie halfway between two float16."""
    return (a.astype(F64) * b.astype(F64) + c.astype(F64)).astype(F16)


# ---- formats -------------------------------------------------------------------------------------

def _same(x: Array) -> Array:
    return x


@dataclass(frozen=True)
class Format:
    """How a PTX type holds halves: ``load`` gives NumPy floats, ``(lanes,)`` or ``(lanes, 2)``; ``store`` undoes it."""

    base: str
    packed: bool
    load: Callable[[Array], Array]
    store: Callable[[Array], Array]


FORMATS: dict[str, Format] = {
    "f16": Format("f16", False, _same, _same),
    "f16x2": Format("f16", True, lambda x: split(x, F16), lambda x: join(x, _U32)),
    "bf16": Format("bf16", False, from_bf16, to_bf16),
    "bf16x2": Format("bf16", True, lambda x: from_bf16(split(x, np.uint16)), lambda x: join(to_bf16(x), _U32)),
}


def on_halves(inst: Instruction, function: Callable[..., Array], arity: int) -> Operation:
    """An operation of the instruction's half type made of a function of NumPy floats, modifiers applied."""
    kind = inst.type
    form = FORMATS[kind]
    inner = finished(inst, function)
    if form.load is _same:
        return Operation((kind,), (kind,) * arity, inner)
    return Operation((kind,), (kind,) * arity, lambda *x: form.store(inner(*map(form.load, x))))


# ---- instructions --------------------------------------------------------------------------------

def _approximate(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: function(a.astype(F64)).astype(a.dtype)


_BOTH: dict[str, tuple[int, Callable[..., Array]]] = {
    "add": (2, np.add), "sub": (2, np.subtract), "mul": (2, np.multiply), "neg": (1, np.negative),
    "abs": (1, np.absolute), "ex2": (1, _approximate(np.exp2)), "tanh": (1, _approximate(np.tanh)),
}
_FUNCTIONS: dict[tuple[str, str], tuple[int, Callable[..., Array]]] = {
    **{(name, base): entry for name, entry in _BOTH.items() for base in ("f16", "bf16")},
    ("fma", "f16"): (3, fma_f16), ("fma", "bf16"): (3, fma_bf16),
}


def arithmetic(inst: Instruction) -> Operation:
    """``add sub mul fma neg abs ex2 tanh`` of f16, bf16 and pairs of them."""
    pick(inst, ("rn", "approx"), "rn")
    arity, function = _FUNCTIONS[inst.opcode, FORMATS[inst.type].base]
    return on_halves(inst, function, arity)


def minmax(inst: Instruction) -> Operation:
    """``min`` and ``max`` of halves."""
    return on_halves(inst, extreme_of(inst), 2)


#: A register of each float type as NumPy floats.
LOADERS: dict[str, Callable[[Array], Array]] = {
    "f32": _same, "f64": _same, **{kind: form.load for kind, form in FORMATS.items()},
}

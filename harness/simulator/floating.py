"""float32 and float64 instructions: exact arithmetic, approximations, extremes, signs.

Approximations (``.approx``, ``.full``) are the exact value rounded to nearest, with the special values of the PTX
manual: close to hardware, but not always its last bits. A NaN result keeps whatever payload NumPy gives it, where a
GPU gives 0x7fffffff. ``.ftz`` flushes a result that is subnormal after rounding.
"""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.simulator.elementwise import Array, finished, flush, pick
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Instruction
from harness.simulator.rounding import EXACT32, F32, F64, MODES
from harness.simulator.rounding64 import EXACT64

_MANNERS = (*MODES, "approx", "full")
_KINDS = frozenset({"f32", "f64"})
_SIGN: dict[str, Any] = {"f32": np.uint32(0x80000000), "f64": np.uint64(1 << 63)}
_ARITY = {"fma": 3, "mad": 3, "add": 2, "sub": 2, "mul": 2, "div": 2}


# ---- approximations ------------------------------------------------------------------------------

def _through64(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: function(a.astype(F64)).astype(F32)


def _inverse_root(a: Array) -> Array:
    return 1.0 / np.sqrt(a)


def _divide_approx(a: Array, b: Array) -> Array:
    """``div.approx.f32``: the reciprocal of a divisor over 2**126 underflows: 0, or NaN for infinite ``a``."""
    quotient = a / b
    size = np.abs(b)
    huge = (size > np.float32(2.0**126)) & (size < np.float32(math.inf))
    if not huge.any():
        return quotient
    return np.where(huge, a * np.copysign(np.float32(0), b), quotient)


_UPPER_HALF = np.uint64(0xFFFFFFFF00000000)


def _upper(a: Array) -> Array:
    return (a.view(np.uint64) & _UPPER_HALF).view(F64)


def _coarse(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The ``.approx.ftz.f64`` forms, which see and give only the upper 32 bits of a float64."""
    return lambda a: _upper(function(_upper(a)))


def _plain_rsqrt64(inst: Instruction) -> bool:
    return inst.opcode == "rsqrt" and inst.type == "f64" and not inst.has("ftz")


def _short(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Rounded to 10 bits after the point of the significand: an error of up to 2**-11 relative, as hardware may make.

    Exact ``tanh.approx`` (PTX ISA: 2**-11) would pass a kernel here that fails on a GPU."""

    def rounded(a: Array) -> Array:
        fraction, exponent = np.frexp(function(a))
        return np.ldexp(np.round(fraction * 2.0**11) / 2.0**11, exponent)

    return rounded


def _on_a_grid(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Rounded to a multiple of 2**-20: the absolute error PTX allows ``sin.approx`` and ``cos.approx``, 2**-20.5."""
    return lambda a: np.round(function(a) * 2.0**20) / 2.0**20


_THROUGH64: dict[str, Callable[[Array], Array]] = {
    "ex2": np.exp2, "lg2": np.log2, "sin": _on_a_grid(np.sin), "cos": _on_a_grid(np.cos),
    "tanh": _short(np.tanh), "rsqrt": _inverse_root,
}
_APPROXIMATE: dict[tuple[str, str, str], Callable[..., Array]] = {
    **{(name, "approx", "f32"): _through64(function) for name, function in _THROUGH64.items()},
    ("rcp", "approx", "f32"): EXACT32["rcp", "rn"],
    ("sqrt", "approx", "f32"): np.sqrt,
    ("div", "approx", "f32"): _divide_approx,
    ("div", "full", "f32"): np.divide,
    ("rcp", "approx", "f64"): _coarse(EXACT64["rcp", "rn"]),
    ("rsqrt", "approx", "f64"): _coarse(_inverse_root),
}
_FUNCTIONS: dict[tuple[str, str, str], Callable[..., Array]] = {
    **{(*key, "f32"): function for key, function in EXACT32.items()},
    **{(*key, "f64"): function for key, function in EXACT64.items()},
    **_APPROXIMATE,
}


def arithmetic(inst: Instruction) -> Operation:
    """Everything that rounds: ``add sub mul fma mad div rcp sqrt`` and ``rsqrt ex2 lg2 sin cos tanh``."""
    kind = inst.type
    name = {"mad": "fma"}.get(inst.opcode, inst.opcode)
    function = _FUNCTIONS[name, pick(inst, _MANNERS, "rn"), kind]
    if _plain_rsqrt64(inst):
        function = _inverse_root
    return Operation((kind,), (kind,) * _ARITY.get(inst.opcode, 1), finished(inst, function))


# ---- extremes ------------------------------------------------------------------------------------

def extreme(name: str, propagate: bool) -> Callable[[Array, Array], Array]:
    """``min`` or ``max`` with -0 below +0; a NaN loses to a number, or wins with ``propagate``."""
    function: Any = {("min", False): np.fmin, ("min", True): np.minimum,
                     ("max", False): np.fmax, ("max", True): np.maximum}[name, propagate]
    merge = {"min": np.bitwise_or, "max": np.bitwise_and}[name]

    def run(a: Array, b: Array) -> Array:
        result = function(a, b)
        # NumPy may give either of two equal zeros. Only one of the two can be the wrong one.
        raw = np.dtype(f"u{a.itemsize}")
        wrong = result.view(raw) == raw.type({"min": 0, "max": 1 << 8 * a.itemsize - 1}[name])
        if not wrong.any():
            return result
        return np.where(wrong & (a == b), merge(a.view(raw), b.view(raw)), result.view(raw)).view(a.dtype)

    return run


def _with_joint_sign(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """``.xorsign.abs``: of the magnitudes, with the product's sign."""
    def run(a: Array, b: Array) -> Array:
        one = a.dtype.type(1)
        return np.copysign(function(np.abs(a), np.abs(b)), np.copysign(one, a) * np.copysign(one, b))

    return run


def extreme_of(inst: Instruction) -> Callable[[Array, Array], Array]:
    """The two-operand function a ``min`` or ``max`` names with its modifiers, but for ``.ftz``."""
    function = extreme(inst.opcode, inst.has("NaN"))
    return _with_joint_sign(function) if inst.has("xorsign") else function


def minmax(inst: Instruction) -> Operation:
    """``min`` and ``max`` of two numbers."""
    kind = inst.type
    if kind not in _KINDS:
        raise KeyError(kind)
    return Operation((kind,), (kind, kind), finished(inst, extreme_of(inst)))


# ---- signs and classes ---------------------------------------------------------------------------

_SIGNS: dict[str, Callable[..., Array]] = {"neg": np.negative, "abs": np.absolute}


def sign(inst: Instruction) -> Operation:
    """``neg`` and ``abs``, of NaN too."""
    kind = inst.type
    if kind not in _KINDS:
        raise KeyError(kind)
    return Operation((kind,), (kind,), finished(inst, _SIGNS[inst.opcode]))


def copysign(inst: Instruction) -> Operation:
    """``copysign``: the sign of ``a`` on the magnitude of ``b``."""
    kind, top, dtype = inst.type, _SIGN[inst.type], DTYPES[inst.type]
    raw = top.dtype
    return Operation((kind,), (kind, kind), lambda a, b: ((a.view(raw) & top) | (b.view(raw) & ~top)).view(dtype))


def _subnormal(a: Array) -> Array:
    return (flush(a) == 0) & (a != 0)


_CLASSES: dict[str, Callable[[Array], Array]] = {
    "finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan, "number": lambda a: ~np.isnan(a),
    "normal": lambda a: np.isfinite(a) & ~_subnormal(a), "subnormal": _subnormal,
}


def classify(inst: Instruction) -> Operation:
    """``testp``: whether a float is of a class; zeros count as normal."""
    if inst.type not in _KINDS:
        raise KeyError(inst.type)
    return Operation(("pred",), (inst.type,), _CLASSES[pick(inst, _CLASSES)])

"""Exact IEEE rounding in every direction, of float32 arithmetic and of anything a float64 can hold.

float32 work is done in float64. Two roundings in a row give the right answer if the first is *to odd* (Boldo and
Melquiond, "Emulation of FMA and correctly rounded sums", 2008), and rounding in a direction needs no more than that.
float64 arithmetic, which has no wider type to lean on, is in :mod:`harness.simulator.rounding64`.

Every function takes and returns arrays; a ``mode`` is one of PTX's ``rn``, ``rz``, ``rm`` (down), ``rp`` (up).
"""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

Array = np.ndarray

F32, F64 = np.dtype("f4"), np.dtype("f8")
_INFINITY = np.float32(math.inf)
_MINUS_INFINITY = np.float32(-math.inf)
_ZERO = np.float32(0.0)

MODES = ("rn", "rz", "rm", "rp")


# ---- error-free transformations ------------------------------------------------------------------

def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b`` rounded, and its exact error (Knuth). Exact unless the sum overflows."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def _halves(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0  # 2**27 + 1 (Veltkamp)
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a * b`` rounded to float64, and its exact error (Dekker). Exact unless something over- or underflows."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def to_odd(total: Array, error: Array) -> Array:
    """``total + error``, an unevaluated float64 sum as ``two_sum`` gives it, rounded to odd."""
    bits = total.view(np.int64)
    inexact = (error > 0) | (error < 0)  # not for a NaN error, which comes with an infinite total
    outward = (error > 0) == (total > 0)
    step = inexact & ((bits & 1) == 0)
    return (bits + np.where(outward, step, -step.astype(np.int64))).view(F64)


# ---- narrowing a float64 -------------------------------------------------------------------------

def _up(exact: Array, dtype: np.dtype) -> Array:
    near = exact.astype(dtype)
    return np.where(near < exact, np.nextafter(near, dtype.type(_INFINITY)), near)


def _down(exact: Array, dtype: np.dtype) -> Array:
    near = exact.astype(dtype)
    return np.where(near > exact, np.nextafter(near, dtype.type(_MINUS_INFINITY)), near)


def _toward_zero(exact: Array, dtype: np.dtype) -> Array:
    near = exact.astype(dtype)
    return np.where(np.abs(near) > np.abs(exact), np.nextafter(near, dtype.type(_ZERO)), near)


def _nearest(exact: Array, dtype: np.dtype) -> Array:
    return exact.astype(dtype)


#: Rounds a float64 to a narrower dtype in a mode. The float64 must be exact, or itself rounded to odd.
NARROW: dict[str, Callable[[Array, np.dtype], Array]] = {
    "rn": _nearest, "rz": _toward_zero, "rm": _down, "rp": _up,
}


# ---- float32 -------------------------------------------------------------------------------------

_LOW, _HALFWAY = np.uint64(0x1FFFFFFF), np.uint64(0x10000000)
_SMALLEST_NORMAL = np.float32(2.0**-126)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of float32 rounded once to nearest, ties to even.

    The product is exact in float64, so only the sum can be rounded twice, and that matters only where the sum lies
    halfway between two float32 (its low 29 bits read ``100...0``) or where the result is below the normal range.
    Those lanes alone are done again.
    """
    total = a.astype(F64) * b + c
    result = total.astype(F32)
    again = (total.view(np.uint64) & _LOW) == _HALFWAY
    if np.fmin.reduce(np.abs(result)) < _SMALLEST_NORMAL:
        again |= (np.abs(result) < _SMALLEST_NORMAL) & (total != 0)
    if np.count_nonzero(again):
        lanes = np.flatnonzero(again)
        p, q, r = (x.astype(F64)[lanes if x.size > 1 else slice(None)] for x in (a, b, c))
        result[lanes] = to_odd(*two_sum(p * q, r)).astype(F32)
    return result


def odd_sum(a: Array, b: Array) -> Array:
    """The float64 sum rounded to odd; an exact zero has the sign it has when rounding to nearest."""
    return to_odd(*two_sum(a, b))


def _odd_sum_down(a: Array, b: Array) -> Array:
    # Rounding down, x - x is -0: the mirror image of rounding up.
    return -odd_sum(-a, -b)


_SUMS: dict[str, Callable[[Array, Array], Array]] = {"rz": odd_sum, "rp": odd_sum, "rm": _odd_sum_down}


def _wide_add(mode: str, a: Array, b: Array) -> Array:
    return _SUMS[mode](a, b)


def _wide_sub(mode: str, a: Array, b: Array) -> Array:
    return _SUMS[mode](a, -b)


def _wide_fma(mode: str, a: Array, b: Array, c: Array) -> Array:
    return _SUMS[mode](a * b, c)


def _wide_mul(mode: str, a: Array, b: Array) -> Array:
    return a * b


# A float64 quotient or root of float32 numbers that is not exact is at least 2**-48 away from every float32, so it lies
# on the right side of it although it is itself rounded.
def _wide_div(mode: str, a: Array, b: Array) -> Array:
    return a / b


def _wide_rcp(mode: str, a: Array) -> Array:
    return 1.0 / a


def _wide_sqrt(mode: str, a: Array) -> Array:
    return np.sqrt(a)


_WIDE: dict[str, Callable[..., Array]] = {
    "add": _wide_add, "sub": _wide_sub, "mul": _wide_mul, "fma": _wide_fma,
    "div": _wide_div, "rcp": _wide_rcp, "sqrt": _wide_sqrt,
}


def _directed32(name: str, mode: str, *operands: Array) -> Array:
    return NARROW[mode](_WIDE[name](mode, *(x.astype(F64) for x in operands)), F32)


def reciprocal(a: Array) -> Array:
    """``1 / a`` to nearest, in the dtype of ``a``."""
    return a.dtype.type(1) / a


#: Correctly rounded float32 arithmetic by (name, mode). Plain NumPy wherever NumPy already rounds so.
EXACT32: dict[tuple[str, str], Callable[..., Array]] = {
    ("add", "rn"): np.add, ("sub", "rn"): np.subtract, ("mul", "rn"): np.multiply, ("fma", "rn"): fma32,
    ("div", "rn"): np.divide, ("rcp", "rn"): reciprocal, ("sqrt", "rn"): np.sqrt,
    **{(name, mode): partial(_directed32, name, mode) for name in _WIDE for mode in MODES[1:]},
}

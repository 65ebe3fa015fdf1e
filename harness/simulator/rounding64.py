"""Exact IEEE rounding of float64 arithmetic in every direction, vectorised without a hardware fma.

Error-free transformations (Dekker, Knuth) give each result with its exact error, whose sign rounds it in a direction.
The few lanes where a term could overflow or underflow are done with Python's exact fractions.
"""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from harness.simulator.rounding import F64, MODES, Array, odd_sum, reciprocal, two_product, two_sum

#: Lanes per step of the float64 algorithms, whose many temporaries should stay in the cache.
_CHUNK = 8192

_LOW, _HIGH = 2.0**-400, 2.0**400


def _risky(*operands: Array) -> Array:
    """Whether a product of these and its error might over- or underflow. Zeros, infinities and NaN are safe."""
    risky: Any = False
    for x in operands:
        size = np.abs(x)
        risky = risky | ((size > _HIGH) & (size < math.inf)) | ((size < _LOW) & (size > 0))
    return np.asarray(risky)


def nudge(near: Array, error: Array, mode: str) -> Array:
    """The nearest float64 moved to its neighbour where ``error`` (exact minus near: its sign) says so."""
    if mode == "rp":
        return np.where(error > 0, np.nextafter(near, math.inf), near)
    if mode == "rm":
        return np.where(error < 0, np.nextafter(near, -math.inf), near)
    outside = ((error > 0) & (near < 0)) | ((error < 0) & (near > 0))
    return np.where(outside, np.nextafter(near, 0.0), near)


def round_fraction(exact: Fraction, mode: str) -> float:
    """A non-zero rational to float64 in a mode: overflow and gradual underflow included."""
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf if exact > 0 else -math.inf
    if mode == "rn":
        return near
    if math.isinf(near):
        error = -1 if near > 0 else 1
    else:
        difference = exact - Fraction(near)
        error = (difference > 0) - (difference < 0)
    if near == 0.0:  # nudge for zero must know which side the number is on
        return {("rp", 1): 5e-324, ("rm", -1): -5e-324}.get((mode, error), near)
    return float(nudge(np.array([near]), np.array([error]), mode)[0])


def _exactly(mode: str, name: str, operands: tuple[float, ...]) -> float:
    x = [Fraction(value) for value in operands]
    if name == "sqrt":
        near = math.sqrt(operands[0])
        error = x[0] - Fraction(near) ** 2
        return float(nudge(np.array([near]), np.array([(error > 0) - (error < 0)]), mode)[0])
    exact = _RATIONAL[name](*x)
    return round_fraction(exact, mode)


_RATIONAL: dict[str, Callable[..., Fraction]] = {
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "rcp": lambda a: 1 / a,
}


def _fma64(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """``a * b + c`` rounded once, and a number with the sign of its error (Boldo and Melquiond)."""
    high, low = two_product(a, b)
    middle, rest = two_sum(c, low)
    top, bottom = two_sum(high, middle)
    result, error = two_sum(top, odd_sum(rest, bottom))
    product = a * b
    # A finite product that overflows must not meet an infinite addend of the other sign.
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, product + c)
    # An exact zero has the sign that the plain expression gives it; infinities and NaN come from there too.
    usual = np.isfinite(result) & np.isfinite(plain) & (result != 0)
    return np.where(usual, result, plain), error


def _div64(a: Array, b: Array) -> tuple[Array, Array]:
    quotient = a / b
    high, low = two_product(quotient, b)
    return quotient, ((a - high) - low) * np.sign(b)


def _rcp64(a: Array) -> tuple[Array, Array]:
    return _div64(np.ones_like(a), a)


def _sqrt64(a: Array) -> tuple[Array, Array]:
    root = np.sqrt(a)
    high, low = two_product(root, root)
    return root, (a - high) - low


_WITH_ERROR: dict[str, Callable[..., tuple[Array, Array]]] = {
    "mul": two_product, "fma": _fma64, "div": _div64, "rcp": _rcp64, "sqrt": _sqrt64,
}


def _patched(name: str, mode: str, result: Array, operands: list[Array]) -> Array:
    """``result`` with the lanes that the fast algorithm can't do computed by exact fractions."""
    risky = _risky(*operands[:2])
    if name == "fma":
        size = np.abs(operands[2])
        risky = risky | ((size > 2.0**900) & (size < math.inf))
    if not risky.any():
        return result
    lanes = np.broadcast_arrays(risky, *operands)
    possible = lanes[0] & np.logical_and.reduce([np.isfinite(x) for x in lanes[1:]])
    if name == "fma":  # a zero product leaves c, and an exact zero its sign: plain arithmetic has both right
        possible &= (lanes[1] != 0) & (lanes[2] != 0)
    else:
        possible &= np.logical_and.reduce([x != 0 for x in lanes[1:]])
    if name == "sqrt":
        possible &= lanes[1] > 0
    for lane in np.flatnonzero(possible):
        values = tuple(float(x[lane]) for x in lanes[1:])
        if name == "fma" and Fraction(values[0]) * Fraction(values[1]) == -Fraction(values[2]):
            result[lane] = -0.0 if mode == "rm" else 0.0
        else:
            result[lane] = _exactly(mode, name, values)
    return result


def _chunked(name: str, mode: str, *operands: Array) -> Array:
    size = max(x.size for x in operands)
    result = np.empty(size, F64)
    for start in range(0, size, _CHUNK):
        part = [x if x.size == 1 else x[start : start + _CHUNK] for x in operands]
        near, error = _WITH_ERROR[name](*part)
        rounded = near if mode == "rn" else nudge(near, error, mode)
        if name == "fma" and mode == "rm":
            rounded = np.where(rounded == 0, -((-part[0]) * part[1] - part[2]), rounded)
        result[start : start + _CHUNK] = rounded
        _patched(name, mode, result[start : start + _CHUNK], part)
    return result


def _add64_directed(mode: str, a: Array, b: Array) -> Array:
    total, error = two_sum(a, b)
    if mode == "rm":  # x - x is -0 rounding down
        total = np.where(total == 0, -((-a) - b), total)
    # An overflowed sum of finite numbers has an infinite total; it may have to come back to the largest number.
    error = np.where(np.isinf(total) & np.isfinite(a) & np.isfinite(b), -total, error)
    return nudge(total, error, mode)


def _sub64_directed(mode: str, a: Array, b: Array) -> Array:
    return _add64_directed(mode, a, -b)


#: Correctly rounded float64 arithmetic by (name, mode). Plain NumPy wherever NumPy already rounds so.
EXACT64: dict[tuple[str, str], Callable[..., Array]] = {
    ("add", "rn"): np.add, ("sub", "rn"): np.subtract, ("mul", "rn"): np.multiply,
    ("div", "rn"): np.divide, ("rcp", "rn"): reciprocal, ("sqrt", "rn"): np.sqrt,
    ("fma", "rn"): partial(_chunked, "fma", "rn"),
    **{(name, mode): partial(_chunked, name, mode) for name in _WITH_ERROR for mode in MODES[1:]},
    **{("add", mode): partial(_add64_directed, mode) for mode in MODES[1:]},
    **{("sub", mode): partial(_sub64_directed, mode) for mode in MODES[1:]},
}

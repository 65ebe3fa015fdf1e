"""Integer arithmetic: wrapping, wide and high products, carries, division, dot products and video instructions.

Division by zero has no value in PTX. What NVIDIA's compiler produces is kept: every bit of quotient and remainder set.
"""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness.simulator.elementwise import Array, join, pick, split, unsigned
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Instruction

_WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
_KINDS = frozenset({"u16", "s16", "u32", "s32", "u64", "s64"})
_PAIRS = {"u16x2": DTYPES["u16"], "s16x2": DTYPES["s16"]}
_INT32 = np.iinfo(np.int32)
_U32, _U64 = np.uint32, np.uint64


def _kind(inst: Instruction) -> str:
    if inst.type not in _KINDS:
        raise KeyError(inst.type)
    return inst.type


def _clamp32(x: Array) -> Array:
    return np.clip(x, _INT32.min, _INT32.max).astype(np.int32)


# ---- sums, extremes, signs -----------------------------------------------------------------------

_BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum,
}


def _absolute(a: Array) -> Array:
    return np.abs(a)


_UNARY: dict[str, Callable[..., Array]] = {"abs": _absolute, "neg": np.negative}


def _saturating(function: Callable[..., Array], a: Array, b: Array) -> Array:
    return _clamp32(function(a.astype(np.int64), b))


def _rectified(function: Callable[..., Array], a: Array, b: Array) -> Array:
    return np.maximum(function(a, b), a.dtype.type(0))


def _pairwise(function: Callable[..., Array], half: np.dtype, a: Array, b: Array) -> Array:
    return join(function(split(a, half), split(b, half)), np.uint32)


def binary(inst: Instruction) -> Operation:
    """``add sub min max``, with ``.sat`` for s32, ``.relu``, ``.cc``, and two 16-bit halves at once."""
    if inst.has("cc"):
        return carrying(inst)
    function = _BINARY[inst.opcode]
    if inst.has("relu"):
        function = partial(_rectified, function)
    if inst.has(*_PAIRS):
        half = _PAIRS[pick(inst, _PAIRS)]
        return Operation(("b32",), ("b32", "b32"), partial(_pairwise, function, half))
    kind = _kind(inst)
    if inst.has("sat"):
        function = {"s32": partial(_saturating, function)}[kind]
    return Operation((kind,), (kind, kind), function)


def unary(inst: Instruction) -> Operation:
    """``abs`` and ``neg``: the most negative number is its own."""
    kind = _kind(inst)
    return Operation((kind,), (kind,), _UNARY[inst.opcode])


def _difference(a: Array, b: Array) -> Array:
    return np.maximum(a, b) - np.minimum(a, b)


def sad(inst: Instruction) -> Operation:
    """``sad``: ``c + |a - b|``."""
    kind = _kind(inst)
    return Operation((kind,), (kind,) * 3, lambda a, b, c: c + _difference(a, b))


# ---- products ------------------------------------------------------------------------------------

def _high64(a: Array, b: Array) -> Array:
    """The upper half of an unsigned 64 x 64 bit product, from 32-bit digits."""
    low, shift = _U64(0xFFFFFFFF), _U64(32)
    a0, a1, b0, b1 = a & low, a >> shift, b & low, b >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> shift) + (other >> shift)


def _high64_signed(a: Array, b: Array) -> Array:
    high = _high64(a.view(_U64), b.view(_U64)).view(np.int64)
    # A negative factor read as unsigned is 2**64 too large, which adds the other factor to the upper half.
    return high - ((a >> np.int64(63)) & b) - ((b >> np.int64(63)) & a)


def _wide_product(wider: np.dtype, a: Array, b: Array) -> Array:
    return a.astype(wider) * b


def _high_narrow(wider: np.dtype, narrow: np.dtype, a: Array, b: Array) -> Array:
    return ((a.astype(wider) * b) >> wider.type(8 * narrow.itemsize)).astype(narrow)


_HIGH: dict[str, Callable[..., Array]] = {
    "u64": _high64, "s64": _high64_signed,
    **{kind: partial(_high_narrow, DTYPES[wider], DTYPES[kind]) for kind, wider in _WIDER.items()},
}
_PRODUCTS: dict[str, dict[str, Callable[..., Array]]] = {
    "lo": dict.fromkeys(_KINDS, np.multiply),
    "hi": _HIGH,
    "wide": {kind: partial(_wide_product, DTYPES[wider]) for kind, wider in _WIDER.items()},
}


def _product(inst: Instruction) -> tuple[str, str, Callable[..., Array]]:
    """The product's result type, its factors' type, and itself."""
    manner = pick(inst, _PRODUCTS)
    kind = _kind(inst)
    return (_WIDER[kind] if manner == "wide" else kind), kind, _PRODUCTS[manner][kind]


def multiply(inst: Instruction) -> Operation:
    """``mul.lo .hi .wide``."""
    result, kind, product = _product(inst)
    return Operation((result,), (kind, kind), product)


def multiply_add(inst: Instruction) -> Operation:
    """``mad.lo .hi .wide``, ``.cc``, and ``mad.hi.sat.s32``."""
    if inst.has("cc"):
        return carrying(inst)
    result, kind, product = _product(inst)
    if inst.has("sat"):
        return Operation((result,), (kind, kind, result), {
            "s32": lambda a, b, c: _clamp32(product(a, b).astype(np.int64) + c),
        }[kind])
    return Operation((result,), (kind, kind, result), lambda a, b, c: product(a, b) + c)


def _short_factor(a: Array) -> Array:
    return (a << a.dtype.type(8)) >> a.dtype.type(8)


def multiply24(inst: Instruction) -> Operation:
    """``mul24`` and ``mad24``: factors of 24 bits; ``.lo`` the product's low 32 bits, ``.hi`` its bits 47 to 16."""
    kind = inst.type
    wider = DTYPES[_WIDER[kind]]
    drop = wider.type({"lo": 0, "hi": 16}[pick(inst, ("lo", "hi"))])

    def product(a: Array, b: Array) -> Array:
        return _short_factor(a).astype(wider) * _short_factor(b) >> drop

    if inst.opcode == "mul24":
        return Operation((kind,), (kind, kind), lambda a, b: product(a, b).astype(DTYPES[kind]))
    if inst.has("sat"):
        return Operation((kind,), (kind,) * 3, {"s32": lambda a, b, c: _clamp32(product(a, b) + c)}[kind])
    return Operation((kind,), (kind,) * 3, lambda a, b, c: product(a, b).astype(DTYPES[kind]) + c)


# ---- carries -------------------------------------------------------------------------------------

def _sum_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    partial_sum = a + b
    total = partial_sum + carry
    return total, (partial_sum < a) | (total < partial_sum)


def _difference_borrow(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    difference = a - b
    return difference - borrow, (a < b) | (difference < borrow)


def _product_carry(
    product: Callable[..., Array], factor: np.dtype, total: np.dtype, a: Array, b: Array, c: Array, carry: Array,
) -> tuple[Array, Array]:
    return _sum_carry(product(a.view(factor), b.view(factor)).view(total), c, carry)


_NO_CARRY = np.zeros(1, dtype=bool)


def carrying(inst: Instruction) -> Operation:
    """``add.cc addc sub.cc subc mad.cc madc``: the condition code is the carry out, or the borrow of a subtraction."""
    carry_in, carry_out = inst.opcode.endswith("c"), inst.has("cc")
    base = inst.opcode.removesuffix("c")
    raw = {kind: unsigned(kind) for kind in ("u32", "s32", "u64", "s64")}[inst.type]
    combined: Callable[..., tuple[Array, Array]] = {"sub": _difference_borrow}.get(base, _sum_carry)
    if base == "mad":
        _, kind, product = _product(inst)
        combined = partial(_product_carry, product, DTYPES[kind], DTYPES[raw])

    def run(*operands: Array) -> Any:
        result, carry = combined(*operands) if carry_in else combined(*operands, _NO_CARRY)
        return (result, carry) if carry_out else result

    return Operation((raw,), (raw,) * (3 if base == "mad" else 2), run, carry_in=carry_in, carry_out=carry_out)


# ---- division ------------------------------------------------------------------------------------

def _unsigned_quotient(a: Array, b: Array) -> Array:
    quotient = a // b
    return quotient if b.all() else np.where(b == 0, ~b, quotient)


def _signed_quotient(a: Array, b: Array) -> Array:
    raw = np.dtype(f"u{a.itemsize}")
    quotient = np.abs(a).view(raw) // np.abs(b).view(raw)
    sign = (a ^ b) >> a.dtype.type(8 * a.itemsize - 1)
    signed = (quotient.view(a.dtype) ^ sign) - sign
    return signed if b.all() else np.where(b == 0, ~b, signed)


def _remainder(quotient: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
    rest = a - quotient(a, b) * b
    return rest if b.all() else np.where(b == 0, ~b, rest)


def divide(inst: Instruction) -> Operation:
    """``div`` (toward zero) and ``rem`` (the sign of the dividend)."""
    kind = _kind(inst)
    quotient = {"u": _unsigned_quotient, "s": _signed_quotient}[kind[0]]
    functions: dict[str, Callable[..., Array]] = {"div": quotient, "rem": partial(_remainder, quotient)}
    return Operation((kind,), (kind, kind), functions[inst.opcode])


# ---- dot products, video -------------------------------------------------------------------------

_BYTES = {"u32": DTYPES["u8"], "s32": DTYPES["s8"]}
_SHORTS = {"u32": DTYPES["u16"], "s32": DTYPES["s16"]}


def dot(inst: Instruction) -> Operation:
    """``dp4a`` (four bytes by four) and ``dp2a`` (two halves by the two ``.lo`` or ``.hi`` bytes), added to ``c``."""
    left, right = inst.types
    result = "s32" if "s32" in inst.types else "u32"
    dtype = DTYPES[result]
    if inst.opcode == "dp4a":
        first, used = _BYTES[left], slice(None)
    else:
        first = _SHORTS[left]
        used = {"lo": slice(0, 2), "hi": slice(2, 4)}[pick(inst, ("lo", "hi"))]

    def run(a: Array, b: Array, c: Array) -> Array:
        total = c.view(np.int32)
        for x, y in zip(split(a, first).T, split(b, _BYTES[right])[:, used].T, strict=True):
            total = total + x.astype(np.int32) * y
        return total.view(dtype)

    return Operation((result,), (left, right, result), run)


def absolute_difference4(inst: Instruction) -> Operation:
    """``vabsdiff4``: ``|a - b|`` of four bytes; ``.add`` adds the four to ``c``, otherwise ``c`` is replaced."""
    result, left, right = inst.types
    dtype = DTYPES[result]

    def each(a: Array, b: Array) -> Array:
        return np.abs(split(a, _BYTES[left]).astype(np.int32) - split(b, _BYTES[right]))

    def packed(a: Array, b: Array, c: Array) -> Array:
        return join(np.broadcast_to(each(a, b), (max(a.size, b.size, c.size), 4)).astype(np.uint8), dtype)

    def added(a: Array, b: Array, c: Array) -> Array:
        return (c.astype(np.int64) + each(a, b).sum(axis=1)).astype(dtype)

    return Operation((result,), (left, right, result), added if inst.has("add") else packed)

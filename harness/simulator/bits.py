"""Bit operations and moves. NumPy defines shifts by the width or more (0, or the sign), as PTX does."""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness.simulator.elementwise import Array, bits_of, join, pack, pick, split, unsigned
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Immediate, Instruction, Vector

_U8, _U32, _U64 = np.uint8, np.uint32, np.uint64
_BITS = frozenset({"b16", "b32", "b64"})
_INTEGERS = frozenset({"u16", "s16", "u32", "s32", "u64", "s64"})


def _allowed(inst: Instruction, kinds: frozenset[str]) -> str:
    if inst.type not in kinds:
        raise KeyError(inst.type)
    return inst.type


# ---- moves ---------------------------------------------------------------------------------------

def _same(x: Array) -> Array:
    return x


def _unpack(dtype: np.dtype, x: Array) -> tuple[Array, ...]:
    return tuple(np.ascontiguousarray(part) for part in split(x, dtype).T)


def move(inst: Instruction) -> Operation:
    """``mov``: a copy, or between one register and the vector of its parts, least significant first."""
    kind = inst.type
    result, source = inst.operands
    if isinstance(source, Vector):
        part = f"b{bits_of(kind) // len(source.items)}"
        return Operation((kind,), (part,) * len(source.items), partial(pack, DTYPES[kind]))
    if isinstance(result, Vector):
        part = f"b{bits_of(kind) // len(result.items)}"
        return Operation((part,) * len(result.items), (kind,), partial(_unpack, DTYPES[part]))
    return Operation((kind,), (kind,), _same)


# ---- logic ---------------------------------------------------------------------------------------

_LOGIC: dict[str, Callable[..., Array]] = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert,
}


def logic(inst: Instruction) -> Operation:
    """``and or xor not`` of bits or predicates."""
    kind = _allowed(inst, _BITS | {"pred"})
    function = _LOGIC[inst.opcode]
    return Operation((kind,), (kind,) * (1 if inst.opcode == "not" else 2), function)


def cnot(inst: Instruction) -> Operation:
    """``cnot``: 1 where the source is 0, else 0."""
    kind = _allowed(inst, _BITS)
    return Operation((kind,), (kind,), lambda a: (a == 0).astype(a.dtype))


#: The sixteen functions of two bits, by truth table: bit ``2a + b`` is the value at (a, b).
_TWO_BITS: tuple[Callable[[Array, Array], Array], ...] = (
    lambda a, b: np.zeros_like(a), lambda a, b: ~(a | b), lambda a, b: ~a & b, lambda a, b: ~a,
    lambda a, b: a & ~b, lambda a, b: ~b, lambda a, b: a ^ b, lambda a, b: ~(a & b),
    lambda a, b: a & b, lambda a, b: ~(a ^ b), lambda a, b: b, lambda a, b: ~a | b,
    lambda a, b: a, lambda a, b: a | ~b, lambda a, b: a | b, lambda a, b: ~np.zeros_like(a),
)
_BOOLEAN: dict[str, Callable[..., Array]] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _three_bits(table: int) -> Callable[[Array, Array, Array], Array]:
    """The function with this truth table, whose bit ``4a + 2b + c`` is the value at (a, b, c)."""
    when_clear = sum((table >> 2 * i & 1) << i for i in range(4))
    when_set = sum((table >> 2 * i + 1 & 1) << i for i in range(4))
    base, change = _TWO_BITS[when_clear], _TWO_BITS[when_clear ^ when_set]
    return lambda a, b, c: base(a, b) ^ (c & change(a, b))


def lop3(inst: Instruction) -> Operation:
    """``lop3``: any function of three bits by its look-up table; ``.and`` and so on also give a predicate."""
    kind = _allowed(inst, frozenset({"b32"}))
    table = inst.operands[4]
    if not isinstance(table, Immediate):
        raise KeyError("a look-up table that is no literal")
    function = _three_bits(table.value & 0xFF)
    combine = next((_BOOLEAN[word] for word in _BOOLEAN if inst.has(word)), None)
    if combine is None:
        return Operation((kind,), (kind,) * 4, lambda a, b, c, lut: function(a, b, c))

    def with_predicate(a: Array, b: Array, c: Array, lut: Array, q: Array) -> tuple[Array, Array]:
        result = function(a, b, c)
        return result, combine(result != 0, q)

    return Operation((kind, "pred"), (*(kind,) * 4, "pred"), with_predicate)


# ---- shifts and fields ---------------------------------------------------------------------------

def _shift(function: Callable[[Array, Array], Array], dtype: np.dtype, a: Array, count: Array) -> Array:
    # Clamped first: a 16-bit shift must not see the count wrapped.
    return function(a, np.minimum(count, _U32(64)).astype(dtype))


def shift(inst: Instruction) -> Operation:
    """``shl`` and ``shr``: counts of the width or more leave zeros, or copies of the sign."""
    kind = _allowed(inst, _BITS | _INTEGERS)
    function = {"shl": np.left_shift, "shr": np.right_shift}[inst.opcode]
    call = function if kind in ("b32", "u32") else partial(_shift, function, DTYPES[kind])
    return Operation((kind,), (kind, "u32"), call)


_COUNTS: dict[str, Callable[[Array], Array]] = {
    "wrap": lambda c: c & _U32(31), "clamp": lambda c: np.minimum(c, _U32(32)),
}


def funnel(inst: Instruction) -> Operation:
    """``shf``: the 64 bits ``b:a`` shifted, and the upper (``.l``) or lower (``.r``) half of that."""
    kind = _allowed(inst, frozenset({"b32"}))
    count = _COUNTS[pick(inst, _COUNTS)]

    def left(a: Array, b: Array, c: Array) -> Array:
        return ((_wide(a, b) << count(c)) >> _U64(32)).astype(_U32)

    def right(a: Array, b: Array, c: Array) -> Array:
        return (_wide(a, b) >> count(c)).astype(_U32)

    return Operation((kind,), (kind, kind, "u32"), {"l": left, "r": right}[pick(inst, "lr")])


def _wide(low: Array, high: Array) -> Array:
    return (high.astype(_U64) << _U64(32)) | low


def _field_number(width: int, x: Array) -> Array:
    """A field's position or length, which PTX limits to 255. Hardware takes the low byte, or clamps for 64 bits."""
    return np.minimum(x, _U32(255)) if width == 64 else x & _U32(0xFF)


def _extract(width: int, a: Array, position: Array, length: Array) -> Array:
    dtype = a.dtype
    position = _field_number(width, position).astype(np.int64)
    length = _field_number(width, length).astype(np.int64)
    # The field's top bit goes to the register's top, unless the field already sticks out there.
    left = np.maximum(width - position - length, 0)
    right = left + position
    field = (a << left.astype(dtype)) >> right.astype(dtype)
    return np.where(length == 0, dtype.type(0), field)


def extract(inst: Instruction) -> Operation:
    """``bfe``: a field of bits, sign-extended for signed types."""
    kind = _allowed(inst, frozenset({"u32", "s32", "u64", "s64"}))
    return Operation((kind,), (kind, "u32", "u32"), partial(_extract, bits_of(kind)))


def _insert(a: Array, b: Array, position: Array, length: Array) -> Array:
    dtype = a.dtype
    position = _field_number(8 * a.itemsize, position).astype(dtype)
    length = _field_number(8 * a.itemsize, length).astype(dtype)
    one = dtype.type(1)
    mask = ((one << length) - one) << position
    return (b & ~mask) | ((a << position) & mask)


def insert(inst: Instruction) -> Operation:
    """``bfi``: the low bits of ``a`` put into ``b`` as a field."""
    kind = _allowed(inst, frozenset({"b32", "b64"}))
    return Operation((kind,), (kind, kind, "u32", "u32"), _insert)


def _ones(count: Array) -> Array:
    return ((_U64(1) << count.astype(_U64)) - _U64(1)).astype(_U32)


def mask(inst: Instruction) -> Operation:
    """``bmsk``: ``b`` ones from bit ``a`` upwards."""
    limit = _COUNTS[pick(inst, _COUNTS)]
    kind = _allowed(inst, frozenset({"b32"}))
    return Operation((kind,), ("u32", "u32"), lambda a, b: _ones(limit(b)) << limit(a))


def _extend(dtype: np.dtype, limit: Callable[[Array], Array], a: Array, count: Array) -> Array:
    gap = (_U32(32) - limit(count)).astype(dtype)
    return np.where(gap == 32, dtype.type(0), (a << gap) >> gap)


def extend(inst: Instruction) -> Operation:
    """``szext``: the low ``b`` bits, sign- or zero-extended."""
    kind = _allowed(inst, frozenset({"u32", "s32"}))
    return Operation((kind,), (kind, "u32"), partial(_extend, DTYPES[kind], _COUNTS[pick(inst, _COUNTS)]))


# ---- counting and finding ------------------------------------------------------------------------

def bit_length(x: Array) -> Array:
    """How many bits an unsigned number needs, 0 for 0 (uint32)."""
    # Without the bit below its top one the number can't round up to the next power of two.
    floating = (x & ~(x >> x.dtype.type(1))).astype(np.float64)
    return np.maximum((floating.view(np.int64) >> 52) - 1022, 0).astype(_U32)


def count(inst: Instruction) -> Operation:
    """``popc`` and ``clz``."""
    kind = _allowed(inst, frozenset({"b32", "b64"}))
    width = _U32(bits_of(kind))
    functions: dict[str, Callable[[Array], Array]] = {
        "popc": lambda a: np.bitwise_count(a).astype(_U32), "clz": lambda a: width - bit_length(a),
    }
    return Operation(("u32",), (kind,), functions[inst.opcode])


def find(inst: Instruction) -> Operation:
    """``bfind``: the place of the top bit that isn't a sign bit (``.shiftamt``: its distance from the top), or ~0."""
    kind = _allowed(inst, frozenset({"u32", "s32", "u64", "s64"}))
    width, raw = _U32(bits_of(kind)), DTYPES[unsigned(kind)]
    distance = inst.has("shiftamt")
    signed = kind.startswith("s")

    def top_bit(a: Array) -> Array:
        magnitude = (a ^ (a >> a.dtype.type(width - 1))).view(raw) if signed else a
        length = bit_length(magnitude)
        return np.where(length == 0, _U32(0xFFFFFFFF), width - length) if distance else length - _U32(1)

    return Operation(("u32",), (kind,), top_bit)


_REVERSED_BYTES = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=_U8)


def _reverse(a: Array) -> Array:
    return join(_REVERSED_BYTES[split(a, _U8)], a.dtype).byteswap()


def reverse(inst: Instruction) -> Operation:
    """``brev``: the bits in the opposite order."""
    kind = _allowed(inst, frozenset({"b32", "b64"}))
    return Operation((kind,), (kind,), _reverse)


def _nth_set(bits: Array, base: Array, offset: Array) -> Array:
    """The place of the n-th set bit from ``base``: at or above it for n > 0, at or below for n < 0, itself for 0."""
    bits, base, offset = np.broadcast_arrays(bits, base, offset)
    places = np.arange(32)
    is_set = (bits[:, None] >> places.astype(_U32)) & _U32(1) == 1
    start = base.astype(np.int64)[:, None]
    wanted = np.where(offset == 0, 1, np.abs(offset.astype(np.int64)))[:, None]
    up = is_set & np.where(offset[:, None] == 0, places == start, places >= start)
    down = is_set & (places <= start)
    rising = up & (np.cumsum(up, axis=1) == wanted)
    falling = down & (np.cumsum(down[:, ::-1], axis=1)[:, ::-1] == wanted)
    found = np.where(offset[:, None] < 0, falling, rising) & (start < 32)
    return np.where(found.any(axis=1), found.argmax(axis=1), 0xFFFFFFFF).astype(_U32)


def nth_set(inst: Instruction) -> Operation:
    """``fns``: find the n-th set bit."""
    _allowed(inst, frozenset({"b32"}))
    return Operation(("b32",), ("b32", "u32", "s32"), _nth_set)


# ---- bytes ---------------------------------------------------------------------------------------

#: Selectors of ``prmt``'s modes by the low two bits of its third operand ("Data Movement: prmt").
_MODES: dict[str, tuple[int, int, int, int]] = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def _permute(a: Array, b: Array, selector: Array) -> Array:
    source = _wide(a, b)
    result: Any = _U32(0)
    for place in range(4):
        chosen = selector >> _U32(4 * place)
        byte = (source >> ((chosen & _U32(7)) << _U32(3))).astype(_U8)
        if (chosen & _U32(8)).any():
            signs = (byte.view(np.int8) >> np.int8(7)).view(_U8)
            byte = np.where(chosen & _U32(8), signs, byte)
        result = result | (byte.astype(_U32) << _U32(8 * place))
    return result


def permute(inst: Instruction) -> Operation:
    """``prmt``: each byte of the result is one of the eight of ``b:a``, or that byte's sign repeated."""
    kind = _allowed(inst, frozenset({"b32"}))
    mode = pick(inst, _MODES, "default")
    if mode == "default":
        return Operation((kind,), (kind, kind, "u32"), _permute)
    selectors = np.array(_MODES[mode], dtype=_U32)
    return Operation((kind,), (kind, kind, "u32"), lambda a, b, c: _permute(a, b, selectors[c & _U32(3)]))

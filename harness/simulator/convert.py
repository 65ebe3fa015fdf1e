"""``cvt``: between integers and floats of every width, rounded once in the mode named, saturated as PTX says.

A float too large for an integer type gives its nearest value. A NaN gives 0, or only the top bit set if the source is
f64 or the result has 64 bits ("Data Movement and Conversion Instructions: cvt", PTX 9.0).
"""

# mypy: disable-error-code="no-any-return"
# NumPy types arithmetic with a scalar of a dtype known only at run time as Any.
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from harness.simulator.elementwise import Array, flush, pack, pick, rectify, saturate
from harness.simulator.halves import F16, LOADERS, narrow_to_bf16, to_bf16
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Instruction
from harness.simulator.rounding import F32, F64, MODES, NARROW, to_odd, two_sum
from harness.simulator.rounding64 import nudge

Function = Callable[[Array], Array]

_INTEGERS = frozenset({"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"})
_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
_PAIRS = {"f16x2": "f16", "bf16x2": "bf16"}
_WHOLE: dict[str, Function] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


# ---- from integers -------------------------------------------------------------------------------

def _clamped(dtype: np.dtype, x: Array) -> Array:
    low = max(int(np.iinfo(dtype).min), int(np.iinfo(x.dtype).min))
    high = min(int(np.iinfo(dtype).max), int(np.iinfo(x.dtype).max))
    return np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(dtype)


def _integer_to_integer(inst: Instruction, result: str, source: str) -> Operation:
    dtype = DTYPES[result]
    return Operation((result,), (source,), partial(_clamped, dtype) if inst.has("sat") else lambda x: x.astype(dtype))


def _two_words(x: Array) -> tuple[Array, Array]:
    """A 64-bit integer as a float64 and its exact error."""
    half = x.dtype.type(32)
    upper = (x >> half).astype(F64) * 2.0**32
    return two_sum(upper, (x & x.dtype.type(0xFFFFFFFF)).astype(F64))


def _odd64(x: Array) -> Array:
    """Any integer as a float64, rounded to odd."""
    return to_odd(*_two_words(x)) if x.itemsize == 8 else x.astype(F64)


def _nudged64(mode: str, x: Array) -> Array:
    return nudge(*_two_words(x), mode) if x.itemsize == 8 else x.astype(F64)


_NARROWER: dict[str, np.dtype] = {"f16": F16, "f32": F32}


def _from_odd64(result: str, mode: str) -> Function:
    """Rounds a float64, exact or rounded to odd, to a narrower float type."""
    if result == "bf16":
        return partial(narrow_to_bf16, mode=mode)
    narrow, dtype = NARROW[mode], _NARROWER[result]
    return lambda x: narrow(x, dtype)


def _integer_to_float(inst: Instruction, result: str, source: str) -> Operation:
    mode = pick(inst, MODES)
    dtype = DTYPES[result]
    if mode == "rn" and result in ("f32", "f64"):
        function: Function = lambda x: x.astype(dtype)  # noqa: E731
    elif result == "f64":
        function = partial(_nudged64, mode)
    else:
        narrow = _from_odd64(result, mode)
        function = lambda x: narrow(_odd64(x))  # noqa: E731
    return Operation((result,), (source,), _then(function, *([saturate] if inst.has("sat") else [])))


# ---- from floats ---------------------------------------------------------------------------------

def _then(*steps: Function) -> Function:
    """The steps in a row."""
    if len(steps) == 1:
        return steps[0]

    def run(x: Array) -> Array:
        for step in steps:
            x = step(x)
        return x

    return run


def _to_integer(dtype: np.dtype, whole: Function, nan: int, x: Array) -> Array:
    limits = np.iinfo(dtype)
    rounded = whole(x.astype(F32) if x.itemsize == 2 else x)
    top = rounded.dtype.type(2.0 ** (limits.bits - (limits.min < 0)))
    inside = (rounded >= rounded.dtype.type(limits.min)) & (rounded < top)
    if inside.all():
        return rounded.astype(dtype)
    result = np.where(inside, rounded, rounded.dtype.type(0)).astype(dtype)
    result[rounded >= top] = limits.max
    result[rounded < limits.min] = limits.min
    result[np.isnan(rounded)] = dtype.type(nan)
    return result


def _float_to_integer(inst: Instruction, result: str, source: str) -> Operation:
    dtype = DTYPES[result]
    limits = np.iinfo(dtype)
    top_bit = limits.min if limits.min < 0 else limits.max // 2 + 1
    nan = int(top_bit) if source == "f64" or limits.bits == 64 else 0
    convert = partial(_to_integer, dtype, _WHOLE[pick(inst, _WHOLE)], nan)
    return Operation((result,), (source,), _then(*_read(inst, source), convert))


def _read(inst: Instruction, source: str) -> list[Function]:
    """The steps that make a register of a float type into NumPy floats."""
    return [LOADERS[source]] * (source == "bf16") + [flush] * (inst.has("ftz") and source == "f32")


def _exactly(dtype: np.dtype, x: Array) -> Array:
    return x.astype(dtype)


def _narrow(result: str, source: str, mode: str) -> Function:
    """Rounds NumPy floats holding values of ``source`` to ``result``."""
    if (result, source) == ("bf16", "f64"):
        return partial(narrow_to_bf16, mode=mode)
    if result == "bf16":
        return lambda x: to_bf16(x.astype(F32), mode)
    if mode == "rn":
        return partial(_exactly, DTYPES[result])
    narrow = _from_odd64(result, mode)
    return lambda x: narrow(x.astype(F64))


#: Conversions that lose nothing and so name no rounding.
_WIDENING = frozenset({("f32", "f16"), ("f64", "f16"), ("f32", "bf16"), ("f64", "bf16"), ("f64", "f32")})


def _float_to_float(inst: Instruction, result: str, source: str) -> Operation:
    steps = _read(inst, source)
    if inst.has(*_WHOLE):
        steps.append(_WHOLE[pick(inst, _WHOLE)])
    # Clamping before or after rounding is the same: 0 and 1 are numbers of every type.
    steps += [treat for word, treat in (("sat", saturate), ("relu", rectify)) if inst.has(word)]
    if (result, source) in _WIDENING:
        steps.append(partial(_exactly, DTYPES[result]))
    elif result == source:
        steps += [to_bf16] * (result == "bf16")
    else:
        steps.append(_narrow(result, source, pick(inst, MODES)))
    steps += [flush] * (inst.has("ftz") and result == "f32")
    return Operation((result,), (source,), _then(*steps or [lambda x: x]))


# ---- packed --------------------------------------------------------------------------------------

def _pair(inst: Instruction, result: str, source: str) -> Operation:
    """``cvt.rn.f16x2.f32 d, a, b``: ``a`` in the upper half."""
    if source != "f32":
        raise KeyError(source)
    treat = [step for word, step in (("ftz", flush), ("relu", rectify)) if inst.has(word)]
    narrow = _then(*treat, _narrow(_PAIRS[result], source, pick(inst, ("rn", "rz"))))
    return Operation((result,), (source, source), lambda a, b: pack(np.uint32, narrow(b), narrow(a)))


def _tf32(x: Array) -> Array:
    """To nearest with ties away from zero, the 13 lowest bits cleared."""
    bits = x.view(np.uint32)
    return np.where(np.isfinite(x), bits + np.uint32(0x1000), bits) & np.uint32(0xFFFFE000)


_PACKED = frozenset({"u8", "s8", "u16", "s16"})


def _saturating_pack(inst: Instruction) -> Operation:
    """``cvt.pack.sat d, a, b {, c}``: ``a`` above ``b``, saturated, and for bytes ``c`` above both."""
    result, source = inst.types[:2]
    dtype = DTYPES[result]
    if result not in _PACKED or source != "s32" or not inst.has("sat"):
        raise KeyError(source)
    if len(inst.types) == 2:
        both = partial(pack, np.uint32)
        return Operation(("b32",), (source, source), lambda a, b: both(_clamped(dtype, b), _clamped(dtype, a)))
    bits = 8 * dtype.itemsize
    raw, shift = np.dtype(f"u{dtype.itemsize}"), np.uint32(2 * bits)

    def run(a: Array, b: Array, c: Array) -> Array:
        upper, lower = (_clamped(dtype, x).view(raw).astype(np.uint32) for x in (a, b))
        return (c << shift) | (upper << np.uint32(bits)) | lower

    return Operation(("b32",), (source, source, "b32"), run)


_FAMILIES: dict[str, str] = {
    **dict.fromkeys(_INTEGERS, "integer"), **dict.fromkeys(_FLOATS, "float"), **dict.fromkeys(_PAIRS, "pair"),
}
_BUILDERS: dict[tuple[str, str], Callable[[Instruction, str, str], Operation]] = {
    ("integer", "integer"): _integer_to_integer, ("float", "integer"): _integer_to_float,
    ("integer", "float"): _float_to_integer, ("float", "float"): _float_to_float, ("pair", "float"): _pair,
}


def convert(inst: Instruction) -> Operation:
    """Any ``cvt``."""
    if inst.has("pack"):
        return _saturating_pack(inst)
    if inst.has("tf32"):
        pick(inst, ("rna",))
        return Operation(("b32",), ("f32",), _tf32)
    result, source = inst.types
    return _BUILDERS[_FAMILIES[result], _FAMILIES[source]](inst, result, source)

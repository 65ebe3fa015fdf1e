"""Comparisons and choices: ``setp set selp slct``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.simulator.elementwise import Array, flush, join, pick, select
from harness.simulator.halves import FORMATS, LOADERS
from harness.simulator.operation import Operation
from harness.simulator.ptx import DTYPES, Instruction, Vector

Compare = Callable[..., Array]

_ORDER: dict[str, Compare] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}
_HIGHER: dict[str, Compare] = {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
_ORDERED: dict[str, Compare] = {
    **_ORDER, "ne": lambda a, b: (a < b) | (a > b), "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
}
#: The unordered comparisons hold for NaN too: each is the opposite of an ordered one.
_UNORDERED: dict[str, Compare] = {
    "neu": np.not_equal, "equ": lambda a, b: ~((a < b) | (a > b)), "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b), "gtu": lambda a, b: ~(a <= b), "geu": lambda a, b: ~(a < b),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
_FLOAT = _ORDERED | _UNORDERED
_BITS: dict[str, Compare] = {"eq": np.equal, "ne": np.not_equal}
_COMPARISONS: dict[str, dict[str, Compare]] = {
    **dict.fromkeys(("b16", "b32", "b64"), _BITS),
    **dict.fromkeys(("s16", "s32", "s64"), _ORDER),
    **dict.fromkeys(("u16", "u32", "u64"), _ORDER | _HIGHER),
    **dict.fromkeys(LOADERS, _FLOAT),
}
_COMBINE: dict[str, Compare] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _comparison(inst: Instruction, kind: str) -> Compare:
    """The comparison of two registers of ``kind``, giving ``(lanes, 2)`` for a packed type."""
    table = _COMPARISONS[kind]
    compare = table[pick(inst, table)]
    load = LOADERS.get(kind)
    if load is None or (kind in ("f32", "f64", "f16") and not inst.has("ftz")):
        return compare
    if inst.has("ftz"):
        return lambda a, b: compare(flush(load(a)), flush(load(b)))
    return lambda a, b: compare(load(a), load(b))


def _per_predicate(holds: Array, packed: bool) -> tuple[Array, Array]:
    """What ``p`` and ``q`` test: the low and the high half of a packed comparison, or it and its opposite."""
    if packed:
        return np.ascontiguousarray(holds[:, 0]), np.ascontiguousarray(holds[:, 1])
    return holds, ~holds


def setp(inst: Instruction) -> Operation:
    """``setp``: one or two predicates from a comparison, joined with a third predicate by ``.and .or .xor``."""
    kind = inst.type
    compare = _comparison(inst, kind)
    packed = kind in FORMATS and FORMATS[kind].packed
    pair = isinstance(inst.operands[0], Vector)
    combine = _COMBINE[pick(inst, _COMBINE)] if inst.has(*_COMBINE) else None
    if not (packed or pair or combine):
        return Operation(("pred",), (kind, kind), compare)

    def run(a: Array, b: Array, *third: Array) -> Any:
        tests = _per_predicate(compare(a, b), packed)[: 1 + pair]
        results = tuple(combine(test, *third) for test in tests) if combine else tests
        return results if pair else results[0]

    return Operation(("pred",) * (1 + pair), (kind, kind, *("pred",) * bool(combine)), run)


#: The bits ``set`` writes for true, by result type: 1.0, or every bit. Packed results have one in each half.
_TRUE: dict[str, int] = {
    "u16": 0xFFFF, "s16": 0xFFFF, "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000,
    "f16": 0x3C00, "f16x2": 0x3C00, "bf16": 0x3F80, "bf16x2": 0x3F80,
}
_TRUE_HALF = {"u32": 0xFFFF, "s32": 0xFFFF, "f16x2": 0x3C00, "bf16x2": 0x3F80}


def set_(inst: Instruction) -> Operation:
    """``set``: a comparison as a number, 1.0 or all ones for true."""
    result, kind = inst.types
    compare = _comparison(inst, kind)
    packed = kind in FORMATS and FORMATS[kind].packed
    dtype = DTYPES[result]
    pattern: Any = np.uint16(_TRUE_HALF[result]) if packed else np.dtype(f"u{dtype.itemsize}").type(_TRUE[result])

    def number(holds: Array) -> Array:
        filled = holds * pattern
        return join(filled, dtype) if packed else filled.view(dtype)

    if not inst.has(*_COMBINE):
        return Operation((result,), (kind, kind), lambda a, b: number(compare(a, b)))
    combine = _COMBINE[pick(inst, _COMBINE)]

    def combined(a: Array, b: Array, c: Array) -> Array:
        return number(combine(compare(a, b), c[:, None] if packed else c))

    return Operation((result,), (kind, kind, "pred"), combined)


_CHOSEN = frozenset({"b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"})


def selp(inst: Instruction) -> Operation:
    """``selp``: one of two values by a predicate."""
    kind = inst.type
    if kind not in _CHOSEN:
        raise KeyError(kind)
    return Operation((kind,), (kind, kind, "pred"), lambda a, b, p: select(p, a, b))


def slct(inst: Instruction) -> Operation:
    """``slct``: ``a`` where ``c >= 0`` (-0 too), else ``b`` (NaN too)."""
    kind, test = inst.types
    if kind not in _CHOSEN or test not in ("s32", "f32"):
        raise KeyError(test)
    compare = flush if inst.has("ftz") else None
    return Operation((kind,), (kind, kind, test), lambda a, b, c: select((compare(c) if compare else c) >= 0, a, b))

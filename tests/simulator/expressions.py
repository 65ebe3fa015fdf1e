"""Random C++ expressions that say what they are worth: text for the compiler, NumPy for the truth.

Nothing here is undefined in C++: sums wrap through unsigned types, shifts and quotients are guarded, conversions of
floats use the intrinsics that saturate. Contraction of ``a * b + c`` must be off.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.simulator.exact import rounded

CPP = {
    "i1": "signed char", "u1": "unsigned char", "i2": "short", "u2": "unsigned short", "i4": "int", "u4": "unsigned",
    "i8": "long long", "u8": "unsigned long long", "f4": "float", "f8": "double",
}  # fmt: skip
INTEGERS = tuple(kind for kind in CPP if kind[0] in "iu")
KINDS = tuple(CPP)

#: Functions that the expressions call, without which they would be long or undefined.
PRELUDE = """\
typedef unsigned long long u64;
template <class T> __device__ T quotient(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a / b); }
template <class T> __device__ T remainder_of(T a, T b) { return b == 0 || b == (T)-1 ? b : (T)(a % b); }
template <class T> __device__ T size(T a) { return a < 0 ? (T)(0 - (u64)a) : a; }
template <class T> __device__ T signed_like(T a, T b) { return copysign(a, b == b ? b : (T)1); }
template <class T> __device__ T loaded(const u64* in, int variable, int lanes) {
    return *reinterpret_cast<const T*>(in + variable * lanes + threadIdx.x);
}
template <class T> __device__ u64 bits_of(T a) { return (u64)a; }
__device__ u64 bits_of(float a) { return __float_as_uint(a); }
__device__ u64 bits_of(double a) { return (u64)__double_as_longlong(a); }
"""

#: Values of the variables by name, one per lane.
Scope = dict[str, np.ndarray]
Value = Callable[[Scope], np.ndarray]


@dataclass(frozen=True)
class Expression:
    """Of a kind (a NumPy dtype's name): its text, and its value in every lane."""

    kind: str
    text: str
    value: Value


def width(kind: str) -> int:
    """Bits of a kind."""
    return 8 * int(kind[1])


def awkward(kind: str) -> np.ndarray:
    """Values of a kind at which arithmetic goes wrong."""
    if kind[0] == "f":
        info = np.finfo(kind)
        edges = [info.max, info.tiny, info.smallest_subnormal, info.eps, math.inf]
        some = [0.0, 1.0, 1.5, 0.1, 7.0, 255.5, 2.5, 65536.0, 2.0**31, 2.0**63, 1e10, *edges]
        return np.array([*some, *(-one for one in some), math.nan], kind)
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return np.array([low, low + 1, *range(-3 if low else 0, 9), high // 2, high // 2 + 1, high - 1, high], kind)


class Generator:
    """Makes expressions over the variables ``i4_0``, ``f4_1`` ... from a seeded source of chance."""

    def __init__(self, seed: int, variables: int = 2) -> None:
        self.random = random.Random(seed)
        self.variables = variables
        self.names = 0
        #: Variables of enclosing loops, by kind.
        self.local: dict[str, list[str]] = {kind: [] for kind in KINDS}

    def expression(self, kind: str, depth: int) -> Expression:
        """One of this kind; ``depth`` bounds how far it nests."""
        if depth <= 0 or self.random.random() < 0.1:
            return self._leaf(kind)
        shared = [self._ternary, self._loop, self._switch, self._table]
        own = [self._float_sum, self._float_function, self._fused, self._to_float] if kind[0] == "f" else [
            self._sum, self._logic, self._shift, self._division, self._integer_extreme, self._cast, self._from_float,
        ]  # fmt: skip
        if kind in ("i4", "u4"):
            own += [self._intrinsic] * 3
        choices = own * 2 + [self.random.choice(shared)]
        return self.random.choice(choices)(kind, depth - 1)

    def condition(self, depth: int) -> Expression:
        """One that is true or false."""
        if depth > 0 and self.random.random() < 0.3:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            sign, combine = self.random.choice([("&&", np.logical_and), ("||", np.logical_or), ("!=", np.not_equal)])
            return Expression("?", f"({a.text} {sign} {b.text})", lambda s: combine(a.value(s), b.value(s)))
        kind = self.random.choice(KINDS)
        a, b = self.expression(kind, depth), self.expression(kind, depth)
        sign, compare = self.random.choice(_COMPARISONS)
        if self.random.random() < 0.2:
            return Expression("?", f"!({a.text} {sign} {b.text})", lambda s: ~compare(a.value(s), b.value(s)))
        return Expression("?", f"({a.text} {sign} {b.text})", lambda s: compare(a.value(s), b.value(s)))

    def _leaf(self, kind: str) -> Expression:
        if self.random.random() < 0.25:
            return constant(kind, self.random.choice(awkward(kind)[:-1]))
        names = [f"{kind}_{number}" for number in range(self.variables)] + self.local[kind] * 2
        name = self.random.choice(names)
        return Expression(kind, name, lambda s: s[name])

    def _two(self, kind: str, depth: int) -> tuple[Expression, Expression]:
        return self.expression(kind, depth), self.expression(kind, depth)

    # --- integers

    def _sum(self, kind: str, depth: int) -> Expression:
        a, b = self._two(kind, depth)
        sign, ufunc = self.random.choice([("+", np.add), ("-", np.subtract), ("*", np.multiply)])
        text = f"({CPP[kind]})((u64){a.text} {sign} (u64){b.text})"
        if width(kind) == 32:
            text = f"({CPP[kind]})((unsigned){a.text} {sign} (unsigned){b.text})"
        return Expression(kind, text, lambda s: ufunc(a.value(s), b.value(s)))

    def _logic(self, kind: str, depth: int) -> Expression:
        a, b = self._two(kind, depth)
        sign, ufunc = self.random.choice(
            [("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor), ("~", None)]
        )
        if ufunc is None:
            return Expression(kind, f"({CPP[kind]})~{a.text}", lambda s: ~a.value(s))
        return Expression(kind, f"({CPP[kind]})({a.text} {sign} {b.text})", lambda s: ufunc(a.value(s), b.value(s)))

    def _shift(self, kind: str, depth: int) -> Expression:
        a, b = self.expression(kind, depth), self.expression("u4", depth)
        last = width(kind) - 1
        if self.random.random() < 0.5:
            text = f"({CPP[kind]})((u64){a.text} << ({b.text} & {last}))"
            return Expression(kind, text, lambda s: a.value(s) << (b.value(s) & last).astype(kind))
        text = f"({CPP[kind]})({a.text} >> ({b.text} & {last}))"
        return Expression(kind, text, lambda s: a.value(s) >> (b.value(s) & last).astype(kind))

    def _division(self, kind: str, depth: int) -> Expression:
        a, b = self._two(kind, depth)
        if self.random.random() < 0.5:
            return Expression(kind, f"quotient({a.text}, {b.text})", lambda s: _divided(a.value(s), b.value(s))[0])
        return Expression(kind, f"remainder_of({a.text}, {b.text})", lambda s: _divided(a.value(s), b.value(s))[1])

    def _integer_extreme(self, kind: str, depth: int) -> Expression:
        a, b = self._two(kind, depth)
        name, ufunc = self.random.choice([("min", np.minimum), ("max", np.maximum), ("size", np.abs)])
        if name == "size":
            return Expression(kind, f"size({a.text})", lambda s: np.abs(a.value(s)))
        return Expression(kind, f"({CPP[kind]}){name}({a.text}, {b.text})", lambda s: ufunc(a.value(s), b.value(s)))

    def _cast(self, kind: str, depth: int) -> Expression:
        a = self.expression(self.random.choice(INTEGERS), depth)
        return Expression(kind, f"({CPP[kind]}){a.text}", lambda s: a.value(s).astype(kind))

    def _from_float(self, kind: str, depth: int) -> Expression:
        source, to = self.random.choice(["f4", "f8"]), self.random.choice(["i4", "u4", "i8", "u8"])
        mode, how = self.random.choice([("rz", np.trunc), ("rn", np.rint), ("rd", np.floor), ("ru", np.ceil)])
        a = self.expression(source, depth)
        words = {"i4": "int", "u4": "uint", "i8": "ll", "u8": "ull", "f4": "float", "f8": "double"}
        text = f"({CPP[kind]})__{words[source]}2{words[to]}_{mode}({a.text})"
        return Expression(kind, text, lambda s: _saturated(how(a.value(s)), to).astype(kind))

    def _intrinsic(self, kind: str, depth: int) -> Expression:
        name, kinds, result, function = self.random.choice(_INTRINSICS)
        sources = [self.expression(one, depth) for one in kinds]
        text = f"({CPP[kind]}){name}({', '.join(source.text for source in sources)})"
        return Expression(
            kind, text, lambda s: function(*(one.value(s) for one in sources)).astype(result).astype(kind)
        )

    # --- floats

    def _float_sum(self, kind: str, depth: int) -> Expression:
        a, b = self._two(kind, depth)
        sign, ufunc = self.random.choice([("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)])
        return Expression(kind, f"({a.text} {sign} {b.text})", lambda s: ufunc(a.value(s), b.value(s)))

    def _float_function(self, kind: str, depth: int) -> Expression:
        a, b = self._two(kind, depth)
        end = "f" if kind == "f4" else ""
        name, function = self.random.choice(_FLOAT_FUNCTIONS)
        sources = [a, b] if name in ("fmin", "fmax", "signed_like") else [a]
        name = name if name in ("-", "signed_like") else name + end
        text = f"({name}({', '.join(source.text for source in sources)}))"
        return Expression(kind, text, lambda s: function(*(one.value(s) for one in sources)))

    def _fused(self, kind: str, depth: int) -> Expression:
        a, b, c = self.expression(kind, depth), self.expression(kind, depth), self.expression(kind, depth)
        text = f"fma{'f' if kind == 'f4' else ''}({a.text}, {b.text}, {c.text})"
        return Expression(kind, text, lambda s: _fused(a.value(s), b.value(s), c.value(s)))

    def _to_float(self, kind: str, depth: int) -> Expression:
        if self.random.random() < 0.2:
            name, source = ("__int_as_float", "i4") if kind == "f4" else ("__longlong_as_double", "i8")
            a = self.expression(source, depth)
            return Expression(kind, f"{name}({a.text})", lambda s: np.ascontiguousarray(a.value(s)).view(kind))
        a = self.expression(self.random.choice([one for one in KINDS if one != kind]), depth)
        return Expression(kind, f"({CPP[kind]}){a.text}", lambda s: a.value(s).astype(kind))

    # --- control flow; each is a lambda that is called at once

    def _ternary(self, kind: str, depth: int) -> Expression:
        test, (a, b) = self.condition(depth), self._two(kind, depth)
        return Expression(kind, f"({test.text} ? {a.text} : {b.text})",
                          lambda s: np.where(test.value(s), a.value(s), b.value(s)))  # fmt: skip

    def _switch(self, kind: str, depth: int) -> Expression:
        index = self.expression("u4", depth)
        choices = [self.expression(kind, depth - 1) for _ in range(5)]
        cases = " ".join(f"case {n}: return {one.text};" for n, one in enumerate(choices[:-1]))
        text = (
            f"[&]() -> {CPP[kind]} {{ switch ({index.text} % 7) {{ {cases} default: return {choices[-1].text}; }} }}()"
        )
        return Expression(
            kind, text, lambda s: np.choose(np.minimum(index.value(s) % 7, 4), [c.value(s) for c in choices])
        )

    def _table(self, kind: str, depth: int) -> Expression:
        index, choices = self.expression("u4", depth), [self.expression(kind, depth - 1) for _ in range(4)]
        values = ", ".join(one.text for one in choices)
        text = f"[&]() -> {CPP[kind]} {{ {CPP[kind]} table[4] = {{ {values} }}; return table[({index.text} & 3)]; }}()"
        return Expression(kind, text, lambda s: np.choose(index.value(s) & 3, [c.value(s) for c in choices]))

    def _loop(self, kind: str, depth: int) -> Expression:
        """At most seven rounds, as many as each lane wants, left early where a condition holds."""
        x, k, self.names = f"x{self.names}", f"k{self.names}", self.names + 1
        start, rounds = self.expression(kind, depth), self.expression("u4", depth)
        self.local[kind].append(x)
        self.local["u4"].append(k)
        body, stop = self.expression(kind, depth - 1), self.condition(depth - 1)
        self.local[kind].remove(x)
        self.local["u4"].remove(k)
        text = (
            f"[&]() -> {CPP[kind]} {{ {CPP[kind]} {x} = {start.text}; "
            f"for (unsigned {k} = 0; {k} < ({rounds.text} & 7); ++{k}) "
            f"{{ {x} = {body.text}; if ({stop.text}) break; }} return {x}; }}()"
        )

        def value(scope: Scope) -> np.ndarray:
            now, limit = start.value(scope), rounds.value(scope) & 7
            running = np.ones(now.shape, np.bool_)
            for number in range(7):
                running = running & (number < limit)
                inside = scope | {x: now, k: np.full(now.shape, number, "u4")}
                now = np.where(running, body.value(inside), now)
                running = running & ~stop.value(scope | {x: now, k: np.full(now.shape, number, "u4")})
            return now

        return Expression(kind, text, value)


def constant(kind: str, value: np.generic) -> Expression:
    """A literal."""
    if kind[0] == "f" and np.isfinite(value):
        text = f"{float(value).hex()}{'f' if kind == 'f4' else ''}"
    elif kind[0] == "f":
        text = f"({CPP[kind]})__int_as_float({0xFF800000 if value < 0 else 0x7F800000:#x})"
    else:
        text = f"({CPP[kind]}){int(value) & ((1 << width(kind)) - 1):#x}ull"
    return Expression(kind, f"({text})", lambda s: np.full(len(next(iter(s.values()))), value, kind))


_COMPARISONS = [
    ("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal), ("==", np.equal),
    ("!=", np.not_equal),
]  # fmt: skip


def _divided(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C's quotient and remainder, which round to zero; a and b where C has none, or it might overflow."""
    guarded = (b == 0) | (b == np.array(-1).astype(b.dtype))
    divisor = np.where(guarded, np.ones(1, b.dtype), b)
    remainder = np.fmod(a, divisor)
    return np.where(guarded, a, (a - remainder) // divisor), np.where(guarded, b, remainder)


def _saturated(value: np.ndarray, kind: str) -> np.ndarray:
    """A whole float as an integer that saturates; NaN is 0 between 32-bit types, else the topmost bit alone."""
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    nothing = 0 if value.dtype == "f4" and kind in ("i4", "u4") else 1 << (width(kind) - 1)
    whole = [nothing if math.isnan(one) else high if one >= high else low if one <= low else int(one) for one in value]
    return np.array([one & ((1 << width(kind)) - 1) for one in whole], f"u{kind[1]}").view(kind)


def _fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    kind = {4: "f32", 8: "f64"}[a.dtype.itemsize]
    return np.array([_fused_once(*map(float, one), kind) for one in zip(a, b, c, strict=True)], a.dtype)


def _fused_once(a: float, b: float, c: float, kind: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    return rounded(Fraction(a) * Fraction(b) + Fraction(c), kind, zero=a * b + c if a == 0 or b == 0 else 0.0)


def _extreme(ufunc: np.ufunc, sign: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The number where the other is NaN; of two zeros the negative one is less."""

    def function(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        zeros = (a == 0) & (b == 0)
        return np.where(zeros, np.where(np.signbit(a) == sign, a, b), ufunc(a, b))

    return function


def _signed_like(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sign of a NaN differs from machine to machine: here it is positive."""
    return np.copysign(a, np.where(np.isnan(b), np.ones_like(b), b))


_FLOAT_FUNCTIONS: list[tuple[str, Callable[..., np.ndarray]]] = [
    ("sqrt", np.sqrt), ("fabs", np.abs), ("-", np.negative), ("signed_like", _signed_like), ("trunc", np.trunc),
    ("floor", np.floor), ("ceil", np.ceil), ("rint", np.rint), ("fmin", _extreme(np.fmin, True)),
    ("fmax", _extreme(np.fmax, False)),
]  # fmt: skip


def _each(function: Callable[..., int]) -> Callable[..., np.ndarray]:
    """A definition on Python's integers, for arrays of bit patterns."""
    return lambda *arrays: np.array([
        function(*values) for values in zip(*(array.tolist() for array in arrays), strict=True)
    ], "i8")  # fmt: skip


def _byte_permuted(x: int, y: int, selector: int) -> int:
    """``__byte_perm``: the low three bits of each selector nibble pick one of eight bytes."""
    source = x | y << 32
    return sum((source >> 8 * (selector >> 4 * n & 7) & 0xFF) << 8 * n for n in range(4))


def _funnel_left(low: int, high: int, count: int) -> int:
    return (high << 32 | low) << count >> 32 & 0xFFFF_FFFF


def _reversed(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def _high(a: int, b: int) -> int:
    return a * b >> 32


_INTRINSICS: list[tuple[str, tuple[str, ...], str, Callable[..., np.ndarray]]] = [
    ("__popc", ("u4",), "u4", _each(int.bit_count)),
    ("__popcll", ("u8",), "u4", _each(int.bit_count)),
    ("__clz", ("u4",), "u4", _each(lambda a: 32 - a.bit_length())),
    ("__clzll", ("u8",), "u4", _each(lambda a: 64 - a.bit_length())),
    ("__ffs", ("u4",), "u4", _each(lambda a: (a & -a).bit_length())),
    ("__ffsll", ("u8",), "u4", _each(lambda a: (a & -a).bit_length())),
    ("__brev", ("u4",), "u4", _each(lambda a: _reversed(a, 32))),
    ("__funnelshift_l", ("u4", "u4", "u4"), "u4", _each(lambda lo, hi, n: _funnel_left(lo, hi, n & 31))),
    ("__funnelshift_r", ("u4", "u4", "u4"), "u4", _each(lambda lo, hi, n: (hi << 32 | lo) >> (n & 31) & 0xFFFFFFFF)),
    ("__funnelshift_lc", ("u4", "u4", "u4"), "u4", _each(lambda lo, hi, n: _funnel_left(lo, hi, min(n, 32)))),
    ("__byte_perm", ("u4", "u4", "u4"), "u4", _each(_byte_permuted)),
    ("__mulhi", ("i4", "i4"), "i4", _each(_high)),
    ("__umulhi", ("u4", "u4"), "u4", _each(_high)),
    ("__usad", ("u4", "u4", "u4"), "u4", _each(lambda a, b, c: abs(a - b) + c)),
    ("__sad", ("i4", "i4", "u4"), "u4", _each(lambda a, b, c: abs(a - b) + c)),
    ("__uhadd", ("u4", "u4"), "u4", _each(lambda a, b: a + b >> 1)),
    ("__hadd", ("i4", "i4"), "i4", _each(lambda a, b: a + b >> 1)),
    ("__urhadd", ("u4", "u4"), "u4", _each(lambda a, b: a + b + 1 >> 1)),
]  # fmt: skip

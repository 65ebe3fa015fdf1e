"""``cvt`` between every pair of types, against exact rationals and Python's integers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import Unsupported
from harness.simulator.halves import from_bf16
from harness.simulator.ptx import DTYPES
from tests.simulator.exact import FORMATS, rounded, run, same, wrap
from tests.simulator.test_halves import held

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
ROUNDINGS = ("rn", "rz", "rm", "rp")
INF, NAN = math.inf, math.nan


def limits(kind: str) -> tuple[int, int]:
    info = np.iinfo(DTYPES[kind])
    return int(info.min), int(info.max)


def integers(kind: str) -> list[int]:
    bits = int(kind[1:])
    spread = [1 << i for i in range(0, bits, 3)]
    values = [
        0,
        1,
        2,
        3,
        100,
        -1,
        -2,
        *spread,
        *(x - 1 for x in spread),
        *(x + 1 for x in spread),
        16777217,
        2**53 + 1,
        2**63 + 1025,
        (1 << bits) - 1,
        1 << bits - 1,
        (1 << bits - 1) - 1,
        0xFFFFFF7F,
        0xFFFFFF80,
        0x7FFFFFBF,
        65519,
        65520,
        257,
        385,
    ]
    return sorted({wrap(v, kind) for v in values})


def as_register(values: list[float], kind: str) -> np.ndarray:
    return held(values, kind) if kind in ("f16", "bf16") else np.array(values, dtype=DTYPES[kind])


def as_floats(register: np.ndarray, kind: str) -> np.ndarray:
    return from_bf16(register) if kind == "bf16" else register


def floats(kind: str) -> list[float]:
    """Finite values of the type: halves, ties, denormals, the ends of every narrower type."""
    wanted = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        0.49999997,
        0.75,
        3.0,
        127.5,
        128.0,
        255.5,
        256.0,
        32767.5,
        65504.0,
        65519.0,
        65520.0,
        65536.0,
        2.0**31,
        2.0**31 - 0.5,
        2.0**32,
        2.0**32 - 1,
        2.0**63,
        2.0**64,
        1e10,
        3.3e38,
        3.4028235677973366e38,
        1e300,
        2.0**-14,
        2.0**-15 * 1.0009765625,
        2.0**-24,
        2.0**-25,
        2.0**-25 * 1.0001,
        2.0**-126,
        2.0**-133,
        2.0**-134 * 1.001,
        2.0**-149,
        2.0**-150,
        2.0**-150 * 1.5,
        5e-324,
        1 + 2.0**-11,
        1 + 3 * 2.0**-11,
        1 + 2.0**-8,
        1 + 3 * 2.0**-8,
        1 + 2.0**-24,
        1 + 2.0**-24 + 2.0**-50,
        1 + 2.0**-8 + 2.0**-40,
    ]
    values = {rounded(Fraction(v), kind) for v in wanted}
    return sorted(v for sign in (1.0, -1.0) for v in (sign * x for x in values) if math.isfinite(v))


@pytest.mark.parametrize("result", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_wrap_or_saturate(source: str, result: str) -> None:
    values = integers(source)
    low, high = limits(result)
    assert run(f"cvt.{result}.{source} %a, %b", values).tolist() == [wrap(v, result) for v in values]
    assert run(f"cvt.sat.{result}.{source} %a, %b", values).tolist() == [max(low, min(high, v)) for v in values]


@pytest.mark.parametrize("result", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_floats_round_once(source: str, result: str) -> None:
    values = integers(source)
    for mode in ROUNDINGS if result != "bf16" else ("rn", "rz"):
        got = as_floats(run(f"cvt.{mode}.{result}.{source} %a, %b", values), result)
        same(got, [rounded(Fraction(v), result, mode) for v in values])


NARROWING = [
    (s, r)
    for s, r in itertools.product(FLOATS, FLOATS)
    if FORMATS[r][0] < FORMATS[s][0] or (s, r) in (("f16", "bf16"), ("bf16", "f16"))
]


@pytest.mark.parametrize(("source", "result"), sorted(set(NARROWING)))
def test_narrowing_rounds_once_in_every_mode(source: str, result: str) -> None:
    values = floats(source)
    for mode in ROUNDINGS if result != "bf16" else ("rn", "rz"):
        got = as_floats(run(f"cvt.{mode}.{result}.{source} %a, %b", as_register(values, source)), result)
        same(got, [rounded(Fraction(v), result, mode, zero=v) for v in values])


@pytest.mark.parametrize(
    ("source", "result"), [("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f32", "f64")]
)
def test_widening_is_exact(source: str, result: str) -> None:
    values = [*floats(source), INF, -INF, NAN]
    same(run(f"cvt.{result}.{source} %a, %b", as_register(values, source)), values)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30))
def test_drawn_float64_patterns_narrow_once(raw: list[int]) -> None:
    values = [float(x) for x in np.array(raw, dtype="u8").view("f8") if math.isfinite(x)]
    small = [math.ldexp(math.frexp(v)[0], 1 + (i % 280) - 152) for i, v in enumerate(values)]
    for kind in ("f16", "bf16", "f32"):
        for mode in ("rn", "rz"):
            got = (
                as_floats(run(f"cvt.{mode}.{kind}.f64 %a, %b", np.array(small, dtype="f8")), kind)
                if small
                else np.zeros(0)
            )
            same(got, [rounded(Fraction(v), kind, mode, zero=v) for v in small])


WHOLE = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("result", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_to_integers_round_and_saturate(source: str, result: str) -> None:
    values = floats(source)
    low, high = limits(result)
    for mode, whole in WHOLE.items():
        got = run(f"cvt.{mode}.{result}.{source} %a, %b", as_register(values, source))
        assert got.tolist() == [max(low, min(high, whole(v))) for v in values], mode
        assert run(f"cvt.{mode}.{result}.{source} %a, %b", as_register([INF, -INF], source)).tolist() == [high, low]


def test_nan_gives_zero_or_the_top_bit() -> None:
    for source, result in itertools.product(FLOATS, INTEGERS):
        wide = source == "f64" or result.endswith("64")
        expected = wrap(1 << int(result[1:]) - 1, result) if wide else 0
        assert run(f"cvt.rzi.{result}.{source} %a, %b", as_register([NAN], source)).tolist() == [expected], (
            source,
            result,
        )


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_rounding_to_whole_floats_keeps_the_type_and_the_sign_of_zero(kind: str) -> None:
    values = floats(kind)
    for mode, whole in WHOLE.items():
        got = run(f"cvt.{mode}.{kind}.{kind} %a, %b", as_register(values, kind))
        same(got, [math.copysign(float(whole(v)), v) for v in values])


def test_saturation_flushing_and_rectification() -> None:
    values = [-1.0, -0.0, 0.25, 1.0, 7.0, INF, -INF, NAN, 2.0**-130]
    same(run("cvt.sat.f32.f32 %a, %b", values), [0.0, 0.0, 0.25, 1.0, 1.0, 1.0, 0.0, 0.0, 2.0**-130])
    same(run("cvt.ftz.sat.f32.f32 %a, %b", values), [0.0, 0.0, 0.25, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    same(run("cvt.rn.ftz.f32.f64 %a, %b", [2.0**-130, -(2.0**-130), 1.0]), [0.0, -0.0, 1.0])
    same(run("cvt.ftz.f64.f32 %a, %b", [2.0**-130]), [0.0])
    assert run("cvt.rpi.ftz.s32.f32 %a, %b", [2.0**-130]).tolist() == [0]
    assert run("cvt.rpi.s32.f32 %a, %b", [2.0**-130]).tolist() == [1]
    same(run("cvt.rn.relu.f16.f32 %a, %b", [-1.0, 2.0, -0.0]), [0.0, 2.0, 0.0])


def test_two_floats_are_packed_with_the_first_above() -> None:
    assert run("cvt.rn.f16x2.f32 %a, %b, %c", [1.0, -2.0], [0.5, 65520.0]).tolist() == [0x3C003800, 0xC0007C00]
    assert run("cvt.rn.bf16x2.f32 %a, %b, %c", [1.0], [1 + 2.0**-8]).tolist() == [0x3F803F80]
    assert run("cvt.rz.bf16x2.f32 %a, %b, %c", [1.999999], [-1.999999]).tolist() == [0x3FFFBFFF]
    assert run("cvt.rn.relu.bf16x2.f32 %a, %b, %c", [-1.0], [NAN]).tolist() == [0x00007FFF]


def test_integers_are_packed_saturated() -> None:
    assert run("cvt.pack.sat.u8.s32.b32 %a, %b, %c, %d", [300, -5], [-1, 7], [0x1234, 0xFFFF]).tolist() == [
        0x1234FF00,
        0xFFFF0007,
    ]
    assert run("cvt.pack.sat.s8.s32.b32 %a, %b, %c, %d", [-300], [5], [1]).tolist() == [0x00018005]
    assert run("cvt.pack.sat.s16.s32 %a, %b, %c", [-40000], [40000]).tolist() == [0x80007FFF]


def test_tf32_rounds_ties_away_and_clears_thirteen_bits() -> None:
    raw = run("cvt.rna.tf32.f32 %a, %b", [1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-12, INF])
    same(raw.view("f4"), [1 + 2.0**-10, -1 - 2.0**-10, 1.0, INF])
    assert run("cvt.rna.tf32.f32 %a, %b", np.array([0xFFC12345], dtype="u4")).tolist() == [0xFFC12000]


def test_a_conversion_that_needs_a_rounding_and_names_none_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"cvt\.f16\.f32"):
        run("cvt.f16.f32 %a, %b", [1.0])

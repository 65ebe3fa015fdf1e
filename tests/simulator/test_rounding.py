"""float32 and float64 arithmetic against exact rationals, in every rounding mode."""

from __future__ import annotations

import itertools
import math
import struct
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulator.heap import keep_freed_memory
from harness.simulator.rounding import EXACT32, fma32, to_odd, two_product, two_sum
from harness.simulator.rounding64 import EXACT64
from tests.simulator.exact import rounded, run, same

MODES = ("rn", "rz", "rm", "rp")
TINY32, LEAST32, LARGEST32 = 2.0**-149, 2.0**-126, float(np.finfo("f4").max)
AWKWARD32 = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.0 + 2.0**-23,
    1 - 2.0**-24,
    3.0,
    1 / 3,
    2.0**24 + 2,
    TINY32,
    -TINY32,
    3 * TINY32,
    LEAST32,
    -LEAST32,
    LEAST32 - TINY32,
    2.0**-75,
    -(2.0**-74),
    2.0**-64 + 2.0**-87,
    LARGEST32,
    -LARGEST32,
    2.0**127,
    2.0**64,
]
AWKWARD64 = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1 + 2.0**-52,
    1 - 2.0**-53,
    1 / 3,
    5e-324,
    -5e-324,
    3 * 5e-324,
    2.0**-1022,
    -(2.0**-1022),
    2.0**-1022 - 5e-324,
    2.0**-537,
    2.0**-511 * 1.1,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2.0**1023,
    2.0**512 * 1.3,
    2.0**-401,
    2.0**401 * 1.7,
]
WIDTH = {"f32": ("f", "I"), "f64": ("d", "Q")}


def f32(value: float) -> float:
    return float(np.float32(value))


def _zero(mode: str, *terms: float) -> float:
    """The sign of a sum that is exactly zero."""
    if all(math.copysign(1, term) < 0 for term in terms):
        return -0.0
    opposite = any(math.copysign(1, term) < 0 for term in terms)
    return -0.0 if mode == "rm" and opposite else 0.0


def _signed(*factors: float) -> float:
    return math.copysign(0.0, math.prod(math.copysign(1, x) for x in factors))


def truth(name: str, kind: str, mode: str, x: tuple[float, ...]) -> float:
    """The exact result of finite operands with no division by zero."""
    q = [Fraction(value) for value in x]
    if name == "add":
        return rounded(q[0] + q[1], kind, mode, _zero(mode, x[0], x[1]))
    if name == "sub":
        return rounded(q[0] - q[1], kind, mode, _zero(mode, x[0], -x[1]))
    if name == "mul":
        return rounded(q[0] * q[1], kind, mode, _signed(*x))
    if name == "div":
        return rounded(q[0] / q[1], kind, mode, _signed(*x))
    if name == "rcp":
        return rounded(1 / q[0], kind, mode)
    return rounded(q[0] * q[1] + q[2], kind, mode, _zero(mode, _signed(x[0], x[1]), x[2]))


def check(name: str, kind: str, mode: str, cases: list[tuple[float, ...]]) -> None:
    columns = [list(column) for column in zip(*cases, strict=True)]
    text = f"{name}.{mode}.{kind} " + ", ".join(["%f"] * (1 + len(columns)))
    same(run(text, *columns), [truth(name, kind, mode, case) for case in cases])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("kind", "values"), [("f32", AWKWARD32), ("f64", AWKWARD64)])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_two_operands_round_exactly_at_awkward_values(name: str, kind: str, values: list[float], mode: str) -> None:
    values = [f32(v) for v in values] if kind == "f32" else values
    cases = [pair for pair in itertools.product(values, repeat=2) if name != "div" or pair[1] != 0]
    check(name, kind, mode, cases)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("kind", "values"), [("f32", AWKWARD32), ("f64", AWKWARD64)])
def test_fma_rounds_once_at_awkward_values(kind: str, values: list[float], mode: str) -> None:
    values = [f32(v) for v in values[::2]] if kind == "f32" else values[::2]
    values = [*values, -0.0]
    check("fma", kind, mode, list(itertools.product(values, repeat=3)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("kind", "values"), [("f32", AWKWARD32), ("f64", AWKWARD64)])
def test_reciprocals_and_roots_round_exactly(kind: str, values: list[float], mode: str) -> None:
    values = [f32(v) for v in values] if kind == "f32" else values
    check("rcp", kind, mode, [(v,) for v in values if v])
    positive = [v for v in values if v > 0]
    roots = run(f"sqrt.{mode}.{kind} %f, %f", positive)
    for value, root in zip(positive, map(float, roots), strict=True):
        below = float(np.nextafter(roots.dtype.type(root), roots.dtype.type(-math.inf)))
        above = float(np.nextafter(roots.dtype.type(root), roots.dtype.type(math.inf)))
        exact, r = Fraction(value), Fraction(root)
        if mode in ("rz", "rm"):
            assert r**2 <= exact < Fraction(above) ** 2
        elif mode == "rp":
            assert Fraction(below) ** 2 < exact <= r**2
        else:
            assert ((Fraction(below) + r) / 2) ** 2 <= exact <= ((Fraction(above) + r) / 2) ** 2


def _patterns(kind: str) -> st.SearchStrategy[float]:
    """Any finite number, its bit pattern drawn evenly (so denormals and extremes come), or a short mantissa."""
    real, whole = WIDTH[kind]
    size = struct.calcsize(real) * 8
    raw = st.integers(0, 2**size - 1).map(lambda b: struct.unpack(f"<{real}", struct.pack(f"<{whole}", b))[0])
    short = st.builds(lambda m, e: math.ldexp(m, e), st.integers(-4097, 4097), st.integers(-40, 20))
    return st.one_of(raw, short).filter(math.isfinite)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_and_sums_of_drawn_numbers_round_exactly(kind: str, mode: str) -> None:
    number = _patterns(kind)

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.tuples(number, number, number), min_size=1, max_size=20))
    def holds(cases: list[tuple[float, float, float]]) -> None:
        check("fma", kind, mode, cases)
        check("add", kind, mode, [case[:2] for case in cases])
        check("mul", kind, mode, [case[:2] for case in cases])

    holds()


def test_a_float32_fma_halfway_in_float64_is_decided_by_the_lost_bits() -> None:
    # (1 + 2**-12)**2 = 1 + 2**-11 + 2**-24, halfway between two float32; the addend only tips it.
    a = 1 + 2.0**-12
    tips = [2.0**-80, -(2.0**-80), 0.0, 2.0**-149]
    expected = [1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-11, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-23]
    same(run("fma.rn.f32 %f, %f, %f, %f", [a] * 4, [a] * 4, tips), expected)


def test_a_tiny_fma_is_decided_by_the_lost_bits() -> None:
    # 2**-150 is halfway to the least float32; a float64 loses the addend's side of it.
    a, b, c = 2.0**-75 * (1 + 2.0**-23), 2.0**-75 * (1 - 2.0**-23), 2.0**-149
    check("fma", "f32", "rn", [(a, b, c), (a, b, -c), (-a, b, c), (a, a, 0.0), (b, b, 0.0), (2.0**-75, 2.0**-75, 0.0)])


def test_random_fmas_agree_with_exact_rationals() -> None:
    rng = np.random.default_rng(5)
    a, b, c = ((rng.standard_normal(2000) * 2.0 ** rng.integers(-8, 8, 2000)).astype("f4") for _ in range(3))
    for mode in MODES:
        check(
            "fma",
            "f32",
            mode,
            list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))[: 2000 if mode == "rn" else 300],
        )


def test_nan_and_infinities_follow_ieee_in_every_mode() -> None:
    inf, nan = math.inf, math.nan
    for kind in ("f32", "f64"):
        for mode in MODES:
            same(
                run(
                    f"fma.{mode}.{kind} %f, %f, %f, %f",
                    [inf, inf, nan, 1, 1, 0],
                    [0, 1, 1, 1, 1, inf],
                    [1, -inf, 1, inf, nan, 1],
                ),
                [nan, nan, nan, inf, nan, nan],
            )
            same(run(f"add.{mode}.{kind} %f, %f, %f", [inf, inf, 1], [-inf, 1, -inf]), [nan, inf, -inf])
            same(
                run(f"div.{mode}.{kind} %f, %f, %f", [1, -1, 0, inf, 1], [0, 0, 0, inf, -inf]),
                [inf, -inf, nan, nan, -0.0],
            )
            same(run(f"sqrt.{mode}.{kind} %f, %f", [-1, inf, -0.0, nan, 0.0]), [nan, inf, -0.0, nan, 0.0])
            same(run(f"rcp.{mode}.{kind} %f, %f", [0.0, -0.0, inf, -inf]), [inf, -inf, 0.0, -0.0])


def test_a_finite_product_beyond_the_largest_number_leaves_an_infinite_addend() -> None:
    for kind, large in (("f32", 3e38), ("f64", 1e308)):
        for mode in MODES:
            got = run(f"fma.{mode}.{kind} %f, %f, %f, %f", [large, large], [large, -large], [-math.inf, math.inf])
            same(got, [-math.inf, math.inf])


def test_error_free_transformations_lose_nothing() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal(200), rng.standard_normal(200) * 2.0 ** rng.integers(-60, 60, 200)
    for transform, operate in ((two_sum, Fraction.__add__), (two_product, Fraction.__mul__)):
        total, error = transform(a, b)
        for lane in range(200):
            assert Fraction(total[lane]) + Fraction(error[lane]) == operate(Fraction(a[lane]), Fraction(b[lane]))


def test_rounding_to_odd_keeps_exact_sums_and_makes_others_odd() -> None:
    total, error = two_sum(np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 2.0**-60, -(2.0**-60), 2.0**-60]))
    odd = to_odd(total, error)
    assert odd.tolist() == [2.0, 1 + 2.0**-52, 1 - 2.0**-53, -1 + 2.0**-53]


def test_uniform_and_varying_operands_mix() -> None:
    many, one = np.linspace(0.1, 3, 10000), np.array([0.3])
    for dtype, exact in (("f4", EXACT32), ("f8", EXACT64)):
        for mode in MODES:
            whole = exact["fma", mode](*(np.broadcast_to(x, 10000).astype(dtype) for x in (one, many, one)))
            mixed = exact["fma", mode](one.astype(dtype), many.astype(dtype), one.astype(dtype))
            assert (whole == mixed).all()


@pytest.mark.benchmarks
def test_a_float32_fma_of_65536_lanes_takes_under_250_microseconds() -> None:
    keep_freed_memory()
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(65536).astype("f4") for _ in range(3))
    times = []
    for _ in range(50):
        start = time.perf_counter()
        fma32(a, b, c)
        times.append(time.perf_counter() - start)
    assert sorted(times)[25] < 250e-6

"""float16 and bfloat16 arithmetic against exact rationals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulator.halves import from_bf16
from tests.simulator.exact import bits, rounded, run, same

BASES = ("f16", "bf16")


def numbers(raw: list[int], base: str) -> list[float]:
    array = np.array(raw, dtype="u2")
    return [float(x) for x in (array.view("f2") if base == "f16" else from_bf16(array))]


def held(values: list[float], base: str) -> np.ndarray:
    """Values as a register of the type holds them."""
    raw = np.array([0x7FFF if math.isnan(v) else bits(v, base) for v in values], dtype="u2")
    return raw.view("f2") if base == "f16" else raw


def check(text: str, base: str, got: np.ndarray, expected: list[float]) -> None:
    same(got if base == "f16" else from_bf16(got), expected)


def awkward(base: str) -> list[float]:
    tiny = numbers([1, 2, 3, 0x03FF if base == "f16" else 0x007F, 0x0400 if base == "f16" else 0x0080], base)
    large = numbers([0x7BFF, 0xFBFF] if base == "f16" else [0x7F7F, 0xFF7F], base)
    return [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        0.1015625,
        *numbers([0x3C01, 0x3F81, 0x3BFF, 0x4248], base),
        *tiny,
        *(-x for x in tiny),
        *large,
    ]


def zero_of(a: float, b: float) -> float:
    return -0.0 if math.copysign(1, a) < 0 and math.copysign(1, b) < 0 else 0.0


def signed_zero(a: float, b: float) -> float:
    return math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b))


@pytest.mark.parametrize("base", BASES)
def test_sums_and_products_round_once(base: str) -> None:
    pairs = list(itertools.product(awkward(base), repeat=2))
    a, b = (held(list(column), base) for column in zip(*pairs, strict=True))
    exact = [(Fraction(x), Fraction(y)) for x, y in pairs]
    for name, expected in {
        "add": [rounded(x + y, base, zero=zero_of(*p)) for (x, y), p in zip(exact, pairs, strict=True)],
        "sub": [rounded(x - y, base, zero=zero_of(p[0], -p[1])) for (x, y), p in zip(exact, pairs, strict=True)],
        "mul": [rounded(x * y, base, zero=signed_zero(*p)) for (x, y), p in zip(exact, pairs, strict=True)],
    }.items():
        check(name, base, run(f"{name}.{base} %a, %b, %c", a, b), expected)


def fma(a: float, b: float, c: float, base: str) -> float:
    return rounded(Fraction(a) * Fraction(b) + Fraction(c), base, zero=zero_of(signed_zero(a, b), c))


@pytest.mark.parametrize("base", BASES)
def test_fma_rounds_once_at_awkward_values(base: str) -> None:
    cases = list(itertools.product(awkward(base), repeat=3))
    got = run(f"fma.rn.{base} %a, %b, %c, %d", *(held(list(column), base) for column in zip(*cases, strict=True)))
    check("fma", base, got, [fma(*case, base) for case in cases])


@pytest.mark.parametrize("base", BASES)
def test_fma_of_drawn_patterns_rounds_once(base: str) -> None:
    pattern = st.integers(0, 0xFFFF).filter(lambda raw: math.isfinite(numbers([raw], base)[0]))

    @settings(max_examples=80, deadline=None)
    @given(st.lists(st.tuples(pattern, pattern, pattern), min_size=1, max_size=30))
    def holds(cases: list[tuple[int, int, int]]) -> None:
        columns = [numbers(list(column), base) for column in zip(*cases, strict=True)]
        got = run(f"fma.rn.{base} %a, %b, %c, %d", *(held(column, base) for column in columns))
        check("fma", base, got, [fma(*case, base) for case in zip(*columns, strict=True)])

    holds()


def test_a_bfloat16_fma_halfway_is_decided_by_the_lost_bits() -> None:
    # 1.0078125 * 1.5 = 1.51171875 lies halfway between two bfloat16; the addend is far below float64's last bit.
    a, b = 1 + 2.0**-7, 1.5
    cases = [(a, b, c) for c in (2.0**-100, -(2.0**-100), 0.0)]
    assert len({fma(*case, "bf16") for case in cases}) == 2
    got = run("fma.rn.bf16 %a, %b, %c, %d", *(held(list(column), "bf16") for column in zip(*cases, strict=True)))
    check("fma", "bf16", got, [fma(*case, "bf16") for case in cases])


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("text", "arity"),
    [
        ("add", 2),
        ("sub", 2),
        ("mul", 2),
        ("fma.rn", 3),
        ("fma.rn.relu", 3),
        ("min", 2),
        ("max", 2),
        ("max.NaN", 2),
        ("neg", 1),
        ("abs", 1),
        ("tanh.approx", 1),
    ],
)
def test_both_halves_of_a_pair_are_computed_like_one(base: str, text: str, arity: int) -> None:
    rng = np.random.default_rng(1)
    packed = [rng.integers(0, 2**32, 200, dtype="u4") for _ in range(arity)]
    packed[-1] = packed[-1][:1]  # one operand is uniform
    operands = ", ".join(["%r"] * (arity + 1))
    got = run(f"{text}.{base}x2 {operands}", *packed).view("u2").reshape(-1, 2)
    for half in (0, 1):
        scalars = [np.ascontiguousarray(x.view("u2").reshape(-1, 2)[:, half]) for x in packed]
        alone = run(f"{text}.{base} {operands}", *(x.view("f2") if base == "f16" else x for x in scalars)).view("u2")
        assert (got[:, half] == np.broadcast_to(alone, 200)).all()


def test_saturation_and_rectification_keep_their_promises_for_nan() -> None:
    nan = math.nan
    a, b = held([2.0, -3.0, nan, 0.25], "f16"), held([1.0, 1.0, 1.0, 0.25], "f16")
    same(run("add.sat.f16 %a, %b, %c", a, b), [1.0, 0.0, 0.0, 0.5])
    same(run("fma.rn.relu.f16 %a, %b, %c, %d", a, b, held([0.0] * 4, "f16")), [2.0, 0.0, nan, 0.0625])


def test_extremes_prefer_numbers_and_order_the_zeros() -> None:
    nan = math.nan
    for base in BASES:
        a, b = held([nan, 1.0, -0.0, 0.0, nan], base), held([1.0, nan, 0.0, -0.0, nan], base)
        check("min", base, run(f"min.{base} %a, %b, %c", a, b), [1, 1, -0.0, -0.0, nan])
        check("max", base, run(f"max.{base} %a, %b, %c", a, b), [1, 1, 0.0, 0.0, nan])
        check("max", base, run(f"max.NaN.{base} %a, %b, %c", a, b), [nan, nan, 0.0, 0.0, nan])


def test_exponentials_of_halves() -> None:
    check(
        "ex2",
        "f16",
        run("ex2.approx.f16 %a, %b", held([0.0, 3.0, -24.0, 16.0, -math.inf], "f16")),
        [1, 8, 2.0**-24, math.inf, 0],
    )
    check("ex2", "bf16", run("ex2.approx.ftz.bf16 %a, %b", held([0.0, 3.0, -1.0], "bf16")), [1, 8, 0.5])
    for base in BASES:
        value = numbers([bits(0.5, base)], base)[0]
        check(
            "tanh",
            base,
            run(f"tanh.approx.{base} %a, %b", held([0.5], base)),
            [rounded(Fraction(math.tanh(value)), base)],
        )

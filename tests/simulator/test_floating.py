"""Approximations, extremes, signs and modifiers of float32 and float64."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.simulator.exact import run, same

INF, NAN = math.inf, math.nan
TINY = 2.0**-130


def f32(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


@pytest.mark.parametrize(
    ("name", "function", "values"),
    [
        ("ex2", lambda x: 2.0**x, [0.0, 1.0, -1.0, 0.5, 127.5, -126.5, -140.25, 1e-9]),
        ("lg2", math.log2, [1.0, 2.0, 0.5, 3.3, 1e30, 2.0**-140]),
        ("rsqrt", lambda x: x**-0.5, [1.0, 2.0, 0.25, 1e38, 2.0**-140]),
        ("rcp", lambda x: 1 / x, [1.0, 3.0, -7.0, 2.0**-126]),
        ("sqrt", math.sqrt, [0.0, 2.0, 1e38, 2.0**-140]),
    ],
)
def test_approximations_are_the_nearest_float32(name: str, function: object, values: list[float]) -> None:
    values = [f32(v) for v in values]
    got = run(f"{name}.approx.f32 %a, %b", values)
    expected = np.array([function(v) for v in values])  # type: ignore[operator]
    assert (np.abs(got - expected) <= 0.5000001 * np.spacing(np.abs(expected).astype("f4"))).all()


@pytest.mark.parametrize(
    ("name", "function", "relative", "absolute"),
    [("sin", math.sin, 0.0, 2.0**-20.5), ("cos", math.cos, 0.0, 2.0**-20.5), ("tanh", math.tanh, 2.0**-11, 0.0)],
)
def test_coarse_approximations_use_the_error_they_are_allowed_and_no_more(
    name: str, function: object, relative: float, absolute: float
) -> None:
    values = [f32(v) for v in np.linspace(-3.1, 3.1, 257)]
    got = run(f"{name}.approx.f32 %a, %b", values)
    expected = np.array([function(v) for v in values])  # type: ignore[operator]
    error, allowed = np.abs(got - expected), 1.0001 * (absolute + relative * np.abs(expected))
    assert (error <= allowed).all()
    assert error.max() > 0.4 * allowed.max()


def test_approximations_have_the_documented_special_values() -> None:
    for name, cases in {
        "ex2": {-INF: 0.0, -0.0: 1.0, INF: INF, NAN: NAN, 128.0: INF, -151.0: 0.0},
        "lg2": {-INF: NAN, -1.0: NAN, 0.0: -INF, INF: INF, NAN: NAN},
        "sin": {-INF: NAN, -0.0: -0.0, INF: NAN, NAN: NAN},
        "cos": {-INF: NAN, 0.0: 1.0, INF: NAN, NAN: NAN},
        "tanh": {-INF: -1.0, -0.0: -0.0, INF: 1.0, NAN: NAN},
        "rsqrt": {-INF: NAN, -1.0: NAN, INF: 0.0, NAN: NAN},
        "rcp": {-INF: -0.0, INF: 0.0, NAN: NAN},
        "sqrt": {-INF: NAN, -1.0: NAN, INF: INF, NAN: NAN},
    }.items():
        same(run(f"{name}.approx.f32 %a, %b", list(cases)), list(cases.values()))
    same(run("lg2.approx.f32 %a, %b", [0.0, -0.0]), [-INF, -INF])
    same(run("rsqrt.approx.f32 %a, %b", [0.0, -0.0]), [INF, -INF])
    same(run("rcp.approx.f32 %a, %b", [0.0, -0.0]), [INF, -INF])
    same(run("sqrt.approx.f32 %a, %b", [0.0, -0.0]), [0.0, -0.0])


def test_flushed_approximations_take_subnormals_for_zero_and_give_none() -> None:
    same(run("lg2.approx.ftz.f32 %a, %b", [TINY]), [-INF])
    same(run("rcp.approx.ftz.f32 %a, %b", [TINY, -TINY, 2.0**127]), [INF, -INF, 0.0])
    same(run("ex2.approx.ftz.f32 %a, %b", [-130.0]), [0.0])
    same(run("rsqrt.approx.ftz.f32 %a, %b", [-TINY]), [-INF])


def test_division_by_huge_numbers_underflows_only_when_approximate() -> None:
    a, b = [1.0, -1.0, INF, NAN, 2.0**100, 1.0], [2.0**127, 2.0**127, 2.0**127, 2.0**127, -(2.0**127), 2.0**126]
    same(run("div.approx.f32 %a, %b, %c", a, b), [0.0, -0.0, NAN, NAN, -0.0, 2.0**-126])
    same(run("div.full.f32 %a, %b, %c", a, b), [2.0**-127, -(2.0**-127), INF, NAN, -(2.0**-27), 2.0**-126])
    same(run("div.approx.f32 %a, %b, %c", [INF, 1.0, 0.0], [INF, INF, 0.0]), [NAN, 0.0, NAN])


def test_coarse_float64_approximations_use_the_upper_half() -> None:
    value = 3.0 + 2.0**-40
    got = run("rcp.approx.ftz.f64 %a, %b", [value, 0.0, -INF, 5e-324])
    assert got.view("u8")[0] & 0xFFFFFFFF == 0 and abs(got[0] * value - 1) < 2.0**-19
    same(got[1:], [INF, -0.0, INF])
    assert abs(run("rsqrt.approx.f64 %a, %b", [value])[0] - value**-0.5) < 1e-15
    assert abs(run("rsqrt.approx.ftz.f64 %a, %b", [value])[0] - value**-0.5) < 2.0**-19


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_extremes_prefer_numbers_to_nan_and_put_minus_zero_first(kind: str) -> None:
    values = [-INF, -1.0, -0.0, 0.0, 1.0, INF, NAN]
    pairs = list(itertools.product(values, repeat=2))
    a, b = ([pair[i] for pair in pairs] for i in (0, 1))

    def choose(x: float, y: float, last: bool, propagate: bool = False) -> float:
        if math.isnan(x) or math.isnan(y):
            return NAN if propagate or (math.isnan(x) and math.isnan(y)) else y if math.isnan(x) else x
        return sorted((x, y), key=lambda v: (v, math.copysign(1, v)))[last]

    for repeat in (1, 40):  # short and vectorised loops
        same(run(f"min.{kind} %a, %b, %c", a * repeat, b * repeat), [choose(x, y, False) for x, y in pairs] * repeat)
        same(run(f"max.{kind} %a, %b, %c", a * repeat, b * repeat), [choose(x, y, True) for x, y in pairs] * repeat)
    same(run(f"max.NaN.{kind} %a, %b, %c", a, b), [choose(x, y, True, True) for x, y in pairs])
    same(run(f"max.{kind} %a, %b, %c", values, [0.0]), [choose(x, 0.0, True) for x in values])


def test_extremes_of_magnitudes_take_the_joint_sign() -> None:
    same(run("max.xorsign.abs.f32 %a, %b, %c", [-3.0, -3.0, 2.0], [2.0, -4.0, -0.0]), [-3.0, 4.0, -2.0])
    same(run("min.xorsign.abs.f32 %a, %b, %c", [-3.0, -3.0, 2.0], [2.0, -4.0, -0.0]), [-2.0, 3.0, -0.0])


def test_saturation_gives_plus_zero_for_nan_and_negatives() -> None:
    same(
        run("add.sat.f32 %a, %b, %c", [NAN, -5.0, 0.25, 9.0, -0.0], [0.0, 0.0, 0.25, 0.0, -0.0]),
        [0.0, 0.0, 0.5, 1.0, 0.0],
    )
    same(run("fma.rn.sat.f32 %a, %b, %c, %d", [2.0], [0.25, 3.0, NAN], [0.0]), [0.5, 1.0, 0.0])


def test_flushing_touches_operands_and_results_and_keeps_signs() -> None:
    same(run("add.ftz.f32 %a, %b, %c", [TINY, -TINY, 1.0], [TINY, -TINY, TINY]), [0.0, -0.0, 1.0])
    same(run("mul.ftz.f32 %a, %b, %c", [2.0**-70, -(2.0**-70), INF], [2.0**-70, 2.0**-70, 1.0]), [0.0, -0.0, INF])
    same(run("mul.f32 %a, %b, %c", [2.0**-70], [2.0**-70]), [2.0**-140])
    same(run("mul.ftz.f32 %a, %b, %c", [INF, NAN], [TINY, 1.0]), [NAN, NAN])
    same(run("fma.rn.ftz.f32 %a, %b, %c, %d", [1.0], [1.0], [TINY]), [1.0])
    same(run("abs.ftz.f32 %a, %b", [-TINY, -2.0]), [0.0, 2.0])
    same(run("neg.ftz.f32 %a, %b", [TINY, 2.0]), [-0.0, -2.0])


def test_signs_are_changed_and_copied_bit_for_bit() -> None:
    same(run("neg.f32 %a, %b", [0.0, -INF, 1.0]), [-0.0, INF, -1.0])
    same(run("abs.f64 %a, %b", [-0.0, -INF, 1.0]), [0.0, INF, 1.0])
    same(run("copysign.f32 %a, %b, %c", [-1.0, 1.0, -0.0], [2.0, -3.0, INF]), [-2.0, 3.0, -INF])
    same(run("copysign.f64 %a, %b, %c", [-1.0], [2.0, 0.0]), [-2.0, -0.0])


@pytest.mark.parametrize(("kind", "tiny"), [("f32", 2.0**-140), ("f64", 5e-324)])
def test_classes_of_floats(kind: str, tiny: float) -> None:
    values = [0.0, -0.0, tiny, -tiny, 1.0, INF, -INF, NAN]
    for name, expected in {
        "finite": [1, 1, 1, 1, 1, 0, 0, 0],
        "infinite": [0, 0, 0, 0, 0, 1, 1, 0],
        "number": [1, 1, 1, 1, 1, 1, 1, 0],
        "notanumber": [0, 0, 0, 0, 0, 0, 0, 1],
        "normal": [1, 1, 0, 0, 1, 0, 0, 0],
        "subnormal": [0, 0, 1, 1, 0, 0, 0, 0],
    }.items():
        assert run(f"testp.{name}.{kind} %p, %a", values).tolist() == [bool(x) for x in expected], name

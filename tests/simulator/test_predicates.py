"""Comparisons and choices, with NaN on either side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from harness.errors import Unsupported
from tests.simulator.exact import run, same
from tests.simulator.test_halves import held

NAN, INF = math.nan, math.inf
FLOATS = [-INF, -1.0, -0.0, 0.0, 2.0**-140, 1.0, INF, NAN]
ORDER: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
PAIRS = list(itertools.product(FLOATS, repeat=2))
A, B = ([pair[i] for pair in PAIRS] for i in (0, 1))


def unordered(a: float, b: float) -> bool:
    return math.isnan(a) or math.isnan(b)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ORDER)
def test_ordered_comparisons_fail_and_unordered_ones_hold_for_nan(name: str, kind: str) -> None:
    expected = [ORDER[name](a, b) for a, b in PAIRS]
    nan = [unordered(a, b) for a, b in PAIRS]
    assert run(f"setp.{name}.{kind} %p, %a, %b", A, B).tolist() == [
        e and not n for e, n in zip(expected, nan, strict=True)
    ]
    assert run(f"setp.{name}u.{kind} %p, %a, %b", A, B).tolist() == [e or n for e, n in zip(expected, nan, strict=True)]


def test_num_and_nan_ask_whether_both_are_numbers() -> None:
    nan = [unordered(a, b) for a, b in PAIRS]
    assert run("setp.nan.f32 %p, %a, %b", A, B).tolist() == nan
    assert run("setp.num.f32 %p, %a, %b", A, B).tolist() == [not n for n in nan]


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_integer_comparisons_respect_the_sign(kind: str) -> None:
    bits = int(kind[1:])
    top = 1 << bits - 1
    values = [0, 1, top - 1, *([top, 2 * top - 1] if kind[0] == "u" else [-top, -1])]
    a, b = ([pair[i] for pair in itertools.product(values, repeat=2)] for i in (0, 1))
    for name, truth in ORDER.items():
        assert run(f"setp.{name}.{kind} %p, %a, %b", a, b).tolist() == [truth(x, y) for x, y in zip(a, b, strict=True)]
    if kind[0] == "u":
        for name, like in (("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")):
            assert (run(f"setp.{name}.{kind} %p, %a, %b", a, b) == run(f"setp.{like}.{kind} %p, %a, %b", a, b)).all()


def test_bits_compare_only_for_equality() -> None:
    assert run("setp.eq.b32 %p, %a, %b", [1, 2], [1, 3]).tolist() == [True, False]
    with pytest.raises(Unsupported):
        run("setp.lt.b32 %p, %a, %b", [1], [1])


@pytest.mark.parametrize(("word", "combine"), [("and", bool.__and__), ("or", bool.__or__), ("xor", bool.__xor__)])
def test_two_predicates_are_the_test_and_its_opposite_joined_with_a_third(
    word: str, combine: Callable[..., bool]
) -> None:
    a, third = [1, 1, 2, 2], [False, True, False, True]
    p, q = run(f"setp.eq.{word}.s32 %p|%q, %a, %b, %c", a, [1], third)
    holds = [True, True, False, False]
    assert p.tolist() == [combine(h, c) for h, c in zip(holds, third, strict=True)]
    assert q.tolist() == [combine(not h, c) for h, c in zip(holds, third, strict=True)]
    assert (run(f"setp.eq.{word}.s32 %p, %a, %b, %c", a, [1], third) == p).all()
    p, q = run("setp.lt.f32 %p|%q, %a, %b", [1.0, NAN], [2.0])
    assert p.tolist() == [True, False] and q.tolist() == [False, True]


def test_flushed_comparisons_take_subnormals_for_zero() -> None:
    assert run("setp.gt.ftz.f32 %p, %a, %b", [2.0**-140, 2.0**-126], [0.0]).tolist() == [False, True]


def test_packed_halves_give_one_predicate_each() -> None:
    p, q = run("setp.lt.f16x2 %p|%q, %a, %b", [0x3C004000], [0x40003C00])  # (2, 1) < (1, 2)
    assert p.tolist() == [False] and q.tolist() == [True]
    assert run("setp.gt.bf16 %p, %a, %b", held([1.0, NAN], "bf16"), held([0.5], "bf16")).tolist() == [True, False]
    assert run("setp.ltu.f16 %p, %a, %b", held([1.0, NAN], "f16"), held([0.5], "f16")).tolist() == [False, True]


def test_set_writes_ones_or_every_bit() -> None:
    same(run("set.gt.f32.f32 %a, %b, %c", [1.0, 0.0, NAN], [0.5]), [1.0, 0.0, 0.0])
    assert run("set.gtu.u32.f32 %a, %b, %c", [1.0, 0.0, NAN], [0.5]).tolist() == [0xFFFFFFFF, 0, 0xFFFFFFFF]
    assert run("set.lt.s32.s32 %a, %b, %c", [-1, 1], [0]).tolist() == [-1, 0]
    assert run("set.lt.and.u32.s32 %a, %b, %c, %p", [-1, -1], [0], [True, False]).tolist() == [0xFFFFFFFF, 0]
    same(run("set.eq.f16.f16 %a, %b, %c", held([1.0, 2.0], "f16"), held([1.0], "f16")), [1.0, 0.0])
    assert run("set.eq.f16x2.f16x2 %a, %b, %c", [0x3C000000], [0x3C003C00]).tolist() == [0x3C000000]
    assert run("set.eq.u32.f16x2 %a, %b, %c", [0x3C000000], [0x3C003C00]).tolist() == [0xFFFF0000]
    assert run("set.ne.bf16x2.bf16x2 %a, %b, %c", [0x3F800000], [0x3F803F80]).tolist() == [0x00003F80]


@pytest.mark.parametrize("kind", ["b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64"])
def test_selp_chooses_by_lane_whichever_operands_are_uniform(kind: str) -> None:
    p = [True, False, True]
    assert run(f"selp.{kind} %a, %b, %c, %p", [1, 2, 3], [4, 5, 6], p).tolist() == [1, 5, 3]
    assert run(f"selp.{kind} %a, %b, %c, %p", [1], [0], p).tolist() == [1, 0, 1]
    assert run(f"selp.{kind} %a, %b, %c, %p", [1, 2, 3], [0], [False]).tolist() == [0, 0, 0]


def test_selp_keeps_nan_bits() -> None:
    odd = np.array([0x7FA12345, 0xFFC00001], dtype="u4").view("f4")
    assert run("selp.f32 %a, %b, %c, %p", odd, [0.0], [True]).view("u4").tolist() == [0x7FA12345, 0xFFC00001]


def test_slct_takes_the_first_for_zero_of_either_sign_and_the_second_for_nan() -> None:
    assert run("slct.s32.f32 %a, %b, %c, %d", [1], [2], [0.0, -0.0, -1.0, NAN, 5.0]).tolist() == [1, 1, 2, 2, 1]
    assert run("slct.u64.s32 %a, %b, %c, %d", [1], [2], [0, -1, 7]).tolist() == [1, 2, 1]
    assert run("slct.ftz.s32.f32 %a, %b, %c, %d", [1], [2], [-(2.0**-140)]).tolist() == [1]

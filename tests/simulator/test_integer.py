"""Integer arithmetic against Python's integers at the edges of every width."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import Unsupported
from tests.simulator.exact import run, wrap

KINDS = ("u16", "s16", "u32", "s32", "u64", "s64")
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def width(kind: str) -> int:
    return int(kind[1:])


def edges(kind: str) -> list[int]:
    bits = width(kind)
    values = [
        0,
        1,
        2,
        3,
        7,
        10,
        (1 << bits // 2) - 1,
        1 << bits // 2,
        (1 << bits - 1) - 1,
        1 << bits - 1,
        (1 << bits) - 1,
        (1 << bits) - 2,
    ]
    return [wrap(value, kind) for value in values]


def check(text: str, kind: str, result: str, truth: Callable[..., int], arity: int = 2) -> None:
    cases = list(itertools.product(edges(kind), repeat=arity))
    got = run(text, *(list(column) for column in zip(*cases, strict=True)))
    for lane, case in enumerate(cases):
        assert int(got[lane]) == wrap(truth(*case), result), (text, case)


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return -1 if b == 0 else a - quotient(a, b) * b


@pytest.mark.parametrize("kind", KINDS)
def test_sums_products_and_extremes_wrap(kind: str) -> None:
    check(f"add.{kind} %a, %b, %c", kind, kind, lambda a, b: a + b)
    check(f"sub.{kind} %a, %b, %c", kind, kind, lambda a, b: a - b)
    check(f"mul.lo.{kind} %a, %b, %c", kind, kind, lambda a, b: a * b)
    check(f"mul.hi.{kind} %a, %b, %c", kind, kind, lambda a, b: a * b >> width(kind))
    check(f"min.{kind} %a, %b, %c", kind, kind, min)
    check(f"max.{kind} %a, %b, %c", kind, kind, max)
    check(f"mad.lo.{kind} %a, %b, %c, %d", kind, kind, lambda a, b, c: a * b + c, 3)
    check(f"mad.hi.{kind} %a, %b, %c, %d", kind, kind, lambda a, b, c: (a * b >> width(kind)) + c, 3)
    check(f"sad.{kind} %a, %b, %c, %d", kind, kind, lambda a, b, c: c + abs(a - b), 3)


@pytest.mark.parametrize("kind", KINDS)
def test_division_truncates_and_by_zero_sets_every_bit(kind: str) -> None:
    check(f"div.{kind} %a, %b, %c", kind, kind, quotient)
    check(f"rem.{kind} %a, %b, %c", kind, kind, remainder)


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_the_most_negative_number_is_its_own_magnitude_and_opposite(kind: str) -> None:
    check(f"abs.{kind} %a, %b", kind, kind, abs, 1)
    check(f"neg.{kind} %a, %b", kind, kind, lambda a: -a, 1)


@pytest.mark.parametrize("kind", WIDER)
def test_wide_products_lose_nothing(kind: str) -> None:
    check(f"mul.wide.{kind} %a, %b, %c", kind, WIDER[kind], lambda a, b: a * b)
    cases = list(itertools.product(edges(kind), edges(kind), edges(WIDER[kind])))
    got = run(f"mad.wide.{kind} %a, %b, %c, %d", *(list(column) for column in zip(*cases, strict=True)))
    assert [int(x) for x in got] == [wrap(a * b + c, WIDER[kind]) for a, b, c in cases]


def test_saturating_sums_stop_at_the_ends_of_s32() -> None:
    def clamp(x: int) -> int:
        return max(-(2**31), min(2**31 - 1, x))

    check("add.sat.s32 %a, %b, %c", "s32", "s32", lambda a, b: clamp(a + b))
    check("sub.sat.s32 %a, %b, %c", "s32", "s32", lambda a, b: clamp(a - b))
    check("mad.hi.sat.s32 %a, %b, %c, %d", "s32", "s32", lambda a, b, c: clamp((a * b >> 32) + c), 3)
    check("max.relu.s32 %a, %b, %c", "s32", "s32", lambda a, b: max(a, b, 0))
    check("min.relu.s32 %a, %b, %c", "s32", "s32", lambda a, b: max(min(a, b), 0))


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_24_bit_products_see_only_24_bits(kind: str) -> None:
    def short(x: int) -> int:
        x &= 0xFFFFFF
        return x - (1 << 24) if kind == "s32" and x >> 23 else x

    check(f"mul24.lo.{kind} %a, %b, %c", kind, kind, lambda a, b: short(a) * short(b))
    check(f"mul24.hi.{kind} %a, %b, %c", kind, kind, lambda a, b: short(a) * short(b) >> 16)
    check(f"mad24.lo.{kind} %a, %b, %c, %d", kind, kind, lambda a, b, c: short(a) * short(b) + c, 3)


def digits(value: int, count: int) -> list[int]:
    return [value >> 32 * i & 0xFFFFFFFF for i in range(count)]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**96 - 1), st.integers(0, 2**96 - 1))
def test_chains_of_carries_add_and_subtract_96_bits(a: int, b: int) -> None:
    for name, operate in (("add", int.__add__), ("sub", int.__sub__)):
        words, carry = [], None
        for place, (x, y) in enumerate(zip(digits(a, 3), digits(b, 3), strict=True)):
            opcode = f"{name}.cc.u32" if place == 0 else f"{name}c.cc.u32" if place == 1 else f"{name}c.u32"
            result = run(f"{opcode} %a, %b, %c", [x], [y], *([carry] if place else []))
            word, carry = result if place < 2 else (result, None)
            words.append(int(word[0]))
        assert words == digits(operate(a, b) % 2**96, 3)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**128 - 1))
def test_a_chain_of_mad_carries_makes_a_128_bit_product(a: int, b: int, c: int) -> None:
    low, carry = run("mad.lo.cc.u64 %a, %b, %c, %d", [a], [b], [c & 2**64 - 1])
    high = run("madc.hi.u64 %a, %b, %c, %d", [a], [b], [c >> 64], carry)
    assert int(low[0]) | int(high[0]) << 64 == (a * b + c) % 2**128


def test_a_carry_into_all_ones_carries_out() -> None:
    total, carry = run(
        "addc.cc.u32 %a, %b, %c", [0xFFFFFFFF, 0xFFFFFFFF, 0], [0, 0xFFFFFFFF, 0], np.array([True, True, True])
    )
    assert total.tolist() == [0, 0xFFFFFFFF, 1] and carry.tolist() == [True, True, False]
    rest, borrow = run("subc.cc.s32 %a, %b, %c", [0, 5, 0], [0xFFFFFFFF, 4, 0], np.array([True, True, True]))
    assert rest.tolist() == [0, 0, 0xFFFFFFFF] and borrow.tolist() == [True, False, True]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


@pytest.mark.parametrize(("left", "right"), list(itertools.product(("u32", "s32"), repeat=2)))
def test_dot_products_add_their_parts(left: str, right: str) -> None:
    values = [(0x80FF7F01, 0x010280FF, 5), (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFF0), (0x7F7F7F7F, 0x80808080, 2**31)]
    result = "s32" if "s32" in (left, right) else "u32"

    def part(x: int, bits: int, place: int, kind: str) -> int:
        x = x >> bits * place & (1 << bits) - 1
        return signed(x, bits) if kind == "s32" else x

    a, b, c = (list(column) for column in zip(*values, strict=True))
    got = run(f"dp4a.{left}.{right} %a, %b, %c, %d", a, b, c)
    assert [int(x) for x in got] == [
        wrap(z + sum(part(x, 8, i, left) * part(y, 8, i, right) for i in range(4)), result) for x, y, z in values
    ]
    for half, shift in (("lo", 0), ("hi", 2)):
        got = run(f"dp2a.{half}.{left}.{right} %a, %b, %c, %d", a, b, c)
        assert [int(x) for x in got] == [
            wrap(z + sum(part(x, 16, i, left) * part(y, 8, i + shift, right) for i in range(2)), result)
            for x, y, z in values
        ]


def test_halves_and_bytes_are_computed_apart() -> None:
    assert run("add.u16x2 %a, %b, %c", [0xFFFF0001], [0x00010002]).tolist() == [0x00000003]
    assert run("max.s16x2 %a, %b, %c", [0xFFFF0001], [0x00008000]).tolist() == [0x00000001]
    assert run("min.u16x2 %a, %b, %c", [0xFFFF0001], [0x00008000]).tolist() == [0x00000001]
    assert run("max.relu.s16x2 %a, %b, %c", [0xFFFF8000], [0xFFFE8001]).tolist() == [0]
    assert run("vabsdiff4.u32.u32.u32 %a, %b, %c, %d", [0x00FF0310], [0xFF000510], [9]).tolist() == [0xFFFF0200]
    assert run("vabsdiff4.u32.u32.u32.add %a, %b, %c, %d", [0x00FF0310], [0xFF000510], [9]).tolist() == [
        9 + 255 + 255 + 2
    ]


def test_saturation_of_other_types_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"add\.sat\.u32"):
        run("add.sat.u32 %a, %b, %c", [1], [2])

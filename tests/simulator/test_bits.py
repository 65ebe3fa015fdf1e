"""Bit operations and moves against Python's integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.simulator.exact import run, wrap

WORDS = [0, 1, 2, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 0x00010000]
LONGS = [0, 1, 1 << 63, (1 << 64) - 1, 0x0123456789ABCDEF, 1 << 32, (1 << 53) + 1, (1 << 63) - 1, (1 << 54) - 1]
COUNTS = [0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000001, 0xFFFFFFFF]
M32 = 0xFFFFFFFF


def grid(*axes: list[int]) -> list[list[int]]:
    return [list(column) for column in zip(*itertools.product(*axes), strict=True)]


def values_of(kind: str) -> list[int]:
    return [wrap(v, kind) for v in (LONGS if kind.endswith("64") else WORDS)]


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_logic_is_bitwise(kind: str) -> None:
    mask = (1 << int(kind[1:])) - 1
    a, b = grid(WORDS, LONGS)
    for name, truth in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
        got = run(f"{name}.{kind} %a, %b, %c", a, b)
        assert got.tolist() == [truth(x, y) & mask for x, y in zip(a, b, strict=True)]
    assert run(f"not.{kind} %a, %b", a).tolist() == [~x & mask for x in a]
    assert run(f"cnot.{kind} %a, %b", a).tolist() == [int(x & mask == 0) for x in a]


def test_logic_of_predicates() -> None:
    p, q = [False, False, True, True], [False, True, False, True]
    assert run("and.pred %p, %q, %r", p, q).tolist() == [False, False, False, True]
    assert run("xor.pred %p, %q, %r", p, q).tolist() == [False, True, True, False]
    assert run("not.pred %p, %q", p).tolist() == [True, True, False, False]
    assert run("mov.pred %p, %q", p).tolist() == p


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_a_left_shift_by_the_width_or_more_leaves_nothing(kind: str) -> None:
    bits = int(kind[1:])
    a, counts = grid(LONGS, COUNTS)
    got = run(f"shl.{kind} %a, %b, %c", a, counts)
    assert got.tolist() == [x << min(s, bits) & (1 << bits) - 1 for x, s in zip(a, counts, strict=True)]


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64", "b32"])
def test_a_right_shift_by_the_width_or_more_leaves_the_sign(kind: str) -> None:
    a, counts = grid([wrap(v, kind) for v in LONGS + WORDS], COUNTS)
    got = run(f"shr.{kind} %a, %b, %c", a, counts)
    assert got.tolist() == [x >> min(s, 64) for x, s in zip(a, counts, strict=True)]


def test_funnel_shifts_wrap_or_clamp_their_count() -> None:
    a, b, c = grid(WORDS, WORDS, COUNTS)
    for mode, limit in (("wrap", lambda s: s & 31), ("clamp", lambda s: min(s, 32))):
        left = run(f"shf.l.{mode}.b32 %a, %b, %c, %d", a, b, c)
        right = run(f"shf.r.{mode}.b32 %a, %b, %c, %d", a, b, c)
        for lane, (x, y, s) in enumerate(zip(a, b, c, strict=True)):
            both = y << 32 | x
            assert int(left[lane]) == (both << limit(s)) >> 32 & M32
            assert int(right[lane]) == both >> limit(s) & M32


def limited(number: int, bits: int) -> int:
    """Beyond 255 PTX says nothing; an H200 takes the low byte, or clamps for 64 bits."""
    return min(number, 255) if bits == 64 else number & 0xFF


def _field(a: int, position: int, length: int, kind: str) -> int:
    """The loop by which PTX defines ``bfe``."""
    bits = int(kind[1:])
    position, length = limited(position, bits), limited(length, bits)
    sign = 0 if kind[0] == "u" or length == 0 else a >> min(position + length - 1, bits - 1) & 1
    field = sum((a >> position + i & 1 if i < length and position + i < bits else sign) << i for i in range(bits))
    return wrap(field, kind)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_fields_are_extracted_as_ptx_defines_them(kind: str) -> None:
    a, position, length = grid(values_of(kind), COUNTS, COUNTS)
    got = run(f"bfe.{kind} %a, %b, %c, %d", a, position, length)
    raw = (1 << int(kind[1:])) - 1
    assert got.tolist() == [_field(x & raw, p, n, kind) for x, p, n in zip(a, position, length, strict=True)]


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_fields_are_inserted(kind: str) -> None:
    bits = int(kind[1:])
    a, b, position, length = grid(values_of(kind)[3:], values_of(kind)[:4], COUNTS, COUNTS)
    got = run(f"bfi.{kind} %a, %b, %c, %d, %e", a, b, position, length)
    for lane, (x, y, p, n) in enumerate(zip(a, b, position, length, strict=True)):
        p, n = limited(p, bits), limited(n, bits)
        mask = ((1 << n) - 1) << p & (1 << bits) - 1
        assert int(got[lane]) == y & ~mask | x << p & mask


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_counting_and_reversing_bits(kind: str) -> None:
    bits = int(kind[1:])
    a = values_of(kind) + [(1 << i) - 1 & (1 << bits) - 1 for i in range(bits)]
    assert run(f"popc.{kind} %a, %b", a).tolist() == [x.bit_count() for x in a]
    assert run(f"clz.{kind} %a, %b", a).tolist() == [bits - x.bit_length() for x in a]
    assert run(f"brev.{kind} %a, %b", a).tolist() == [int(f"{x:0{bits}b}"[::-1], 2) for x in a]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_the_top_bit_that_is_no_sign_is_found(kind: str) -> None:
    bits = int(kind[1:])
    a = [*values_of(kind), *([-1, -2, -100] if kind[0] == "s" else [])]
    top = [(~x if x < 0 else x).bit_length() - 1 for x in a]
    assert run(f"bfind.{kind} %a, %b", a).tolist() == [t & M32 for t in top]
    assert run(f"bfind.shiftamt.{kind} %a, %b", a).tolist() == [M32 if t < 0 else bits - 1 - t for t in top]


def test_every_table_of_three_bits() -> None:
    a, b, c = (np.array([x], dtype="u4") for x in (0xF0F0AAAA, 0xCCCC1234, 0xAAAA0FF1))
    for table in range(256):
        got = int(run(f"lop3.b32 %a, %b, %c, %d, {table}", a, b, c, [table])[0])
        for bit in range(32):
            index = (int(a[0]) >> bit & 1) << 2 | (int(b[0]) >> bit & 1) << 1 | int(c[0]) >> bit & 1
            assert got >> bit & 1 == table >> index & 1, (table, bit)


def test_a_three_bit_table_with_a_predicate_tests_its_result() -> None:
    word, p = run(
        "lop3.or.b32 %a|%p, %b, %c, %d, 0x80, %q", [7, 1, 1], [6, 2, 2], [3, 1, 1], [0x80], [False, False, True]
    )
    assert word.tolist() == [2, 0, 0] and p.tolist() == [True, False, True]


def _permuted(a: int, b: int, selector: int) -> int:
    source = (b << 32 | a).to_bytes(8, "little")
    result = 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = source[nibble & 7]
        result |= ((0xFF if byte & 0x80 else 0) if nibble & 8 else byte) << 8 * i
    return result


def test_bytes_are_permuted_and_signs_replicated() -> None:
    a, b, selectors = grid(WORDS, WORDS, [0x3210, 0x7654, 0x5410, 0x7632, 0xBA98, 0xFEDC, 0x0123, 0xC4B1, 0xFFFF3210])
    got = run("prmt.b32 %a, %b, %c, %d", a, b, selectors)
    assert got.tolist() == [_permuted(*case) for case in zip(a, b, selectors, strict=True)]


def test_named_permutations() -> None:
    a, b = [0x33221100], [0x77665544]
    for mode, expected in {
        "f4e": [0x33221100, 0x44332211, 0x55443322, 0x66554433],
        "b4e": [0x55667700, 0x66770011, 0x77001122, 0x00112233],
        "rc8": [0, 0x11111111, 0x22222222, 0x33333333],
        "ecl": [0x33221100, 0x33221111, 0x33222222, 0x33333333],
        "ecr": [0, 0x11111100, 0x22221100, 0x33221100],
        "rc16": [0x11001100, 0x33223322, 0x11001100, 0x33223322],
    }.items():
        assert [int(run(f"prmt.b32.{mode} %a, %b, %c, %d", a, b, [i + 4])[0]) for i in range(4)] == expected


def test_masks_and_extensions() -> None:
    assert run("bmsk.clamp.b32 %a, %b, %c", [0, 4, 30, 0, 40, 3], [0, 8, 8, 40, 1, 0]).tolist() == [
        0,
        0xFF0,
        0xC0000000,
        M32,
        0,
        0,
    ]
    assert run("bmsk.wrap.b32 %a, %b, %c", [33, 4], [1, 33]).tolist() == [2, 0x10]
    assert run("szext.wrap.s32 %a, %b, %c", [0x80, 0x80, 5, 0x80], [8, 9, 0, 40]).tolist() == [-128, 128, 0, -128]
    assert run("szext.clamp.u32 %a, %b, %c", [0xFFFFFFFF, 0xFFFFFFFF, 7], [4, 99, 0]).tolist() == [15, M32, 0]


def test_the_nth_set_bit() -> None:
    mask = 0b1011_0100
    bases, offsets = [0, 0, 0, 4, 4, 4, 3, 7, 31, 0, 32], [1, 2, 5, 1, 0, -2, 0, -1, 1, -1, -1]
    expected = [2, 4, M32, 4, 4, 2, M32, 7, M32, M32, M32]
    assert run("fns.b32 %a, %b, %c, %d", [mask] * 11, bases, offsets).tolist() == expected


def test_moves_pack_and_unpack_the_lowest_part_first() -> None:
    assert run("mov.b64 %a, {%b,%c}", [1, 2], [3]).tolist() == [3 << 32 | 1, 3 << 32 | 2]
    low, high = run("mov.b64 {%a,%b}, %c", [5 << 32 | 4, (1 << 64) - 1])
    assert low.tolist() == [4, M32] and high.tolist() == [5, M32] and low.flags.c_contiguous
    assert run("mov.b32 %a, {%b,%c}", [0x1234], [0xABCD]).tolist() == [0xABCD1234]
    parts = run("mov.b64 {%a,%b,%c,%d}, %e", [0x0004000300020001])
    assert [int(part[0]) for part in parts] == [1, 2, 3, 4]
    assert run("mov.f32 %a, %b", [1.5]).tolist() == [1.5]

"""Sectors and wavefronts against a slow model written from the hardware's rule, lane by lane."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.simulator import traffic
from harness.simulator.traffic import ABSENT, WARP

Lanes = list[int | None]


def slow_sectors(lanes: Lanes, width: int) -> tuple[int, int, int]:
    """Distinct sectors, the fewest that hold the distinct bytes, and distinct lines."""
    asked = {address + byte for address in lanes if address is not None for byte in range(width)}
    return len({byte >> 5 for byte in asked}), -(-len(asked) // 32), len({byte >> 7 for byte in asked})


def slow_updates(lanes: Lanes) -> tuple[int, int]:
    """Turns that an atomic takes at all its sectors, and the most lanes on one address. Turn n serves the n-th lane of
    every address."""
    meeting = Counter(address for address in lanes if address is not None)
    turns = max(meeting.values())
    moved = sum(len({a >> 5 for a, count in meeting.items() if count > turn}) for turn in range(turns))
    return moved, turns


def slow_wavefronts(lanes: Lanes, width: int) -> tuple[int, int]:
    """Wavefronts, and those of the same lanes without a bank conflict."""
    for distance in (1, 2):
        if width == 16 and all(a is not None and a == lanes[n ^ distance] for n, a in enumerate(lanes)):
            lanes = [a for n, a in enumerate(lanes) if not n & distance]
            break
    at_once = {16: 8, 8: 16}.get(width, 32)
    groups = [lanes[start : start + at_once] for start in range(0, len(lanes), at_once)]
    total = ideal = 0
    for group in groups:
        words = {(a + byte) // 4 for a in group if a is not None for byte in range(width)}
        total += max(Counter(word % 32 for word in words).values(), default=0)
        ideal += bool(words)
    return total, ideal


def slow_shared_updates(lanes: Lanes, width: int) -> int:
    """Wavefronts of an atomic: each lane has a turn of its own at its banks."""
    at_once = {8: 16}.get(width, 32)
    total = 0
    for start in range(0, WARP, at_once):
        banks = [(a // 4 + n) % 32 for a in lanes[start : start + at_once] if a is not None
                 for n in range(max(1, width // 4))]  # fmt: skip
        total += max(Counter(banks).values(), default=0)
    return total


def rows(warps: list[Lanes]) -> np.ndarray:
    return np.array([[ABSENT if a is None else a for a in lanes] for lanes in warps], np.int64)


@st.composite
def accesses(draw: st.DrawFn, widths: tuple[int, ...] = (1, 2, 4, 8, 16)) -> tuple[list[Lanes], int]:
    """Warps as kernels have them: strides, broadcasts, pairs, swizzles and scatters, some lanes missing."""
    width = draw(st.sampled_from(widths))
    warps: list[Lanes] = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, 100))
        units = draw(st.one_of(
            st.integers(0, 70).map(lambda stride: [lane * stride for lane in range(WARP)]),
            st.integers(1, 33).map(lambda every: [lane // every for lane in range(WARP)]),
            st.integers(1, 33).map(lambda every: [lane % every * 32 for lane in range(WARP)]),
            st.integers(0, 31).map(lambda mask: [lane ^ mask for lane in range(WARP)]),
            st.integers(0, 3).map(lambda bit: [lane & ~(1 << bit) for lane in range(WARP)]),
            st.lists(st.integers(0, 500), min_size=WARP, max_size=WARP),
        ))  # fmt: skip
        here = draw(st.one_of(st.just(2**WARP - 1), st.integers(1, 2**WARP - 1)))
        warps.append([(start + unit) * width if here >> lane & 1 else None for lane, unit in enumerate(units)])
    return warps, width


@given(accesses())
def test_a_load_moves_the_distinct_sectors_of_its_lanes(access: tuple[list[Lanes], int]) -> None:
    warps, width = access
    moved = traffic.sectors(rows(warps), width)
    found = list(zip(moved.units.tolist(), moved.ideal.tolist(), moved.lines.tolist(), strict=True))
    assert found == [slow_sectors(lanes, width) for lanes in warps]


@given(accesses())
def test_shared_memory_serves_lanes_by_the_banks_of_their_words(access: tuple[list[Lanes], int]) -> None:
    warps, width = access
    moved = traffic.wavefronts(rows(warps), width)
    found = list(zip(moved.units.tolist(), moved.ideal.tolist(), strict=True))
    assert found == [slow_wavefronts(lanes, width) for lanes in warps]


@given(accesses(widths=(4, 8)))
def test_atomics_on_one_address_take_turns(access: tuple[list[Lanes], int]) -> None:
    warps, width = access
    moved = traffic.updated_sectors(rows(warps), width)
    assert list(zip(moved.units.tolist(), moved.most.tolist(), strict=True)) == [slow_updates(w) for w in warps]
    assert moved.ideal.tolist() == [slow_sectors(lanes, width)[1] for lanes in warps]


@given(accesses(widths=(4, 8)))
def test_shared_atomics_merge_no_lanes(access: tuple[list[Lanes], int]) -> None:
    warps, width = access
    moved = traffic.updated_wavefronts(rows(warps), width)
    assert moved.units.tolist() == [slow_shared_updates(lanes, width) for lanes in warps]
    assert moved.most.tolist() == [slow_updates(lanes)[1] for lanes in warps]


@given(accesses(widths=(4, 8, 16)))
def test_local_memory_lays_the_words_of_lanes_side_by_side(access: tuple[list[Lanes], int]) -> None:
    warps, width = access
    moved = traffic.sectors(traffic.local_rows(rows(warps), width), 4)
    for lanes, units in zip(warps, moved.units.tolist(), strict=True):
        words = [(a // 4 + n, lane) for lane, a in enumerate(lanes) if a is not None for n in range(width // 4)]
        assert units == len({(word * 32 + lane) // 8 for word, lane in words})


@given(st.lists(st.integers(0, 8 * WARP - 1), min_size=1, unique=True).map(sorted), st.booleans())
def test_rows_hold_each_lane_at_its_place(lanes: list[int], uniform: bool) -> None:
    values = np.array([7] if uniform else [3 * lane for lane in lanes])
    warps, found = traffic.rows_of(np.array(lanes), values)
    assert warps.tolist() == sorted({lane // WARP for lane in lanes})
    for lane in range(8 * WARP):
        if lane // WARP in warps:
            wanted = (7 if uniform else 3 * lane) if lane in lanes else ABSENT
            assert found[warps.tolist().index(lane // WARP), lane % WARP] == wanted


@pytest.mark.parametrize(
    ("addresses", "width", "wavefronts"),
    [
        ([4 * lane for lane in range(32)], 4, 1),
        ([128 * lane for lane in range(32)], 4, 32),
        ([0] * 32, 4, 1),
        ([0] * 32, 16, 2),
        ([16 * lane for lane in range(32)], 16, 4),
        ([8 * lane for lane in range(32)], 8, 2),
        ([4 * lane if lane < 16 else None for lane in range(32)], 4, 1),
    ],
)
def test_wavefronts_of_plain_accesses(addresses: Lanes, width: int, wavefronts: int) -> None:
    assert traffic.wavefronts(rows([addresses]), width).units.tolist() == [wavefronts]

"""Sets of lanes, against Python's sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulator.active import EVERYTHING, NOTHING, Lanes

WIDTH = 40
sets = st.sets(st.integers(0, WIDTH - 1), min_size=1) | st.just(set(range(WIDTH)))


def lanes(members: set[int]) -> Lanes:
    mask = np.isin(np.arange(WIDTH), list(members))
    return Lanes(WIDTH, None if mask.all() else mask)


def members(some: Lanes | None) -> set[int]:
    return set() if some is None else set(some.ids.tolist())


def predicate(of: set[int]) -> np.ndarray:
    return np.isin(np.arange(WIDTH), list(of))


@settings(max_examples=60, deadline=None)
@given(sets, sets)
def test_union_and_difference_are_those_of_sets(one: set[int], two: set[int]) -> None:
    assert members(lanes(one).union(lanes(two))) == one | two
    assert members(lanes(one).without(lanes(two))) == one - two


@settings(max_examples=60, deadline=None)
@given(sets, sets)
def test_a_split_puts_every_lane_on_one_side(some: set[int], where: set[int]) -> None:
    yes, no = lanes(some).split(predicate(where))
    assert members(yes) == some & where and members(no) == some - where
    assert yes is None or yes.count == len(some & where)


@settings(max_examples=60, deadline=None)
@given(sets, st.booleans())
def test_a_uniform_predicate_sends_all_one_way(some: set[int], value: bool) -> None:
    whole = lanes(some)
    assert whole.split(np.array([value])) == ((whole, None) if value else (None, whole))


@settings(max_examples=60, deadline=None)
@given(sets, sets)
def test_a_guard_narrows_and_then_nobody_elses_value_may_change(some: set[int], where: set[int]) -> None:
    whole = lanes(some)
    narrowed = whole.narrow(predicate(where))
    assert members(narrowed) == some & where
    if narrowed is not None and narrowed is not whole:
        assert 12345 in narrowed.keep


@settings(max_examples=60, deadline=None)
@given(sets, st.booleans(), st.booleans())
def test_spread_values_land_in_their_lanes_and_kept_ones_survive(some: set[int], kept: bool, uniform: bool) -> None:
    whole = lanes(some)
    whole.keep = EVERYTHING if kept else NOTHING
    old = np.array([7], "u4") if uniform else np.arange(WIDTH, dtype="u4")
    new = np.arange(len(some), dtype="u4") + 1000
    result = np.broadcast_to(whole.spread(new, 3, old), WIDTH)
    assert result[sorted(some)].tolist() == new.tolist()
    if kept:
        others = sorted(set(range(WIDTH)) - some)
        assert result[others].tolist() == np.broadcast_to(old, WIDTH)[others].tolist()


def test_a_blend_keeps_the_old_bits_whatever_they_were_made_as() -> None:
    old = np.arange(WIDTH, dtype="f4")
    result = lanes({1, 2}).blend(np.full(WIDTH, 9, "u4"), old)
    assert result[1] == 9 and result[3] == old.view("u4")[3]


def test_compacted_lanes_remember_their_numbers() -> None:
    few = Lanes(3, None, own=np.array([4, 17, 33]))
    yes, no = few.split(np.array([True, False, True]))
    assert members(yes) == {4, 33} and members(no) == {17}

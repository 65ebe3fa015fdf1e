"""Pictures: what they draw is what was counted, and what they show is also said."""

from __future__ import annotations

from datetime import datetime, timedelta
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from harness.reports.pictures.access import lanes_by_bank, lanes_by_sector, sectors, served
from harness.reports.pictures.bars import Bar, bars
from harness.reports.pictures.occupancy import warp_slots, waves
from harness.reports.pictures.practice import MOST, climb
from harness.reports.pictures.roofline import Point, placed, roofline
from harness.reports.pictures.svg import WIDTH, Picture
from harness.simulator import traffic

WORDS = tuple(range(0, 128, 4))
COLUMN = tuple(range(0, 32 * 128, 128))


def shapes(picture: Markup, kind: str) -> list[ElementTree.Element]:
    """The shapes of a class."""
    return [one for one in ElementTree.fromstring(picture).iter() if kind in one.get("class", "").split()]


def told(picture: Markup) -> str:
    """Its description, after checking that the picture names its title and description."""
    root = ElementTree.fromstring(picture)
    ids = {one.get("id"): one.text or "" for one in root}
    assert root.get("role") == "img"
    title, description = (ids[name] for name in root.get("aria-labelledby", "").split())
    assert title and description
    return description


def row(addresses: tuple[int | None, ...]) -> np.ndarray:
    """One warp as counting takes it."""
    return np.array([[traffic.ABSENT if one is None else one for one in addresses]], np.int64)


@st.composite
def accesses(draw: st.DrawFn) -> tuple[tuple[int | None, ...], int]:
    """Addresses of 32 lanes, and the bytes each asks for: aligned, at least one lane active."""
    width = draw(st.sampled_from([1, 2, 4, 8, 16]))
    lanes = draw(st.lists(st.none() | st.integers(0, 600), min_size=32, max_size=32).filter(any))
    return tuple(None if lane is None else lane * width for lane in lanes), width


@given(accesses())
def test_as_many_wavefronts_are_drawn_as_are_counted(access: tuple[tuple[int | None, ...], int]) -> None:
    addresses, width = access
    assert 1 + max(cell.row for cell in served(addresses, width)) == traffic.wavefronts(row(addresses), width).units[0]


@given(st.integers(0, 40), st.sampled_from([1, 2, 3]))
def test_sixteen_byte_loads_in_pairs_take_half_the_wavefronts(step: int, shift: int) -> None:
    addresses = tuple(16 * step * (lane ^ (lane & shift)) for lane in range(32))
    assert 1 + max(cell.row for cell in served(addresses, 16)) == traffic.wavefronts(row(addresses), 16).units[0]


@given(accesses())
def test_atomics_on_one_word_take_turns(access: tuple[tuple[int | None, ...], int]) -> None:
    addresses, width = access
    rows = 1 + max(cell.row for cell in served(addresses, width, atomic=True))
    if width >= 4:
        assert rows == traffic.updated_wavefronts(row(addresses), width).units[0]


@given(accesses())
def test_as_many_sectors_are_drawn_as_are_counted(access: tuple[tuple[int | None, ...], int]) -> None:
    addresses, width = access
    assert len(sectors(addresses, width)) == traffic.sectors(row(addresses), width).units[0]


def test_a_column_of_a_tile_is_one_bank_and_thirty_two_wavefronts() -> None:
    picture = lanes_by_bank("k", COLUMN, 4)
    assert "32 lanes touch 1 of the 32 banks" in told(picture) and "32 wavefronts, one after another" in told(picture)
    cells = shapes(picture, "lane")[:-32]  # the legend has 32 too
    assert len({cell.get("x") for cell in cells}) == 1 and len({cell.get("y") for cell in cells}) == 32


def test_neighbouring_words_are_one_row() -> None:
    picture = lanes_by_bank("k", WORDS, 4)
    assert "1 wavefront serves all" in told(picture) and "No bank is asked twice" in told(picture)
    assert len({cell.get("y") for cell in shapes(picture, "lane")[:-32]}) == 1


def test_a_broadcast_is_one_cell() -> None:
    assert len(shapes(lanes_by_bank("k", (64,) * 32, 4), "lane")) == 1 + 32


def test_scattered_lanes_show_what_moves_for_nothing_and_what_could_do() -> None:
    picture = lanes_by_sector("k", COLUMN, 4, 4)
    assert "32 sectors of 32 bytes are moved for 128 bytes" in told(picture)
    assert "4 would hold them" in told(picture) and "12 percent" in told(picture)
    assert len(shapes(picture, "well")) == 32 and len(shapes(picture, "ghost")) == 4


def test_a_dense_access_has_nothing_better() -> None:
    picture = lanes_by_sector("k", WORDS, 4, 4)
    assert "100 percent" in told(picture) and not shapes(picture, "ghost")


def test_warp_slots_are_filled_by_blocks_and_the_limit_is_named() -> None:
    limits = {"registers": 5, "shared memory": 2, "warps": 8, "blocks": 32}
    picture = warp_slots("k", slots=64, blocks=2, warps_per_block=8, limits=limits, limit="shared memory")
    assert "16 of 64 warp slots" in told(picture) and "The limit is shared memory" in told(picture)
    assert len(shapes(picture, "lane")) == 16 and len(shapes(picture, "well")) == 48
    assert len(shapes(picture, "bad")) == 1  # three quarters of it are empty


@pytest.mark.parametrize(
    ("grid", "says", "drawn"),
    [(0.25, "1 wave; the last is 25 % full", 1), (3.0, "3 waves; the last is full", 3), (151.7, "152 waves", 8)],
)
def test_waves_end_as_full_as_they_are(grid: float, says: str, drawn: int) -> None:
    picture = waves("k", grid=grid)
    assert says in told(picture) and len(shapes(picture, "well")) == drawn


def test_bars_are_as_long_as_their_times_and_every_figure_is_said() -> None:
    rows = [Bar("slow", 4.0, "4 s", mark="par"), Bar("fast", 1.0, "1 s", "yours", 0.5, 1.5)]
    picture = bars("k", "Times", rows, light=Bar("a copy", 0.5, "0.5 s"))
    assert told(picture) == "slow: 4 s (par); fast: 1 s. a copy: 0.5 s."
    slow, fast = (float(shapes(picture, kind)[0].get("width", "")) for kind in ("bar", "yours"))
    assert slow == pytest.approx(4 * fast) and len(shapes(picture, "whisker")) == 3


def test_a_bar_far_beyond_the_others_is_broken_off_but_yours_never() -> None:
    rows = [Bar("slow", 100.0, "100 s"), Bar("fast", 1.0, "1 s"), Bar("mine", 2.0, "2 s", "yours", 1.5, 2.5)]
    picture = bars("k", "Times", rows, light=Bar("a copy", 0.5, "0.5 s"))
    assert len(shapes(picture, "break")) == 2 and "slow: 100 s" in told(picture)
    assert float(shapes(picture, "yours")[0].get("width", "")) == pytest.approx((WIDTH - 2) * 2 / 12, abs=0.1)
    rows[2] = Bar("mine", 300.0, "300 s", "yours", 200.0, 400.0)
    assert not shapes(bars("k", "Times", rows, light=rows[1]), "break")


MEMORY_BOUND = Point("yours", 0.25, 0.4e12, 1.6e12, mine=True)


def test_a_point_is_placed_on_its_side_of_the_ridge() -> None:
    assert placed(MEMORY_BOUND, 2e12, 20e12).startswith("0.25 FLOP a byte, on memory's side of the ridge (10): 80 %")
    dense = Point("yours", 100.0, 10e12, 0.1e12)
    assert "arithmetic's side" in placed(dense, 2e12, 20e12) and "50 % of the roof" in placed(dense, 2e12, 20e12)
    assert placed(Point("yours", 0.0, 0.0, 1e12), 2e12, 20e12) == "no floating-point arithmetic: 50 % of the DRAM roof"


@given(st.floats(0, 1e4), st.floats(1e3, 1e13), st.floats(1e3, 1e13))
def test_every_point_lies_inside_the_picture(intensity: float, rate: float, bandwidth: float) -> None:
    picture = roofline("k", [Point("a", intensity, rate if intensity else 0, bandwidth, mine=True)],
                       bandwidth=2e12, peak=20e12)  # fmt: skip
    (point,) = shapes(picture, "mine")
    box = [float(part) for part in ElementTree.fromstring(picture).get("viewBox", "").split()]
    assert 0 <= float(point.get("cx", "")) <= WIDTH and 0 <= float(point.get("cy", "")) <= box[3]


def test_checks_climb_the_ladder() -> None:
    start = datetime(2026, 1, 1)
    checks = [(start + timedelta(days=day), day > 1, day if day > 1 else None) for day in range(4)]
    picture = climb("k", checks, rungs=4, par=3)
    assert told(picture) == "Right: 2 of 4 checks. The highest rung reached is 3 of 4."
    assert len(shapes(picture, "mine")) == 2 and len(shapes(picture, "missed")) == 2
    many = climb("k", checks * 30, rungs=4, par=3)
    assert len(shapes(many, "mine")) + len(shapes(many, "missed")) == MOST


def test_text_is_escaped() -> None:
    picture = Picture("k", 10, "</title><script>", "a & b")
    picture.text(0, 0, "<b>&")
    markup = str(picture.markup())
    assert "<script>" not in markup and "<b>" not in markup and "a &amp; b" in markup

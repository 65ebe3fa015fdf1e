"""What blocks touch, against plain sets; and what a sample of them says of all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.simulator import Allocation, Memory
from harness.simulator.footprint import Asked, Footprints, shared_by

SECTORS = 5000
BLOCKS = 4

touches = st.lists(st.tuples(st.integers(0, BLOCKS - 1), st.integers(0, SECTORS - 1)), min_size=1, max_size=60)


def footprints(cache_bytes: float = float("inf")) -> tuple[Footprints, Memory]:
    memory = Memory()
    memory.allocate("x", SECTORS * 32)
    return Footprints(BLOCKS, min(cache_bytes, 1 << 40)), memory


def asked(allocation: Allocation, pairs: list[tuple[int, int]]) -> Asked:
    """Each pair of a block and a sector by a warp of its own."""
    block, sector = (np.array(column) for column in zip(*pairs, strict=True))
    return Asked.of(allocation, np.arange(len(pairs)), block, sector, BLOCKS)


@given(st.lists(touches, min_size=1, max_size=6), st.sets(st.integers(0, BLOCKS - 1)), st.booleans())
def test_each_block_and_all_together_touch_distinct_sectors(
    accesses: list[list[tuple[int, int]]], inner: set[int], write: bool
) -> None:
    found, memory = footprints()
    allocation = memory.live("buffer")[0]
    for pairs in accesses:
        (found.store if write else found.load)(asked(allocation, pairs))
    (summary,) = [one.summary(np.isin(np.arange(BLOCKS), list(inner))) for one in found.touched(write)]
    every = {pair for pairs in accesses for pair in pairs}
    atoms = {(block, sector // 2) for block, sector in every}
    assert summary.sectors.tolist() == [sum(b == block for b, _ in every) for block in range(BLOCKS)]
    assert summary.atoms.tolist() == [sum(b == block for b, _ in atoms) for block in range(BLOCKS)]
    assert set(np.flatnonzero(summary.by)) == {atom for _, atom in atoms}
    assert set(np.flatnonzero(summary.by == 2)) == {atom for block, atom in atoms if block in inner}
    assert (summary.first, summary.last) == (min(a for _, a in atoms), max(a for _, a in atoms))


@given(st.lists(touches, min_size=1, max_size=6))
def test_a_cache_that_holds_all_misses_first_touches_alone(accesses: list[list[tuple[int, int]]]) -> None:
    found, memory = footprints()
    allocation = memory.live("buffer")[0]
    seen: set[tuple[int, int]] = set()
    for pairs in accesses:
        missed, new = found.load(asked(allocation, pairs))
        assert missed.tolist() == new.tolist() == [pair not in seen for pair in pairs]
        seen |= set(pairs)
    assert found.fetched.tolist() == [sum(b == block for b, _ in seen) for block in range(BLOCKS)]


@pytest.mark.parametrize(
    ("cache_sectors", "again"),
    [(1 << 30, 0), (2.1 * 4096, 0), (4096 / 0.75, 1 / 4), (4096, 1 / 2), (4096 / 1.25, 3 / 4), (0.6 * 4096, 1), (9, 1)],
)
def test_the_part_that_a_second_pass_misses_grows_from_none_to_all(cache_sectors: float, again: float) -> None:
    """From a cache of twice the size of what is passed over, to one of two thirds."""
    found, memory = footprints(32 * cache_sectors)
    allocation = memory.live("buffer")[0]
    for turn in range(2):
        for start in range(0, 4096, 32):
            _, new = found.load(asked(allocation, [(0, sector) for sector in range(32)]), start)
            assert set(new.tolist()) == {turn == 0}
    assert found.fetched[0] / 4096 - 1 == pytest.approx(again, abs=1 / 32)
    assert not found.fetched[1:].any()


@pytest.mark.parametrize("shared", [1, 16, 100, 250, 1000])
def test_how_many_blocks_share_is_found_from_a_sample(shared: int) -> None:
    """A thousand blocks in groups that read the same: drawn at random, the union says how large the groups are."""
    rng = np.random.default_rng(shared)
    found = []
    for _ in range(40):
        drawn = rng.choice(1000, 24, replace=False) // shared
        found.append(shared_by(24 * 100.0, 100.0 * len(set(drawn.tolist())), 24, 1000))
    assert np.median(found) == pytest.approx(shared, rel=0.35, abs=0.1)


def test_where_all_were_counted_nothing_is_guessed() -> None:
    assert shared_by(1000.0, 250.0, 8, 8) == 4

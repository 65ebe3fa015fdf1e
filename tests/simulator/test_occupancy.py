"""Blocks on a multiprocessor: against what Nsight Compute says of measured launches, and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.simulator.gpus import Gpu, load_gpu, names
from harness.simulator.occupancy import cache_share, occupancy, place, resident
from tests.simulator.calibration_rows import Row, rows
from tests.simulator.launches import launch

H200, A100, T4 = map(load_gpu, ("h200", "a100", "t4"))


@pytest.mark.parametrize("row", rows(), ids=str)
def test_limits_are_those_of_the_measured_launch(row: Row) -> None:
    seen = row.measured
    warps = -(-math.prod(seen["block"]) // 32)
    shared = seen["shared_static_bytes"] + seen["shared_dynamic_bytes"]
    held = place(H200, row.name, warps, seen["registers_per_thread"], shared, math.prod(seen["grid"]))
    limits = {name: seen[f"occupancy_limit_{key}"] for name, key in
              (("registers", "registers"), ("warps", "warps"), ("shared memory", "shared"))}  # fmt: skip
    assert (held.limits["registers"], held.limits["warps"]) == (limits["registers"], limits["warps"])
    # Nsight Compute takes the part of the L1 that the driver made shared memory for this launch, not what it could be.
    assert held.limits["shared memory"] >= limits["shared memory"]
    assert held.blocks_per_sm == min(limits.values()) and held.waves == pytest.approx(seen["waves_per_sm"], abs=0.006)


@pytest.mark.parametrize(
    ("gpu", "made", "blocks", "limit"),
    [
        (A100, {"threads": 256, "registers": 32}, 8, "registers"),
        (A100, {"threads": 1024, "registers": 64}, 1, "registers"),
        (A100, {"threads": 256, "registers": 16, "shared": 48 << 10}, 3, "shared memory"),
        (T4, {"threads": 256, "registers": 16, "shared": 48 << 10}, 1, "shared memory"),
        (A100, {"threads": 1024, "registers": 16}, 2, "warps"),
        (load_gpu("rtx3090"), {"threads": 1024, "registers": 16}, 1, "warps"),
        (A100, {"threads": 32, "registers": 16}, 32, "blocks"),
        (load_gpu("l4"), {"threads": 32, "registers": 16}, 24, "blocks"),
    ],
)
def test_the_scarcest_resource_limits(gpu: Gpu, made: dict[str, int], blocks: int, limit: str) -> None:
    held = occupancy(launch(**made), gpu)
    assert held.blocks_per_sm == blocks and held.limits[limit] == blocks
    assert held.warps_per_sm == blocks * made["threads"] // 32


def test_a_block_that_fits_nowhere_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"kernel asks for more shared memory than an SM of the T4"):
        occupancy(launch(shared=100 << 10), T4)


@pytest.mark.parametrize(("blocks", "waves", "tail"), [(864, 1.0, 1.0), (865, 865 / 864, 1 / 864), (432, 0.5, 0.5)])
def test_waves_and_how_full_the_last_one_is(blocks: int, waves: float, tail: float) -> None:
    held = occupancy(launch(blocks=blocks), A100)
    assert (held.waves, held.tail) == (pytest.approx(waves), pytest.approx(tail))


GPUS = st.sampled_from(names()).map(load_gpu)


@given(
    GPUS, st.integers(1, 32), st.integers(1, 128), st.integers(0, 48 << 10), st.integers(0, 64), st.integers(0, 4096)
)
def test_asking_for_more_never_fits_more(
    gpu: Gpu, warps: int, registers: int, shared: int, more: int, bytes_more: int
) -> None:
    def blocks(registers: int, shared: int) -> int:
        try:
            return place(gpu, "kernel", warps, registers, shared, 1000).blocks_per_sm
        except UsageError:
            return 0

    assert blocks(registers + more, shared + bytes_more) <= blocks(registers, shared)


@given(GPUS, st.integers(1, 4096), st.integers(1, 32), st.integers(0, 32 << 10))
def test_a_block_s_share_of_the_l1_is_a_part_of_it(gpu: Gpu, blocks: int, warps: int, shared: int) -> None:
    held = place(gpu, "kernel", warps, 32, shared, blocks)
    share = cache_share(gpu, held, blocks, shared)
    there = resident(held, blocks, gpu)
    assert 1 <= there <= held.blocks_per_sm and 0 <= share * there <= gpu.l1_bytes


def test_fewer_blocks_at_once_leave_more_l1_to_each() -> None:
    held = occupancy(launch(blocks=108), A100)
    assert cache_share(A100, held, 108, 0) == 8 * cache_share(A100, held, 10_000, 0)

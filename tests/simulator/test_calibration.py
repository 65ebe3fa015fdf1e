"""Counts against those of Nsight Compute on an H200, all 54 launches.

PTX tells nothing of some figures: an instruction that is predicated off counts as executed, short branches become
predicates, and so on. Those compared here are of memory, where both must agree, and of resources.
"""

from __future__ import annotations

from functools import cache

import pytest

from harness.profiles import LaunchProfile, Traffic
from tests.simulator import calibration_rows
from tests.simulator.calibration_rows import Row

ROWS = calibration_rows.rows()
SHARED = [row for row in ROWS if row.measured["shared_load_inst"]]
PATTERNS = [row for row in SHARED if row.name.startswith("sp")]


@cache
def counted(row: Row) -> LaunchProfile:
    return calibration_rows.counted(row)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_global_requests_and_sectors_are_those_measured(row: Row) -> None:
    counters = counted(row).counters
    kinds = (("load", counters.global_load), ("store", counters.global_store), ("red", counters.global_atomic))
    for kind, traffic in kinds:
        assert traffic.requests == row.measured[f"global_{kind}_requests"]
        assert traffic.units == row.measured[f"global_{kind}_sectors"]


def arbitration(kind: str) -> float:
    """The most conflicts a request that were measured where no access can have one: blocks that use shared memory at
    once wait for each other, which the profiler counts as bank conflicts too."""
    free = [row.measured for row in SHARED if not getattr(counted(row).counters, f"shared_{kind}").excess]
    return max(row[f"shared_{kind}_bank_conflicts"] / row[f"shared_{kind}_inst"] for row in free)


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("row", SHARED, ids=str)
def test_shared_wavefronts_are_those_measured_within_3_percent(row: Row, kind: str) -> None:
    """Apart from arbitration: taken off where all conflicts are of that kind, else no more than it was elsewhere."""
    traffic: Traffic = getattr(counted(row).counters, f"shared_{kind}")
    measured = row.measured[f"shared_{kind}_wavefronts"]
    if traffic.excess:
        allowed = max(0.03 * measured, arbitration(kind) * traffic.requests)
        assert 0 <= measured - traffic.units <= allowed
    else:
        assert traffic.units == pytest.approx(measured - row.measured[f"shared_{kind}_bank_conflicts"], rel=0.03)


@pytest.mark.parametrize("row", PATTERNS, ids=str)
def test_wavefronts_of_the_pattern_kernels_are_exact(row: Row) -> None:
    counters, measured = counted(row).counters, row.measured
    for kind, traffic in (("load", counters.shared_load), ("store", counters.shared_store)):
        assert traffic.requests == measured[f"shared_{kind}_inst"]
        assert traffic.units == measured[f"shared_{kind}_wavefronts"]
        assert traffic.excess == measured[f"shared_{kind}_bank_conflicts"]


@pytest.mark.parametrize("name", ["mm_tile32", "mm_tile16", "mm_thread_tile"])
def test_shared_loads_are_merged_as_the_compiler_merges_them(name: str) -> None:
    row = next(row for row in ROWS if row.name == name)
    assert counted(row).counters.shared_load.requests == row.measured["shared_load_inst"]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_registers_and_shared_memory_are_those_measured(row: Row) -> None:
    """The hardware gives a thread 16 registers at least, and that is what the profiler says."""
    profile, measured = counted(row), row.measured
    assert max(profile.registers, 16) == measured["registers_per_thread"]
    assert profile.static_shared == measured["shared_static_bytes"]
    assert profile.spills == 0


def test_a_branch_that_splits_every_warp_is_divergent_as_measured() -> None:
    row = next(row for row in ROWS if row.name == "relu_divergent")
    assert counted(row).counters.divergent == row.measured["branch_targets_divergent"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.name.startswith(("add", "mm", "gl", "sm_warp_reg"))],
ids=str)
def test_dram_reads_are_near_those_measured(row: Row) -> None:
    """Beyond 4 MB, where what else the GPU does no longer shows, and within what evictions add."""
    measured = row.measured["dram_bytes_read"]
    assert counted(row).dram_read == pytest.approx(measured, rel=0.11, abs=4 << 20)


@pytest.mark.parametrize("name", ["add_scalar", "add_vec4", "mm_naive", "mm_tile32", "mm_thread_tile"])
def test_float_operations_are_those_measured(name: str) -> None:
    """Where no division and no exponential hides some."""
    row = next(row for row in ROWS if row.name == name)
    measured = row.measured
    assert counted(row).counters.flops == 2 * measured["ffma"] + measured["fadd"] + measured["fmul"]


def test_a_busy_address_is_found() -> None:
    busiest = {row.name: counted(row).same_address for row in ROWS if row.name.startswith("red_")}
    assert busiest["red_atomic"] == 1 << 20
    assert busiest["red_shfl"] == 131072
    assert busiest["red_gridstride"] == 1056

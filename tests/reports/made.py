"""Profiles made by hand, for pages and rules: no compiler, no simulator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from harness.profiles import (
    Counters,
    Footprint,
    InstructionCounters,
    LaunchEstimate,
    LaunchProfile,
    Occupancy,
    Prediction,
    Profile,
    Sampling,
    Traffic,
    WarpAccess,
)

#: A shared tile whose columns conflict: what tests/reports look at. Lines matter, so it is written out here.
SOURCE = """\
constexpr int kTile = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[kTile][kTile];
    int row = blockIdx.y * kTile + threadIdx.y;
    int col = blockIdx.x * kTile + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.x][threadIdx.y] = input[(size_t)row * cols + col];
    __syncthreads();

    // The same tile, now with threadIdx.x along the output's rows.  </script> & <b>
    int out_row = blockIdx.x * kTile + threadIdx.y;
    int out_col = blockIdx.y * kTile + threadIdx.x;
    if (out_row < cols && out_col < rows) output[(size_t)out_row * rows + out_col] = tile[threadIdx.y][threadIdx.x];
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 block(kTile, kTile);
    dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    transpose<<<grid, block>>>(input, output, rows, cols);
}
"""

#: Warps of the launch: 4096 x 8192 elements, 32 a warp.
WARPS = 4096 * 8192 // 32


def ran(line: int, times: int, pipe: str = "integer", mnemonic: str = "add.s32", **more: object) -> InstructionCounters:
    """One PTX instruction that every warp runs ``times`` times, all lanes active."""
    count = times * WARPS
    fields = {"instructions": count, "lanes": 32 * count, "pipes": MappingProxyType({pipe: count})} | more
    return InstructionCounters(mnemonic, line, Counters(**fields))  # type: ignore[arg-type]


def traffic(units: int, ideal: int) -> Traffic:
    """A 4-byte access of every warp, all lanes active."""
    return Traffic(WARPS, 32 * WARPS, 128 * WARPS, units * WARPS, ideal * WARPS)


def access(line: int, space: str, verb: str, step: int, units: int, ideal: int, name: str = "") -> WarpAccess:
    """Lane i at byte ``step * i``."""
    addresses = tuple(step * lane for lane in range(32))
    return WarpAccess(line, space, verb, name, 4, addresses, units, ideal)


LAUNCH = LaunchProfile(
    kernel="transpose", line=20, grid=(256, 128, 1), block=(32, 32, 1), registers=18, spills=0, static_shared=4096,
    dynamic_shared=0, sampling=Sampling(32768, 12, tuple(range(12))),
    instructions=(
        ran(5, 3), ran(6, 3), ran(7, 6), ran(7, 1, "memory", "ld.global.f32", global_load=traffic(4, 4)),
        ran(7, 1, "memory", "st.shared.f32", shared_store=traffic(32, 1)),
        ran(8, 1, "barrier", "bar.sync", barriers=WARPS),
        ran(11, 2), ran(12, 2), ran(13, 6, "branch", "bra", branches=6 * WARPS),
        ran(13, 1, "memory", "ld.shared.f32", shared_load=traffic(1, 1)),
        ran(13, 1, "memory", "st.global.f32", global_store=traffic(4, 4)),
    ),
    footprints=(
        Footprint("input", 1 << 27, 1 << 27, 0, 1 << 27, 0), Footprint("output", 1 << 27, 0, 1 << 27, 0, 1 << 27),
    ),
    worst=(
        access(7, "shared", "store", 128, 32, 1), access(7, "global", "load", 4, 4, 4, "input"),
        access(13, "global", "store", 4, 4, 4, "output"),
    ),
)  # fmt: skip

OCCUPANCY = Occupancy(
    blocks_per_sm=2, warps_per_sm=64, limit="warps",
    limits={"registers": 3, "shared memory": 40, "warps": 2, "blocks": 32}, waves=151.7, tail=0.7,
)  # fmt: skip

#: Every name of :attr:`Prediction.terms`.
NAMES = (
    "launch", "latency", "issue", "FP32", "integer", "special functions", "FP64", "L1", "shared memory", "L2", "DRAM",
    "atomics", "starting blocks",
)  # fmt: skip

TERMS = {
    "shared memory": 352e-6, "DRAM": 158e-6, "L2": 93e-6, "L1": 60e-6, "issue": 61e-6, "latency": 80e-6, "launch": 3e-6,
}  # fmt: skip


def profile(
    launch: LaunchProfile = LAUNCH, terms: Mapping[str, float] = TERMS, occupancy: Occupancy = OCCUPANCY,
    limiter: str = "shared memory: 32-way bank conflicts on line 7",
) -> Profile:  # fmt: skip
    """A call of ``solve`` with one launch; a term that is not given takes no time."""
    seconds = max(terms.values())
    prediction = Prediction(seconds, 0.8 * seconds, 1.25 * seconds, limiter, dict.fromkeys(NAMES, 0.0) | dict(terms))
    return Profile(
        "transpose", "mine.cu", "a100", "rows = 4096, cols = 8192",
        (LaunchEstimate(launch, occupancy, prediction),), (), prediction,
    )  # fmt: skip


def scattered() -> Profile:
    """The same launch with a scattered global store instead of the tile's conflicts."""
    lines = [one for one in LAUNCH.instructions if one.line != 13 and not one.counters.shared_store.requests]
    lines.append(ran(13, 1, "memory", "st.global.f32", global_store=traffic(32, 4)))
    worst = (access(13, "global", "store", 16384, 32, 4, "output"), LAUNCH.worst[1])
    launch = dataclasses.replace(LAUNCH, instructions=tuple(lines), worst=worst, static_shared=0)
    return profile(launch, {"DRAM": 560e-6, "L2": 400e-6, "issue": 50e-6}, limiter="DRAM bandwidth, 22 % of it useful")

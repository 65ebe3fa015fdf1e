"""Special registers: where a thread is, and clocks that only go forward."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import Unsupported
from tests.simulator.running import Unset, assembly, module, silent


@pytest.mark.parametrize(("grid", "block"), [((3, 2, 2), (5, 3, 2)), ((1, 4, 1), (1, 1, 40)), ((2, 1, 3), (64, 1, 1))])
def test_every_thread_knows_its_place(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    source = """KERNEL k(unsigned* out) {
        unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        unsigned* mine = out + 12 * (b * blockDim.x * blockDim.y * blockDim.z + thread);
        mine[0] = threadIdx.x; mine[1] = threadIdx.y; mine[2] = threadIdx.z;
        mine[3] = blockIdx.x; mine[4] = blockIdx.y; mine[5] = blockIdx.z;
        mine[6] = blockDim.x; mine[7] = blockDim.y; mine[8] = blockDim.z;
        mine[9] = gridDim.x; mine[10] = gridDim.y; mine[11] = gridDim.z;
    }"""
    count = int(np.prod(grid) * np.prod(block))
    out = silent(source, grid=grid, block=block, out=Unset("u4", 12 * count))["out"].reshape(-1, 12)
    places = [(x, y, z, a, b, c) for c in range(grid[2]) for b in range(grid[1]) for a in range(grid[0])
              for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]  # fmt: skip
    np.testing.assert_array_equal(out[:, :6], places)
    np.testing.assert_array_equal(out[:, 6:], [(*block, *grid)] * count)


def test_lane_and_warp_registers_are_those_of_the_block() -> None:
    source = """KERNEL k(unsigned* out) {
        unsigned v[8], i = threadIdx.x;
        asm("mov.u32 %0, %%laneid;" : "=r"(v[0])); asm("mov.u32 %0, %%warpid;" : "=r"(v[1]));
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(v[2])); asm("mov.u32 %0, %%lanemask_le;" : "=r"(v[3]));
        asm("mov.u32 %0, %%lanemask_gt;" : "=r"(v[4])); asm("mov.u32 %0, %%lanemask_ge;" : "=r"(v[5]));
        asm("mov.u32 %0, %%lanemask_eq;" : "=r"(v[6])); v[7] = warpSize;
        for (int n = 0; n < 8; ++n) out[8 * i + n] = v[n];
    }"""
    out = silent(source, block=80, out=Unset("u4", 640))["out"].reshape(80, 8)
    for thread in range(80):
        lane, bit = thread % 32, 1 << thread % 32
        below, everyone = bit - 1, (1 << 32) - 1
        above = everyone ^ below ^ bit
        assert out[thread].tolist() == [lane, thread // 32, below, below | bit, above, above | bit, bit, 32]


def test_clocks_go_forward() -> None:
    source = """KERNEL k(long long* out) {
        for (int n = 0; n < 4; ++n) out[4 * threadIdx.x + n] = clock64();
    }"""
    times = silent(source, block=64, out=Unset("i8", 256))["out"].reshape(64, 4)
    assert (np.diff(times, axis=1) > 0).all()


def test_a_register_of_the_multiprocessor_is_below_their_number() -> None:
    source = """KERNEL k(unsigned* out) {
        if (threadIdx.x == 0) {
            asm("mov.u32 %0, %%smid;" : "=r"(out[2 * blockIdx.x]));
            asm("mov.u32 %0, %%nsmid;" : "=r"(out[2 * blockIdx.x + 1]));
        }
    }"""
    out = silent(source, grid=300, out=Unset("u4", 600))["out"].reshape(300, 2)
    assert (out[:, 0] < out[:, 1]).all() and len(set(out[:, 0].tolist())) > 50


@pytest.mark.parametrize("register", ["%envreg3", "%pm0", "%clusterid.x", "%tid.w"])
def test_a_register_it_does_not_know_is_refused_when_the_kernel_is_read(register: str) -> None:
    loaded = module(assembly(f"mov.u32 %r1, 1;\nmov.u32 %r2, {register};"))
    with pytest.raises(Unsupported) as refused:
        loaded.kernel("main")
    assert register in refused.value.message and refused.value.line == 2

"""How many blocks of a launch a multiprocessor holds, and how the grid fills the GPU.

The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h): registers are handed out to a warp in units of
256 and the warps they are enough for come in fours; a block's shared memory includes what the system keeps for it.
"""

from __future__ import annotations

import math

from harness.errors import UsageError
from harness.profiles import LaunchProfile, Occupancy
from harness.simulator.gpus import SCHEDULERS, WARP, Gpu

_REGISTER_UNIT = 256

_LEAST_CARVEOUT, _CARVEOUT_ROOM = 32 << 10, 1.75

#: A kernel never has fewer registers a thread than this.
FEWEST_REGISTERS = 16


def occupancy(launch: LaunchProfile, gpu: Gpu) -> Occupancy:
    """Blocks of ``launch`` on each SM of ``gpu``. Raises UsageError where not one fits."""
    return place(gpu, launch.kernel, launch.warps, launch.registers, launch.shared_bytes, launch.blocks)


def place(gpu: Gpu, kernel: str, warps: int, registers: int, shared_bytes: int, blocks: int) -> Occupancy:
    """As :func:`occupancy`, of a launch not counted yet: warps and shared bytes of a block, registers of a thread."""
    limits = {
        "registers": _by_registers(warps, registers, gpu), "shared memory": _by_shared(shared_bytes, gpu),
        "warps": gpu.warps_per_sm // warps, "blocks": gpu.blocks_per_sm,
    }  # fmt: skip
    limit = min(limits, key=lambda name: limits[name])
    held = limits[limit]
    if not held:
        raise UsageError(
            f"a block of {kernel} asks for more {limit} than an SM of the {gpu.title} has",
            remedy=f"ask for less {limit}, or name another GPU",
        )  # fmt: skip
    waves = blocks / (held * gpu.sms)
    return Occupancy(held, held * warps, limit, limits, waves, waves - math.ceil(waves) + 1)


def _by_registers(warps: int, registers: int, gpu: Gpu) -> int:
    wanted = max(registers, FEWEST_REGISTERS) * WARP
    each = -(-wanted // _REGISTER_UNIT) * _REGISTER_UNIT
    return gpu.registers_per_sm // each // SCHEDULERS * SCHEDULERS // warps


def _by_shared(nbytes: int, gpu: Gpu) -> int:
    wanted = -(-(nbytes + gpu.shared_reserve) // gpu.shared_unit) * gpu.shared_unit
    if nbytes > gpu.shared_per_block:
        return 0
    return min(gpu.shared_per_sm // wanted, gpu.blocks_per_sm) if wanted else gpu.blocks_per_sm


def resident(held: Occupancy, blocks: int, gpu: Gpu) -> int:
    """Blocks of a grid of ``blocks`` that the fullest SM has at once: of a small grid fewer than it could hold."""
    return min(held.blocks_per_sm, -(-blocks // gpu.sms))


def cache_share(gpu: Gpu, held: Occupancy, blocks: int, shared_bytes: int) -> int:
    """Bytes of L1 for each block that an SM has at once.

    The driver takes shared memory from the same place, by a rule that it keeps to itself. On an H200 it took the
    smallest carveout with room for about 1.75 times as many blocks as fit, and no less than 32 KB.
    """
    wanted = max(_LEAST_CARVEOUT, _CARVEOUT_ROOM * held.blocks_per_sm * (shared_bytes + gpu.shared_reserve))
    taken = min((size for size in gpu.carveouts if size >= wanted), default=gpu.shared_per_sm)
    return (gpu.l1_bytes - taken) // resident(held, blocks, gpu)

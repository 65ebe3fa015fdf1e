"""Seconds that each resource of a GPU takes for a launch, from what was counted, and how they overlap.

Each resource alone would take a certain time: its work, over how fast an SM or the GPU does such work. They overlap,
but not perfectly, and how they do so is the model:

* within an SM, pipes work side by side while warps wait. The longer of work and waiting hides the shorter but for one
  part in as many as there are independent warps: a single warp does one after the other, many do both at once. Warps
  of a block that a barrier has brought together run the same code at the same time, and count as one;
* memory gets slower as its bandwidth is used up: DRAM answers later, and what memory takes is blended with what the
  SMs take, not compared;
* blocks are handed out one after the other, and so are atomics on one address done. Nothing else makes those slower,
  so they only count where they take longer than all the rest.

Nothing in here knows a kernel. What the constants are and how they were found stands in ``gpus.toml``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from harness.counts import NOTHING
from harness.profiles import SECTOR, LaunchProfile, Occupancy
from harness.simulator.gpus import SCHEDULERS, WARP, Gpu
from harness.simulator.occupancy import cache_share, occupancy, resident

#: Bytes of each array, by name, that earlier launches have left in the L2.
Warm = Mapping[str, float]

#: Exponents of the two blends: of the pipes of one SM, and of the SMs with the memory behind them.
PIPES, MEMORY = 4.0, 2.6

#: From so many waves on, the blocks of an SM have drifted apart, and a last wave that is not full costs its part only.
DRIFTED = 6

#: Parts of the L2 from which blocks in flight push out each other's data, and have pushed out all of it.
_CROWDED, _LOST = 0.6, 1.2

#: Bytes that one SM takes from the L2 in a clock at most ("NVIDIA A100 Tensor Core GPU Architecture": 64 bytes).
_L2_PORT = 64


@dataclass(frozen=True)
class Terms:
    """Seconds that each resource alone would take. ``independent`` warps of an SM overlap work and waiting.

    ``queues`` are what is done one after the other, at a pace of its own: blocks handed out to the SMs, atomics on one
    address.
    """

    latency: float
    pipes: Mapping[str, float]
    memory: Mapping[str, float]
    queues: Mapping[str, float]
    independent: float

    @property
    def work(self) -> dict[str, float]:
        """What each pipe takes. L1 and shared memory are one, so their times add up."""
        others = {name: seconds for name, seconds in self.pipes.items() if name not in ("L1", "shared memory")}
        return others | {"memory": self.pipes["L1"] + self.pipes["shared memory"]}

    @property
    def inside(self) -> float:
        """What the SMs take: their pipes, and waiting for results."""
        work = _norm(self.work.values(), PIPES)
        return max(work, self.latency) + min(work, self.latency) / self.independent

    @property
    def busy(self) -> float:
        """The part of the time for which the busiest memory is at work: 0 to 1."""
        return max(self.memory.values()) / max(self.seconds, 1e-12)

    @property
    def seconds(self) -> float:
        """All of it, without the launch."""
        return max(_norm((self.inside, max(self.memory.values())), MEMORY), *self.queues.values())


def _norm(values: Iterable[float], power: float) -> float:
    """Near the largest of the values, and above it where others come near."""
    found = [value for value in values if value > 0]
    top = max(found, default=0.0)
    return top * sum((value / top) ** power for value in found) ** (1 / power) if top else 0.0


def terms(launch: LaunchProfile, gpu: Gpu, held: Occupancy, warm: Warm = NOTHING) -> Terms:
    """What each resource takes. ``warm`` is what the L2 holds already."""
    there = resident(held, launch.blocks, gpu)
    rounds = held.waves if held.waves >= DRIFTED else (max(held.waves, 1.0) + math.ceil(held.waves)) / 2
    pipes, memory, queues = _pipes(launch, gpu, held), _memory(launch, gpu, held, warm), _queues(launch, gpu)
    idle, loaded = _warp_cycles(launch, gpu, warm)
    barriers = launch.chain.steps.get("barrier", 0.0)

    def when(busy: float) -> Terms:
        cycles = idle + busy * (loaded - idle)
        together = min(1.0, barriers * gpu.physics.together / cycles)
        independent = there * launch.warps / (1 + (launch.warps - 1) * together)
        return Terms(cycles * rounds / gpu.clock, pipes, memory, queues, independent)

    return when(_settled(lambda busy: when(busy).busy))


def _settled(busy: Callable[[float], float]) -> float:
    """How busy memory is, from 0 to 1: it answers the later the busier it is, which makes all take longer, and so
    leaves it less busy. By halving the interval, to the last of a million millionths."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if busy(middle) > middle else (low, middle)
    return high


def _warp_cycles(launch: LaunchProfile, gpu: Gpu, warm: Warm) -> tuple[float, float]:
    """From the start of a block to its last warp's end, if nothing else ran on the SM: with memory that is idle, and
    with memory that is busy all the time."""
    physics, steps = gpu.physics, launch.chain.steps
    first, again = _from_dram(launch, gpu, warm)

    def cycles(dram: float) -> float:
        fetch, refetch = ((physics.l2 + part * dram) * gpu.clock for part in (first, again))
        return physics.block_start + sum(
            steps.get(kind, 0.0) * cycles for kind, cycles in (
                ("alu", physics.alu), ("special", physics.special), ("shared", physics.shared), ("l1", physics.l1),
                ("fetch", fetch), ("refetch", refetch), ("atomic", fetch), ("barrier", physics.barrier),
                ("branch", physics.branch), ("replay", 1.0),
            )
        )  # fmt: skip

    return cycles(physics.dram), cycles(physics.dram * (1 + physics.loaded))


def _from_dram(launch: LaunchProfile, gpu: Gpu, warm: Warm) -> tuple[float, float]:
    """The part of the fetches that wait for DRAM, of what a block loads for the first time and of what it comes back
    to: a request waits for the slowest of its cache lines."""
    by_blocks = sum(one.read_by_blocks for one in launch.footprints)
    first = min(1.0, _first_read(launch, warm) / by_blocks) if by_blocks else 0.0
    loads = launch.counters.global_load
    lines = max(1.0, loads.cache_lines / loads.requests) if loads.requests else 1.0
    return 1.0 - (1.0 - first) ** lines, 1.0 - (1.0 - _lost(launch, gpu)) ** lines


def _pipes(launch: LaunchProfile, gpu: Gpu, held: Occupancy) -> dict[str, float]:
    """Seconds of each pipe of the SM that has most to do."""
    counters, slots = launch.counters, launch.chain.slots
    fullest = math.ceil(launch.blocks / gpu.sms) / launch.blocks if held.waves <= 2 else 1 / gpu.sms
    warps = launch.blocks * launch.warps

    def clocks(unit: str, lanes: float) -> float:
        return slots.get(unit, 0.0) * warps * WARP / lanes

    lines = sum(
        traffic.cache_lines + gpu.physics.request * traffic.requests for traffic in (
            counters.global_load, counters.global_store, counters.global_atomic, counters.local_load,
            counters.local_store,
        )
    )  # fmt: skip
    issued = slots.get("issue", 0.0) + gpu.physics.prologue
    work = {
        "issue": issued * warps / SCHEDULERS, "FP32": clocks("fma", gpu.fp32_lanes),
        "integer": clocks("alu", gpu.integer_lanes), "special functions": clocks("special", gpu.special_lanes),
        "FP64": clocks("fp64", gpu.fp64_lanes), "L1": lines, "shared memory": float(counters.wavefronts),
    }  # fmt: skip
    return {name: clock * fullest / gpu.clock for name, clock in work.items()}


def _memory(launch: LaunchProfile, gpu: Gpu, held: Occupancy, warm: Warm) -> dict[str, float]:
    """Seconds of what all SMs share."""
    counters, physics = launch.counters, gpu.physics
    read, written = _dram_read(launch, gpu, warm), launch.dram_written
    # Flushing filled the L2 with other data, and what of it is dirty must go before anything else can come.
    clean = (1 - physics.dirty) * gpu.l2_bytes
    evicted = max(0.0, min(physics.dirty * gpu.l2_bytes, read - clean) - written)
    stores = (counters.global_store, counters.global_atomic)
    sectors = _fetched(launch, gpu) + sum(one.units + physics.line_sectors * one.cache_lines for one in stores)
    sectors += _spilled(launch, gpu, held) * (counters.local_load.units + counters.local_store.units)
    busy = min(launch.blocks, gpu.sms)
    return {
        "DRAM": (read + written + evicted) / (gpu.dram_bandwidth * physics.dram_achieved),
        "L2": sectors * SECTOR / min(gpu.l2_bandwidth, busy * _L2_PORT * gpu.clock),
    }


def _queues(launch: LaunchProfile, gpu: Gpu) -> dict[str, float]:
    """Seconds of what is done one after the other, however many SMs there are."""
    physics = gpu.physics
    atomic = physics.atomic + _adding(launch) * (physics.atomic_float - physics.atomic)
    return {
        "starting blocks": launch.blocks * physics.block_interval / gpu.clock,
        "atomics": launch.same_address * atomic,
    }


def _spilled(launch: LaunchProfile, gpu: Gpu, held: Occupancy) -> float:
    """The part of local memory for which the L1 has no room, so that it goes to the L2: the L1 keeps what is stored to
    local memory, as only its own thread reads it."""
    needs = launch.spills * launch.threads
    share = cache_share(gpu, held, launch.blocks, launch.static_shared + launch.dynamic_shared)
    return max(0.0, 1.0 - share / needs) if needs else 0.0


def _adding(launch: LaunchProfile) -> float:
    """The part of the lanes' atomics that add floating-point numbers."""
    lanes = [(bool(_FLOAT_ADD.search(one.mnemonic)), one.counters.global_atomic.lanes) for one in launch.instructions]
    every = sum(count for _, count in lanes)
    return sum(count for adds, count in lanes if adds) / every if every else 0.0


_FLOAT_ADD = re.compile(r"\.add\.(noftz\.)?(f|bf)\d")


def _dram_read(launch: LaunchProfile, gpu: Gpu, warm: Warm) -> float:
    """Bytes read from DRAM: each array once, and again what blocks come back to when the L2 no longer holds it."""
    by_blocks = sum(one.read_by_blocks for one in launch.footprints)
    return _first_read(launch, warm) + _lost(launch, gpu) * max(0.0, launch.fetched * SECTOR - by_blocks)


def _first_read(launch: LaunchProfile, warm: Warm) -> float:
    """Bytes that the L2 doesn't hold yet, each once."""
    return sum(max(0, one.read - warm.get(one.name, 0)) for one in launch.footprints)


def _lost(launch: LaunchProfile, gpu: Gpu) -> float:
    """The part of what blocks come back to that the L2 no longer holds.

    What the blocks in flight touch must fit the L2. It begins to lose some from :data:`_CROWDED` of its size on, having
    two halves that may hold the same line, and holds nothing that is read in turn from :data:`_LOST` on.
    """
    flying = min(1.0, resident(occupancy(launch, gpu), launch.blocks, gpu) * gpu.sms / launch.blocks)
    crowd = flying * sum(one.read_by_blocks for one in launch.footprints) / gpu.l2_bytes
    return min(1.0, max(0.0, (crowd - _CROWDED) / (_LOST - _CROWDED)))


def _fetched(launch: LaunchProfile, gpu: Gpu) -> float:
    """Sectors that the L1s fetch. An array that fits an L1 stays there from block to block: each SM fetches it once."""
    spared = sum(
        max(0.0, one.read_by_blocks - gpu.sms * one.read) for one in launch.footprints if one.read <= gpu.l1_bytes / 2
    )
    return max(launch.fetched - spared / SECTOR, 0.0)

"""About how long a launch takes on a GPU, from what was counted, and what it waits for.

Each resource alone would take a certain time: its work, over how fast an SM or the GPU does such work (:class:`Terms`).
They overlap, but not perfectly, and how they do so is the model:

* within an SM, pipes work side by side while warps wait. The longer of work and waiting hides the shorter but for one
  part in as many as there are independent warps: a single warp does one after the other, many do both at once. Warps
  of a block with barriers close to each other wait for each other, and count as one;
* memory gets slower as its bandwidth is used up, so that and what the SMs take are blended, not compared.

Nothing in here knows a kernel. What the constants are and how they were found stands in ``gpus.toml``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.profiles import SECTOR, LaunchEstimate, LaunchProfile, Occupancy, Prediction, Transfer
from harness.simulator.gpus import SCHEDULERS, WARP, Gpu
from harness.simulator.occupancy import occupancy, resident

#: Raised when a prediction changes for the same counts: part of the key under which predictions are kept.
MODEL = 4

#: A prediction's band: it times this, and divided by it. On an H200 nine in ten launches that no constant was fitted to
#: (each family of the calibration left out in turn) lie within a factor of 1.2, and nine in ten solutions within 1.25
#: (python -m tests.benchmarks.calibration --refit --ladders FILE). No other GPU was measured: the rest is for those.
BAND = 1.35

#: Exponents of the two blends: of the pipes of one SM, and of the SMs with the memory behind them.
PIPES, MEMORY = 4.0, 2.2

#: From so many waves on, the blocks of an SM have drifted apart, and a last wave that is not full costs its part only.
DRIFTED = 6

#: Parts of the L2 from which blocks in flight push out each other's data, and have pushed out all of it.
_CROWDED, _LOST = 0.6, 1.2

#: Bytes that one SM takes from the L2 in a clock at most ("NVIDIA A100 Tensor Core GPU Architecture": 64 bytes).
_L2_PORT = 64


@dataclass(frozen=True)
class Terms:
    """Seconds that each resource alone would take. ``independent`` warps of an SM overlap work and waiting."""

    latency: float
    pipes: Mapping[str, float]
    memory: Mapping[str, float]
    independent: float

    @property
    def inside(self) -> float:
        """What the SMs take: their pipes, and waiting for results."""
        work = _norm(_shared_pipe(self.pipes).values(), PIPES)
        return max(work, self.latency) + min(work, self.latency) / self.independent

    @property
    def seconds(self) -> float:
        """All of it, without the launch."""
        return _norm((self.inside, max(self.memory.values())), MEMORY)


def _shared_pipe(pipes: Mapping[str, float]) -> dict[str, float]:
    """L1 and shared memory are one pipe, so their times add up."""
    others = {name: seconds for name, seconds in pipes.items() if name not in ("L1", "shared memory")}
    return others | {"memory": pipes["L1"] + pipes["shared memory"]}


def _norm(values: Iterable[float], power: float) -> float:
    """Near the largest of the values, and above it where others come near."""
    found = [value for value in values if value > 0]
    top = max(found, default=0.0)
    return top * sum((value / top) ** power for value in found) ** (1 / power) if top else 0.0


def terms(launch: LaunchProfile, gpu: Gpu, held: Occupancy, warm: frozenset[str] = frozenset()) -> Terms:
    """What each resource takes. ``warm`` names the arrays that the L2 holds already."""
    there = resident(held, launch.blocks, gpu)
    cycles = _warp_cycles(launch, gpu, warm)
    rounds = held.waves if held.waves >= DRIFTED else (max(held.waves, 1.0) + math.ceil(held.waves)) / 2
    memory_cycles = (gpu.physics.l2 + gpu.physics.dram) * gpu.clock
    bound = min(1.0, launch.chain.steps.get("barrier", 0.0) * memory_cycles / cycles)
    return Terms(
        cycles * rounds / gpu.clock, _pipes(launch, gpu, held), _memory(launch, gpu, warm),
        there * launch.warps / (1 + (launch.warps - 1) * bound),
    )  # fmt: skip


def _warp_cycles(launch: LaunchProfile, gpu: Gpu, warm: frozenset[str]) -> float:
    """From the start of a block to its last warp's end, if nothing else ran on the SM."""
    physics, steps = gpu.physics, launch.chain.steps
    first, again = _from_dram(launch, gpu, warm)
    fetch, refetch = ((physics.l2 + part * physics.dram) * gpu.clock for part in (first, again))
    return physics.block_start + sum(
        steps.get(kind, 0.0) * cycles for kind, cycles in (
            ("alu", physics.alu), ("special", physics.special), ("shared", physics.shared), ("l1", physics.l1),
            ("fetch", fetch), ("refetch", refetch), ("atomic", fetch), ("barrier", physics.barrier),
            ("branch", physics.branch), ("replay", 1.0),
        )
    )  # fmt: skip


def _from_dram(launch: LaunchProfile, gpu: Gpu, warm: frozenset[str]) -> tuple[float, float]:
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


def _memory(launch: LaunchProfile, gpu: Gpu, warm: frozenset[str]) -> dict[str, float]:
    """Seconds of what all SMs share."""
    counters, physics = launch.counters, gpu.physics
    read, written = _dram_read(launch, gpu, warm), launch.dram_written
    # Flushing filled the L2 with other data, and what of it is dirty must go before anything else can come.
    clean = (1 - physics.dirty) * gpu.l2_bytes
    evicted = max(0.0, min(physics.dirty * gpu.l2_bytes, read - clean) - written)
    stores = (counters.global_store, counters.global_atomic, counters.local_store)
    sectors = _fetched(launch, gpu) + sum(one.units + physics.line_sectors * one.cache_lines for one in stores)
    busy = min(launch.blocks, gpu.sms)
    return {
        "DRAM": (read + written + evicted) / (gpu.dram_bandwidth * physics.dram_achieved),
        "L2": sectors * SECTOR / min(gpu.l2_bandwidth, busy * _L2_PORT * gpu.clock),
        "atomics": launch.same_address * (physics.atomic + _swapping(launch) * (physics.swap - physics.atomic)),
    }


def _swapping(launch: LaunchProfile) -> float:
    """The part of the lanes' atomics that are compare-and-swaps."""
    lanes = [("cas" in one.mnemonic, one.counters.global_atomic.lanes) for one in launch.instructions]
    every = sum(count for _, count in lanes)
    return sum(count for swap, count in lanes if swap) / every if every else 0.0


def _dram_read(launch: LaunchProfile, gpu: Gpu, warm: frozenset[str]) -> float:
    """Bytes read from DRAM: each array once, and again what blocks come back to when the L2 no longer holds it."""
    by_blocks = sum(one.read_by_blocks for one in launch.footprints)
    return _first_read(launch, warm) + _lost(launch, gpu) * max(0.0, launch.fetched * SECTOR - by_blocks)


def _first_read(launch: LaunchProfile, warm: frozenset[str]) -> int:
    """Bytes of the arrays that the L2 doesn't hold yet, each once."""
    return sum(one.read for one in launch.footprints if one.name not in warm)


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


def predict(launch: LaunchProfile, gpu: Gpu, warm: frozenset[str] = frozenset()) -> Prediction:
    """About how long ``launch`` takes on ``gpu``, alone and with a cold L2 but for the arrays that ``warm`` names.

    Raises UsageError where not one block of it fits an SM.
    """
    held = occupancy(launch, gpu)
    found = terms(launch, gpu, held, warm)
    seconds = gpu.physics.launch + found.seconds
    named = {"launch": gpu.physics.launch, "latency": found.latency} | dict(found.pipes) | dict(found.memory)
    return Prediction(seconds, seconds / BAND, seconds * BAND, limiter(launch, gpu, held, found), named)


def predict_all(launches: Sequence[LaunchProfile], gpu: Gpu) -> tuple[LaunchEstimate, ...]:
    """The launches of one call, one after the other: arrays that the L2 has room for stay there for the next."""
    estimates = []
    warm: dict[str, int] = {}
    for launch in launches:
        kept = frozenset(warm) if sum(warm.values()) <= gpu.l2_bytes else frozenset()
        estimates.append(LaunchEstimate(launch, occupancy(launch, gpu), predict(launch, gpu, kept)))
        warm |= {one.name: max(one.read, one.written) for one in launch.footprints}
    return tuple(estimates)


def whole(estimates: Sequence[LaunchEstimate], transfers: Sequence[Transfer], gpu: Gpu) -> Prediction:
    """One call of ``solve``: its launches and transfers, one behind the other. ValueError where it has neither."""
    if not estimates and not transfers:
        raise ValueError("a call with neither a launch nor a transfer takes no time that could be predicted")
    named: dict[str, float] = {}
    calls = sum(one.launch.times for one in estimates) + len(transfers)
    for one in estimates:
        for name, seconds in one.prediction.terms.items():
            named[name] = named.get(name, 0.0) + seconds * one.launch.times
    named["launch"] = gpu.physics.launch + (calls - 1) * gpu.physics.relaunch
    moved = sum(one.nbytes * (2 if one.kind == "copy" else 1) for one in transfers)
    moving = moved / (gpu.dram_bandwidth * gpu.physics.dram_achieved)
    named["DRAM"] = named.get("DRAM", 0.0) + moving
    running = sum((one.prediction.seconds - gpu.physics.launch) * one.launch.times for one in estimates)
    seconds = named["launch"] + moving + running
    longest = max(estimates, key=lambda one: one.prediction.seconds * one.launch.times, default=None)
    words = longest.prediction.limiter if longest else "DRAM bandwidth, for copies and memsets"
    if longest and len(estimates) > 1:
        what, *figures = re.split(r"(?= \(|[:,])", words, maxsplit=1)
        words = "".join([what, f" in {longest.launch.kernel}", *figures])
    return Prediction(seconds, seconds / BAND, seconds * BAND, words, named)


def limiter(launch: LaunchProfile, gpu: Gpu, held: Occupancy, found: Terms) -> str:
    """What the launch waits for, in words."""
    longest = max(found.memory, key=lambda name: found.memory[name])
    launching = gpu.physics.launch
    if launching > max(found.inside, found.memory[longest]):
        return "the launch itself: there is little to do"
    if launch.blocks < gpu.sms and found.inside > found.memory[longest]:
        idle = gpu.sms - launch.blocks
        blocks = "one block" if launch.blocks == 1 else f"{launch.blocks} blocks"
        return f"{blocks}: {idle} of {gpu.sms} SMs idle"
    if found.memory[longest] > found.inside:
        return _WORDS[longest](launch)
    if found.latency > max(_shared_pipe(found.pipes).values()):
        warps = min(held.warps_per_sm, resident(held, launch.blocks, gpu) * launch.warps)
        return f"latency: {_counted(warps, 'warp')} in flight per SM"
    pipe = max(found.pipes, key=lambda name: found.pipes[name])
    return _WORDS[pipe](launch)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _dram_words(launch: LaunchProfile) -> str:
    """Useful is what lanes asked for; asking for it again brings no more of it from DRAM."""
    counters, moved = launch.counters, launch.dram_read + launch.dram_written
    asked = min(counters.global_load.nbytes, launch.dram_read) + min(counters.global_store.nbytes, launch.dram_written)
    return f"DRAM bandwidth, {round(100 * asked / moved)} % of it useful"


def _shared_words(launch: LaunchProfile) -> str:
    counted = [
        (one.line, traffic) for one in launch.instructions
        for traffic in (one.counters.shared_load, one.counters.shared_store, one.counters.shared_atomic)
        if traffic.excess
    ]
    if not counted:
        return "shared memory bandwidth"
    line, worst = max(counted, key=lambda pair: pair[1].excess)
    ways = round(worst.units / max(worst.ideal, 1))
    where = f" on line {line}" if line else ""
    return f"shared memory: {ways}-way conflicts{where}" if ways > 1 else f"shared memory: bank conflicts{where}"


def _l1_words(launch: LaunchProfile) -> str:
    counted = [(one.line, traffic) for one in launch.instructions
               for traffic in (one.counters.global_load, one.counters.global_store) if traffic.requests]  # fmt: skip
    line, worst = max(counted, key=lambda pair: pair[1].cache_lines, default=(None, None))
    if worst is None:
        return "L1 bandwidth"
    where = f" on line {line}" if line else ""
    return f"L1: {worst.cache_lines / worst.requests:.0f} cache lines a request{where}"


_WORDS: dict[str, Callable[[LaunchProfile], str]] = {
    "DRAM": _dram_words,
    "L2": lambda launch: "L2 bandwidth",
    "atomics": lambda launch: "atomics on one address, one after the other",
    "shared memory": _shared_words,
    "L1": _l1_words,
    "issue": lambda launch: "instructions issued",
    "FP32": lambda launch: "float32 arithmetic",
    "integer": lambda launch: "integer and logic instructions",
    "special functions": lambda launch: "special functions (exp, sin, division, conversions)",
    "FP64": lambda launch: "double-precision arithmetic",
}

"""Rules about lanes, registers, atomics and the grid: what idles while others work."""

from __future__ import annotations

import math
from collections.abc import Callable

from harness.profiles import Counters, Traffic
from harness.reports.figures import average_lanes
from harness.reports.rules.scene import Rule, Scene, Waste, line_with_most, of, plain, waiting
from harness.reports.text import figure
from harness.simulator.terms import DRIFTED

# Lanes, registers, atomics


def _idle_lanes(scene: Scene) -> Waste:
    counters = scene.counters
    split = counters.divergent / counters.branches if counters.branches else 0.0
    idle = 1 - counters.efficiency if counters.efficiency < 0.75 and split >= 0.1 else 0.0
    return of(idle, *_WORK)


#: What whole warps of work, half of it masked, takes too much of.
_WORK = ("issue", "FP32", "integer", "special functions", "FP64", "latency")


def _most_divergent(scene: Scene) -> int | None:
    return line_with_most(scene, lambda counters: counters.divergent)


def _short_blocks(scene: Scene) -> Waste:
    launch = scene.estimate.launch
    return of(1 - launch.threads / (32 * launch.warps), *_WORK)


def _local_units(counters: Counters) -> int:
    return counters.local_load.units + counters.local_store.units


def _local(scene: Scene) -> Waste:
    moved = _local_units(scene.counters)
    return of(moved / (moved + scene.counters.sectors), "L1", "L2", "latency") if moved else {}


def _meeting(conflicts: str, name: str, *terms: str) -> Callable[[Scene], Waste]:
    """Lanes of one warp that meet on one address: all but one in each meeting could have been added up before."""
    def waste(scene: Scene) -> Waste:
        traffic: Traffic = getattr(scene.counters, name)
        met = getattr(scene.counters, conflicts) / traffic.requests if traffic.requests else 0.0
        return of(1 - 1 / met, *terms) if met >= 4 else {}

    return waste


def _lanes_met(conflicts: str, name: str) -> Callable[[Scene], str]:
    def what(scene: Scene) -> str:
        met = getattr(scene.counters, conflicts) / getattr(scene.counters, name).requests
        return f"{figure(met)} lanes of a warp meet on one address, and take turns"

    return what


def _queue(scene: Scene) -> Waste:
    """Atomics of the whole launch on one address, of which one for each multiprocessor would do."""
    launch = scene.estimate.launch
    met = scene.whole.global_conflicts / (scene.whole.global_atomic.requests or 1)
    needed = 4 * scene.gpu.sms
    return of(1 - needed / launch.same_address, "atomics") if launch.same_address > needed and met < 4 else {}


def _double(scene: Scene) -> Waste:
    """What doubles cost beyond floats: a slower pipe, and conversions, which the special function units do."""
    launch, whole = scene.estimate.launch, scene.whole.pipes.get("fp64", 0)
    if not whole:
        return {}
    part = scene.counters.pipes.get("fp64", 0) / whole
    special = launch.chain.slots.get("special", 0.0) * launch.blocks * launch.warps
    converted = sum(
        one.counters.instructions for one in launch.instructions
        if one.line == scene.line and one.mnemonic.startswith("cvt") and ".f64" in one.mnemonic
    )  # fmt: skip
    slower = max(0.0, 1 - scene.gpu.fp64_lanes / scene.gpu.fp32_lanes)
    return {"FP64": part * slower, "special functions": min(1.0, converted / special) if special else 0.0}


def _divisions(scene: Scene) -> Waste:
    """The part of the launch's machine code that a line's integer divisions become, some twenty instructions each."""
    done = sum(
        one.counters.instructions for one in scene.estimate.launch.instructions
        if one.line == scene.line and one.mnemonic.startswith(_DIVISIONS)
    )  # fmt: skip
    return of(20 * done / (20 * done + scene.whole.instructions), "issue", "integer", "FP32", "latency")


_DIVISIONS = tuple(f"{opcode}.{sign}{bits}" for opcode in ("div", "rem") for sign in "su" for bits in (32, 64))


def _barriers(scene: Scene) -> Waste:
    """Waiting at barriers that come after every few instructions."""
    often = scene.whole.barriers * 40 > scene.whole.instructions
    return of(waiting(scene, "barrier"), "latency") if often else {}


# The grid


def _idle_sms(scene: Scene) -> Waste:
    busy = scene.estimate.launch.blocks / scene.gpu.sms
    return of(1 - busy, *_INSIDE) if busy < 0.9 else {}


#: What multiprocessors do by themselves: shared out over more of them, it takes less time.
_INSIDE = (*_WORK, "L1", "shared memory", "L2")


def _many_blocks(scene: Scene) -> Waste:
    """Blocks beyond some rounds of those that the GPU holds at once, where starting them sets the time."""
    guess, launch = scene.estimate.prediction, scene.estimate.launch
    limits = guess.terms["starting blocks"] >= guess.seconds - guess.terms["launch"]
    enough = 4 * scene.estimate.occupancy.blocks_per_sm * scene.gpu.sms
    return of(1 - enough / launch.blocks, "starting blocks") if limits and launch.blocks > enough else {}


def _tail(scene: Scene) -> Waste:
    """The last wave's idle places, as :mod:`harness.simulator.terms` weighs them: waiting until blocks have drifted
    apart, and the work of the fullest multiprocessor while there are two waves at most."""
    waves, blocks = scene.estimate.occupancy.waves, scene.estimate.launch.blocks
    if not 1 < waves < DRIFTED or scene.estimate.occupancy.tail > 0.75:
        return {}
    whole = math.ceil(waves)
    share = blocks / scene.gpu.sms
    idle = 1 - share / math.ceil(share) if waves <= 2 else 0.0
    return dict.fromkeys(_INSIDE, idle) | {"L2": 0.0, "latency": (whole - waves) / (whole + waves)}


def _few_warps(scene: Scene) -> Waste:
    """Waiting that more warps would hide: those that fit, against half of the slots, which most kernels need."""
    part = scene.estimate.occupancy.warps_per_sm / scene.gpu.warps_per_sm
    alone = scene.estimate.prediction.terms
    idle = alone["latency"] > max(alone[name] for name in _INSIDE if name != "latency")
    enough = scene.estimate.launch.blocks >= scene.gpu.sms
    return of(1 - 2 * part, "latency") if idle and enough and part <= 0.375 else {}


def _say_warps(scene: Scene) -> str:
    occupancy = scene.estimate.occupancy
    return f"{occupancy.warps_per_sm} of {scene.gpu.warps_per_sm} warps fit a multiprocessor: no more {occupancy.limit}"


_ROOM = {
    "registers": "Use fewer registers a thread: a smaller tile for each, or __launch_bounds__.",
    "shared memory": "Use less shared memory a block, or larger blocks that share it.",
    "warps": "Use smaller blocks, so that another one fits.",
    "blocks": "Use larger blocks: 128 to 256 threads.",
}


RULES = (
    Rule("divergence", "launch", _idle_lanes,
         lambda scene: f"{figure(average_lanes(scene.counters))} of 32 lanes work on average: branches split the warps",
         plain("Let whole warps take the same way: pack the working threads together."), _most_divergent),
    Rule("short_blocks", "launch", _short_blocks,
         lambda scene: f"A block of {scene.estimate.launch.threads} threads leaves lanes of its last warp empty",
         plain("Make the block a multiple of 32 threads, 128 to 256 to begin with.")),
    Rule("local_memory", "launch", _local,
         lambda scene: f"{scene.estimate.launch.spills:,} bytes of each thread live in local memory, not in registers",
         plain("Keep fewer values alive, and index arrays with constants only: unroll their loops."),
         lambda scene: line_with_most(scene, _local_units)),
    Rule("atomics_meet", "line", _meeting("global_conflicts", "global_atomic", "atomics", "latency"),
         _lanes_met("global_conflicts", "global_atomic"),
         plain("Add up in the warp first (__shfl_down_sync), then in the block: one atomic for each block.")),
    Rule("atomics_queue", "launch", _queue,
         lambda scene: f"{scene.estimate.launch.same_address:,} atomics queue at one address",
         plain("Let fewer blocks do more each (a grid-stride loop), so that fewer atomics meet."),
         lambda scene: line_with_most(scene, lambda counters: counters.global_atomic.requests)),
    Rule("shared_atomics_meet", "line", _meeting("shared_conflicts", "shared_atomic", "shared memory", "latency"),
         _lanes_met("shared_conflicts", "shared_atomic"),
         plain("Give each warp a copy of its own, or add up in the warp first.")),
    Rule("double_precision", "line", _double, plain("Arithmetic in double precision"),
         plain("A literal like 1.0 is a double: write 1.0f, and expf for exp.")),
    Rule("integer_division", "line", _divisions, plain("Integer division or remainder: some twenty instructions each"),
         plain("Carry the index along, or make the divisor a constant power of two.")),
    Rule("barriers", "launch", _barriers,
         lambda scene: f"A barrier after every {scene.whole.instructions / scene.whole.barriers:.0f} instructions",
         plain("Finish inside a warp with __shfl_down_sync, which needs no barrier."),
         lambda scene: line_with_most(scene, lambda counters: counters.barriers)),
    Rule("few_warps", "launch", _few_warps, _say_warps, lambda scene: _ROOM[scene.estimate.occupancy.limit]),
    Rule("few_blocks", "launch", _idle_sms,
         lambda scene: f"Only {scene.estimate.launch.blocks} of {scene.gpu.sms} multiprocessors get work",
         plain("Split the work over more blocks, two or more for each multiprocessor.")),
    Rule("many_blocks", "launch", _many_blocks,
         lambda scene: f"{scene.estimate.launch.blocks:,} blocks of {scene.estimate.launch.threads} threads are "
                       "started one after the other",
         plain("Give each block more to do: more threads, or several elements for each (float4, a grid-stride loop).")),
    Rule("tail", "launch", _tail,
         lambda scene: f"The last of {math.ceil(scene.estimate.occupancy.waves)} waves is "
                       f"{100 * scene.estimate.occupancy.tail:.0f} % full",
         plain("Share the work out so that blocks fill whole waves: smaller blocks, or a grid-stride loop.")),
)  # fmt: skip

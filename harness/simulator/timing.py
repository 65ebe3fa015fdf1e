"""About how long launches take on a GPU, from what was counted, and what they wait for, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from harness.counts import NOTHING
from harness.profiles import LaunchEstimate, LaunchProfile, Occupancy, Prediction, Transfer
from harness.simulator.gpus import Gpu
from harness.simulator.occupancy import occupancy, resident
from harness.simulator.terms import Terms, Warm, terms

#: Raised when a prediction changes for the same counts: part of the key under which predictions are kept.
MODEL = 5

#: A prediction's band: it times this, and divided by it. On an H200 nine in ten of 235 kernels and launches that no
#: constant was fitted to (each family left out in turn) lie within a factor of 1.21
#: (python -m tests.benchmarks.calibration --refit). No other GPU was measured: the rest is for those.
BAND = 1.35


def predict(launch: LaunchProfile, gpu: Gpu, warm: Warm = NOTHING) -> Prediction:
    """About how long ``launch`` takes on ``gpu``, alone and with a cold L2 but for what is ``warm``.

    Raises UsageError where not one block of it fits an SM.
    """
    held = occupancy(launch, gpu)
    found = terms(launch, gpu, held, warm)
    seconds = gpu.physics.launch + found.seconds
    named = {"launch": gpu.physics.launch, "latency": found.latency, **found.pipes, **found.memory, **found.queues}
    return Prediction(seconds, seconds / BAND, seconds * BAND, limiter(launch, gpu, held, found), named)


def predict_all(launches: Sequence[LaunchProfile], gpu: Gpu) -> tuple[LaunchEstimate, ...]:
    """The launches of one call, one after the other: arrays that the L2 has room for stay there for the next."""
    estimates = []
    touched: dict[str, int] = {}
    for launch in launches:
        warm = touched if sum(touched.values()) <= gpu.l2_bytes else NOTHING
        estimates.append(LaunchEstimate(launch, occupancy(launch, gpu), predict(launch, gpu, warm)))
        for one in launch.footprints:
            touched[one.name] = max(touched.get(one.name, 0), one.read, one.written)
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
    queue = max(found.queues, key=lambda name: found.queues[name])
    if gpu.physics.launch > found.seconds:
        return "the launch itself: there is little to do"
    if found.queues[queue] >= found.seconds:
        return _WORDS[queue](launch)
    if launch.blocks < gpu.sms and found.inside > found.memory[longest]:
        idle = gpu.sms - launch.blocks
        blocks = "one block" if launch.blocks == 1 else f"{launch.blocks} blocks"
        return f"{blocks}: {idle} of {gpu.sms} SMs idle"
    if found.memory[longest] > found.inside:
        return _WORDS[longest](launch)
    if found.latency > max(found.work.values()):
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
    "starting blocks": lambda launch: f"blocks to be started: {launch.blocks:,} of {launch.threads} threads",
    "atomics": lambda launch: "atomics on one address, one after the other",
    "shared memory": _shared_words,
    "L1": _l1_words,
    "issue": lambda launch: "instructions issued",
    "FP32": lambda launch: "float32 arithmetic",
    "integer": lambda launch: "integer and logic instructions",
    "special functions": lambda launch: "special functions (exp, sin, division, conversions)",
    "FP64": lambda launch: "double-precision arithmetic",
}

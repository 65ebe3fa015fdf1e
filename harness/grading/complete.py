"""Whether a kernel does all of its kata's work at a size at which it was counted and no answer was looked at.

Without a GPU no answer is looked at for the sizes that a kata is timed at. What leaves elements out there (a grid that
stops at 65,535 blocks, a size treated as a special case) is fast, and must not be graded for it. Some of the blocks
were counted, which is no proof of anything, but nearly always shows all that they stand for. Where it doesn't, all
blocks are run: :mod:`harness.grading.whole`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import source
from harness.catalogue import Kata
from harness.profiles import Profile
from harness.results import Hazard
from harness.simulator.footprint import SECTOR_BYTES

#: Part of an array that counts as all of it where a sample is believed: solutions come to 1.000.
SURE = 0.97

#: The same where nothing better is to be had, and part of the arithmetic that counts as all of it: right kernels whose
#: blocks are unlike each other come to 0.76 at worst.
WHOLE = 0.7


@dataclass(frozen=True)
class WorkDone:
    """What is known of the work that a kernel does.

    ``undone`` says what of it is left out, or seems to be, None for nothing; ``certain`` is the error that this is,
    None where it isn't sure. ``uneven`` says that nothing is left out, though the blocks that were counted made it look
    so: they don't stand for all.
    """

    undone: str | None = None
    certain: Hazard | None = None
    uneven: bool = False


@dataclass(frozen=True)
class _Part:
    """The estimated ``share`` of an array (``name``) that is read, or ``written``."""

    name: str
    written: bool
    share: float


def work_done(kata: Kata, path: Path, profile: Profile, sizes: Mapping[str, Any]) -> WorkDone:
    """What of the work the kernels in ``path`` do, whose ``profile`` this is.

    Each input has to be read and each output written, to its end, and the arithmetic that kata.toml states to be done.
    """
    parts = _parts(kata, source.parse(path, kata).parameter_names, profile, sizes)
    least = min(parts, key=lambda part: part.share, default=None)
    whole = False
    if least and (least.share < SURE or _wasted(kata, profile, sizes)):
        from harness.grading.whole import see  # brings the compiler and the simulator

        seen = see(kata, path, profile.case, sizes)
        if seen.certain is not None:
            return WorkDone(seen.certain.message, seen.certain)
        whole = seen.whole
        if not whole and least.share < WHOLE:
            verb = "write" if least.written else "read"
            return WorkDone(_doubtful(profile, f"{verb} only {_percent(least.share)} of {least.name}"))
    share = _arithmetic(kata, profile, sizes)
    if share < WHOLE:
        return WorkDone(_doubtful(profile, f"do only {_percent(share)} of the additions and multiplications"))
    return WorkDone(uneven=whole)


def _doubtful(profile: Profile, deed: str) -> str:
    """What was counted, and why that is no verdict: other blocks, or other values, may do more."""
    if all(one.launch.sampling.counted == one.launch.sampling.blocks for one in profile.launches):
        return f"at {profile.case}, over made-up values, the blocks {deed}, which may not hold for others"
    return f"at {profile.case} the blocks that were counted {deed}, which may not stand for all"


def _parts(kata: Kata, names: Sequence[str], profile: Profile, sizes: Mapping[str, Any]) -> Iterator[_Part]:
    """Each array. ``names`` are those that the file gives the parameters of ``solve``. What ``solve`` copies or sets
    counts for any array. An output of one number is let off: the block that comes last may write it, and a sample need
    not show that."""
    touched: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for launch in (one.launch for one in profile.launches):
        for array in launch.footprints:
            touched[False][array.name] += array.read * launch.times
            touched[True][array.name] += array.written * launch.times
    for parameter, name in zip(kata.parameters, names, strict=True):
        written = parameter.role != "in"
        size = math.prod(parameter.shape_for(sizes)) if parameter.pointer else 1
        if size > 1:
            yield _Part(name, written, (touched[written][name] + _moved(profile)) / (4 * size))


def _moved(profile: Profile) -> int:
    return sum(one.nbytes for one in profile.transfers)


def _wasted(kata: Kata, profile: Profile, sizes: Mapping[str, Any]) -> bool:
    """Whether threads of a warp meet so often on one element that what they read, or write, can't be all: sectors that
    are touched don't show it."""
    launches = [(one.launch.counters, one.launch.times) for one in profile.launches]
    stored = sum(times * (one.global_store.ideal + one.global_atomic.ideal) for one, times in launches)
    loaded = sum(times * (one.global_load.ideal + one.global_atomic.ideal) for one, times in launches)
    outputs, inputs = (
        sum(4 * math.prod(one.shape_for(sizes)) for one in kata.parameters if one.pointer and (one.role != "in") is out)
        for out in (True, False)
    )
    moved = _moved(profile)
    return SECTOR_BYTES * stored + moved < SURE * outputs or SECTOR_BYTES * loaded + moved < SURE * inputs


def _arithmetic(kata: Kata, profile: Profile, sizes: Mapping[str, Any]) -> float:
    """The share that is done of the additions and multiplications."""
    least = kata.least_flops(sizes)
    done = sum(one.launch.counters.flops * one.launch.times for one in profile.launches)
    return done / least if least else 1.0


def _percent(share: float) -> str:
    """Rounded down, so that what is not all never reads as 100 %."""
    return f"{math.floor(100 * share)} %"

"""Whether a kernel does all of its kata's work at a size at which it was counted and no answer was looked at.

Without a GPU nothing runs whole at the sizes that a kata is timed at. What leaves elements out there (a grid that
stops at 65,535 blocks, a size treated as a special case) is fast, and must not be graded for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.catalogue import Kata
from harness.profiles import Profile

#: Part of an array, or of the arithmetic, that counts as all of it. What was counted on a sample of the blocks is an
#: estimate: solutions come to 1.000, right kernels whose blocks are unlike each other to 0.76 at worst.
WHOLE = 0.7


def undone(kata: Kata, names: Sequence[str], profile: Profile, sizes: Mapping[str, Any]) -> str | None:
    """What of the work is left out, in words, None where nothing is.

    Each input has to be read and each output written, to its end, and the arithmetic that kata.toml states to be done.
    ``names`` are those that the file gives the parameters of ``solve``. What ``solve`` copies or sets counts for any
    array. An output of one number is let off: the block that comes last may write it, and a sample need not show that.
    """
    touched: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for launch in (one.launch for one in profile.launches):
        for array in launch.footprints:
            touched[False][array.name] += array.read * launch.times
            touched[True][array.name] += array.written * launch.times
    moved = sum(one.nbytes for one in profile.transfers)
    for parameter, name in zip(kata.parameters, names, strict=True):
        writes = parameter.role != "in"
        size = math.prod(parameter.shape_for(sizes)) if parameter.pointer else 1
        share = (touched[writes][name] + moved) / (4 * size)
        if size > 1 and share < WHOLE:
            return f"at {profile.case} it {'writes' if writes else 'reads'} only {_percent(share)} of {name}"
    return _arithmetic(kata, profile, sizes)


def _arithmetic(kata: Kata, profile: Profile, sizes: Mapping[str, Any]) -> str | None:
    least = kata.least_flops(sizes)
    done = sum(one.launch.counters.flops * one.launch.times for one in profile.launches)
    if done >= WHOLE * least:
        return None
    return f"at {profile.case} it does only {_percent(done / least)} of the additions and multiplications"


def _percent(share: float) -> str:
    """Rounded down, so that what is not all never reads as 100 %."""
    return f"{math.floor(100 * share)} %"

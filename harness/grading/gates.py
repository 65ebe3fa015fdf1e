"""What a kata asks of a kernel beside right numbers and speed, read from what its launches are and what they loaded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.catalogue import Kata
from harness.cubin import Resources
from harness.profiles import Profile
from harness.steps import LaunchPlan

#: An element that a tile brings in is used at least so often, by the kata that asks for tiles.
REUSE = 16

#: Times that each input may be loaded in one pass, with a little more for edges read twice.
PASSES = 2.02


@dataclass(frozen=True)
class Shown:
    """What one call of ``solve`` shows of itself: whether a kernel has ``shared`` memory, static or dynamic, and the
    bytes that lanes ``loaded`` from global memory, None where they could not be counted."""

    shared: bool
    loaded: int | None = None

    @classmethod
    def by_plan(cls, plan: LaunchPlan, resources: Mapping[str, Resources]) -> Shown:
        """What the launches alone show."""
        return cls(any(one.shared_bytes or resources[one.kernel].shared_bytes for one in plan.launches))

    @classmethod
    def by_profile(cls, profile: Profile) -> Shown:
        """What counting shows."""
        launches = [one.launch for one in profile.launches]
        loaded = sum(one.counters.global_load.nbytes * one.times for one in launches)
        return cls(any(one.shared_bytes for one in launches), loaded)

    def fields(self) -> dict[str, Any]:
        """By name, for a cache."""
        return asdict(self)


@dataclass(frozen=True)
class Work:
    """What a kata's call is about: bytes of its ``inputs``, and its ``flops``."""

    inputs: int
    flops: int

    @classmethod
    def of(cls, kata: Kata, values: Mapping[str, Any]) -> Work:
        """The work of a call with these arguments (scalars by parameter name)."""
        read = [one.shape_for(values) for one in kata.parameters if one.role in ("in", "inout")]
        return cls(sum(4 * math.prod(shape) for shape in read), kata.least_flops(values))


Gate = Callable[[Shown, Work], str | None]


def shared_memory(shown: Shown, work: Work) -> str | None:
    """Some kernel that is launched has shared memory."""
    return None if shown.shared else "this kata asks for shared memory, and no kernel that solve launches has any"


def one_pass(shown: Shown, work: Work) -> str | None:
    """Each input is loaded at most twice."""
    if shown.loaded is None or shown.loaded <= PASSES * work.inputs:
        return None
    times = shown.loaded / work.inputs
    return f"this kata asks that the input be loaded at most twice, and this loads it {times:.1f} times"


def reused(shown: Shown, work: Work) -> str | None:
    """What is loaded from global memory is used :data:`REUSE` times at least: a multiply-add uses two elements."""
    if shown.loaded is None:
        return None
    loads, uses = shown.loaded // 4, work.flops
    if loads * REUSE <= uses:
        return None
    return (
        f"this kata asks that each element loaded from global memory be used {REUSE} times at least, and this uses it "
        f"{uses / loads:.1f} times"
    )


GATES: dict[str, Gate] = {"shared_memory": shared_memory, "one_pass": one_pass, "reused": reused}

#: Those that need counting.
COUNTED = frozenset({"one_pass", "reused"})


def closed_gate(names: tuple[str, ...], shown: Shown, work: Work) -> str | None:
    """Why the first gate (of those that kata.toml names) is closed, None where all are open."""
    return next((why for name in names if (why := GATES[name](shown, work))), None)

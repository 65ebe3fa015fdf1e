"""What a kata asks of a kernel beside right numbers and speed, read from its plan and from what it was compiled to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.cubin import Resources
from harness.steps import LaunchPlan

Gate = Callable[[LaunchPlan, Mapping[str, Resources]], str | None]


def shared_memory(plan: LaunchPlan, resources: Mapping[str, Resources]) -> str | None:
    """Some kernel that is launched has shared memory, static or dynamic."""
    if any(launch.shared_bytes or resources[launch.kernel].shared_bytes for launch in plan.launches):
        return None
    return "this kata asks for shared memory, and no kernel that solve launches has any"


_GATES: dict[str, Gate] = {"shared_memory": shared_memory}


def closed_gate(names: tuple[str, ...], plan: LaunchPlan, resources: Mapping[str, Resources]) -> str | None:
    """Why the first gate (of those that kata.toml names) is closed to these launches, None where all are open."""
    return next((why for name in names if (why := _GATES[name](plan, resources))), None)

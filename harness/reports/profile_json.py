"""The record of ``kata profile --json``: every figure of the page, by name, and those that it leaves out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from harness.profiles import TRAFFICS, Counters, LaunchEstimate, Prediction, Profile
from harness.reports.advice import Finding
from harness.reports.figures import dram_bytes
from harness.reports.jsonout import SCHEMA


def profile_record(profile: Profile, findings: Iterable[Finding], undone: str | None = None) -> dict[str, Any]:
    """The answer of ``kata profile``. Times are seconds, sizes bytes; counts are of whole launches, scaled where only
    some blocks were counted (``sampling``). ``undone`` says what of the work the kernel leaves out, so that its
    figures say little; null where that is nothing."""
    return {
        "schema": SCHEMA, "kata": profile.kata, "file": profile.file, "gpu": profile.gpu, "case": profile.case,
        "undone": undone,
        "predicted": _prediction(profile.prediction), "dram_bytes": dram_bytes(profile),
        "launches": [_launch(estimate) for estimate in profile.launches],
        "transfers": [dataclasses.asdict(transfer) for transfer in profile.transfers],
        "advice": [_finding(finding) for finding in findings],
    }  # fmt: skip


def comparison_record(mine: dict[str, Any], theirs: Profile, rung: int) -> dict[str, Any]:
    """The same with the profile of a reference solution beside it."""
    return mine | {"reference": {"rung": rung} | profile_record(theirs, ())}


def counter_fields(counters: Counters) -> dict[str, Any]:
    """Counts by name; kinds of memory access that did not happen are left out."""
    plain = ("instructions", "lanes", "branches", "divergent", "barriers", "global_conflicts", "shared_conflicts",
             "flops", "double_flops")
    return {name: getattr(counters, name) for name in plain} | {
        "pipes": dict(counters.pipes),
        "memory": {
            name: dataclasses.asdict(getattr(counters, name)) for name in TRAFFICS if getattr(counters, name).requests
        },
    }  # fmt: skip


def _launch(estimate: LaunchEstimate) -> dict[str, Any]:
    launch, occupancy = estimate.launch, estimate.occupancy
    return {
        "kernel": launch.kernel, "line": launch.line, "grid": list(launch.grid), "block": list(launch.block),
        "registers": launch.registers, "spills": launch.spills, "static_shared": launch.static_shared,
        "dynamic_shared": launch.dynamic_shared,
        "sampling": {"blocks": launch.sampling.blocks, "counted": launch.sampling.counted,
                     "notes": list(launch.sampling.notes)},
        "occupancy": {
            "blocks_per_sm": occupancy.blocks_per_sm, "warps_per_sm": occupancy.warps_per_sm, "limit": occupancy.limit,
            "limits": dict(occupancy.limits), "waves": occupancy.waves, "tail": occupancy.tail,
        },
        "predicted": _prediction(estimate.prediction), "times": launch.times,
        "counters": counter_fields(launch.counters),
        "lines": [{"line": one.line} | counter_fields(one.counters) for one in launch.lines],
        "arrays": [dataclasses.asdict(one) for one in launch.footprints],
    }  # fmt: skip


def _prediction(prediction: Prediction) -> dict[str, Any]:
    return {"seconds": prediction.seconds, "low": prediction.low, "high": prediction.high,
            "limiter": prediction.limiter, "terms": dict(prediction.terms)}  # fmt: skip


def _finding(finding: Finding) -> dict[str, Any]:
    return {"class": finding.kind, "kernel": finding.kernel, "line": finding.line, "message": finding.what,
            "remedy": finding.remedy, "cost": finding.cost, "behind": finding.behind}  # fmt: skip

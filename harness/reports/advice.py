"""What to change in a kernel, with what each change would win.

Each rule of :mod:`harness.reports.rules` says how much of a resource is wasted. The model that predicts the time is
asked again without that waste: the difference is what mending it wins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.profiles import LaunchEstimate, Profile
from harness.reports.rules import RULES, Rule, Scene, Waste
from harness.simulator.gpus import Gpu
from harness.simulator.terms import Terms, terms

#: Parts of the call's predicted time from which a finding is worth saying: what mending it wins; where something slower
#: hides it, what its resource alone would take less.
WORTH, WORTH_HIDDEN = 0.03, 0.15


@dataclass(frozen=True)
class Finding:
    """One thing to change. ``cost`` is what it wins, as a part of the whole call's predicted time; ``behind`` names the
    resource that hides it today, None where nothing does."""

    kind: str
    kernel: str
    line: int | None
    what: str
    remedy: str
    cost: float
    behind: str | None


def advice(profile: Profile, gpu: Gpu) -> list[Finding]:
    """Everything worth changing, the costliest first; what something else hides comes last. What several launches of
    a kernel have in common is one finding."""
    merged: dict[tuple[str, str, int | None], _Priced] = {}
    for estimate in profile.launches:
        for one in _priced(profile, estimate, gpu):
            key = (one.rule.kind, estimate.launch.kernel, one.scene.line)
            merged[key] = one.with_(merged[key]) if key in merged else one
    found = [one.finding() for one in merged.values() if one.worth_saying]
    return sorted(found, key=lambda one: (one.behind is not None, -one.cost))


def doubt(undone: str) -> str:
    """What to know before any figure of a kernel that leaves work out, or seems to, as ``undone`` says
    (:class:`harness.grading.complete.WorkDone`)."""
    return f"{undone}: its figures say little unless it does all of the work"


def cost(finding: Finding) -> str:
    """What it wins, in words."""
    return f"hidden behind {finding.behind}" if finding.behind else f"{100 * finding.cost:.0f} % of the time"


@dataclass(frozen=True)
class _Priced:
    """A rule that speaks about a scene: what mending it ``won``, and what its resource ``alone`` would take less, as
    parts of the call's time; ``limiter`` is what sets the time beside the waste."""

    rule: Rule
    scene: Scene
    won: float
    alone: float
    limiter: str | None

    def with_(self, other: _Priced) -> _Priced:
        """Both together, told by the costlier."""
        first = self if self.won > other.won else other
        return dataclasses.replace(first, won=min(1.0, self.won + other.won), alone=self.alone + other.alone)

    @property
    def worth_saying(self) -> bool:
        return self.won >= WORTH or (self.alone >= WORTH_HIDDEN and self.limiter is not None)

    def finding(self) -> Finding:
        rule, scene = self.rule, self.scene
        behind = None if self.won >= WORTH else self.limiter
        return Finding(rule.kind, scene.estimate.launch.kernel, rule.place(scene), rule.what(scene), rule.remedy(scene),
                       self.won, behind)  # fmt: skip


def _priced(profile: Profile, estimate: LaunchEstimate, gpu: Gpu) -> Iterator[_Priced]:
    launch = estimate.launch
    scenes = {
        "line": [Scene(estimate, one.line, one.counters, gpu) for one in launch.lines],
        "launch": [Scene(estimate, None, launch.counters, gpu)],
    }
    now = terms(launch, gpu, estimate.occupancy)
    named = {"latency": now.latency, **now.pipes, **now.memory, **now.queues}
    part = launch.times / profile.prediction.seconds  # turns seconds of the launch into parts of the call's time
    for rule in RULES:
        for scene in scenes[rule.of]:
            waste = rule.waste(scene)
            if waste:
                won = (now.seconds - _without(now, waste).seconds) * part
                alone = max(waste.get(name, 0.0) * seconds for name, seconds in named.items()) * part
                yield _Priced(rule, scene, won, alone, _limiter(now, waste))


def _limiter(now: Terms, waste: Waste) -> str | None:
    """The slowest of what sets the time and is not wasted; None where nothing is left."""
    groups = now.queues, now.memory, {"latency": now.latency, **now.pipes}
    queue, memory, inside = max(now.queues.values()), max(now.memory.values()), now.inside
    slow = groups[0 if queue >= now.seconds else 1 if memory > inside else 2]
    return max((name for name in slow if name not in waste), key=lambda name: slow[name], default=None)


def _without(now: Terms, waste: Waste) -> Terms:
    """The same work with the wasted parts gone."""
    def left(times: Mapping[str, float]) -> dict[str, float]:
        return {name: seconds * (1 - waste.get(name, 0.0)) for name, seconds in times.items()}

    latency = now.latency * (1 - waste.get("latency", 0.0))
    return dataclasses.replace(
        now, latency=latency, pipes=left(now.pipes), memory=left(now.memory), queues=left(now.queues)
    )

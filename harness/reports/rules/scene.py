"""What a rule is, and what it looks at."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.profiles import NO_TRAFFIC, Counters, LaunchEstimate, Traffic, WarpAccess
from harness.simulator.gpus import Gpu
from harness.simulator.terms import terms

#: Wasted parts (0 to 1) by resource, as :attr:`Prediction.terms` names them; empty where there is nothing to say.
Waste = Mapping[str, float]


@dataclass(frozen=True)
class Scene:
    """What a rule looks at: a line of a launch, or (``line`` None) the whole of it."""

    estimate: LaunchEstimate
    line: int | None
    counters: Counters
    gpu: Gpu

    @property
    def whole(self) -> Counters:
        """Counters of the launch."""
        return self.estimate.launch.counters

    def instruction(self, name: str) -> Traffic:
        """Traffic of the kind ``name`` by the one instruction here that wastes most of it."""
        launch = self.estimate.launch
        found = [getattr(one.counters, name) for one in launch.instructions if self.line in (None, one.line)]
        worst: Traffic = max(found, key=lambda traffic: (traffic.excess, traffic.units), default=NO_TRAFFIC)
        return worst

    def access(self, space: str, verb: str) -> WarpAccess | None:
        """The most wasteful access of a kind, as an example."""
        return next(
            (one for one in self.estimate.launch.worst
             if (one.space, one.verb) == (space, verb) and self.line in (None, one.line)), None,
        )  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """A row: whether it is about each ``line`` or the ``launch``, what is wasted, and the sentences. ``place`` is the
    line to show it at."""

    kind: str
    of: str
    waste: Callable[[Scene], Waste]
    what: Callable[[Scene], str]
    remedy: Callable[[Scene], str]
    place: Callable[[Scene], int | None] = lambda scene: scene.line


def waiting(scene: Scene, kind: str) -> float:
    """The part of a warp's waiting that steps of a kind take (:data:`harness.simulator.costs.KINDS`)."""
    launch, held = scene.estimate.launch, scene.estimate.occupancy
    chain = dataclasses.replace(launch.chain, steps={**launch.chain.steps, kind: 0.0})
    without = terms(dataclasses.replace(launch, chain=chain), scene.gpu, held).latency
    return 1 - without / terms(launch, scene.gpu, held).latency


def of(part: float, *names: str) -> Waste:
    """The same part of each of these resources; nothing where it is 0."""
    return dict.fromkeys(names, part) if part > 0 else {}


def line_with_most(scene: Scene, counted: Callable[[Counters], int]) -> int | None:
    """The line of the launch with most of something."""
    lines = scene.estimate.launch.lines
    return max(lines, key=lambda one: counted(one.counters)).line if lines else None


def plain(text: str) -> Callable[[Scene], str]:
    """A sentence that is always the same."""
    return lambda scene: text

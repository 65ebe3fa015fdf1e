"""The figures of a profile that a page shows: of each source line, of a launch, of a whole call of ``solve``.

Pure functions of :mod:`harness.profiles`; the terminal, the HTML page, JSON and the advice all read the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.profiles import WARP, Counters, LaunchEstimate, Profile, Traffic, total
from harness.reports.pictures.roofline import Point

#: Kinds of traffic by what they move.
_GLOBAL = ("global_load", "global_store", "global_atomic")
_SHARED = ("shared_load", "shared_store", "shared_atomic")


@dataclass(frozen=True)
class LineFigures:
    """What the gutter says of a line. ``share`` is its part of the executed warp instructions; ``sectors`` and
    ``wavefronts`` are the traffic of the one instruction of it that wastes most of each."""

    share: float
    counters: Counters
    sectors: Traffic
    wavefronts: Traffic

    @property
    def lanes(self) -> float:
        """Active lanes of its instructions, as a part of all."""
        return self.counters.efficiency


def wasteful(traffic: Traffic) -> bool:
    """Whether so much more moves than need be that it is worth a mark: half as much again."""
    return traffic.requests > 0 and traffic.units > 1.5 * max(traffic.ideal, 1)


def line_figures(profile: Profile) -> dict[int, LineFigures]:
    """Every line of the user's file that ran, over all launches. Equal launches count once, but in ``share``."""
    by_line: dict[int, list[Counters]] = {}
    ran: dict[int, int] = {}
    everything = 0
    for estimate in profile.launches:
        for one in estimate.launch.instructions:
            count = estimate.launch.times * one.counters.instructions
            everything += count
            if one.line is not None:
                by_line.setdefault(one.line, []).append(one.counters)
                ran[one.line] = ran.get(one.line, 0) + count
    shares = {line: count / (everything or 1) for line, count in ran.items()}
    return {
        line: LineFigures(shares[line], total(found), _worst(found, _GLOBAL), _worst(found, _SHARED))
        for line, found in sorted(by_line.items())
    }


def _worst(counters: Iterable[Counters], kinds: Iterable[str]) -> Traffic:
    traffics: list[Traffic] = [getattr(one, kind) for one in counters for kind in kinds]
    return max(traffics, key=lambda traffic: (traffic.excess, traffic.units))


def seconds_of(estimate: LaunchEstimate, profile: Profile) -> float:
    """What a launch takes, as often as it is made in the call. The call's launches and transfers share alike in what
    launching takes, which is less for each than for one alone: all together they come to the time of the call."""
    calls = sum(one.launch.times for one in profile.launches) + len(profile.transfers)
    running = estimate.prediction.seconds - estimate.prediction.terms["launch"]
    return (running + profile.prediction.terms["launch"] / calls) * estimate.launch.times


@dataclass(frozen=True)
class LaunchGroup:
    """Launches of one kernel, line, grid and block that differ in their arguments: the slowest of them, how often
    they are made, and what they take together."""

    slowest: LaunchEstimate
    times: int
    seconds: float


def launch_groups(profile: Profile) -> list[LaunchGroup]:
    """The launches of a call, those that take longest first."""
    groups: dict[tuple[object, ...], list[LaunchEstimate]] = {}
    for one in profile.launches:
        launch = one.launch
        groups.setdefault((launch.kernel, launch.line, launch.grid, launch.block), []).append(one)

    def seconds(one: LaunchEstimate) -> float:
        return seconds_of(one, profile)

    found = [
        LaunchGroup(max(group, key=seconds), sum(one.launch.times for one in group), sum(map(seconds, group)))
        for group in groups.values()
    ]
    return sorted(found, key=lambda group: -group.seconds)


def call_counters(profile: Profile) -> Counters:
    """Of all launches of the call together, equal ones counted once."""
    return total(estimate.launch.counters for estimate in profile.launches)


def dram_bytes(profile: Profile) -> int:
    """Bytes that DRAM moves for all launches, each with a perfect cache."""
    return sum((one.launch.dram_read + one.launch.dram_written) * one.launch.times for one in profile.launches)


def call_point(profile: Profile) -> Point:
    """The whole call under the roof."""
    work = sum(one.launch.counters.flops * one.launch.times for one in profile.launches)
    moved, seconds = dram_bytes(profile), profile.prediction.seconds
    return Point("yours", work / moved if moved else 0.0, work / seconds, moved / seconds, mine=True)


def sectors(profile: Profile) -> tuple[int, float]:
    """Global sectors that all launches' requests move, and the part of them that would do for the bytes asked for (1
    where none moves)."""
    moved = needed = 0
    for estimate in profile.launches:
        counters, times = estimate.launch.counters, estimate.launch.times
        for traffic in (getattr(counters, kind) for kind in _GLOBAL):
            moved += traffic.units * times
            needed += traffic.ideal * times
    return moved, needed / moved if moved else 1.0


def average_lanes(counters: Counters) -> float:
    """Active lanes of a warp instruction."""
    return WARP * counters.efficiency

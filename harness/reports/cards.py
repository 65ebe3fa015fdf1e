"""The pictures of a report, each with a heading and the sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.profiles import LaunchEstimate, Profile, WarpAccess
from harness.reports.figures import call_point, launch_groups
from harness.reports.pictures.access import lanes_by_bank, lanes_by_sector
from harness.reports.pictures.bars import Bar, bars
from harness.reports.pictures.occupancy import warp_slots, waves
from harness.reports.pictures.practice import Past, climb
from harness.reports.pictures.roofline import placed, roofline
from harness.reports.text import count, duration, spelt_out
from harness.results import Speed
from harness.simulator.gpus import Gpu


@dataclass(frozen=True)
class Card:
    """A picture or two under a heading. ``key`` is unique on the page."""

    key: str
    title: str
    lead: str
    figures: tuple[Markup, ...]


def profile_cards(profile: Profile, gpu: Gpu) -> Iterator[Card]:
    """What the profile shows."""
    slowest = launch_groups(profile)[0].slowest
    yield _terms(profile)
    yield _roofline(profile, gpu)
    yield from _accesses(profile)
    yield _occupancy(slowest, gpu)


def ladder_card(speed: Speed) -> Card:
    """The user's time among those of the reference solutions."""
    rows = [
        Bar(f"{number}  {rung.name}", rung.seconds, duration(rung.seconds), mark="par" if number == speed.par else "")
        for number, rung in enumerate(speed.rungs, 1)
    ]
    if speed.timing:
        mine = speed.timing
        rows.append(Bar("yours", mine.seconds, duration(mine.seconds), "yours", mine.low, mine.high))
    how = "predicted" if speed.predicted else "measured"
    light = Bar(speed.limit, speed.light, duration(speed.light))
    lead = f"Time of each reference solution, and yours, {how}; shorter is better."
    return Card("ladder", "Against the ladder", lead,
                (bars("ladder-bars", "Time of each rung, and yours", rows, light=light),))  # fmt: skip


def history_card(checks: Sequence[Past], rungs: int, par: int) -> Card:
    """How this kata went so far."""
    right = sum(good for _, good, _ in checks)
    lead = f"Right: {right} of the latest {len(checks)}, each as high as the rung it reached."
    return Card("history", "Your checks", lead, (climb("climb", checks, rungs=rungs, par=par),))


def _terms(profile: Profile) -> Card:
    ranked = sorted(profile.prediction.terms.items(), key=lambda item: -item[1])
    shown = [(name, term) for name, term in ranked if term >= 0.01 * profile.prediction.seconds]
    rows = [Bar(name, term, duration(term), "bar" if place else "yours") for place, (name, term) in enumerate(shown)]
    lead = f"What each part of the GPU alone would take. It waits for {spelt_out(profile.prediction.limiter)}."
    return Card("terms", "Where the time goes", lead, (bars("term-bars", "Time by resource", rows),))


def _roofline(profile: Profile, gpu: Gpu) -> Card:
    point = call_point(profile)
    words = placed(point, gpu.dram_bandwidth, gpu.fp32)
    figure = roofline("roof", [point], bandwidth=gpu.dram_bandwidth, peak=gpu.fp32)
    return Card("roofline", "Under the roof", f"{words[0].upper()}{words[1:]}.", (figure,))


def _accesses(profile: Profile) -> Iterator[Card]:
    """The worst access of either kind, over all launches."""
    for space, word in (("global", "Worst global access"), ("shared", "Worst shared access")):
        found = [one for estimate in profile.launches for one in estimate.launch.worst if one.space == space]
        if found:
            yield _access(max(found, key=lambda one: (one.units - one.ideal, one.units)), space, word)


def _access(worst: WarpAccess, space: str, title: str) -> Card:
    where = f"Line {worst.line}" if worst.line else "Library code"
    what = f"a {worst.verb} of {worst.width} bytes a lane" + (f", {worst.name}" if worst.name else "")
    units = "sector" if space == "global" else "wavefront"
    better = f"; {worst.ideal} would do" if worst.ideal < worst.units else ", as few as can be"
    lead = f"{where}, {what}: {count(worst.units, units)}{better}."
    if space == "global":
        figure = lanes_by_sector("sectors", worst.addresses, worst.width, worst.ideal)
    else:
        figure = lanes_by_bank("banks", worst.addresses, worst.width, atomic=worst.verb == "atomic")
    return Card(f"worst-{space}", title, lead, (figure,))


def _occupancy(estimate: LaunchEstimate, gpu: Gpu) -> Card:
    occupancy, launch = estimate.occupancy, estimate.launch
    slots = warp_slots(
        "slots", slots=gpu.warps_per_sm, blocks=occupancy.blocks_per_sm, warps_per_block=launch.warps,
        limits=occupancy.limits, limit=occupancy.limit,
    )  # fmt: skip
    full = occupancy.warps_per_sm == gpu.warps_per_sm
    lead = (
        f"{launch.kernel}: {count(occupancy.blocks_per_sm, 'block')} of {count(launch.warps, 'warp')} fit a "
        f"multiprocessor; {'they fill it' if full else f'{occupancy.limit} set the limit'}."
    )
    return Card("occupancy", "Occupancy", lead, (slots, waves("waves", grid=occupancy.waves)))

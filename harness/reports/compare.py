"""Two profiles side by side: what a reference solution does differently, in figures and in its own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from click import style

from harness.catalogue import Rung
from harness.profiles import Counters, Profile, Traffic
from harness.reports.figures import average_lanes, call_counters, dram_bytes
from harness.reports.profile import doubted
from harness.reports.text import duration, faster, figure, large, rate, spelt_out, times, visible, wrap
from harness.simulator.gpus import Gpu

#: A figure that differs by more than this part is marked.
DIFFERS = 0.1


@dataclass(frozen=True)
class Row:
    """A figure of a profile: its ``value`` (None where there is none), and how it reads."""

    name: str
    value: Callable[[Profile], float | None]
    says: Callable[[float], str]


def comparison_page(
    mine: Profile, theirs: Profile, rung: Rung, gpu: Gpu, solution: str, undone: str | None = None
) -> str:
    """The figures of ``mine`` beside those of ``rung``; ``solution`` is the rung's file, ``undone`` what of the work
    ``mine`` leaves out."""
    lines = [*_headline(mine, theirs, rung, gpu), *doubted(undone), *wrap(mine.case), *_table(mine, theirs, rung)]
    said = opening(solution)
    if said:
        lines += ["", f"  Rung {rung.number}, {rung.title}", *wrap(said, indent="    ")]
    return "\n".join([*lines, f"  Next: kata solution {mine.kata} {rung.number}"])


def opening(solution: str) -> str:
    """The comment that opens a solution, without its first line (the title): a paragraph for each sentence group."""
    comment = []
    for line in solution.splitlines()[1:]:
        if not line.startswith("//"):
            break
        comment.append(line.removeprefix("//").strip())
    paragraphs: list[str] = []
    for line in comment:
        starts = not line or line.split(":")[0] in _LABELS
        if starts or not paragraphs:
            paragraphs.append(line)
        else:
            paragraphs[-1] = f"{paragraphs[-1]} {line}".strip()
    return "\n".join(one for one in paragraphs if one)


#: How the paragraphs of a solution's comment begin.
_LABELS = ("Changes", "Removes", "Still costs", "What still costs")


def _headline(mine: Profile, theirs: Profile, rung: Rung, gpu: Gpu) -> list[str]:
    ratio = mine.prediction.seconds / theirs.prediction.seconds
    if ratio > 1 + DIFFERS:
        answer = f"rung {rung.number} would be {faster(ratio)} than yours"
    elif ratio < 1 - DIFFERS:
        answer = f"yours would be {faster(1 / ratio)} than rung {rung.number}"
    else:
        answer = f"yours and rung {rung.number} would take about the same time"
    first, *more = wrap(f"{mine.kata}: {answer} on {gpu.title} (predicted)", indent="", hanging="  ")
    return [style(first, bold=True), *more]


def _table(mine: Profile, theirs: Profile, rung: Rung) -> list[str]:
    cells: list[tuple[str, ...]] = [("", "yours", f"rung {rung.number}")]
    marks = [""]
    for row in ROWS:
        values = row.value(mine), row.value(theirs)
        if any(value is not None for value in values):
            cells.append((row.name, *("-" if value is None else row.says(value) for value in values)))
            marks.append(_mark(*values))
    rooms = [max(len(line[column]) for line in cells) for column in range(3)]
    lines = [
        f"  {name:<{rooms[0]}}   {yours:>{rooms[1]}}   {other:>{rooms[2]}}   {mark}".rstrip()
        for (name, yours, other), mark in zip(cells, marks, strict=True)
    ]
    return [*lines, *_limiters(mine, theirs, rung)]


def _limiters(mine: Profile, theirs: Profile, rung: Rung) -> list[str]:
    room = len(f"rung {rung.number}")
    rows = (("yours", mine), (f"rung {rung.number}", theirs))
    told = [(name, visible(spelt_out(one.prediction.limiter))) for name, one in rows]
    return [
        line for name, limiter in told
        for line in wrap(f"{name:<{room}} waits for  {limiter}", hanging=" " * (room + 12))
    ]  # fmt: skip


def _mark(mine: float | None, theirs: float | None) -> str:
    """How the reference differs: ``32x less``."""
    if mine is None or theirs is None or mine == theirs:
        return ""
    if not mine or not theirs:
        return "<"
    ratio = max(mine, theirs) / min(mine, theirs)
    if ratio < 1 + DIFFERS:
        return ""
    return f"< {times(ratio)} {'less' if theirs < mine else 'more'}"


def _per_request(name: str) -> Callable[[Profile], float | None]:
    def value(profile: Profile) -> float | None:
        traffic: Traffic = getattr(call_counters(profile), name)
        return traffic.per_request if traffic.requests else None

    return value


def _counted(pick: Callable[[Counters], float]) -> Callable[[Profile], float | None]:
    return lambda profile: pick(call_counters(profile)) or None


def _most(pick: Callable[[Profile], list[int]]) -> Callable[[Profile], float | None]:
    return lambda profile: max(pick(profile), default=None)


ROWS = (
    Row("time", lambda profile: profile.prediction.seconds, duration),
    Row("DRAM throughput", lambda profile: dram_bytes(profile) / profile.prediction.seconds, rate),
    Row("launches", lambda profile: len(profile.launches), large),
    Row("blocks", lambda profile: sum(one.launch.blocks for one in profile.launches), large),
    Row("threads a block", _most(lambda profile: [one.launch.threads for one in profile.launches]), large),
    Row("warp instructions", _counted(lambda counters: counters.instructions), large),
    Row("active lanes, of 32", lambda profile: average_lanes(call_counters(profile)), figure),
    Row("global load requests", _counted(lambda counters: counters.global_load.requests), large),
    Row("  sectors a request", _per_request("global_load"), figure),
    Row("global store requests", _counted(lambda counters: counters.global_store.requests), large),
    Row("  sectors a request", _per_request("global_store"), figure),
    Row("global atomic requests", _counted(lambda counters: counters.global_atomic.requests), large),
    Row("shared load requests", _counted(lambda counters: counters.shared_load.requests), large),
    Row("  wavefronts a request", _per_request("shared_load"), figure),
    Row("shared store requests", _counted(lambda counters: counters.shared_store.requests), large),
    Row("  wavefronts a request", _per_request("shared_store"), figure),
    Row("barriers, by warps", _counted(lambda counters: counters.barriers), large),
    Row("divergent branches", _counted(lambda counters: counters.divergent), large),
    Row("registers a thread", _most(lambda profile: [one.launch.registers for one in profile.launches]), large),
    Row("shared memory a block", _most(lambda profile: [one.launch.shared_bytes for one in profile.launches]), large),
    Row("warps an SM holds", _most(lambda profile: [one.occupancy.warps_per_sm for one in profile.launches]), large),
)  # fmt: skip

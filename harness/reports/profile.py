"""The terminal page of ``kata profile``: the answer, the source with its figures, what to change, the launches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from click import style

from harness.profiles import LaunchEstimate, Profile
from harness.reports.advice import Finding, advice, cost, doubt
from harness.reports.colouring import Piece, coloured, expanded
from harness.reports.figures import (
    LaunchGroup,
    LineFigures,
    call_point,
    dram_bytes,
    launch_groups,
    line_figures,
    sectors,
)
from harness.reports.gutter import Column, columns
from harness.reports.pictures.roofline import placed
from harness.reports.text import columns as side_by_side
from harness.reports.text import count, duration, large, pasted, percent, rate, spelt_out, visible, width, wrap
from harness.simulator.gpus import Gpu

#: Source lines shown around one that ran.
AROUND = 1

#: Findings without a place of their own in the source that are shown.
MOST_FINDINGS = 6

#: Launches shown: the slowest.
MOST_LAUNCHES = 6

#: Columns of a figure in the gutter.
_FIGURE = 6

_COLOURS = {
    "comment": "bright_black", "keyword": "magenta", "type": "cyan", "string": "green", "number": "yellow",
    "preprocessor": "yellow",
}  # fmt: skip


def profile_page(profile: Profile, gpu: Gpu, text: str, undone: str | None = None) -> str:
    """What a person reads of a profile; ``text`` is the user's file, ``undone`` what of the work it leaves out."""
    findings = advice(profile, gpu)
    figures = line_figures(profile)
    lines = [*_headline(profile, gpu, undone), "", *_source(text, figures, findings), ""]
    lines += _unplaced(findings, text.count("\n") + 1)
    groups = launch_groups(profile)
    for group in groups[:MOST_LAUNCHES]:
        lines += _launch(group, gpu)
    if len(groups) > MOST_LAUNCHES:
        lines.append(f"  and {_others(groups[MOST_LAUNCHES:])}")
    lines += _whole(profile, gpu)
    return "\n".join([*lines, *_next_step(profile, undone)])


def _headline(profile: Profile, gpu: Gpu, undone: str | None) -> list[str]:
    whole = profile.prediction
    limiter = spelt_out(whole.limiter).replace(": ", ", ", 1)  # the line has a colon of its own
    first = f"{profile.kata} takes about {duration(whole.seconds)} on {gpu.title}: {limiter}"
    sampled = [
        f"{one.launch.sampling.counted:,} of {one.launch.blocks:,} blocks counted"
        for one in profile.launches if not one.launch.sampling.whole
    ]  # fmt: skip
    about = (f"predicted, {duration(whole.low)} to {duration(whole.high)}", *dict.fromkeys(sampled))
    lines = wrap(first, indent="", hanging="  ")
    name = visible(Path(profile.file).name)
    return [
        style(lines[0], bold=True), *lines[1:], *doubted(undone), *side_by_side(profile.case, name, *about)
    ]  # fmt: skip


def doubted(undone: str | None) -> list[str]:
    """The warning under the first line, where work is left out."""
    return wrap(f"Warning  {doubt(undone)}", hanging=" " * 9) if undone else []


def _source(text: str, figures: Mapping[int, LineFigures], findings: list[Finding]) -> Iterator[str]:
    """The lines that ran and their neighbours, each with its figures, and under it what to do about it."""
    shown = columns(figures)
    yield "".join(f"{column.short:>{_FIGURE - 1}} " for column in shown).rjust(5 + _FIGURE * len(shown)).rstrip()
    yield "line " + "".join(f"{column.unit:>{_FIGURE - 1}} " for column in shown).rstrip()
    near = {line + step for line in figures for step in range(-AROUND, AROUND + 1)}
    near |= {line + 1 for line in near if line + 2 in near}  # a gap of one line takes no less room than the line
    skipped = False
    for number, pieces in enumerate(coloured(text), 1):
        if number not in near:
            skipped = True
            continue
        if skipped:
            yield f"{'⋮':>4}"
        skipped = False
        said = [finding for finding in findings if finding.line == number]
        yield from _line(number, pieces, figures.get(number), shown, whole=bool(said))
        for finding in said:
            yield from _advice(finding, indent=" " * 5)
    legend = [f"{column.short}: {column.meaning}" for column in shown]
    yield from (style(line, dim=True) for line in wrap("; ".join([*legend, "!: more than it need be"]), indent=" " * 5))


def _line(
    number: int, pieces: list[Piece], figures: LineFigures | None, shown: tuple[Column, ...], *, whole: bool
) -> Iterator[str]:
    """A source line behind its gutter, cut where the page ends; ``whole`` continues it on further lines instead."""
    cells = [_cell(column, figures) if figures else " " * _FIGURE for column in shown]
    gutter = f"{number:>4} {''.join(cells)}│ "
    room = width() - 7 - _FIGURE * len(shown)
    for code in _code(pieces, room) if whole else [_cut(pieces, room)]:
        yield f"{gutter}{code}".rstrip()
        gutter = " " * (5 + _FIGURE * len(shown)) + "│ "


def _cell(column: Column, figures: LineFigures) -> str:
    cell = f"{column.says(figures):>{_FIGURE - 1}}"
    return style(f"{cell}!", fg="red", bold=True) if column.high(figures) else f"{cell} "


def _cut(pieces: list[Piece], room: int) -> str:
    """The same in one line."""
    first, *more = _code(pieces, room - 1) or [""]
    return f"{first}…" if more else first


def _code(pieces: list[Piece], room: int) -> list[str]:
    """A line's pieces in colour, in as many lines of at most ``room`` columns as they take."""
    lines, used = [""], 0
    for kind, text in expanded(pieces):
        left = visible(text)
        while left:
            if used == room:
                lines.append("")
                used = 0
            part, left = left[: room - used], left[room - used :]
            used += len(part)
            lines[-1] += style(part, fg=_COLOURS[kind]) if kind else part
    return lines


def _advice(finding: Finding, indent: str) -> list[str]:
    lines = wrap(f"▲ {finding.what} ({cost(finding)}). {finding.remedy}", indent=indent, hanging="  ")
    colour = "bright_black" if finding.behind else "red"
    return [line.replace("▲", style("▲", fg=colour, bold=True), 1) for line in lines]


def _unplaced(findings: list[Finding], lines: int) -> Iterator[str]:
    """What is about a launch, or about no line of the file."""
    for finding in [one for one in findings if one.line is None or one.line > lines][:MOST_FINDINGS]:
        yield from _advice(finding, indent="  ")


def _others(groups: list[LaunchGroup]) -> str:
    times, seconds = sum(group.times for group in groups), sum(group.seconds for group in groups)
    return f"{count(times, 'more launch', 'more launches')}, {duration(seconds)} together"


def _launch(group: LaunchGroup, gpu: Gpu) -> Iterator[str]:
    launch, occupancy = group.slowest.launch, group.slowest.occupancy
    where = f", line {launch.line}" if launch.line else ""
    yield style(f"  {visible(launch.kernel)}<<<{_size(launch.grid)}, {_size(launch.block)}>>>", bold=True) + where
    spilled = f"{launch.spills:,} bytes a thread in local memory" if launch.spills else "nothing spilled"
    shared = f"{launch.shared_bytes:,} bytes of shared memory" if launch.shared_bytes else "no shared memory"
    times = f" in {group.times:,} launches" if group.times > 1 else ""
    took = f"{duration(group.seconds)}{times}"
    yield from side_by_side(took, count(launch.registers, "register"), spilled, shared, indent="    ")
    limit = f" (limit: {occupancy.limit})" if occupancy.warps_per_sm < gpu.warps_per_sm else ""
    yield from side_by_side(
        f"{occupancy.warps_per_sm} of {gpu.warps_per_sm} warps an SM{limit}", _waves(group.slowest), indent="    ",
    )  # fmt: skip
    if launch.spills and not launch.counters.local_load.requests:
        yield from wrap("The compiler spilled registers: keep fewer values alive, or loosen __launch_bounds__.",
                        indent="    ")  # fmt: skip
    for note in launch.sampling.notes:
        yield from wrap(note, indent="    ")


def _waves(estimate: LaunchEstimate) -> str:
    waves, full = math.ceil(estimate.occupancy.waves), f"{percent(estimate.occupancy.tail)} full"
    return f"one wave, {full}" if waves == 1 else f"{waves:,} waves, the last {full}"


def _size(shape: tuple[int, int, int]) -> str:
    """As it stands in source: ``256`` or ``(256, 128)``."""
    x, y, z = shape
    return f"({x}, {y}, {z})" if z > 1 else f"({x}, {y})" if y > 1 else str(x)


def _whole(profile: Profile, gpu: Gpu) -> Iterator[str]:
    seconds = profile.prediction.seconds
    moved, needed = sectors(profile)
    yield f"  DRAM      {rate(dram_bytes(profile) / seconds)} of {rate(gpu.dram_bandwidth)}"
    yield f"  sectors   {large(moved)} moved by requests, {100 * needed:.0f} % of them needed"
    words = placed(call_point(profile), gpu.dram_bandwidth, gpu.fp32)
    yield from wrap(f"roofline  {words}", hanging=" " * 10)


def _next_step(profile: Profile, undone: str | None) -> list[str]:
    file = "" if profile.file == f"{profile.kata}.cu" else f" {pasted(profile.file)}"
    if undone:
        return wrap(f"Next: kata check {profile.kata}{file}, once it does all of the work", hanging="  ")
    return wrap(f"Next: kata report {profile.kata}{file} --html {profile.kata}.html", hanging="  ")

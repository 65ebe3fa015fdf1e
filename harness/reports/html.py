"""The page of ``kata report``: one HTML file that needs nothing else, no network and no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from harness.catalogue import Kata
from harness.profiles import Profile
from harness.reports.advice import Finding, advice, cost, doubt
from harness.reports.cards import Card, history_card, ladder_card, profile_cards
from harness.reports.colouring import coloured, expanded
from harness.reports.figures import LineFigures, dram_bytes, launch_groups, line_figures, sectors
from harness.reports.gutter import Column, columns
from harness.reports.pictures.practice import Past
from harness.reports.terminal import answer
from harness.reports.text import duration, faster, large, pasted, rate, spelt_out, visible
from harness.results import Mismatch, Outcome, Severity, Verdict
from harness.simulator.gpus import Gpu

#: What marks a file as a report of ours, so that it may be replaced.
GENERATOR = "kata report"


#: Launches in the table: the slowest.
MOST_LAUNCHES = 20


@dataclass(frozen=True)
class Report:
    """Everything a page is made of. ``text`` is the user's file, ``when`` local time; where the kernel could not be
    profiled, ``profile`` and ``gpu`` are None, and ``why`` says the reason. ``undone`` says what of the work it leaves
    out at the profiled size, None for nothing."""

    kata: Kata
    verdict: Verdict
    lead: Mismatch | None
    text: str
    when: datetime
    profile: Profile | None = None
    gpu: Gpu | None = None
    why: str | None = None
    undone: str | None = None
    checks: Sequence[Past] = ()


def report_page(report: Report) -> str:
    """The whole page, every text in it escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    here = resources.files("harness.reports")
    template = environment.from_string((here / "report.html").read_text(encoding="utf-8"))
    style = Markup((here / "report.css").read_text(encoding="utf-8"))
    return template.render(page=_Page(report), style=style, generator=GENERATOR) + "\n"


def is_report(head: str) -> bool:
    """Whether a file that begins like this is a report of ours."""
    return f'<meta name="generator" content="{GENERATOR}">' in head


@dataclass(frozen=True)
class _Page:
    """What the template reads, each part once."""

    report: Report

    @property
    def title(self) -> str:
        return self.report.kata.title

    @property
    def answer(self) -> str:
        return answer(self.report.verdict)

    @property
    def about(self) -> str:
        report = self.report
        size = [report.profile.case] if report.profile else []
        return " · ".join([self.file, *size, f"{report.when:%d %B %Y, %H:%M}"])

    @property
    def file(self) -> str:
        return visible(Path(self.report.verdict.file).name)

    @property
    def pills(self) -> Iterator[dict[str, str]]:
        verdict = self.report.verdict
        good = verdict.outcome is Outcome.RIGHT
        yield {"kind": "good" if good else "bad", "text": f"{'✓' if good else '✗'} {self.answer}"}
        yield {"kind": "", "text": f"checked on: {verdict.device}"}
        if self.report.gpu:
            yield {"kind": "", "text": f"time predicted for: {self.report.gpu.title}"}
        if self.report.undone:
            yield {"kind": "warn", "text": visible(doubt(self.report.undone))}

    @property
    def tiles(self) -> list[dict[str, Any]]:
        return list(_tiles(self.report))

    @property
    def verdict(self) -> dict[str, Any] | None:
        """What is wrong, None where nothing is."""
        report = self.report
        said: list[dict[str, Any]] = []
        if report.lead:
            said.append({"line": None, "text": report.lead.sentence, "more": _values(report.lead)})
        said += [
            {"line": hazard.line, "text": visible(hazard.message), "more": hazard.remedy}
            for hazard in report.verdict.hazards if hazard.severity is not Severity.NOTE
        ]  # fmt: skip
        told = [*report.verdict.remarks, *report.verdict.warnings]
        if report.verdict.speed and report.verdict.speed.refused:
            told.append(report.verdict.speed.refused)
        said += [{"line": None, "text": visible(one), "more": None} for one in told]
        return {"heading": "What the check found", "said": said} if said else None

    @cached_property
    def advice(self) -> list[Finding]:
        profile, gpu = self.report.profile, self.report.gpu
        return advice(profile, gpu) if profile and gpu else []

    @property
    def findings(self) -> list[dict[str, Any]] | None:
        if self.report.profile is None:
            return None
        return [
            {"what": f"{one.what}.", "remedy": one.remedy, "line": one.line, "kernel": one.kernel, "cost": cost(one)}
            for one in self.advice
        ]

    @property
    def nothing(self) -> str:
        assert self.report.profile is not None
        return f"Nothing stands out. What is left is {spelt_out(self.report.profile.prediction.limiter)}."

    @property
    def source(self) -> dict[str, Any]:
        report = self.report
        figures = line_figures(report.profile) if report.profile else {}
        shown = columns(figures)
        lead = (
            "Beside each line: its part of the executed instructions, and what its worst memory request moves."
            if report.profile else f"No figures: {report.why or 'the kernel could not be profiled'}."
        )  # fmt: skip
        rows = [
            _row(number, Markup().join(_piece(*piece) for piece in expanded(line)), figures.get(number), shown,
                 [one for one in self.advice if one.line == number])
            for number, line in enumerate(coloured(report.text), 1)
        ]  # fmt: skip
        names = [{"name": column.name, "unit": column.unit} for column in shown]
        return {"lead": lead, "columns": names, "file": self.file, "rows": rows}

    @property
    def kernels(self) -> dict[str, Any] | None:
        return _kernels(self.report.profile) if self.report.profile else None

    @property
    def cards(self) -> Iterator[Card]:
        report = self.report
        if report.verdict.speed:
            yield ladder_card(report.verdict.speed)
        if report.profile and report.gpu:
            yield from profile_cards(report.profile, report.gpu)
        if report.checks:
            yield history_card(report.checks, len(report.kata.rungs), report.kata.par)

    @property
    def foot(self) -> Iterator[str]:
        yield from _foot(self.report)


def _tiles(report: Report) -> Iterator[dict[str, Any]]:
    profile, gpu, speed = report.profile, report.gpu, report.verdict.speed
    if speed and speed.timing and not speed.predicted:
        yield {"name": f"Measured on {report.verdict.device}", "value": duration(speed.timing.seconds), "words": False,
               "more": f"{duration(speed.timing.low)} to {duration(speed.timing.high)}; {speed.label}"}  # fmt: skip
    if not profile or not gpu:
        return
    whole = profile.prediction
    yield {"name": f"Predicted on {gpu.title}", "value": duration(whole.seconds), "words": False,
           "more": f"most likely {duration(whole.low)} to {duration(whole.high)}"}  # fmt: skip
    yield {"name": "It waits for", "value": spelt_out(whole.limiter), "words": True, "more": None}
    moved, needed = sectors(profile)
    yield {"name": "DRAM", "value": rate(dram_bytes(profile) / whole.seconds), "words": False,
           "more": f"of {rate(gpu.dram_bandwidth)}; {100 * needed:.0f} % of {large(moved)} sectors needed"}  # fmt: skip
    if speed and speed.grade:
        grade, titles = speed.grade, speed.titles
        ratio = grade.next_ratio or 1.0
        better = f"“{titles[grade.next - 1]}” is {faster(ratio)}" if grade.next else "none is faster"
        place = f"{grade.rung} of {len(titles)}" if grade.rung else f"below all {len(titles)}"
        yield {"name": "Rung", "value": place, "words": False,
               "more": f"{'par reached' if grade.par_reached else f'par is {speed.par}'}; {better}"}  # fmt: skip


def _values(lead: Mismatch) -> str:
    index = ", ".join(map(str, lead.index))
    return f"{lead.case}: {lead.parameter}[{index}] is {lead.got}, expected {lead.expected}, allowed {lead.allowed}"


def _piece(kind: str, text: str) -> Markup:
    shown = visible(text)
    return Markup('<span class="{}">{}</span>').format(kind, shown) if kind else Markup().join([shown])


def _row(
    number: int, code: Markup, figures: LineFigures | None, shown: tuple[Column, ...], notes: list[Finding]
) -> dict[str, Any]:
    cells = [
        {"text": column.says(figures) if figures else "", "high": bool(figures and column.high(figures)),
         "heat": 0.45 * column.part(figures) if figures else 0.0}
        for column in shown
    ]  # fmt: skip
    return {"number": number, "code": code, "cells": cells, "notes": notes}


def _kernels(profile: Profile) -> dict[str, Any]:
    groups = launch_groups(profile)
    names = ("kernel", "time", "launches", "grid", "block", "registers", "spilled", "shared", "warps an SM", "counted")
    rows = [
        (launch.kernel, duration(group.seconds), group.times, _size(launch.grid), _size(launch.block),
         launch.registers, f"{launch.spills} B", f"{launch.shared_bytes:,} B", group.slowest.occupancy.warps_per_sm,
         f"{launch.sampling.counted:,} of {launch.blocks:,} blocks")
        for group in groups[:MOST_LAUNCHES] for launch in (group.slowest.launch,)
    ]  # fmt: skip
    rest = groups[MOST_LAUNCHES:]
    more = f"and {len(rest):,} more, {duration(sum(group.seconds for group in rest))} together" if rest else ""
    return {"names": names, "rows": rows, "more": more}


def _size(shape: tuple[int, int, int]) -> str:
    x, y, z = shape
    return " × ".join(f"{one:,}" for one in ((x, y, z) if z > 1 else (x, y) if y > 1 else (x,)))


def _foot(report: Report) -> Iterator[str]:
    profile = report.profile
    if profile:
        counted = sum(one.launch.sampling.counted for one in profile.launches)
        blocks = sum(one.launch.blocks for one in profile.launches)
        sample = "Every block of a launch was counted." if counted == blocks else (
            f"{counted:,} of {blocks:,} blocks were counted in a simulator, and scaled to all."
        )  # fmt: skip
        notes = dict.fromkeys(note for one in profile.launches for note in one.launch.sampling.notes)
        yield " ".join([sample, *notes, "Instructions are PTX; the time is a model’s, not a clock’s."])
    file = "" if report.verdict.file == f"{report.kata.name}.cu" else f" {pasted(report.verdict.file)}"
    name = f"{report.kata.name}{file}"
    grade = report.verdict.speed.grade if report.verdict.speed else None
    rung = (grade.next if grade else None) or report.kata.par
    right = report.verdict.outcome is Outcome.RIGHT
    following = f"kata profile {name} --compare {rung}" if right else f"kata hint {report.kata.name}"
    yield f"Made by kata report {name} --html FILE. Next: {following}"

"""Times side by side: what a kernel's time is made of, and the ladder that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.reports.pictures.svg import WIDTH, Picture


@dataclass(frozen=True)
class Bar:
    """A length with its name and its figure in words. ``low`` and ``high`` mark a band; ``kind`` is its class."""

    name: str
    length: float
    figure: str
    kind: str = "bar"
    low: float | None = None
    high: float | None = None
    mark: str = ""


#: Characters of a name that fit beside its figure.
_ROOM = 50

#: Bars of a ladder end at so many times the shortest; the figure says how long they are.
LONGEST = 12


def bars(key: str, title: str, rows: Sequence[Bar], *, light: Bar | None = None) -> Markup:
    """A horizontal bar for each row under its name; ``light`` is a line across them, what nothing can go below.

    A bar over :data:`LONGEST` times the shortest is broken off, unless it is marked out by its ``kind``.
    """
    told = "; ".join(f"{row.name}: {row.figure}{f' ({row.mark})' if row.mark else ''}" for row in rows)
    under = 34 * len(rows) - 4
    floor = f" {light.name}: {light.figure}." if light else ""
    picture = Picture(key, under + (14 if light else 2), title, f"{told}.{floor}")
    end = _end(rows) if light else max(row.length for row in rows)
    scale = (WIDTH - 2) / (end or 1.0)
    for number, row in enumerate(rows):
        y = 34 * number
        weight = "strong" if row.kind != "bar" else ""
        picture.text(0, y + 11, row.name if len(row.name) <= _ROOM else f"{row.name[: _ROOM - 1]}…", weight)
        picture.text(WIDTH, y + 11, row.figure, weight or "muted", anchor="end")
        _bar(picture, row, y, scale, end)
        if light:
            picture.line(light.length * scale, y + 15, light.length * scale, y + 30, "light")
    if light:
        x = light.length * scale
        anchor = "end" if x > WIDTH / 2 else "start"
        picture.text(x, under + 11, f"{light.name}, {light.figure}", "small muted", anchor=anchor)
    return picture.markup()


def _end(rows: Sequence[Bar]) -> float:
    """The length at which the picture ends."""
    lengths = [row.length for row in rows]
    needed = max([LONGEST * min(lengths), *(row.high or row.length for row in rows if row.kind != "bar")])
    return min(needed, max(row.high or row.length for row in rows))


def _bar(picture: Picture, row: Bar, y: float, scale: float, end: float) -> None:
    long = min(max(2.0, row.length * scale), WIDTH - 2)
    picture.rect(0, y + 16, long, 11, row.kind, round_=2)
    if row.length > end:
        for x in (WIDTH - 26, WIDTH - 19):
            picture.line(x, y + 28, x + 4, y + 15, "break")
    if row.mark:
        beyond = long > WIDTH - 30
        picture.text(long - 34 if beyond else long + 5, y + 25, row.mark, "small onbar" if beyond else "small accent")
    if row.low is not None and row.high is not None:
        picture.line(row.low * scale, y + 21.5, row.high * scale, y + 21.5, "whisker")
        for tip in (row.low * scale, row.high * scale):
            picture.line(tip, y + 18, tip, y + 25, "whisker")

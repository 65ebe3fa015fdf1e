"""The roofline (Williams, Waterman, Patterson 2009): how fast arithmetic can go at so many operations a byte."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.reports.pictures.svg import WIDTH, Picture
from harness.reports.text import percent

#: Intensities shown, FLOP a byte: from a copy's to beyond any ridge.
_LEFT, _RIGHT = 1 / 16, 256.0


@dataclass(frozen=True)
class Point:
    """A kernel: FLOP for each byte of DRAM traffic, and FLOP a second. Without arithmetic both are 0, and ``bandwidth``
    (bytes a second) tells how high below the roof it lies."""

    name: str
    intensity: float
    rate: float
    bandwidth: float
    mine: bool = False


def roofline(key: str, points: Sequence[Point], *, bandwidth: float, peak: float) -> Markup:
    """``points`` under the roofs of a GPU: ``bandwidth`` in bytes a second, ``peak`` in FLOP a second."""
    left, right, top, bottom = 30.0, WIDTH - 6.0, 22.0, 206.0
    ceiling = math.ceil(math.log10(peak))
    floor = min(ceiling - 4, math.floor(math.log10(max(1.0, min(_height(point) for point in points)))))

    def x(intensity: float) -> float:
        inside = min(max(intensity, _LEFT), _RIGHT)
        return left + (right - left) * math.log(inside / _LEFT) / math.log(_RIGHT / _LEFT)

    def y(rate: float) -> float:
        return bottom - (bottom - top) * (math.log10(rate) - floor) / (ceiling - floor)

    ridge = peak / bandwidth
    picture = Picture(key, bottom + 32, "Roofline", " ".join(_told(point, bandwidth, peak) for point in points))
    for power in range(floor, ceiling + 1):
        picture.line(left, y(10.0**power), right, y(10.0**power), "grid")
        picture.text(left - 4, y(10.0**power) + 3, _short(10.0**power), "small muted", anchor="end")
    for intensity in (1 / 16, 1 / 4, 1, 4, 16, 64, 256):
        name = f"1/{round(1 / intensity)}" if intensity < 1 else f"{intensity:g}"
        picture.text(x(intensity), bottom + 14, name, "small muted", anchor="middle")
    start = max(_LEFT, 10.0**floor / bandwidth)
    roof = [(x(start), y(bandwidth * start)), (x(ridge), y(peak)), (right, y(peak))]
    picture.path([*roof, (right, bottom), (left, bottom), (left, roof[0][1])], "under", closed=True)
    picture.path(roof, "roof")
    slope = math.degrees(math.atan2(roof[1][1] - roof[0][1], roof[1][0] - roof[0][0]))
    middle = ((roof[0][0] + roof[1][0]) / 2, (roof[0][1] + roof[1][1]) / 2 - 5)
    picture.text(*middle, f"DRAM {bandwidth / 1e12:.3g} TB/s", "small muted", anchor="middle", turn=slope)
    picture.text(right, y(peak) - 4, f"{peak / 1e12:.3g} TFLOP/s", "small muted", anchor="end")
    picture.text((left + right) / 2, bottom + 28, "FLOP for each byte of DRAM traffic", "small muted", anchor="middle")
    picture.text(0, 9, "FLOP/s", "small muted")
    for point in sorted(points, key=lambda one: one.mine):
        across, up = x(point.intensity), y(max(_height(point), 10.0**floor))
        picture.circle(across, up, 6 if point.mine else 3.5, "mine" if point.mine else "other")
        beyond = across > WIDTH - 70
        name = point.name if point.intensity else f"{point.name}, 0 FLOP"
        picture.text(across + (-9 if beyond else 9), up + 12, name, "strong" if point.mine else "small muted",
                     anchor="end" if beyond else "start")  # fmt: skip
    return picture.markup()


def placed(point: Point, bandwidth: float, peak: float) -> str:
    """Where a kernel lies under the roof, in words."""
    if point.intensity == 0:
        return f"no floating-point arithmetic: {percent(point.bandwidth / bandwidth)} of the DRAM roof"
    ridge, roof = peak / bandwidth, min(peak, point.intensity * bandwidth)
    side = "memory's side" if point.intensity < ridge else "arithmetic's side"
    return (
        f"{_short(point.intensity)} FLOP a byte, on {side} of the ridge ({_short(ridge)}): "
        f"{percent(point.rate / roof)} of the roof there"
    )


def _told(point: Point, bandwidth: float, peak: float) -> str:
    return f"{point.name}: {placed(point, bandwidth, peak)}."


def _height(point: Point) -> float:
    """FLOP a second; without arithmetic, as far below the roof at the left edge as its bandwidth is below DRAM's."""
    return point.rate if point.intensity else point.bandwidth * _LEFT


def _short(value: float) -> str:
    """``10 T``, ``340``, ``9.6``, ``0.25``."""
    for size, unit in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"

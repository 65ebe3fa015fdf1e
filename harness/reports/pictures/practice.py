"""Past checks of one kata, as they climb its ladder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from markupsafe import Markup

from harness.reports.pictures.svg import WIDTH, Picture
from harness.reports.text import count

#: Checks that are drawn: the latest.
MOST = 40

#: What a check came to: when, whether it was right, and the rung it was graded to, if any.
Past = tuple[datetime, bool, int | None]


def climb(key: str, checks: Sequence[Past], *, rungs: int, par: int) -> Markup:
    """A dot for each of ``checks``, oldest first: filled where it was right, as high as the rung it reached."""
    shown = checks[-MOST:]
    right = sum(good for _, good, _ in checks)
    best = max((rung for _, _, rung in checks if rung), default=None)
    reached = f" The highest rung reached is {best} of {rungs}." if best else ""
    left, top, tall = 66.0, 8.0, max(12.0, min(22.0, 165 / (rungs + 2)))
    bottom = top + (rungs + 2) * tall
    picture = Picture(key, bottom + 20, "Checks so far", f"Right: {right} of {count(len(checks), 'check')}.{reached}")

    def level(good: bool, rung: int | None) -> float:
        return bottom - tall * ((rung or 0) + 1.5 if good else 0.5)

    for step in range(1, rungs + 1):
        name, kind = (f"rung {step}, par", "light") if step == par else (f"rung {step}", "grid")
        picture.line(left - 8, level(True, step), WIDTH, level(True, step), kind)
        picture.text(left - 12, level(True, step) + 3, name, "small muted", anchor="end")
    for name, good in (("right", True), ("not right", False)):
        picture.text(left - 12, level(good, None) + 3, name, "small muted", anchor="end")
    across = (WIDTH - left - 8) / max(1, len(shown) - 1)
    for number, (_, good, rung) in enumerate(shown):
        picture.circle(left + number * across, level(good, rung), 4, "mine" if good else "missed")
    picture.text(left, bottom + 14, f"{shown[0][0]:%d %b %Y}", "small muted", anchor="middle")
    if len(shown) > 1:
        picture.text(WIDTH, bottom + 14, f"{shown[-1][0]:%d %b %Y}", "small muted", anchor="end")
    return picture.markup()

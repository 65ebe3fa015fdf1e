"""The figures beside each source line: which columns a profile needs, and what each says of a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.reports.figures import LineFigures, wasteful
from harness.reports.text import figure


@dataclass(frozen=True)
class Column:
    """One figure of a line; ``short`` is its name where there is little room, ``meaning`` what a legend says it is.

    ``says`` gives it as text, empty where the line has none; ``high`` whether it is worth a mark; ``part`` (0 to 1) how
    much of the whole it is, for shading; ``needed`` whether this line is a reason to show the column.
    """

    name: str
    short: str
    unit: str
    meaning: str
    says: Callable[[LineFigures], str]
    high: Callable[[LineFigures], bool]
    part: Callable[[LineFigures], float]
    needed: Callable[[LineFigures], bool]


def columns(figures: Mapping[int, LineFigures]) -> tuple[Column, ...]:
    """The columns that say something about some line."""
    return tuple(column for column in COLUMNS if any(column.needed(one) for one in figures.values()))


def _share(one: LineFigures) -> str:
    percent = 100 * one.share
    return f"{percent:.0f}" if percent >= 0.5 else "<1"


def _lanes(one: LineFigures) -> str:
    percent = f"{100 * one.lanes:.0f}"
    return "" if percent == "100" else percent


def _units(per_request: float) -> str:
    return figure(per_request) if per_request else ""


def _never(one: LineFigures) -> bool:
    return False


def _nothing(one: LineFigures) -> float:
    return 0.0


#: Most telling first.
COLUMNS = (
    Column("instr", "inst", "%", "part of all instructions", _share, _never, lambda one: one.share, lambda one: True),
    Column("sectors", "sect", "/req", "32-byte sectors a global request", lambda one: _units(one.sectors.per_request),
           lambda one: wasteful(one.sectors), _nothing, lambda one: one.sectors.requests > 0),
    Column("waves", "wave", "/req", "passes a shared request", lambda one: _units(one.wavefronts.per_request),
           lambda one: wasteful(one.wavefronts), _nothing, lambda one: one.wavefronts.requests > 0),
    Column("lanes", "lane", "%", "lanes of the warp at work", _lanes,
           lambda one: one.lanes < 0.75 and one.share >= 0.05, _nothing, lambda one: one.lanes < 0.95),
)  # fmt: skip

"""Sums over the history: a table with bars for a person, the same for a program or a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Any

from click import style

from harness.practice.records import Attempt, Ending
from harness.practice.statistics import KataSums, Streak, weeks
from harness.reports.history import attempt_words, clock, table_csv
from harness.reports.jsonout import SCHEMA
from harness.reports.text import count, duration, visible, wrap

#: Columns of the bar of a quickest pass; it is full when all of the kata's minutes were needed.
BAR = 8

#: Attempts at one kata that are shown, and the columns of the bar of each.
TRIES, TRY_BAR = 20, 20

#: Weeks that the plot goes back.
WEEKS = 26

#: Eighths of a cell, from the bottom.
_EIGHTHS = " ▁▂▃▄▅▆▇█"

_FIELDS = ("kata", "checks", "right", "attempts", "passed", "best_rung", "rungs", "par", "speed_us", "quickest_seconds",
           "minutes", "last")  # fmt: skip


@dataclass(frozen=True)
class Ladder:
    """What a kata's sums are measured by: how many rungs it has, which is par, and its minutes."""

    rungs: int
    par: int
    minutes: float


@dataclass(frozen=True)
class Stats:
    """What ``kata stats`` shows. ``days`` says how much was done on each day, ``ladders`` has the katas by name (those
    that left the catalogue are missing); of the quiz, how many answers were given, and how many cards of all are known.
    """

    katas: tuple[KataSums, ...]
    streak: Streak
    days: Mapping[date, int]
    today: date
    ladders: Mapping[str, Ladder]
    answers: int
    seen: int
    cards: int


def stats_lines(stats: Stats) -> list[str]:
    """The streak, a line for each kata, the weeks as a plot."""
    streak = stats.streak
    row = f"{count(streak.current, 'day')} in a row" if streak.current else "no streak now"
    checks, attempts = sum(one.checks for one in stats.katas), sum(one.attempts for one in stats.katas)
    lines = wrap(
        f"{row} (longest {streak.longest}): {count(checks, 'check')}, "
        f"{count(attempts, 'attempt')} of {count(len(stats.katas), 'kata')} on {count(streak.days, 'day')}", indent="",
    )  # fmt: skip
    table = ["", *_table(stats)] if stats.katas else []
    return [*lines, *table, "", *_plot(stats), *_quiz(stats)]


def tries_lines(stats: Stats, tries: Sequence[Attempt], zone: tzinfo | None = None) -> list[str]:
    """How the attempts at one kata went: a bar of the clock for each of the newest, oldest first. ``tries`` are newest
    first."""
    (sums,) = stats.katas
    ladder = stats.ladders[sums.kata]
    rung = f", best rung {sums.rung} of {ladder.rungs}" if sums.rung else ""
    quickest = f", quickest pass {clock(sums.used)}" if sums.used is not None else ""
    lines = [f"{sums.kata}: {count(sums.attempts, 'attempt')}, {sums.passed} passed{rung}{quickest}", ""]
    for one in reversed(tries[:TRIES]):
        filled = min(TRY_BAR, max(1, round(TRY_BAR * one.used / (60 * one.minutes))))
        bar = style("█" * filled, fg="green" if one.ending is Ending.PASSED else None) + "·" * (TRY_BAR - filled)
        started = f"{one.began.astimezone(zone):%Y-%m-%d}"
        lines.append(f"{started}  {bar}  {attempt_words(one)}")
    return lines


def stats_record(stats: Stats) -> dict[str, Any]:
    """The same for a program."""
    streak = stats.streak
    return {
        "schema": SCHEMA,
        "streak": {"current": streak.current, "longest": streak.longest, "days": streak.days},
        "katas": [_fields(one, stats.ladders.get(one.kata)) for one in stats.katas],
        "quiz": {"answers": stats.answers, "seen": stats.seen, "cards": stats.cards},
        "days": {day.isoformat(): number for day, number in stats.days.items()},
    }


def stats_csv(stats: Stats) -> str:
    """One row for each kata."""
    return table_csv(_FIELDS, (_fields(one, stats.ladders.get(one.kata)) for one in stats.katas))


def _fields(sums: KataSums, ladder: Ladder | None) -> dict[str, Any]:
    return {
        "kata": sums.kata, "checks": sums.checks, "right": sums.right, "attempts": sums.attempts,
        "passed": sums.passed, "best_rung": sums.rung, "rungs": ladder.rungs if ladder else None,
        "par": ladder.par if ladder else None, "speed_us": sums.speed_us, "quickest_seconds": sums.used,
        "minutes": ladder.minutes if ladder else None, "last": sums.last.isoformat(),
    }  # fmt: skip


def _table(stats: Stats) -> list[str]:
    room = max(map(len, ["kata", *(visible(one.kata) for one in stats.katas)]))
    steps = max((ladder.rungs for ladder in stats.ladders.values()), default=0)
    timed = any(one.speed_us for one in stats.katas)  # never without a GPU
    passed = any(one.used is not None for one in stats.katas)
    heads = [f"{'kata':<{room}}", "checks", "right", f"{'best rung':<{steps + 5}}"]
    heads += [" best time"] * timed + ["quickest pass"] * passed
    lines = ["  ".join(heads).rstrip()]
    for one in stats.katas:
        ladder = stats.ladders.get(one.kata)
        cells = [f"{visible(one.kata):<{room}}", f"{one.checks:>6}", f"{one.right:>5}", _rung(one, ladder, steps)]
        cells += [f"{duration(one.speed_us * 1e-6) if one.speed_us else '':>10}"] * timed
        cells += [_pass(one, ladder)] * passed
        lines.append("  ".join(cells).rstrip())
    return lines


def _rung(sums: KataSums, ladder: Ladder | None, steps: int) -> str:
    """``███· 3/4``: green from par on."""
    if ladder is None or not ladder.rungs:
        return " " * (steps + 5)
    reached = min(sums.rung or 0, ladder.rungs)
    bar = "█" * reached + "·" * (ladder.rungs - reached)
    shown = f"{bar:<{steps}} {f'{reached}/{ladder.rungs}':<4}"
    return style(shown, fg="green") if reached >= ladder.par else shown


def _pass(sums: KataSums, ladder: Ladder | None) -> str:
    """``████···· 9:12 of 20``: how much of its minutes the quickest pass took."""
    if sums.used is None:
        return ""
    if ladder is None:
        return clock(sums.used)
    filled = min(BAR, max(1, round(BAR * sums.used / (60 * ladder.minutes))))
    return f"{'█' * filled}{'·' * (BAR - filled)} {clock(sums.used)} of {ladder.minutes:g}"


def _plot(stats: Stats) -> list[str]:
    """How much was done in each week, as a row of bars, and what counts."""
    counts = weeks(stats.days, stats.today, WEEKS)
    most = max(number for _, number in counts)
    if not most:
        return [f"nothing in the last {WEEKS} weeks"]
    # ceiling: a week in which anything was done has a bar
    bars = "".join(_EIGHTHS[-(-8 * number // most)] for _, number in counts)
    first, last = counts[0][0], counts[-1][0] + timedelta(6)
    return [
        f"each week, {first:%d %b} to {last:%d %b}  |{bars}|  the most: {most}",
        "  (checks, attempts begun and cards of the quiz answered, together)",
    ]


def _quiz(stats: Stats) -> list[str]:
    if not stats.answers:
        return []
    return [f"quiz: {count(stats.answers, 'answer')}, {stats.seen} of {stats.cards} cards seen"]

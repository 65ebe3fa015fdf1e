"""Speed for a person: the lines of a check, and the table of a ladder."""

from __future__ import annotations

from click import style

from harness.reports.text import columns, wrap
from harness.results import Grade, Speed, Timing

#: Columns of the longest bar of a table.
BAR = 24


def speed_lines(speed: Speed) -> list[str]:
    """How fast the user's kernel is, and the rung it reached."""
    if speed.timing is None:
        return []
    lines = columns(
        f"speed   {_time(speed.timing)}", _rate(speed, speed.timing), _of_light(speed, speed.timing), speed.label,
        *(["(noisy: the GPU is shared, or its clock moves)"] if speed.noisy else []),
    )  # fmt: skip
    if speed.refused:
        return lines + wrap(f"rung    none: {speed.refused}", hanging=" " * 8)
    return lines + (wrap(f"rung    {_standing(speed, speed.grade)}", hanging=" " * 8) if speed.grade else [])


def ladder_table(speed: Speed) -> list[str]:
    """Every rung, and the user's kernel if it was timed, with a bar each: longer is faster."""
    rows = [(str(number), rung) for number, rung in enumerate(speed.rungs, 1)]
    if speed.timing:
        rows.append(("", speed.timing))
    fastest = min(timing.seconds for _, timing in rows)
    room = max(len(timing.name) for _, timing in rows)
    lines = [style(f"  {speed.label}", bold=True) + ("   (noisy)" if speed.noisy else "")]
    for number, timing in rows:
        bar = "█" * max(1, round(BAR * fastest / timing.seconds))
        mark = "par" if number == str(speed.par) else ""
        figures = f"{_duration(timing.seconds):>9} {_rate(speed, timing):>12} {_percent(speed, timing):>5}"
        lines.append(f"  {number:>2} {timing.name:<{room}} {mark:<3} {figures}  {bar}".rstrip())
    return [*lines, *wrap(f"100 % is {speed.limit}, {_duration(speed.light)}")]


def _standing(speed: Speed, grade: Grade) -> str:
    """``3 of 4, par reached: keeps up with "online pair"; "many blocks" is 1.31x faster``."""
    par = "par reached" if grade.par_reached else f"par is {speed.par}"
    titles = speed.titles
    place = f"{grade.rung} of {len(titles)}" if grade.rung else f"below the {len(titles)}"
    held = [f'keeps up with "{titles[grade.rung - 1]}"'] if grade.rung else []
    if grade.next and grade.next_ratio:
        held.append(f'"{titles[grade.next - 1]}" is {grade.next_ratio:.2f}x faster')
    if grade.next and grade.best_ratio > (grade.next_ratio or 0) * 1.005:
        held.append(f"the best {grade.best_ratio:.2f}x")
    return f"{place}, {par}: {'; '.join(held)}"


def _time(timing: Timing) -> str:
    half = (timing.high - timing.low) / 2
    return f"{_duration(timing.seconds)} ± {100 * half / timing.seconds:.1f} %"


def _duration(seconds: float) -> str:
    """Three digits that matter: ``41.2 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            break
    value = seconds / size
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def _rate(speed: Speed, timing: Timing) -> str:
    """Arithmetic a second where that is what limits it, else bytes a second."""
    if speed.flops and "compute" in speed.limit:
        return f"{speed.flops / timing.seconds / 1e12:.3g} TFLOP/s"
    rate = speed.nbytes / timing.seconds
    return f"{rate / 1e12:.3g} TB/s" if rate >= 1e12 else f"{rate / 1e9:.3g} GB/s"


def _percent(speed: Speed, timing: Timing) -> str:
    return f"{100 * speed.of_light(timing):.0f} %"


def _of_light(speed: Speed, timing: Timing) -> str:
    return f"{_percent(speed, timing)} of {speed.limit}"

"""Speed for a person: the lines of a check, and the table of a ladder."""

from __future__ import annotations

from click import style

from harness.reports.text import columns, duration, faster, percent, rate, spelt_out, times, width, wrap
from harness.results import Grade, Speed, Timing

#: Columns of the longest bar of a table; where there is only room for fewer than ``LEAST_BAR`` it has none.
BAR, LEAST_BAR = 24, 8

#: Columns of a title that are shown on the narrowest terminal.
LEAST_TITLE = 12

#: Columns of a table's line beside its title and its bar.
_FIGURES = 40


def bench_headline(kata: str, speed: Speed) -> str:
    """``softmax: yours reaches rung 2 of 4, par is 3; the best is 36x faster``: how the user's kernel stands."""
    if speed.grade is None:
        return f"{kata}: yours reaches no rung: {speed.refused}"
    grade, ratio = speed.grade, speed.grade.best_ratio
    reached = f"reaches rung {grade.rung} of {len(speed.titles)}" if grade.rung else "is below every rung"
    if ratio >= 1.005:
        best = f"the best is {faster(ratio)}"
    else:
        best = f"{faster(1 / ratio)} than the best" if ratio <= 0.995 else "as fast as the best"
    return f"{kata}: yours {reached}, {_par(speed, grade)}; {best}"


def speed_lines(speed: Speed, *, verbose: bool = False) -> list[str]:
    """How fast the user's kernel is, and the rung it reached; ``verbose`` adds what a prediction leaves open."""
    if speed.timing is None:
        return []
    seconds = f"predicted {duration(speed.timing.seconds)}" if speed.predicted else _time(speed.timing)
    lines = columns(
        f"speed   {seconds}", _rate(speed, speed.timing), _of_light(speed, speed.timing),
        *([] if speed.predicted else [speed.label]),
        *(["(noisy: the GPU is shared, or its clock moves)"] if speed.noisy else []), hanging=" " * 8,
    )  # fmt: skip
    if speed.predicted:
        lines += _prediction(speed, speed.timing, verbose=verbose)
    if speed.refused:
        return lines + wrap(f"rung    none: {speed.refused}", hanging=" " * 8)
    return lines + (wrap(f"rung    {_standing(speed, speed.grade)}", hanging=" " * 8) if speed.grade else [])


def ladder_table(speed: Speed) -> list[str]:
    """Every rung, and the user's kernel if it was timed, with a bar each where there is room: longer is faster."""
    rows = [(str(number), rung) for number, rung in enumerate(speed.rungs, 1)]
    if speed.timing:
        rows.append(("", speed.timing))
    fastest = min(timing.seconds for _, timing in rows)
    room = min(max(len(timing.name) for _, timing in rows), max(width() - _FIGURES + 2, LEAST_TITLE))
    longest = min(BAR, width() - _FIGURES - room)
    about = f"   (predicted for the {speed.gpu})" if speed.predicted else "   (noisy)" if speed.noisy else ""
    lines = [style(f"  {speed.label}", bold=True) + about]
    for number, timing in rows:
        bar = "█" * max(1, round(longest * fastest / timing.seconds)) if longest >= LEAST_BAR else ""
        name = timing.name if len(timing.name) <= room else f"{timing.name[: room - 1]}…"
        mark = "par" if number == str(speed.par) else ""
        figures = f"{duration(timing.seconds):>9} {_rate(speed, timing):>12} {percent(speed.of_light(timing)):>5}"
        lines.append(f"  {number:>2} {name:<{room}} {mark:<3} {figures}  {bar}".rstrip())
    return [*lines, *wrap(f"100 % is {speed.limit}, {duration(speed.light)}")]


def _standing(speed: Speed, grade: Grade) -> str:
    """``3 of 4, par reached: keeps up with "online pair"; "many blocks" is 1.3x faster``."""
    titles = speed.titles
    place = f"{grade.rung} of {len(titles)}" if grade.rung else f"below all {len(titles)}"
    held = [f'keeps up with "{titles[grade.rung - 1]}"'] if grade.rung else []
    if grade.next and grade.next_ratio:
        held.append(f'"{titles[grade.next - 1]}" is {faster(grade.next_ratio)}')
        if times(grade.best_ratio) != times(grade.next_ratio):
            held.append(f"the best {times(grade.best_ratio)}")
    return f"{place}, {_par(speed, grade)}: {'; '.join(held)}"


def _par(speed: Speed, grade: Grade) -> str:
    return "par reached" if grade.par_reached else f"par is {speed.par}"


def _time(timing: Timing) -> str:
    half = (timing.high - timing.low) / 2
    return f"{duration(timing.seconds)} ± {100 * half / timing.seconds:.1f} %"


def _prediction(speed: Speed, timing: Timing, *, verbose: bool) -> list[str]:
    """What there is to say of a time that nobody took."""
    low, high = duration(timing.low), duration(timing.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    lines = wrap(f"{low} to {high} on the {speed.gpu} at {speed.label}", indent=" " * 10)
    if verbose:
        said = "its numbers are not checked at that size, only that all of it is done"
        lines += wrap(said, indent=" " * 10)
    return lines + (wrap(f"waits   for {spelt_out(speed.limiter)}", hanging=" " * 8) if speed.limiter else [])


def _rate(speed: Speed, timing: Timing) -> str:
    """Arithmetic a second where that is what limits it, else bytes a second."""
    if speed.flops and "compute" in speed.limit:
        return rate(speed.flops / timing.seconds, "FLOP")
    return rate(speed.nbytes / timing.seconds)


def _of_light(speed: Speed, timing: Timing) -> str:
    return f"{percent(speed.of_light(timing))} of {speed.limit}"

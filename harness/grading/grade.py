"""Where a kernel's time puts it on the ladder: pure functions of timings."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results import Grade, Speed, Timing

#: A kernel keeps up with a rung when it takes at most this much longer, as a part of the rung's time.
KEEPS_UP = 0.05

#: Nothing is believed to be faster than this many times the speed of light, or than the fastest rung where that is
#: faster yet: what reads more than it writes outruns a copy of as many bytes a little (``add`` on an H200: 101.7 %).
BELIEVED = 1.02


def grade(timing: Timing, rungs: Sequence[Timing], par: int) -> Grade:
    """The grade of ``timing`` among ``rungs`` (rung 1 first).

    Rungs count by their speed here and now: of those it keeps up with, the fastest counts, and of rungs as fast as
    that one the highest. The next is the slowest of the faster ones above it, and of those as slow as that the lowest.
    """
    reached = [number for number, rung in enumerate(rungs, 1) if timing.seconds <= rung.seconds * (1 + KEEPS_UP)]
    faster = [number for number in range(1, len(rungs) + 1) if number not in reached]

    def seconds(number: int) -> float:
        return rungs[number - 1].seconds

    rung = None
    if reached:
        fastest = min(map(seconds, reached))
        rung = max(number for number in reached if seconds(number) <= fastest * (1 + KEEPS_UP))
    faster = [number for number in faster if number > (rung or 0)] or faster  # the ladder goes up, where it can
    slowest = max(map(seconds, faster), default=0.0)
    following = next((number for number in faster if seconds(number) * (1 + KEEPS_UP) >= slowest), None)
    return Grade(
        rung=rung,
        par_reached=par in reached,
        next=following,
        next_ratio=None if following is None else timing.seconds / seconds(following),
        best_ratio=timing.seconds / min(one.seconds for one in rungs),
    )


def too_fast(speed: Speed) -> str | None:
    """Why a time can't be believed, None where it can."""
    fastest = min((speed.light, *(rung.seconds for rung in speed.rungs)))
    if speed.timing is None or fastest <= BELIEVED * speed.timing.seconds:
        return None
    percent = 100 * speed.of_light(speed.timing)
    return f"{percent:.0f} % of {speed.limit}: faster than the work can be done, so it is not graded"

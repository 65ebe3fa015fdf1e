"""Which entrant runs next, when enough is known, and what samples say: pure functions over times in seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from harness.results import Timing

#: A median is known well enough when half its 95 % interval is at most this part of it.
ENOUGH = 0.01

#: Samples of every entrant at least; rounds between two looks at the intervals, at least; resamplings of the bootstrap.
FEWEST, ROUNDS, RESAMPLINGS = 3, 30, 400

#: Seconds of warm-up (the GPU raises its clocks), and of timing at most.
WARM_UP, CAP = 0.3, 2.5

#: What a first run over unseen inputs may take more than the runs before it: part of the slowest of them, and seconds.
FRESH_PART, FRESH_SECONDS = 0.25, 3e-6

Sampler = Callable[[Sequence[int]], Sequence[float]]


def interval(samples: Sequence[float], rng: np.random.Generator) -> tuple[float, float, float]:
    """The median of ``samples``, and its 95 % interval by the percentile bootstrap."""
    values = np.asarray(samples, np.float64)
    medians = np.median(rng.choice(values, (RESAMPLINGS, values.size)), axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    middle = float(np.median(values))
    return middle, min(float(low), middle), max(float(high), middle)


def timing(name: str, samples: Sequence[float], rng: np.random.Generator) -> Timing:
    """What an entrant's samples say."""
    middle, low, high = interval(samples, rng)
    return Timing(name, middle, low, high, len(samples))


def settled(samples: Sequence[Sequence[float]], rng: np.random.Generator) -> bool:
    """Whether every entrant's median is known well enough."""
    for one in samples:
        middle, low, high = interval(one, rng)
        if len(one) < FEWEST or (high - low) / 2 > ENOUGH * middle:
            return False
    return True


def take_samples(
    sample: Sampler, entrants: int, rng: np.random.Generator, clock: Callable[[], float], *, cap: float = CAP
) -> list[list[float]]:
    """Time entrants 0 .. ``entrants`` - 1 in turn, each round in another order, until all are known well enough.

    A slow one that has used up its share of the ``cap`` (seconds) sits out once it has :data:`FEWEST` samples, and the
    others go on without it. What runs while the GPU warms up is not kept.
    """
    start = clock()
    while clock() - start < WARM_UP:
        sample(rng.permutation(entrants).tolist())
    samples: list[list[float]] = [[] for _ in range(entrants)]
    start = clock()

    def running() -> list[int]:
        """Those that still have time; once the cap is reached, those that have too few samples too."""
        late = clock() - start >= cap
        return [
            one for one, taken in enumerate(samples)
            if len(taken) < FEWEST or (sum(taken) < cap / entrants and (not late or len(taken) < ROUNDS))
        ]  # fmt: skip

    while True:
        for _ in range(max(ROUNDS, max(map(len, samples)) // 2)):  # a look costs the more, the more there is to see
            order = rng.permutation(running()).tolist()
            if not order:
                return samples
            for one, seconds in zip(order, sample(order), strict=True):
                samples[one].append(seconds)
        if settled(samples, rng):
            return samples


def replays(
    first: float, seen: Sequence[float], again: Callable[[], float], clock: Callable[[], float], cap: float = CAP
) -> bool:
    """Whether a kernel gives out results that it has kept. ``first`` is what a run over inputs never seen took,
    ``seen`` what those over other ones took, and ``again`` runs once more over the new inputs.

    Where the first run is no slower, nothing was kept. Where it is, the way of the kernel may just depend on the
    values: then the new inputs take as long however often they come. A kernel that keeps results is fast again once it
    has seen them as often as it had seen the others, warm-up included; that is tried for ``cap`` seconds at most.
    """
    if not _slower(first, seen):
        return False
    start = clock()
    taken = [again() for _ in range(FEWEST)]
    while len(taken) < 2 * len(seen) and clock() - start < cap:
        taken.append(again())
    return _slower(first, taken[-FEWEST:])


def _slower(first: float, others: Sequence[float]) -> bool:
    return first > max(others) * (1 + FRESH_PART) + FRESH_SECONDS

"""Timing over made-up samples: medians and their intervals, whose turn it is, when to stop, what can't be believed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading import speed

MICRO = 1e-6


class MadeUp:
    """Entrants of known times, with relative noise, and a clock that runs only while one of them does."""

    def __init__(self, *seconds: float, noise: float = 0.002, overhead: float = 1e-4) -> None:
        self.seconds, self.noise, self.overhead = seconds, noise, overhead
        self.rng = np.random.default_rng(3)
        self.now = 0.0
        self.orders: list[list[int]] = []

    def clock(self) -> float:
        return self.now

    def sample(self, order: Sequence[int]) -> list[float]:
        self.orders.append(list(order))
        times = [self.seconds[one] * (1 + self.noise * abs(self.rng.standard_normal())) for one in order]
        self.now += sum(times) + self.overhead * len(times)
        return times

    def run(self) -> list[list[float]]:
        return speed.take_samples(self.sample, len(self.seconds), np.random.default_rng(4), self.clock)


def test_the_median_lies_in_its_interval_and_more_samples_narrow_it() -> None:
    rng = np.random.default_rng(1)
    samples = rng.normal(100.0, 5.0, 400)
    few, many = speed.timing("few", samples[:20], rng), speed.timing("many", samples, rng)
    assert few.low <= few.seconds <= few.high and many.low <= many.seconds <= many.high
    assert many.spread < few.spread / 2 and many.low < 100.0 < many.high and many.samples == 400


def test_one_sample_out_of_many_changes_nothing() -> None:
    samples = [10.0] * 30 + [1000.0]
    assert speed.interval(samples, np.random.default_rng(1)) == (10.0, 10.0, 10.0)


def test_steady_entrants_are_settled_after_one_look() -> None:
    entrants = MadeUp(40 * MICRO, 50 * MICRO)
    assert [len(one) for one in entrants.run()] == [speed.ROUNDS, speed.ROUNDS]


def test_every_round_runs_every_entrant_in_another_order() -> None:
    entrants = MadeUp(*[40 * MICRO] * 5, noise=0.3)
    entrants.run()
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in entrants.orders)
    assert len({tuple(order) for order in entrants.orders}) > 50


def test_what_runs_during_the_warm_up_is_not_kept() -> None:
    entrants = MadeUp(40 * MICRO)
    kept = entrants.run()
    assert len(entrants.orders) > len(kept[0]) + 1000


def test_noise_that_does_not_settle_ends_at_the_cap() -> None:
    entrants = MadeUp(40 * MICRO, noise=2.0, overhead=0.02)
    (samples,) = entrants.run()
    assert entrants.now < speed.WARM_UP + speed.CAP + 1.0
    assert speed.timing("noisy", samples, np.random.default_rng(1)).spread > speed.ENOUGH


def test_a_slow_entrant_sits_out_and_leaves_the_others_their_time() -> None:
    fast, slow = MadeUp(40 * MICRO, 0.8, noise=0.1).run()
    assert len(slow) == speed.FEWEST and len(fast) >= speed.ROUNDS


def test_a_round_of_nothing_but_slow_entrants_ends() -> None:
    assert [len(one) for one in MadeUp(3.0, 4.0, noise=0.5).run()] == [speed.FEWEST, speed.FEWEST]


SEEN = [98 * MICRO, 100 * MICRO, 101 * MICRO] * 10


class Keeper:
    """A kernel that takes 100 µs over inputs that it has seen ``sightings`` times, and ``slow`` seconds before that."""

    def __init__(self, slow: float, sightings: float) -> None:
        self.slow, self.sightings = slow, sightings
        self.now, self.runs = 0.0, 0

    def again(self) -> float:
        self.runs += 1
        seconds = self.slow if self.runs <= self.sightings else 100 * MICRO
        self.now += seconds
        return seconds

    def replays(self, cap: float = speed.CAP) -> bool:
        return speed.replays(self.again(), SEEN, self.again, lambda: self.now, cap)


@pytest.mark.parametrize("sightings", [1, 2, 40])
def test_a_kernel_that_is_fast_again_on_inputs_once_it_has_seen_them_keeps_results(sightings: int) -> None:
    assert Keeper(200 * MICRO, sightings).replays()


@given(times=st.floats(0.01, 100.0))
def test_a_kernel_that_stays_as_slow_on_other_inputs_keeps_nothing(times: float) -> None:
    assert not Keeper(times * 100 * MICRO, sightings=math.inf).replays()


@pytest.mark.parametrize(("first", "expected"), [(100, False), (127, False), (135, True), (1000, True)])
def test_a_first_run_must_be_clearly_slower(first: float, expected: bool) -> None:
    assert Keeper(first * MICRO, sightings=1).replays() is expected


def test_a_short_kernel_may_jitter_by_microseconds() -> None:
    assert not speed.replays(6 * MICRO, [3 * MICRO] * 10, lambda: 3 * MICRO, lambda: 0.0)


def test_looking_for_kept_results_ends_at_the_cap() -> None:
    keeper = Keeper(1.0, sightings=math.inf)
    assert not keeper.replays(cap=5.0) and keeper.now <= 8.0

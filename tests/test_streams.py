"""Which operations on streams wait for which, and the order that is left open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.streams import DEFAULT, Order, Use

FIRST, SECOND, ALONE = 4, 6, 9


def apart(build: Callable[[Order], object]) -> set[tuple[int, int]]:
    """The pairs of operations that an order leaves open."""
    order = Order()
    build(order)
    return set(order.open_pairs())


def both(between: Callable[[Order], object], first: int = FIRST, second: int = SECOND) -> set[tuple[int, int]]:
    """The same of one operation on each of two streams, and what is done between them."""

    def build(order: Order) -> None:
        order.issue(first)
        between(order)
        order.issue(second)

    return apart(build)


def event_between(order: Order) -> None:
    order.record(1, FIRST)
    order.let_wait(SECOND, 1)


@pytest.mark.parametrize("between", [
    event_between,
    lambda order: order.wait_for_stream(FIRST),
    lambda order: order.wait_for_all(),
    lambda order: (order.record(1, FIRST), order.wait_for_event(1)),
])  # fmt: skip
def test_an_event_or_a_host_that_waits_orders_two_streams(between: Callable[[Order], object]) -> None:
    assert both(between) == set()


@pytest.mark.parametrize("between", [
    lambda order: None,
    lambda order: order.wait_for_stream(SECOND),
    lambda order: order.let_wait(SECOND, 1),
    lambda order: (order.let_wait(SECOND, 1), order.record(1, FIRST)),
    lambda order: (order.record(1, SECOND), order.let_wait(SECOND, 1)),
])  # fmt: skip
def test_waiting_for_another_stream_or_an_event_too_early_orders_nothing(between: Callable[[Order], object]) -> None:
    assert both(between) == {(0, 1)}


@pytest.mark.parametrize(("first", "second"), [(FIRST, FIRST), (FIRST, DEFAULT), (DEFAULT, SECOND), (DEFAULT, DEFAULT)])
def test_one_stream_and_the_default_one_are_in_order(first: int, second: int) -> None:
    assert both(lambda order: None, first, second) == set()


@pytest.mark.parametrize(("first", "second"), [(ALONE, DEFAULT), (DEFAULT, ALONE), (ALONE, FIRST)])
def test_a_stream_made_not_to_block_is_in_no_order_with_the_default_one(first: int, second: int) -> None:
    assert both(lambda order: None, first, second) == {(0, 1)}


def test_the_default_stream_orders_what_comes_before_it_on_one_stream_and_after_it_on_another() -> None:
    assert both(lambda order: order.issue(DEFAULT)) == set()


def test_memory_that_is_freed_waits_for_all_and_memory_that_is_allocated_for_nothing() -> None:
    assert both(lambda order: order.issue_and_wait(for_all=True)) == set()
    assert both(lambda order: order.issue_and_wait(for_all=False)) == {(0, 1), (0, 2)}


def test_uses_clash_where_they_overlap_and_one_may_write() -> None:
    assert Use(100, 8, True).clashes(Use(107, 1, False)) and Use(107, 1, False).clashes(Use(100, 8, True))
    assert not Use(100, 8, True).clashes(Use(108, 1, True))
    assert not Use(100, 8, False).clashes(Use(100, 8, False))


STEPS = st.lists(st.tuples(st.sampled_from("iiirweah"), st.sampled_from([0, 4, 6, 9]), st.integers(1, 2)), max_size=12)


def built(steps: list[tuple[str, int, int]]) -> Order:
    order = Order()
    does: dict[str, Callable[[int, int], None]] = {
        "i": lambda stream, event: order.issue(stream),
        "r": lambda stream, event: order.record(event, stream),
        "w": lambda stream, event: order.let_wait(stream, event),
        "e": lambda stream, event: order.wait_for_event(event),
        "a": lambda stream, event: order.issue_and_wait(for_all=event == 1),
        "h": lambda stream, event: order.wait_for_stream(stream),
    }
    for kind, stream, event in steps:
        does[kind](stream, event)
    return order


@given(STEPS)
def test_the_other_order_is_one_that_is_allowed(steps: list[tuple[str, int, int]]) -> None:
    order = built(steps)
    backwards = order.backwards()
    assert sorted(backwards) == list(range(len(order.before)))
    for place, number in enumerate(backwards):
        assert all(not order.before[number] >> later & 1 for later in backwards[place:])


@given(STEPS)
def test_what_waits_waits_also_for_what_that_waits_for(steps: list[tuple[str, int, int]]) -> None:
    before = built(steps).before
    for mine in before:
        assert all(not mine >> number & 1 or before[number] & ~mine == 0 for number in range(len(before)))

"""Which words of an allocation were touched, to the last one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.simulator.covering import Coverage, TooMuch, Words
from harness.simulator.memory import Allocation, Memory

WIDTHS = (1, 2, 4, 8, 16)


def allocation(nbytes: int) -> Allocation:
    return Memory().allocate("x", nbytes)


@st.composite
def accesses(draw: st.DrawFn) -> tuple[int, list[tuple[int, list[int]]]]:
    """Bytes of an allocation, and accesses to it: a width, and numbers of units of that width."""
    nbytes = draw(st.integers(1, 300))
    widths = st.sampled_from([width for width in WIDTHS if width <= nbytes])
    some = st.lists(widths, max_size=6)
    return nbytes, [
        (width, draw(st.lists(st.integers(0, nbytes // width - 1), min_size=1, max_size=40))) for width in draw(some)
    ]


@given(accesses())
def test_a_word_is_missed_where_none_of_its_bytes_is_touched(case: tuple[int, list[tuple[int, list[int]]]]) -> None:
    nbytes, made = case
    words = Words(allocation(nbytes))
    touched = np.zeros(nbytes, np.bool_)
    for width, units in made:
        words.touch(np.array(units), width)
        for unit in units:
            touched[unit * width : (unit + 1) * width] = True
    expected = [word for word in range(-(-nbytes // 4)) if not touched[4 * word : 4 * word + 4].any()]
    assert words.count == -(-nbytes // 4) and words.missed().tolist() == expected


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1), st.integers(1, n))))
def test_a_range_touches_each_word_that_it_has_a_byte_of(case: tuple[int, int, int]) -> None:
    nbytes, start, length = case
    length = min(length, nbytes - start)
    words = Words(allocation(nbytes))
    words.touch_range(start, length)
    touched = {byte // 4 for byte in range(start, start + length)}
    assert words.missed().tolist() == [word for word in range(-(-nbytes // 4)) if word not in touched]


def test_an_update_reads_and_writes() -> None:
    array, coverage = allocation(64), Coverage(work=100)
    for verb, number in (("read", 1), ("write", 2), ("update", 3)):
        for words in coverage.of(array, verb):
            words.touch(np.array([number]), 4)
    (read,), (written,) = coverage.of(array, "read"), coverage.of(array, "write")
    assert {1, 3} == set(range(16)) - set(read.missed().tolist())
    assert {2, 3} == set(range(16)) - set(written.missed().tolist())


def test_work_is_given_once() -> None:
    coverage = Coverage(work=100)
    coverage.spend(60)
    coverage.spend(40)
    with pytest.raises(TooMuch):
        coverage.spend(1)

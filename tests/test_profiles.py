"""The records of a profile check themselves, and add up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.profiles import (
    Counters,
    Footprint,
    InstructionCounters,
    LaunchProfile,
    Occupancy,
    Prediction,
    Sampling,
    Traffic,
    WarpAccess,
    total,
)

count = st.integers(0, 10**12)


@st.composite
def counters(draw: st.DrawFn) -> Counters:
    ideal, branches = draw(count), draw(count)
    load = Traffic(draw(st.integers(1, 10**9)), draw(count), draw(count), ideal + draw(count), ideal, draw(count))
    pipes = {pipe: draw(count) for pipe in draw(st.sets(st.sampled_from(["fp32", "memory", "branch"])))}
    return Counters(
        instructions=sum(pipes.values()), lanes=draw(count), pipes=pipes, global_load=load, shared_store=load,
        branches=branches, divergent=draw(st.integers(0, branches)), flops=draw(count),
    )  # fmt: skip


@given(st.lists(counters(), max_size=5))
def test_counters_add_up_field_by_field(several: list[Counters]) -> None:
    whole = total(several)
    for name in ("instructions", "lanes", "branches", "divergent", "flops", "sectors", "wavefronts"):
        assert getattr(whole, name) == sum(getattr(one, name) for one in several)
    assert whole.global_load.ideal == sum(one.global_load.ideal for one in several)
    for pipe in ("fp32", "memory", "branch"):
        assert whole.pipes.get(pipe, 0) == sum(one.pipes.get(pipe, 0) for one in several)


def test_adding_nothing_changes_nothing() -> None:
    one = Counters(instructions=2, lanes=40, pipes={"fp32": 2}, global_load=Traffic(2, 40, 160, 6, 5, 2))
    assert one + Counters() == one == Counters() + one
    assert one.efficiency == 40 / 64 and Counters().efficiency == 1


def launch(**changes: Any) -> LaunchProfile:
    fields: dict[str, Any] = {
        "kernel": "k", "line": 3, "grid": (2, 3, 1), "block": (40, 1, 1), "registers": 32, "spills": 0,
        "static_shared": 128, "dynamic_shared": 64, "sampling": Sampling(6, 6), "instructions": (),
    }  # fmt: skip
    return LaunchProfile(**(fields | changes))


def test_lines_gather_their_instructions() -> None:
    fma = Counters(instructions=4, lanes=128, pipes={"fp32": 4}, flops=256)
    move = Counters(instructions=4, lanes=128, pipes={"move": 4})
    found = launch(instructions=(
        InstructionCounters("fma.rn.f32", 7, fma), InstructionCounters("mov.u32", None, move),
        InstructionCounters("mov.u32", 5, move), InstructionCounters("mov.u32", 7, move),
    ))  # fmt: skip
    assert [(one.line, one.counters.instructions) for one in found.lines] == [(5, 4), (7, 8)]
    assert found.counters.instructions == 16 and found.counters.flops == 256
    assert (found.blocks, found.threads, found.warps, found.shared_bytes) == (6, 40, 2, 192)


def test_what_dram_moves_is_that_of_all_arrays() -> None:
    found = launch(footprints=(Footprint("x", 4096, 4096, 0, 8192, 0), Footprint("y", 4096, 64, 4096, 64, 4096)))
    assert (found.dram_read, found.dram_written) == (4160, 4096)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Traffic(units=1, ideal=2),
        lambda: Traffic(requests=-1),
        lambda: Counters(branches=1, divergent=2),
        lambda: Counters(instructions=2, pipes={"fp32": 1}),
        lambda: Counters(lanes=-1),
        lambda: Sampling(3, 4),
        lambda: Sampling(30, 2, (1, 2, 3)),
        lambda: Footprint("x", 4, -1, 0, 0, 0),
        lambda: WarpAccess(1, "global", "load", "x", 4, (None,) * 32, 0, 0),
        lambda: WarpAccess(1, "global", "load", "x", 4, (0,) * 31, 0, 0),
        lambda: Occupancy(8, 64, "warps", {"warps": 7, "blocks": 32}, 1.0, 1.0),
        lambda: Occupancy(8, 64, "sun", {"warps": 8}, 1.0, 1.0),
        lambda: Prediction(1.0, 1.1, 2.0, "DRAM", {}),
        lambda: Prediction(0.0, 0.0, 2.0, "DRAM", {}),
        lambda: launch(sampling=Sampling(5, 5)),
        lambda: launch(registers=-1),
    ],
)  # fmt: skip
def test_a_record_that_contradicts_itself_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"\w{3}"):
        make()

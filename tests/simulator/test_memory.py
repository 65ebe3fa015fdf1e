"""Global memory by itself: where things lie, what was written, and why an address is bad."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.simulator import Memory
from harness.simulator.memory import Backing
from tests.simulator.running import fault_of


def locate(memory: Memory, *addresses: int, width: int = 4) -> list[int] | int:
    """The first byte of each access as held by its allocation, or the position of the first bad one."""
    pieces, bad = memory.locate(np.array(addresses, np.uint64), width)
    if bad is not None:
        return bad
    found = np.zeros(len(addresses), int)
    for piece in pieces:
        found[slice(None) if piece.selection is None else piece.selection] = piece.backing.data[piece.offset]
    return found.tolist()


def test_allocations_are_apart_aligned_and_never_reuse_an_address() -> None:
    memory = Memory()
    some = [memory.allocate("a", size, kind="scratch") for size in (1, 0, 4096, 3)]
    assert all(one.address % 512 == 0 for one in some)
    assert all(two.address - one.address - one.nbytes >= 1 << 20 for one, two in itertools.pairwise(some))
    memory.free(some[-1].address)
    assert memory.allocate("b", 4).address > some[-1].address


def test_memory_remembers_which_bytes_were_written() -> None:
    memory = Memory()
    fresh, given = memory.allocate("a", 8), memory.allocate("b", 8, data=np.arange(2, dtype="i4"))
    assert not fresh.written.any() and given.written.all()
    fresh.backing.mark_written(np.array([1]), 2)
    assert fresh.written.tolist() == [False, False, True, True, False, False, False, False]
    assert fresh.backing.unwritten(np.array([0, 1]), 4).tolist() == [True, True]
    assert fresh.backing.unwritten(np.array([1]), 2) is None
    assert fresh.backing.unwritten_bytes(np.array([0]), 4).tolist() == [[255, 255, 0, 0]]


def test_every_width_sees_the_same_bytes() -> None:
    backing = Backing(32, data=np.arange(32, dtype="u1"), written=True)
    for width in (1, 2, 4, 8, 16):
        assert backing.view(width).tobytes() == bytes(range(32))
    backing.view(8)[1] = 0
    assert backing.data[8:16].tolist() == [0] * 8


def test_moved_garbage_is_not_written_but_known_as_moved() -> None:
    backing = Backing(8, written=True)
    backing.mark_garbage(np.array([1]), np.array([[False, True, False, False]]), "from there")
    assert backing.unwritten(np.array([0, 1]), 4).tolist() == [False, True]
    assert backing.holds_moved(1, 4) and not backing.holds_moved(0, 4) and backing.moved_from == "from there"


def test_an_access_may_reach_several_allocations_at_once() -> None:
    memory = Memory()
    a = memory.allocate("a", 8, data=b"\1\2\3\4\5\6\7\x08")
    b = memory.allocate("b", 4, data=b"\x09\x0a\x0b\x0c")
    assert locate(memory, b.address, a.address, a.address + 4) == [9, 1, 5]
    assert locate(memory, a.address, b.address + 1) == 1
    assert locate(memory, a.address + 7, width=1) == [8]
    assert locate(memory, a.address + 5) == 0


@pytest.mark.parametrize(
    ("offset", "kind", "words"),
    [
        (40, "out_of_bounds", "output[10], 4 bytes past the end of output (10 elements of 4 bytes)"),
        (44, "out_of_bounds", "output[11], 8 bytes past the end"),
        (-4, "out_of_bounds", "output[-1], 4 bytes before the start of output"),
        (38, "out_of_bounds", "byte 38 of output, 2 bytes past the end of output (40 bytes)"),
        (40 + (1 << 19), "out_of_bounds", "past the end of output"),
    ],
)
def test_a_bad_address_is_explained_by_the_nearest_allocation(offset: int, kind: str, words: str) -> None:
    memory = Memory()
    memory.allocate("input", 40)
    output = memory.allocate("output", 40)
    assert memory.locate(np.array([output.address + offset], np.uint64), 4)[1] == 0
    explained = memory.explain(output.address + offset, 4)
    assert explained[0] == kind and words in explained[1]


@pytest.mark.parametrize("address", [0, 4, 4000])
def test_small_addresses_are_null_pointers(address: int) -> None:
    memory = Memory()
    memory.allocate("a", 4)
    assert memory.explain(address, 4)[0] == "null_pointer"


def test_nothing_allocated_is_said_so() -> None:
    assert memory_without() == ("out_of_bounds", "address 0x700000000000, where nothing is allocated")


def memory_without() -> tuple[str, str]:
    return Memory().explain(0x7000_0000_0000, 4)


def test_freed_memory_is_known_by_name() -> None:
    memory = Memory()
    scratch = memory.allocate("scratch", 64, kind="scratch")
    assert memory.live("scratch") == [scratch]
    memory.free(scratch.address)
    assert memory.live("scratch") == []
    kind, words = memory.explain(scratch.address + 8, 4)
    assert kind == "use_after_free" and "scratch + 8 bytes" in words
    assert locate(memory, scratch.address + 8) == 0


def test_freeing_twice_or_what_was_never_allocated_is_refused_with_the_line() -> None:
    memory = Memory()
    scratch, buffer = memory.allocate("scratch", 64, kind="scratch"), memory.allocate("input", 64)
    memory.free(scratch.address, 3)
    memory.free(0)  # cudaFree(nullptr) does nothing
    twice = fault_of(lambda: memory.free(scratch.address, 4))
    assert (twice.kind, twice.line) == ("double_free", 4) and "scratch" in twice.message
    for address in (buffer.address, scratch.address + 4, 0x1234):
        wrong = fault_of(lambda address=address: memory.free(address, 5))
        assert (wrong.kind, wrong.line) == ("invalid_free", 5) and f"{address:#x}" in wrong.message


def test_an_allocation_can_be_placed_where_a_plan_says() -> None:
    memory = Memory()
    placed = memory.allocate("scratch", 16, kind="scratch", address=0x6000_0000_0000)
    assert memory.find(placed.address + 15) is placed and memory.find(placed.address + 16) is None


@pytest.mark.parametrize("nbytes", [1, 3, 12, 1000, 4096])
def test_memory_is_filled_with_a_tile_to_its_last_byte(nbytes: int) -> None:
    backing = Backing(nbytes)
    tile = np.array([1.5, -2.0, 3.25], np.float32)
    backing.fill(tile)
    content = np.frombuffer(tile.tobytes() * (nbytes // 12 + 1), np.uint8)[:nbytes]
    np.testing.assert_array_equal(backing.data, content)
    assert backing.unwritten(np.arange(nbytes), 1) is None


def test_a_range_is_marked_as_written() -> None:
    backing = Backing(64)
    backing.mark_range(5, 20)
    assert backing.unwritten_bytes(np.arange(64), 1)[:, 0].tolist() == [255] * 5 + [0] * 20 + [255] * 39


def test_zeros_count_as_written_where_that_is_said() -> None:
    allocation = Memory().allocate("x", 64, written=True)
    assert allocation.backing.unwritten(np.arange(16), 4) is None and not allocation.data.any()


def test_small_allocations_can_be_put_back_as_they_were() -> None:
    memory = Memory()
    flags, data = memory.allocate("flags", 8, data=bytes(8)), memory.allocate("data", 800, data=bytes(800))
    restore = memory.keep_small(8)
    flags.data[:], data.data[:] = 1, 1
    restore()
    assert not flags.data.any() and data.data.all()


def test_of_unknown_memory_nothing_is_known_whatever_is_stored() -> None:
    allocation = Memory().allocate("scratch", 40, known=False)
    index = np.array([0, 3])
    allocation.backing.view(4)[index] = 5
    allocation.backing.mark_written(index, 4)
    allocation.backing.mark_range(0, 40)
    allocation.backing.mark_garbage(index, np.zeros((2, 4), np.bool_), "a place")
    unwritten = allocation.backing.unwritten(index, 4)
    assert unwritten is not None and unwritten.all()
    assert (allocation.backing.unwritten_bytes(index, 8) == 0xFF).all()
    assert not allocation.backing.holds_moved(0, 4)

"""``atom`` and ``red``: every lane takes its turn on cells that may be shared by many, in lane order but for ``cas``.

Vectorised over cells: what one cell's lanes do is a running sum, maximum or exchange along them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator import isa
from harness.simulator.access import Access, unwritten
from harness.simulator.active import Lanes
from harness.simulator.garbage import ALL_BITS
from harness.simulator.operands import Reader, Registers, flatten, reader
from harness.simulator.ptx import DTYPES, Address, Instruction, Register

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Step

#: cells (1-D, of the operation's dtype), index of each lane's cell, operands -> old value of each lane
Apply = Callable[..., np.ndarray]
_UFUNCS = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_TYPES_AS_BITS = {"f16", "bf16", "f16x2", "bf16x2"}


def atomic(instruction: Instruction, kernel: Kernel) -> Step:
    """``atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}`` and ``red``, which returns nothing."""
    operands = list(flatten(instruction.operands))
    target = operands.pop(0) if instruction.opcode == "atom" else Register("_")
    address, *sources = operands
    if not isinstance(address, Address) or not isinstance(target, Register):
        raise Unsupported(f"atomic form {instruction.text}", line=instruction.line)
    dtype = DTYPES[instruction.type]
    access = Access(instruction, address, dtype.itemsize, "update", kernel)
    readers = [reader(source, instruction.type, kernel) for source in sources]
    number = kernel.number(target.name) if target.name != "_" else -1
    wanted = target.name in kernel.used
    apply = _apply(instruction, wanted)
    exchange = instruction.has("exch")  # the one that does not use the old value

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        located = access.located(registers, lanes, batch)
        missing = unwritten(access, located, lanes, batch)
        if missing is not None and not exchange:
            batch.garbage.fail(missing[1], None, lanes, missing[0])
        batch.witness.watch(access, located, lanes)
        old = np.zeros(lanes.count, dtype)
        values = _values(readers, registers, lanes)
        for piece, index in located.units:
            index = np.broadcast_to(index, lanes.count) if piece.selection is None else index
            part = values if piece.selection is None else [value[piece.selection] for value in values]
            cells = piece.backing.view(access.width)
            before = cells[index] if batch.doubtful else None
            result = apply(cells.view(dtype), index, *part)
            if before is None or (cells[index] != before).any():
                batch.launch.changes += 1
            if wanted:
                old[slice(None) if piece.selection is None else piece.selection] = result
            if missing is not None:
                piece.backing.mark_written(index, access.width)
        if wanted:
            registers[number] = lanes.spread(old, number, registers[number])
        if missing is not None and wanted:
            batch.garbage.put(number, lanes.ids, np.where(missing[0], np.uint64(ALL_BITS), np.uint64(0)), missing[1])

    return step


def _values(readers: list[Reader], registers: Registers, lanes: Lanes) -> list[np.ndarray]:
    return [np.broadcast_to(lanes.active(read(registers)), lanes.count) for read in readers]


def _apply(instruction: Instruction, wanted: bool) -> Apply:
    operation = next((word for word in instruction.modifiers if word in _OPERATIONS), None)
    if operation is None:
        raise Unsupported(f"atomic operation in {instruction.text}", line=instruction.line)
    if instruction.type in _TYPES_AS_BITS and operation in ("add", "min", "max"):
        return _in_turns(_packed_operation(instruction, operation))
    ufunc = _UFUNCS.get(operation) or {"min": np.minimum, "max": np.maximum}.get(operation)
    if ufunc is not None and not wanted:
        return _unanswered(ufunc)
    return _OPERATIONS[operation]


def _packed_operation(instruction: Instruction, operation: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Halves are added as the arithmetic instruction of the same name adds them."""
    plain = replace(instruction, opcode=operation, modifiers=(instruction.type,), operands=(Register("_"),) * 3)
    return isa.operation(plain).function


def _unanswered(ufunc: np.ufunc) -> Apply:
    def apply(cells: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
        ufunc.at(cells, index, value)
        return value

    return apply


def _in_turns(combine: Callable[..., np.ndarray]) -> Apply:
    """The n-th lane of every cell at once, for n = 0, 1, 2 ..."""

    def apply(cells: np.ndarray, index: np.ndarray, *values: np.ndarray) -> np.ndarray:
        old = np.empty(len(index), cells.dtype)
        for turn in _turns(index):
            at = index[turn]
            old[turn] = cells[at]
            cells[at] = combine(old[turn], *(value[turn] for value in values))
        return old

    return apply


def _turns(index: np.ndarray) -> list[np.ndarray]:
    order, starts, lengths = _segments(index)
    rank = np.arange(len(index)) - np.repeat(starts, lengths)
    by_rank = order[np.argsort(rank, kind="stable")]
    counts = np.bincount(rank)
    return np.split(by_rank, np.cumsum(counts)[:-1])


def _segments(index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lanes ordered by cell (lane order kept), where each cell's run starts, and how long it is."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return order, starts, np.diff(np.append(starts, len(index)))


def _running(ufunc: np.ufunc) -> Apply:
    """Old values along each cell's lanes by ``ufunc.accumulate``; turns where cells outnumber lanes per cell."""
    turns = _in_turns(ufunc)

    def apply(cells: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
        order, starts, lengths = _segments(index)
        if len(starts) > int(lengths.max()):
            return turns(cells, index, value)
        old = np.empty(len(index), cells.dtype)
        for start, length in zip(starts, lengths, strict=True):
            lanes = order[start : start + length]
            run = ufunc.accumulate(np.concatenate((cells[index[lanes[:1]]], value[lanes])), dtype=cells.dtype)
            old[lanes] = run[:-1]
            cells[index[lanes[0]]] = run[-1]
        return old

    return apply


def _exchange(cells: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
    order, starts, lengths = _segments(index)
    ordered = np.empty(len(index), cells.dtype)
    ordered[1:] = value[order][:-1]
    ordered[starts] = cells[index[order][starts]]
    old = np.empty_like(ordered)
    old[order] = ordered
    cells[index[order][starts]] = value[order][starts + lengths - 1]
    return old


def _compare_and_swap(cells: np.ndarray, index: np.ndarray, compare: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Between two swaps a cell is constant, so each pass finds every cell's next lane whose comparison holds.

    Lanes come in a scattered order, which hardware may choose too: a loop that swaps in a maximum then ends in a
    logarithmic number of rounds, where rising values in lane order would let one lane finish in each."""
    bits = np.dtype(f"u{cells.dtype.itemsize}")
    cells, compare, value = cells.view(bits), compare.view(bits), value.view(bits)
    scattered = _scattered(len(index))
    order, starts, lengths = _segments(index[scattered])
    order = scattered[order]
    cell = np.repeat(np.arange(len(starts)), lengths)
    place = np.arange(len(index))
    current = cells[index[order][starts]]
    compared, swapped = compare[order], value[order]
    old = current[cell]
    waiting = np.ones(len(index), np.bool_)
    while True:
        hits = np.flatnonzero(waiting & (compared == current[cell]))
        if not len(hits):
            break
        which, first = np.unique(cell[hits], return_index=True)
        winners = hits[first]
        current[which] = swapped[winners]
        last = np.full(len(starts), -1)
        last[which] = winners
        waiting &= place > last[cell]
        later = waiting & (last[cell] >= 0)
        old[later] = current[cell][later]
    cells[index[order][starts]] = current
    result = np.empty_like(old)
    result[order] = old
    return result


@lru_cache(maxsize=64)
def _scattered(count: int) -> np.ndarray:
    """A permutation, the same one each time."""
    return np.random.default_rng(count).permutation(count)


def _increment(old: np.ndarray, limit: np.ndarray) -> np.ndarray:
    return np.where(old >= limit, 0, old + np.ones(1, old.dtype)).astype(old.dtype)


def _decrement(old: np.ndarray, limit: np.ndarray) -> np.ndarray:
    return np.where((old == 0) | (old > limit), limit, old - np.ones(1, old.dtype)).astype(old.dtype)


_OPERATIONS: dict[str, Apply] = {
    **{name: _running(ufunc) for name, ufunc in _UFUNCS.items()},
    "min": _running(np.minimum),
    "max": _running(np.maximum),
    "exch": _exchange,
    "cas": _compare_and_swap,
    "inc": _in_turns(_increment),
    "dec": _in_turns(_decrement),
}

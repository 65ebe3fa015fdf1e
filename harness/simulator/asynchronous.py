"""``cp.async``: copies that land in shared memory only when their thread waits for them.

Until then the old bytes are what anybody reads, so a kernel that forgets to wait is wrong here, not lucky.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator.access import Access, gather, refuse_unwritten, scatter
from harness.simulator.active import Lanes
from harness.simulator.memory import Piece
from harness.simulator.operands import Registers, flatten, reader
from harness.simulator.ptx import Address, Immediate, Instruction

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Step


@dataclass
class Pending:
    """One issued copy: who issued it, where it goes, the bytes, and each lane's commit group (-1 while open)."""

    access: Access
    lanes: Lanes
    units: list[tuple[Piece, np.ndarray]]
    data: np.ndarray
    group: np.ndarray
    waiting: np.ndarray


def copy(instruction: Instruction, kernel: Kernel) -> Step:
    """Every ``cp.async`` form of sm_80. Raises Unsupported for bulk copies and mbarrier completion."""
    if instruction.has("commit_group"):
        return _commit
    if instruction.has("wait_group"):
        return _wait(instruction)
    if instruction.has("wait_all"):
        return _wait_all
    if not instruction.has("async") or instruction.has("bulk", "mbarrier", "reduce"):
        raise Unsupported(f"copy form {instruction.text}", line=instruction.line)
    return _issue(instruction, kernel)


def _issue(instruction: Instruction, kernel: Kernel) -> Step:
    """``cp.async.{ca,cg}.shared.global [d], [a], bytes{, source bytes}``: bytes beyond the source's are zeros."""
    target, source, size, *rest = flatten(instruction.operands)
    if (
        not (isinstance(target, Address) and isinstance(source, Address) and isinstance(size, Immediate))
        or len(rest) > 1
    ):
        raise Unsupported(f"copy form {instruction.text}", line=instruction.line)
    width = size.value
    to = Access(instruction, target, width, "write", kernel, "shared")
    origin = Access(instruction, source, width, "read", kernel, "global")
    valid = reader(rest[0], "u32", kernel) if rest else None

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        located = to.located(registers, lanes, batch)
        batch.witness.watch(to, located, lanes)
        asked = np.full(1, width) if valid is None else lanes.active(valid(registers))
        kept = np.broadcast_to(asked, lanes.count)
        data = _zero_filled(origin, registers, lanes, kept, batch)
        group = np.full(lanes.count, -1)
        batch.pending.append(Pending(to, lanes, located.units, data, group, np.ones(lanes.count, np.bool_)))

    return step


def _zero_filled(origin: Access, registers: Registers, lanes: Lanes, kept: np.ndarray, batch: Batch) -> np.ndarray:
    """The source's bytes as units of the copy's width, each with its first ``kept`` bytes and zeros after."""
    width = origin.width
    rows = np.zeros((lanes.count, width), np.uint8)
    mask = np.zeros(lanes.width, np.bool_)
    mask[slice(None) if lanes.index is None else lanes.index] = kept > 0
    reading = lanes.narrow(mask)
    if reading is not None:
        located = origin.located(registers, reading, batch)
        refuse_unwritten(origin, located, reading, batch)
        batch.witness.watch(origin, located, reading)
        data = gather(origin, located)
        rows[kept > 0] = np.broadcast_to(data.view(np.uint8).reshape(-1, width), (reading.count, width))
        rows[np.arange(width) >= kept[:, None]] = 0
    return rows.view(np.uint64) if width == 16 else rows.view(f"u{width}").reshape(-1)


def _commit(registers: Registers, lanes: Lanes, batch: Batch) -> None:
    chosen = np.zeros(len(batch.alive), np.bool_)
    chosen[lanes.ids] = True
    for one in batch.pending:
        mine = chosen[one.lanes.ids] & (one.group < 0)
        one.group[mine] = batch.committed[one.lanes.ids[mine]]
    batch.committed[lanes.ids] += 1


def _wait_all(registers: Registers, lanes: Lanes, batch: Batch) -> None:
    _commit(registers, lanes, batch)
    _land(lanes, batch, 0)


def _wait(instruction: Instruction) -> Step:
    (allowed,) = flatten(instruction.operands)
    if not isinstance(allowed, Immediate):
        raise Unsupported(f"copy form {instruction.text}", line=instruction.line)
    return lambda registers, lanes, batch: _land(lanes, batch, allowed.value)


def _land(lanes: Lanes, batch: Batch, allowed: int) -> None:
    """Finish the copies of these lanes, but for the newest ``allowed`` committed groups of each."""
    chosen = np.zeros(len(batch.alive), np.bool_)
    chosen[lanes.ids] = True
    for one in batch.pending:
        finished = batch.committed[one.lanes.ids] - allowed
        due = chosen[one.lanes.ids] & one.waiting & (one.group >= 0) & (one.group < finished)
        if not due.any():
            continue
        for piece, index in one.units:
            part = due if piece.selection is None else due[piece.selection]
            selection = np.flatnonzero(due) if piece.selection is None else piece.selection[part]
            landing = Piece(piece.backing, piece.offset[part], selection, piece.allocation)
            scatter(one.access, [(landing, np.broadcast_to(index, len(part))[part])], one.data, one.lanes, batch)
        one.waiting &= ~due
    batch.pending = [one for one in batch.pending if one.waiting.any()]

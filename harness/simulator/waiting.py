"""Where lanes wait for each other: the warp's ``.sync`` instructions and the block's barriers.

A gate decides, whenever lanes arrive at it or others exit, who may pass. Lanes that must wait are parked; if nobody
in the batch can go on, the parked ones are the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.active import Lanes
from harness.simulator.collectives import LEFT_REMEDY, WARP, bits, left_title, members_of, per_lane
from harness.simulator.operands import Reader, flatten, reader
from harness.simulator.ptx import Immediate, Instruction

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch


class WarpGate:
    """Holds lanes until every lane named in their membermask, and still running, is here too."""

    #: Those of a warp may come one by one.
    aligned = False

    def __init__(self, instruction: Instruction, kernel: Kernel) -> None:
        self.instruction = instruction
        self.members = members_of(instruction, kernel)

    def passing(self, batch: Batch, here: Lanes) -> Lanes | None:
        """Of the lanes waiting here, those that may go on. Raises KernelFault for a lane not in its own mask."""
        mask = self.members(batch.registers)
        if self.instruction.opcode == "shfl" and batch.threads_per_block % WARP:
            self._warn_ragged(batch, here, mask)
        if mask.size == 1 and mask[0] == 0xFFFFFFFF and here.count == batch.alive_count:
            self._look_for_leavers(batch, here, mask)
            return here
        mask = np.broadcast_to(mask, here.width)
        lane = np.arange(here.width, dtype=np.uint32) & np.uint32(31)
        present = np.ones(here.width, np.bool_) if here.mask is None else here.mask
        outside = present & ((mask >> lane) & 1 == 0)
        if outside.any():
            position = int(np.flatnonzero(outside)[0])
            batch.witness.fail(
                self.instruction, "missing_lanes",
                f"lane {position % WARP} calls with the mask {int(mask[position]):#010x}, which leaves itself out",
                Lanes(here.width, outside), 0, "a lane may only call with a mask that names it",
            )  # fmt: skip
        absent = mask & per_lane(bits(batch.alive)) & ~per_lane(bits(present))
        passing = here.split(absent == 0)[0]
        if passing is not None:
            self._look_for_leavers(batch, passing, mask)
        return passing

    def _look_for_leavers(self, batch: Batch, passing: Lanes, mask: np.ndarray) -> None:
        """Lanes named in the mask that have left the kernel, and never come. One that did something else after its way
        parted from those here is an error: nothing says that it had left by then. One that just returned works."""
        gone = batch.ways.gone()
        if gone is None:
            return
        named = np.broadcast_to(mask, passing.width) & per_lane(bits(gone))
        missed = passing.ids[named[passing.ids] != 0]
        if not len(missed):
            return
        worked = per_lane(bits(batch.ways.left_working)) & named
        guilty = missed[worked[missed] != 0]
        lane = int(guilty[0] if len(guilty) else missed[0])
        leavers = int(named[lane])
        leaving = [one for one in range(WARP) if leavers >> one & 1]
        lanes = _lane_list(leaving)
        which = f"{lanes}, named in the mask {int(np.broadcast_to(mask, passing.width)[lane]):#010x},"
        way = batch.ways.of(lane - lane % WARP + leaving[0], lane)
        if len(guilty):
            batch.witness.fail(
                self.instruction, "missing_lanes",
                f"{which} went another way{way} and left the kernel without coming here",
                Lanes(passing.width, np.arange(passing.width) == lane), 0, LEFT_REMEDY, left_title(self.instruction),
            )  # fmt: skip
        batch.witness.warn(
            self.instruction, "missing_lanes",
            f"{which} returned{way} before this line, and nothing says that they had by now", lane, LEFT_REMEDY,
        )  # fmt: skip

    def _warn_ragged(self, batch: Batch, here: Lanes, mask: np.ndarray) -> None:
        """The last warp of a block that is no multiple of 32 names lanes that were never there."""
        rest = batch.threads_per_block % WARP
        last = batch.thread[here.ids] >= batch.threads_per_block - rest
        named = np.broadcast_to(here.active(mask), here.count)[last]
        if (named >> np.uint32(rest)).any():
            batch.witness.warn(
                self.instruction, "missing_lanes",
                f"the mask names more lanes than the {rest} in the last warp of a block of {batch.threads_per_block}",
                int(here.ids[last][0]), "launch whole warps: make the block a multiple of 32",
            )  # fmt: skip

    def evidence(self, batch: Batch, here: Lanes) -> str:
        """Who waits here, and for whom, in words."""
        mask = np.broadcast_to(self.members(batch.registers), here.width)
        position = int(here.ids[0])
        present = np.ones(here.width, np.bool_) if here.mask is None else here.mask
        warp = position // WARP
        absent = int(mask[position]) & int(bits(batch.alive)[warp]) & ~int(bits(present)[warp])
        missing = [lane for lane in range(WARP) if absent >> lane & 1]
        return f"lanes wait for {_lane_list(missing)}, named in the mask {int(mask[position]):#010x}, that never come"


def _lane_list(lanes: Sequence[int]) -> str:
    if len(lanes) > 1 and lanes[-1] - lanes[0] == len(lanes) - 1:
        return f"lanes {lanes[0]} to {lanes[-1]}"
    if len(lanes) > 4:
        return f"lanes {lanes[0]}, {lanes[1]}, {lanes[2]} and {len(lanes) - 3} more"
    return ("lane " if len(lanes) == 1 else "lanes ") + ", ".join(map(str, lanes))


def _count(threads: int | None) -> str:
    return "all threads" if threads is None else f"{threads} threads"


class BlockGate:
    """``bar.sync id{, threads}`` and its ``red`` forms: opens for a block when all of it, or the count, has come."""

    def __init__(self, instruction: Instruction, kernel: Kernel) -> None:
        self.instruction = instruction
        operands = list(flatten(instruction.operands))
        if instruction.has("red"):
            operands = operands[1:-1]
        self.name: Reader = reader(operands[0], "u32", kernel)
        self.threads: Reader | None = reader(operands[1], "u32", kernel) if len(operands) > 1 else None
        #: Whether all lanes of a warp must come together.
        self.aligned = instruction.opcode == "bar" or instruction.has("aligned")
        self.unnamed = isinstance(operands[0], Immediate) and operands[0].value == 0 and self.threads is None

    @property
    def spoken(self) -> str:
        """The barrier as people call it, and where it is."""
        name = "the __syncthreads()" if self.unnamed else "the barrier"
        return name if self.instruction.line is None else f"{name} on line {self.instruction.line}"

    def passing(self, batch: Batch, here: Lanes) -> Lanes | None:
        """Of the lanes waiting here, those whose block is complete; lanes of that block parked at other barriers of
        the same name go on too."""
        names = self.name(batch.registers)
        if here.count == batch.alive_count and self.threads is None and names.size == 1:
            batch.detours.refuse(self, here, np.ones(batch.block_count, np.bool_))
            self._warn_exited(batch, here)
            batch.shared_races.settle()
            batch.clock.block_barrier(None)
            return here
        passed: Lanes | None = None
        for name in np.unique(here.active(names)):
            mine = here.split(names == name)[0]
            opened = None if mine is None else self._open(batch, int(name), mine)
            if opened is not None:
                passed = opened if passed is None else passed.union(opened)
        return passed

    def _open(self, batch: Batch, name: int, here: Lanes) -> Lanes | None:
        others = batch.parked_at(name, besides=self)
        groups = [(self, here), *others]
        arrived = batch.named.per_block(name) + sum(batch.per_block(lanes) for _, lanes in groups)
        expected = self._expected(batch, here)
        self._refuse_other_counts(batch, name, here, others)
        complete = (arrived >= expected) & (expected > 0)
        if not complete.any():
            return None
        if self.threads is not None:
            self._refuse_other_warps(batch, name, complete, arrived - expected, groups)
        if self.unnamed:
            self._refuse_two_places(batch, complete, groups)
        for gate, waiting in groups:
            batch.detours.refuse(gate, waiting, complete)
        if self.unnamed:
            self._warn_exited(batch, here)
        leaving = [(gate, lanes.split(complete[batch.block_of])[0]) for gate, lanes in groups]
        self._order(batch, name, complete, [lanes for _, lanes in leaving if lanes is not None])
        batch.named.clear(name, complete)
        for gate, lanes in leaving[1:]:
            batch.release(gate, lanes)
        return leaving[0][1]

    def _order(self, batch: Batch, name: int, complete: np.ndarray, leaving: list[Lanes]) -> None:
        """What those who met did before is over for those who waited."""
        if self.threads is None:
            batch.clock.block_barrier(complete)
            return
        waited = np.concatenate([lanes.ids for lanes in leaving])
        batch.clock.part_barrier(waited, batch.named.lanes(name, complete))
        batch.named.met(name, self.instruction.line, waited, complete)

    def _expected(self, batch: Batch, here: Lanes) -> np.ndarray:
        if self.threads is None:
            return batch.alive_per_block()
        return np.full(batch.block_count, int(here.active(self.threads(batch.registers))[0]))

    def _refuse_other_counts(self, batch: Batch, name: int, here: Lanes, others: list[tuple[BlockGate, Lanes]]) -> None:
        """All who come to a barrier must mean the same number of threads (PTX ISA, "barrier")."""
        counts = [(gate.instruction, gate._count(batch, lanes)) for gate, lanes in others]
        counts += [(one.instruction, one.threads) for one in batch.named.arrived(name)]
        mine = self._count(batch, here)
        for instruction, count in counts:
            if count != mine:
                batch.witness.fail(
                    self.instruction, "barrier",
                    f"barrier {name} is for {_count(mine)} here, and for {_count(count)} on line {instruction.line}",
                    here, 0, "give all who meet at a barrier the same number of threads",
                )  # fmt: skip

    def _count(self, batch: Batch, here: Lanes) -> int | None:
        return None if self.threads is None else int(here.active(self.threads(batch.registers))[0])

    def _refuse_other_warps(
        self, batch: Batch, name: int, complete: np.ndarray, excess: np.ndarray, groups: list[tuple[BlockGate, Lanes]]
    ) -> None:
        """More threads than it is for, or other warps than those of its last meeting while these may still be at it:
        the hardware only counts, and lets through whoever comes."""
        remedy = "give each set of warps a barrier of its own number, 1 to 15"
        ids = np.concatenate([*(lanes.ids for _, lanes in groups), batch.named.lanes(name)])
        there = np.zeros(batch.width, np.bool_)
        there[ids] = True
        here, alive = (one.reshape(-1, WARP).sum(axis=1) for one in (there, batch.alive))
        apart = np.flatnonzero((here > 0) & (here < alive) & complete[batch.block_of[::WARP]])
        if apart.size:
            first = np.arange(batch.width) == np.flatnonzero(there & (np.arange(batch.width) // WARP == apart[0]))[0]
            batch.witness.fail(
                self.instruction, "barrier",
                f"{here[apart[0]]} of {alive[apart[0]]} lanes of a warp come to barrier {name}, which counts them as a "
                "whole warp, and opens too early", Lanes(batch.width, first), 0,
                "let whole warps come to a barrier that is given a number of threads",
            )  # fmt: skip
        for block in np.flatnonzero(complete):
            mine = ids[batch.block_of[ids] == block]
            at_one = Lanes(batch.width, np.arange(batch.width) == mine[0])
            if excess[block] > 0:
                batch.witness.fail(
                    self.instruction, "barrier",
                    f"{len(mine)} threads come to barrier {name}, which is for {len(mine) - int(excess[block])}: which "
                    "of them meet is a matter of luck", at_one, 0, remedy,
                )  # fmt: skip
            last = batch.named.last(name, int(block))
            if last is not None and not last.over_for(batch, mine):
                batch.witness.fail(
                    self.instruction, "barrier",
                    f"warps come to barrier {name} that can't know that its last meeting is over, of {last.threads} "
                    f"threads on line {last.line}: they may be counted for that one", at_one, 0, remedy,
                )  # fmt: skip

    def _warn_exited(self, batch: Batch, here: Lanes) -> None:
        if not batch.exited or self.threads is not None:
            return
        gone = batch.threads_per_block - batch.alive_per_block()
        block = int(np.flatnonzero((gone > 0) & (batch.per_block(here) > 0))[:1].sum())
        if gone[block] > 0 and batch.per_block(here)[block] > 0:
            position = int(here.ids[batch.block_of[here.ids] == block][0])
            batch.witness.warn(
                self.instruction, "barrier",
                f"{int(gone[block])} of {batch.threads_per_block} threads of the block have left the kernel when "
                f"the others meet at {self.spoken}", position,
                "let every thread come to it: guard the work, not the barrier",
            )  # fmt: skip

    def _refuse_two_places(self, batch: Batch, complete: np.ndarray, groups: list[tuple[BlockGate, Lanes]]) -> None:
        """``__syncthreads()`` on two lines filling up together works by luck at best."""
        for block in np.flatnonzero(complete):
            there = [(gate, int(batch.per_block(lanes)[block])) for gate, lanes in groups]
            there = [(gate, count) for gate, count in there if count]
            if len(there) < 2:
                continue
            (one, first), (two, second) = sorted(there, key=lambda pair: pair[0].instruction.line or 0)[:2]
            lanes = next(lanes for gate, lanes in groups if gate is one)
            position = int(np.flatnonzero(batch.block_of[lanes.ids] == block)[0])
            another = "another" if one.instruction.line == two.instruction.line else "the one"
            wait = "thread of the block waits" if first == 1 else "threads of the block wait"
            batch.witness.fail(
                one.instruction, "barrier",
                f"{first} {wait} at __syncthreads() on line {one.instruction.line} while {second} "
                f"{'waits' if second == 1 else 'wait'} at {another} on line {two.instruction.line}",
                lanes, position, "all threads of a block must meet at the same __syncthreads()",
            )  # fmt: skip

    def evidence(self, batch: Batch, here: Lanes) -> str:
        """Who waits here, and for how many, in words."""
        block = int(batch.block_of[here.ids[0]])
        waiting = int(batch.per_block(here)[block])
        expected = int(self._expected(batch, here)[block])
        return f"{waiting} of {expected} threads of the block wait at this barrier; the others never come"

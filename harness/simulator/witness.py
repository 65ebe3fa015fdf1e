"""What a batch's lanes are seen to do: accesses told to the race detectors, faults and warnings put into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from harness.errors import KernelFault
from harness.results import Hazard, Severity
from harness.simulator.access import ACQUIRING, RELEASING, Access, Act, Located
from harness.simulator.active import Lanes
from harness.simulator.ptx import Instruction
from harness.simulator.publication import Happened, Scope, counts, scope_of
from harness.simulator.races import short, spoken

if TYPE_CHECKING:
    from harness.simulator.simt import Batch


class Witness:
    """Sees what the lanes of one batch do, and tells."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def hazard(
        self,
        instruction: Instruction | None,
        kind: str,
        severity: Severity,
        message: str,
        lane: int,
        remedy: str | None,
        title: str | None = None,
    ) -> Hazard:
        """A finding about one lane at one instruction."""
        block, thread = self._position(lane)
        line = instruction.line if instruction else None
        name = self.batch.launch.name
        return Hazard(kind, severity, message, line, name, block, thread, remedy=remedy, title=title)

    def fail(
        self, instruction: Instruction | None, kind: str, message: str, lanes: Lanes, position: int,
        remedy: str | None = None, title: str | None = None,
    ) -> NoReturn:  # fmt: skip
        """Stop the launch: the active lane at ``position`` did this. Raises KernelFault."""
        lane = int(lanes.ids[min(position, lanes.count - 1)])
        raise KernelFault(self.hazard(instruction, kind, Severity.ERROR, message, lane, remedy, title))

    def blame(
        self, instruction: Instruction | None, kind: str, deed: str, lanes: Lanes, position: int,
        remedy: str | None = None, title: str | None = None,
    ) -> NoReturn:  # fmt: skip
        """Stop the launch for what one thread did: ``deed`` is the rest of a sentence that begins with the thread."""
        lane = int(lanes.ids[min(position, lanes.count - 1)])
        block, thread = self._position(lane)
        launch = self.batch.launch
        who = f"{spoken(thread, launch.block)} of block {short(block, launch.grid)}"
        self.fail(instruction, kind, f"{who} {deed}", lanes, position, remedy, title)

    def warn(self, instruction: Instruction, kind: str, message: str, lane: int, remedy: str | None = None) -> None:
        """Note something that works by luck, once per kind and line."""
        self.batch.launch.add(self.hazard(instruction, kind, Severity.WARNING, message, lane, remedy))

    def printed(self, text: str, lane: int) -> None:
        """A line of a kernel's printf."""
        self.batch.launch.lines += 1
        self.batch.launch.printer(text)

    def watch(self, access: Access, located: Located, lanes: Lanes, values: np.ndarray | None = None) -> None:
        """Called for every access before it happens; ``values`` is what a store writes, one unit per active lane."""
        if self.batch.tally is not None:
            self.batch.tally.accessed(access, located, lanes)
        if not self.batch.launch.watching:
            return
        self.batch.launch.step += 1
        spaces = self.batch.spaces
        for piece, index in located.units:
            ids = lanes.ids if piece.selection is None else lanes.ids[piece.selection]
            part = values if values is None or piece.selection is None or len(values) == 1 else values[piece.selection]
            if piece.allocation is not None and piece.allocation.kind != "const":
                self.batch.launch.races.note(self.batch, access, piece.allocation, index, ids, part)
                self._hand_over(access, piece.offset + piece.allocation.address, ids)
            elif piece.allocation is None and spaces.has_shared and piece.backing is spaces.shared:
                self.batch.shared_races.note(access, index, ids, part)
                if self.batch.kernel.hands_over_in_shared:
                    self._hand_over(access, piece.offset + spaces.shared_start, ids)

    def _hand_over(self, access: Access, addresses: np.ndarray, ids: np.ndarray) -> None:
        """Atomics and volatile accesses carry news to other threads, once a fence was run."""
        if access.act in (Act.READ, Act.WRITE):
            return
        order, scope = self.batch.launch.order, scope_of(access.instruction)
        if scope is not None and access.instruction.has(*RELEASING):
            self.batch.launch.step += 1
            order.fence(self._now(ids), scope)
            self.batch.launch.step += 1
        if order.any_fence:
            in_turn = not access.instruction.has("cas")  # that one takes lanes as they come
            order.meet(self._now(ids), np.broadcast_to(addresses, len(ids)), in_turn)
            if counts(access.instruction) or (scope is not None and access.instruction.has(*ACQUIRING)):
                order.acquire(self._now(ids), Scope.GRID if scope is None else scope)

    def fence(self, ids: np.ndarray, scope: Scope) -> None:
        """These lanes ran ``__threadfence()``, or one that reaches less far."""
        self.batch.launch.step += 1
        now = self._now(ids)
        self.batch.launch.order.fence(now, scope)
        self.batch.launch.order.acquire(now, scope)

    def _now(self, ids: np.ndarray) -> Happened:
        batch = self.batch
        return Happened.at(batch.clock.now, ids, batch.first_lane, batch.launch.step, batch.lanes_per_block)

    def _position(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        block, inside = divmod(lane, self.batch.lanes_per_block)
        return self.grid_position(int(self.batch.numbers[block]) * self.batch.lanes_per_block + inside)

    def grid_position(self, thread: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Block and thread coordinates of a thread by its number in the grid."""
        block, inside = divmod(thread, self.batch.lanes_per_block)
        return _coordinates(block, self.batch.launch.grid), _coordinates(inside, self.batch.launch.block)


def _coordinates(number: int, shape: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % shape[0], number // shape[0] % shape[1], number // (shape[0] * shape[1])

"""Races: two threads, one place, at least one write, nothing that orders them.

Shared memory is judged when a barrier closes an epoch, from a log of its accesses: an epoch without a write costs
nothing. Global memory is judged at each access, against what :mod:`harness.simulator.shadow` keeps of every word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from harness.results import Barrier, Hazard, Severity
from harness.simulator.access import Access, Act
from harness.simulator.memory import Allocation
from harness.simulator.ordering import WARP_SHIFT
from harness.simulator.publication import GridOrder, Happened
from harness.simulator.shadow import WRITES, Entry, Race, Shadow, touch

if TYPE_CHECKING:
    from harness.simulator.simt import Batch


_VERBS = {
    Act.READ: "reads",
    Act.WRITE: "writes",
    Act.ATOMIC: "updates",
    Act.BLOCK_ATOMIC: "updates (for its block alone)",
    Act.STRONG_READ: "reads",
    Act.STRONG_WRITE: "writes",
}

#: Warps of a grid that are told apart at each place of global memory.
_COLUMNS = 32

#: Entries a batch's log holds before it is judged without waiting for a barrier.
_LOG_LIMIT = 4096


class Order:
    """What is known of the order of a batch's accesses and those before them, for a shadow whose thread ``first`` is
    thread 0 of the grid."""

    def __init__(self, batch: Batch, first: int) -> None:
        self.batch = batch
        self.first = first

    def ordered(self, before: Entry, one: np.ndarray, entry: Entry, two: np.ndarray) -> np.ndarray:
        """Which pairs something orders: barriers in their block, or fences and flags."""
        batch, order = self.batch, self.batch.launch.order
        result = one // batch.lanes_per_block == two // batch.lanes_per_block
        if result.any():
            mine, yours = one[result] - before.first, two[result] - entry.first
            result[result] = batch.clock.ordered(before.moment, mine, entry.moment, yours)
        if not result.all() and order.any_fence:
            rest = ~result
            acquired = not entry.access.fresh
            result[rest] = order.ordered(self._happened(before, one[rest]), two[rest] - self.first, acquired)
        return result

    def heard(self, race: Race) -> bool:
        """Whether the later thread was told of what the earlier one did, and only lacks a fence of its own."""
        one, two = np.array([race.earlier_thread]), np.array([race.later_thread]) - self.first
        order = self.batch.launch.order
        return order.any_fence and bool(order.ordered(self._happened(race.earlier, one), two, False).any())

    def looked(self, entry: Entry, threads: np.ndarray, writers: np.ndarray, steps: np.ndarray) -> None:
        """These threads looked for news where the ``writers`` (-1: nobody) had written last, at these steps."""
        writers = np.where(writers < 0, -1, writers - self.first)
        self.batch.launch.order.saw(threads - self.first, writers, steps)

    def told_without_a_fence(self, before: Entry, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """Which of ``two`` were told of what ``one`` did by a flag that no fence keeps behind it."""
        order = self.batch.launch.order
        return order.told_without_a_fence(self._happened(before, one), two - self.first)

    def _happened(self, before: Entry, threads: np.ndarray) -> Happened:
        per_block = self.batch.lanes_per_block
        return Happened.at(before.moment, threads - before.first, before.first - self.first, before.step, per_block)


class SharedRaces:
    """The log of one batch's shared memory since all its blocks last met at barriers. Where threads tell each other by
    flags, what one knows changes with every access: then nothing waits for the barrier."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.order = Order(batch, -batch.first_lane)
        self.at_once = batch.kernel.hands_over_in_shared
        self.log: list[tuple[Entry, np.ndarray, np.ndarray, np.ndarray | None]] = []
        self.written = False
        self.judged_in_part = False
        self.shadow: Shadow | None = None
        self.granule = 4

    def note(self, access: Access, index: np.ndarray, lanes: np.ndarray, values: np.ndarray | None) -> None:
        """Keep an access until the next barrier of all. Arrays are kept, not copied."""
        self.written = self.written or access.act in WRITES
        self.log.append((Entry(access, self.batch.clock.now, step=self.batch.launch.step), index, lanes, values))
        if len(self.log) >= _LOG_LIMIT or self.at_once:
            self._judge(everything=True)
            self.judged_in_part = True

    def settle(self) -> None:
        """All blocks have met, or ended: judge what was logged and start anew."""
        if self.written and self.log:
            self._judge(everything=self.judged_in_part)
        self.judged_in_part = False
        self.log.clear()
        self.written = False
        if self.shadow is not None:
            self.shadow.forget()

    def _judge(self, everything: bool) -> None:
        """Only places that were written can race: the others are passed over, unless the log goes on."""
        log, self.log = self.log, []
        if self.shadow is None or any(entry.access.width < self.granule for entry, *_ in log):
            self.granule = min(4, *(entry.access.width for entry, *_ in log), self.granule)
            units = len(self.batch.spaces.shared.view(1)) // self.granule
            warps = self.batch.lanes_per_block >> WARP_SHIFT
            crowded = warps if self.batch.kernel.orders_in_part else 0
            self.shadow = Shadow(units, self.batch.lanes_per_block, crowded)
        touched = [
            (entry, touch(index, lanes, values, entry.access.width, self.granule))
            for entry, index, lanes, values in log
        ]
        written = np.full(self.shadow.units, everything)
        for entry, where in touched:
            if entry.act in WRITES:
                written[where.units] = True
        for entry, where in touched:
            hit = written[where.units]
            if hit.any():
                for race in self.shadow.judge(entry, where if hit.all() else where.only(hit), self.order):
                    place = self.batch.spaces.shared_place(race.unit * self.granule, race.later.access.width)
                    report(self.batch, race, place, self.order)


class GlobalRaces:
    """Every access of one launch to memory that kernels may write. Threads carry their number in the grid."""

    def __init__(self, order: GridOrder) -> None:
        self.order = order
        self.shadows: dict[int, tuple[int, Shadow]] = {}

    def note(
        self, batch: Batch, access: Access, allocation: Allocation, index: np.ndarray, lanes: np.ndarray,
        values: np.ndarray | None,
    ) -> None:  # fmt: skip
        """Judge an access of ``lanes`` at once. Inputs are only followed from the first write to them on."""
        known = self.shadows.get(id(allocation))
        if known is None and allocation.kind == "input" and access.act not in WRITES:
            return
        granule, shadow = known or (4, self._shadow(batch, allocation, 4))
        if access.width < granule:
            granule, shadow = access.width, self._shadow(batch, allocation, access.width)
        self.shadows[id(allocation)] = granule, shadow
        entry = Entry(access, batch.clock.now, batch.first_lane, batch.launch.step)
        where = touch(index, lanes + batch.first_lane, values, access.width, granule)
        if values is not None:

            def unchanged() -> np.ndarray:
                equal = allocation.backing.view(access.width)[index] == values
                equal = equal if equal.ndim == 1 else equal.all(axis=1)
                return np.repeat(np.broadcast_to(equal, len(lanes)), access.width // granule)

            where = replace(where, unchanged=unchanged)
        order = Order(batch, 0)
        for race in shadow.judge(entry, where, order):
            unit = race.unit * granule
            size = min(access.width, 4)
            report(batch, race, f"{allocation.name}[{unit // size}]", order)

    def _shadow(self, batch: Batch, allocation: Allocation, granule: int) -> Shadow:
        crowded = _COLUMNS if batch.kernel.orders_in_part else 0
        return Shadow(len(allocation.backing.view(granule)), batch.lanes_per_block, crowded)


#: What is mostly wrong where threads write different values to one place: its index.
_EACH_ITS_OWN = (
    "give each thread an element of its own: is the index the same for both? If they are to share it, use an atomic, "
    "or let one thread write it"
)


def report(batch: Batch, race: Race, place: str, order: Order) -> None:
    """Tell a race as a candidate would be told: the place, both lines, both threads, what is missing between."""
    one, two = race.earlier_thread, race.later_thread
    shift = 0 if race.later.first else batch.first_lane
    block_one, thread_one = batch.witness.grid_position(one + shift)
    block_two, thread_two = batch.witness.grid_position(two + shift)
    missing = None
    threads, blocks = batch.launch.block, batch.launch.grid
    first, second = race.earlier.access.instruction.line, race.later.access.instruction.line
    verbs = _VERBS[race.earlier.act], _VERBS[race.later.act]
    if race.earlier is race.later or race.same_value:
        values = "the same value" if race.same_value else "different values"
        severity = Severity.NOTE if race.same_value else Severity.ERROR
        who = f"{spoken(thread_one, threads)} and {spoken(thread_two, threads)}"
        if block_one != block_two:
            who += f" of blocks {short(block_one, blocks)} and {short(block_two, blocks)}"
        message = f"{who} write {values} to {place} at once"
        remedy = None if race.same_value else _EACH_ITS_OWN
    else:
        severity = Severity.ERROR
        other = f" of block {short(block_one, blocks)}" if block_one != block_two else ""
        message = (
            f"race on {place}: line {first} ({spoken(thread_one, threads)}{other}) {verbs[0]}, "
            f"line {second} ({spoken(thread_two, threads)}) {verbs[1]}, "
        )
        one_warp = one >> WARP_SHIFT == two >> WARP_SHIFT
        alone = batch.threads_per_block <= 1 << WARP_SHIFT
        unpublished = _unpublished(race, order, block_one != block_two, second)
        if unpublished is None and block_one == block_two:
            missing = Barrier.WARP if one_warp else Barrier.BLOCK
        why, remedy = unpublished or _missing(race, missing, alone)
        message += why
    batch.launch.add(Hazard(
        "race", severity, message, second, batch.launch.name, block_two, thread_two, race.count, remedy, first, missing,
    ))  # fmt: skip


def _unpublished(race: Race, order: Order, across_blocks: bool, second: int | None) -> tuple[str, str] | None:
    """What is missing where the two threads do tell each other something, or None where they don't."""
    fence = "__threadfence()" if across_blocks else "__threadfence_block()"
    both = (race.earlier.access, race.later.access)
    if across_blocks and any(one.takes for one in both) and any(one.act is Act.ATOMIC for one in both):
        return (
            "and nothing says that all other blocks are done with it",
            "take it in a second kernel, or let each block count itself behind its update and a __threadfence(), "
            "and the last one take it",
        )
    if order.heard(race):
        return (
            f"and no {fence} stands between the flag or count that tells of it and the reading",
            f"put {fence} before line {second}, behind the reading of the flag or count",
        )
    one, two = np.array([race.earlier_thread]), np.array([race.later_thread])
    if race.later.act is Act.STRONG_READ and order.told_without_a_fence(race.earlier, one, two).any():
        return (
            f"and no {fence} keeps the flag that tells of it behind it",
            f"put {fence} behind line {race.earlier.access.instruction.line}, before the flag is raised",
        )
    return None


def _missing(race: Race, barrier: Barrier | None, alone: bool) -> tuple[str, str]:
    """What would order the two accesses, and where to put it: a barrier, but for None between blocks. ``alone`` says
    that the block is one warp.

    Lanes of one warp often race where not all threads come by, and a __syncthreads() would hang.
    """
    if barrier is None:
        return (
            "and blocks run in any order",
            "use an atomic, a second kernel, or __threadfence() and an atomic flag that the reader checks",
        )
    one_warp = barrier is Barrier.WARP
    luck = ": lanes of a warp may drift apart, it works by luck" if one_warp else ""
    remedy = f"put {barrier} {_between(race)}"
    if one_warp and not alone:
        remedy += f"; {Barrier.BLOCK} where other warps share the memory and all threads come by"
    return f"no {barrier} between them{luck}", remedy


def _between(race: Race) -> str:
    """The place between two accesses, by their lines."""
    first, second = race.earlier.access.instruction.line, race.later.access.instruction.line
    if first != second:
        return gap(first, second)
    if race.earlier.act in WRITES:
        return f"after line {first}, before it runs again"
    return f"within line {first}, between its reading and its writing"


def gap(first: int | None, second: int | None) -> str:
    """The place after the code of one line and before that of another, which may stand above it in a loop."""
    if first is None or second is None or first < second:
        return f"between line {first} and line {second}"
    return f"after line {first}, before line {second} runs again"


def spoken(thread: tuple[int, int, int], block: tuple[int, int, int]) -> str:
    """``thread 32`` of a block that is a row of threads, ``thread (1, 2)`` of one with columns."""
    return f"thread {short(thread, block)}"


def short(place: tuple[int, int, int], shape: tuple[int, int, int]) -> str:
    """A coordinate as people write it: with as many numbers as the block or the grid has dimensions."""
    dimensions = 3 if shape[2] > 1 else 2 if shape[1] > 1 else 1
    return str(place[0]) if dimensions == 1 else f"({', '.join(map(str, place[:dimensions]))})"

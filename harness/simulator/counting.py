"""One launch counted: enough of its blocks are run, and what each of them counted is weighed and added up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.errors import KernelFault, Unsupported
from harness.profiles import Chain, Footprint, InstructionCounters, Sampling, WarpAccess
from harness.simulator import merging, sampling
from harness.simulator.counters import BatchTally, Tally
from harness.simulator.machine import BATCH_LANES, Machine
from harness.simulator.sampling import Dim, Sample
from harness.simulator.summing import Parts, Sums

#: Lanes of a sample, where its blocks are small enough, and its fewest and most blocks.
SAMPLE_LANES = 4096
FEWEST, MOST = 12, 32

#: A launch is run whole where that takes no more lane instructions, or so many times more where blocks act on what
#: atomics answer: some of them might do what the counted ones didn't.
WHOLE_WORK, ANSWERED = 1 << 26, 4

#: Places where neighbours of a sample may count differently that are searched for the border, and blocks of code that
#: the search may run.
MOST_BORDERS, MOST_RUNS = 4, 20_000

#: Kinds of fault that a block runs into when it waits for another that isn't run.
_WAITING = ("runaway",)

#: Allocations in which blocks may leave word for each other: a run in vain must not show in them.
_FLAG_BYTES = 1 << 20


@dataclass(frozen=True)
class Call:
    """A launch to be counted: its kernel by mangled name and by the user's word (``name``), the rest as CUDA takes
    it."""

    kernel: str
    name: str
    grid: Dim
    block: Dim
    shared_bytes: int
    arguments: bytes

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.grid)

    @property
    def in_a_row(self) -> bool:
        """Whether the grid has one axis."""
        return max(self.grid) == self.blocks


@dataclass(frozen=True)
class Counted:
    """What counting came to: fields of :class:`harness.profiles.LaunchProfile`, which says what they mean."""

    sampling: Sampling
    instructions: tuple[InstructionCounters, ...]
    footprints: tuple[Footprint, ...]
    fetched: int
    chain: Chain
    same_address: int
    worst: tuple[WarpAccess, ...]


def count(machine: Machine, call: Call, cache_bytes: float, whole_work: int = WHOLE_WORK) -> Counted:
    """Run as many blocks of a launch as it takes to count it: all where that is at most ``whole_work``.
    ``cache_bytes`` is a block's share of the L1.

    Raises KernelFault for what ends a kernel on a GPU, and Unsupported for blocks that can't be run without all others.
    """
    counter = _Counter(machine, call, cache_bytes, whole_work)
    counter.sample()
    if not counter.whole and counter.affordable:
        counter.complete()
    elif not counter.whole and not counter.notes and call.in_a_row:
        counter.search_borders()
    sums, whole = counter.sums(), counter.whole
    numbers = () if whole else counter.chosen.numbers
    return Counted(
        Sampling(call.blocks, len(numbers) or call.blocks, numbers, () if whole else counter.notes + _doubts(sums)),
        tuple(sums.instructions()), tuple(sums.footprints()), sums.fetched(),
        sums.chain(counter.weights(counter.parts[0])), sums.same_address(), tuple(sums.worst()),
    )  # fmt: skip


class _Counter:
    """Runs blocks of one launch, some at a time."""

    def __init__(self, machine: Machine, call: Call, cache_bytes: float, whole_work: int) -> None:
        self.machine = machine
        self.whole_work = whole_work
        self.call = call
        self.cache_bytes = cache_bytes
        self.widths = merging.merged(machine.module.kernel(call.kernel))
        self.most = min(MOST, max(FEWEST, SAMPLE_LANES // math.prod(call.block)))
        self.chosen = sampling.of(())
        self.parts: list[BatchTally] = []
        self.rest: list[BatchTally] = []
        self.notes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every block was run."""
        return len(self.chosen.numbers) == self.call.blocks or bool(self.rest)

    @property
    def affordable(self) -> bool:
        """Whether all blocks can be run."""
        sums = self.sums()
        return sums.work <= self.whole_work * (ANSWERED if sums.answers() else 1)

    def sums(self) -> Sums:
        """What was counted so far, weighed."""
        parts: Parts = [(part, self.weights(part)) for part in self.parts]
        if self.rest:
            parts = [(part, np.ones(1 if part.together else part.blocks)) for part in self.parts + self.rest]
        return Sums(self.machine.module.kernel(self.call.kernel), parts, self.call.blocks)

    def weights(self, part: BatchTally) -> np.ndarray:
        """Of the grid's blocks, how many each of a part of the sample stands for."""
        weighs = self.chosen.weighs()
        return np.array([weighs[int(number)] for number in part.numbers])

    def sample(self) -> None:
        """Blocks spread over the grid. Where these wait for others: the first ones, or all if they fit a batch."""
        restore = self.machine.memory.keep_small(_FLAG_BYTES)
        waiting: KernelFault | None = None
        for sample in self._attempts():
            try:
                self.parts, self.chosen = self._run(sample.numbers, sample.inner), sample
            except KernelFault as fault:
                if fault.hazard.kind not in _WAITING or (waiting is None and len(sample.numbers) == self.call.blocks):
                    raise
                waiting = fault
                restore()
                continue
            if waiting is not None:
                blocks = f"the first {len(sample.numbers)} were counted"
                self.notes = (f"Blocks wait for those before them (line {waiting.hazard.line}): {blocks}.",)
            return
        assert waiting is not None  # one attempt was made at least
        raise Unsupported(
            f"{self.call.name} can't be counted: its {self.call.blocks:,} blocks wait for each other",
            line=waiting.hazard.line,
            remedy="profile it at a smaller size, or split it in two kernels where the blocks wait",
        ) from waiting  # fmt: skip

    def _attempts(self) -> Iterator[Sample]:
        yield sampling.spread(self.call.grid, self.most)
        yield sampling.first(self.call.grid, self.most)
        if self.call.blocks * math.prod(self.call.block) <= BATCH_LANES:
            yield sampling.of(tuple(range(self.call.blocks)))

    def complete(self) -> None:
        """Run the blocks that were left out."""
        chosen = set(self.chosen.numbers)
        others = tuple(number for number in range(self.call.blocks) if number not in chosen)
        self.rest = self._run(others, (), together=True)

    def search_borders(self) -> None:
        """Where two neighbours of the sample counted differently, find the block from which on they do."""
        marks = self._marks(self.parts)
        borders, spent = MOST_BORDERS, 0
        while spent < MOST_RUNS:
            middles = tuple(
                (one + other) // 2 for one, other in pairwise(sorted(marks))
                if other - one > 1 and marks[one] != marks[other]
            )  # fmt: skip
            if not middles or len(middles) > borders:
                break
            found, borders = self._run(middles, ()), 2 * MOST_BORDERS  # what lies between may be of a third kind
            spent += sum(len(part.trace) for part in found)
            self.parts += found
            marks |= self._marks(found)
        self.chosen = sampling.in_a_row(self.call.grid, tuple(sorted(marks)), self.chosen.inner)

    @staticmethod
    def _marks(parts: list[BatchTally]) -> dict[int, bytes]:
        """By block, all that it counted, so that blocks can be told apart."""
        return {int(number): part.mark(column) for part in parts for column, number in enumerate(part.numbers)}

    def _run(self, numbers: tuple[int, ...], inner: tuple[int, ...], together: bool = False) -> list[BatchTally]:
        tally, call = Tally(self.cache_bytes, self.widths, inner, together), self.call
        self.machine.launch(
            call.kernel, call.grid, call.block, call.shared_bytes, call.arguments, call.name, blocks=numbers,
            tally=tally,
        )  # fmt: skip
        return tally.parts


def _doubts(sums: Sums) -> tuple[str, ...]:
    """What a sample can't show: ways that a block takes by the answer of an atomic that other blocks count in, too."""
    notes = []
    for instruction, requests in sums.answers():
        if requests > sums.warps_per_block:
            notes.append(
                f"Blocks take their work from an atomic (line {instruction.line}): those counted took more than "
                "their part, so the figures are too high."
            )
        else:
            notes.append(
                f"What a block does may depend on an atomic (line {instruction.line}): work that is left to the last "
                "block was not counted."
            )
    return tuple(dict.fromkeys(notes))

"""Launching a kernel: the grid cut into batches of whole blocks, run one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.results import Hazard
from harness.simulator.counters import Watcher
from harness.simulator.heap import keep_freed_memory
from harness.simulator.kernel import Kernel, Module
from harness.simulator.memory import Backing, Memory
from harness.simulator.publication import GridOrder
from harness.simulator.races import GlobalRaces
from harness.simulator.simt import Batch
from harness.simulator.slicing import lean

#: Lanes of a batch, unless one block has more: enough to hide Python's cost, few enough for the caches.
BATCH_LANES = 1 << 16


#: Bytes of local and shared memory of a batch, where one block does not need more.
BATCH_BYTES = 128 << 20

#: printf lines of one launch that are kept; a GPU's buffer is bounded too.
MOST_LINES = 1000


@dataclass(frozen=True)
class Budget:
    """What a launch may use before it counts as running away: seconds, by ``clock``."""

    seconds: float = 120.0
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class LaunchReport:
    """What a launch that ran to its end has to tell."""

    hazards: tuple[Hazard, ...]


@dataclass
class Launch:
    """One launch while it runs: its shape, argument bytes, and what was found so far. ``in_turn`` lets few blocks that
    hand over results run one after the other."""

    kernel: Kernel
    name: str
    memory: Memory
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: Backing
    printer: Callable[[str], None]
    budget: Budget
    watching: bool = True
    chosen: Sequence[int] | None = None
    tally: Watcher | None = None
    line: int | None = None
    in_turn: bool = False
    found: dict[tuple[str, int | None, int | None], Hazard] = field(default_factory=dict)
    started: float = 0.0
    step: int = 0
    lines: int = 0
    changes: int = 0
    order: GridOrder = field(init=False)
    races: GlobalRaces = field(init=False)

    def __post_init__(self) -> None:
        self.watching = self.watching and self.threads * self.blocks > 1  # one thread alone races with nobody
        self.order = GridOrder(self.blocks, -(-self.threads // 32) * 32)
        self.races = GlobalRaces(self.order)

    @property
    def threads(self) -> int:
        """Threads per block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    def run(self) -> LaunchReport:
        """Run every block, or the ``chosen`` ones. Raises KernelFault for what ends a kernel on a GPU, and for a
        launch that never ends."""
        self.started = self.budget.clock()
        padded = -(-self.threads // 32) * 32
        block_bytes = padded * self.kernel.layout.frame + self.shared_bytes
        per_batch = max(1, min(BATCH_LANES // padded, BATCH_BYTES // max(block_bytes, 1)))
        with np.errstate(all="ignore"):
            numbers = range(self.blocks) if self.chosen is None else self.chosen
            for first in range(0, len(numbers), per_batch):
                Batch(self, numbers[first : first + per_batch]).run()
        return LaunchReport(tuple(self.found.values()))

    def add(self, hazard: Hazard) -> None:
        """Keep a finding, counted with those of the same kind, severity and lines."""
        key = (f"{hazard.severity} {hazard.kind}", hazard.line, hazard.other_line)
        known = self.found.get(key)
        self.found[key] = hazard if known is None else known.met_again(hazard)

    def lines_left(self) -> int:
        """How many more lines of a kernel's printf are worth formatting."""
        return MOST_LINES - self.lines

    def overdue(self) -> bool:
        """Whether the launch has used up its time."""
        return self.budget.clock() - self.started > self.budget.seconds


class Machine:
    """A module loaded over a memory, ready to launch. ``printer`` takes each line a kernel prints. While ``in_turn`` is
    set, few blocks that hand over results run one after the other, not side by side."""

    def __init__(
        self, module: Module, memory: Memory, *,
        printer: Callable[[str], None] = print, budget: Budget | None = None, watch_races: bool = True,
    ) -> None:  # fmt: skip
        keep_freed_memory()
        self.module = module
        self.memory = memory
        self.printer = printer
        self.budget = budget or Budget()
        self.watch_races = watch_races
        self.in_turn = False
        module.load(memory)

    def launch(
        self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int,
        arguments: bytes, name: str | None = None, *, blocks: Sequence[int] | None = None, tally: Watcher | None = None,
        line: int | None = None,
    ) -> LaunchReport:  # fmt: skip
        """Launch a kernel by its mangled name and wait for it. ``shared_bytes`` is the dynamic part; ``arguments``
        are packed as the kernel's parameters lie; ``name`` is what messages call it, ``line`` the one that launches
        it. Only the ``blocks`` of these numbers run (None: all, as they must to be watched for races); ``tally``
        counts, and then nothing is computed that decides no address and no branch. Raises KernelFault and
        Unsupported."""
        decoded = self.module.kernel(kernel) if tally is None else lean(self.module.kernel(kernel))
        size = decoded.layout.parameter_bytes
        if len(arguments) < size:
            raise ValueError(f"{kernel} takes {size} bytes of arguments, not {len(arguments)}")
        packed = Backing(size, data=np.frombuffer(arguments[:size], np.uint8), written=True)
        launch = Launch(
            decoded, name or kernel, self.memory, grid, block, decoded.dynamic_start + shared_bytes, packed,
            self.printer, self.budget, self.watch_races and blocks is None, blocks, tally, line,
            self.in_turn,
        )  # fmt: skip
        return launch.run()

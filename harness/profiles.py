"""What profiling a kernel found, as frozen records. A leaf: imports nothing of the project but :mod:`harness.counts`.

Figures are those of a whole launch: where only some of its blocks were counted (:class:`Sampling`), they were scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.counts import NO_TRAFFIC, NOTHING, SECTOR, TRAFFICS, WARP, Counters, Traffic, refuse_negative, total

__all__ = [
    "DRAM_ATOM", "NO_CHAIN", "NO_TRAFFIC", "SECTOR", "TRAFFICS", "WARP", "Chain", "Counters", "Footprint",
    "InstructionCounters", "LaunchEstimate", "LaunchProfile", "LineCounters", "Occupancy", "Prediction", "Profile",
    "Sampling", "Traffic", "Transfer", "WarpAccess", "total",
]  # fmt: skip

#: Bytes that DRAM moves at least: an H200 fetched 64 bytes for each lone sector.
DRAM_ATOM = 64


@dataclass(frozen=True)
class InstructionCounters:
    """One PTX instruction of the kernel, in program order. ``mnemonic`` is it without operands (``fma.rn.f32``),
    ``line`` the user's line (of the call, for library code), None where the compiler gave none."""

    mnemonic: str
    line: int | None
    counters: Counters


@dataclass(frozen=True)
class LineCounters:
    """One line of the user's file."""

    line: int
    counters: Counters


@dataclass(frozen=True)
class WarpAccess:
    """One warp's access as an example, for a picture: the worst that its instruction made.

    ``space`` is ``global``, ``shared`` or ``local``; ``verb`` is ``load``, ``store`` or ``atomic``; ``width`` is bytes
    a lane. ``addresses`` has one byte offset for each of the 32 lanes, None for an inactive one: into the array
    ``name`` (global), or the block's shared memory. ``units`` and ``ideal`` are as in :class:`Traffic`.
    """

    line: int | None
    space: str
    verb: str
    name: str
    width: int
    addresses: tuple[int | None, ...]
    units: int
    ideal: int

    def __post_init__(self) -> None:
        if len(self.addresses) != WARP or all(address is None for address in self.addresses):
            raise ValueError(f"an access has {WARP} lanes, one of them active at least")


@dataclass(frozen=True)
class Footprint:
    """What a launch touches of one array in global memory, ``nbytes`` long.

    ``read`` and ``written`` are the bytes of the distinct pieces of :data:`DRAM_ATOM` bytes that the launch touches:
    what DRAM moves under a perfect L2. ``read_by_blocks`` and ``written_by_blocks`` add up the bytes of the distinct
    sectors of each block: what the L2 moves when each block has a perfect cache of its own.
    """

    name: str
    nbytes: int
    read: int
    written: int
    read_by_blocks: int
    written_by_blocks: int

    def __post_init__(self) -> None:
        refuse_negative(self, ("nbytes", "read", "written", "read_by_blocks", "written_by_blocks"))


@dataclass(frozen=True)
class Chain:
    """One warp of a launch, on average: ``steps`` that it waits for one after the other, by kind, and the issue
    ``slots`` that it takes, by unit (:mod:`harness.simulator.chains`, :mod:`harness.simulator.costs`)."""

    steps: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    slots: Mapping[str, float] = field(default_factory=lambda: NOTHING)


NO_CHAIN = Chain()


@dataclass(frozen=True)
class Sampling:
    """Which blocks of a launch were counted: ``counted`` of ``blocks``; their numbers, where not all.

    ``notes`` say in full sentences what a sample can't show of this kernel, and where not all launches were counted.
    """

    blocks: int
    counted: int
    numbers: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.counted <= self.blocks:
            raise ValueError(f"{self.counted} of {self.blocks} blocks can't be counted")
        if self.numbers and len(self.numbers) != self.counted:
            raise ValueError(f"{self.counted} blocks were counted, not {len(self.numbers)}")

    @property
    def whole(self) -> bool:
        """Whether every block was counted, so that the figures are exact."""
        return self.counted == self.blocks


@dataclass(frozen=True)
class LaunchProfile:
    """One launch counted. ``kernel`` is its short name, ``line`` that of the launch in the user's file.

    ``registers`` (a thread), ``spills`` (bytes a thread: its frame in local memory) and ``static_shared`` (bytes a
    block) are the compiler's for the GPU's architecture; ``dynamic_shared`` is the launch's own.
    ``times`` is how many launches of ``solve`` it stands for: those equal to it, and where ``sampling`` notes that not
    all were counted, those near it that differ in their arguments; all figures are of one. ``fetched`` is how many of
    the loaded sectors a block's share of the L1 could not hold, so that they came from the L2. ``same_address`` is how
    many lane operations of atomics meet on the busiest address of global memory.
    ``worst`` has one access for each memory instruction, the most wasteful first.
    """

    kernel: str
    line: int | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    spills: int
    static_shared: int
    dynamic_shared: int
    sampling: Sampling
    instructions: tuple[InstructionCounters, ...]
    footprints: tuple[Footprint, ...] = ()
    fetched: int = 0
    chain: Chain = NO_CHAIN
    same_address: int = 0
    worst: tuple[WarpAccess, ...] = ()
    times: int = 1

    def __post_init__(self) -> None:
        refuse_negative(self, ("registers", "spills", "static_shared", "dynamic_shared"))
        if self.sampling.blocks != self.blocks:
            raise ValueError(f"{self.kernel}: the sample is of {self.sampling.blocks} blocks, not {self.blocks}")

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.threads // WARP)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block, static and dynamic."""
        return self.static_shared + self.dynamic_shared

    @cached_property
    def counters(self) -> Counters:
        """Of the whole launch."""
        return total(one.counters for one in self.instructions)

    @cached_property
    def lines(self) -> tuple[LineCounters, ...]:
        """By the user's line, ascending; instructions without a line are left out."""
        by_line: dict[int, list[Counters]] = {}
        for one in self.instructions:
            if one.line is not None:
                by_line.setdefault(one.line, []).append(one.counters)
        return tuple(LineCounters(line, total(found)) for line, found in sorted(by_line.items()))

    @property
    def dram_read(self) -> int:
        """Bytes in distinct sectors read, over all arrays."""
        return sum(one.read for one in self.footprints)

    @property
    def dram_written(self) -> int:
        """Bytes in distinct sectors written, over all arrays."""
        return sum(one.written for one in self.footprints)


@dataclass(frozen=True)
class Occupancy:
    """How many blocks a multiprocessor holds at once, and what stops it holding more.

    ``limits`` has the blocks that each resource would allow (``registers``, ``shared memory``, ``warps``, ``blocks``),
    ``limit`` names the one that counts. ``waves`` is how often the GPU is filled, ``tail`` the part of the last
    wave that is filled, 1 for a full one.
    """

    blocks_per_sm: int
    warps_per_sm: int
    limit: str
    limits: Mapping[str, int]
    waves: float
    tail: float

    def __post_init__(self) -> None:
        if self.limit not in self.limits or self.limits[self.limit] != self.blocks_per_sm:
            raise ValueError(f"{self.limit} does not limit an SM to {self.blocks_per_sm} blocks: {dict(self.limits)}")


@dataclass(frozen=True)
class Prediction:
    """About how long something takes, in seconds: within ``low`` and ``high`` most of the time.

    ``limiter`` says in words what it waits for; ``terms`` has the seconds that each resource alone would take.
    """

    seconds: float
    low: float
    high: float
    limiter: str
    terms: Mapping[str, float]

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.seconds <= self.high:
            raise ValueError("a prediction lies in its band, and takes some time")


@dataclass(frozen=True)
class LaunchEstimate:
    """One launch: counted, placed on a GPU's multiprocessors, and its time predicted."""

    launch: LaunchProfile
    occupancy: Occupancy
    prediction: Prediction


@dataclass(frozen=True)
class Transfer:
    """What ``solve`` does on the device beside launching: ``memset``, ``copy`` (device to device) or ``upload``."""

    kind: str
    nbytes: int
    line: int | None


@dataclass(frozen=True)
class Profile:
    """One call of ``solve`` at one size on one GPU. ``case`` labels the size (``n = 33554432``); ``prediction`` is of
    the whole call."""

    kata: str
    file: str
    gpu: str
    case: str
    launches: tuple[LaunchEstimate, ...]
    transfers: tuple[Transfer, ...]
    prediction: Prediction

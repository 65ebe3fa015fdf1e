"""The GPUs whose time can be predicted: datasheet figures and measured constants, read from ``gpus.toml``."""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import tomllib
from dataclasses import dataclass, field, fields
from typing import Any

from harness.errors import UsageError

#: What ``--gpu`` means where nothing is said.
DEFAULT = "a100"

#: Lanes of a warp; warp instructions that an SM can start in a clock, one for each of its four parts.
WARP, SCHEDULERS = 32, 4


@dataclass(frozen=True)
class Physics:
    """Constants that no datasheet gives: ``gpus.toml`` says what each is, its unit and how it was found."""

    launch: float
    relaunch: float
    alu: float
    special: float
    shared: float
    l1: float
    l2: float
    dram: float
    barrier: float
    branch: float
    block_start: float
    prologue: float
    dram_achieved: float
    dirty: float
    line_sectors: float
    request: float
    loaded: float
    together: float
    block_interval: float
    atomic: float
    atomic_float: float

    def __post_init__(self) -> None:
        for one in fields(self):
            if not getattr(self, one.name) > 0:
                raise ValueError(f"physics.{one.name} is more than 0")
        if self.dram_achieved > 1 or self.dirty > 1:
            raise ValueError("physics.dram_achieved and physics.dirty are parts of a whole")


@dataclass(frozen=True)
class Gpu:
    """One GPU. ``clock`` is in Hz, bandwidths in bytes a second; ``*_lanes`` are lanes of an instruction that one SM
    starts in a clock; ``shared_reserve`` is what the system keeps of each block's shared memory, ``l1_bytes`` the
    L1 with the shared memory in it, ``carveouts`` the bytes that shared memory can be set to.
    """

    name: str
    title: str
    capability: str
    sms: int
    clock: float
    memory_bytes: int
    dram_bandwidth: float
    l2_bytes: int
    l2_bandwidth: float
    source: str = field(repr=False)
    warps_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int
    carveouts: tuple[int, ...]
    shared_per_sm: int
    shared_per_block: int
    shared_reserve: int
    shared_unit: int
    l1_bytes: int
    fp32_lanes: int
    integer_lanes: int
    special_lanes: int
    fp64_lanes: int
    physics: Physics

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, int | float) and value <= 0 and one.name != "shared_reserve":
                raise ValueError(f"{self.name}: {one.name} is more than 0")
        if self.shared_per_block + self.shared_reserve > self.shared_per_sm or self.shared_per_sm > self.l1_bytes:
            raise ValueError(f"{self.name}: a block's shared memory lies in the SM's, and that in the L1")
        if max(self.carveouts) != self.shared_per_sm:
            raise ValueError(f"{self.name}: all of the shared memory is the largest carveout")
        if self.l2_bandwidth < self.dram_bandwidth:
            raise ValueError(f"{self.name}: its L2 is faster than its DRAM")

    @property
    def arch(self) -> str:
        """What to compile for: ``sm_80``."""
        return f"sm_{self.capability.replace('.', '')}"

    @property
    def fp32(self) -> float:
        """Peak of float arithmetic in FLOP/s; a fused multiply-add counts two."""
        return 2 * self.fp32_lanes * self.sms * self.clock

    @property
    def fp64(self) -> float:
        """Peak of double arithmetic in FLOP/s."""
        return 2 * self.fp64_lanes * self.sms * self.clock


@functools.cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(importlib.resources.files("harness.simulator").joinpath("gpus.toml").read_text("utf-8"))


def names() -> tuple[str, ...]:
    """What ``--gpu`` takes."""
    return tuple(_tables()["gpu"])


@functools.cache
def load_gpu(name: str) -> Gpu:
    """The GPU called ``name``. UsageError names the known ones."""
    tables = _tables()
    row = tables["gpu"].get(name.lower())
    if row is None:
        close = difflib.get_close_matches(name.lower(), names(), n=1, cutoff=0.5)
        meant = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"there is no GPU {name!r} here", remedy=f"{meant}known are {', '.join(names())}")
    row = dict(row)
    built = dict(tables["architecture"][row["capability"]])
    carveouts = tuple(size << 10 for size in built.pop("carveouts"))
    return Gpu(
        name=name.lower(), clock=row.pop("clock") * 1e6, memory_bytes=row.pop("memory") * 10**9,
        dram_bandwidth=row.pop("dram_bandwidth") * 1e9, l2_bytes=row.pop("l2") << 20,
        l2_bandwidth=row.pop("l2_bandwidth") * 1e9, physics=Physics(**tables["physics"]), carveouts=carveouts,
        **row, **built,
    )  # fmt: skip

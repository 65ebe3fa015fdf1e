"""Launch profiles made by hand, for what is computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.profiles import (
    Chain,
    Counters,
    Footprint,
    InstructionCounters,
    LaunchProfile,
    Sampling,
    Traffic,
)


def traffic(requests: int = 0, *, sectors: int = 4, lines: int = 1, lanes: int = 32, width: int = 4) -> Traffic:
    """So many requests to global memory, each of so many sectors and lines."""
    nbytes = requests * lanes * width
    return Traffic(requests, requests * lanes, nbytes, requests * sectors, min(nbytes // 32, requests * sectors),
                   requests * lines)  # fmt: skip


def wavefronts(requests: int, ways: int) -> Traffic:
    """So many requests to shared memory, each with lanes that meet in one bank so many times."""
    return Traffic(requests, 32 * requests, 128 * requests, ways * requests, requests)


def launch(
    *, blocks: int = 10_000, threads: int = 256, registers: int = 32, shared: int = 0, counters: Counters | None = None,
    steps: Mapping[str, float] | None = None, slots: Mapping[str, float] | None = None, read: int = 0, written: int = 0,
    fetched: int | None = None, name: str = "input", **others: Any,
) -> LaunchProfile:  # fmt: skip
    """One launch: what isn't said is nothing. All counts are of one instruction, on line 7."""
    footprints = (Footprint(name, 1 << 30, read, written, read, written),) if read or written else ()
    return LaunchProfile(
        "kernel", 3, (blocks, 1, 1), (threads, 1, 1), registers, 0, shared, 0, Sampling(blocks, blocks),
        (InstructionCounters(others.pop("mnemonic", "ld.global.f32"), 7, counters or Counters()),), footprints,
        read // 32 if fetched is None else fetched, Chain(steps or {}, slots or {}), **others,
    )  # fmt: skip

"""What the process that owns the GPU and the one that grades say to each other. All of it can be pickled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.launch_rules import LaunchLimits

#: Replies start with one of these words. After NOTE (the launch that begins) more follows; each other ends a request.
NOTE, DONE, FAULT, TROUBLE = "note", "done", "fault", "trouble"


@dataclass(frozen=True)
class Facts:
    """The GPU that was opened. ``flush_bytes`` is what a race writes to flush its L2 cache."""

    name: str
    arch: str
    multiprocessors: int
    flush_bytes: int
    limits: LaunchLimits


@dataclass(frozen=True)
class Source:
    """A program to load: the user's own ``text`` for nvcc, and NVRTC's ``cubin`` of it for where there is no nvcc, or
    where nvcc's lacks one of ``kernels`` (mangled names)."""

    name: str
    text: str
    cubin: bytes
    kernels: tuple[str, ...]


@dataclass(frozen=True)
class Loaded:
    """What a :class:`Source` became: how to ask for it, and what a person should know (nvcc refused it)."""

    handle: int
    remark: str | None = None


@dataclass(frozen=True)
class Content:
    """What a buffer of ``nbytes``, ``size`` an element, holds on entry: ``data`` as bytes, None for the poison."""

    name: str
    nbytes: int
    size: int
    data: np.ndarray | None


@dataclass(frozen=True)
class RedZone:
    """A red zone that changed: of buffer ``name``, the index of the nearest changed element (negative: before its
    start), and how many elements changed."""

    name: str
    element: int
    changed: int


@dataclass(frozen=True)
class Outcome:
    """What calls of ``solve`` left: for each finished call the bytes of every buffer, None for one that still holds
    what it did on entry (large inputs stay where they are); changed red zones; the text
    that each call printed, the last of them perhaps one that did not finish.

    ``fault`` is CUDA's own text for what ended it, during or after the launch named (with its line) in ``launch``.
    """

    calls: tuple[tuple[np.ndarray | None, ...], ...]
    red_zones: tuple[RedZone, ...]
    printed: tuple[str, ...] = ()
    fault: str | None = None
    launch: tuple[str, int | None] | None = None


@dataclass(frozen=True)
class CopyProbe:
    """A copy inside the GPU's memory that moves ``nbytes`` altogether: half of them read, half written."""

    nbytes: int

    @property
    def copied(self) -> int:
        """Bytes copied, a multiple of 8 KB: what is left over seems to take a kernel of its own (3 us on an H200)."""
        return -(-self.nbytes // (1 << 14)) << 13


@dataclass(frozen=True)
class ArithmeticProbe:
    """Nothing but float32 multiply-adds: ``blocks`` of ``threads`` a multiprocessor, each ``rounds`` of ``fmas``."""

    threads: int = 256
    blocks: int = 8
    fmas: int = 128
    rounds: int = 256

    def flops(self, multiprocessors: int) -> int:
        """Floating-point operations of one run."""
        return 2 * self.fmas * self.rounds * self.threads * self.blocks * multiprocessors

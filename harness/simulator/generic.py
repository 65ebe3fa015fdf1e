"""Generic addresses: shared, local and parameter memory as windows in one space with global memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.simulator.active import Lanes
from harness.simulator.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from harness.simulator.operands import Registers, reader, writer
from harness.simulator.ptx import Instruction

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Step

_WINDOWS = {"global": 0, "const": 0, "shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}


def convert(instruction: Instruction, kernel: Kernel) -> Step:
    """``cvta{.to}.space``: generic addresses of shared and local memory are windows high above global memory."""
    target, source = instruction.operands
    window = np.uint64(_WINDOWS[next(word for word in instruction.modifiers if word in _WINDOWS)])
    write, read = writer(target, "u64", kernel), reader(source, "u64", kernel)
    leaving = instruction.has("to")

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        value = read(registers)
        if window:
            value = value - window if leaving else value + window
        if write is not None:
            write(registers, lanes, value)

    return step


def is_space(instruction: Instruction, kernel: Kernel) -> Step:
    """``isspacep.space p, a``: which window a generic address lies in."""
    target, source = instruction.operands
    write, read = writer(target, "pred", kernel), reader(source, "u64", kernel)
    start = _WINDOWS[next(word for word in instruction.modifiers if word in _WINDOWS)]

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        value = read(registers)
        inside = (
            (value >= np.uint64(start)) & (value < np.uint64(start + WINDOW_BYTES)) if start else value < SHARED_WINDOW
        )
        if write is not None:
            write(registers, lanes, inside)

    return step


def split(address: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray | None]]:
    """A generic address is a window's or a global one: (space, address in the space, selection or None for all)."""
    if int(address.max()) < SHARED_WINDOW:
        return [("global", address, None)]
    result: list[tuple[str, np.ndarray, np.ndarray | None]] = []
    for space, start in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW)):
        inside = (address >= np.uint64(start)) & (address < np.uint64(start + WINDOW_BYTES))
        if inside.all():
            return [(space, address - np.uint64(start), None)]
        if inside.any():
            result.append((space, address[inside] - np.uint64(start), np.flatnonzero(inside)))
    elsewhere = address < np.uint64(SHARED_WINDOW)
    if elsewhere.any():
        result.append(("global", address[elsewhere], np.flatnonzero(elsewhere)))
    return result

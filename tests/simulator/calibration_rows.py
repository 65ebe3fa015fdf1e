"""The launches that were measured on an H200, run in the simulator: ``calibration/h200.json`` says what was counted
there.

The buffers hold a short random tile over and over: no row's counts depend on the values.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from harness.compile import Compiled, compile_program
from harness.mangling import plain_name
from harness.profiles import LaunchProfile
from harness.simulator import Allocation, Machine, Memory, Module
from harness.simulator.counting import Call, count

FOLDER = Path(__file__).parent / "calibration"
FILE = FOLDER / "kernels.cu"
ARCH = "sm_90"
BUFFER_BYTES = 67_108_864 * 4

#: Dynamic shared bytes are in the rows; templates that only a launch would instantiate are not.
_INSTANCES = "\ntemplate __global__ void sm_warp_reg<8>(const float*, float*, int, int);\n"

#: An L1 share that no test depends on.
CACHE_BYTES = 64 << 10


@dataclass(frozen=True, eq=False)
class Row:
    """One measured launch; ``measured`` has every figure of it by the file's own names."""

    name: str
    measured: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name


@cache
def rows() -> tuple[Row, ...]:
    """All of them, in the file's order."""
    table = json.loads((FOLDER / "h200.json").read_text("utf-8"))
    return tuple(Row(launch["name"], launch) for launch in table["launches"])


@cache
def compiled(arch: str = ARCH) -> Compiled:
    """The kernels, compiled for an architecture."""
    text = FILE.read_text("utf-8") + _INSTANCES
    return compile_program(SimpleNamespace(path=FILE, rewritten=text), arch=arch)  # type: ignore[arg-type]


@cache
def _module(arch: str) -> Module:
    return Module.parse(compiled(arch).ptx, FILE.name)


@cache
def _device() -> tuple[Memory, dict[str, Allocation]]:
    """The three buffers, one device for all rows."""
    memory = Memory()
    buffers = {name: memory.allocate(name, BUFFER_BYTES, written=True) for name in "ABC"}
    for read in "AB":
        buffers[read].backing.fill(np.random.default_rng(1).random(1 << 16, dtype=np.float32))
    return memory, buffers


def counted(row: Row, cache_bytes: float = CACHE_BYTES, arch: str = ARCH) -> LaunchProfile:
    """A row's launch, counted."""
    module = _module(arch)
    launch = row.measured
    entry = next(one for one in module.entries if plain_name(one) == launch["kernel"].partition("<")[0])
    memory, buffers = _device()
    packed = bytearray(module.kernel(entry).layout.parameter_bytes)
    for parameter, argument in zip(module.kernel(entry).parameters, launch["args"], strict=True):
        value = buffers[argument].address if argument in buffers else argument
        struct.pack_into("<Q" if parameter.size == 8 else "<i", packed, parameter.offset, value)
    resources = compiled(arch).resources[entry]
    dynamic = launch["shared_dynamic_bytes"]
    call = Call(entry, launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]), dynamic, bytes(packed))
    result = count(Machine(module, memory, watch_races=False), call, cache_bytes)
    return LaunchProfile(
        launch["kernel"], None, call.grid, call.block, resources.registers, resources.frame_bytes,
        resources.shared_bytes, dynamic, **vars(result),
    )  # fmt: skip

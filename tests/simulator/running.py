"""From CUDA C++ or PTX text to what one launch of it leaves behind, by the simulator's own front door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from cuda.bindings import nvrtc

from harness.compile import ARCH, include_folders
from harness.errors import KernelFault
from harness.results import Hazard, Severity
from harness.simulator import Allocation, Budget, Machine, Memory, Module
from harness.simulator.counting import WHOLE_WORK, Call, Counted, count
from harness.simulator.kernel import Kernel

FILE = "kernel.cu"

#: Ahead of every kernel. It stands on no line of its own, so that lines are those of the text given.
PRELUDE = '#define KERNEL extern "C" __global__ void'


@lru_cache(maxsize=128)
def compiled(source: str, *options: str) -> str:
    """The PTX of CUDA C++, compiled once in a test session. ``KERNEL name(...)`` declares a kernel called ``name``."""
    text = f"{PRELUDE}\n#line 1\n{source}"
    (status, program) = nvrtc.nvrtcCreateProgram(text.encode(), FILE.encode(), 0, [], [])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    flags = [f"--gpu-architecture={ARCH}", "-std=c++17", "-lineinfo", "-default-device", *options]
    flags += [f"-I{folder}" for folder in include_folders()]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        pytest.fail(_output(program, "ProgramLog"))
    ptx = _output(program, "PTX")
    nvrtc.nvrtcDestroyProgram(program)
    return ptx


def _output(program: Any, what: str) -> str:
    _, size = getattr(nvrtc, f"nvrtcGet{what}Size")(program)
    # NVRTC writes into these bytes, so they must be ours alone: Python keeps one object for all bytes of length 1.
    buffer = b" " * max(size, 2)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer[:size].rstrip(b"\0").decode()


@lru_cache(maxsize=128)
def module(text: str, *options: str) -> Module:
    """CUDA C++ or PTX text, loaded."""
    return Module.parse(text if text.lstrip().startswith(".version") else compiled(text, *options), FILE)


def assembly(body: str, parameters: str = ".param .u64 out", extra: str = "") -> str:
    """PTX text of the kernel ``main`` around a body, whose n-th line is line n of the user's file. Registers %r, %rd,
    %f and %p are declared: 40 of each. ``extra`` is text outside the kernel."""
    lines = "\n".join(f".loc 1 {number} 0\n{line}" for number, line in enumerate(body.strip("\n").split("\n"), start=1))
    return f"""\
.version 8.0
.target sm_80
.address_size 64
.file 1 "{FILE}"
{extra}
.visible .entry main({parameters})
{{
.reg .b32 %r<40>;
.reg .b64 %rd<40>;
.reg .f32 %f<40>;
.reg .pred %p<40>;
{lines}
}}
"""


def line_of(source: str, mark: str) -> int:
    """The number of the line that ends with the comment ``// mark``."""
    found = [number for number, text in enumerate(source.split("\n"), start=1) if text.endswith(f"// {mark}")]
    assert len(found) == 1, f"{mark} marks lines {found}"
    return found[0]


@dataclass(frozen=True)
class Unset:
    """An array argument that nothing has written."""

    dtype: str
    count: int
    kind: str = "buffer"


@dataclass
class Ran:
    """What a launch left: arrays by argument name, findings, and what it printed."""

    arrays: dict[str, np.ndarray]
    hazards: tuple[Hazard, ...] = ()
    printed: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def of(self, severity: Severity) -> list[Hazard]:
        """The findings that weigh this much."""
        return [hazard for hazard in self.hazards if hazard.severity is severity]


Shape = int | Sequence[int]


class Bench:
    """A module over a memory of its own, for several launches. Arrays keep their names and addresses between them."""

    def __init__(self, text: str, *options: str, budget: Budget | None = None, watch_races: bool = True) -> None:
        self.memory = Memory()
        self.module = module(text, *options)
        self.printed: list[str] = []
        self.machine = Machine(
            self.module, self.memory, printer=self.printed.append, budget=budget,
            watch_races=watch_races,
        )  # fmt: skip
        self.allocations: dict[str, tuple[Allocation, np.dtype]] = {}

    def place(self, name: str, value: np.ndarray | Unset) -> Allocation:
        """An array in the device's memory: the one there is of this name, or a new one."""
        if name not in self.allocations:
            dtype = np.dtype(value.dtype)
            if isinstance(value, Unset):
                made = self.memory.allocate(name, value.count * dtype.itemsize, kind=value.kind)
            else:
                made = self.memory.allocate(name, value.nbytes, data=np.ascontiguousarray(value))
            self.allocations[name] = made, dtype
        return self.allocations[name][0]

    def array(self, name: str) -> np.ndarray:
        """What an array holds now."""
        allocation, dtype = self.allocations[name]
        return allocation.data.copy().view(dtype)

    def launch(self, kernel: str = "", *, grid: Shape = 1, block: Shape = 32, shared: int = 0, **arguments: Any) -> Ran:
        """Launch a kernel (the only one, unless named) with arguments by name, in order."""
        name = kernel or next(iter(self.module.entries))
        packed = self._packed(self.module.kernel(name), list(arguments.items()))
        before = len(self.printed)
        report = self.machine.launch(name, _three(grid), _three(block), shared, packed)
        arrays = {one: self.array(one) for one in arguments if one in self.allocations}
        return Ran(arrays, report.hazards, self.printed[before:])

    def count(
        self, kernel: str = "", *, grid: Shape = 1, block: Shape = 32, shared: int = 0, cache_bytes: int = 1 << 16,
        whole_work: int = WHOLE_WORK, **arguments: Any,
    ) -> Counted:  # fmt: skip
        """Count a launch instead, on as many blocks as that takes."""
        name = kernel or next(iter(self.module.entries))
        packed = self._packed(self.module.kernel(name), list(arguments.items()))
        call = Call(name, name, _three(grid), _three(block), shared, packed)
        return count(self.machine, call, cache_bytes, whole_work)

    def _packed(self, kernel: Kernel, arguments: list[tuple[str, Any]]) -> bytes:
        assert len(arguments) == len(kernel.parameters), f"{kernel.name} takes {len(kernel.parameters)} arguments"
        buffer = bytearray(kernel.layout.parameter_bytes)
        for parameter, (name, value) in zip(kernel.parameters, arguments, strict=True):
            raw = self._raw(name, value, parameter.size)
            assert len(raw) == parameter.size, f"{name} takes {parameter.size} bytes, not {len(raw)}"
            buffer[parameter.offset : parameter.offset + parameter.size] = raw
        return bytes(buffer)

    def _raw(self, name: str, value: Any, size: int) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, float):
            return np.array(value, f"f{size}").tobytes()
        if isinstance(value, np.ndarray | Unset):
            value = self.place(name, value).address
        elif isinstance(value, Allocation):
            value = value.address
        return int(value).to_bytes(size, "little", signed=value < 0)


def _three(shape: Shape) -> tuple[int, int, int]:
    x, y, z = (*((shape,) if isinstance(shape, int) else shape), 1, 1)[:3]
    return x, y, z


def run(text: str, kernel: str = "", *, options: tuple[str, ...] = (), **launch: Any) -> Ran:
    """One launch of CUDA C++ or PTX text in a fresh memory: see :meth:`Bench.launch`."""
    budget, watch = launch.pop("budget", None), launch.pop("watch_races", True)
    return Bench(text, *options, budget=budget, watch_races=watch).launch(kernel, **launch)


def fault(text: str, kernel: str = "", **launch: Any) -> Hazard:
    """What ended a launch that must not run to its end."""
    return fault_of(lambda: run(text, kernel, **launch))


def fault_of(action: Callable[[], object]) -> Hazard:
    """What the KernelFault says that ``action`` must raise."""
    with pytest.raises(KernelFault) as raised:
        action()
    assert raised.value.hazard.severity is Severity.ERROR
    return raised.value.hazard


def silent(text: str, kernel: str = "", **launch: Any) -> Ran:
    """One launch about which nothing is found."""
    result = run(text, kernel, **launch)
    assert result.hazards == (), [hazard.message for hazard in result.hazards]
    return result

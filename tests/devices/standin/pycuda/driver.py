"""What the worker calls of ``pycuda.driver``."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from harness.cache import Cache, default_folder
from harness.compile import _unpack
from harness.errors import KernelFault
from harness.simulator import Budget, Machine, Memory, Module

MEMORY = Memory()
SIZE = int(os.environ.get("STANDIN_MEMORY", 1 << 30))

ctx_flags = SimpleNamespace(SCHED_AUTO=0, MAP_HOST=8)
host_alloc_flags = SimpleNamespace(DEVICEMAP=2)
function_attribute = SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES=8)
device_attribute = SimpleNamespace(
    MAX_SHARED_MEMORY_PER_BLOCK=49152, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=166912, MAX_REGISTERS_PER_BLOCK=65536,
    MULTIPROCESSOR_COUNT=108, L2_CACHE_SIZE=1024,
)  # fmt: skip


class Error(Exception):
    """As PyCUDA's own."""


class LogicError(Error):
    """A name that a module lacks, a bad argument."""


class LaunchError(Error):
    """A kernel faulted."""


class MemoryError(Error):  # noqa: A001  its name in PyCUDA
    """Too little memory."""


class CompileError(Error):
    """nvcc refused."""

    stderr = ""


def init() -> None:
    """Nothing to start."""


class Device:
    def __init__(self, index: int) -> None:
        if index > 0:
            raise LogicError("cuDeviceGet failed: invalid device ordinal")

    def make_context(self, flags: int) -> type[Context]:
        return Context

    def name(self) -> str:
        return "stand-in GPU"

    def compute_capability(self) -> tuple[int, int]:
        return 8, 0

    def total_memory(self) -> int:
        return SIZE

    def get_attribute(self, value: int) -> int:
        return value


class Context:
    @staticmethod
    def get_device() -> Device:
        return Device(0)

    @staticmethod
    def synchronize() -> None:
        pass

    @staticmethod
    def pop() -> None:
        pass


def mem_get_info() -> tuple[int, int]:
    return SIZE, SIZE


class Allocation:
    def __init__(self, nbytes: int) -> None:
        self.address = MEMORY.allocate("memory", nbytes, data=bytes(nbytes), kind="scratch").address

    def __int__(self) -> int:
        return self.address

    def free(self) -> None:
        MEMORY.free(self.address)


def mem_alloc(nbytes: int) -> Allocation:
    if nbytes > SIZE:
        raise MemoryError("cuMemAlloc failed: out of memory")
    return Allocation(nbytes)


def _bytes(address: Any, nbytes: int) -> np.ndarray:
    found = MEMORY.find(int(address))
    assert found is not None and not found.freed and int(address) + nbytes <= found.address + found.nbytes
    return found.data[int(address) - found.address :][:nbytes]


def memset_d8(address: Any, value: int, count: int) -> None:
    _bytes(address, count)[:] = value


def memset_d16(address: Any, value: int, count: int) -> None:
    _bytes(address, 2 * count).view(np.uint16)[:] = value


def memset_d32_async(address: Any, value: int, count: int) -> None:
    _bytes(address, 4 * count).view(np.uint32)[:] = value


memset_d8_async = memset_d8


def memcpy_htod(address: Any, data: np.ndarray) -> None:
    _bytes(address, data.nbytes)[:] = data


def memcpy_dtoh(data: np.ndarray, address: Any) -> None:
    data[:] = _bytes(address, data.nbytes)


def memcpy_dtod_async(target: Any, source: Any, nbytes: int) -> None:
    _bytes(target, nbytes)[:] = _bytes(source, nbytes)


class _Pinned(np.ndarray):
    def get_device_pointer(self) -> int:
        return 0


def pagelocked_empty(shape: int, dtype: Any, mem_flags: int) -> np.ndarray:
    return np.zeros(shape, dtype).view(_Pinned)[:]


class Event:
    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def time_since(self, other: Event) -> float:
        return 1e3 * (self.at - other.at)


class Tool:
    """A kernel of the race's own: does nothing."""

    def prepare(self, types: list[str]) -> Tool:
        return self

    def prepared_async_call(self, *arguments: Any) -> None:
        pass


class Kernel:
    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name = machine, name

    def prepare(self, types: list[str]) -> Kernel:
        return self

    def set_attribute(self, attribute: int, value: int) -> None:
        pass

    def prepared_async_call(self, grid: Any, block: Any, stream: None, *packed: bytes, shared_size: int) -> None:
        try:
            self.machine.launch(self.name, grid, block, shared_size, b"".join(packed))
        except KernelFault as fault:
            if fault.hazard.kind == "runaway":
                time.sleep(3600)
            if fault.hazard.kind == "trap":
                os.kill(os.getpid(), signal.SIGKILL)  # as if somebody had ended the process
            if fault.hazard.kind == "uninitialised":
                return  # a GPU doesn't see that
            raise LaunchError(f"cuCtxSynchronize failed: {_WORDS.get(fault.hazard.kind, 'unknown error')}") from fault


_WORDS = {
    "out_of_bounds": "an illegal memory access was encountered", "misaligned": "misaligned address",
    "assert": "device-side assert triggered",
}  # fmt: skip


class ProgramModule:
    def __init__(self, ptx: str) -> None:
        self.module = Module.parse(ptx, "kernel.cu")
        for address in self.module.variables.values():  # the last module had its own there
            while address in MEMORY._starts:
                place = MEMORY._starts.index(address)
                del MEMORY._starts[place], MEMORY._allocations[place]
        budget = Budget(seconds=1.0)
        self.machine = Machine(self.module, MEMORY, printer=_print, budget=budget)

    def get_function(self, name: str) -> Kernel:
        return Kernel(self.machine, name)

    def get_global(self, name: str) -> tuple[int, int]:
        return self.module.variables[name], 0


class ToolModule:
    def get_function(self, name: str) -> Tool:
        return Tool()


def module_from_buffer(image: bytes) -> ProgramModule | ToolModule:
    """The simulator needs the PTX that was compiled together with this cubin."""
    if image.startswith(b".version"):
        return ToolModule()
    cache = Cache(default_folder())
    for path in cache.folder.glob("*.kata"):
        kept = cache.get(path.stem)
        if isinstance(kept, dict) and _unpack(kept).cubin == image:
            return ProgramModule(kept["ptx"])
    raise LogicError("cuModuleLoadDataEx failed: device kernel image is invalid")


def _print(line: str) -> None:
    os.write(1, line.encode())

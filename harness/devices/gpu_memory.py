"""Buffers on the GPU, each between two red zones, and a module's calls over them. Only in the worker's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pycuda.driver as cuda

from harness.devices import POISON
from harness.devices.gpu_messages import RedZone
from harness.steps import Copy, Free, Launch, LaunchPlan, Malloc, Memset, Relocation, SetAttribute, Step, Upload

#: Bytes on each side of a buffer, a multiple of every alignment, and what each holds: a large float, so that a value
#: read from there shows in a sum or a maximum.
ZONE, PATTERN = 1 << 16, 0x7E

#: Bytes of an element of scratch, whose type nobody says: a float's.
SCRATCH_SIZE = 4


class Guarded:
    """``nbytes`` of GPU memory between two red zones of a fixed pattern."""

    zone = ZONE

    def __init__(self, name: str, nbytes: int, size: int) -> None:
        self.name, self.nbytes, self.size = name, nbytes, size
        self.allocation = cuda.mem_alloc(max(nbytes + 2 * self.zone, 1))
        self.address = int(self.allocation) + self.zone
        if self.zone:
            cuda.memset_d8(self.address - self.zone, PATTERN, self.zone)
            cuda.memset_d8(self.address + nbytes, PATTERN, self.zone)

    def fill(self, data: np.ndarray | None) -> None:
        """Make it hold these bytes, the poison for None."""
        if data is not None:
            cuda.memcpy_htod(self.address, data)
        elif self.nbytes:
            cuda.memset_d16(self.address, POISON, self.nbytes // 2)

    def read(self) -> np.ndarray:
        """Its bytes."""
        return _download(self.address, self.nbytes)

    def changed_zones(self) -> list[RedZone]:
        """What was written outside it, set back to the pattern."""
        found = []
        for start in (-self.zone, self.nbytes):
            changed = np.flatnonzero(_download(self.address + start, self.zone) != PATTERN)
            if changed.size:
                elements = np.unique((start + changed) // self.size)
                nearest = elements[-1] if start < 0 else elements[0]
                found.append(RedZone(self.name, int(nearest), elements.size))
                cuda.memset_d8(self.address + start, PATTERN, self.zone)
        return found

    def free(self) -> None:
        """Give it back."""
        self.allocation.free()


class Bare(Guarded):
    """The memory alone, and unwritten where nothing fills it: a tool watches both."""

    zone = 0

    def fill(self, data: np.ndarray | None) -> None:
        """Make it hold these bytes; for None, leave it as it is."""
        if data is not None:
            super().fill(data)


def _download(address: int, nbytes: int) -> np.ndarray:
    data = np.empty(nbytes, np.uint8)
    if nbytes:
        cuda.memcpy_dtoh(data, address)
    return data


class Bound:
    """A plan bound to a loaded module: its kernels found, its own addresses translated, its scratch ``kept`` so."""

    def __init__(self, module: Any, plan: LaunchPlan, kept: type[Guarded]) -> None:
        self.module, self.plan, self.kept = module, plan, kept
        calls = (plan, plan.later)
        self.functions = {step.kernel: module.get_function(step.kernel) for one in calls for step in one.launches}
        self.symbols = {name: int(module.get_global(name)[0]) for one in calls for name in _symbols(one)}
        self.scratch: dict[int, Guarded] = {}

    @property
    def later(self) -> Bound:
        """What a call after the first does, over the scratch that the first has left."""
        if self.plan.again is None:
            return self
        later = Bound(self.module, self.plan.again, self.kept)
        later.scratch = self.scratch
        return later

    def find(self, relocation: Relocation) -> int:
        """Where on this GPU an address of the plan's own is."""
        if relocation.scratch is not None:
            return self.scratch[relocation.scratch].address + relocation.offset
        return self.symbols[relocation.symbol or ""] + relocation.offset

    def address(self, planned: int) -> int:
        """The real address for one in a step."""
        relocation = self.plan.locate(planned)
        return planned if relocation is None else self.find(relocation)

    def allocate(self, step: Malloc) -> None:
        """Scratch, unwritten. What was never freed is taken again: who asks for it is the same."""
        if step.address not in self.scratch:
            self.scratch[step.address] = self.kept("scratch", step.nbytes, SCRATCH_SIZE)
        self.scratch[step.address].fill(None)

    def launcher(self, step: Launch) -> Callable[[], object]:
        """What starts a kernel; nothing waits for it."""
        arguments = step.relocated(self.find)
        function = self.functions[step.kernel]
        packed = (arguments,) if arguments else ()

        def start() -> None:
            function.prepare([f"{len(arguments)}s"] if arguments else [])
            function.prepared_async_call(step.grid, step.block, None, *packed, shared_size=step.shared_bytes)

        return start

    def allow(self, step: SetAttribute) -> None:
        """More than 48 KB of dynamic shared memory for a kernel."""
        attribute = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        function = self.functions.get(step.kernel)
        if function is not None:
            function.set_attribute(attribute, step.shared_bytes)

    def queue(self, step: Launch | Memset | Copy) -> None:
        """Start a step that runs on the GPU alone."""
        match step:
            case Launch():
                self.launcher(step)()
            case Memset():
                cuda.memset_d8_async(self.address(step.address), step.value, step.nbytes)
            case Copy():
                cuda.memcpy_dtod_async(self.address(step.target), self.address(step.source), step.nbytes)

    def do(self, step: Step) -> list[RedZone]:
        """One step of an ordinary call; the red zones of scratch that it frees."""
        match step:
            case Malloc():
                self.allocate(step)
            case Free():
                return self._release(step.address)
            case Upload():
                cuda.memcpy_htod(self.address(step.address), np.frombuffer(step.data, np.uint8))
            case SetAttribute():
                self.allow(step)
            case _:
                self.queue(step)
        return []

    def release(self) -> list[RedZone]:
        """Free the scratch that is left; what was written outside it."""
        return [zone for address in list(self.scratch) for zone in self._release(address)]

    def _release(self, address: int) -> list[RedZone]:
        scratch = self.scratch.pop(address)
        zones = scratch.changed_zones()
        scratch.free()
        return zones


def _symbols(plan: LaunchPlan) -> set[str]:
    """The module variables that a plan's steps name."""
    found = [relocation for step in plan.launches for relocation in step.relocations]
    for step in plan.steps:
        match step:
            case Copy():
                found += filter(None, (plan.locate(step.target), plan.locate(step.source)))
            case Memset() | Upload():
                found += filter(None, (plan.locate(step.address),))
    return {relocation.symbol for relocation in found if relocation.symbol is not None}

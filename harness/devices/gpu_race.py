"""Timing on the GPU: one entrant at a time, queued behind a kernel that waits, so that Python adds no gaps.

A sample is: the waiting kernel; every buffer set back; the L2 cache flushed; an event; the entrant's launches; another
event. Once all of it is queued the waiting kernel is let go, so that the time between the events is the GPU's alone.
Scratch is allocated before (cudaMalloc waits for the GPU), and what ``solve`` copies from the host is there already.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pycuda.driver as cuda

from harness.devices import POISON
from harness.devices.gpu_memory import Bound, Guarded
from harness.devices.gpu_messages import ArithmeticProbe, Content, CopyProbe, RedZone
from harness.steps import Copy, Free, Launch, LaunchPlan, Malloc, Memset, SetAttribute, Upload

#: A program's handle and the plan of its ``solve``, or a probe.
Entrant = tuple[int, LaunchPlan] | CopyProbe | ArithmeticProbe

#: The flush writes so many times the L2 cache.
FLUSH = 4

#: Seconds for which the GPU is kept busy before a run that counts alone.
STIR = 0.1

#: How many multiply-adds of a thread don't wait for one another.
CHAINS = 16

_HEAD = ".version 6.4\n.target sm_75\n.address_size 64\n"

#: Spins until the ticket at ``gate`` (host memory) is up, or for a second: then something went wrong on the host.
_WAIT = """
.visible .entry wait_for_ticket(.param .u64 gate, .param .u32 ticket) {
    .reg .pred %up, %early;
    .reg .b32 %seen, %wanted;
    .reg .b64 %at, %start, %now;
    ld.param.u64 %at, [gate];
    ld.param.u32 %wanted, [ticket];
    mov.u64 %start, %globaltimer;
again:
    ld.volatile.global.u32 %seen, [%at];
    setp.ge.u32 %up, %seen, %wanted;
    @%up bra done;
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %early, %now, 1000000000;
    @%early bra again;
done:
    ret;
}
"""


def _arithmetic(count: int) -> str:
    """Rounds of multiply-adds in independent chains; the store keeps the compiler from leaving them out."""
    chains = [f"%f{chain}" for chain in range(CHAINS)]
    fmas = "\n".join(f"    fma.rn.f32 {chains[i % CHAINS]}, {chains[i % CHAINS]}, %m, %m;" for i in range(count))
    first = "\n".join(f"    add.f32 {chain}, %m, {number + 1}.0;" for number, chain in enumerate(chains))
    total = "\n".join(f"    add.f32 %m, %m, {chain};" for chain in chains)
    return f"""
.visible .entry multiply_add(.param .u64 out, .param .u32 rounds) {{
    .reg .pred %more, %never;
    .reg .b32 %left, %thread;
    .reg .b64 %at;
    .reg .f32 %m, {", ".join(chains)};
    ld.param.u64 %at, [out];
    ld.param.u32 %left, [rounds];
    mov.u32 %thread, %tid.x;
    cvt.rn.f32.u32 %m, %thread;
{first}
round:
{fmas}
    sub.u32 %left, %left, 1;
    setp.ne.u32 %more, %left, 0;
    @%more bra round;
{total}
    setp.eq.f32 %never, %m, 0f00000000;
    @%never st.global.f32 [%at], %m;
    ret;
}}
"""


class Race:
    """Entrants over the same buffers, each timed whenever it is asked for."""

    def __init__(
        self, buffers: list[Guarded], contents: tuple[Content, ...], entrants: list[Bound | CopyProbe | ArithmeticProbe]
    ) -> None:
        device = cuda.Context.get_device()
        self.multiprocessors = device.get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT)
        self.tools = cuda.module_from_buffer((_HEAD + _WAIT + _arithmetic(ArithmeticProbe.fmas)).encode() + b"\0")
        self.flush_bytes = FLUSH * device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE)
        self.flush = cuda.mem_alloc(self.flush_bytes)
        self.gate = cuda.pagelocked_empty((1,), np.uint32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
        self.gate[0] = 0
        self.ticket = 0
        self.wait = self.tools.get_function("wait_for_ticket").prepare(["P", "I"])
        self.events = (cuda.Event(), cuda.Event())
        self.buffers = buffers
        self.kept = [cuda.mem_alloc(max(content.nbytes, 1)) for content in contents]
        self.owned: list[Any] = [self.flush, *self.kept]
        self.replace(contents)
        self.scratch: list[Bound] = []
        self.first: dict[int, list[Callable[[], object]]] = {}  # of programs that do something else in later calls
        self.starts = [self._prepare(number, entrant) for number, entrant in enumerate(entrants)]

    def replace(self, contents: tuple[Content, ...]) -> None:
        """What the buffers are set back to from here on."""
        for kept, content in zip(self.kept, contents, strict=True):
            if content.data is not None:
                cuda.memcpy_htod(kept, content.data)
            elif content.nbytes:
                cuda.memset_d16(kept, POISON, content.nbytes // 2)

    def warm(self, number: int) -> None:
        """Run an entrant once with nothing ahead of it: at a first launch the driver loads code, and waits for that.
        A program whose first call is another one does that before."""
        for starts in filter(None, (self.first.get(number), self.starts[number])):
            self._restore()
            self._flush()
            for start in starts:
                start()
            cuda.Context.synchronize()

    def sample(self, number: int) -> float:
        """Seconds of one run of an entrant."""
        before, after = self.events
        self.ticket += 1
        self.wait.prepared_async_call((1, 1), (1, 1, 1), None, self.gate.base.get_device_pointer(), self.ticket)
        self._restore()
        self._flush()
        before.record()
        for start in self.starts[number]:
            start()
        after.record()
        self.gate[0] = self.ticket
        after.synchronize()
        return float(after.time_since(before)) * 1e-3

    def changed_zones(self) -> list[RedZone]:
        """What was written outside a buffer, or outside the scratch of a program."""
        scratch = [one for bound in self.scratch for one in bound.scratch.values()]
        return [zone for buffer in (*self.buffers, *scratch) for zone in buffer.changed_zones()]

    def stir(self) -> None:
        """Keep the GPU busy for a moment: setting the buffers back, and flushing the L2 cache."""
        start = time.perf_counter()
        while time.perf_counter() - start < STIR:
            self._restore()
            self._flush()
            cuda.Context.synchronize()

    def _flush(self) -> None:
        cuda.memset_d32_async(self.flush, self.ticket, self.flush_bytes // 4)

    def _restore(self) -> None:
        for buffer, kept in zip(self.buffers, self.kept, strict=True):
            if buffer.nbytes:
                cuda.memcpy_dtod_async(buffer.address, kept, buffer.nbytes)

    def _prepare(self, number: int, entrant: Bound | CopyProbe | ArithmeticProbe) -> list[Callable[[], object]]:
        """What to call for one run: of a program, for one that isn't its first."""
        if isinstance(entrant, Bound):
            self.scratch.append(entrant)
            if entrant.plan.again is not None:
                self.first[number] = self._prepare_program(entrant)
            return self._prepare_program(entrant.later)
        if isinstance(entrant, CopyProbe):
            source, target = (self._own(entrant.copied) for _ in range(2))
            return [lambda: cuda.memcpy_dtod_async(target, source, entrant.copied)]
        out = self._own(4)
        function = self.tools.get_function("multiply_add").prepare(["P", "I"])
        grid, block = (entrant.blocks * self.multiprocessors, 1), (entrant.threads, 1, 1)
        return [lambda: function.prepared_async_call(grid, block, None, int(out), entrant.rounds)]

    def _prepare_program(self, bound: Bound) -> list[Callable[[], object]]:
        starts: list[Callable[[], object]] = []
        for step in bound.plan.steps:
            match step:
                case Malloc():
                    bound.allocate(step)
                case SetAttribute():
                    bound.allow(step)
                case Launch():
                    starts.append(bound.launcher(step))
                case Memset() | Copy():
                    starts.append(partial(bound.queue, step))
                case Upload():
                    starts.append(self._uploader(bound, step))
                case Free():
                    pass  # freed when the race is over
        return starts

    def _uploader(self, bound: Bound, step: Upload) -> Callable[[], object]:
        staged = self._own(len(step.data))
        cuda.memcpy_htod(staged, np.frombuffer(step.data, np.uint8))
        return lambda: cuda.memcpy_dtod_async(bound.address(step.address), staged, len(step.data))

    def _own(self, nbytes: int) -> Any:
        self.owned.append(cuda.mem_alloc(max(nbytes, 1)))
        return self.owned[-1]

    def close(self) -> None:
        """Give its memory back."""
        for bound in self.scratch:
            bound.release()
        for allocation in self.owned:
            allocation.free()

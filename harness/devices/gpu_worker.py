"""The process that owns the GPU: ``python -m harness.devices.gpu_worker DESCRIPTOR``, started by gpu_link.

It serves requests from a pipe until the pipe closes, its parent goes away, or CUDA reports a fault: after one, no call
of the process can be trusted, so it says what happened and ends. Kernels print to its standard output, which it reads.
"""

from __future__ import annotations

import hashlib
import os
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pycuda.driver as cuda

from harness.cache import Cache, default_folder
from harness.cubin import read_resources
from harness.devices import CALLS
from harness.devices.gpu_link import CLOSING_SECONDS
from harness.devices.gpu_memory import Bare, Bound, Guarded
from harness.devices.gpu_messages import DONE, FAULT, NOTE, TROUBLE, Content, Facts, Loaded, Outcome, RedZone, Source
from harness.devices.gpu_pipe import send
from harness.devices.gpu_probe import find_nvcc
from harness.devices.gpu_race import FLUSH, Entrant, Race
from harness.launch_rules import LaunchLimits
from harness.steps import Launch, LaunchPlan

#: The options of DESIGN's recipe; the user's file is C++ and still holds ``solve`` and its launches.
OPTIONS = ["-std=c++17", "-lineinfo"]


class Worker:
    """What can be asked for, method by method; the context is the process's only one."""

    def __init__(self, pipe: Connection, printed: _Printed) -> None:
        self.pipe, self.printed = pipe, printed
        self.context: Any = None
        self.arch = ""
        self.programs: list[list[bytes]] = []
        self.contents: tuple[Content, ...] = ()
        self.kept: type[Guarded] = Guarded
        self.buffers: list[Guarded] = []
        self.race: Race | None = None

    def open(self, index: int, watched: bool) -> Facts:
        """Take the GPU of this number. Where a tool watches it, buffers are what ``cudaMalloc`` gives, and no more."""
        self.kept = Bare if watched else Guarded
        cuda.init()
        device = cuda.Device(index)
        self.context = device.make_context(cuda.ctx_flags.SCHED_AUTO | cuda.ctx_flags.MAP_HOST)
        major, minor = device.compute_capability()
        self.arch = f"sm_{major}{minor}"
        ask = cuda.device_attribute
        flush = FLUSH * device.get_attribute(ask.L2_CACHE_SIZE)
        return Facts(device.name(), self.arch, device.get_attribute(ask.MULTIPROCESSOR_COUNT), flush, LaunchLimits(
            device.name(), shared_bytes=device.get_attribute(ask.MAX_SHARED_MEMORY_PER_BLOCK),
            opt_in_shared_bytes=device.get_attribute(ask.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            registers=device.get_attribute(ask.MAX_REGISTERS_PER_BLOCK), memory_bytes=device.total_memory(),
        ))  # fmt: skip

    def free(self) -> int:
        """Bytes of its memory that nobody has."""
        free, _ = cuda.mem_get_info()
        return int(free)

    def load(self, sources: tuple[Source, ...]) -> tuple[Loaded, ...]:
        """Compile each with nvcc, side by side, where there is one."""
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
            built = list(threads.map(self._build, sources))
        loaded = []
        for source, (cubin, remark) in zip(sources, built, strict=True):
            loaded.append(Loaded(len(self.programs), remark))
            self.programs.append([source.cubin] if cubin is None else [cubin, source.cubin])
        return tuple(loaded)

    def _build(self, source: Source) -> tuple[bytes | None, str | None]:
        """nvcc's cubin, None where NVRTC's must do; and why, where nvcc refused."""
        nvcc = find_nvcc()
        if nvcc is None:
            return None, None
        text = f'#line 1 "{source.name}"\n{source.text}'
        made_of = (text, nvcc, Path(nvcc).resolve().stat().st_mtime, OPTIONS, self.arch)
        key = "nvcc-" + hashlib.sha256(repr(made_of).encode()).hexdigest()
        cache = Cache(default_folder())
        kept = cache.get(key)
        try:
            cubin = b64decode(kept) if kept else _compile(text, nvcc, self.arch)
        except cuda.CompileError as error:
            return None, str(error.stderr or error)
        if not kept:
            cache.put(key, b64encode(cubin).decode())
        # nvcc may name a static kernel in its own way, and the plan has NVRTC's names.
        return (cubin if set(source.kernels) <= set(read_resources(cubin)) else None), None

    def place(self, contents: tuple[Content, ...]) -> tuple[int, ...]:
        """Allocate a buffer for each, in place of those before; their addresses."""
        self._clear()
        self.contents = contents
        self.buffers = [self.kept(content.name, content.nbytes, content.size) for content in contents]
        return tuple(buffer.address for buffer in self.buffers)

    def run(self, handle: int, plan: LaunchPlan) -> Outcome:
        """Call ``solve`` twice over restored buffers, waiting for each launch."""
        bound = self._bind(handle, plan)
        calls: list[tuple[np.ndarray | None, ...]] = []
        zones: list[RedZone] = []
        printed: list[str] = []
        launch: tuple[str, int | None] | None = None
        try:
            for number in range(CALLS):
                bound = bound.later if number else bound
                for buffer, content in zip(self.buffers, self.contents, strict=True):
                    buffer.fill(content.data)
                for step in bound.plan.steps:
                    if isinstance(step, Launch):
                        launch = step.name, step.line
                        self.pipe.send((NOTE, launch))
                    zones += bound.do(step)
                    self.context.synchronize()
                if bound.plan.again is None:
                    zones += bound.release()
                calls.append(self._left(self.contents))
                zones += [zone for buffer in self.buffers for zone in buffer.changed_zones()]
                printed.append(self.printed.take())
        except cuda.Error as error:
            printed.append(self.printed.take())
            return Outcome(tuple(calls), tuple(zones), tuple(printed), str(error), launch)
        return Outcome(tuple(calls), tuple(zones), tuple(printed))

    def _bind(self, handle: int, plan: LaunchPlan) -> Bound:
        """The program's module, fresh, bound to a plan: nvcc's build, NVRTC's where that one lacks a variable."""
        *first, last = self.programs[handle]
        for cubin in first:
            try:
                return Bound(cuda.module_from_buffer(cubin), plan, self.kept)
            except cuda.LogicError:
                continue
        return Bound(cuda.module_from_buffer(last), plan, self.kept)

    def line_up(self, entrants: tuple[Entrant, ...]) -> None:
        """Make programs (a handle and a plan) and probes ready to be timed over the buffers placed last."""
        bound = [self._bind(*one) if isinstance(one, tuple) else one for one in entrants]
        self.race = Race(self.buffers, self.contents, bound)
        for number, one in enumerate(entrants):
            if isinstance(one, tuple) and one[1].launches:
                self.pipe.send((NOTE, (one[1].launches[0].name, one[1].launches[0].line)))
            self.race.warm(number)

    def sample(self, order: tuple[int, ...]) -> tuple[float, ...]:
        """Seconds that each of these entrants took, one after the other."""
        assert self.race is not None
        return tuple(self.race.sample(number) for number in order)

    def fresh(self, number: int, contents: tuple[Content, ...]) -> tuple[float, Outcome]:
        """One timed call of an entrant over inputs it has never seen, and what it left.

        The GPU may have idled meanwhile and lowered its clocks, so it is kept busy first, with nothing of the entrant.
        """
        assert self.race is not None
        self.race.replace(contents)
        self.race.stir()
        seconds = self.race.sample(number)
        calls = (self._left(contents),)
        return seconds, Outcome(calls, tuple(self.race.changed_zones()), (self.printed.take(),))

    def _left(self, contents: tuple[Content, ...]) -> tuple[np.ndarray | None, ...]:
        """What the buffers hold, None where that is what they held on entry."""
        held = [buffer.read() for buffer in self.buffers]
        return tuple(
            None if content.data is not None and np.array_equal(data, content.data) else data
            for data, content in zip(held, contents, strict=True)
        )

    def _clear(self) -> None:
        if self.race:
            self.race.close()
        for buffer in self.buffers:
            buffer.free()
        self.race, self.buffers = None, []

    def close(self) -> None:
        """Give everything back."""
        if self.context is not None:
            self._clear()
            self.context.pop()  # PyCUDA aborts at exit over a context that is still current
            self.context = None


def _compile(text: str, nvcc: str, arch: str) -> bytes:
    """The user's own file through PyCUDA's compiler, as SourceModule does it, kept in our own cache instead."""
    from pycuda.compiler import compile as build

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's warnings: NVRTC has given them
        return bytes(build(text, nvcc=nvcc, options=OPTIONS, no_extern_c=True, arch=arch, cache_dir=False))


class _Printed:
    """Standard output and error of this process, kept in a file: the driver prints there for kernels."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  as long as the process
        for descriptor in (1, 2):
            os.dup2(self.file.fileno(), descriptor)

    def take(self) -> str:
        """What was printed since the last time."""
        self.file.seek(0)
        text = self.file.read().decode(errors="replace")
        self.file.seek(0)
        self.file.truncate()
        return text


def _leave_with(pipe: Connection) -> None:
    """End this process, whatever a kernel is doing, when nobody is at the other end of the pipe any more.

    The process that started this one may be a tool, and outlive the one that grades.
    """
    hung_up = select.poll()
    hung_up.register(pipe.fileno(), 0)  # the end alone, no matter what there is to read
    hung_up.poll()
    time.sleep(CLOSING_SECONDS)  # it closes by itself, unless a kernel keeps it
    os._exit(1)


def serve(pipe: Connection) -> NoReturn:
    """Answer requests (a method's name, its arguments) until there are no more."""
    worker = Worker(pipe, _Printed())
    kept: object = None
    while True:
        try:
            method, arguments = pipe.recv()
            del kept  # whoever asks again has had the answer
        except EOFError:
            try:
                worker.close()
            except cuda.Error:
                os._exit(1)  # a kernel faulted before: nothing can be given back one by one
            sys.exit(0)
        try:
            kept = send(pipe, (DONE, getattr(worker, method)(*arguments)))
        except cuda.Error as error:
            pipe.send((FAULT, (str(error), worker.printed.take())))
            os._exit(1)  # no clean-up: in a context that faulted, each call would fail again
        except Exception:  # noqa: BLE001  the parent raises it
            pipe.send((TROUBLE, traceback.format_exc()))
            os._exit(1)


def main() -> NoReturn:
    """Serve the pipe whose descriptor is the argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which closes the pipe
    pipe = Connection(int(sys.argv[1]))
    threading.Thread(target=_leave_with, args=(pipe,), daemon=True).start()
    serve(pipe)


if __name__ == "__main__":
    main()

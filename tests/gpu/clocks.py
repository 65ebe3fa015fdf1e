"""How long others say that a kernel takes: Triton's do_bench, PyTorch's events, CUPTI; and what PyTorch would run."""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import catalogue, references, source
from harness.compile import compile_program
from harness.devices import Buffer
from harness.devices.gpu import GpuDevice, GpuExecutable
from harness.grading.judge import Judge
from harness.references import Case

SEED = 20

#: Cycles for which a kernel waits while a run is queued: about a millisecond.
_QUEUE_CYCLES = 1_500_000


def torch_call(kata: str, sizes: dict[str, int]) -> Callable[[], object]:
    """What a user of PyTorch would call for the same work, output preallocated where it can be."""
    import torch

    def rand(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda", dtype=torch.float32)

    torch.backends.cuda.matmul.allow_tf32 = False
    n, rows, cols = sizes.get("n", 1), sizes.get("rows", 1), sizes.get("cols", 1)
    m, width, k = sizes.get("M", 1), sizes.get("N", 1), sizes.get("K", 1)
    if kata == "add":
        a, b, out = rand(n), rand(n), rand(n)
        return lambda: torch.add(a, b, out=out)
    if kata in ("sigmoid", "relu"):
        x, out = rand(n), rand(n)
        return (lambda: torch.sigmoid(x, out=out)) if kata == "sigmoid" else (lambda: torch.clamp_min(x, 0, out=out))
    if kata == "reduce_sum":
        x = rand(n)
        return lambda: torch.sum(x)
    if kata == "softmax":
        x, out = rand(n), rand(n)
        return lambda: torch.softmax(x, 0, out=out)
    if kata == "softmax_matrix":
        x, out = rand(rows, cols), rand(rows, cols)
        return lambda: torch.softmax(x, 1, out=out)
    if kata == "transpose":
        x, out = rand(rows, cols), rand(cols, rows)
        return lambda: out.copy_(x.T)
    if kata == "sgemv":
        a, x, y = rand(m, k), rand(k), rand(m)
        return lambda: torch.mv(a, x, out=y)
    a, b, c = rand(m, k), rand(k, width), rand(m, width)
    return lambda: torch.mm(a, b, out=c)


def do_bench_s(call: Callable[[], object]) -> float:
    """Triton's median, which flushes the L2 cache between runs, in seconds."""
    from triton.testing import do_bench

    return float(do_bench(call, warmup=50, rep=200, return_mode="median")) * 1e-3


def queued_s(call: Callable[[], object], runs: int = 200) -> float:
    """The median of PyTorch's own events in seconds, with all of a run queued behind a kernel that waits: the launch is
    not waited for, as in nvbench and in our race. The L2 cache is flushed between runs."""
    import torch

    flush = torch.empty(1 << 26, dtype=torch.float32, device="cuda")
    call()
    times = []
    for _ in range(runs):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(_QUEUE_CYCLES)
        flush.zero_()
        before.record()
        call()
        after.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(after) * 1e-3)
    return statistics.median(times)


def kernel_s(call: Callable[[], object], name: str) -> float:
    """The median of CUPTI's times of the kernel itself, as a profiler tells them, in seconds; L2 flushed as above."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    flush = torch.empty(1 << 26, dtype=torch.float32, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(60):
            flush.zero_()
            call()
        torch.cuda.synchronize()
    return statistics.median(event.device_time for event in profiled.events() if name in event.name) * 1e-6


def loaded(device: GpuDevice, kata: catalogue.Kata, rung: int) -> GpuExecutable:
    program = source.parse(kata.rungs[rung - 1].path, kata)
    return device.load(program, compile_program(program, arch=device.arch))


class Direct:
    """A rung launched from this process, in PyTorch's context, by the plan that our device would run."""

    def __init__(self, device: GpuDevice, kata: str, rung: int, sizes: dict[str, int]) -> None:
        import torch

        self.kata = catalogue.load(kata)
        self.executable = loaded(device, self.kata, rung)
        self.case = Case("speed", "random", tuple(sizes.items()))
        self.judge = Judge(self.kata, self.executable.program.parameter_names, references.load(kata))
        self.values = self.judge.inputs(np.random.default_rng(SEED), self.case)
        self.arguments = self.judge.arguments(self.values)
        buffers = [one.data for one in self.arguments if isinstance(one, Buffer)]
        self.tensors = [torch.from_numpy(data.copy()).cuda() for data in buffers]
        plan = self.executable.plan(self.arguments, [tensor.data_ptr() for tensor in self.tensors], [])
        (self.launch,) = plan.steps
        self.cuda = ctypes.CDLL("libcuda.so.1")
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.cuda.cuModuleLoadData(ctypes.byref(module), self.executable.compiled.cubin) == 0
        name = self.launch.kernel.encode()
        assert self.cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name) == 0
        self.packed = ctypes.create_string_buffer(self.launch.args, len(self.launch.args))
        self.size = ctypes.c_size_t(len(self.launch.args))
        self.extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(self.packed), 2, ctypes.addressof(self.size), 0)

    def __call__(self) -> None:
        launch = self.launch
        status = self.cuda.cuLaunchKernel(
            self.function, *launch.grid, *launch.block, launch.shared_bytes, None, None, self.extra
        )
        assert status == 0, status

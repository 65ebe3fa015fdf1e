"""What CUDA checks when a kernel is launched, and the error it returns.

Limits are those of "CUDA C++ Programming Guide", table "Technical Specifications per Compute Capability"; what
CUDA refuses was tried on an H200. For a bad shape the runtime documents cudaErrorInvalidConfiguration; the one tried
(CUDA 13.0) returns cudaErrorInvalidValue for that too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from harness.cubin import Resources
from harness.errors import KernelFault
from harness.results import Hazard, Severity

Dim = tuple[int, int, int]
_AXES = "xyz"


@dataclass(frozen=True)
class LaunchLimits:
    """One GPU's bounds on a launch. Shared memory in bytes a block: without, and with, the opt-in."""

    name: str
    threads: int = 1024
    block: Dim = (1024, 1024, 64)
    grid: Dim = (2**31 - 1, 65535, 65535)
    shared_bytes: int = 48 * 1024
    opt_in_shared_bytes: int = 163 * 1024
    registers: int = 65536
    memory_bytes: int = 40 * 2**30

    def __post_init__(self) -> None:
        if self.opt_in_shared_bytes < self.shared_bytes:
            raise ValueError(f"{self.name}: the opt-in adds shared memory")


SM_80 = LaunchLimits("sm_80")


def launch_fault(
    error: str, message: str, *, line: int | None, kernel: str | None = None, remedy: str | None = None,
    kind: str = "launch",
) -> NoReturn:  # fmt: skip
    """Raise the KernelFault of a CUDA call that returns ``error``."""
    raise KernelFault(Hazard(kind, Severity.ERROR, f"{message} ({error})", line=line, kernel=kernel, remedy=remedy))


def check_launch(
    kernel: str, grid: Dim, block: Dim, dynamic_bytes: int, line: int | None, resources: Resources, opt_in: int | None,
    limits: LaunchLimits,
) -> None:  # fmt: skip
    """Raise KernelFault where CUDA would refuse ``kernel<<<grid, block, dynamic_bytes>>>``.

    ``opt_in`` is what cudaFuncSetAttribute(MaxDynamicSharedMemorySize) last allowed the kernel, None if never called.
    """
    _check_shape(kernel, grid, block, line, limits)
    threads = block[0] * block[1] * block[2]
    if resources.max_threads and threads > resources.max_threads:
        launch_fault(
            "cudaErrorInvalidValue",
            f"{kernel} is launched with {threads} threads a block, its __launch_bounds__ allow {resources.max_threads}",
            line=line, kernel=kernel, remedy="raise the bound, or launch fewer threads a block",
        )  # fmt: skip
    _check_shared(kernel, dynamic_bytes, line, resources, opt_in, limits)
    each = -(-resources.registers // 8) * 8
    needed = each * -(-threads // 32) * 32
    if needed > limits.registers:
        launch_fault(
            "cudaErrorLaunchOutOfResources",
            f"{kernel} needs {each} registers a thread, so a block of {threads} needs {needed:,}; an {limits.name} "
            f"block can have {limits.registers:,}",
            line=line, kernel=kernel, remedy="launch fewer threads a block, or cap registers with __launch_bounds__",
        )  # fmt: skip


def _check_shape(kernel: str, grid: Dim, block: Dim, line: int | None, limits: LaunchLimits) -> None:
    written = f"{kernel}<<<{_dim(grid)}, {_dim(block)}>>>"
    invalid = "cudaErrorInvalidConfiguration"
    threads = block[0] * block[1] * block[2]
    blocks = grid[0] * grid[1] * grid[2]
    swapped = threads > limits.threads >= blocks > 0 and blocks % 32 == 0  # the grid would make a usual block
    swap = "; or are grid and block swapped? The order is <<<grid, block>>>" if swapped else ""
    for what, dim, most in (("grid", grid, limits.grid), ("block", block, limits.block)):
        for axis, value, bound in zip(_AXES, dim, most, strict=True):
            if value == 0:
                remedy = "launch at least one; a division that rounds up is (n + block - 1) / block"
                launch_fault(invalid, f"{written}: {what}.{axis} is 0", line=line, kernel=kernel, remedy=remedy)
            if value > bound and not (what == "block" and axis == "x"):
                negative = f" (a negative number, {value - 2**32}, taken as unsigned)" if value >= 2**31 else ""
                launch_fault(
                    invalid, f"{written}: {what}.{axis} is {value:,}{negative}, {bound:,} is the most",
                    line=line, kernel=kernel, remedy=f"keep {what}.{axis} within it{swap}",
                )  # fmt: skip
    if threads > limits.threads:
        launch_fault(
            invalid, f"{written}: {threads:,} threads a block, {limits.threads:,} is the most",
            line=line, kernel=kernel, remedy=f"use a smaller block and more of them{swap}",
        )  # fmt: skip


def _check_shared(
    kernel: str, dynamic_bytes: int, line: int | None, resources: Resources, opt_in: int | None, limits: LaunchLimits
) -> None:
    total = resources.shared_bytes + dynamic_bytes
    parts = f"{dynamic_bytes:,} bytes of dynamic shared memory"
    if resources.shared_bytes:
        parts += f" and {resources.shared_bytes:,} of static, {total:,} together"
    if total > limits.opt_in_shared_bytes:
        launch_fault(
            "cudaErrorInvalidValue",
            f"{kernel} asks for {parts}; {limits.name} has {limits.opt_in_shared_bytes:,} a block",
            line=line, kernel=kernel, remedy="use a smaller tile",
        )  # fmt: skip
    # What was allowed last counts, also where that is less than any kernel has without asking.
    if dynamic_bytes > (limits.shared_bytes - resources.shared_bytes if opt_in is None else opt_in):
        unasked = f"{limits.shared_bytes:,} is the most without opt-in"
        allowed = unasked if opt_in is None else f"cudaFuncSetAttribute allowed {opt_in:,}"
        launch_fault(
            "cudaErrorInvalidValue", f"{kernel} asks for {parts}; {allowed}", line=line, kernel=kernel,
            remedy="ask for it first: "
            f"cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, {dynamic_bytes})",
        )  # fmt: skip


def _dim(dim: Dim) -> str:
    if dim[1:] == (1, 1):
        return str(dim[0])
    return f"({', '.join(map(str, dim[: 2 if dim[2] == 1 else 3]))})"

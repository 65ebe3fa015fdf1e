"""NVIDIA's compute-sanitizer over a program: each of its tools watches a worker's process of its own, side by side.

A tool sees what the GPU itself did, which the simulator can't; and misses what the simulator sees, races in global
memory for one. Under it buffers have no red zones, and nothing fills those that ``solve`` has to write.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.devices import Argument
from harness.devices.gpu import GpuDevice
from harness.devices.gpu_findings import TOOLS, Finding, parse
from harness.devices.gpu_probe import find_sanitizer
from harness.errors import EnvironmentFault, KernelFault

if TYPE_CHECKING:
    from harness.compile import Compiled
    from harness.source import Program

# A launch that faulted ends, and those after it run: each has its say. The padding keeps an access past the end from
# landing in the next allocation.
_OPTIONS = {
    "memcheck": ("--destroy-on-device-error", "kernel", "--padding", "65536"),
    "racecheck": ("--racecheck-detect-level", "info", "--racecheck-num-workers", "2"),
    "initcheck": (),
    "synccheck": (),
}
_COMMON = ("--show-backtrace", "device", "--strip-paths", "no", "--max-connections", "100")

#: Errors that one process prints.
MOST_PRINTED = 5000

#: Kernels under a tool may take so many times as long as alone before they are taken to be endless.
_PATIENCE = 6.0


def watching(sanitizer: str, tool: str) -> tuple[str, ...]:
    """The command that puts ``tool`` around the program whose own command follows."""
    return (sanitizer, "--tool", tool, *_OPTIONS[tool], *_COMMON, "--print-limit", str(MOST_PRINTED))


def require_sanitizer() -> str:
    """Where compute-sanitizer is; EnvironmentFault where it is not."""
    found = find_sanitizer()
    if found is None:
        raise EnvironmentFault(
            "compute-sanitizer is not here", remedy="install NVIDIA's CUDA toolkit, or put its bin/ on the PATH"
        )
    return found


def sanitize(
    gpu_index: int, program: Program, compiled: Compiled, cases: Sequence[tuple[Argument, ...]]
) -> tuple[Finding, ...]:
    """What the four tools find while ``solve`` runs with each of these arguments. EnvironmentFault without them."""
    one = partial(_run, require_sanitizer(), gpu_index, program, compiled, cases)
    with ThreadPoolExecutor(len(TOOLS)) as threads:
        return tuple(finding for found in threads.map(one, TOOLS) for finding in found)


def _run(
    sanitizer: str, gpu_index: int, program: Program, compiled: Compiled, cases: Sequence[tuple[Argument, ...]],
    tool: str,
) -> Sequence[Finding]:  # fmt: skip
    """What one tool finds. A fault that the tool's process does not outlive ends it."""
    name = program.path.name
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        device = GpuDevice(gpu_index, (*watching(sanitizer, tool), "--log-file", str(log)), _PATIENCE)
        try:
            executable = device.load(program, compiled)
            for arguments in cases:
                if executable.run(arguments).fault is not None:
                    break
        except KernelFault:
            pass  # a launch that the plan refuses: the check tells it
        finally:
            device.close()
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return parse(text, tool, [name], MOST_PRINTED).findings.get(name, ())

"""One call of NVIDIA's runtime compiler (NVRTC): a :class:`Program` to PTX, cubin and what each kernel needs.

NVRTC comes as a wheel and needs neither a driver nor the CUDA toolkit.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.metadata
import importlib.resources
import importlib.util
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness import diagnostics
from harness.cache import Cache, default_folder
from harness.cubin import Resources, read_resources
from harness.errors import EnvironmentFault
from harness.source import Program

ARCH = "sm_80"

# Part of each cache key: raise it when what is kept, or how it is made, changes.
_FORMAT = 3
_DISTRIBUTIONS = (
    "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-cccl", "nvidia-cuda-crt",
)  # fmt: skip

#: Standard and CUDA headers whose content std.h, kata.h and NVRTC itself already bring.
_EMPTY_HEADERS = """
cuda.h cuda_runtime.h cuda_runtime_api.h device_launch_parameters.h device_functions.h driver_types.h vector_types.h
vector_functions.h helper_cuda.h sm_20_intrinsics.h math_functions.h
algorithm array cassert cctype cerrno cfloat chrono cinttypes climits cmath cstddef cstdint cstdio cstdlib cstring ctime
deque queue stack bitset complex condition_variable future iterator mutex optional ratio regex thread bits/stdc++.h
exception fstream functional iomanip iostream limits list map memory numeric ostream random set sstream stdexcept
string tuple unordered_map utility vector
assert.h errno.h float.h inttypes.h limits.h math.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h time.h
"""


@dataclass(frozen=True)
class Compiled:
    """What the compiler made: ``resources`` are by mangled kernel name; ``log`` holds its warnings."""

    ptx: str
    cubin: bytes
    resources: Mapping[str, Resources]
    log: str


def compile_program(program: Program, *, arch: str = ARCH, cache: Cache | None = None) -> Compiled:
    """Compile, or take the result from ``cache`` (None: the user's own).

    Raises CompileError with the user's file, line and column, and EnvironmentFault where NVRTC is missing.
    """
    cache = cache or Cache(default_folder())
    key = _key(program, arch)
    kept = cache.get(key)
    if kept is not None:
        return _unpack(kept)
    compiled = _compile(program, arch)
    cache.put(key, _pack(compiled))
    return compiled


@functools.cache
def _headers() -> dict[str, str]:
    """Headers given to NVRTC from memory, by name."""
    folder = importlib.resources.files("harness") / "headers"
    own = {file.name: file for file in folder.iterdir() if file.is_file()}
    own |= {f"cub/{file.name}": file for file in (folder / "cub").iterdir()}
    empty = dict.fromkeys(_EMPTY_HEADERS.split(), "#pragma once\n")
    return empty | {name: file.read_text("utf-8") for name, file in own.items()}


def _options(arch: str) -> list[str]:
    return [
        f"--gpu-architecture={arch}", "-std=c++17", "-lineinfo", "-default-device", "-ewp",
        "--pre-include=std.h", "--pre-include=kata.h", "-diag-suppress=177,550,1886",
    ]  # fmt: skip


@functools.cache
def _versions() -> tuple[str, ...]:
    versions = []
    for name in _DISTRIBUTIONS:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} missing")
    return tuple(versions)


def _key(program: Program, arch: str) -> str:
    made_of = (
        _FORMAT, program.path.name, program.rewritten, _options(arch), _versions(), sorted(_headers().items())
    )  # fmt: skip
    return hashlib.sha256(repr(made_of).encode()).hexdigest()


def _pack(compiled: Compiled) -> dict[str, Any]:
    resources = {name: asdict(one) for name, one in compiled.resources.items()}
    return {
        "ptx": compiled.ptx,
        "cubin": base64.b64encode(compiled.cubin).decode(),
        "resources": resources,
        "log": compiled.log,
    }


def _unpack(kept: dict[str, Any]) -> Compiled:
    resources = {name: Resources(**one) for name, one in kept["resources"].items()}
    return Compiled(kept["ptx"], base64.b64decode(kept["cubin"]), resources, kept["log"])


def include_folders() -> list[Path]:
    """Where the installed wheels keep CUDA's headers. EnvironmentFault where they aren't installed."""
    found = importlib.util.find_spec("nvidia")
    roots = [Path(place) for place in (found.submodule_search_locations or [])] if found else []
    for root in roots:
        for header in sorted(root.glob("*/include/cuda_fp16.h")):
            folder = header.parent
            return [place for place in (folder, folder / "cccl") if place.is_dir()]
    raise EnvironmentFault(
        "CUDA's headers are not installed", remedy="pip install nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt"
    )


def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:
        raise EnvironmentFault(
            "NVIDIA's runtime compiler (NVRTC) is not installed here", evidence=str(error),
            remedy="pip install cuda-bindings nvidia-cuda-nvrtc. NVIDIA publishes it for Linux and Windows only: on "
            "macOS run kata in a Linux container or virtual machine",
        ) from error  # fmt: skip
    return nvrtc


def _compile(program: Program, arch: str) -> Compiled:
    nvrtc = _nvrtc()
    headers = _headers()
    options = [*_options(arch), *(f"-I{folder}" for folder in include_folders())]
    handle = _checked(nvrtc, nvrtc.nvrtcCreateProgram(
        program.rewritten.encode(), program.path.name.encode(), len(headers),
        [text.encode() for text in headers.values()], [name.encode() for name in headers],
    ))  # fmt: skip
    try:
        (status,) = nvrtc.nvrtcCompileProgram(handle, len(options), [option.encode() for option in options])
        log = _output(nvrtc, handle, "ProgramLog").rstrip(b"\0 \n").decode(errors="replace")
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
            raise diagnostics.compile_error(log, program)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise EnvironmentFault(f"NVRTC can't compile for {arch}: {status.name}", evidence=log)
        cubin = _output(nvrtc, handle, "CUBIN")
        ptx = _output(nvrtc, handle, "PTX").rstrip(b"\0").decode()
    finally:
        nvrtc.nvrtcDestroyProgram(handle)
    return Compiled(ptx, cubin, read_resources(cubin), diagnostics.warnings(log, program))


def _checked(nvrtc: Any, result: tuple[Any, ...]) -> Any:
    status, *values = result
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise EnvironmentFault(f"NVRTC failed: {status.name}")
    return values[0] if values else None


def _output(nvrtc: Any, handle: Any, what: str) -> bytes:
    size = _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(handle))
    # NVRTC writes into these bytes, so they must be ours alone: Python keeps one object for all bytes of length 1.
    buffer = b" " * max(size, 2)
    _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(handle, buffer))
    return buffer[:size]

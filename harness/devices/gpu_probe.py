"""What this machine has for running on a GPU, asked without PyCUDA and without taking a GPU."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Exit codes of :data:`_ASK`, CUresult numbers of "CUDA Driver API", that have a remedy of their own.
_NO_DEVICE, _OLD_DRIVER = 100, 35

#: Asks the driver in a process of its own: what it prints is its version, then a line for each GPU.
_ASK = """
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
version, count, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
status = cuda.cuInit(0) or cuda.cuDriverGetVersion(ctypes.byref(version)) or cuda.cuDeviceGetCount(ctypes.byref(count))
if status:
    sys.exit(min(status, 255))
print(version.value)
for index in range(count.value):
    cuda.cuDeviceGetName(name, 256, index)
    print(name.value.decode())
"""


@dataclass(frozen=True)
class Part:
    """One thing that running on a GPU takes, and what to do where it isn't there."""

    name: str
    ok: bool
    detail: str
    remedy: str | None = None


def pycuda_installed() -> bool:
    """Whether PyCUDA is there, with nothing imported."""
    return importlib.util.find_spec("pycuda") is not None


def find_nvcc() -> str | None:
    """The CUDA toolkit's compiler."""
    return _find("nvcc")


def find_sanitizer() -> str | None:
    """The CUDA toolkit's compute-sanitizer."""
    return _find("compute-sanitizer")


def _find(program: str) -> str | None:
    """A program of the CUDA toolkit: on the PATH, else where the toolkit is usually installed."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [shutil.which(program), *(str(Path(home, "bin", program)) for home in homes if home)]
    return next((place for place in places if place and Path(place).is_file()), None)


def survey() -> Iterator[Part]:
    """The driver and its GPUs, the toolkit, PyCUDA, and compute-sanitizer: each builds on those before."""
    driver, version = _driver()
    yield driver
    yield _toolkit(version)
    yield _pycuda(driver.ok)
    yield _sanitizer()


def _driver() -> tuple[Part, int]:
    """The driver with the GPUs it sees, and the newest CUDA it supports (13000 is 13.0; 0 where unknown)."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(library)
    except OSError:
        hardware = sorted(path.name for path in Path("/dev").glob("nvidia[0-9]*"))
        if hardware:
            remedy = f"Install NVIDIA's driver: {library} is missing (in a container: start it with --gpus all)."
            return Part("gpu", False, f"{', '.join(hardware)}, but no driver that programs can use", remedy), 0
        return Part("gpu", False, "none (no NVIDIA driver), and none is needed"), 0
    done = subprocess.run([sys.executable, "-c", _ASK, library], capture_output=True, text=True, check=False)
    if done.returncode == _NO_DEVICE:
        return Part("gpu", False, "the driver is there, but sees no GPU",
                    "Is CUDA_VISIBLE_DEVICES set? In a container: start it with --gpus all."), 0  # fmt: skip
    if done.returncode:
        old = " It is older than its library." if done.returncode == _OLD_DRIVER else ""
        return Part("gpu", False, f"the driver does not start (CUDA error {done.returncode})",
                    f"nvidia-smi says more.{old} Reboot after an update of the driver."), 0  # fmt: skip
    version, *names = done.stdout.splitlines()
    if not names:
        return Part("gpu", False, "the driver is there, but sees no GPU", "Is CUDA_VISIBLE_DEVICES set?"), 0
    return Part("gpu", True, f"{', '.join(names)}; the driver supports CUDA {_dotted(int(version))}"), int(version)


def _toolkit(driver: int) -> Part:
    nvcc = find_nvcc()
    if nvcc is None:
        detail = "no nvcc: a GPU would run what NVRTC compiles"
        return Part("toolkit", False, detail, "PyCUDA is built with it: install NVIDIA's CUDA toolkit (nvcc).")
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"release (\d+)\.(\d+)", said)
    if not found:
        return Part("toolkit", False, f"{nvcc} does not say its version", f"Try it: {nvcc} --version")
    version = 1000 * int(found[1]) + 10 * int(found[2])
    detail = f"nvcc {_dotted(version)} in {nvcc}"
    if driver and driver // 1000 < version // 1000:
        remedy = f"Update the driver to one for CUDA {found[1]}, or install a toolkit no newer than {_dotted(driver)}."
        return Part("toolkit", False, f"{detail}, newer than the driver (CUDA {_dotted(driver)})", remedy)
    return Part("toolkit", True, detail)


def _pycuda(gpu: bool) -> Part:
    if not pycuda_installed():
        if not gpu:
            return Part("gpu extra", False, "PyCUDA is not installed, and is not needed without a GPU")
        remedy = f"{sys.executable} -m pip install pycuda (it is built with nvcc, which must be on the PATH)."
        return Part("gpu extra", False, "PyCUDA is not installed: the GPU is not used", remedy)
    if not gpu:
        return Part("gpu extra", True, "PyCUDA, unused without a GPU")
    asked = [sys.executable, "-c", "import pycuda, pycuda.driver; print(pycuda.VERSION_TEXT)"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        pip = f"{sys.executable} -m pip install --force-reinstall --no-cache-dir pycuda"
        remedy = f"Build it again for this toolkit: {pip}"
        return Part("gpu extra", False, f"PyCUDA can't be imported: {last}", remedy)
    return Part("gpu extra", True, f"PyCUDA {done.stdout.strip()}")


def _sanitizer() -> Part:
    found = find_sanitizer()
    if found is None:
        detail = "no compute-sanitizer: kata check has no --sanitize"
        return Part("sanitizer", False, detail, "It is part of NVIDIA's CUDA toolkit.")
    return Part("sanitizer", True, f"compute-sanitizer in {found}")


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"

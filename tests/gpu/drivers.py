"""For each kata file a library that calls its ``solve`` on a real GPU; a program that runs many of them; their inputs.

A driver does what ``harness/devices/simulated.py`` does, with CUDA's own calls: each pointer has its own allocation,
an output that the kata leaves uninitialised is never written to, and ``solve`` runs twice on the same inputs. It takes
seconds to start a process under a tool, and milliseconds to run a case: so one process runs a row of libraries.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import catalogue, references
from harness.catalogue import Kata, Parameter
from harness.devices import CALLS
from harness.errors import CompileError, EnvironmentFault

ROOT = Path(__file__).resolve().parents[2]

#: Folders of kata files, each ``<folder>/<kata>/<slug>.cu``.
FOLDERS = ("tests/wrong", "tests/right", "solutions")

#: Cases with more elements than this, inputs and outputs together, are left out: under a tool kernels are slow, and one
#: that faults costs a quarter of a second. So are cases that differ from another in their values alone.
MOST_ELEMENTS = 20_000

#: sm_90 is the H200's. Line information names source lines; optimised code is what people run. No symbol of one library
#: stands in for that of another.
FLAGS = (
    "-std=c++17", "-arch=sm_90", "-lineinfo", "-w", "-cudart", "shared", "-shared",
    "-Xcompiler", "-fPIC,-fno-gnu-unique", "-Xlinker", "-Bsymbolic",
)  # fmt: skip

#: How a file that runner.cpp ran ended, where nothing went wrong and where the time was up.
DONE, TIMEOUT = "done", "timeout"

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class KataFile:
    """One file to run: ``path`` is relative to the checkout."""

    path: str
    kata: str

    @classmethod
    def at(cls, path: str) -> KataFile:
        """The file at a path of this checkout; the folder it lies in is named after its kata."""
        return cls(path, path.split("/")[-2])

    @property
    def exists(self) -> bool:
        return (ROOT / self.path).is_file()

    @property
    def source(self) -> str:
        return (ROOT / self.path).read_text(encoding="utf-8")

    @property
    def digest(self) -> str:
        """Changes when the file does: lines recorded for another text mean nothing."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Built:
    """A library and the cases it reads, or why there is none."""

    file: KataFile
    library: Path
    cases: Path
    error: str | None = None


def kata_files() -> list[KataFile]:
    """Every file of :data:`FOLDERS`."""
    paths = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).glob("*/*.cu"))]
    return [KataFile.at(path.as_posix()) for path in paths]


def driver_source(file: KataFile, kata: Kata) -> str:
    """The whole library, with the user's file in the middle; its own ``main`` gets another name."""
    objects = "\n".join(
        f"        kata_driver::Buffer {_object(number)};" if parameter.pointer
        else f"        {parameter.type} {_object(number)} = kata_driver::next<{parameter.type}>();"
        for number, parameter in enumerate(kata.parameters)
    )  # fmt: skip
    pointers = [_object(number) for number, parameter in enumerate(kata.parameters) if parameter.pointer]
    renewed = " && ".join(f"{pointer}.renew()" for pointer in pointers)
    arguments = ", ".join(_argument(number, parameter) for number, parameter in enumerate(kata.parameters))
    return f"""\
#include "tests/gpu/driver.cuh"

#define main ignored_main
#include "{file.path}"
#undef main

extern "C" int kata_run(const char* cases) {{
    kata_driver::file = std::fopen(cases, "rb");
    if (!kata_driver::file) kata_driver::bad_cases();
    int32_t number;
    while (kata_driver::more(number)) {{
{objects}
        for (int call = 0; call < {CALLS}; ++call) {{
            if (!({renewed})) return 1;
            solve({arguments});
            cudaDeviceSynchronize();
            cudaGetLastError();
        }}
    }}
    std::fclose(kata_driver::file);
    return cudaDeviceSynchronize();
}}
"""


def _object(number: int) -> str:
    return f"kata_argument_{number}"


def _argument(number: int, parameter: Parameter) -> str:
    if not parameter.pointer:
        return _object(number)
    return f"static_cast<{parameter.type}>({_object(number)}.device)"


def pack_cases(kata: Kata, seed: int, most: int = MOST_ELEMENTS) -> bytes:
    """The kata's cases of up to ``most`` elements as a driver reads them, with the inputs that a check with this seed
    gives them."""
    reference = references.load(kata.name)
    packed = b""
    for number, case in enumerate(reference.CASES):
        if case.group == "values":
            continue
        arguments = reference.inputs(np.random.default_rng([seed, number]), case)
        shapes = [parameter.shape_for(arguments) for parameter in kata.parameters if parameter.pointer]
        if sum(int(np.prod(shape)) for shape in shapes) > most:
            continue
        packed += struct.pack("<i", number)
        packed += b"".join(_pack(parameter, arguments) for parameter in kata.parameters)
    return packed


def _pack(parameter: Parameter, arguments: dict[str, Any]) -> bytes:
    """One argument: a scalar's four bytes; a pointer's number of bytes, whether data follow, and the data."""
    if not parameter.pointer:
        return struct.pack("<f" if parameter.type == "float" else "<i", arguments[parameter.name])
    shape = parameter.shape_for(arguments)
    if parameter.role != "out":
        data = np.ascontiguousarray(arguments[parameter.name])
    elif parameter.initial is not None:
        data = np.full(shape, parameter.initial, np.float32)
    else:
        return struct.pack("<Qi", 4 * int(np.prod(shape)), 0)
    return struct.pack("<Qi", data.nbytes, 1) + data.tobytes()


def write_cases(folder: Path, seed: int, most: int = MOST_ELEMENTS) -> None:
    """One file of cases for each kata."""
    folder.mkdir(parents=True, exist_ok=True)
    for kata in catalogue.load_all():
        cases_path(folder, kata.name).write_bytes(pack_cases(kata, seed, most))


def cases_path(folder: Path, kata: str) -> Path:
    return folder / f"{kata}.cases"


def build(file: KataFile, folder: Path) -> Built:
    """Compile a file's driver to a library, unless it is there: it is named after all that goes into it."""
    driver = driver_source(file, catalogue.load(file.kata))
    name = _digest(driver, (_HERE / "driver.cuh").read_text("utf-8"), file.source, FLAGS)
    built = Built(file, folder / f"{name}.so", cases_path(folder, file.kata))
    refused = folder / f"{name}.log"
    if not refused.exists() and not built.library.exists():
        source = folder / f"{name}.cu"
        source.write_text(driver, encoding="utf-8")
        try:
            _compile(source, built.library, (*FLAGS, "-I", str(ROOT)))
        except CompileError as error:
            refused.write_text(error.message, encoding="utf-8")
    return dataclasses.replace(built, error=refused.read_text("utf-8")) if refused.exists() else built


def build_runner(folder: Path) -> Path:
    """The program that runs libraries."""
    source = _HERE / "runner.cpp"
    runner = folder / _digest(source.read_text("utf-8"))
    if not runner.exists():
        _compile(source, runner, ("-cudart", "shared", "-ldl"))
    return runner


def _digest(*made_of: object) -> str:
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def _compile(source: Path, target: Path, flags: Iterable[str]) -> None:
    """Compile with nvcc; CompileError holds what it printed."""
    command = [toolkit("nvcc"), *flags, "-o", str(target), str(source)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(done.stdout + done.stderr)


def toolkit(program: str) -> str:
    """A program of the CUDA toolkit; EnvironmentFault where it is not to be found."""
    found = shutil.which(program)
    if found is None:
        raise EnvironmentFault(f"{program} is not here", remedy="install the CUDA toolkit, or put its bin/ on PATH")
    return found


@functools.cache
def environment() -> dict[str, str]:
    """This process's, in which a program finds the toolkit's runtime library. nvcc knows where its toolkit is."""
    command = [toolkit("nvcc"), "--dryrun", "-x", "cu", os.devnull]
    steps = subprocess.run(command, capture_output=True, text=True, check=True)
    top = re.search(r"^#\$ TOP=(.*)$", steps.stderr, re.MULTILINE)
    library = f"{top[1]}/lib64:" if top else ""
    return os.environ | {"LD_LIBRARY_PATH": library + os.environ.get("LD_LIBRARY_PATH", "")}

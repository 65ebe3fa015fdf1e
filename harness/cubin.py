"""What a compiled kernel needs of a multiprocessor, read from the cubin: an ELF file with NVIDIA's ``.nv.info`` notes.

The attribute numbers are those that ``cuobjdump -elf`` prints names for: each note is a format byte, an attribute byte
and a 16-bit value, or (format 4) a 16-bit size followed by that many bytes.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MAX_THREADS, _FRAME_SIZE, _REGCOUNT = 0x05, 0x11, 0x2F
_SIZED = 0x04

# From sm_90 on the sections of shared memory begin with the 1 KB a block that CUDA keeps for itself ("CUDA C++
# Programming Guide", compute capability 9.0, shared memory), and a symbol says so.
_RESERVED, _RESERVED_SHARED = ".nv.reservedSmem.offset0", 1024


@dataclass(frozen=True)
class Resources:
    """One kernel's needs: registers a thread, frame bytes a thread (local memory: arrays, and registers that didn't
    fit), static shared bytes a block, and the most threads a block that ``__launch_bounds__`` allows (0: any).
    """

    registers: int
    frame_bytes: int = 0
    shared_bytes: int = 0
    max_threads: int = 0


def read_resources(cubin: bytes) -> dict[str, Resources]:
    """Resources of each kernel in a cubin, by mangled name."""
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(cubin))
    symbols: Any = elf.get_section_by_name(".symtab")
    reserved = _RESERVED_SHARED if symbols.get_symbol_by_name(_RESERVED) else 0
    counts: dict[int, dict[str, int]] = {_REGCOUNT: {}, _FRAME_SIZE: {}}
    kernels: list[str] = []
    shared: dict[str, int] = {}
    bounds: dict[str, int] = {}
    for section in elf.iter_sections():
        name = section.name
        if name == ".nv.info":
            for attribute, value in _notes(section.data()):
                if attribute in counts:
                    index, number = struct.unpack_from("<II", value)
                    counts[attribute][symbols.get_symbol(index).name] = number
        elif name.startswith(".nv.info."):
            kernels.append(name.removeprefix(".nv.info."))
            for attribute, value in _notes(section.data()):
                if attribute == _MAX_THREADS:
                    x, y, z = struct.unpack_from("<III", value)
                    bounds[kernels[-1]] = x * y * z
        elif name.startswith(".nv.shared."):
            shared[name.removeprefix(".nv.shared.")] = section["sh_size"] - reserved
    return {
        name: Resources(
            counts[_REGCOUNT].get(name, 0), counts[_FRAME_SIZE].get(name, 0), shared.get(name, 0), bounds.get(name, 0)
        )
        for name in kernels
    }  # fmt: skip


def _notes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        value = data[at : at + size] if form == _SIZED else b""
        at += len(value)
        yield attribute, value

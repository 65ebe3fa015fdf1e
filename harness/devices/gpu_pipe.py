"""Messages between the process that owns the GPU and the one that grades: large arrays stay out of the pipe."""

from __future__ import annotations

import io
import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

#: Bytes of an array from which on it is handed over in memory that both processes see, where the system has such.
LARGE = 1 << 20


class _Pickler(pickle.Pickler):
    """Large arrays become files in memory. They last as long as ``files``."""

    def __init__(self, target: io.BytesIO) -> None:
        super().__init__(target, pickle.HIGHEST_PROTOCOL)
        self.files: list[io.FileIO] = []

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.nbytes < LARGE or not hasattr(os, "memfd_create"):
            return NotImplemented
        file = io.FileIO(os.memfd_create("kata"), "r+")
        self.files.append(file)
        file.truncate(value.nbytes)
        np.memmap(file, value.dtype, "r+", shape=value.shape)[...] = value
        return np.memmap, (f"/proc/{os.getpid()}/fd/{file.fileno()}", value.dtype, "r", 0, value.shape)


def send(pipe: Connection, message: object) -> object:
    """Send what ``pipe.recv()`` will give at the other end. What this returns must be kept until that has happened."""
    target = io.BytesIO()
    pickler = _Pickler(target)
    pickler.dump(message)
    pipe.send_bytes(target.getbuffer())
    return pickler.files

"""One process at a time: a lock on a file, which the system lets go of when whoever holds it ends, however that is."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path


class HeldElsewhere(Exception):
    """Another process has the lock. Its message is what that one says of itself, which may be nothing."""


@contextmanager
def held(path: Path, holder: str) -> Iterator[None]:
    """Hold the lock on ``path``, in which ``holder`` says who does. HeldElsewhere while another process holds it.

    Where files can't be written or locked (Windows, some shared folders) this goes on without.
    """
    file = _opened(path)
    if file is None:
        yield
        return
    with file:
        _lock(file, holder)
        yield


def _opened(path: Path) -> FileIO | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileIO(path, "a+")
    except OSError:
        return None


def _lock(file: FileIO, holder: str) -> None:
    try:
        fcntl = importlib.import_module("fcntl")  # there is none on Windows
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(holder.encode())
    except BlockingIOError:
        file.seek(0)
        raise HeldElsewhere(file.read(200).decode(errors="replace")) from None
    except (ImportError, OSError):
        return

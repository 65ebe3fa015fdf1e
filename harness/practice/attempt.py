"""The file of an attempt: a fresh skeleton, with whatever was there kept under a dated name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from harness.errors import EnvironmentFault, UsageError


def kept_as(path: Path, skeleton: bytes, now: datetime) -> Path | None:
    """The name under which :func:`lay_ready` would keep what is at ``path``; None where there is nothing to keep.

    ``now`` is the time on the user's own clock. UsageError where ``path`` is a folder, EnvironmentFault where it can't
    be read.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", remedy="Practise in another one.")
    try:
        if not path.exists() or path.read_bytes() == skeleton:
            return None
    except OSError as error:
        raise EnvironmentFault(f"can't read {path}: {error.strerror}", remedy="Practise in another folder.") from error
    return next(name for name in _names(path, now) if not name.exists())


def lay_ready(path: Path, skeleton: bytes, now: datetime) -> Path | None:
    """Put the skeleton at ``path``. What was there is renamed, and its new name returned; an untouched skeleton stays.

    Raises what :func:`kept_as` does, and EnvironmentFault where the system refuses.
    """
    earlier = kept_as(path, skeleton, now)
    try:
        kept = _keep(path, now) if earlier else None
        if kept or not path.exists():
            path.write_bytes(skeleton)
    except OSError as error:
        raise EnvironmentFault(f"can't write {path}: {error.strerror}", remedy="Practise in another folder.") from error
    return kept


def _keep(path: Path, now: datetime) -> Path:
    for kept in _names(path, now):
        try:
            kept.touch(exist_ok=False)  # reserves the name: nothing is ever replaced
        except FileExistsError:
            continue
        path.replace(kept)
        return kept
    raise AssertionError("there is always a next number")


def _names(path: Path, now: datetime) -> Iterator[Path]:
    """``softmax.2026-11-30-0142.cu``, and with numbers behind, for where that is taken."""
    for number in itertools.count(1):
        behind = f"-{number}" if number > 1 else ""
        yield path.with_name(f"{path.stem}.{now:%Y-%m-%d-%H%M}{behind}{path.suffix}")

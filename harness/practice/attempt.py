"""The file of an attempt: a fresh skeleton, with whatever was there kept under a dated name."""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path

from harness.errors import EnvironmentFault, UsageError


def lay_ready(path: Path, skeleton: bytes, now: datetime) -> Path | None:
    """Put the skeleton at ``path``. What was there is renamed, and its new name returned; an untouched skeleton stays.

    ``now`` is the time on the user's own clock. UsageError where ``path`` is a folder, EnvironmentFault where the
    system refuses.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", remedy="Practise in another one.")
    try:
        kept = _keep(path, now) if path.exists() and path.read_bytes() != skeleton else None
        if kept or not path.exists():
            path.write_bytes(skeleton)
    except OSError as error:
        raise EnvironmentFault(f"can't write {path}: {error.strerror}", remedy="Practise in another folder.") from error
    return kept


def _keep(path: Path, now: datetime) -> Path:
    """``softmax.2026-11-30-0142.cu``, or with a number behind where that is taken."""
    for number in itertools.count(1):
        behind = f"-{number}" if number > 1 else ""
        kept = path.with_name(f"{path.stem}.{now:%Y-%m-%d-%H%M}{behind}{path.suffix}")
        try:
            kept.touch(exist_ok=False)  # reserves the name: nothing is ever replaced
        except FileExistsError:
            continue
        path.replace(kept)
        return kept
    raise AssertionError("there is always a next number")

"""What a pure PTX instruction computes: the piece that the opcode table is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.simulator.ptx import DTYPES


@dataclass(frozen=True)
class Operation:
    """Semantics of one static instruction, built once when a kernel is loaded.

    ``function`` takes one array per source, each of the dtype of its PTX type and of shape ``(lanes,)``, or ``(1,)``
    where the value is the same in every lane, and returns one array (a tuple where there are several results)
    of the broadcast shape. It never changes its arguments. Floating-point warnings are off around it.

    ``results`` and ``sources`` are PTX type names, in operand order, vectors such as ``{%r1, %r2}`` and pairs such as
    ``%p1|%p2`` flattened. ``carry_out`` adds a last boolean result, ``carry_in`` a last boolean source: the
    condition code of ``add.cc`` and ``addc``.
    """

    results: tuple[str, ...]
    sources: tuple[str, ...]
    function: Callable[..., Any]
    carry_in: bool = False
    carry_out: bool = False

    def __post_init__(self) -> None:
        for name in self.results + self.sources:
            if name not in DTYPES:
                raise ValueError(f"{name} is not a PTX type")

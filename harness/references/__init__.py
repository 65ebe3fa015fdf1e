"""Hidden references: for each kata its cases, inputs, the right answer in float64, and how far off is allowed.

A reference is a module ``harness/references/<kata>.py`` with

* ``CASES``: a tuple of :class:`Case`, the small and awkward ones first;
* ``inputs(rng, case)``: the arguments of ``solve`` by parameter name: a float32 array for each ``in`` or
  ``inout`` pointer, an int or float for each scalar; ``out`` pointers are left out;
* ``expected(arguments)``: the right value of each ``out`` and ``inout`` pointer by name, float64, computed from
  the arguments alone, in the shape kata.toml gives;
* ``error_bound(arguments, expected)``: the allowed absolute error of each, an array broadcastable to it (0 where
  the answer must be exact);
* ``TIMED``, where plain random values won't do: how arrays are filled at the sizes that the kata is timed at.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, cast

import numpy as np

#: Unit roundoff of float32, the ``u`` of the error bounds.
U = 2.0**-24

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One input: ``sizes`` gives solve's integer parameters, ``values`` how its arrays are filled.

    ``group`` is the word the report shows a row of cases under (``small``, ``ragged``, ``values``, ``large``).
    """

    group: str
    values: str
    sizes: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        if any(size < 1 for _, size in self.sizes):
            raise ValueError(f"{self.label}: sizes start at 1")

    @property
    def label(self) -> str:
        """``n = 33``, or ``rows = 3, cols = 5 (all negative)`` where the values are not plain random."""
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes)
        return sizes if self.values == "random" else f"{sizes} ({self.values})"

    def __getitem__(self, name: str) -> int:
        return dict(self.sizes)[name]


class Reference(Protocol):
    """What a reference module offers."""

    CASES: tuple[Case, ...]

    def inputs(self, rng: np.random.Generator, case: Case) -> dict[str, Any]: ...

    def expected(self, arguments: Arguments) -> dict[str, np.ndarray]: ...

    def error_bound(self, arguments: Arguments, expected: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]: ...


def timed_values(reference: Reference) -> str:
    """How arrays are filled at the sizes that a kata is timed at, a word for :attr:`Case.values`."""
    return str(getattr(reference, "TIMED", "random"))


def load(kata: str) -> Reference:
    """The reference of a kata by name; ModuleNotFoundError if there is none."""
    module: ModuleType = importlib.import_module(f"harness.references.{kata}")
    return cast(Reference, module)

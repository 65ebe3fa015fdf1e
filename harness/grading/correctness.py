"""Which elements of an answer are wrong: float64 comparison against a bound, with NaN and infinity taken seriously."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harness.devices import still_poison
from harness.errors import CatalogueError


def wrong_elements(got: np.ndarray, expected: np.ndarray, bound: np.ndarray | float) -> np.ndarray:
    """Which elements of ``got`` are further from ``expected`` (float64, same shape) than ``bound`` (broadcastable).

    NaN is always wrong. An infinity is right only where that very infinity is expected. -0 equals 0.
    CatalogueError where the reference itself gives NaN, or a bound that is no bound.
    """
    if np.isnan(expected).any():
        raise CatalogueError("the reference expects NaN; a case may not ask for what no answer can match")
    bound = np.asarray(bound, dtype=np.float64)
    if not (np.isfinite(bound) & (bound >= 0)).all():
        raise CatalogueError("the reference's error bound must be finite and not negative")
    with np.errstate(invalid="ignore", over="ignore"):
        got = got.astype(np.float64, copy=False)
        # inf - inf is NaN, so equal infinities need the second look; any other NaN stays out of both.
        return np.asarray(~((np.abs(got - expected) <= bound) | (got == expected)))


@dataclass(frozen=True)
class Comparison:
    """One output against its reference. All arrays have the parameter's shape; ``got`` is as the device left it.

    ``initial`` is what the buffer held on entry where the kata promises a value, else None: poison.
    """

    parameter: str
    got: np.ndarray
    expected: np.ndarray
    bound: np.ndarray | float
    initial: float | None = None
    wrong: np.ndarray = field(init=False)
    unwritten: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        if self.got.shape != self.expected.shape:
            raise CatalogueError(
                f"{self.parameter}: the reference's answer has shape {self.expected.shape}, the kata's {self.got.shape}"
            )
        object.__setattr__(self, "bound", np.broadcast_to(np.asarray(self.bound, np.float64), self.expected.shape))
        object.__setattr__(self, "wrong", wrong_elements(self.got, self.expected, self.bound))
        object.__setattr__(self, "unwritten", still_poison(self.got) & self.wrong)

    @property
    def right(self) -> bool:
        """Whether every element is within its bound."""
        return not self.wrong.any()


def changed_elements(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which elements differ bit for bit: how an input that must stay as it was is judged."""
    bits = np.dtype(f"u{before.dtype.itemsize}")
    return np.asarray(np.ascontiguousarray(before).view(bits) != np.ascontiguousarray(after).view(bits))

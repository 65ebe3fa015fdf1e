"""What a diagnosis may look at, and the words it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from harness.devices import Launched
from harness.grading.correctness import Comparison
from harness.results import Tail

WARP = 32

#: Elements a thread is likely to handle, so that a block's share is so many times its threads.
PER_THREAD = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Finding:
    """A pattern: a stable word for programs, a sentence for a person (no full stop), the ends that it is about.

    What a tail says of all sizes is not in the sentence: one case can't know (``harness.grading.agreement``).
    """

    word: str
    sentence: str
    tails: tuple[Tail, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """One wrong output and what led to it.

    ``dims`` names the parameter's dimensions as the kata does (``("rows", "cols")``, or the number where it is
    fixed), ``inputs`` are the untouched arrays given to ``solve``, by the user's names, ``sizes`` its sizes by the
    kata's.
    """

    comparison: Comparison
    dims: tuple[str, ...]
    inputs: Mapping[str, np.ndarray]
    launches: tuple[Launched, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.comparison.right:
            raise ValueError("there is nothing to diagnose in a right answer")
        if len(self.dims) != self.comparison.got.ndim:
            raise ValueError("one name for each dimension")

    @property
    def name(self) -> str:
        """The user's name of the parameter."""
        return self.comparison.parameter

    @cached_property
    def got(self) -> np.ndarray:
        """What was got, flat float64."""
        with np.errstate(invalid="ignore"):
            return self.comparison.got.astype(np.float64).ravel()

    @property
    def expected(self) -> np.ndarray:
        """What was expected, flat float64."""
        return self.comparison.expected.ravel()

    @cached_property
    def bound(self) -> np.ndarray:
        """The allowed error, flat float64."""
        return np.asarray(self.comparison.bound).ravel()

    @cached_property
    def focus(self) -> np.ndarray:
        """The elements a place is sought for: where some but not all were never written those, else the wrong ones."""
        unwritten = self.comparison.unwritten
        return unwritten if unwritten.any() and not unwritten.all() else self.comparison.wrong

    @property
    def all_written(self) -> bool:
        """Whether every element was written, so that one rule may explain all of them."""
        return not self.comparison.unwritten.any()

    @cached_property
    def matrix(self) -> tuple[int, int] | None:
        """Rows and columns, where the output has more than one of each."""
        shape = self.comparison.got.shape
        return (shape[0], shape[1]) if len(shape) == 2 and min(shape) > 1 else None

    @property
    def length_name(self) -> str:
        """What to call the number of elements: ``n``, or ``rows*cols``."""
        wide = [dim for dim, size in zip(self.dims, self.comparison.got.shape, strict=True) if size > 1]
        return "*".join(wide) or "1"

    @cached_property
    def shares(self) -> tuple[int, ...]:
        """Elements one block is likely to handle, smallest first, from the block sizes launched."""
        return tuple(sorted({launch.threads * each for launch in self.launches for each in PER_THREAD}))

    @cached_property
    def moduli(self) -> tuple[int, ...]:
        """Divisors that kernels round sizes down by: vectors, warps, tiles, blocks and blocks of vectors."""
        sides = {side for launch in self.launches for side in launch.block}
        return tuple(sorted({m for m in {2, 4, 8, 16, WARP, 64, 128, *sides, *self.shares} if m > 1}))

    def state(self, mask: np.ndarray) -> str:
        """What the elements of ``mask`` have in common: ``never written``, ``0``, ``NaN``, or just ``wrong``."""
        got = self.comparison.got[mask]
        tests: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("never written", lambda: bool(self.comparison.unwritten[mask].all())),
            ("NaN", lambda: bool(np.isnan(got).all())),
            ("0", lambda: not got.any()),
        )
        return next((word for word, holds in tests if holds()), "wrong")

    def tail(self, name: str, length: int, left: int) -> Tail:
        """The last ``left`` of ``length``, which is called ``name``."""
        threads = {launch.threads for launch in self.launches}
        sides = {side for launch in self.launches for side in launch.block}
        found = tuple(m for m in self.moduli if m <= length and length % m == left)
        usual = tuple(m for m in found if m in {4, WARP, *threads, *sides})
        return Tail(name, left, found, usual, tuple(m for m in found if m in threads))


Recogniser = Callable[[Evidence], Finding | None]


def first_found(recognisers: Iterable[Recogniser], evidence: Evidence) -> Finding | None:
    """The finding of the first recogniser that has one."""
    return next((finding for recognise in recognisers if (finding := recognise(evidence))), None)


def be(count: int) -> str:
    """``is`` or ``are``."""
    return "is" if count == 1 else "are"


def counted(count: int, thing: str) -> str:
    """``1 element``, ``33 elements``."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def span(first: int, last: int) -> str:
    """``7`` or ``7..9``, both ends included."""
    return str(first) if first == last else f"{first}..{last}"


def number(value: float) -> str:
    """A float as a person reads it: at most seven digits, ``NaN`` and ``inf`` spelled so."""
    return "NaN" if np.isnan(value) else f"{value:.7g}"

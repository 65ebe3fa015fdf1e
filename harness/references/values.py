"""How a case's arrays are filled: one generator for each word that :attr:`Case.values` may hold.

Each takes a random generator and a shape (one number or more; a last axis is a row) and gives float32 values. What
each kind shows in a wrong kernel is said beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Shape = tuple[int, ...]
Generator = Callable[[np.random.Generator, Shape], np.ndarray]


def _signs(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.choice(np.array([-1.0, 1.0]), size=shape)


def _random(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Standard normal: ordinary values, none of which float16 or TF32 can hold."""
    return rng.standard_normal(shape)


def _integers(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """1 to 8 of either sign: sums up to 2**21 values are exact in any order, so one element dropped shows."""
    return _signs(rng, shape) * rng.integers(1, 9, size=shape)


def _few_integers(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """-1, 0 or 1, three of four being 0: sums up to 2**25 values are exact in any order, and so are halves of them."""
    return np.array([-1.0, 0, 0, 0, 0, 0, 0, 1], np.float32)[rng.integers(0, 8, size=shape, dtype=np.uint8)]


def _wide_integers(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Odd, 2049 to 8191, of either sign: no float16 or TF32 holds them; sums up to 2**11 values are exact."""
    return _signs(rng, shape) * (2 * rng.integers(1024, 4096, size=shape) + 1)


def _constant(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """One multiple of 1/8 between 0.5 and 2 everywhere: sums up to 2**20 values are exact in any order."""
    return np.full(shape, rng.integers(4, 17) / 8)


def _marker(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """0, 1 and -1: what a lazy kernel takes for "empty", "not set" or "done"."""
    return rng.integers(-1, 2, size=shape).astype(np.float64)


def _huge(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """1e12 to 1e15 of either sign: products and their sums stay finite in float32, not in float16."""
    return _signs(rng, shape) * 10.0 ** rng.uniform(12.0, 15.0, size=shape)


def _tiny(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """1e-15 to 1e-12 of either sign: lost under any fixed tolerance, and zero in float16."""
    return _signs(rng, shape) * 10.0 ** rng.uniform(-15.0, -12.0, size=shape)


def _denormal(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Below the smallest normal float32, of either sign: a kernel that flushes them to zero shows."""
    return _signs(rng, shape) * rng.integers(1, 2**23, size=shape) * 2.0**-149


def _large(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """1 to 1e4 of either sign, as many in each decade: ``expf`` overflows beyond 88.7."""
    return _signs(rng, shape) * 10.0 ** rng.uniform(0.0, 4.0, size=shape)


def _negative(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """All at most -1: a maximum that starts from 0 shows where the maximum is the answer."""
    return -1.0 - np.abs(rng.standard_normal(shape))


def _deeply_negative(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """-1200 to -1000: a maximum that starts from 0 or ``FLT_MIN``, or is of the bits as integers, shows in ``expf``."""
    return rng.uniform(-1200.0, -1000.0, size=shape)


def _near_the_lowest(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """-1e38, -2e38 or -3e38: a maximum that starts from some large negative number, not from the lowest, shows."""
    return -1e38 * rng.integers(1, 4, size=shape)


def _rows_apart(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Normal values, each row 1000 below the one before: a maximum taken from another row shows."""
    steps = -1000.0 * np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    return rng.standard_normal(shape) + steps


def _apart(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """-1000, 0 or 1000 plus a normal value: ``expf`` overflows without the maximum subtracted."""
    return 1000.0 * rng.integers(-1, 2, size=shape) + rng.standard_normal(shape)


def _far_apart(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Steps of 1e30: differences that are finite, but nothing of them is left after ``expf``."""
    return 1e30 * rng.integers(-3, 4, size=shape)


def _rising(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Sorted along each row over a range of 100: a running maximum changes at every step."""
    return np.sort(rng.uniform(-50.0, 50.0, size=shape), axis=-1)


def _masked(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """``-inf`` for the first two thirds of each row: whole blocks see nothing but a mask. The last value is finite."""
    values = rng.standard_normal(shape)
    values[..., : 2 * shape[-1] // 3] = -np.inf
    return values


def _holes(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """``-inf`` at about a third of the places, anywhere but the last of a row."""
    values = rng.standard_normal(shape)
    values[..., :-1][rng.random(values[..., :-1].shape) < 1 / 3] = -np.inf
    return values


KINDS: dict[str, Generator] = {
    "random": _random,
    "integers": _integers,
    "few integers": _few_integers,
    "wide integers": _wide_integers,
    "constant": _constant,
    "marker": _marker,
    "huge": _huge,
    "tiny": _tiny,
    "denormal": _denormal,
    "large": _large,
    "negative": _negative,
    "deeply negative": _deeply_negative,
    "near the lowest": _near_the_lowest,
    "rows apart": _rows_apart,
    "apart": _apart,
    "far apart": _far_apart,
    "rising": _rising,
    "masked": _masked,
    "holes": _holes,
}


def fill(rng: np.random.Generator, kind: str, shape: Shape) -> np.ndarray:
    """A float32 array of ``shape`` holding values of ``kind``, a key of :data:`KINDS`; ValueError for any other."""
    if kind not in KINDS:
        raise ValueError(f"no values are called {kind!r}; there are {', '.join(KINDS)}")
    return KINDS[kind](rng, shape).astype(np.float32)

"""The cases that every kata on vectors of ``n`` elements shares: lengths around a warp, a block and a float4."""

from __future__ import annotations

from harness.references import Case


def vector(group: str, n: int, values: str = "random") -> Case:
    """One case of length ``n``."""
    return Case(group, values, (("n", n),))


#: More than 1024 blocks of 1024: what two levels of blocks reach at one element a thread.
OVER_A_MILLION = 1_050_003


def vector_cases(*special: tuple[int, str], large: int) -> tuple[Case, ...]:
    """Small, ragged and round lengths with random values, then ``special`` pairs (n, values), then a ``large`` length.

    Round ones are whole blocks of any size: there, a "last partial block" that a kernel waits for never comes.
    """
    return (
        *(vector("small", n) for n in (1, 2, 3, 31, 32, 33)),
        *(vector("ragged", n) for n in (255, 257, 1000, 1023, 1025, 5003)),
        *(vector("round", n) for n in (256, 4096, 65_536)),
        *(vector("values", n, values) for n, values in special),
        vector("large", large),
    )

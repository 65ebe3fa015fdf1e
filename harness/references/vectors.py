"""The cases that every kata on vectors of ``n`` elements shares: lengths around a warp, a block and a float4."""

from __future__ import annotations

from harness.references import Case


def vector(group: str, n: int, values: str = "random") -> Case:
    """One case of length ``n``."""
    return Case(group, values, (("n", n),))


def vector_cases(*special: tuple[int, str], large: int) -> tuple[Case, ...]:
    """Small and ragged lengths with random values, then ``special`` pairs (n, values), then one ``large`` length."""
    return (
        *(vector("small", n) for n in (1, 2, 3, 31, 32, 33)),
        *(vector("ragged", n) for n in (255, 257, 1000, 1023, 1025, 5003)),
        *(vector("values", n, values) for n, values in special),
        vector("large", large),
    )

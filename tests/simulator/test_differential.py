"""Compiler and simulator together against NumPy: random C++ expressions, many to a kernel, at awkward values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.expressions import CPP, KINDS, PRELUDE, Expression, Generator, Scope, awkward
from tests.simulator.running import Unset, silent

LANES = 80
VARIABLES = 2
EXPRESSIONS = 100


def inputs(seed: int) -> tuple[np.ndarray, Scope]:
    """Values of every variable: as 8-byte cells for the kernel, and typed for NumPy."""
    rng = np.random.default_rng(seed)
    cells = np.zeros((len(KINDS) * VARIABLES, LANES), np.uint64)
    scope = {}
    for row, (kind, number) in enumerate((kind, number) for kind in KINDS for number in range(VARIABLES)):
        noise = rng.integers(0, 256, LANES * int(kind[1]), np.uint8).view(kind)
        values = np.where(rng.random(LANES) < 0.7, rng.choice(awkward(kind), LANES), noise)
        scope[f"{kind}_{number}"] = values
        cells[row] = values.view(f"u{kind[1]}")
    return cells, scope


def kernel(expressions: list[Expression]) -> str:
    """One that stores every expression's bits."""
    names = [(kind, number) for kind in KINDS for number in range(VARIABLES)]
    loads = [f"{CPP[kind]} {kind}_{number} = loaded<{CPP[kind]}>(in, {row}, {LANES});"
             for row, (kind, number) in enumerate(names)]  # fmt: skip
    stores = [
        f"out[{n} * {LANES} + threadIdx.x] = bits_of(({CPP[one.kind]}){one.text});" for n, one in enumerate(expressions)
    ]
    return "\n".join([PRELUDE, "KERNEL k(const u64* in, u64* out) {", *loads, *stores, "}"])


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_are_worth_what_numpy_says(seed: int) -> None:
    generator = Generator(seed)
    expressions = [generator.expression(KINDS[n % len(KINDS)], 3) for n in range(EXPRESSIONS)]
    cells, scope = inputs(seed)
    options, out = ("-fmad=false",), Unset("u8", EXPRESSIONS * LANES)
    ran = silent(kernel(expressions), options=options, block=LANES, data=cells, out=out)
    for expression, row in zip(expressions, ran["out"].reshape(EXPRESSIONS, LANES), strict=True):
        with np.errstate(all="ignore"):
            expected = expression.value(scope)
        assert expected.dtype == expression.kind, expression.text
        bits = f"u{expression.kind[1]}"
        got = row.astype(bits).view(expression.kind)
        both_nan = (got != got) & (expected != expected)
        wrong = np.flatnonzero((got.view(bits) != expected.view(bits)) & ~both_nan)
        if len(wrong):
            lane = wrong[0]
            values = {name: value[lane] for name, value in scope.items() if name in expression.text}
            pytest.fail(f"{expression.text}\nlane {lane}: {got[lane]!r}, not {expected[lane]!r}, of {values}")

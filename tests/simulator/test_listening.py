"""What is compared is a flag; what is only added and stored is a result."""

from __future__ import annotations

import pytest

from tests.simulator.running import module

SOURCE = """KERNEL k(float* out, volatile int* flag, volatile float* sum, int* next) {
    USE
}"""


@pytest.mark.parametrize(
    ("use", "tested"),
    [
        ("while (*flag == 0) {} out[0] = 1;", True),
        ("while ((*flag >> 4 & 3) != 2) {} out[0] = 1;", True),
        ("if (*sum != *sum) out[0] = 1;", True),
        ("if (atomicAdd(next, 1) == 7) out[0] = 1;", True),
        ("out[0] = *sum;", False),
        ("out[0] = *sum + 1.0f;", False),
        ("float x = *sum / out[1]; if (x > 0.5f) out[0] = x;", False),
        ("out[0] = *flag;", False),
    ],
)
def test_a_value_is_tested_where_it_is_compared(use: str, tested: bool) -> None:
    loaded = module(SOURCE.replace("USE", use))
    kernel = loaded.kernel(next(iter(loaded.entries)))
    targets = [
        item.operands[0]
        for block in kernel.blocks for item in block.instructions
        if item.opcode == "atom" or item.has("volatile")
    ]  # fmt: skip
    assert targets and {kernel.uses.tested(target.name) for target in targets} == {tested}

"""Which shared array an address register points into."""

from __future__ import annotations

import pytest

from harness.simulator.inline import inline
from harness.simulator.parser import parse
from harness.simulator.provenance import Bases
from tests.simulator.running import assembly

SHARED = ".shared .align 4 .b8 a[128];\n.shared .align 4 .b8 b[128];\n.global .align 4 .b8 g[128];"


def base(body: str, register: str) -> str | None:
    flat = inline(parse(assembly(body, extra=SHARED)), "main")
    return Bases(flat, frozenset({"a", "b"})).of(register)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.u32 %r1, a;", "a"),
        ("mov.u32 %r1, a+16;", "a"),
        ("mov.u32 %r2, b;\nshl.b32 %r3, %r9, 2;\nadd.s32 %r1, %r2, %r3;", "b"),
        ("mov.u32 %r2, a;\nadd.s32 %r3, %r9, %r2;\nsub.s32 %r1, %r3, 4;", "a"),
        ("mov.u32 %r2, a;\nmad.lo.s32 %r1, %r9, 4, %r2;", "a"),
        ("mov.u32 %r2, a;\ncvt.u64.u32 %rd2, %r2;\ncvta.shared.u64 %rd3, %rd2;\ncvt.u32.u64 %r1, %rd3;", "a"),
        ("mov.u32 %r2, a;\nmov.u32 %r3, b;\nselp.b32 %r1, %r2, %r3, %p1;", None),
        ("mov.u32 %r2, a;\nadd.s32 %r3, %r2, 8;\nselp.b32 %r1, %r2, %r3, %p1;", "a"),
        ("mov.u32 %r1, a;\nLOOP:\nadd.s32 %r1, %r1, 4;\nsetp.lt.u32 %p1, %r1, %r9;\n@%p1 bra LOOP;", "a"),
        ("mov.u32 %r1, a;\nLOOP:\nmov.u32 %r1, b;\nbra LOOP;", None),
        ("mov.u32 %r1, a;\nmov.u32 %r2, a;\nmov.u32 %r3, b;\nselp.b32 %r1, %r2, %r3, %p1;", None),
        ("mov.u32 %r1, a;\nld.shared.u32 %r1, [%r9];", None),
        ("mov.u32 %r1, a;\nshfl.sync.idx.b32 %r1, %r9, 0, 31, -1;", None),
        ("mov.u32 %r2, a;\nmov.u32 %r3, b;\nadd.s32 %r1, %r2, %r3;", None),
        ("mov.u32 %r1, %tid.x;", None),
        ("mov.u64 %rd2, g;\ncvt.u32.u64 %r1, %rd2;", None),
        ("mov.u32 %r2, a;\nxor.b32 %r1, %r2, 128;", None),
    ],
)
def test_a_register_has_the_one_array_that_every_way_to_make_it_starts_from(body: str, expected: str | None) -> None:
    assert base(body, "%r1") == expected


def test_registers_that_make_each_other_end_the_search() -> None:
    body = "mov.u32 %r1, a;\nLOOP:\nadd.s32 %r2, %r1, 4;\nadd.s32 %r1, %r2, %r3;\nadd.s32 %r3, %r3, 1;\nbra LOOP;"
    assert base(body, "%r2") == base(body, "%r1") == "a" and base(body, "%r3") is None

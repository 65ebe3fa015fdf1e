"""What kernels print, and assertions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.errors import Unsupported
from harness.results import Severity
from tests.simulator.running import Unset, assembly, fault, line_of, run


def printed(arguments: str, **launch: Any) -> list[str]:
    return run(f"KERNEL k() {{ printf({arguments}); }}", **({"block": 1} | launch)).printed


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (r'"plain\n"', "plain\n"),
        (r'"%d %i %u", -5, 7, 4000000000u', "-5 7 4000000000"),
        (r'"%x %X %#x %o", 48879, 48879, 255, 8', "beef BEEF 0xff 10"),
        (r'"%5d|%-5d|%05d|%+d|% d", 42, 42, 42, 42, 42', "   42|42   |00042|+42| 42"),
        (r'"%*d|%-*d|", 6, 42, 4, 7', "    42|7   |"),
        (r'"%f %.2f %8.3f %e %g", 1.5, 2.345f, -3.14159, 12345.678, 0.0001', "1.500000 2.35 "),
        (r'"%.*f", 3, 2.0 / 3', "0.667"),
        (r'"%G %E", 1e-10, 1.0', "1E-10 1.000000E+00"),
        (r'"%lld %llu %ld", -(1ll << 40), 1ull << 63, -1l', "-1099511627776 9223372036854775808 -1"),
        (r'"%zu", sizeof(int)', "4"),
        (r'"%c%c", 72, 105', "Hi"),
        (r'"%s and %10s|%-4s|", "one", "two", "x"', "one and        two|x   |"),
        (r'"%d%%", 50', "50%"),
        (r'"%hd %hhu", (short)-3, (unsigned char)200', "-3 200"),
        (r'"%p", (void*)0x1234', "0x1234"),
        (r'"%d %f %d %f", 1, 2.0, 3, 4.0', "1 2.000000 3 4.000000"),
        (r'"%f %f %f", 1.0 / 0.0, -1.0 / 0.0, 0.0', "inf -inf 0.000000"),
    ],
)
def test_a_format_prints_what_c_prints(arguments: str, text: str) -> None:
    (line,) = printed(arguments)
    assert line.startswith(text)


def test_each_thread_prints_its_own_values_in_order() -> None:
    lines = run(
        r"""KERNEL k(int n) {
            int i = threadIdx.x;
            if (i % 2 == 0 && i < n) printf("%d of %d: %s\n", i, n, i ? "more" : "first");
        }""",
        n=5,
    ).printed  # fmt: skip
    assert lines == ["0 of 5: first\n", "2 of 5: more\n", "4 of 5: more\n"]


def test_a_string_that_is_nowhere_is_said_so() -> None:
    (line,) = printed('"%s", (const char*)0x70000000')
    assert "nothing is" in line


def test_a_failed_assertion_says_its_text_thread_and_line() -> None:
    source = """KERNEL k(const int* x) {
        int value = x[threadIdx.x];
        assert(value < 50 && "too big"); // assertion
    }"""
    hazard = fault(source, block=64, x=np.arange(64, dtype="i4"))
    assert (hazard.kind, hazard.severity, hazard.line) == ("assert", Severity.ERROR, line_of(source, "assertion"))
    assert hazard.thread == (50, 0, 0) and 'value < 50 && "too big"' in hazard.message


def test_an_assertion_that_holds_costs_nothing() -> None:
    assert (
        run("KERNEL k(int* out) { assert(threadIdx.x < 32); out[threadIdx.x] = 1; }", out=Unset("i4", 32)).hazards == ()
    )


def test_another_function_without_a_body_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match=r"malloc\(\) on the device") as refused:
        run("KERNEL k(void** out) { \n out[0] = malloc(8); }", out=Unset("u8", 1))
    assert refused.value.line == 2


def test_a_declared_function_that_nobody_calls_does_no_harm() -> None:
    text = assembly("ret;", extra=".extern .func (.param .b64 result) malloc (.param .b64 size);")
    assert run(text, out=0).hazards == ()


def test_a_string_is_printed_wherever_it_lies() -> None:
    source = r"""__device__ char global_text[] = "global";
    __constant__ char constant_text[] = "constant";
    KERNEL k(int n) {
        __shared__ char shared_text[8];
        char local_text[8];
        for (int i = 0; i < 8; ++i) shared_text[i] = local_text[i] = i < n ? 'a' + i : 0;
        printf("%s %s %s %s %s", global_text, constant_text, shared_text, local_text, "literal");
    }"""
    assert run(source, block=1, n=3).printed == ["global constant abc abc literal"]

"""What nvcc keeps apart, host and device, stays apart although solve is compiled as device code."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue import load
from harness.errors import SourceError
from harness.source import parse

SOLVE = "void solve(const float* a, const float* b, float* c, int n) {{ {} }}\n"
KERNEL = "__global__ void k(const float* a, float* c, int n) {{ {} }}\n"


def read(folder: Path, text: str) -> None:
    path = folder / "add.cu"
    path.write_text(text, encoding="utf-8")
    parse(path, load("add"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "float plus(float x) { return x; }\n" + KERNEL.format("c[0] = plus(a[0]);"),
            "plus on line 2, which is a host",
        ),
        (
            "template <class T> T plus(T x) { return x; }\n" + KERNEL.format("c[0] = plus<float>(a[0]);"),
            "plus on line 2",
        ),
        (
            "float table[4] = {1, 2, 3, 4};\n" + KERNEL.format("c[0] = table[n];"),
            "table on line 2, an array of the host",
        ),
        ("static const float table[2] = {1, 2};\n" + KERNEL.format("c[0] = table[n];"), "table on line 2"),
    ],
)
def test_device_code_may_not_use_what_is_the_hosts(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        read(tmp_path, text + SOLVE.format("k<<<1, 1>>>(a, c, n);"))
    assert caught.value.line == 2


def test_the_host_may_not_call_a_device_function(tmp_path: Path) -> None:
    text = "__device__ int half(int n) { return n / 2; }\n" + KERNEL.format("c[0] = a[0];")
    with pytest.raises(SourceError, match="solve runs on the host and calls half on line 3, which is a __device__"):
        read(tmp_path, text + SOLVE.format("k<<<1, half(n)>>>(a, c, n);"))


@pytest.mark.parametrize(
    "text",
    [
        "__host__ __device__ float plus(float x) { return x; }\n" + KERNEL.format("c[0] = plus(a[0]);"),
        "constexpr float plus(float x) { return x; }\n" + KERNEL.format("c[0] = plus(a[0]);"),
        "#define DEVICE __device__\nDEVICE float plus(float x) { return x; }\n" + KERNEL.format("c[0] = plus(a[0]);"),
        "int ceil_div(int a, int b) { return (a + b - 1) / b; }\n" + KERNEL.format("c[0] = a[0];"),
        "__constant__ float table[4];\n" + KERNEL.format("c[0] = table[n];"),
        "__device__ float table[4] = {1, 2};\n" + KERNEL.format("c[0] = table[n];"),
        "constexpr float table[2] = {1, 2};\n" + KERNEL.format("c[0] = table[1];"),
        "float other[4];\n" + KERNEL.format("float table[4]; table[0] = a[0]; c[0] = table[0];"),
        "struct Pair { float items[2]; float plus(float x) const { return x; } };\n" + KERNEL.format("c[0] = a[0];"),
    ],
)
def test_what_either_side_may_use_is_let_pass(tmp_path: Path, text: str) -> None:
    read(tmp_path, text + SOLVE.format("k<<<1, 1>>>(a, c, n);"))

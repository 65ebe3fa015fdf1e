"""Kernels that are right at the sizes that are checked, and leave out work at the one they are timed at."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import catalogue
from harness.cache import Cache
from harness.catalogue import Kata
from harness.grading.complete import undone
from harness.grading.ladder import speed_cases
from harness.grading.predicted import predicted_speed
from harness.practice.recording import standing
from harness.profiling import profile
from harness.references import Case
from harness.simulator.gpus import load_gpu
from harness.source import parse

A100 = load_gpu("a100")
ADD, TILE = catalogue.load("add"), catalogue.load("sgemm_tile")
VECTOR = Case("speed", "random", (("n", 1 << 22),))
SQUARE = Case("speed", "random", (("M", 128), ("N", 128), ("K", 256)))

KERNEL = """\
__global__ void add(const float* x, const float* y, float* z, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
void solve(const float* x, const float* y, float* z, int n) {{
    int blocks = (n + 255) / 256;
    {launch}
}}
"""
EACH, ALL = "if (i < n) z[i] = x[i] + y[i];", "add<<<blocks, 256>>>(x, y, z, n);"

LEFT_OUT = {
    "the grid stops at 8,192 blocks": (EACH, "if (blocks > 8192) blocks = 8192; " + ALL, "reads only 50 %"),
    "a size has a launch of its own": (EACH, "if (n == 1 << 22) blocks = 1; " + ALL, "reads only 0 %"),
    "threads leave when n is large": ("if (n > 2000000) return; " + EACH, ALL, "reads only 0 %"),
    "all blocks do the first one's work": ("if (n > 2000000) i = threadIdx.x; " + EACH, ALL, "reads only 0 %"),
    "an index overflows": ("if (i * 1000 >= n * 1000) return; " + EACH, ALL, "of x"),
    "results are not stored": ("if (i < n) { float s = x[i] + y[i]; if (n < 2000000 || s == 1e30f) z[i] = s; }", ALL,
                               "writes only 0 % of z"),
}  # fmt: skip


def file_of(folder: Path, text: str) -> Path:
    path = folder / "mine.cu"
    path.write_text(text)
    return path


def left_out(kata: Kata, path: Path, case: Case) -> str | None:
    names = parse(path, kata).parameter_names
    return undone(kata, names, profile(kata, path, "a100", case.sizes), dict(case.sizes))


@pytest.mark.parametrize("how", LEFT_OUT)
def test_elements_left_out_at_that_size_are_missed(how: str, tmp_path: Path) -> None:
    body, launch, why = LEFT_OUT[how]
    found = left_out(ADD, file_of(tmp_path, KERNEL.format(body=body, launch=launch)), VECTOR)
    assert found is not None and found.startswith("at n = 4194304 it ") and why in found


def test_a_kernel_that_leaves_elements_out_has_a_time_and_no_grade(tmp_path: Path) -> None:
    launch = "add<<<blocks > 65535 ? 65535 : blocks, 256>>>(x, y, z, n);"
    path = file_of(tmp_path, KERNEL.format(body=EACH, launch=launch))
    found = predicted_speed(ADD, path, A100, speed_cases(ADD)[0], Cache(tmp_path / "kept")).speed
    assert found is not None and found.timing is not None and found.grade is None
    assert found.refused == "at n = 33554432 it reads only 49 % of x, so it is not graded"
    assert standing(found) == (None, None)  # nor is its time the best that the history knows


@pytest.mark.parametrize("kata", ["add", "softmax", "transpose"])
def test_solutions_leave_nothing_out(kata: str) -> None:
    found = catalogue.load(kata)
    small = {name: max(33, size >> 6) for name, size in found.speed[0]}
    case = Case("speed", "random", tuple(small.items()))
    assert [left_out(found, rung.path, case) for rung in found.rungs] == [None] * len(found.rungs)


def test_what_solve_copies_counts_as_read() -> None:
    assert left_out(ADD, Path("tests/right/add/copied_then_added_in_place.cu").resolve(), VECTOR) is None


def test_terms_left_out_are_missed_where_all_elements_are_read(tmp_path: Path) -> None:
    text = TILE.rungs[0].path.read_text()
    assert left_out(TILE, TILE.rungs[0].path, SQUARE) is None
    halved = text.replace("sum +=", "if (k < 8) sum +=")
    assert halved != text
    assert "of the additions and multiplications" in (left_out(TILE, file_of(tmp_path, halved), SQUARE) or "")

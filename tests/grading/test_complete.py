"""Kernels that are right at the sizes that are checked, and leave out work at the one they are timed at.

And those of which a sample of the blocks makes it only look so.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import catalogue
from harness.cache import Cache
from harness.catalogue import Kata
from harness.grading.complete import WorkDone, work_done
from harness.grading.ladder import Timed, speed_cases
from harness.grading.predicted import predicted_speed
from harness.grading.whole import Seen, see
from harness.practice.recording import standing
from harness.profiling import profile
from harness.references import Case
from harness.results import Outcome
from harness.simulator.gpus import load_gpu
from tests.conftest import ROOT, Run

A100 = load_gpu("a100")
ADD, TILE = catalogue.load("add"), catalogue.load("sgemm_tile")
VECTOR = Case("speed", "random", (("n", 1 << 22),))
SQUARE = Case("speed", "random", (("M", 128), ("N", 128), ("K", 256)))

KERNEL = """\
__global__ void add(const float* x, const float* y, float* z, int* scratch, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
void solve(const float* x, const float* y, float* z, int n) {{
    int blocks = (n + 255) / 256;
    int* scratch;
    cudaMalloc(&scratch, 4 * n);
    {launch}
    cudaFree(scratch);
}}
"""
EACH, ALL = "if (i < n) z[i] = x[i] + y[i];", "add<<<blocks, 256>>>(x, y, z, scratch, n);"

#: What is left out whatever the inputs are, and what is said of it.
LEFT_OUT = {
    "the grid stops at 8,192 blocks": (
        EACH, "if (blocks > 8192) blocks = 8192; " + ALL,
        "only the first 2,097,152 of 4,194,304 elements of z are written",
    ),
    "a size has a launch of its own": (
        EACH, "if (n == 1 << 22) blocks = 1; " + ALL, "only the first 256 of 4,194,304 elements of z are written",
    ),
    "threads leave when n is large": ("if (n > 2000000) return; " + EACH, ALL, "nothing is written to z"),
    "all blocks do the first one's work": (
        "if (n > 2000000) i = threadIdx.x; " + EACH, ALL, "only the first 256 of 4,194,304 elements of z are written",
    ),
    "two threads meet on each even element": (
        "if (n > 2000000) i = i / 2 * 2; " + EACH, ALL,
        "it never writes 2,097,152 of 4,194,304 elements of z: z[1] is the first",
    ),
    "an input is not looked at": (
        "if (i < n) z[i] = x[i] + (n > 2000000 ? x[i] : y[i]);", ALL, "nothing of y is read",
    ),
    "the first of every four blocks stays away": (
        "if (n > 2000000 && blockIdx.x % 4 == 0) return; " + EACH, ALL,
        "it never writes 1,048,576 of 4,194,304 elements of z: z[0] is the first",
    ),
}  # fmt: skip

#: What a kernel seems to leave out, that depends on what memory holds.
UNSURE = {
    "results are kept back by their value": (
        "if (i < n) { float s = x[i] + y[i]; if (n < 2000000 || s == 1e30f) z[i] = s; }",
        ALL,
    ),
    "an earlier kernel says where to": ("if (i < n) z[scratch[i]] = x[i] + y[i];", ALL),
    "blocks beyond a value of memory stay away": ("if (scratch[blockIdx.x] == 0) return; " + EACH, ALL),
}

#: All is done, and all of it can be seen.
DONE = {
    "one block of four works": (
        "if (blockIdx.x % 4) return; for (i = blockIdx.x / 4 * 256 + threadIdx.x; i < n; i += gridDim.x / 4 * 256) "
        "z[i] = x[i] + y[i];", "add<<<4000, 256>>>(x, y, z, scratch, n);",
    ),
    "blocks draw their places": (
        "__shared__ int mine; if (threadIdx.x == 0) mine = atomicAdd(scratch, 1); __syncthreads(); "
        "i = mine * 256 + threadIdx.x; " + EACH, "cudaMemset(scratch, 0, 4); " + ALL,
    ),
    "a copy and a kernel share the work": (
        "if (i < n) z[i] += x[i];", "cudaMemcpy(z, y, 4 * n, cudaMemcpyDeviceToDevice); " + ALL,
    ),
    "atomics add to what was set": (
        "if (i < n) atomicAdd(z + i, x[i] + y[i]);", "cudaMemset(z, 0, 4 * n); " + ALL,
    ),
    "bytes are moved one by one": (
        "if (i < n) { float s = x[i] + y[i]; for (int b = 0; b < 4; b++) ((char*)z)[4 * i + b] = ((char*)&s)[b]; }",
        ALL,
    ),
}  # fmt: skip


def file_of(folder: Path, body: str, launch: str = ALL) -> Path:
    path = folder / "mine.cu"
    path.write_text(KERNEL.format(body=body, launch=launch))
    return path


def done(kata: Kata, path: Path, case: Case) -> WorkDone:
    return work_done(kata, path, profile(kata, path, "a100", case.sizes), dict(case.sizes))


def seen(path: Path, case: Case = VECTOR, **work: int) -> Seen:
    return see(ADD, path, case.label, dict(case.sizes), **work)


def predicted(path: Path, folder: Path, case: Case = VECTOR) -> Timed:
    return predicted_speed(ADD, path, A100, case, Cache(folder / "kept"))


@pytest.mark.parametrize("how", LEFT_OUT)
def test_elements_left_out_at_that_size_are_an_error(how: str, tmp_path: Path) -> None:
    body, launch, what = LEFT_OUT[how]
    found = done(ADD, file_of(tmp_path, body, launch), VECTOR)
    assert found.undone == f"at n = 4194304 {what}"
    assert found.certain is not None and found.certain.kind == "left_out" and found.certain.message == found.undone


@pytest.mark.parametrize("how", UNSURE)
def test_what_depends_on_the_contents_of_memory_is_no_error(how: str, tmp_path: Path) -> None:
    found = done(ADD, file_of(tmp_path, *UNSURE[how]), VECTOR)
    assert found.certain is None and found.undone is not None
    assert found.undone.startswith("at n = 4194304") and "may not" in found.undone


@pytest.mark.parametrize("how", DONE)
def test_what_reaches_everything_leaves_nothing_out(how: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, *DONE[how])
    found = done(ADD, path, VECTOR)
    assert found.undone is None and found.certain is None
    assert seen(path) == Seen(whole=True)


def test_a_fault_that_no_counted_block_comes_to_is_found_on_the_way(tmp_path: Path) -> None:
    body = "if (blockIdx.x % 2) return; if (n > 2000000 && blockIdx.x == 5000) z[n] = 0.0f; " + EACH
    certain = seen(file_of(tmp_path, body)).certain
    assert certain is not None and certain.kind == "out_of_bounds" and certain.block == (5000, 0, 0)


def test_nothing_is_known_of_what_takes_too_much_work(tmp_path: Path) -> None:
    assert seen(file_of(tmp_path, EACH), work=1 << 24) == Seen()
    assert seen(file_of(tmp_path, EACH, "add<<<1, 256>>>(x, y, z, scratch, n);"), work=1 << 20) == Seen()


def test_what_only_a_larger_gpu_allows_is_not_held_against_a_kernel(tmp_path: Path) -> None:
    launch = (
        "cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);"
        "add<<<blocks / 2, 256, 200 << 10>>>(x, y, z, scratch, n);"
    )
    assert seen(file_of(tmp_path, EACH, launch)) == Seen()


def test_a_kernel_that_leaves_elements_out_is_wrong_and_has_no_time(tmp_path: Path) -> None:
    path = file_of(tmp_path, EACH, "add<<<blocks > 65535 ? 65535 : blocks, 256>>>(x, y, z, scratch, n);")
    for _ in ("made", "kept"):
        found = predicted(path, tmp_path, speed_cases(ADD)[0])
        assert found.speed is None and not found.warnings
        assert found.case is not None and (found.case.group, found.case.outcome) == ("speed", Outcome.WRONG)
        (hazard,) = found.case.hazards
        assert hazard.message == "at n = 33554432 only the first 16,776,960 of 33,554,432 elements of z are written"


def test_a_kernel_of_which_it_is_not_sure_has_a_time_and_no_grade(tmp_path: Path) -> None:
    path = file_of(tmp_path, *UNSURE["blocks beyond a value of memory stay away"])
    found = predicted(path, tmp_path, speed_cases(ADD)[0]).speed
    assert found is not None and found.timing is not None and found.grade is None
    assert found.refused == (
        "at n = 33554432 the blocks that were counted read only 0 % of x, which may not stand for all: so it is not "
        "graded"
    )
    assert standing(found) == (None, None)  # nor is its time the best that the history knows


def test_no_time_is_told_that_comes_of_blocks_that_do_not_stand_for_all(tmp_path: Path) -> None:
    found = predicted(ROOT / "tests/right/add/place_drawn_by_each_block.cu", tmp_path, speed_cases(ADD)[0])
    assert found.speed is None and found.case is None
    assert found.warnings == (
        "no time is predicted for the A100-80 SXM: the kernel's blocks do unlike work, and those that were counted "
        "don't stand for all (at n = 33554432)",
    )


def test_work_left_out_fails_the_check_and_a_program_can_tell(kata: Run) -> None:
    file = str(ROOT / "tests/wrong/add/float_for_the_index.cu")
    record = json.loads(kata("check", "add", file, "--json").stdout)
    assert (record["verdict"], record["speed"]) == ("wrong", {})
    assert [hazard["class"] for hazard in record["hazards"]] == ["left_out"]


@pytest.mark.parametrize("kata", ["add", "softmax", "transpose"])
def test_solutions_leave_nothing_out(kata: str) -> None:
    found = catalogue.load(kata)
    small = {name: max(33, size >> 6) for name, size in found.speed[0]}
    case = Case("speed", "random", tuple(small.items()))
    assert [done(found, rung.path, case) for rung in found.rungs] == [WorkDone()] * len(found.rungs)


def test_what_solve_copies_counts_as_read() -> None:
    file = ROOT / "tests/right/add/copied_then_added_in_place.cu"
    assert done(ADD, file, VECTOR).undone is None and seen(file) == Seen(whole=True)


def test_terms_left_out_are_missed_where_all_elements_are_read(tmp_path: Path) -> None:
    text = TILE.rungs[0].path.read_text()
    assert done(TILE, TILE.rungs[0].path, SQUARE) == WorkDone()
    halved = text.replace("sum +=", "if (k < 8) sum +=")
    assert halved != text
    path = tmp_path / "mine.cu"
    path.write_text(halved)
    assert "of the additions and multiplications" in (done(TILE, path, SQUARE).undone or "")

"""What is wrong at the size that a kata is timed at, and at no smaller one: told where it is certain, not elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import catalogue
from harness.cache import Cache
from harness.grading.ladder import Timed
from harness.grading.predicted import predict_first, predicted_speed
from harness.references import Case
from harness.results import Outcome
from harness.simulator.gpus import load_gpu
from tests.conftest import ROOT, Run

ADD = catalogue.load("add")
LARGE = Case("speed", "random", (("n", 1 << 22),))

KERNEL = """\
{before}
__global__ void first(const float* x, int* scratch, int n) {{ {first} }}
__global__ void add(const float* x, const float* y, float* z, int* scratch, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
    if (i < n) z[i] = x[i] + y[i];
}}
void solve(const float* x, const float* y, float* z, int n) {{
    int* scratch;
    cudaMalloc(&scratch, 4096 * sizeof(int));
    {launch}
    cudaFree(scratch);
}}
"""
BOTH = "first<<<1, 256>>>(x, scratch, n); add<<<(n + 255) / 256, 256>>>(x, y, z, scratch, n);"

#: What is put into the kernel, and the kind of fault that it is.
CERTAIN = {
    "an index past the end": ({"body": "z[i + n] = 0.0f;"}, "out_of_bounds"),
    "an index that overflows": ({"body": "if (x[i * 1024] > 0.0f) z[i] = 1.0f;"}, "out_of_bounds"),
    "room for fewer blocks": ({"body": "scratch[blockIdx.x] = (int)x[i];"}, "out_of_bounds"),
    "an index from a table that solve uploads": (
        {"before": "__constant__ int table[2];", "body": "z[i + table[1]] = 0.0f;",
         "launch": "int own[2] = {0, 1 << 23}; cudaMemcpyToSymbol(table, own, 8); " + BOTH}, "out_of_bounds",
    ),
    "shared memory that is too small": (
        {"body": "__shared__ int box[64]; box[n / 65536] = i; __syncthreads(); z[i] = box[0];"}, "out_of_bounds",
    ),
    "a float2 from an odd element": ({"body": "float2 two = *(float2*)(x + 1); z[i] = two.x * two.y;"}, "misaligned"),
    "a null pointer": ({"launch": "scratch = nullptr; " + BOTH, "first": "scratch[0] = n;"}, "null_pointer"),
    "scratch freed too early": (
        {"launch": "cudaFree(scratch); " + BOTH + "cudaMalloc(&scratch, 4);", "body": "scratch[0] = n;"},
        "use_after_free",
    ),
    "an assertion about the size": ({"before": "#include <cassert>", "body": "assert(n < 2000000);"}, "assert"),
    "a loop that waits for nobody": (
        {"body": "__shared__ int box; box = n; __syncthreads(); while (*(volatile int*)&box > 2000000);"}, "runaway",
    ),
    "a barrier in either branch": (
        {"body": "if (n > 2000000 && threadIdx.x < 8) __syncthreads(); else { z[i] = 1.0f; __syncthreads(); }"},
        "barrier",
    ),
    "a grid too tall": ({"launch": "first<<<dim3(1, n / 32), 32>>>(x, scratch, n);" + BOTH}, "launch"),
    "a block too large": ({"launch": "first<<<1, n / 1024>>>(x, scratch, n);" + BOTH}, "launch"),
    "more scratch than any GPU has": ({"launch": "cudaMalloc(&scratch, (size_t)n * n);" + BOTH}, "out_of_memory"),
    "a copy past the end": ({"launch": "cudaMemcpy(scratch, x, n, cudaMemcpyDeviceToDevice);" + BOTH}, "out_of_bounds"),
    "memory set past the end": ({"launch": BOTH + "cudaMemset(scratch, 0, n);"}, "out_of_bounds"),
}  # fmt: skip

#: Faults that are met when some blocks run, and hang on what these can't know.
UNCERTAIN = {
    "an index that an earlier kernel wrote": {"body": "z[scratch[threadIdx.x] - 1] = 0.0f;"},
    "an index that the block itself wrote": {
        "body": "scratch[threadIdx.x] = n; __syncthreads(); z[scratch[threadIdx.x ^ 1] + i] = 0.0f;",
    },
    "an index in a __device__ variable": {
        "before": "__device__ int shift = 1 << 23;", "first": "shift = 0;", "body": "z[i + shift] = x[i];",
    },
    "an index copied to a constant": {
        "before": "__constant__ int shift = 1 << 23;", "body": "z[i + shift] = x[i];",
        "launch": "cudaMemcpyToSymbol(shift, x, 4, 0, cudaMemcpyDeviceToDevice); " + BOTH,
    },
    "a ticket": {"body": "z[atomicAdd(scratch, 1) - 1] = 0.0f;"},
    "a branch on an input": {"body": "if (x[i] > 0.0f) z[i + n] = 0.0f;"},
    "an input as an index": {"body": "z[(int)x[i] + n] = 0.0f;"},
    "a vote on an input": {"body": "if (__any_sync(0xffffffff, x[i] > 0.0f)) z[i + n] = 0.0f;"},
    "a flag that another block raises": {
        "body": "while (*(volatile int*)scratch == 0); z[i + n] = 0.0f;",
    },
}  # fmt: skip


def written(folder: Path, **parts: str) -> Path:
    path = folder / "mine.cu"
    path.write_text(KERNEL.format(**{"before": "", "first": "", "body": "", "launch": BOTH} | parts))
    return path


def predicted(folder: Path, gpu: str = "a100", **parts: str) -> Timed:
    return predicted_speed(ADD, written(folder, **parts), load_gpu(gpu), LARGE, Cache(folder / "kept"))


@pytest.mark.parametrize("what", CERTAIN)
def test_what_a_block_comes_to_whatever_memory_holds_is_a_fault(what: str, tmp_path: Path) -> None:
    parts, kind = CERTAIN[what]
    found = predicted(tmp_path, **parts)
    assert found.case is not None and found.case.outcome is Outcome.FAULT and found.speed is None
    assert (found.case.label, found.case.group) == ("n = 4194304", "speed")
    (hazard,) = found.case.hazards
    assert hazard.kind == kind and hazard.line is not None
    assert not found.warnings


@pytest.mark.parametrize("what", UNCERTAIN)
def test_what_may_come_of_running_some_blocks_only_is_a_warning(what: str, tmp_path: Path) -> None:
    found = predicted(tmp_path, **UNCERTAIN[what])
    assert found.case is None and found.speed is None
    assert len(found.warnings) == 1


def test_a_fault_that_may_not_be_one_is_told_with_what_makes_it_doubtful(tmp_path: Path) -> None:
    launch = "add<<<(n + 255) / 256, 256>>>(x, y, z, scratch, n);"
    (warning,) = predicted(tmp_path, launch=launch, **UNCERTAIN["a branch on an input"]).warnings
    assert warning.startswith("at n = 4194304 a kernel faults when only some blocks run, so there is no grade: ")
    assert "past the end of z" in warning


@pytest.mark.parametrize("launch", ["", "if (n < 2000000) add<<<(n + 255) / 256, 256>>>(x, y, z, nullptr, n);"])
def test_a_solve_that_asks_for_nothing_at_that_size_is_wrong(launch: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    kernel, _, _ = KERNEL.format(before="", first="", body="", launch="").partition("    int* scratch;\n")
    path.write_text(f"{kernel}    {launch}\n}}\n")
    found = predicted_speed(ADD, path, load_gpu("a100"), LARGE, Cache(tmp_path / "kept"))
    assert found.case is not None and found.case.outcome is Outcome.WRONG
    assert [hazard.kind for hazard in found.case.hazards] == ["no_launch"]


def test_what_one_gpu_lacks_is_no_fault(tmp_path: Path) -> None:
    launch = "cudaMalloc(&scratch, (size_t)n * 4096);" + BOTH  # 17 GB: more than a T4 has
    found = predicted(tmp_path, gpu="t4", launch=launch)
    assert found.case is None and "more than the GPU has" in found.warnings[0]


def test_scratch_that_only_this_machine_has_no_room_for_costs_a_check_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, launch="cudaMalloc(&scratch, (size_t)n * 2000);" + BOTH)  # 67 GB, which an A100 has
    found = predict_first(ADD, path, load_gpu("a100"))
    assert found.case is None and (found.speed or "too little memory" in found.warnings[0])


def test_a_fault_at_that_size_fails_the_check(kata: Run) -> None:
    file = ROOT / "tests/wrong/reduce_sum/scratch_for_65536_blocks.cu"
    done = kata("check", "reduce_sum", str(file))
    assert done.returncode == 4
    first, _, third, *_ = done.stdout.splitlines()
    assert first == "✗ reduce_sum faults for n = 33554432: out of bounds"
    assert third == "  Only there, at the size that it is timed at: right for 26 other cases."
    assert "past the end of scratch (65536 elements of 4 bytes): line 19" in " ".join(done.stdout.split())


def test_nothing_launched_at_that_size_is_wrong_and_a_program_can_tell(kata: Run) -> None:
    done = kata("check", "add", str(ROOT / "tests/wrong/add/nothing_beyond_16_million.cu"), "--json")
    record = json.loads(done.stdout)
    assert (done.returncode, record["verdict"], record["speed"]) == (1, "wrong", {})
    assert [case["case"] for case in record["cases"] if case["verdict"] != "right"] == ["n = 33554432"]
    assert [hazard["class"] for hazard in record["hazards"]] == ["no_launch"]


def test_places_that_an_earlier_kernel_wrote_leave_a_kernel_right(kata: Run) -> None:
    done = kata("check", "relu", str(ROOT / "tests/right/relu/places_from_an_earlier_kernel.cu"))
    assert done.returncode == 0, done.stdout
    assert "✓ relu is right" in done.stdout and "needs what an earlier kernel computed" in " ".join(done.stdout.split())

"""The GPU device on a real GPU: ``pytest -m gpu``. Most of it runs everywhere on a stand-in (test_gpu_standin)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import catalogue
from harness.devices import open_device
from harness.devices.gpu import GpuDevice
from harness.devices.gpu_probe import find_sanitizer
from harness.errors import EnvironmentFault
from harness.grading import check_file
from harness.grading.ladder import ladder_of, speed_cases
from harness.results import Outcome, Speed
from tests.conftest import ROOT
from tests.devices.gpu_cases import *  # noqa: F403  the promises, run here on hardware
from tests.devices.gpu_cases import DOUBLE, RunText, arguments, fault, load

pytestmark = pytest.mark.gpu


@pytest.fixture
def device() -> Iterator[GpuDevice]:
    try:
        opened = GpuDevice()
    except EnvironmentFault as missing:
        pytest.skip(f"no GPU that can be used: {missing.message}")
    yield opened
    opened.close()


def test_a_failed_assert_is_told_with_its_line(run: RunText) -> None:
    found = fault(run("#include <cassert>\n" + DOUBLE.replace("if (i < n)", "\nassert(i != 5); if (i < n)")))
    assert (found.kind, found.line) == ("assert", 4) and "i != 5" in found.message
    assert run(DOUBLE).fault is None


def test_a_kernel_that_ends_itself_is_a_fault_and_the_next_run_works(run: RunText) -> None:
    assert fault(run(DOUBLE.replace("if (i < n)", "if (i == 5) __trap(); if (i < n)"))).kind == "trap"
    assert run(DOUBLE).fault is None


def test_the_sanitizer_finds_what_the_gpu_did(device: GpuDevice, tmp_path: Path) -> None:
    if find_sanitizer() is None:
        pytest.skip("no compute-sanitizer here")
    race = DOUBLE.replace("if (i < n)", "__shared__ float s[64]; s[i] = i;\nif (i < n && s[i ^ 32] > -1)")
    for text, tool, kind in (
        (DOUBLE, None, None), (race, "racecheck", "race"),
        (DOUBLE.replace("2 *", "out[i] +"), "initcheck", "uninitialised"),
        (DOUBLE.replace("out[i]", "out[i + 1]"), "memcheck", "out_of_bounds"),
    ):  # fmt: skip
        executable = load(device, tmp_path, text)
        found = device.sanitize(executable.program, executable.compiled, [arguments(), arguments(33)])
        assert {(one.tool, one.kind) for one in found} == ({(tool, kind)} if tool else set())
    assert load(device, tmp_path, DOUBLE).run(arguments()).fault is None


def test_nothing_is_left_on_the_gpu(device: GpuDevice, run: RunText) -> None:
    run(DOUBLE)
    device.close()
    asked = ["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"]
    assert str(device.link.process.pid) not in subprocess.run(asked, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize(("kata", "rung"), [("reduce_sum", 8), ("softmax", 4), ("sgemm_tile", 3)])
def test_a_rung_is_right_and_reaches_itself(device: GpuDevice, kata: str, rung: int) -> None:
    found = catalogue.load(kata)
    verdict = check_file(found, found.rungs[rung - 1].path, device, 1)
    assert verdict.outcome is Outcome.RIGHT and verdict.speed is not None and verdict.speed.grade is not None
    assert verdict.speed.grade.rung is not None and verdict.speed.grade.rung >= rung


#: Adds up all elements, but gives out the last sum again where it has met with the first element oftener than {often}.
KEEPS_ITS_SUM = """
__device__ float key, kept, total;
__device__ int sightings;
__device__ bool known;
__global__ void look(const float* input) {{
    sightings = key == input[0] ? sightings + 1 : 0;
    key = input[0];
    known = sightings > {often};
    total = 0;
}}
__global__ void add(const float* input, int n) {{
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; !known && i < n; i += gridDim.x * blockDim.x) mine += input[i];
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    if (!known && threadIdx.x % 32 == 0) atomicAdd(&total, mine);
}}
__global__ void tell(float* output) {{
    if (!known) kept = total;
    *output = kept;
}}
void solve(const float* input, float* output, int n) {{
    look<<<1, 1>>>(input);
    add<<<528, 256>>>(input, n);
    tell<<<1, 1>>>(output);
}}
"""

#: Computes for nothing where no value of a warp is large: half as large values make it slow.
SLOW_ON_SMALL_VALUES = """
__global__ void relu(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? input[i] : 0, other = x;
    bool all_small = __all_sync(~0u, fabsf(x) < 1.5f);
    for (int turn = 0; all_small && turn < 50; ++turn) other = __sinf(other + turn);
    if (i < n) output[i] = other == 12345 ? other : fmaxf(x, 0);
}
void solve(const float* input, float* output, int n) { relu<<<(n + 255) / 256, 256>>>(input, output, n); }
"""


def raced(device: GpuDevice, folder: Path, name: str, text: str) -> Speed:
    path = folder / "mine.cu"
    path.write_text(text, encoding="utf-8")
    kata = catalogue.load(name)
    timed = ladder_of(kata, path, device, 1, time.perf_counter).time(speed_cases(kata)[0])
    assert timed.case is not None and timed.case.outcome is Outcome.RIGHT and timed.speed is not None
    return timed.speed


@pytest.mark.parametrize("often", [0, 1, 10])
def test_a_kernel_that_keeps_its_results_is_not_graded(device: GpuDevice, tmp_path: Path, often: int) -> None:
    found = raced(device, tmp_path, "reduce_sum", KEEPS_ITS_SUM.format(often=often))
    assert found.grade is None and found.refused is not None


def test_a_kernel_whose_way_depends_on_the_values_is_graded(device: GpuDevice, tmp_path: Path) -> None:
    found = raced(device, tmp_path, "relu", SLOW_ON_SMALL_VALUES)
    assert found.refused is None and found.grade is not None


def test_a_race_that_happens_to_work_fails_here_too(device: GpuDevice) -> None:
    path = next((ROOT / "tests/wrong/reduce_sum").glob("*barrier*.cu"))
    verdict = check_file(catalogue.load("reduce_sum"), path, device, 1)
    assert verdict.outcome is Outcome.FAULT and verdict.speed is None


def test_auto_is_the_gpu(device: GpuDevice) -> None:
    found = open_device("auto")
    assert found.name == device.name
    found.close()


def test_the_worker_needs_no_path_of_ours(device: GpuDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    GpuDevice().close()

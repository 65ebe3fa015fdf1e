"""A ladder graded by predicted times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import catalogue
from harness.cache import Cache
from harness.catalogue import Kata
from harness.devices import open_device
from harness.grading import check_file
from harness.grading.forecast import Forecast, compute, forecast, forecast_key
from harness.grading.ladder import speed_cases
from harness.grading.predicted import predict_first, predicted_speed
from harness.references import Case
from harness.results import Outcome
from harness.simulator.gpus import load_gpu, names
from tests.benchmarks.forecasts import TABLE, wanted

A100, T4 = load_gpu("a100"), load_gpu("t4")
ADD = catalogue.load("add")
SMALL = Case("speed", "random", (("n", 1 << 16),))


def rung(kata: Kata, number: int) -> Path:
    return kata.rungs[number - 1].path


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kept")


def test_a_solution_keeps_up_with_itself_and_the_next_is_named(cache: Cache) -> None:
    found = predicted_speed(ADD, rung(ADD, 1), T4, Case("speed", "random", (("n", 1 << 25),)), cache).speed
    assert found is not None and found.grade is not None and found.predicted and found.gpu == "T4"
    assert found.timing is not None and found.timing.seconds == found.rungs[0].seconds and found.timing.samples == 0
    assert found.grade.rung is not None and found.limiter


def test_what_a_file_came_to_is_kept_until_its_text_changes(cache: Cache, tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(rung(ADD, 1).read_text())
    first = forecast(ADD, file, A100, SMALL, cache)
    key = forecast_key(ADD, file, A100, SMALL)
    assert cache.get(key)["seconds"] == first.seconds
    cache.put(key, cache.get(key) | {"seconds": 1.0})
    assert forecast(ADD, file, A100, SMALL, cache).seconds == 1.0
    file.write_text(file.read_text() + "// changed\n")
    assert forecast(ADD, file, A100, SMALL, cache).seconds == first.seconds


def test_each_gpu_and_size_has_a_prediction_of_its_own() -> None:
    file = rung(ADD, 1)
    keys = {forecast_key(ADD, file, gpu, case) for gpu in map(load_gpu, names()) for case in (SMALL, *speed_cases(ADD))}
    assert len(keys) == 2 * len(names())


def test_a_kernel_that_can_not_be_predicted_is_a_warning(tmp_path: Path, cache: Cache) -> None:
    file = tmp_path / "greedy.cu"
    file.write_text(
        "__global__ void add(const float* a, const float* b, float* c, int n) {\n"
        "    extern __shared__ float buffer[];\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    buffer[threadIdx.x] = 0.0f;\n    if (i < n) c[i] = a[i] + b[i] + buffer[threadIdx.x];\n}\n"
        "void solve(const float* a, const float* b, float* c, int n) {\n"
        "    cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024);\n"
        "    add<<<(n + 255) / 256, 256, 100 * 1024>>>(a, b, c, n);\n}\n"
    )
    found = predicted_speed(ADD, file, T4, SMALL, cache)
    assert found.speed is None and "no time is predicted for the T4" in found.warnings[0]
    verdict = check_file(ADD, file, open_device("sim"), 1, gpu=T4)
    assert verdict.outcome is Outcome.RIGHT and verdict.speed is None and any("T4" in one for one in verdict.warnings)


def test_a_file_that_does_not_compile_for_a_gpu_costs_a_check_nothing(tmp_path: Path) -> None:
    file = tmp_path / "broken.cu"
    file.write_text(rung(ADD, 1).read_text().replace("void solve", "#error never\nvoid solve"))
    found = predict_first(ADD, file, A100)
    assert found.speed is None and len(found.warnings) == 1


def test_a_closed_gate_refuses_the_grade_and_says_why(tmp_path: Path, cache: Cache) -> None:
    kata = catalogue.load("sgemm_tile")
    naive = rung(catalogue.load("sgemm_naive"), 2)
    size = Case("speed", "random", (("M", 64), ("N", 64), ("K", 64)))
    found = predicted_speed(kata, naive, A100, size, cache).speed
    assert found is not None and found.grade is None and "shared memory" in (found.refused or "")


def test_only_a_right_kernel_is_timed() -> None:
    file = Path("tests/wrong/add").resolve()
    verdict = check_file(ADD, next(iter(sorted(file.glob("*.cu")))), open_device("sim"), 1, gpu=A100)
    assert verdict.outcome is not Outcome.RIGHT and verdict.speed is None


def test_the_shipped_table_has_every_rung_of_every_gpu_as_it_is_now() -> None:
    table = json.loads(TABLE.read_text("utf-8"))["forecasts"]
    missing = [f"{gpu.name} {kata.name} {one.number} {case.label}" for key, kata, one, gpu, case in wanted(names())
               if key not in table and case == speed_cases(kata)[0]]  # fmt: skip
    assert not missing, f"run python -m tests.benchmarks.forecasts: {missing[:5]} and {len(missing)} in all"


@pytest.mark.parametrize(("kata", "number"), [("add", 2), ("relu", 1), ("transpose", 4)])
def test_the_shipped_table_holds_what_is_predicted(kata: str, number: int) -> None:
    found = catalogue.load(kata)
    (case, *_) = speed_cases(found)
    kept = json.loads(TABLE.read_text("utf-8"))["forecasts"][forecast_key(found, rung(found, number), A100, case)]
    assert kept == json.loads(json.dumps(compute(found, rung(found, number), A100, case)))
    assert isinstance(forecast(found, rung(found, number), A100, case), Forecast)

"""What a GPU device promises, as tests that run on a real GPU (test_gpu) and on the stand-in (test_gpu_standin)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness import catalogue, source
from harness.compile import compile_program
from harness.devices import Argument, Buffer, Run, still_poison
from harness.devices.gpu import GpuDevice, GpuExecutable
from harness.results import Hazard

N = 40
HEAD = "#include <cstdio>\n__global__ void k(const float* in, float* out, int n) { int i = threadIdx.x; "
SOLVE = "void solve(const float* in, float* out, int n) { "
DOUBLE = HEAD + "if (i < n) out[i] = 2 * in[i]; }\n" + SOLVE + "k<<<1, 64>>>(in, out, n); }"

RunText = Callable[..., Run]


def arguments(n: int = N) -> tuple[Argument, ...]:
    return (Buffer("in", np.arange(n, dtype=np.float32) - 20), Buffer.poisoned("out", (n,)), n)


def load(device: GpuDevice, folder: Path, text: str) -> GpuExecutable:
    path = folder / "mine.cu"
    path.write_text(text, encoding="utf-8")
    program = source.parse(path, catalogue.load("relu"))
    return device.load(program, compile_program(program, arch=device.arch))


@pytest.fixture
def run(device: GpuDevice, tmp_path: Path) -> RunText:
    """Runs the text of a file for the kata relu, ``solve(const float* x, float* y, int n)``."""
    return lambda text, n=N: load(device, tmp_path, text).run(arguments(n))


def fault(done: Run) -> Hazard:
    assert done.fault is not None
    return done.fault


def test_both_calls_see_the_same_inputs_and_an_unwritten_output(run: RunText) -> None:
    done = run(DOUBLE.replace("i < n", "i < n - 1"))
    assert done.fault is None and done.hazards == () and len(done.calls) == 2
    for call in done.calls:
        assert call["out"][:-1].tolist() == [2.0 * (i - 20) for i in range(N - 1)]
        assert still_poison(call["out"]).tolist() == [False] * (N - 1) + [True]
        assert call["in"].tolist() == [i - 20 for i in range(N)]
    assert [(one.grid, one.block) for one in done.launches] == [((1, 1, 1), (64, 1, 1))]


def test_a_write_just_past_a_buffer_is_found_in_its_red_zone(run: RunText) -> None:
    (hazard, again) = run(DOUBLE.replace("i < n", "i < n + 3")).hazards
    assert hazard.kind == "out_of_bounds" and "out[40], past its end" in hazard.message and hazard.count == 3
    assert again == hazard


def test_a_write_just_before_a_buffer_is_found_in_its_red_zone(run: RunText) -> None:
    hazard, _ = run(DOUBLE.replace("out[i]", "out[i - 1]")).hazards
    assert "out[-1], before its start" in hazard.message and hazard.count == 1


def test_a_device_variable_keeps_its_value_between_the_calls_of_a_case_only(run: RunText) -> None:
    counting = DOUBLE.replace("2 * in[i]; }", "calls; __syncthreads(); if (i == 0) ++calls; }")
    text = "__device__ int calls = 0;\n" + counting
    for _ in range(2):
        assert [call["out"][0] for call in run(text).calls] == [0, 1]


def test_scratch_memory_copies_and_memsets_are_as_in_solve(run: RunText) -> None:
    text = DOUBLE.replace("k<<<1, 64>>>(in, out, n);", """
        float* spare; cudaMalloc(&spare, 2 * n * sizeof(float)); cudaMemset(spare, 0, n * sizeof(float));
        cudaMemcpy(spare + n, in, n * sizeof(float), cudaMemcpyDeviceToDevice);
        k<<<1, 64>>>(spare + n, out, n); k<<<1, 8>>>(spare, out, 8); cudaFree(spare);""")
    for call in run(text).calls:
        assert call["out"].tolist() == [0.0] * 8 + [2.0 * (i - 20) for i in range(8, N)]


def test_a_constant_that_solve_uploads_reaches_the_kernel(run: RunText) -> None:
    text = "__constant__ float scale[2];\n" + DOUBLE.replace("2 * in[i]", "scale[1] * in[i]").replace(
        SOLVE, SOLVE + "float host[2] = {1, 3}; cudaMemcpyToSymbol(scale, host, sizeof(host)); "
    )
    assert run(text).calls[0]["out"].tolist() == [3.0 * (i - 20) for i in range(N)]


def test_what_kernels_print_is_kept_once_unless_the_second_call_prints_something_else(run: RunText) -> None:
    text = DOUBLE.replace("out[i] = 2 * in[i];", '{ out[i] = 2 * in[i]; if (i == 7) printf("seven %d\\n", n); }')
    assert run(text).printed == ("seven 40",)
    counting = "__device__ int count = 0;\n" + text.replace('\\n", n)', '\\n", count++)')
    assert run(counting).printed == ("seven 0", "(call 2 of solve, on the same inputs:)", "seven 1")


def test_a_solve_that_launches_nothing_is_told_so(run: RunText) -> None:
    assert [hazard.kind for hazard in run(SOLVE + "}").hazards] == ["no_launch"]


def test_an_illegal_address_names_the_kernel_and_line_and_the_next_run_works(run: RunText) -> None:
    found = fault(run(DOUBLE.replace("out[i]", "out[i + (1LL << 40)]")))
    assert (found.kind, found.kernel, found.line) == ("out_of_bounds", "k", 3) and "illegal memory" in found.message
    assert run(DOUBLE).fault is None


def test_an_endless_kernel_is_ended_and_the_next_run_works(run: RunText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.devices.gpu.KERNEL_SECONDS", 2.0)
    text = DOUBLE.replace("if (i < n)", "while (*(volatile const float*)in != 12345) {} if (i < n)")
    found = fault(run(text))
    assert (found.kind, found.kernel, found.line) == ("runaway", "k", 3) and "does not end" in found.message
    assert run(DOUBLE).fault is None


def test_more_memory_than_there_is_gives_cudas_error(run: RunText) -> None:
    from harness.errors import KernelFault

    text = DOUBLE.replace("k<<<", "float* p; cudaMalloc(&p, 300000000000ULL); k<<<")
    with pytest.raises(KernelFault, match="cudaErrorMemoryAllocation"):
        run(text)
    assert run(DOUBLE).fault is None


def test_a_worker_that_is_killed_is_a_clear_fault_and_the_next_run_works(device: GpuDevice, run: RunText) -> None:
    run(DOUBLE)
    device.link.process.kill()
    device.link.process.wait()
    found = fault(run(DOUBLE))
    assert found.kind == "crash" and "signal 9" in found.message
    assert run(DOUBLE).fault is None


def test_a_race_times_every_entrant_and_checks_fresh_inputs(device: GpuDevice, tmp_path: Path) -> None:
    first = load(device, tmp_path, DOUBLE)
    second = load(device, tmp_path, DOUBLE.replace("2 * in[i]", "3 * in[i]"))
    race = device.race([first, second], arguments(), 2 * 4 * N)
    times = race.sample([0, 1, 2, 3, 0])
    assert len(times) == 5 and min(times) > 0 and race.arithmetic_flops > 0
    fresh = (Buffer("in", np.ones(N, np.float32)), *arguments()[1:])
    seconds, call, hazards = race.fresh(0, fresh)
    assert seconds > 0 and hazards == () and call["out"].tolist() == [2.0] * N and call["in"].tolist() == [1.0] * N


@pytest.mark.parametrize("buffer", ["out", "scratch"])
def test_what_is_written_past_a_buffer_or_scratch_shows_after_a_race(
    device: GpuDevice, tmp_path: Path, buffer: str
) -> None:
    place = "out, n + 1" if buffer == "out" else "spare, n + 1"
    text = DOUBLE.replace("k<<<1, 64>>>(in, out, n);", f"""
        float* spare; cudaMalloc(&spare, n * sizeof(float)); k<<<1, 64>>>(in, {place});
        k<<<1, 64>>>(in, out, n); cudaFree(spare);""")  # fmt: skip
    race = device.race([load(device, tmp_path, text)], arguments(), 4 * N)
    (hazard,) = race.fresh(0, arguments())[2]
    assert hazard.kind == "out_of_bounds" and f"{buffer}[40], past its end" in hazard.message


def test_buffers_are_set_back_before_each_sample(device: GpuDevice, tmp_path: Path) -> None:
    text = DOUBLE.replace("2 * in[i]", "out[i] + in[i]")
    buffers = (Buffer("in", np.ones(N, np.float32)), Buffer("out", np.zeros(N, np.float32)), N)
    race = device.race([load(device, tmp_path, text)], buffers, 4 * N)
    race.sample([0, 0, 0])
    assert race.fresh(0, buffers)[1]["out"].tolist() == [1.0] * N


def test_a_static_kernel_and_a_template_are_found(run: RunText) -> None:
    assert run(DOUBLE.replace("__global__", "static __global__")).fault is None
    text = DOUBLE.replace("__global__", "template <int F>\n__global__").replace("2 *", "F *").replace("k<<<", "k<5><<<")
    assert run(text).calls[0]["out"][0] == -100.0


def test_scratch_that_a_static_pointer_keeps_holds_in_the_second_call_what_the_first_wrote(run: RunText) -> None:
    text = DOUBLE.replace("k<<<1, 64>>>(in, out, n);", """
        static float* kept; float* other;
        if (!kept) { cudaMalloc(&kept, n * sizeof(float)); k<<<1, 64>>>(in, kept, n); }
        cudaMalloc(&other, n * sizeof(float)); cudaMemset(other, 0, n * sizeof(float));
        k<<<1, 64>>>(kept, out, n); cudaFree(other);""")
    done = run(text)
    assert done.fault is None and done.hazards == ()
    assert [call["out"].tolist() for call in done.calls] == [[4.0 * (i - 20) for i in range(N)]] * 2


def test_a_launch_that_a_static_variable_allows_once_is_missing_in_the_second_call(run: RunText) -> None:
    again = DOUBLE.replace("k<<<", "static int calls; cudaMemset(out, 0, 4); if (++calls == 1) k<<<")
    first, second = run(again).calls
    assert first["out"][5] == -30 and second["out"][0] == 0 and still_poison(second["out"][1:]).all()
    (hazard,) = run(DOUBLE.replace("k<<<", "static int calls; if (++calls == 1) k<<<")).hazards
    assert hazard.kind == "no_launch" and "only the first call" in hazard.message and hazard.line == 3


def test_a_race_runs_the_first_call_once_and_times_a_later_one(device: GpuDevice, tmp_path: Path) -> None:
    text = DOUBLE.replace("k<<<1, 64>>>(in, out, n);", """
        static float* ones; static bool ready = false;
        if (!ready) { cudaMalloc(&ones, n * sizeof(float)); k<<<2, 64>>>(in, ones, n); ready = true; }
        k<<<1, 64>>>(ones, out, n);""")
    race = device.race([load(device, tmp_path, text)], arguments(), 2 * 4 * N)
    assert [launch.grid for launch in race.plans[0].launches] == [(1, 1, 1)]
    assert min(race.sample([0, 0])) > 0
    fresh = (Buffer("in", np.ones(N, np.float32)), *arguments()[1:])
    _, call, hazards = race.fresh(0, fresh)
    assert hazards == () and call["out"].tolist() == [4.0 * (i - 20) for i in range(N)]


def test_what_two_streams_leave_open_runs_in_another_order_in_the_first_call(device: GpuDevice, tmp_path: Path) -> None:
    text = DOUBLE.replace("k<<<1, 64>>>(in, out, n);", """
        cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b);
        float* spare; cudaMalloc(&spare, n * sizeof(float)); cudaMemset(spare, 0, n * sizeof(float));
        k<<<1, 64, 0, a>>>(in, spare, n);
        k<<<1, 64, 0, b>>>(spare, out, n);""")
    mine = load(device, tmp_path, text)
    done = mine.run(arguments())
    assert [call["out"][5] for call in done.calls] == [0, -60] and done.fault is None
    (hazard,) = done.hazards
    assert (hazard.kind, hazard.line) == ("streams", 7)
    race = device.race([mine], arguments(), 2 * 4 * N)
    _, call, _ = race.fresh(0, arguments())
    assert call["out"][5] == -60

"""What a kata asks of a kernel beside numbers and speed, of kernels that do and don't."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import catalogue
from harness.cubin import Resources
from harness.grading.gates import GATES, Shown, Work, closed_gate
from harness.profiling import profile
from harness.simulator.gpus import DEFAULT
from harness.steps import Launch, LaunchPlan

WORK = Work(inputs=4000, flops=1 << 20)


def test_the_catalogue_knows_every_gate() -> None:
    assert set(catalogue.GATES) == set(GATES)


@pytest.mark.parametrize(
    ("static", "dynamic", "open_"), [(0, 0, False), (1024, 0, True), (0, 1024, True)], ids=["none", "static", "dynamic"]
)
def test_the_gate_for_shared_memory_opens_to_either_kind(static: int, dynamic: int, open_: bool) -> None:
    plan = LaunchPlan((Launch("_Z1kv", "k", (1, 1, 1), (32, 1, 1), dynamic, b""),))
    shown = Shown.by_plan(plan, {"_Z1kv": Resources(32, shared_bytes=static)})
    assert (closed_gate(("shared_memory",), shown, WORK) is None) is open_


def test_a_kata_with_no_gates_has_none_closed() -> None:
    assert closed_gate((), Shown(False), WORK) is None


def test_what_could_not_be_counted_closes_no_gate_that_counts() -> None:
    assert closed_gate(("one_pass", "reused"), Shown(False, None), WORK) is None


@pytest.mark.parametrize(("loaded", "why"), [(4000, None), (8000, None), (12000, "loads it 3.0 times")])
def test_one_pass_is_two_loads_of_the_input_at_most(loaded: int, why: str | None) -> None:
    found = closed_gate(("one_pass",), Shown(False, loaded), WORK)
    assert found is None if why is None else why in (found or "")


def test_the_first_closed_gate_is_named() -> None:
    found = closed_gate(("reused", "shared_memory"), Shown(False, 1 << 20), WORK)
    assert found is not None and "uses it 4.0 times" in found


GEMM = """\
constexpr int T = {tile};
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {{
    __shared__ float a[T][T], b[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {{
        a[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; k++) sum += {product};
        __syncthreads();
    }}
    if (row < M && col < N) C[row * N + col] = sum;
}}
void solve(const float* A, const float* B, float* C, int M, int N, int K) {{
    gemm<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
}}
"""
TILED = "a[threadIdx.y][k] * b[k][threadIdx.x]"
PAST_THE_TILES = (
    "a[0][0] * 0.0f + (row < M && k0 + k < K && col < N ? A[row * K + k0 + k] * B[(k0 + k) * N + col] : 0.0f)"
)
ROWS_SIZES = {"rows": 64, "cols": 1000}


@pytest.mark.parametrize(
    ("tile", "product", "said"),
    [(16, TILED, None), (32, TILED, None), (8, TILED, "uses it 8.0 times"), (16, PAST_THE_TILES, "uses it 1.0 times")],
    ids=["tile of 16", "tile of 32", "tile of 8", "shared memory filled and not used"],
)
def test_tiles_are_told_from_what_only_looks_like_them(
    tmp_path: Path, tile: int, product: str, said: str | None
) -> None:
    kata = catalogue.load("sgemm_tile")
    file = tmp_path / "mine.cu"
    file.write_text(GEMM.format(tile=tile, product=product))
    sizes = {"M": 128, "N": 128, "K": 128}
    shown = Shown.by_profile(profile(kata, file, DEFAULT, tuple(sizes.items())))
    why = closed_gate(kata.gates, shown, Work.of(kata, sizes))
    assert why is None if said is None else said in (why or "")


@pytest.mark.parametrize(("rung", "open_"), [(3, False), (5, True), (7, True)], ids=["three", "online", "registers"])
def test_passes_over_the_input_are_counted(rung: int, open_: bool) -> None:
    kata = catalogue.load("softmax_matrix")
    shown = Shown.by_profile(profile(kata, kata.rungs[rung - 1].path, DEFAULT, tuple(ROWS_SIZES.items())))
    assert (closed_gate(("one_pass",), shown, Work.of(kata, ROWS_SIZES)) is None) is open_

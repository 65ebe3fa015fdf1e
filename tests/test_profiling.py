"""Profiles of real solutions, and what they say of solve."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import CompileError, KernelFault, SourceError, Unsupported, UsageError
from harness.profiles import Profile, Transfer
from harness.profiling import MOST_ALIKE, Size, profile

ADD = catalogue.load("add")
SMALL = (("n", 100_000),)

BEST = [(kata, kata.rungs[-1]) for kata in catalogue.load_all()]


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.cu"
    path.write_text(text, encoding="utf-8")
    return path


def added(folder: Path, body: str, kernels: str = "", size: Size = SMALL) -> Profile:
    """The profile of a ``solve`` of add with this body."""
    head = """\
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
    text = f"{head}{kernels}void solve(const float* a, const float* b, float* c, int n) {{ {body} }}\n"
    return profile(ADD, written(folder, text), "a100", size)


LAUNCH = "add<<<(n + 255) / 256, 256>>>(a, b, c, n);"


@pytest.mark.parametrize(("kata", "rung"), BEST, ids=[f"{kata.name}-{rung.path.stem}" for kata, rung in BEST])
def test_the_best_rung_is_profiled_at_its_speed_size(kata: catalogue.Kata, rung: catalogue.Rung) -> None:
    found = profile(kata, rung.path, "h200")
    sizes = dict(kata.speed[0])
    assert found.case == ", ".join(f"{name} = {value}" for name, value in sizes.items())
    assert found.prediction.seconds > 0 and found.launches
    flops = sum(one.launch.counters.flops * one.launch.times for one in found.launches)
    assert flops >= kata.least_flops(sizes)
    asked = sum(
        (one.launch.counters.global_load.nbytes + one.launch.counters.global_store.nbytes
         + one.launch.counters.global_atomic.nbytes) * one.launch.times for one in found.launches
    )  # fmt: skip
    assert asked >= kata.least_bytes(sizes)
    for one in found.launches:
        launch = one.launch
        assert launch.counters.instructions > 0 and launch.registers > 0 and launch.spills == 0
        assert all(1 <= line.line <= rung.path.read_text("utf-8").count("\n") for line in launch.lines)


@pytest.mark.parametrize(
    ("kata", "rung", "mark", "per_request"),
    [
        ("add", 1, "c[i] = a[i] + b[i]", (4, 4)),
        ("transpose", 1, "output[", (4, 32)),
        ("transpose", 2, "output[", (32, 4)),
        ("sgemm_naive", 1, "sum +=", (16.5, None)),
    ],
)
def test_a_line_says_how_many_sectors_its_requests_move(
    kata: str, rung: int, mark: str, per_request: tuple[float, float | None]
) -> None:
    path = catalogue.load(kata).rungs[rung - 1].path
    lines = path.read_text("utf-8").split("\n")
    marked = next(number for number, text in enumerate(lines, start=1) if mark in text)
    found = profile(catalogue.load(kata), path, "a100").launches[0].launch
    counters = next(one.counters for one in found.lines if one.line == marked)
    assert counters.global_load.per_request == per_request[0]
    assert per_request[1] is None or counters.global_store.per_request == per_request[1]


def test_registers_are_those_of_the_gpu_asked_for() -> None:
    path = catalogue.load("sgemm_tile").rungs[1].path
    size = (("M", 128), ("N", 128), ("K", 16))
    found = {gpu: profile(catalogue.load("sgemm_tile"), path, gpu, size).launches[0].launch for gpu in ("t4", "h100")}
    assert found["t4"].static_shared == found["h100"].static_shared > 0
    assert {launch.registers for launch in found.values()} != {0}


def test_equal_launches_are_one_entry_with_a_number(tmp_path: Path) -> None:
    found = added(tmp_path, f"for (int k = 0; k < 5; ++k) {LAUNCH} add<<<1, 32>>>(a, b, c, 32);")
    assert [(one.launch.times, one.launch.blocks) for one in found.launches] == [(5, 391), (1, 1)]


PARTS = """\
__global__ void part(const float* a, float* c, int n, int start) {
    int i = start + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = 2 * a[i];
}
"""


@pytest.mark.parametrize(("launches", "counted"), [(20, 20), (300, MOST_ALIKE)])
def test_of_launches_that_differ_in_their_arguments_some_are_counted(
    tmp_path: Path, launches: int, counted: int
) -> None:
    n, block = 32 * launches - 16, 32
    body = f"for (int k = 0; k < {launches}; ++k) part<<<1, {block}>>>(a, c, n, k * {block}); {LAUNCH}"
    *parts, last = added(tmp_path, body, PARTS, (("n", n),)).launches
    assert len(parts) == counted and sum(one.launch.times for one in parts) == launches
    assert last.launch.kernel == "add" and last.launch.times == 1 and not last.launch.sampling.notes
    # The last launch alone has threads without work: it stands for itself.
    lanes = sum(one.launch.counters.global_load.lanes * one.launch.times for one in parts)
    assert lanes == n
    notes = [f"Of {launches} launches that differ only in their arguments, {counted} were counted"]
    for one in parts:
        said = [note.partition(":")[0] for note in one.launch.sampling.notes]
        assert one.launch.sampling.whole and said == (notes if counted < launches else [])


def test_launches_on_two_lines_are_sampled_apart_and_equal_ones_counted_once(tmp_path: Path) -> None:
    body = """
        for (int k = 0; k < 200; ++k) {
            part<<<1, 32>>>(a, c, n, k % 100);
            part<<<1, 32>>>(a, c, 0, k);
        }"""
    found = added(tmp_path, body, PARTS).launches
    by_line = {line: [one.launch for one in found if one.launch.line == line] for line in (11, 12)}
    assert [sum(one.times for one in by_line[line]) for line in (11, 12)] == [200, 200]
    assert all(one.counters.global_load.lanes == (32 if one.line == 11 else 0) for one in by_line[11] + by_line[12])
    assert "Of 100 launches" in by_line[11][0].sampling.notes[0] and "Of 200" in by_line[12][0].sampling.notes[0]


def test_scratch_and_what_is_set_or_copied_is_told(tmp_path: Path) -> None:
    body = """
        float *one, *two; cudaMalloc(&one, 4 * n); cudaMalloc(&two, 4 * n);
        cudaMemset(one, 0, 4 * n);
        add<<<(n + 255) / 256, 256>>>(a, b, one, n);
        add<<<(n + 255) / 256, 256>>>(one, b, two, n);
        cudaMemcpy(c, two, 4 * n, cudaMemcpyDeviceToDevice);
        cudaFree(one); cudaFree(two);"""
    found = added(tmp_path, body)
    assert [(one.kind, one.nbytes) for one in found.transfers] == [("memset", 400_000), ("copy", 400_000)]
    assert found.transfers[0] == Transfer("memset", 400_000, 7)
    names = [[one.name for one in launch.launch.footprints] for launch in found.launches]
    assert names == [["a", "b", "scratch"], ["b", "scratch", "scratch 2"]]


def test_a_kernel_that_reads_what_a_sampled_one_left_out_is_no_fault(tmp_path: Path) -> None:
    kernels = """\
__global__ void halve(float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && c[i] > 0.0f) c[i] *= 0.5f;
}
"""
    found = added(tmp_path, f"{LAUNCH} halve<<<(n + 255) / 256, 256>>>(c, n);", kernels, (("n", 1 << 24),))
    assert [one.launch.kernel for one in found.launches] == ["add", "halve"]
    assert not found.launches[0].launch.sampling.whole


def test_a_kernel_that_breaks_is_a_fault_with_its_line(tmp_path: Path) -> None:
    kernels = "__global__ void past(float* c, int n) { c[n + threadIdx.x] = 1; }\n"
    with pytest.raises(KernelFault) as raised:
        added(tmp_path, "past<<<1, 32>>>(c, n);", kernels)
    assert raised.value.hazard.kind == "out_of_bounds" and raised.value.line == 5


def test_a_fault_of_a_later_kernel_may_come_of_the_sample(tmp_path: Path) -> None:
    kernels = """\
__global__ void chase(const float* c, float* out, int n) { out[int(c[threadIdx.x]) - 1] = 1; }
__global__ void ones(float* c) { c[threadIdx.x] = 1; }
"""
    with pytest.raises(Unsupported, match="what an earlier kernel computed") as raised:
        added(tmp_path, "ones<<<1, 32>>>(c); chase<<<1, 64>>>(c, c, n);", kernels)
    assert raised.value.line == 5 and "chase" in raised.value.message


@pytest.mark.parametrize(
    ("body", "error"),
    [("", UsageError), ("add<<<1, 2048>>>(a, b, c, n);", KernelFault), ("add<<<1, 32>>>(a, b);", CompileError)],
)
def test_what_cannot_be_profiled_is_said(tmp_path: Path, body: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        added(tmp_path, body)


def test_an_unknown_gpu_and_a_file_without_solve_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no GPU"):
        profile(ADD, ADD.rungs[0].path, "voodoo")
    with pytest.raises(SourceError):
        profile(ADD, written(tmp_path, "__global__ void k() {}\n"), "a100")


def test_what_only_the_first_call_does_takes_no_time(tmp_path: Path) -> None:
    """A later call is what counts: the table that the first uploads is there, and so is the scratch it fills."""
    body = """static float* ones; static bool ready = false;
        if (!ready) {
            float host[4] = {1, 1, 1, 1};
            cudaMalloc(&ones, n * sizeof(float));
            cudaMemcpy(ones, host, sizeof(host), cudaMemcpyHostToDevice);
            add<<<7, 64>>>(a, b, ones, n);
            ready = true;
        }
        add<<<(n + 255) / 256, 256>>>(a, ones, c, n);"""
    found = added(tmp_path, body)
    (launch,) = found.launches
    assert launch.launch.grid == (391, 1, 1) and found.transfers == ()


def test_streams_that_leave_an_order_open_change_no_profile(tmp_path: Path) -> None:
    streams = "cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t); float* p; cudaMalloc(&p, 4 * n);"
    body = f"{streams} add<<<391, 256, 0, s>>>(a, b, c, n); add<<<200, 512, 0, t>>>(a, b, p, n); cudaFree(p);"
    assert sorted(one.launch.grid[0] for one in added(tmp_path, body).launches) == [200, 391]

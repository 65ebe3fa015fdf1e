"""The simulated device runs solve as a GPU would: buffers restored between calls, scratch, module state, faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness import catalogue, source
from harness.cache import Cache
from harness.compile import compile_program
from harness.devices import Buffer, Run, open_device, still_poison
from harness.errors import KernelFault, Unsupported

N = 40

RunText = Callable[[str], Run]


@pytest.fixture
def run(tmp_path: Path) -> RunText:
    """Runs the text of a file for the kata relu, ``solve(const float* x, float* y, int n)``."""

    def run_text(text: str) -> Run:
        path = tmp_path / "mine.cu"
        path.write_text(text, encoding="utf-8")
        program = source.parse(path, catalogue.load("relu"))
        device = open_device("sim")
        compiled = compile_program(program, arch=device.arch, cache=Cache(tmp_path / "cache"))
        x = np.arange(N, dtype=np.float32) - 20
        return device.load(program, compiled).run((Buffer("in", x), Buffer.poisoned("out", (N,)), N))

    return run_text


HEAD = "#include <cstdio>\n__global__ void k(const float* in, float* out, int n) { int i = threadIdx.x; "
SOLVE = "void solve(const float* in, float* out, int n) { "


def test_both_calls_see_the_same_inputs_and_an_unwritten_output(run: RunText) -> None:
    done = run(HEAD + "if (i < n - 1) out[i] = 2 * in[i]; }\n" + SOLVE + "k<<<1, 64>>>(in, out, n); }")
    assert done.fault is None and done.hazards == () and len(done.calls) == 2
    for call in done.calls:
        assert call["out"][:-1].tolist() == [2.0 * (i - 20) for i in range(N - 1)]
        assert still_poison(call["out"]).tolist() == [False] * (N - 1) + [True]
        assert call["in"].tolist() == [i - 20 for i in range(N)]


def test_the_launch_is_reported_with_its_geometry(run: RunText) -> None:
    done = run(HEAD + "if (i < n) out[i] = 0; }\n" + SOLVE + "\nk<<<dim3(1, 2), dim3(64, 1)>>>(in, out, n); }")
    assert [(one.grid, one.block) for one in done.launches] == [((1, 2, 1), (64, 1, 1))]


def test_a_device_variable_keeps_its_value_between_the_calls_of_a_case_only(run: RunText) -> None:
    text = (
        "__device__ int calls = 0;\n" + HEAD + "if (i < n) out[i] = calls; __syncthreads(); if (i == 0) ++calls; }\n"
        + SOLVE + "k<<<1, 64>>>(in, out, n); }"
    )  # fmt: skip
    for _ in range(2):
        assert [call["out"][0] for call in run(text).calls] == [0.0, 1.0]


def test_reading_the_output_before_writing_it_is_a_fault(run: RunText) -> None:
    done = run(HEAD + "if (i < n) out[i] += in[i]; }\n" + SOLVE + "k<<<1, 64>>>(in, out, n); }")
    assert done.calls == () and done.fault is not None
    assert (done.fault.kind, done.fault.line) == ("uninitialised", 2) and "out" in done.fault.message


def test_writing_past_the_end_names_the_users_own_buffer(run: RunText) -> None:
    done = run(HEAD + "out[i] = 0; }\n" + SOLVE + "k<<<1, 64>>>(in, out, n); }")
    assert done.fault is not None and done.fault.kind == "out_of_bounds"
    assert f"out[{N}]" in done.fault.message and done.fault.line == 2


def test_a_kernel_that_faults_ahead_of_a_call_that_is_refused_comes_first(run: RunText) -> None:
    end = "float* s;\nk<<<1, 64>>>(in, s, n);\ncudaFree(s); }"
    with pytest.raises(KernelFault) as caught:
        run(HEAD + "if (i < n) out[i] = 1; }\n" + SOLVE + end)
    assert (caught.value.hazard.kind, caught.value.hazard.line) == ("null_pointer", 2)
    with pytest.raises(KernelFault) as caught:
        run(HEAD + "if (i < 0) out[i] = 1; }\n" + SOLVE + end)
    assert (caught.value.hazard.kind, caught.value.hazard.line) == ("invalid_free", 5)


def test_a_launch_without_the_shared_bytes_that_it_needs_is_named_by_its_line(run: RunText) -> None:
    kernel = HEAD + "extern __shared__ float s[]; s[i] = 1; out[i] = s[i ^ 1]; }\n"
    done = run(kernel + SOLVE + "\nk<<<1, 32>>>(in, out, n); }")
    assert done.fault is not None
    assert done.fault.remedy == "give the launch on line 4 its shared bytes: k<<<blocks, threads, bytes>>>(...)"


def test_changing_an_input_shows_in_its_buffer_and_is_undone_for_the_next_call(run: RunText) -> None:
    done = run(
        HEAD + "if (i < n) { out[i] = in[i]; ((float*)in)[i] = 7; } }\n" + SOLVE + "k<<<1, 64>>>(in, out, n); }"
    )
    assert all((call["in"] == 7).all() and call["out"][0] == -20 for call in done.calls)


def test_scratch_memory_is_made_filled_copied_and_freed_in_each_call(run: RunText) -> None:
    done = run(
        HEAD + "if (i < n) out[i] += 1; }\n" + SOLVE
        + "float* s; cudaMalloc(&s, n * sizeof(float)); cudaMemset(s, 0, n * sizeof(float));\n"
        + "cudaMemcpy(out, s, n * sizeof(float), cudaMemcpyDeviceToDevice); k<<<1, 64>>>(in, out, n); cudaFree(s); }"
    )
    assert done.fault is None and done.hazards == ()
    assert all((call["out"] == 1).all() for call in done.calls)


def test_scratch_never_freed_is_a_note_and_the_second_call_still_runs(run: RunText) -> None:
    done = run(
        HEAD + "if (i < n) out[i] = 1; }\n" + SOLVE + "float* s;\ncudaMalloc(&s, 128); k<<<1, 64>>>(in, out, n); }"
    )
    assert len(done.calls) == 2
    assert {(one.kind, one.severity.value, one.line) for one in done.hazards} == {("leak", "note", 4)}


def test_the_output_is_unwritten_again_in_the_second_call(run: RunText) -> None:
    done = run(
        "__device__ int calls = 0;\n" + HEAD
        + "if (i == 0 && calls++ == 0) out[0] = 1; __syncthreads(); if (i == 0) out[0] += 1; }\n"
        + SOLVE + "k<<<1, 64>>>(in, out, n); }"
    )
    assert len(done.calls) == 1 and done.fault is not None and done.fault.kind == "uninitialised"


def test_a_memset_past_the_end_of_a_buffer_is_a_fault_with_its_line(run: RunText) -> None:
    done = run(
        HEAD + "if (i < n) out[i] = 1; }\n" + SOLVE
        + "\ncudaMemset(out, 0, (n + 1) * sizeof(float)); k<<<1, 64>>>(in, out, n); }"
    )
    assert done.fault is not None and (done.fault.kind, done.fault.line) == ("out_of_bounds", 4)
    assert "cudaMemset" in done.fault.message


def test_copying_unwritten_memory_leaves_it_unwritten(run: RunText) -> None:
    done = run(
        HEAD + "if (i < n) out[i] += 1; }\n" + SOLVE + "float* s; cudaMalloc(&s, n * sizeof(float));\n"
        + "cudaMemcpy(out, s, n * sizeof(float), cudaMemcpyDeviceToDevice); k<<<1, 64>>>(in, out, n); cudaFree(s); }"
    )
    assert done.fault is not None and done.fault.kind == "uninitialised"


def test_launching_nothing_is_an_error_of_its_own_kind(run: RunText) -> None:
    done = run(HEAD + "}\n" + SOLVE + "}")
    assert [(one.kind, one.severity.value) for one in done.hazards] == [("no_launch", "error")]
    assert all(still_poison(call["out"]).all() for call in done.calls)


def test_filling_memory_and_launching_nothing_is_noted(run: RunText) -> None:
    filled = SOLVE + "cudaMemset(out, 0, n * sizeof(float)); "
    done = run(HEAD + "}\n" + filled + "}")
    assert [(one.kind, one.severity.value) for one in done.hazards] == [("no_launch", "note")]
    assert not run(HEAD + "}\n" + filled + "k<<<1, 64>>>(in, out, n); }").hazards


def test_what_is_printed_is_told_once_unless_the_second_call_prints_something_else(run: RunText) -> None:
    kernel = HEAD + 'if (i < n) out[i] = 0; if (i == 7) printf("seven %d", WHAT); }\n'
    text = "__device__ int count = 0;\n" + kernel + SOLVE + 'printf("solve"); k<<<1, 64>>>(in, out, n); }'
    assert run(text.replace("WHAT", "n")).printed == ("solve", "seven 40")
    other = run(text.replace("WHAT", "count++")).printed
    assert other == ("solve", "seven 0", "(call 2 of solve, on the same inputs:)", "seven 1")


def test_what_a_kernel_prints_is_kept_up_to_a_bound(run: RunText) -> None:
    done = run(HEAD + 'for (int j = 0; j < 4; ++j) printf("%d\\n", i); if (i < n) out[i] = 0; }\n'
               + SOLVE + "k<<<1, 64>>>(in, out, n); }")  # fmt: skip
    assert len(done.printed) == 100 and "0" in done.printed[0]


def test_scratch_that_a_static_pointer_keeps_holds_in_the_second_call_what_the_first_wrote(run: RunText) -> None:
    done = run(HEAD + "if (i < n) out[i] = 2 * in[i]; }\n" + SOLVE + """
        static float* kept; float* other;
        if (!kept) { cudaMalloc(&kept, n * sizeof(float)); k<<<1, 64>>>(in, kept, n); }
        cudaMalloc(&other, n * sizeof(float)); cudaMemset(other, 0, n * sizeof(float));
        k<<<1, 64>>>(kept, out, n); cudaFree(other); }""")
    assert done.fault is None and done.hazards == ()
    assert [call["out"].tolist() for call in done.calls] == [[4.0 * (i - 20) for i in range(N)]] * 2


def test_scratch_that_each_call_allocates_and_none_frees_is_noted_though_a_pointer_remembers_it(run: RunText) -> None:
    done = run(HEAD + "if (i < n) out[i] = in[i]; }\n" + SOLVE + """
        static float* last; cudaMalloc(&last, n * sizeof(float)); k<<<1, 64>>>(in, out, n); }""")
    assert {hazard.kind for hazard in done.hazards} == {"leak"} and done.fault is None


def test_a_static_pointer_to_freed_scratch_is_a_fault_of_the_second_call(run: RunText) -> None:
    done = run(HEAD + "if (i < n) out[i] = in[i]; }\n" + SOLVE + """
        static float* last; if (last) k<<<1, 64>>>(last, out, n);
        cudaMalloc(&last, n * sizeof(float)); k<<<1, 64>>>(in, last, n); cudaFree(last); }""")
    assert done.fault is not None and done.fault.kind == "use_after_free" and len(done.calls) == 1


def test_what_is_refused_in_the_second_call_alone_names_it_after_the_first_was_made(run: RunText) -> None:
    with pytest.raises(KernelFault, match="when solve is called again, k<<<1, 1025>>>: 1,025 threads a block"):
        run(HEAD + "if (i < n) out[i] = in[i]; }\n" + SOLVE + """
            static int calls; k<<<1, 1024 + calls++>>>(in, out, n); }""")


def test_what_is_not_simulated_names_the_file_and_the_line(run: RunText) -> None:
    calls_itself = "__device__ __noinline__ int fib(int n) {\n return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
    with pytest.raises(Unsupported, match=r"^fib calls itself: recursion on the device") as caught:
        run(calls_itself + HEAD + "if (i < n) out[i] = fib(i); }\n" + SOLVE + "k<<<1, 64>>>(in, out, n); }")
    assert (caught.value.file, caught.value.line) == ("mine.cu", 2)


def test_the_barrier_of_a_grid_says_what_it_needs_and_what_to_do_instead(run: RunText) -> None:
    with pytest.raises(Unsupported, match=r"^grid.sync\(\) needs a cooperative launch") as caught:
        kernel = HEAD + "cooperative_groups::this_grid().sync(); out[i] = 1; }\n"
        run("#include <cooperative_groups.h>\n" + kernel + SOLVE + "k<<<1, 40>>>(in, out, n); }")
    assert (caught.value.file, caught.value.line) == ("mine.cu", 3) and "a second one" in str(caught.value.remedy)


@pytest.mark.parametrize(("call", "says"), [
    ("cudaMemset(out, 0, n);", "cudaMemset on line 4 writes 40 of the 160 bytes of out: it counts bytes"),
    ("cudaMemcpy(out, in, n, cudaMemcpyDeviceToDevice);", "cudaMemcpy on line 4 writes 40 of the 160 bytes of out"),
    ("cudaMemset(out, 0, 4 * n - 4);", "write it first"),
    ("", "write it first"),
])  # fmt: skip
def test_memory_that_was_set_in_elements_as_if_they_were_bytes_is_told_so(run: RunText, call: str, says: str) -> None:
    done = run(HEAD + "if (i < n) out[i] += in[i]; }\n" + SOLVE + f"\n{call}\nk<<<1, 64>>>(in, out, n); }}")
    assert done.fault is not None and done.fault.kind == "uninitialised" and says in str(done.fault.remedy)


def test_a_fault_that_an_open_order_of_streams_brings_is_told_with_that_as_its_cause(run: RunText) -> None:
    done = run(HEAD + "if (i < n) out[i] = in[i]; }\n" + SOLVE + """
        cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        float* p; cudaMalloc(&p, n * sizeof(float)); k<<<1, 64, 0, s>>>(in, p, n);
        k<<<1, 64>>>(p, out, n); cudaFree(p); }""")
    assert done.fault is not None and done.fault.kind == "uninitialised"
    assert "streams leave the order open" in str(done.fault.remedy) and "one stream" in str(done.fault.remedy)
    assert [(hazard.kind, hazard.line) for hazard in done.hazards if hazard.kind == "streams"] == [("streams", 6)]

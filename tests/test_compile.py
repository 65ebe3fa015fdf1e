from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness import compile as compiler
from harness.cache import Cache
from harness.compile import compile_program
from harness.errors import CompileError, EnvironmentFault
from tests.planning import BODY_LINE, KERNEL, compiled, program, with_body

LAUNCH = "scale<<<(n + 255) / 256, 256>>>(in, out, n);"
CHECK = """\
#define CHECK(call) do { \\
    cudaError_t status = (call); \\
    if (status != cudaSuccess) { \\
        fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, cudaGetErrorString(status)); \\
        exit(EXIT_FAILURE); \\
    } \\
} while (0)
"""

#: What people paste: each compiles.
ACCEPTED = {
    "plain": with_body(LAUNCH),
    "every header": "".join(f"#include <{name}>\n" for name in (
        "cuda_runtime.h", "cuda.h", "device_launch_parameters.h", "cstdio", "stdio.h", "cstdlib", "cmath", "math.h",
        "cfloat", "float.h", "climits", "limits.h", "cstdint", "stdint.h", "limits", "algorithm", "cassert", "iostream",
        "vector", "string", "utility", "cstring",
    )) + with_body(LAUNCH),
    "a check macro": "#include <cstdio>\n" + CHECK + with_body(
        LAUNCH + "\nCHECK(cudaGetLastError()); CHECK(cudaPeekAtLastError()); CHECK(cudaDeviceSynchronize());"),
    "a launch in a macro": "#define CHECK(x) x\n#define LAUNCH(k, g, b, ...) k<<<g, b>>>(__VA_ARGS__)\n" + with_body(
        "LAUNCH(scale, n, 32, in, out, n);\nCHECK((scale<<<n, 32>>>(in, out, n)));"),
    "ceil as a macro": "#define CEIL(a, b) (((a) + (b) - 1) / (b))\n" + with_body(
        "scale<<<CEIL(n, 256), 256>>>(in, out, n);"),
    "dim3 in every form": with_body(
        "dim3 g(n), b{32, 1}; scale<<<g, b>>>(in, out, n);\nscale<<<{1u, 2u}, {3u}>>>(in, out, n);\n"
        "scale<<<dim3(1, 2, 3), dim3{4}, 0, 0>>>(in, out, n);"),
    "a template with arguments": with_body(
        "k<float, 64><<<n, 64>>>(in, out, n);",
        "template <class T, int B> __global__ void k(const T* a, T* b, int n) { b[threadIdx.x] = B; }\n"),
    "a template that is deduced": with_body(
        "k<<<n, 64>>>(in, out, n);",
        "template <class T> __global__ void k(const T* a, T* b, int n) { b[0] = a[0]; }\n"),
    "a helper that launches": with_body(
        "run<32>(in, out, n);", KERNEL + "template <int B> static inline void run(const float* a, float* b, int n)\n"
        "{ scale<<<(n + B - 1) / B, B>>>(a, b, n); }\n"),
    "host annotations": with_body(LAUNCH, "__host__ int twice(int n) { return 2 * n; }\n"
                                  "__host__ __device__ inline int half(int n) { return n / 2; }\n" + KERNEL),
    "namespaces": "namespace a { namespace {\n" + KERNEL + "} }\nnamespace b {\n" + with_body(
        "a::scale<<<1, 2>>>(in, out, n);", "") + "}\n",
    "a static kernel": with_body(LAUNCH, "static " + KERNEL),
    "extern C": 'extern "C" ' + KERNEL + 'extern "C" ' + with_body(LAUNCH, ""),
    "default arguments": with_body("k<<<1, 2>>>(out);", "__global__ void k(float* b, int n) { b[0] = n; }\n"
                                   "int grid(int n, int b = 256) { return (n + b - 1) / b; }\n"
                                   ).replace("k<<<1, 2>>>(out)", "k<<<grid(n), 2>>>(out, n)"),
    "constexpr and const": "constexpr int B = 128;\nconst int G = 7;\nstatic const float PI = 3.14f;\n" + with_body(
        "scale<<<G, B>>>(in, out, n);"),
    "a lambda": with_body(
        "auto up = [](int a, int b) { return (a + b - 1) / b; };\nscale<<<up(n, 64), 64>>>(in, out, n);"),
    "a kernel chosen by a pointer": with_body("auto k = n > 5 ? scale : scale;\nk<<<1, 2>>>(in, out, n);"),
    "std functions": "#include <algorithm>\n#include <cmath>\n#include <limits>\n" + with_body(
        "int b = std::min(n, 256); b = std::max({b, 32, 64}); std::swap(b, n); b = std::clamp(b, 1, 1024);\n"
        "b += (int)std::ceil(n / 2.0f) + (int)log2(8) + (int)pow(2, 3) + std::abs(-3) + (int)std::sqrt(4.0);\n"
        "float big = std::numeric_limits<float>::max();\n"
        "if (big < INFINITY && -FLT_MAX < FLT_MIN) scale<<<b, 32>>>(in, out, n);"),
    "constants": with_body(LAUNCH, "constexpr float LOW = -INFINITY;\n__device__ float f() { return NAN + M_PI + LOW "
                           "+ FLT_EPSILON + INT_MAX + UINT_MAX + LLONG_MAX + HUGE_VALF; }\n" + KERNEL),
    "fixed-width integers": with_body(
        LAUNCH, "__global__ void k(int8_t* a, uint64_t* b, uint c, std::uint32_t d, ptrdiff_t e)\n"
        "{ b[0] = a[0] + c + d + e; }\n" + KERNEL),
    "printf and assert": "#include <cstdio>\n#include <cassert>\n" + with_body(
        'printf("n = %d\\n", n); puts("x"); assert(n > 0); ' + LAUNCH,
        '__global__ void k(float* b) { printf("%f\\n", b[0]); assert(b[0] > 0); }\n' + KERNEL),
    "cout": "#include <iostream>\n" + with_body('std::cout << "n = " << n << std::endl; ' + LAUNCH),
    "scratch": with_body(
        "float* t; cudaMalloc(&t, n * sizeof(float)); cudaMalloc((void**)&t, 4); cudaMemset(t, 0, 4);\n"
        "cudaMemcpy(t, in, 4, cudaMemcpyDeviceToDevice); float h[2] = {1, 2};\n"
        "cudaMemcpy(t, h, sizeof(h), cudaMemcpyHostToDevice); cudaFree(t);"),
    "streams and events": with_body(
        "cudaStream_t s; cudaStreamCreate(&s); float ms; cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s);\n"
        "scale<<<1, 2, 0, s>>>(in, out, n); cudaStreamSynchronize(s); cudaEventSynchronize(e);\n"
        "cudaEventElapsedTime(&ms, e, e); cudaEventDestroy(e); cudaStreamDestroy(s);\n"
        "float* t; cudaMallocAsync(&t, 4, s); cudaMemsetAsync(t, 0, 4, s); cudaFreeAsync(t, s);"),
    "the device asked": with_body(
        "int d, sms, per; cudaGetDevice(&d); cudaSetDevice(d); cudaDeviceProp p; cudaGetDeviceProperties(&p, d);\n"
        "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, d); int g, b;\n"
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, scale, 256, 0);\n"
        "cudaOccupancyMaxPotentialBlockSize(&g, &b, scale, 0, 0); scale<<<sms * per, 256>>>(in, out, n);"),
    "shared memory by attribute": with_body(
        "cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);\n"
        "cudaFuncSetCacheConfig(scale, cudaFuncCachePreferShared); scale<<<1, 2, 65536>>>(in, out, n);"),
    "cudaLaunchKernel": with_body(
        "void* args[] = {&in, &out, &n};\ncudaLaunchKernel((void*)scale, dim3(1), dim3(2), args, 0, 0);\n"
        "cudaLaunchKernel(scale, 1, 2, args);\ncudaLaunchKernel((const void*)&scale, 1, 2, args, 0, nullptr);"),
    "constant memory": with_body(
        "float h[4] = {1, 2, 3, 4}; cudaMemcpyToSymbol(table, h, sizeof(h)); float* p;\n"
        "cudaGetSymbolAddress((void**)&p, scratch); scale<<<1, 2>>>(p, out, n);",
        "__constant__ float table[4];\n__device__ float scratch[8];\n" + KERNEL),
    "windows line ends": with_body(LAUNCH).replace("\n", "\r\n"),
    "other alphabets": with_body("// größer, 漢字 🎉\n" + LAUNCH + " // ≤"),
    "a main": with_body(LAUNCH) + "#include <vector>\nint main() { std::vector<float> v(10); solve(0, 0, 1); }\n",
    "half and bfloat16": "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n" + with_body(
        LAUNCH, "__global__ void k(__half* a, __nv_bfloat16* b)\n{ a[0] = __float2half(__bfloat162float(b[0])); }\n"
        + KERNEL),
    "cooperative groups": "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
    "namespace cg = cooperative_groups;\n" + with_body(
        "k<<<1, 32>>>(in, out);",
        "__global__ void k(const float* a, float* b) {\n"
        "    auto warp = cg::tiled_partition<32>(cg::this_thread_block());\n"
        "    b[0] = cg::reduce(warp, a[threadIdx.x], cg::plus<float>());\n}\n"),
    "cub": "#include <cub/cub.cuh>\n" + with_body(
        "k<<<1, 128>>>(in, out);",
        "__global__ void k(const float* a, float* b) {\n    using Reduce = cub::BlockReduce<float, 128>;\n"
        "    __shared__ typename Reduce::TempStorage room;\n    float sum = Reduce(room).Sum(a[threadIdx.x]);\n"
        "    if (threadIdx.x == 0) b[0] = sum;\n}\n"),
    "type traits": "#include <type_traits>\n" + with_body(
        LAUNCH, "template <class T> std::enable_if_t<std::is_same_v<T, int>, T> same(T x) { return x; }\n" + KERNEL),
}  # fmt: skip


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_what_people_paste_compiles_without_a_word(tmp_path: Path, text: str) -> None:
    made = compiled(tmp_path, text)
    assert ".entry kata_entry" in made.ptx
    assert made.cubin.startswith(b"\x7fELF")
    assert made.log == ""


def refused(folder: Path, text: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile_program(program(folder, text), cache=Cache(folder / "cache"))
    evidence = caught.value.evidence or ""
    assert "kata" not in evidence
    assert "builtin_header" not in evidence
    return caught.value


@pytest.mark.parametrize(("old", "new", "line", "place", "says"), [
    ("2 * a[i]", "2 * a[j]", 3, "j]", 'identifier "j" is undefined'),
    ("n) b[i] = 2 * a[i];", "n) b[i] = 2 * a[i] b[0] = 1;", 3, "b[0]", 'expected a ";"'),
    ("in, out, n)", "in, oops, n)", 6, "oops", 'identifier "oops" is undefined'),
    ("256>>>", "width>>>", 6, "width", 'identifier "width" is undefined'),
    ("void solve", "/* größe ≤ 漢字 */ int y = x;\nvoid solve", 5, "x;", 'identifier "x" is undefined'),
    ("scale<<<", "cudaMalloc(out, 4); scale<<<", 6, "cudaMalloc", 'no instance of function template "cudaMalloc"'),
    ("scale<<<", "scale<<<1, 2>>>(in, out, n); scale<<<wide + ", 6, "wide", 'identifier "wide" is undefined'),
])  # fmt: skip
def test_an_error_points_at_the_users_own_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, place: str, says: str
) -> None:
    text = with_body(LAUNCH).replace(old, new)
    error = refused(tmp_path, text)
    column = text.split("\n")[line - 1].index(place) + 1
    assert error.line == line
    assert says in error.message
    assert str(error.evidence).startswith(f"scale.cu:{line}:{column}: error: ")


@pytest.mark.parametrize("behind", ["", "  // doubled", "\n\n    /* on to the\n    next */\n#pragma unroll"])
def test_a_statement_without_its_end_is_named_by_its_own_line(tmp_path: Path, behind: str) -> None:
    error = refused(tmp_path, with_body(LAUNCH).replace("2 * a[i];", f"2 * a[i]{behind}"))
    head, excerpt, caret = str(error.evidence).split("\n")[:3]
    assert (error.line, error.message) == (3, 'line 3: expected a ";"')
    assert head.startswith(f"scale.cu:3:{excerpt.index('a[i]') + 3}: error: ")
    assert caret.index("^") == excerpt.index("a[i]") + 4


def test_missing_arguments_of_a_launch_are_the_compilers_to_name(tmp_path: Path) -> None:
    error = refused(tmp_path, with_body("scale<<<1, 2>>>(in, out);"))
    assert "too few arguments" in error.message
    assert error.line == BODY_LINE


def test_the_excerpt_is_the_users_line_with_the_caret_under_the_place(tmp_path: Path) -> None:
    error = refused(tmp_path, with_body("\t" + LAUNCH.replace("out", "oops")))
    _, excerpt, caret = str(error.evidence).split("\n")
    assert excerpt == "  \t" + LAUNCH.replace("out", "oops")
    assert caret == "  \t" + " " * LAUNCH.index("out") + "^"


def test_every_error_is_kept_and_the_first_is_the_message(tmp_path: Path) -> None:
    error = refused(tmp_path, with_body("int a = p;\nint b = q;"))
    assert "p" in error.message
    assert 'identifier "q" is undefined' in str(error.evidence)


def test_a_brace_left_open_points_into_the_users_file(tmp_path: Path) -> None:
    inner, outer = with_body("    if (n > 0) {\n" + LAUNCH), with_body(LAUNCH).rstrip().removesuffix("}")
    for open_at, text in ((BODY_LINE, inner), (BODY_LINE - 1, outer)):
        error = refused(tmp_path, text)
        assert error.line == open_at
        assert error.message == f'line {open_at}: a "}}" is missing: the "{{" on line {open_at} is never closed'
        _, shown, caret = str(error.evidence).splitlines()  # nothing of what only comes of it
        assert shown[caret.index("^")] == "{"


def test_beside_a_brace_left_open_other_mistakes_are_shown_too(tmp_path: Path) -> None:
    error = refused(tmp_path, with_body("int a = p;\n    if (n > 0) {\n" + LAUNCH))
    assert 'identifier "p" is undefined' in str(error.evidence) and error.line == BODY_LINE + 1


def test_a_comment_left_open_is_not_taken_for_a_brace(tmp_path: Path) -> None:
    error = refused(tmp_path, with_body("/* " + LAUNCH))
    assert "comment unclosed" in error.message and error.line == BODY_LINE


def test_an_unknown_kernel_brings_a_suggestion(tmp_path: Path) -> None:
    assert refused(tmp_path, with_body(LAUNCH.replace("scale", "scal"))).remedy == "did you mean scale?"
    assert refused(tmp_path, with_body(LAUNCH.replace("scale", "other"))).remedy == "the file's kernels are scale"


def test_a_header_that_is_not_here_says_which_are(tmp_path: Path) -> None:
    error = refused(tmp_path, '#include "mine.h"\n' + with_body(LAUNCH))
    assert error.line == 1
    assert "mine.h" in error.message
    assert "one file" in str(error.remedy)


def test_too_much_static_shared_memory_names_the_kernel(tmp_path: Path) -> None:
    body = "{\n    __shared__ float tile[20000]; tile[n] = a[0]; __syncthreads(); b[n] = tile[n + 1];\n"
    error = refused(tmp_path, with_body(LAUNCH, KERNEL.replace("{\n", body, 1)))
    assert error.message == "scale declares 80,000 bytes of __shared__ memory; a block can have 49,152"


def test_warnings_of_the_users_own_lines_are_kept(tmp_path: Path) -> None:
    made = compiled(tmp_path, with_body("n == 3;\n" + LAUNCH))
    assert made.log.startswith(f"scale.cu:{BODY_LINE}:1: warning: expression has no effect")


def test_resources_of_a_kernel_are_read_from_the_cubin(tmp_path: Path) -> None:
    kernel = (
        "__global__ void __launch_bounds__(128) k(float* b, int n) {\n"
        "    __shared__ float tile[256]; float local[64];\n"
        "    for (int i = 0; i < n; ++i) local[(int)b[i] & 63] = b[i * n];\n"
        "    tile[threadIdx.x] = local[n & 63]; __syncthreads();\n"
        "    b[threadIdx.x] = tile[255 - threadIdx.x] + local[(n + 5) & 63];\n}\n"
    )
    resources = compiled(tmp_path, with_body("k<<<1, 128>>>(out, n);", kernel)).resources["_Z1kPfi"]
    assert resources.shared_bytes == 1024
    assert resources.max_threads == 128
    assert resources.frame_bytes >= 256
    assert 8 <= resources.registers <= 255


def test_code_is_the_users_own_file_and_lines(tmp_path: Path) -> None:
    ptx = compiled(tmp_path, with_body(LAUNCH)).ptx
    assert 'scale.cu"' in ptx
    assert "function_name" not in ptx.split(".entry _Z5scale")[1].split("// .globl")[0].split(".visible")[0]


def test_compiling_leaves_pythons_own_bytes_alone(tmp_path: Path) -> None:
    """NVRTC writes into the buffer it is given, and CPython shares one object among all bytes of length 1."""
    compile_program(program(tmp_path, with_body(LAUNCH)), cache=Cache(tmp_path / "cache"))
    assert [list(bytes([value])) for value in range(256)] == [[value] for value in range(256)]


class Noted(Cache):
    """A cache that knows how often something was made for it."""

    puts = 0

    def put(self, key: str, value: Any) -> None:
        self.puts += 1
        super().put(key, value)


def test_a_second_compilation_comes_from_the_cache(tmp_path: Path) -> None:
    cache, made = Noted(tmp_path / "cache"), program(tmp_path, with_body(LAUNCH))
    first, second = compile_program(made, cache=cache), compile_program(made, cache=cache)
    assert first == second and cache.puts == 1
    compile_program(program(tmp_path, with_body(LAUNCH) + "\n// x"), cache=cache, arch="sm_86")
    assert cache.puts == 2


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    cache, made = Noted(tmp_path / "cache"), program(tmp_path, with_body(LAUNCH))
    first = compile_program(made, cache=cache)
    (entry,) = cache.folder.iterdir()
    whole = entry.read_bytes()
    for count, damaged in enumerate((b"", b"junk", whole[:-7], whole[:100] + b"x" + whole[101:]), 2):
        entry.write_bytes(damaged)
        assert compile_program(made, cache=cache) == compile_program(made, cache=cache) == first
        assert cache.puts == count


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    made = program(tmp_path, with_body(LAUNCH))
    assert "scale" in compile_program(made, cache=Cache(blocked / "cache")).ptx
    assert not list(tmp_path.glob(".new-*"))


def test_the_cache_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_CACHE", str(tmp_path / "elsewhere"))
    compile_program(program(tmp_path, with_body(LAUNCH)))
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1


def test_a_machine_without_nvrtc_is_told_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(EnvironmentFault, match="NVRTC") as caught:
        compile_program(program(tmp_path, with_body(LAUNCH)), cache=Cache(tmp_path / "cache"))
    assert "macOS" in str(caught.value.remedy)


def test_a_machine_without_the_headers_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Any:
        return None

    monkeypatch.setattr(compiler.importlib.util, "find_spec", nothing)
    with pytest.raises(EnvironmentFault, match="headers") as caught:
        compile_program(program(tmp_path, with_body(LAUNCH)), cache=Cache(tmp_path / "cache"))
    assert "nvidia-cuda-runtime" in str(caught.value.remedy)


def test_an_architecture_nvrtc_does_not_know_is_an_environment_fault(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="sm_11"):
        compile_program(program(tmp_path, with_body(LAUNCH)), arch="sm_11", cache=Cache(tmp_path / "cache"))

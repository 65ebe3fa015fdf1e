from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import SourceError
from harness.rewrite import blank, from_bytes_text, mark_launches, mask, to_bytes_text
from harness.source import parse
from tests.planning import BODY_LINE, KATA, KERNEL, program, with_body

LAUNCH = "scale<<<(n + 255) / 256, 256>>>(in, out, n);"


def refused(folder: Path, text: str | bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        program(folder, text)
    assert caught.value.file == "scale.cu"
    return caught.value


@pytest.mark.parametrize("parameters", [
    "const float* in, float* out, int n",
    "float *in, float *out, int n",
    "const float *__restrict__ in, float* __restrict__ out, const int n",
    "float const* in, float* const out, size_t n",
    "const float in[], float out[], unsigned n",
    "const float* in, float* out, unsigned long long n",
    "const float* in, float* out, std::size_t n",
    "const float* in, float* out, int64_t n = 5",
    "const float*, float*, int",
    "const float* in /* const double* */,\n    float* out,  // int\n    const int& n",
])  # fmt: skip
def test_parameters_that_differ_harmlessly_are_accepted(tmp_path: Path, parameters: str) -> None:
    program(tmp_path, f"{KERNEL}void solve({parameters}) {{}}\n")


@pytest.mark.parametrize(("parameters", "says"), [
    ("const float* in, float* out", "takes 2 parameters, the kata passes 3"),
    ("", "takes 0 parameters"),
    ("const float* in, int n, float* out", "parameter 2 of solve (output) should be a pointer"),
    ("const double* in, float* out, int n", "parameter 1 of solve (input) should point to float"),
    ("const float* in, const float* out, int n", "parameter 2 of solve (output) is where the result goes"),
    ("const float* in, float* out, float n", "parameter 3 of solve (n) should be int"),
    ("const float* in, float** out, int n", "parameter 2 of solve (output) should be a pointer"),
    ("const float* in, float* out, int* n", "parameter 3 of solve (n) should be a plain value"),
])  # fmt: skip
def test_other_parameters_are_refused_with_both_signatures(tmp_path: Path, parameters: str, says: str) -> None:
    error = refused(tmp_path, f"{KERNEL}\nvoid solve({parameters}) {{}}\n")
    assert says in error.message
    assert "expected  void solve(const float* input, float* output, int n)" in error.message
    assert f"found     void solve({parameters})" in error.message
    assert error.line == 6
    assert error.remedy


def test_a_type_the_file_names_itself_is_left_to_the_compiler(tmp_path: Path) -> None:
    program(tmp_path, f"using T = float;\n{KERNEL}void solve(const T* in, T* out, int n) {{}}\n")


def test_the_users_own_parameter_names_are_known(tmp_path: Path) -> None:
    made = program(tmp_path, f"{KERNEL}void solve(const float* x, float*, const int count) {{}}\n")
    assert made.parameter_names == ("x", "output", "count")


@pytest.mark.parametrize("text", [
    "extern \"C\" void solve(const float* in, float* out, int n) {}",
    "extern \"C\" {\nvoid solve(const float* in, float* out, int n) {}\n}",
    "static void solve(const float* in, float* out, int n) {}",
    "namespace mine { void solve(const float* in, float* out, int n) {} }",
    "namespace { void solve(const float* in, float* out, int n) {} }",
    "__host__ void solve(const float* in, float* out, int n) {}",
    "void solve(const float* in, float* out, int n);\nvoid solve(const float* in, float* out, int n) {}",
    "#ifdef X\n#endif\n#if 1\nvoid solve(const float* in, float* out, int n) {}\n#endif",
    "template <class T> void solve(const T* in, T* out, int n) {}",
])  # fmt: skip
def test_solve_is_found_wherever_it_stands(tmp_path: Path, text: str) -> None:
    assert "kata_entry" in program(tmp_path, KERNEL + text).rewritten


def test_a_file_without_solve_is_told_what_it_has(tmp_path: Path) -> None:
    error = refused(tmp_path, KERNEL + "void run(int n) {}\n")
    assert error.message == "there is no function solve; it has scale, run"
    assert "void solve(const float* input, float* output, int n)" in str(error.remedy)


@pytest.mark.parametrize("name", ["Solve", "solution", "solv", "SOLVE"])
def test_a_name_near_solve_is_pointed_out(tmp_path: Path, name: str) -> None:
    error = refused(tmp_path, KERNEL + f"void {name}(const float* in, float* out, int n) {{}}\n")
    assert f"rename {name} to solve" in str(error.remedy)


def test_two_functions_named_solve_are_refused(tmp_path: Path) -> None:
    solve = "void solve(const float* in, float* out, int n) {}\n"
    error = refused(tmp_path, f"{solve}namespace a {{\n{solve}}}\n")
    assert "lines 1 and 3" in error.message


def test_a_solve_without_a_body_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, KERNEL + "void solve(const float* in, float* out, int n);\n")
    assert "line 5" in error.message
    assert "never defined" in error.message


def test_a_kernel_named_solve_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, "__global__ void solve(const float* in, float* out, int n) {}\n")
    assert "is a kernel" in error.message


@pytest.mark.parametrize("text", ["", "  \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str | bytes) -> None:
    assert refused(tmp_path, text).message == "the file is empty"


def test_a_file_that_is_not_utf8_is_refused_with_the_line(tmp_path: Path) -> None:
    error = refused(tmp_path, b"// one\n// caf\xe9\n")
    assert error.line == 2
    assert "0xe9" in error.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_file_in_utf16_is_refused_with_what_to_save_it_as(tmp_path: Path, encoding: str) -> None:
    error = refused(tmp_path, with_body("").encode(encoding))
    assert "UTF-16" in error.message and "UTF-8" in str(error.remedy)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't be read"):
        parse(tmp_path / "none.cu", KATA)


def test_a_file_that_does_not_parse_is_left_to_the_compiler(tmp_path: Path) -> None:
    program(tmp_path, KERNEL + "void solve(const float* in, float* out, int n) { if ( }\n")


def test_comments_and_strings_confuse_nothing(tmp_path: Path) -> None:
    made = program(tmp_path, with_body(
        "// other<<<1, 1>>>(in)\n/* int main() { std::vector<int> v; */\n"
        'printf("x<<<1, 2>>>(y) // main() {");\nchar c = \'"\'; char d = \'\\\'\';\n' + LAUNCH
    ))  # fmt: skip
    assert [(one.kernel, one.line) for one in made.launches] == [("scale", BODY_LINE + 4)]


def test_launches_are_found_with_template_arguments_and_scopes(tmp_path: Path) -> None:
    body = "ns::k<256, float><<<1, 2>>>(in);\nCHECK(\n  scale<<<dim3(1, 2),\n 3>>>(in, out, n));"
    launches = program(tmp_path, with_body(body)).launches
    assert [(one.kernel, one.line) for one in launches] == [("ns::k", 6), ("scale", 8)]


def test_kernels_are_found_through_launch_bounds_and_templates(tmp_path: Path) -> None:
    text = (
        "template <int B>\n__global__ void __launch_bounds__(B, max(1, 2)) first(float* a) {}\n"
        "__launch_bounds__(64) __global__ void second(float* a) {}\nextern \"C\" __global__ void\nthird(float* a) {}\n"
    )
    assert program(tmp_path, text + with_body("")).kernels == ("first", "second", "third", "scale")


def test_main_and_what_only_it_calls_are_set_aside_line_for_line(tmp_path: Path) -> None:
    text = with_body(LAUNCH + " helper(n);", KERNEL + "int helper(int n) { return n; }\n") + (
        "void bench(std::vector<float>& v) {\n  thrust::sort(v);\n}\n"
        "int main(int argc, char** argv) {\n  bench(v);\n}\n"
    )
    made = program(tmp_path, text)
    assert "helper(int n) { return n; }" in made.rewritten
    assert "vector" not in made.rewritten
    assert "main" not in made.rewritten
    assert made.rewritten.index("kata_entry.h") > 0
    ours, theirs = made.rewritten.split("\n"), text.split("\n")
    assert ours[: BODY_LINE - 1] == theirs[: BODY_LINE - 1]
    assert len(ours) > len(theirs)
    assert not "".join(ours[BODY_LINE + 2 : len(theirs) - 1]).split("#line")[0].strip()


@pytest.mark.parametrize(("body", "says"), [
    ("std::vector<int> v;", "std::vector"),
    ("float* h = new float[n];", "new"),
    ("float* h = (float*)malloc(4 * n);", "malloc"),
    ("thrust::reduce(in, in + n);", "thrust::reduce"),
    ("cub::DeviceReduce::Sum(0, s, in, out, n);", "cub::DeviceReduce"),
    ("cublasSgemm(h, a);", "cublasSgemm"),
    ("cudaMallocManaged(&p, n);", "cudaMallocManaged"),
    ("cudaStreamBeginCapture(s, m);", "cudaStreamBeginCapture"),
    ("cudaMemcpy2D(a, 1, b, 1, 2, 3, k);", "cudaMemcpy2D"),
    ("throw 1;", "throw"),
    ("cudaLaunchCooperativeKernel((void*)scale, 1, 1, args);", "which grid.sync() needs"),
])  # fmt: skip
def test_what_needs_a_host_is_refused_with_line_and_remedy(tmp_path: Path, body: str, says: str) -> None:
    error = refused(tmp_path, with_body("int x;\n" + body))
    assert error.line == BODY_LINE + 1
    assert says in error.message
    assert error.remedy


@pytest.mark.parametrize("allocates", ["(float*)malloc(8)", "new float[2]"])
def test_memory_from_the_heap_of_the_device_is_refused_in_other_words_than_memory_of_the_host(
    tmp_path: Path, allocates: str
) -> None:
    kernel = KERNEL.replace("    if (i", f"    float* spare = {allocates};\n    if (i")
    error = refused(tmp_path, with_body("", kernel))
    assert error.line == 3 and "device's heap, which is not simulated" in error.message
    assert "cudaMalloc in solve" in str(error.remedy)


@pytest.mark.parametrize("header", ['"/tmp/own.h"', "</tmp/own.h>", '"../own.h"', '"deep/../own.h"', '"C:/own.h"'])
def test_a_header_that_lies_elsewhere_is_refused(tmp_path: Path, header: str) -> None:
    error = refused(tmp_path, with_body(LAUNCH) + f"// the next line\n #  include {header}\n")
    assert error.line == with_body(LAUNCH).count("\n") + 2 and "one file is graded" in error.message


def test_a_header_in_the_working_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.h").write_text("#define FACTOR 2\n")
    monkeypatch.chdir(tmp_path)
    assert refused(tmp_path, '#include "own.h"\n' + with_body(LAUNCH)).line == 1


def test_an_include_in_a_comment_is_none(tmp_path: Path) -> None:
    program(tmp_path, '/*\n#include "/tmp/own.h"\n*/\n' + with_body(LAUNCH))


def test_a_launch_of_what_is_no_kernel_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, with_body(LAUNCH, KERNEL.replace("__global__", "__device__")))
    assert error.message == "this launches scale, which is not a kernel"
    assert "__global__" in str(error.remedy)


def test_a_kernel_that_launches_is_refused(tmp_path: Path) -> None:
    text = "__global__ void outer(const float* a, float* b, int n) {\n  scale<<<1, 1>>>(a, b, n);\n}\n"
    error = refused(tmp_path, KERNEL + text + with_body("", ""))
    assert error.message == "outer launches a kernel from the device on line 6"


def test_windows_line_ends_and_a_byte_order_mark_are_accepted(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbf" + with_body("// caf\u00e9\n" + LAUNCH).replace("\n", "\r\n").encode()
    made = program(tmp_path, raw)
    assert made.launches[0].line == BODY_LINE + 1
    assert "\r" not in made.rewritten


def test_a_mask_keeps_every_place() -> None:
    code = 'a = 1\'000; // "x"\nR"(un"quoted)" + "\\"" + \'"\' /* b\n */ c'
    assert len(mask(code)) == len(code)
    assert mask(code).split() == ["a", "=", "1'000;", "+", "+", "c"]
    assert blank("ab\ncd", [(1, 4)]) == "a \n d"


def test_text_survives_the_way_to_bytes_and_back() -> None:
    text = "α + é // 漢字 🎉"
    assert from_bytes_text(to_bytes_text(text)) == text
    assert len(to_bytes_text(text)) == len(text.encode())


def test_columns_are_mapped_back_over_several_marks_on_a_line() -> None:
    code = "x;\na<<<1, 2>>>(p); b<<<{1}, 2>>>(q);"
    marked = mark_launches(code)
    line = marked.code.split("\n")[1]
    for word in ("1, 2", "(p)", "b<<<", "{1}", "(q)"):
        assert marked.column(2, line.index(word)) == code.split("\n")[1].index(word)
    assert marked.column(1, 1) == 1


@pytest.mark.parametrize(("body", "says"), [
    ("scale<<<n>>>(in, out, n);", "gives a grid but no block"),
    ("scale<<<dim3(1, 2)>>>(in, out, n);", "gives a grid but no block"),
    ("scale(in, out, n);", "the kernel scale is called without a launch configuration"),
])  # fmt: skip
def test_what_only_a_host_compiler_refuses_of_a_launch_is_refused(tmp_path: Path, body: str, says: str) -> None:
    error = refused(tmp_path, with_body("\n" + body))
    assert error.line == BODY_LINE + 1
    assert says in error.message


def test_a_kernel_template_may_be_declared_instantiated_and_pointed_to(tmp_path: Path) -> None:
    text = (
        "template <int B> __global__ void k(float* a);\ntemplate <int B>\n__global__ void k(float* a) { a[0] = B; }\n"
        "template __global__ void k<4>(float*);\nvoid run(void (*go)(float*), float* a) { go<<<1, 2>>>(a); }\n"
    )
    body = "run(k<4>, out); auto p = (void (*)(float*))k<5>; p<<<1, dim3(1, 2)>>>(out);"
    program(tmp_path, text + with_body(body, ""))


@pytest.mark.parametrize("name", ['a"b.cu', "a\\b.cu", "a\nb.cu", "a\udcffb.cu"])
def test_a_file_name_that_the_compiler_would_choke_on_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="take a file name like"):
        parse(tmp_path / name, KATA)

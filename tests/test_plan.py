from __future__ import annotations

import struct
from pathlib import Path

import pytest

from harness.errors import KernelFault, SourceError
from harness.launch_rules import LaunchLimits
from harness.plan import Refused, make_plan
from harness.simulator import Module
from harness.steps import Copy, Free, Launch, Malloc, Memset, Relocation, SetAttribute, Upload
from tests.planning import BODY_LINE, INPUT, KERNEL, OUTPUT, N, compiled, only_launch, planned, with_body

ARGUMENTS = struct.pack("<QQi", INPUT, OUTPUT, N)


def test_a_launch_is_recorded_with_everything_a_device_needs(tmp_path: Path) -> None:
    launch = only_launch(planned(tmp_path, with_body("int b = 256;\nscale<<<(n + b - 1) / b, b, 64>>>(in, out, n);")))
    assert launch == Launch(
        "_Z5scalePKfPfi", "scale", (4, 1, 1), (256, 1, 1), 64, ARGUMENTS, line=BODY_LINE + 1
    )  # fmt: skip


def test_arguments_are_converted_to_the_kernels_own_types(tmp_path: Path) -> None:
    kernel = "struct Pair { float* p; char c; };\n" + (
        "__global__ void k(char c, double d, const float* p, short s, Pair q, bool b)\n"
        "{ q.p[0] = d + p[0] + s + c + q.c + b; }\n"
    )
    launch = only_launch(planned(tmp_path, with_body("k<<<1, 1>>>(n, n, in + 2, 3.9, Pair{out + 1, 'x'}, n);", kernel)))
    values = struct.unpack("<b7xdQh6xQc7x?", launch.args)
    assert values == (-24, 1000.0, INPUT + 8, 3, OUTPUT + 4, b"x", True)
    assert launch.relocations == ()


def test_pointers_before_and_far_past_a_buffer_keep_their_offset(tmp_path: Path) -> None:
    launch = only_launch(planned(tmp_path, with_body("scale<<<1, 1>>>(in - 7, out + (1ll << 33), n);")))
    assert struct.unpack("<QQi", launch.args) == (INPUT - 28, OUTPUT + (4 << 33), N)


@pytest.mark.parametrize(("kernel", "call", "mangled", "name"), [
    ("template <class T, int B> __global__ void k(const T* a, T* b, int n) { b[0] = B; }\n", "k<float, 4>",
     "_Z1kIfLi4EEvPKT_PS0_i", "k"),
    ("template <class T> __global__ void k(const T* a, T* b, int n) { b[0] = a[0]; }\n", "k", "_Z1kIfEvPKT_PS0_i", "k"),
    ("namespace a { namespace b { __global__ void k(const float* a, float* b, int n) { b[0] = a[0]; } } }\n", "a::b::k",
     "_ZN1a1b1kEPKfPfi", "a::b::k"),
    ('extern "C" __global__ void k(const float* a, float* b, int n) { b[0] = a[0]; }\n', "k", "k", "k"),
])  # fmt: skip
def test_a_kernel_is_named_for_the_module_and_for_a_person(
    tmp_path: Path, kernel: str, call: str, mangled: str, name: str
) -> None:
    launch = only_launch(planned(tmp_path, with_body(f"{call}<<<1, 1>>>(in, out, n);", kernel)))
    assert (launch.kernel, launch.name) == (mangled, name)


def test_a_static_kernel_is_named_without_what_hides_it(tmp_path: Path) -> None:
    hidden = "namespace {\n" + KERNEL + "}\n"
    launch = only_launch(planned(tmp_path, with_body("scale<<<1, 1>>>(in, out, n);", hidden)))
    assert launch.name == "scale"


def test_lines_are_those_of_the_launches_through_macros_helpers_and_line_breaks(tmp_path: Path) -> None:
    kernel = KERNEL + (
        "#define GO(k, ...) \\\n  k<<<1, 2>>>(__VA_ARGS__)\n"
        "void run(const float* a, float* b, int n)\n{\n  scale<<<1, 1>>>(a, b, n);\n}\n"
    )
    body = (
        "scale<<<\n  1,\n  2>>>(in, out, n);\nGO(scale, in, out, n);\nrun(in, out, n);\n"
        "scale<<<{1}, {2}>>>(in, out, n);"
    )
    lines = [launch.line for launch in planned(tmp_path, with_body(body, kernel)).launches]
    assert lines == [12, 15, 9, 17]


def test_loops_and_conditions_are_followed(tmp_path: Path) -> None:
    body = "for (int m = n; m > 1; m = (m + 255) / 256) scale<<<(m + 255) / 256, 256>>>(in, out, m);"
    assert [launch.grid[0] for launch in planned(tmp_path, with_body(body)).launches] == [4, 1]


def test_scratch_is_recorded_and_its_addresses_are_relocatable(tmp_path: Path) -> None:
    body = (
        "float *s, *t; cudaMalloc(&s, n * 4); cudaMalloc((void**)&t, 10);\ncudaMemset(s + 1, 0x1ff, 8);\n"
        "scale<<<1, 1>>>(s + 5, t, n);\ncudaMemcpy(out, s, 8, cudaMemcpyDeviceToDevice);\n"
        "cudaFree(s); cudaFree(t); cudaFree(0);"
    )
    plan = planned(tmp_path, with_body(body))
    first, second, memset, launch, copy, *frees = plan.steps
    assert isinstance(first, Malloc)
    assert isinstance(second, Malloc)
    assert (first.nbytes, second.nbytes) == (4000, 10)
    assert second.address - first.address >= 1 << 20
    assert memset == Memset(first.address + 4, 0xFF, 8, BODY_LINE + 1)
    assert copy == Copy(OUTPUT, first.address, 8, BODY_LINE + 3)
    assert frees == [Free(first.address, BODY_LINE + 4), Free(second.address, BODY_LINE + 4)]
    assert isinstance(launch, Launch)
    assert launch.relocations == (
        Relocation(0, 20, scratch=first.address), Relocation(8, 0, scratch=second.address),
    )  # fmt: skip
    moved = {first.address: 0x5000, second.address: 0x9000}
    packed = launch.relocated(lambda one: moved[one.scratch or 0] + one.offset)
    assert struct.unpack("<QQi", packed) == (0x5014, 0x9000, N)


def test_module_variables_are_found_by_address(tmp_path: Path) -> None:
    kernel = "__constant__ float table[4];\n__device__ float room[8];\n" + KERNEL + (
        "__global__ void k(float* b) { b[0] = table[1] + room[1]; }\n"
    )
    body = (
        "float h[2] = {1, 2}; cudaMemcpyToSymbol(table, h, 8, 4);\nfloat* p; cudaGetSymbolAddress((void**)&p, room);\n"
        "scale<<<1, 1>>>(p + 3, out, n); k<<<1, 1>>>(out);"
    )
    plan = planned(tmp_path, with_body(body, kernel))
    upload, launch, _ = plan.steps
    assert isinstance(upload, Upload)
    assert upload.data == struct.pack("<2f", 1, 2)
    assert plan.locate(upload.address) == Relocation(0, 4, symbol="table")
    assert isinstance(launch, Launch)
    assert launch.relocations == (Relocation(0, 12, symbol="room"),)
    assert plan.locate(INPUT) is None


def test_two_numbers_side_by_side_are_never_taken_for_an_address(tmp_path: Path) -> None:
    kernel = "__device__ float room[8];\n__global__ void k(float* b, int low, int high, int far, int away) {\n" + (
        "    b[0] = low + high + far + away + room[0]; }\n"
    )
    body = "float* p; cudaMalloc(&p, 4); k<<<1, 1>>>(out, 2, 8, 2, 0x6000); k<<<1, 1>>>(out, 2, 0x5000, 0, 0);"
    for launch in planned(tmp_path, with_body(body, kernel)).launches:
        assert launch.relocations == ()
        assert launch.args[8:] in (struct.pack("<4i", 2, 8, 2, 0x6000), struct.pack("<4i", 2, 0x5000, 0, 0))


@pytest.mark.parametrize("upper", [1, 4, 8, 0x4000, 0x5000, 0x6000, 1 << 24, 1 << 25, 1 << 26, 1_000_000, 30_522])
def test_numbers_in_a_struct_beside_a_pointer_keep_their_bits(tmp_path: Path, upper: int) -> None:
    kernel = "__device__ float room[8];\nstruct Sizes { int low, high; float* p; };\n" + (
        "__global__ void k(Sizes s) { s.p[0] = s.low + s.high + room[0]; }\n"
    )
    launches = "".join(f"k<<<1, 1>>>(Sizes{{{low}, {upper}, out}});" for low in (0, 2, 1000, -1))
    for launch in planned(tmp_path, with_body(f"float* p; cudaMalloc(&p, 4); {launches}", kernel)).launches:
        assert launch.relocations == ()
        assert struct.unpack("<iiQ", launch.args)[1:] == (upper, OUTPUT)


def test_a_kernel_that_only_a_gpu_can_run_is_planned_all_the_same(tmp_path: Path) -> None:
    kernel = '__global__ void k(float* b) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(0)); b[0] = 1; }\n'
    assert only_launch(planned(tmp_path, with_body("k<<<1, 1>>>(out);", kernel))).name == "k"


def test_host_data_is_uploaded_byte_for_byte(tmp_path: Path) -> None:
    body = (
        'cudaMemcpy(out, "abc", 3, cudaMemcpyHostToDevice); int h[3] = {n, 2, 3};\n'
        "cudaMemcpy(out, h, 12, cudaMemcpyDefault);"
    )
    assert planned(tmp_path, with_body(body)).steps == (
        Upload(OUTPUT, b"abc", BODY_LINE), Upload(OUTPUT, struct.pack("<3i", N, 2, 3), BODY_LINE + 1),
    )  # fmt: skip


def test_launch_kernel_with_an_array_of_arguments_is_a_launch(tmp_path: Path) -> None:
    body = "void* args[] = {&in, &out, &n};\ncudaLaunchKernel((void*)scale, dim3(2, 3), dim3(4), args, 16, 0);"
    launch = only_launch(planned(tmp_path, with_body(body)))
    assert launch == Launch("_Z5scalePKfPfi", "scale", (2, 3, 1), (4, 1, 1), 16, ARGUMENTS, line=BODY_LINE + 1)


def test_the_device_it_is_told_of_is_an_a100(tmp_path: Path) -> None:
    body = (
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int sms;\n"
        "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);\n"
        "scale<<<dim3(p.multiProcessorCount, sms, p.major), p.warpSize>>>(in, out, n);"
    )
    launch = only_launch(planned(tmp_path, with_body(body)))
    assert (launch.grid, launch.block) == ((108, 108, 8), (32, 1, 1))


def test_a_solve_that_launches_nothing_has_an_empty_plan(tmp_path: Path) -> None:
    assert planned(tmp_path, with_body("")).steps == ()


def test_shared_memory_beyond_48_kib_is_fine_once_asked_for(tmp_path: Path) -> None:
    body = (
        "cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);\n"
        "scale<<<1, 1, 65536>>>(in, out, n);"
    )
    allow, launch = planned(tmp_path, with_body(body)).steps
    assert allow == SetAttribute("_Z5scalePKfPfi", 65536, BODY_LINE)
    assert isinstance(launch, Launch)
    assert launch.shared_bytes == 65536


def test_what_solve_prints_goes_to_the_printer(tmp_path: Path) -> None:
    made = compiled(tmp_path, with_body('printf("n is %d\\n", n);'))
    lines: list[str] = []
    make_plan(Module.parse(made.ptx, "scale.cu"), made, (INPUT, OUTPUT, N), printer=lines.append)
    assert "n is 1000" in "".join(lines)


@pytest.mark.parametrize(("body", "says", "line"), [
    ("int x = 1;\nif (in[0] > 0) scale<<<1, 1>>>(in, out, n);", "it is on the device", 1),
    ("float* s; cudaMalloc(&s, 4);\ns[0] = 1; scale<<<1, 1>>>(s, out, n);", "it is on the device", 1),
    ("float h;\ncudaMemcpy(&h, in, 4, cudaMemcpyDeviceToHost);", "copies device memory to the host", 1),
    ("float h;\ncudaMemcpy(&h, in, 4, cudaMemcpyDefault); if (h) scale<<<1, 1>>>(in, out, n);", "device memory to", 1),
    ("float h[20000];\nh[n] = 1; cudaMemcpy(out, h, sizeof(h), cudaMemcpyHostToDevice);", "more than 64 KiB", 1),
    ("\nfor (;;) scale<<<1, 1>>>(in, out, n);", "more than 512 launches", 1),
    ("\nexit(1);", "ends the program", 1),
    ("int b;\nscale<<<b, 64>>>(in, out, n); for (int i = 0; i < n; ++i) ++b;\nscale<<<b, 64>>>(in, out, n);",
     "^solve uses a variable before it has a value", 1),
    ("int v;\ncudaDeviceGetAttribute(&v, cudaDevAttrTextureAlignment, 0); scale<<<v, 1>>>(in, out, n);",
     "not known here", 1),
])  # fmt: skip
def test_what_solve_may_not_do_is_refused_with_its_line(tmp_path: Path, body: str, says: str, line: int) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        planned(tmp_path, with_body(body))
    assert caught.value.line == BODY_LINE + line
    assert caught.value.file == "scale.cu"


def test_a_solve_that_never_returns_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.plan._BUDGET_SECONDS", 0.2)
    with pytest.raises(SourceError, match="doesn't finish"):
        planned(tmp_path, with_body("volatile int x = 1;\nwhile (x) x += 2;"))


@pytest.mark.parametrize("outer", ["", "namespace {\n"])
def test_a_host_function_that_calls_itself_is_refused_by_its_own_name(tmp_path: Path, outer: str) -> None:
    helper = (
        f"{outer}\nvoid halve(const float* in, float* out, int n) {{\n"
        "    if (n > 1) {\n        halve(out, out, n / 2);\n        scale<<<1, 32>>>(in, out, n);\n    }\n"
        f"}}{'}' * bool(outer)}\n"
    )
    with pytest.raises(SourceError, match=r"^halve calls itself: recursion on the host") as caught:
        planned(tmp_path, with_body("halve(in, out, n);", KERNEL + helper))
    line = 1 + (KERNEL + helper)[: (KERNEL + helper).index("halve(out")].count("\n")
    assert (caught.value.file, caught.value.line) == ("scale.cu", line) and "loop" in str(caught.value.remedy)


@pytest.mark.parametrize(("body", "kind", "error", "says"), [
    ("float* s; cudaMalloc(&s, (size_t)-4);", "out_of_memory", "cudaErrorMemoryAllocation", "more than the GPU has"),
    ("float* s; cudaMalloc(&s, 4); cudaFree(s); cudaFree(s);", "double_free", "cudaErrorInvalidValue", "freed before"),
    ("cudaFree(out);", "invalid_free", "cudaErrorInvalidValue", "not what cudaMalloc returned"),
])  # fmt: skip
def test_a_call_that_cuda_would_refuse_has_its_name_a_remedy_and_the_plan_before_it(
    tmp_path: Path, body: str, kind: str, error: str, says: str
) -> None:
    with pytest.raises(Refused) as caught:
        planned(tmp_path, with_body(f"scale<<<1, 64>>>(in, out, n); {body} scale<<<2, 64>>>(in, out, n);"))
    hazard = caught.value.hazard
    assert (hazard.kind, hazard.line) == (kind, BODY_LINE) and hazard.remedy
    assert error in hazard.message and says in hazard.message
    (before,) = caught.value.before
    assert [launch.grid for launch in before.launches] == [(1, 1, 1)]


@pytest.mark.parametrize(("body", "error", "says"), [
    ("scale<<<n / 1024, 256>>>(in, out, n);", "cudaErrorInvalidConfiguration", "grid.x is 0"),
    ("scale<<<4, n / 1024>>>(in, out, n);", "cudaErrorInvalidConfiguration", "block.x is 0"),
    ("scale<<<1, 1025>>>(in, out, n);", "cudaErrorInvalidConfiguration", "1,025 threads a block, 1,024 is the most"),
    ("scale<<<1, dim3(33, 32)>>>(in, out, n);", "cudaErrorInvalidConfiguration", "(33, 32)>>>: 1,056 threads"),
    ("scale<<<1, dim3(1, 1, 65)>>>(in, out, n);", "cudaErrorInvalidConfiguration", "block.z is 65, 64 is the most"),
    ("scale<<<dim3(1, 65536), 1>>>(in, out, n);", "cudaErrorInvalidConfiguration", "grid.y is 65,536"),
    ("scale<<<dim3(1, 1, 65536), 1>>>(in, out, n);", "cudaErrorInvalidConfiguration", "grid.z is 65,536"),
    ("scale<<<-1, 1>>>(in, out, n);", "cudaErrorInvalidConfiguration", "a negative number, -1"),
    ("scale<<<1, 1, 49153>>>(in, out, n);", "cudaErrorInvalidValue", "49,153 bytes of dynamic shared memory"),
    ("scale<<<1, 1, 166913>>>(in, out, n);", "cudaErrorInvalidValue", "sm_80 has 166,912 a block"),
    ("cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 166913);", "cudaErrorInvalidValue",
     "166,912"),
])  # fmt: skip
def test_what_cuda_would_refuse_is_a_launch_fault_with_its_name(
    tmp_path: Path, body: str, error: str, says: str
) -> None:
    with pytest.raises(KernelFault) as caught:
        planned(tmp_path, with_body(body))
    hazard = caught.value.hazard
    assert (hazard.kind, hazard.line) == ("launch", BODY_LINE)
    assert error in hazard.message
    assert says in hazard.message


def test_grid_and_block_the_wrong_way_round_are_noticed(tmp_path: Path) -> None:
    with pytest.raises(KernelFault) as caught:
        planned(tmp_path, with_body("scale<<<256, (n + 255) / 256 * 1000>>>(in, out, n);"))
    assert "swapped" in str(caught.value.hazard.remedy)


def test_launch_bounds_are_held(tmp_path: Path) -> None:
    kernel = KERNEL.replace("void scale", "void __launch_bounds__(128) scale")
    planned(tmp_path, with_body("scale<<<1, 128>>>(in, out, n);", kernel))
    with pytest.raises(KernelFault, match="__launch_bounds__ allow 128"):
        planned(tmp_path, with_body("scale<<<1, 129>>>(in, out, n);", kernel))


def test_registers_bound_the_block(tmp_path: Path) -> None:
    made = compiled(tmp_path, with_body("scale<<<1, 1024>>>(in, out, n);"))
    module = Module.parse(made.ptx, "scale.cu")
    small = LaunchLimits("sm_small", registers=8191)
    with pytest.raises(KernelFault, match="cudaErrorLaunchOutOfResources"):
        make_plan(module, made, (INPUT, OUTPUT, N), limits=small)


def test_calls_that_do_the_same_have_one_plan(tmp_path: Path) -> None:
    body = (
        "static int calls; ++calls; static const int blocks[] = {1, 2, 3};\n"
        "float* s; cudaMalloc(&s, 4096); scale<<<blocks[n % 3], 64>>>(s, out, n); cudaFree(s);"
    )
    plan = planned(tmp_path, with_body(body))
    assert plan.again is None and plan.later is plan


def test_a_static_variable_of_solve_lives_on_and_a_later_call_has_a_plan_of_its_own(tmp_path: Path) -> None:
    body = "static int calls = 0;\nfor (int i = calls++; i < 2; ++i) scale<<<1, 64 + i>>>(in, out, n);"
    plan = planned(tmp_path, with_body(body))
    assert [launch.block[0] for launch in plan.launches] == [64, 65]
    assert [launch.block[0] for launch in plan.later.launches] == [65]


@pytest.mark.parametrize("kept", ["static float* s;", "static struct { float *a, *b; } made; float*& s = made.b;"])
def test_scratch_that_a_static_pointer_keeps_is_inherited_by_the_later_call(tmp_path: Path, kept: str) -> None:
    body = kept + " if (!s) cudaMalloc(&s, 8 * n); scale<<<1, 64>>>(s + n, out, n);"
    plan = planned(tmp_path, with_body(body))
    malloc, first = plan.steps
    (second,) = plan.later.steps
    assert isinstance(malloc, Malloc) and plan.later.inherited == (malloc,)
    assert isinstance(first, Launch) and first == second
    assert first.relocations == (Relocation(0, 4 * N, scratch=malloc.address),)


def test_what_a_later_call_allocates_lies_beside_what_an_earlier_one_kept(tmp_path: Path) -> None:
    body = (
        "static float* s; float* t; if (!s) cudaMalloc(&s, 64);\n"
        "cudaMalloc(&t, 128); scale<<<1, 64>>>(s, t, n); cudaFree(t);"
    )
    plan = planned(tmp_path, with_body(body))
    kept, *_ = plan.steps
    made, launch, freed = plan.later.steps
    assert isinstance(made, Malloc) and made.nbytes == 128 and isinstance(freed, Free) and freed.address == made.address
    assert isinstance(kept, Malloc) and isinstance(launch, Launch)
    assert [one.scratch for one in launch.relocations] == [kept.address, made.address] and kept.address != made.address


@pytest.mark.parametrize(("body", "says"), [
    ("static float* s; if (!s) cudaMalloc(&s, 64); scale<<<1, 64>>>(in, s, n); cudaFree(s);", "freed before"),
    ("static int calls; scale<<<1, 1024 + calls++>>>(in, out, n);", "1,025 threads a block"),
])  # fmt: skip
def test_what_cuda_would_refuse_in_a_later_call_alone_is_found(tmp_path: Path, body: str, says: str) -> None:
    with pytest.raises(Refused) as caught:
        planned(tmp_path, with_body(body))
    message = caught.value.hazard.message
    assert message.startswith("when solve is called again, ") and says in message
    first, second = caught.value.before
    assert len(first.launches) == 1 and len(second.steps) == len(first.steps) - 1 - (says == "freed before")


def test_what_solve_prints_is_told_once_though_a_variable_lives_on(tmp_path: Path) -> None:
    body = 'static int calls; printf("call %d\\n", ++calls); scale<<<1, 64>>>(in, out, n);'
    made = compiled(tmp_path, with_body(body))
    lines: list[str] = []
    make_plan(Module.parse(made.ptx, "scale.cu"), made, (INPUT, OUTPUT, N), printer=lines.append)
    assert lines == ["call 1\n"]


TWO = "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b); cudaEvent_t e; cudaEventCreate(&e);\n"


def test_launches_that_no_stream_orders_are_warned_of_and_planned_in_both_orders(tmp_path: Path) -> None:
    body = TWO + "scale<<<1, 64, 0, a>>>(in, out, n);\nscale<<<2, 64, 0, b>>>(out, out + n, n);"
    plan = planned(tmp_path, with_body(body))
    (hazard,) = plan.hazards
    assert hazard.line == BODY_LINE + 2 and f"wait for scale on line {BODY_LINE + 1}:" in hazard.message
    assert [launch.grid[0] for launch in plan.launches] == [2, 1]
    assert [launch.grid[0] for launch in plan.later.launches] == [1, 2]


@pytest.mark.parametrize("second", ["in, out + 256, n", "in + 1, out + 256, n"])
def test_launches_that_only_read_the_same_memory_are_not_warned_of(tmp_path: Path, second: str) -> None:
    body = TWO + f"scale<<<1, 64, 0, a>>>(in, out, n);\nscale<<<2, 64, 0, b>>>({second});"
    assert planned(tmp_path, with_body(body)).hazards == ()


@pytest.mark.parametrize("between", [
    "cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0);", "cudaStreamSynchronize(a);", "cudaDeviceSynchronize();",
    "cudaEventRecord(e, a); cudaEventSynchronize(e);", "cudaMemset(out + n, 0, 4);",
    "float* s; cudaMalloc(&s, 4); cudaFree(s);",
])  # fmt: skip
def test_launches_on_two_streams_with_something_between_that_orders_them_have_one_plan(
    tmp_path: Path, between: str
) -> None:
    body = TWO + f"scale<<<1, 64, 0, a>>>(in, out, n); {between} scale<<<2, 64, 0, b>>>(out, out, n);"
    plan = planned(tmp_path, with_body(body))
    assert plan.hazards == () and [launch.grid[0] for launch in plan.launches] == [1, 2]


def test_a_number_of_eight_bytes_is_no_memory_that_two_launches_use(tmp_path: Path) -> None:
    kernel = "__global__ void put(float* b, long long n) { b[threadIdx.x + n - 1000] = n; }\n"
    body = TWO + "put<<<1, 64, 0, a>>>(out, n);\nput<<<2, 64, 0, b>>>(out + 64, n);"
    assert planned(tmp_path, with_body(body, kernel)).hazards == ()


def test_a_copy_and_a_launch_on_two_streams_are_told_apart_by_name(tmp_path: Path) -> None:
    copy = "cudaMemcpyAsync(out, in, 4 * n, cudaMemcpyDeviceToDevice, a);\n"
    body = f"{TWO}{copy}scale<<<1, 64, 0, b>>>(out + 7, out, n);"
    (hazard,) = planned(tmp_path, with_body(body)).hazards
    assert f"nothing makes scale wait for cudaMemcpy on line {BODY_LINE + 1}:" in hazard.message


@pytest.mark.parametrize(("made", "warned"), [
    ("cudaStreamCreate(&s)", False),
    ("cudaStreamCreateWithFlags(&s, cudaStreamDefault)", False),
    ("cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)", True),
    ("cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 0)", True),
    ("s = cudaStreamPerThread", False),
    ("s = cudaStreamLegacy", False),
])  # fmt: skip
def test_only_a_stream_made_not_to_block_is_in_no_order_with_a_plain_memset(
    tmp_path: Path, made: str, warned: bool
) -> None:
    body = f"cudaStream_t s; {made}; cudaMemset(out, 0, 4 * n);\nscale<<<1, 64, 0, s>>>(in, out, n);"
    assert [hazard.line for hazard in planned(tmp_path, with_body(body)).hazards] == [BODY_LINE + 1] * warned

"""A loaded module: entries, addresses, layouts, and what its variables hold."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest

from harness.errors import Unsupported
from harness.simulator.kernel import variable_name
from tests.simulator.running import Bench, Unset, assembly, compiled, module, run, silent


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("tile", "tile"),
        ("_Z3addPfi", "add"),
        ("_ZZ6kernelPfE4tile", "tile"),
        ("_ZZ4softILi128EEvPKfPfiE5s_max", "s_max"),
        ("_ZN3lib5countE", "count"),
        ("_ZZ1kE1a", "a"),
        ("_Zoo", "_Zoo"),
    ],
)
def test_a_symbol_is_spoken_of_as_the_user_wrote_it(symbol: str, name: str) -> None:
    assert variable_name(symbol) == name


def test_kernels_are_entries_and_device_functions_are_not() -> None:
    loaded = module(
        """__device__ __noinline__ int f(int x) { return x + 1; }
        KERNEL one(int* out) { out[0] = f(out[1]); }
        template <int N> __global__ void two(int* out) { out[0] = N; }
        template __global__ void two<7>(int*);"""
    )
    assert set(loaded.entries) == {"one", "_Z3twoILi7EEvPi"}
    assert loaded.function_at(loaded.functions["one"]) == "one"
    assert len(set(loaded.functions.values())) == 3
    assert loaded.function_at(12345) is None


def test_parameters_lie_as_c_lays_out_a_struct() -> None:
    kernel = module(
        "struct S { char a; double b; }; KERNEL k(char a, int b, char c, double d, S s, float4 f, char e) {}"
    ).kernel("k")
    found = [(one.offset, one.size) for one in kernel.parameters]
    assert found == [(0, 1), (4, 4), (8, 1), (16, 8), (24, 16), (48, 16), (64, 1)]


def test_parameters_of_every_kind_arrive() -> None:
    out = silent(
        """struct S { char a; double b; int c[3]; };
        KERNEL k(double* out, char a, unsigned short b, S s, bool yes, long long big, float3 v) {
            int i = threadIdx.x % 3;
            out[threadIdx.x] = a + b + s.a + s.b + s.c[i] + (yes ? 0.5 : 0) + big + v.x + v.y * v.z;
        }""",
        out=Unset("f8", 32), a=-3, b=60000, s=struct.pack("<b7xd3i4x", -7, 0.25, 10, 20, 30), yes=1, big=-(1 << 40),
        v=struct.pack("<3f", 1, 2, 3),
    )["out"]  # fmt: skip
    expected = [-3 + 60000 - 7 + 0.25 + (10, 20, 30)[i % 3] + 0.5 - (1 << 40) + 7 for i in range(32)]
    np.testing.assert_array_equal(out, expected)


def test_a_parameter_may_be_an_array_with_an_index_of_each_lane() -> None:
    source = """struct Table { int values[8]; };
    KERNEL k(int* out, Table table) { out[threadIdx.x] = table.values[threadIdx.x * 3 & 7]; }"""
    table = np.arange(8, dtype="i4") * 11
    out = silent(source, out=Unset("i4", 32), table=table.tobytes())["out"]
    np.testing.assert_array_equal(out, table[np.arange(32) * 3 % 8])


def test_a_launch_with_too_few_argument_bytes_is_refused() -> None:
    bench = Bench("KERNEL k(int* out, int n) { out[0] = n; }")
    with pytest.raises(ValueError, match="12 bytes"):
        bench.machine.launch("k", (1, 1, 1), (32, 1, 1), 0, bytes(8))


def test_module_variables_hold_what_the_source_says_and_zero_otherwise() -> None:
    source = """
    __device__ int counter;
    __device__ float numbers[4] = {1.5f, -2, 3e10f};
    __constant__ double half = 0.5;
    __constant__ unsigned char text[] = "hey";
    __device__ int* pointer = &counter;
    __device__ const char* words[2] = {"yes", "no"};
    __device__ float* inside = numbers + 2;
    KERNEL k(double* out) {
        out[0] = counter; out[1] = numbers[1]; out[2] = half; out[3] = text[2]; out[4] = *pointer; out[5] = words[1][1];
        out[6] = *inside; out[7] = numbers[3];
        *pointer = 9;
        out[8] = counter;
    }"""
    out = silent(source, block=1, out=Unset("f8", 9))["out"]
    np.testing.assert_array_equal(out, [0, -2, 0.5, ord("y"), 0, ord("o"), np.float32(3e10), 0, 9])


def test_module_variables_live_from_launch_to_launch() -> None:
    bench = Bench("__device__ int count = 5; KERNEL k(int* out) { out[0] = ++count; }")
    assert [bench.launch(block=1, out=Unset("i4", 1))["out"][0] for _ in range(3)] == [6, 7, 8]


def test_static_shared_arrays_and_the_dynamic_part_do_not_overlap() -> None:
    source = """
    extern __shared__ double dynamic[];
    KERNEL k(unsigned* out) {
        __shared__ char a[3];
        __shared__ float b[5];
        __shared__ double c[2];
        out[0] = __cvta_generic_to_shared(a); out[1] = __cvta_generic_to_shared(b);
        out[2] = __cvta_generic_to_shared(c); out[3] = __cvta_generic_to_shared(dynamic);
        asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[4]));
        asm("mov.u32 %0, %%total_smem_size;" : "=r"(out[5]));
        a[threadIdx.x] = 1; b[threadIdx.x] = 2; c[threadIdx.x] = 3; dynamic[threadIdx.x] = 4;
        out[6] = a[threadIdx.x] * 1000 + b[threadIdx.x] * 100 + c[threadIdx.x] * 10 + dynamic[threadIdx.x];
    }"""
    out = silent(source, block=1, shared=64, out=Unset("u4", 7))["out"]
    places = sorted(zip(out[:4].tolist(), (3, 20, 16, 64), strict=True))
    assert all(start + size <= after for (start, size), (after, _) in itertools.pairwise(places))
    assert out[1] % 4 == out[2] % 8 == out[3] % 16 == 0 and max(out[:3]) < out[3]
    assert out[4] == 64 and out[5] == out[3] + 64 and out[6] == 1234
    kernel = module(source).kernel("k")
    assert kernel.dynamic_start == out[3]


def test_two_dynamic_arrays_are_one_place() -> None:
    source = """
    extern __shared__ float floats[];
    extern __shared__ int ints[];
    KERNEL k(int* out) { floats[0] = 1.0f; out[0] = ints[0]; }"""
    assert run(source, block=1, shared=16, out=Unset("i4", 1))["out"][0] == 0x3F800000


def test_a_shared_address_is_named_by_its_variable() -> None:
    source = """KERNEL k(float* out) {
        __shared__ float first[8];
        __shared__ float second[8];
        first[threadIdx.x] = second[threadIdx.x] = 1; out[0] = first[1] + second[2];
    }"""
    kernel = module(source).kernel("k")
    names = {kernel.shared_name(address) for address in (0, 28, 32, 40)}
    assert {name for name, _ in filter(None, names)} == {"first", "second"}
    assert {offset for _, offset in filter(None, names)} == {0, 28, 8}


def test_a_symbol_that_is_defined_nowhere_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="missing is used in main but defined nowhere"):
        module(assembly("mov.u64 %rd1, missing;")).kernel("main")


def test_a_kernel_is_decoded_once_and_serves_many_memories() -> None:
    text = "__device__ int seen; KERNEL k(int* out) { out[0] = seen++; }"
    one, two = Bench(text), Bench(text)
    assert one.module is two.module and one.module.kernel("k") is two.module.kernel("k")
    assert one.launch(block=1, out=Unset("i4", 1))["out"][0] == two.launch(block=1, out=Unset("i4", 1))["out"][0] == 0


def test_a_cubs_worth_of_headers_compiles_and_runs() -> None:
    source = """#include <cuda_fp16.h>
    KERNEL k(float* out) {
        __half2 x = __floats2half2_rn(threadIdx.x, 0.1f);
        x = __hfma2(x, x, __float2half2_rn(0.5f));
        out[2 * threadIdx.x] = __low2float(x); out[2 * threadIdx.x + 1] = __high2float(x);
    }"""
    assert "fma.rn.f16x2" in compiled(source)
    out = silent(source, out=Unset("f4", 64))["out"].reshape(32, 2)
    lanes = np.arange(32)
    np.testing.assert_array_equal(out[:, 0], np.float16(lanes * lanes + 0.5))
    tenth = np.float64(np.float16(0.1))
    np.testing.assert_array_equal(out[:, 1], np.full(32, np.float16(tenth * tenth + 0.5)))

"""Instructions that are more than arithmetic: guards, addresses between spaces, traps, hints, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import Unsupported
from harness.results import Severity
from harness.simulator.memory import LOCAL_WINDOW, SHARED_WINDOW
from harness.simulator.steps import effects
from tests.simulator.exact import instruction
from tests.simulator.running import Unset, assembly, fault, line_of, module, silent


def test_a_guard_lets_only_some_lanes_do_it() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd1, %rd1, %rd2;
        mov.u32 %r2, 100;
        setp.lt.u32 %p1, %r1, 10;
        setp.ge.u32 %p2, %r1, 999;
        @%p1 add.u32 %r2, %r2, %r1;
        @!%p1 mov.u32 %r2, 7;
        @%p2 mov.u32 %r2, 8;
        @%p1 st.global.u32 [%rd1], %r2;
        @!%p1 ret;
        st.global.u32 [%rd1+128], %r2;
        """
    )
    out = silent(text, out=np.zeros(64, "u4"))["out"]
    expected = [100 + i if i < 10 else 0 for i in range(32)]
    np.testing.assert_array_equal(out, expected * 2)


def test_a_guarded_access_touches_nothing_for_the_other_lanes() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd1, %rd1, %rd2;
        setp.lt.u32 %p1, %r1, 10;
        mov.u32 %r3, 5;
        @%p1 ld.global.u32 %r3, [%rd1];
        @%p1 st.global.u32 [%rd1], 1;
        """
    )
    np.testing.assert_array_equal(silent(text, out=np.zeros(10, "u4"))["out"], np.ones(10))


def test_generic_addresses_go_to_their_space_and_back() -> None:
    source = """KERNEL k(unsigned long long* out) {
        __shared__ int shared[4];
        int local[4] = {1, 2, 3, (int)threadIdx.x};
        int* chosen[3] = {shared, local, (int*)out};
        out[0] = (unsigned long long)shared; out[1] = (unsigned long long)&local[threadIdx.x];
        out[2] = __isShared(chosen[threadIdx.x]) | __isLocal(chosen[threadIdx.x + 1]) << 1
                 | __isGlobal(chosen[threadIdx.x + 2]) << 2 | __isShared(chosen[threadIdx.x + 2]) << 3;
        out[3] = __cvta_generic_to_shared(shared + 1);
        out[4] = (unsigned long long)__cvta_shared_to_generic(out[3]);
    }"""
    out = silent(source, block=1, out=Unset("u8", 5))["out"].tolist()
    assert SHARED_WINDOW <= out[0] < SHARED_WINDOW + 16 and LOCAL_WINDOW <= out[1] < LOCAL_WINDOW + (1 << 20)
    assert out[2] == 0b111 and out[3] == out[0] - SHARED_WINDOW + 4 and out[4] == out[0] + 4


def test_a_carry_goes_from_one_instruction_to_the_next_in_each_lane() -> None:
    source = """KERNEL k(unsigned* out) {
        unsigned lo, hi, i = threadIdx.x;
        asm("add.cc.u32 %0, %2, %3;\\n addc.u32 %1, %4, 0;" : "=r"(lo), "=r"(hi) : "r"(0xFFFFFFF0u), "r"(i), "r"(i));
        out[2 * i] = lo; out[2 * i + 1] = hi;
    }"""
    out = silent(source, out=Unset("u4", 64))["out"].reshape(32, 2)
    np.testing.assert_array_equal(out[:, 0], np.arange(32, dtype="u4") + np.uint32(0xFFFFFFF0))
    np.testing.assert_array_equal(out[:, 1], [i + (i >= 16) for i in range(32)])


def test_a_trap_ends_the_launch_with_thread_and_line() -> None:
    source = """KERNEL k(int* out) {
        if (threadIdx.x == 40 && blockIdx.x == 2) {
            __trap(); // trap
        }
    }"""
    hazard = fault(source, grid=3, block=64, out=np.zeros(1, "i4"))
    assert (hazard.kind, hazard.line, hazard.severity) == ("trap", line_of(source, "trap"), Severity.ERROR)
    assert (hazard.block, hazard.thread) == ((2, 0, 0), (40, 0, 0))
    assert "thread 40 of block 2" in hazard.message


def test_hints_and_waits_change_nothing() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        prefetch.global.L2 [%rd1];
        prefetchu.L1 [%rd1];
        nanosleep.u32 100;
        membar.cta;
        fence.acq_rel.gpu;
        st.global.u32 [%rd1], 3;
        """
    )
    assert silent(text, block=1, out=Unset("u4", 1))["out"][0] == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f2};", "mma"),
        ("frobnicate.b32 %r1, %r2;", "frobnicate"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1}, [%rd1];", "wmma"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", "ldmatrix"),
        ("add.f32 %f1, %f2;", "add.f32"),
        ("ld.global.v8.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%rd1];", "32 bytes"),
        ("ld.global.u32 %r1, %r2;", "load without an address"),
        ("atom.global.frob.u32 %r1, [%rd1], 1;", "atom"),
        ("shfl.up.b32 %r1, %r2, 1, 0;", ".sync"),
        ("cp.async.bulk.shared.global [%r1], [%rd1], 16, [%r2];", "cp.async.bulk"),
        ("mov.u32 %r1, %envreg3;", "envreg3"),
        ("tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2}];", "tex"),
    ],
)
def test_what_the_simulator_cannot_run_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(Unsupported) as refused:
        silent(assembly(f"mov.u32 %r3, 1;\n{text}\nmov.u32 %r4, 1;"), block=1, out=Unset("u4", 1))
    assert words in refused.value.message and refused.value.line == 2


def test_an_unknown_instruction_in_a_kernel_that_is_not_launched_does_no_harm() -> None:
    text = assembly("ret;") + ".visible .entry other() {\nfrobnicate.b32 %r1;\nret;\n}\n"
    loaded = module(text)
    loaded.kernel("main")
    with pytest.raises(Unsupported, match="frobnicate"):
        loaded.kernel("other")


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("add.s32 %a, %b, %c", {"%b", "%c"}, {"%a"}),
        ("add.cc.u32 %a, %b, %c", {"%b", "%c"}, {"%a", "%cc"}),
        ("addc.u32 %a, %b, 1", {"%b", "%cc"}, {"%a"}),
        ("mov.b64 {%a,%b}, %c", {"%c"}, {"%a", "%b"}),
        ("shfl.sync.up.b32 %a|%p, %b, 1, 0, %m", {"%b", "%m"}, {"%a", "%p"}),
        ("bar.sync %a, %b", {"%a", "%b"}, set()),
    ],
)
def test_effects_tell_what_an_instruction_reads_and_writes(text: str, reads: set[str], writes: set[str]) -> None:
    found = effects(instruction(text))
    assert (found.reads, found.writes) == (reads, writes)

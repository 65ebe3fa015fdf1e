"""Control flow: lanes part and meet again, and each computes what it would compute alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from harness.errors import KernelFault, Unsupported
from harness.results import Severity
from harness.simulator import Budget
from tests.simulator.programs import (
    REGISTERS,
    SLOTS,
    TABLE,
    Collective,
    Lane,
    Node,
    Statement,
    arrays,
    graph_text,
    graphs,
    program_text,
    programs,
    run_graph,
    run_program,
)
from tests.simulator.running import Bench, Ran, Unset, assembly, line_of, run, silent


def ints(count: int) -> Unset:
    return Unset("i4", count)


def run_random(text: str, grid: int, block: int) -> Ran:
    threads = grid * block
    return silent(
        text, grid=grid, block=block, out=np.zeros(threads * REGISTERS, "u4"), table=np.array(TABLE, "u4"),
        memory=np.zeros(threads * SLOTS, "u4"),
    )  # fmt: skip


def check(ran: Ran, lanes: list[Lane]) -> None:
    out, memory = arrays(lanes)
    np.testing.assert_array_equal(ran["memory"].reshape(memory.shape), memory)
    np.testing.assert_array_equal(ran["out"].reshape(out.shape), out)


@settings(max_examples=60, deadline=None)
@given(graphs)
def test_any_graph_of_blocks_gives_each_lane_what_it_computes_alone(graph: list[Node]) -> None:
    grid, block = 3, 80  # the last warp of a block is half full
    check(run_random(graph_text(graph), grid, block), [run_graph(graph, Lane.of(n)) for n in range(grid * block)])


@settings(max_examples=50, deadline=None)
@given(programs)
def test_lanes_meet_again_after_branches_and_loops(program: list[Statement | Collective]) -> None:
    grid, block = 2, 96
    lanes = [Lane.of(n) for n in range(grid * block)]
    run_program(program, lanes, block)
    check(run_random(program_text(program), grid, block), lanes)


def test_loops_run_as_often_as_each_lane_asks() -> None:
    out = silent(
        """KERNEL k(int* out) {
            int i = threadIdx.x, sum = 0;
            for (int j = 0; j < i; ++j) sum += j * i;
            out[i] = sum;
        }""",
        block=100, out=ints(100),
    )["out"]  # fmt: skip
    np.testing.assert_array_equal(out, [i * (i * (i - 1) // 2) for i in range(100)])


def test_nested_loops_break_and_continue_lane_by_lane() -> None:
    source = """KERNEL k(int* out) {
        int i = threadIdx.x, sum = 0;
        for (int a = 0; a < 6; ++a) {
            if ((a + i) % 3 == 0) continue;
            for (int b = 0; ; ++b) {
                if (b * a > i) break;
                if (b > 9) goto done;
                sum = sum * 3 + a + b;
            }
            sum ^= a;
        }
        done:
        out[i] = sum;
    }"""

    def alone(i: int) -> int:
        total = 0
        for a in range(6):
            if (a + i) % 3 == 0:
                continue
            for b in range(100):
                if b * a > i:
                    break
                if b > 9:
                    return total
                total = (total * 3 + a + b) & 0xFFFFFFFF
            total ^= a
        return total

    out = silent(source, block=64, out=Unset("u4", 64))["out"]
    np.testing.assert_array_equal(out, [alone(i) for i in range(64)])


def test_a_switch_sends_each_lane_to_its_own_case() -> None:
    out = silent(
        """KERNEL k(int* out, const int* choice) {
            int i = threadIdx.x, x = i;
            switch (choice[i]) {
                case 0: x += 10; break;
                case 1: x *= 3;  // falls through
                case 2: x -= 1; break;
                case 3: out[i] = -7; return;
                case 4: x = x * x; break;
                case 5: x = ~x; break;
                case 6: x <<= 2; break;
                default: x = 99;
            }
            out[i] = x;
        }""",
        block=64, out=ints(64), choice=np.arange(64, dtype="i4") % 9 - 1,
    )["out"]  # fmt: skip
    rules = [lambda x: 99, lambda x: x + 10, lambda x: 3 * x - 1, lambda x: x - 1, lambda x: -7, lambda x: x * x,
             lambda x: ~x, lambda x: x << 2, lambda x: 99]  # fmt: skip
    np.testing.assert_array_equal(out, [rules[i % 9](i) for i in range(64)])


def test_a_branch_table_in_ptx_is_followed() -> None:
    text = assembly(
        """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        and.b32 %r2, %r1, 3;
        mov.u32 %r3, 7;
        table: .branchtargets A, B, A, C;
        brx.idx %r2, table;
        A: add.u32 %r3, %r1, 100;
        B: add.u32 %r3, %r3, 1;
        C: mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r3;
        """
    )
    expected = [(i + 101, 8, i + 101, 7)[i % 4] for i in range(64)]
    np.testing.assert_array_equal(silent(text, block=64, out=ints(64))["out"], expected)


def test_lanes_that_return_early_leave_the_others_alone() -> None:
    out = silent(
        """KERNEL k(int* out) {
            int i = threadIdx.x;
            if (i % 3 == 0) return;
            int x = i;
            for (int j = 0; j < 20; ++j) {
                if (j == i) return;
                x += j;
            }
            out[i] = x;
        }""",
        block=96, out=np.full(96, -1, "i4"),
    )["out"]  # fmt: skip
    np.testing.assert_array_equal(out, [-1 if i % 3 == 0 or i < 20 else i + 190 for i in range(96)])


def test_a_loop_with_two_entries_is_walked() -> None:
    source = """KERNEL k(unsigned* out, unsigned rounds) {
        unsigned i = threadIdx.x, x = i, n = 0;
        if (i & 1) goto second;
        first: x = x * 5 + 1;
        if (++n > rounds + i % 7) goto done;
        second: x ^= x >> 3;
        if (n++ < rounds) goto first;
        done: out[i] = x;
    }"""

    def alone(i: int) -> int:
        x, n, second = i, 0, i & 1
        while True:
            if not second:
                x = (x * 5 + 1) & 0xFFFFFFFF
                n += 1
                if n > 4 + i % 7:
                    return x
            second = 0
            x ^= x >> 3
            n += 1
            if n - 1 >= 4:
                return x

    out = silent(source, block=64, out=Unset("u4", 64), rounds=4)["out"]
    np.testing.assert_array_equal(out, [alone(i) for i in range(64)])


def test_after_a_branch_the_whole_warp_runs_together_again() -> None:
    out = silent(
        """KERNEL k(unsigned* out) {
            unsigned i = threadIdx.x, x = 0;
            if (i % 5 == 0) x = __activemask();
            else if (i & 1) { for (int j = 0; j < i % 4; ++j) x += j * i; }
            out[2 * i] = x;
            out[2 * i + 1] = __activemask();
        }""",
        block=64, out=Unset("u4", 128),
    )["out"].reshape(64, 2)  # fmt: skip
    np.testing.assert_array_equal(out[:, 1], [0xFFFFFFFF] * 64)
    for i in range(0, 64, 5):
        assert out[i, 0] == sum(1 << j % 32 for j in range(64) if j % 5 == 0 and j // 32 == i // 32)


def test_a_label_of_inline_assembly_is_known_in_its_braces_only() -> None:
    source = r"""__device__ __forceinline__ int sum_to(int n) {
        int sum;
        asm volatile("{\n .reg .pred p;\n .reg .u32 left;\n mov.u32 %0, 0;\n mov.u32 left, %1;\n"
                     "AGAIN:\n add.u32 %0, %0, left;\n sub.u32 left, left, 1;\n setp.gt.s32 p, left, 0;\n"
                     "@p bra AGAIN;\n}" : "=&r"(sum) : "r"(n));
        return sum;
    }
    KERNEL k(int* out) {
        int i = threadIdx.x + 1;
        out[threadIdx.x] = sum_to(i) * 1000 + sum_to(3);
    }"""
    np.testing.assert_array_equal(
        silent(source, out=ints(32))["out"], [i * (i + 1) // 2 * 1000 + 6 for i in range(1, 33)]
    )


# --- functions


def test_functions_take_and_return_structs() -> None:
    out = silent(
        """struct Pair { double sum; int count; char mark; };
        __device__ __noinline__ Pair merge(Pair a, Pair b) {
            Pair result = a;
            result.sum += b.sum; result.count += b.count; result.mark = a.mark > b.mark ? a.mark : b.mark;
            return result;
        }
        KERNEL k(double* out) {
            int i = threadIdx.x;
            Pair a = {i * 0.5, i, (char)(i % 5)}, b = {1.25, 100, 3};
            Pair c = i % 2 ? merge(a, b) : merge(merge(b, b), a);
            out[i] = c.sum * 1000 + c.count + c.mark / 16.0;
        }""",
        out=Unset("f8", 32),
    )["out"]  # fmt: skip
    expected = [
        (i * 0.5 + (1.25 if i % 2 else 2.5)) * 1000 + i + (100 if i % 2 else 200) + max(i % 5, 3) / 16
        for i in range(32)
    ]
    np.testing.assert_array_equal(out, expected)


def test_calls_through_pointers_reach_the_function_each_lane_names() -> None:
    source = """
        typedef int (*Op)(int, int);
        __device__ __noinline__ int plus(int a, int b) { return a + b; }
        __device__ __noinline__ int minus(int a, int b) { return a - b; }
        __device__ __noinline__ int times(int a, int b) { return a * b; }
        __device__ Op table[3] = {plus, minus, times};
        KERNEL k(int* out) {
            int i = threadIdx.x;
            out[i] = table[i % 3](i, 7);
        }"""
    expected = [(i + 7, i - 7, i * 7)[i % 3] for i in range(64)]
    np.testing.assert_array_equal(silent(source, block=64, out=ints(64))["out"], expected)


def test_a_function_with_a_switch_and_a_local_array_may_be_called_from_many_places() -> None:
    source = """__device__ __noinline__ int f(int x) {
        int a[4] = {x, x + 1, x + 2, x + 3};
        switch (x % 5) {
            case 0: a[x & 3] = 100; break;
            case 1: a[(x + 1) & 3] *= 7; break;
            case 2: return x ^ 9;
            case 3: a[1] = a[x & 1] << 3; break;
            case 4: a[2] = -x; break;
        }
        return a[(x + 1) & 3];
    }
    KERNEL k(int* out) {
        int i = threadIdx.x, sum = 0;
        for (int j = 0; j < i % 4; ++j) sum += f(i + j);
        out[i] = i & 1 ? sum + f(sum & 63) : f(sum & 31);
    }"""

    def f(x: int) -> int:
        a = [x, x + 1, x + 2, x + 3]
        if x % 5 == 2:
            return x ^ 9
        place, value = [(x & 3, 100), ((x + 1) & 3, a[(x + 1) & 3] * 7), (0, a[0]), (1, a[x & 1] << 3), (2, -x)][x % 5]
        a[place] = value
        return a[(x + 1) & 3]

    def alone(i: int) -> int:
        total = sum(f(i + j) for j in range(i % 4))
        return total + f(total & 63) if i & 1 else f(total & 31)

    np.testing.assert_array_equal(silent(source, block=64, out=ints(64))["out"], [alone(i) for i in range(64)])


def test_virtual_functions_are_calls_through_pointers() -> None:
    source = """struct Add { __device__ virtual int f(int x) { return x + 1; } };
    struct Twice : Add { __device__ int f(int x) override { return x * 2; } };
    KERNEL k(int* out) {
        Add add; Twice twice;
        Add* chosen = threadIdx.x % 2 ? &add : (Add*)&twice;
        out[threadIdx.x] = chosen->f(threadIdx.x);
    }"""
    np.testing.assert_array_equal(silent(source, out=ints(32))["out"], [i + 1 if i % 2 else i * 2 for i in range(32)])


def test_recursion_is_refused_with_the_function_and_line() -> None:
    source = """__device__ __noinline__ int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2); // call
    }
    KERNEL k(int* out) { out[0] = fib(out[1]); }"""
    with pytest.raises(Unsupported, match=r"fib.*calls itself") as refused:
        run(source, out=ints(2))
    assert refused.value.line == line_of(source, "call") and refused.value.remedy


# --- lanes that wait for other lanes


def test_a_spin_lock_within_a_warp_ends() -> None:
    source = """__device__ int lock;
    KERNEL k(int* total) {
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
                __threadfence();
                *(volatile int*)total += threadIdx.x;
                __threadfence();
                atomicExch(&lock, 0);
                done = true;
            }
        }
    }"""
    assert silent(source, block=64, total=np.zeros(1, "i4"))["total"][0] == 64 * 63 // 2


def test_a_lock_whose_holder_must_overtake_those_who_spin_ends() -> None:
    """The spinning lanes' loop comes first in the code, so that lanes of smaller blocks would run for ever."""
    source = """__device__ int lock;
    KERNEL k(int* total) {
        while (atomicCAS(&lock, 0, 1) != 0) { }
        __threadfence();
        *(volatile int*)total += 1;
        __threadfence();
        atomicExch(&lock, 0);
    }"""
    assert silent(source, block=40, total=np.zeros(1, "i4"))["total"][0] == 40


def test_a_lock_between_blocks_ends() -> None:
    source = """__device__ int lock;
    KERNEL k(int* total) {
        if (threadIdx.x == 0) {
            while (atomicCAS(&lock, 0, 1) != 0) { }
            __threadfence();
            *(volatile int*)total += blockIdx.x;
            __threadfence();
            atomicExch(&lock, 0);
        }
    }"""
    assert silent(source, grid=50, block=32, total=np.zeros(1, "i4"))["total"][0] == 50 * 49 // 2


def test_blocks_may_wait_for_earlier_blocks() -> None:
    source = """__device__ volatile int ready;
    KERNEL k(int* out) {
        if (threadIdx.x == 0) {
            while (ready != blockIdx.x) { }
            out[blockIdx.x] = blockIdx.x ? 2 * *(volatile int*)&out[blockIdx.x - 1] + 1 : 1;
            __threadfence();
            ready = blockIdx.x + 1;
        }
    }"""
    out = silent(source, grid=12, block=64, out=ints(12))["out"]
    np.testing.assert_array_equal(out, [2 ** (n + 1) - 1 for n in range(12)])


def test_lanes_that_left_before_a_barrier_are_warned_about_once() -> None:
    source = """KERNEL k(int* out, int n) {
        int i = threadIdx.x;
        if (i >= n) return;
        __syncthreads(); // barrier
        out[64 * blockIdx.x + i] = i;
    }"""
    ran = run(source, grid=3, block=64, out=Unset("i4", 192), n=40)
    (warning,) = ran.hazards
    assert (warning.kind, warning.severity, warning.line) == ("barrier", Severity.WARNING, line_of(source, "barrier"))
    assert "24 of 64 threads" in warning.message


TICKETS = """__device__ int tickets;
KERNEL k(int* out) {
    if (threadIdx.x == 0) {
        for (int turn = 0; turn < 3; ++turn) out[atomicAdd(&tickets, 1)] = blockIdx.x;
    }
}"""


@pytest.mark.parametrize(("in_turn", "order"), [(False, [0, 1, 2] * 3), (True, [0, 0, 0, 1, 1, 1, 2, 2, 2])])
def test_blocks_run_side_by_side_or_where_they_hand_over_results_in_turn(in_turn: bool, order: list[int]) -> None:
    bench = Bench(TICKETS)
    bench.machine.in_turn = in_turn
    found = bench.launch(grid=3, block=64, out=bench.place("out", ints(9)))
    assert bench.array("out").tolist() == order and found.of(Severity.ERROR) == []


@pytest.mark.parametrize("waits_for", ["(blockIdx.x + 1) % gridDim.x", "gridDim.x - 1 - blockIdx.x", "0"])
def test_blocks_in_turn_let_the_one_run_that_they_wait_for(waits_for: str) -> None:
    bench = Bench("""__device__ int there[8];
    KERNEL k(int* out) {
        atomicExch(&there[blockIdx.x], 1);
        __syncthreads();
        while (atomicAdd(&there[WAITED], 0) == 0) { }
        out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    }""".replace("WAITED", waits_for))
    bench.machine.in_turn = True
    bench.launch(grid=8, block=40, out=bench.place("out", ints(320)))
    assert bench.array("out").tolist() == [1] * 320


def test_a_loop_that_never_ends_is_found_in_turn_too() -> None:
    bench = Bench("__device__ int never; KERNEL k() { while (atomicAdd(&never, 0) == 0) { } }", budget=Budget(2.0))
    bench.machine.in_turn = True
    with pytest.raises(KernelFault) as caught:
        bench.launch(grid=3, block=32)
    assert caught.value.hazard.kind in ("runaway", "unfinished")

"""What a warp waits for, over PTX whose dependences are plain to see."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harness.simulator.chains import Ran, chain
from harness.simulator.costs import Seen, cost
from harness.simulator.isa import COMPUTE
from harness.simulator.kernel import Kernel
from harness.simulator.ptx import Instruction, Register
from tests.simulator.running import assembly, module


def kernel(body: str) -> Kernel:
    return module(assembly(body)).kernel("main")


SeenAt = Callable[[int, int], Seen]

FETCHED = Seen(1.0, 0.0, 0.0)


def steps(body: str, trace: list[int] | None = None, seen: SeenAt | None = None) -> Mapping[str, float]:
    """Steps through the blocks of a body in order, unless the trace says which ran."""
    code = kernel(body)
    ran = [Ran(number, 1.0) for number in (trace if trace is not None else range(len(code.blocks)))]
    return chain(code.blocks, ran, seen or (lambda number, place: FETCHED)).steps


START = "ld.param.u64 %rd1, [out];\n"


def test_loads_that_do_not_need_each_other_wait_once() -> None:
    loads = "".join(f"ld.global.f32 %f{n}, [%rd1+{4 * n}];\n" for n in range(4))
    assert steps(START + loads + "add.f32 %f9, %f0, %f3;\nst.global.f32 [%rd1], %f9;\nret;")["fetch"] == 1


def test_a_load_through_a_loaded_pointer_waits_again() -> None:
    body = START + "ld.global.u64 %rd2, [%rd1];\nld.global.u64 %rd3, [%rd2];\nst.global.u64 [%rd1], %rd3;\nret;"
    assert steps(body)["fetch"] == 2


def test_a_load_behind_a_store_waits_for_what_is_stored() -> None:
    body = START + (
        "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+64], %f1;\nld.global.f32 %f2, [%rd1+4];\n"
        "st.global.f32 [%rd1+68], %f2;\nret;"
    )
    assert steps(body)["fetch"] == 2
    assert steps(body.replace("ld.global", "ld.global.nc"))["fetch"] == 1


def test_what_the_l1_answers_is_not_fetched() -> None:
    body = START + "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1], %f1;\nret;"
    found = steps(body, seen=lambda number, place: Seen(0.25, 0.5, 3.0))
    assert (found["l1"], found["fetch"], found["refetch"], found["replay"]) == (1.0, 0.25, 0.5, 3.0)


IF = START + """\
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 8;
@%p1 bra AFTER;
ld.global.f32 %f2, [%rd1+4];
st.shared.f32 [0], %f2;
AFTER:
ld.global.f32 %f1, [%rd1];
add.f32 %f3, %f1, %f1;
st.global.f32 [%rd1], %f3;
ret;"""


def test_a_short_body_of_an_if_overlaps_with_what_is_around_it() -> None:
    found = steps(IF)
    assert (found["fetch"], found["branch"]) == (1, 0)


def test_a_barrier_ends_that() -> None:
    assert steps(IF.replace("AFTER:", "bar.sync 0;\nAFTER:"))["fetch"] == 2


LOOP = START + """\
mov.u32 %r1, 0;
AGAIN:
.pragma "nounroll";
ld.global.f32 %f1, [%rd1];
add.f32 %f2, %f2, %f1;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 5;
@%p1 bra AGAIN;
st.global.f32 [%rd1], %f2;
ret;"""


def test_every_turn_of_a_loop_waits() -> None:
    assert steps(LOOP, [0, 1, 1, 1, 1, 1, 2])["fetch"] == 5


def test_a_load_for_the_next_turn_waits_in_parallel_with_this_one() -> None:
    ahead = LOOP.replace("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f2, %f1;",
                         "add.f32 %f2, %f2, %f1;\nld.global.f32 %f1, [%rd1];\nadd.f32 %f4, %f2, %f2;")  # fmt: skip
    assert steps(ahead, [0, 1, 1, 2])["fetch"] == 1


def test_ptxas_makes_four_turns_one_unless_it_was_told_not_to() -> None:
    unrolled = LOOP.replace('.pragma "nounroll";\n', "")
    found = steps(unrolled, [0, *[1] * 8, 2])
    assert (found["fetch"], found["branch"]) == (2, 2)


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("add.u32 %r1, %r1, 1;", "add.u32 %r1, %r1, %r2;"),  # no telling how many turns there will be
        ("add.f32 %f2, %f2, %f1;", "add.f32 %f2, %f2, %f1;\n" * 40),
        ("add.f32 %f2, %f2, %f1;", "div.rn.f32 %f2, %f2, %f1;"),
        ("add.f32 %f2, %f2, %f1;", "add.f32 %f2, %f2, %f1;\nbar.sync 0;"),
        ("add.f32 %f2, %f2, %f1;", "red.global.add.f32 [%rd1+4], %f1;"),
    ],
)
def test_some_loops_it_does_not_unroll(code: str, other: str) -> None:
    body = LOOP.replace('.pragma "nounroll";\n', "").replace(code, other)
    turn = [1, 2] if "bar" in other else [1]
    assert steps(body, [0, *turn * 4, max(turn) + 1])["fetch"] == 4


def test_loads_of_many_lines_wait_for_room_in_the_l1() -> None:
    loads = "".join(f"ld.global.f32 %f{n}, [%rd1+{4 * n}];\n" for n in range(9))
    body = START + loads + "st.global.f32 [%rd1], %f8;\nret;"
    assert steps(body, seen=lambda number, place: FETCHED)["fetch"] == 1
    assert steps(body, seen=lambda number, place: Seen(1.0, 0.0, 31.0))["fetch"] == 3


def test_blocks_count_by_the_part_of_the_warps_that_ran_them() -> None:
    code = kernel(LOOP)
    ran = [Ran(0, 1.0), *([Ran(1, 0.5)] * 4), Ran(2, 1.0)]
    found = chain(code.blocks, ran, lambda number, place: FETCHED)
    assert found.steps["fetch"] == 2 and found.slots["fma"] == 2.0 and found.slots["memory"] == 3.0


@pytest.mark.parametrize("opcode", COMPUTE)
@pytest.mark.parametrize("words", [("s32",), ("u64",), ("rn", "f32"), ("rn", "f64"), ("f16x2",), ()])
def test_every_opcode_has_a_cost_whatever_its_type(opcode: str, words: tuple[str, ...]) -> None:
    found = cost(Instruction(opcode, words, (Register("%r1"), Register("%r2"))))
    assert all(slot >= 0 for slot in found.slots) and found.slots[0] <= sum(found.slots[1:]) + 1


COPY = "cp.async.ca.shared.global [0], [%rd1], 4;\n"


@pytest.mark.parametrize(("left", "fetches"), [(0, 1), (1, 0)])
def test_a_copy_to_shared_memory_takes_time_only_where_its_group_is_waited_for(left: int, fetches: int) -> None:
    body = START + COPY + f"cp.async.commit_group;\ncp.async.wait_group {left};\nret;"
    assert steps(body)["fetch"] == fetches
    assert steps(body.replace(f"wait_group {left}", "wait_all"))["fetch"] == 1


def test_a_wait_for_all_waits_for_copies_of_no_group_too() -> None:
    assert steps(START + COPY + "cp.async.wait_group 0;\nret;")["fetch"] == 0
    assert steps(START + COPY + "cp.async.wait_all;\nret;")["fetch"] == 1


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_stages_of_copies_share_the_wait(stages: int) -> None:
    fill = (COPY + "cp.async.commit_group;\n") * (stages - 1)
    body = START + "mov.u32 %r1, 0;\n" + fill + f"""\
LOOP:
{COPY}cp.async.commit_group;
cp.async.wait_group {stages - 1};
ld.shared.f32 %f1, [0];
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 12;
@%p1 bra LOOP;
ret;"""
    assert steps(body, [0, *[1] * 12, 2])["fetch"] == pytest.approx(12 / stages, abs=1)

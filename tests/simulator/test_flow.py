"""The graph a kernel becomes: blocks in an order that lets lanes meet, and which registers live where."""

from __future__ import annotations

from hypothesis import given, settings

from harness.simulator import flow, steps
from harness.simulator.inline import inline
from harness.simulator.parser import parse
from tests.simulator.programs import Node, graph_text, graphs
from tests.simulator.running import assembly


def blocks(text: str) -> list[flow.Block]:
    return flow.blocks(inline(parse(text), "main"), steps.is_gate, steps.effects)


def place(found: list[flow.Block], label: str) -> int:
    (number,) = (block.number for block in found if block.label == label)
    return number


LOOP = """
mov.u32 %r1, 0;
OUTER:
mov.u32 %r2, 0;
INNER:
add.u32 %r2, %r2, 1;
setp.eq.u32 %p3, %r2, 9;
@%p3 bra FAR;
setp.lt.u32 %p1, %r2, 5;
@%p1 bra INNER;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 5;
@%p2 bra OUTER;
FAR:
mov.u32 %r3, %r1;
"""


def test_a_loops_body_comes_before_its_exit() -> None:
    found = blocks(assembly(LOOP))
    assert [block.number for block in found] == list(range(len(found)))
    inner = [n for n, block in enumerate(found) if any("%r2, %r2, 1" in item.text for item in block.instructions)]
    assert place(found, "OUTER") < inner[0] < place(found, "FAR") == len(found) - 1


@settings(max_examples=80, deadline=None)
@given(graphs)
def test_what_comes_next_is_on_every_way_to_the_end_or_back(graph: list[Node]) -> None:
    found = blocks(graph_text(graph))
    for start in range(len(found)):
        for block in range(len(found)):
            ways, without, escapes = [start], {start}, False  # without: what can be reached past no such block
            while ways:
                here = found[ways.pop()]
                escapes |= not here.successors or start in here.successors
                fresh = set(here.successors) - without - {block}
                without |= fresh
                ways += fresh
            assert flow.comes_next(found, start, block) is not escapes


def test_what_comes_next_is_no_block_that_a_guarded_exit_may_leave_out() -> None:
    body = "@%p1 bra OVER;\nbar.sync 0;\nEXIT\nOVER:\nmov.u32 %r1, 1;\n@%p2 bra END;\nmov.u32 %r1, 2;\nEND:\nret;"
    for leaves, comes in (("", True), ("@%p3 ret;", False)):
        found = blocks(assembly(body.replace("EXIT", leaves)))
        (gate,) = (block.number for block in found if block.gate)
        assert flow.comes_next(found, gate, place(found, "OVER")) is comes


@settings(max_examples=80, deadline=None)
@given(graphs)
def test_every_block_can_be_reached_and_every_branch_stays_inside(graph: list[Node]) -> None:
    found = blocks(graph_text(graph))
    reached, work = {0}, [0]
    while work:
        for target in found[work.pop()].successors:
            if target not in reached:
                reached.add(target)
                work.append(target)
    assert reached == set(range(len(found)))


@settings(max_examples=80, deadline=None)
@given(graphs)
def test_a_register_is_live_where_a_path_reads_it_before_writing_it(graph: list[Node]) -> None:
    found = blocks(graph_text(graph))
    for register in ("%r0", "%r1", "%r22", "%rd20", "%p1"):
        live = {n for n, block in enumerate(found) if register in block.reads}
        for _ in found:
            live |= {
                n for n, block in enumerate(found) if register not in block.writes and live & set(block.successors)
            }
        assert live == {n for n, block in enumerate(found) if register in block.live_in}


def test_what_a_block_writes_before_it_reads_is_not_asked_of_the_one_before() -> None:
    found = blocks(
        assembly("mov.u32 %r9, 1;\nHERE:\nmov.u32 %r1, %r2;\nadd.u32 %r3, %r1, 1;\nst.global.u32 [%rd1], %r3;")
    )
    assert found[place(found, "HERE")].live_in == {"%r2", "%rd1"}


def test_what_no_lane_reads_again_is_dead() -> None:
    found = blocks(assembly(LOOP))
    assert "%r1" in found[place(found, "FAR")].live_in and "%r2" not in found[place(found, "FAR")].live_in


def test_a_guarded_write_keeps_the_old_value_alive() -> None:
    found = blocks(assembly("setp.eq.u32 %p1, %r1, 0;\nHERE:\n@%p1 mov.u32 %r2, 1;\nst.global.u32 [%rd1], %r2;"))
    assert {"%p1", "%r2", "%rd1"} <= found[place(found, "HERE")].live_in


def test_code_that_nothing_reaches_is_left_out() -> None:
    found = blocks(assembly("bra END;\nmov.u32 %r1, 1;\nEND:\nret;"))
    assert not any(item.operands for block in found for item in block.instructions)


def test_where_lanes_wait_a_block_begins() -> None:
    found = blocks(assembly("mov.u32 %r1, 1;\nbar.sync 0;\nmov.u32 %r2, 2;\nshfl.sync.up.b32 %r3, %r2, 1, 0, -1;"))
    assert [block.gate for block in found][:3] == [False, True, True]
    assert [block.instructions[0].opcode for block in found[1:3]] == ["bar", "shfl"]


def test_labels_in_a_row_are_one_place() -> None:
    found = blocks(assembly("A:\nB:\nC:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 bra B;\nbra C;"))
    assert [block.successors[0] for block in found] == [0, 0]

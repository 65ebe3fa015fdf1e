"""What a person and a program read of a profile."""

from __future__ import annotations

import dataclasses
import json

import pytest
from click import unstyle

from harness.catalogue import Rung
from harness.profiles import LaunchProfile, Profile, total
from harness.reports.advice import advice
from harness.reports.compare import comparison_page, opening
from harness.reports.figures import launch_groups, line_figures
from harness.reports.profile import profile_page
from harness.reports.profile_json import comparison_record, profile_record
from harness.simulator.gpus import load_gpu
from harness.simulator.timing import predict_all, whole
from tests.conftest import ROOT
from tests.reports import made
from tests.simulator.launches import launch

A100 = load_gpu("a100")


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def page(profile: Profile, text: str = made.SOURCE) -> list[str]:
    return unstyle(profile_page(profile, A100, text)).splitlines()


def test_the_first_line_is_the_answer_and_the_last_the_next_step() -> None:
    lines = page(made.scattered())
    assert lines[0] == "transpose takes about 560 µs on A100-80 SXM: DRAM bandwidth, 22 % of it useful"
    assert lines[-1] == "  Next: kata report transpose mine.cu --html transpose.html"
    assert "rows = 4096, cols = 8192" in lines[1] and "predicted, 448 µs to 700 µs" in lines[1]
    assert "12 of 32,768 blocks counted" in "\n".join(lines)


def test_the_first_line_has_one_colon() -> None:
    shared = page(dataclasses.replace(made.profile(), kata="add"))
    assert shared[0] == "add takes about 352 µs on A100-80 SXM: shared memory, 32-way bank conflicts on"
    assert shared[1] == "  line 7"


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_lines_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for profile in (made.profile(), made.scattered()):
        assert max(map(len, page(profile))) <= min(int(columns), 100)


def test_a_terminal_of_one_column_gets_its_page_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1")
    assert page(made.scattered())[-1].strip()


def test_the_gutter_has_only_the_columns_that_say_something() -> None:
    header = next(line for line in page(made.profile()) if "inst" in line)
    assert header.split() == ["inst", "sect", "wave"]
    assert next(line for line in page(made.scattered()) if "inst" in line).split() == ["inst", "sect"]


def test_a_line_has_its_figures_and_the_worst_is_marked_with_what_to_do() -> None:
    lines = page(made.profile())
    place = next(index for index, line in enumerate(lines) if line.startswith("   7 "))
    assert lines[place].split("│")[0].split() == ["7", "30", "4", "32!"]
    said = " ".join(" ".join(lines[place + 2 : place + 5]).split())
    assert said.startswith("▲ 32-way bank conflict: a store takes 32 wavefronts (")
    assert "Pad the tile's rows by one word: 33 floats instead of 32." in said


def test_a_marked_line_is_shown_whole_and_others_are_cut() -> None:
    lines = page(made.profile())
    place = next(index for index, line in enumerate(lines) if line.startswith("   7 "))
    whole = "".join(line.split("│ ")[1] for line in lines[place : place + 2])
    assert whole.strip() == made.SOURCE.splitlines()[6].strip()
    assert next(line for line in lines if line.startswith("  13 ")).endswith("…")


def test_lines_that_did_not_run_are_left_out() -> None:
    numbers = [line.split()[0] for line in page(made.profile()) if "│" in line and line.split("│")[0].strip()]
    assert numbers == [str(number) for number in range(4, 15)]


def test_the_launch_says_what_fits_and_the_roof_is_put_in_words() -> None:
    text = "\n".join(page(made.profile()))
    assert "transpose<<<(256, 128), (32, 32)>>>, line 20" in text
    assert "18 registers   nothing spilled   4,096 bytes of shared memory" in text
    assert "64 of 64 warps an SM   152 waves, the last 70 % full" in text
    assert "sectors   8.39 M moved by requests, 100 % of them needed" in text
    assert "roofline  no floating-point arithmetic: 37 % of the DRAM roof" in text


def test_a_source_cannot_drive_the_terminal() -> None:
    text = made.SOURCE.replace("int row", "int \x1b[31mrow")
    assert "\x1b[31mrow" not in profile_page(made.profile(), A100, text)


def test_lines_of_all_launches_share_all_instructions() -> None:
    figures = line_figures(made.profile())
    assert sum(one.share for one in figures.values()) == pytest.approx(1)
    twice = dataclasses.replace(made.profile(), launches=made.profile().launches * 2)
    assert {line: one.share for line, one in line_figures(twice).items()} == pytest.approx(
        {line: one.share for line, one in figures.items()}
    )


def test_launches_alike_are_one_entry_and_what_they_share_is_one_finding() -> None:
    one = made.scattered().launches[0]
    others = [
        dataclasses.replace(one, launch=dataclasses.replace(one.launch, kernel=f"k{number}", times=number))
        for number in range(1, 9)
    ]
    profile = dataclasses.replace(made.scattered(), launches=(one, one, *others))
    text = "\n".join(page(profile))
    assert "k8<<<(256, 128), (32, 32)>>>, line 20\n    4.48 ms in 8 launches" in text
    assert text.count("<<<(256, 128)") == 6 and "and 5 more launches, 2.80 ms together" in text
    kinds = [(found.kind, found.kernel) for found in advice(profile, A100)]
    assert {("uncoalesced_store", "k1"), ("uncoalesced_store", "transpose")} <= set(kinds)
    assert len(kinds) == len(set(kinds))


def test_a_program_gets_every_figure_and_the_advice() -> None:
    profile = made.profile()
    record = profile_record(profile, advice(profile, A100))
    assert json.loads(json.dumps(record)) == record
    assert (record["schema"], record["kata"], record["gpu"]) == (1, "transpose", "a100")
    assert record["predicted"]["seconds"] == 352e-6 and record["predicted"]["terms"]["DRAM"] == 158e-6
    (launch,) = record["launches"]
    assert launch["sampling"] == {"blocks": 32768, "counted": 12, "notes": []}
    assert launch["counters"]["instructions"] == total(one.counters for one in made.LAUNCH.instructions).instructions
    (line,) = [one for one in launch["lines"] if one["line"] == 7]
    assert line["memory"]["shared_store"]["units"] == 32 * made.WARPS and "local_load" not in line["memory"]
    assert [(one["class"], one["line"]) for one in record["advice"]] == [("bank_conflict_store", 7)]
    both = comparison_record(record, made.scattered(), 2)
    assert both["reference"]["rung"] == 2 and both["reference"]["predicted"]["seconds"] == 560e-6


RUNG = Rung(4, "Tile padded to 33 columns", ROOT / "solutions/transpose/4_padded_tile.cu")
SOLUTION = """\
// Rung 4: Tile padded to 33 columns
//
// One unused word moves every
// row one bank on.
// Removes: the 32-way
// bank conflict.
#include <cuda_runtime.h>
// Not the opening.
"""


@pytest.mark.parametrize(
    "launches",
    [
        [launch(read=1 << 20)],
        [launch(times=300, read=1 << 20)],
        [launch(times=300, read=1 << 20), launch(times=100, read=1 << 22), launch(blocks=20, read=1 << 24)],
    ],
)
def test_the_launches_of_a_call_come_to_its_time(launches: list[LaunchProfile]) -> None:
    estimates = predict_all(launches, A100)
    call = whole(estimates, (), A100)
    groups = launch_groups(Profile("add", "add.cu", "a100", "n = 1", estimates, (), call))
    assert sum(group.seconds for group in groups) == pytest.approx(call.seconds)
    assert sum(group.times for group in groups) == sum(one.times for one in launches)


def test_a_comparison_sets_figures_side_by_side_and_marks_what_differs() -> None:
    lines = unstyle(comparison_page(made.scattered(), made.profile(), RUNG, A100, SOLUTION)).splitlines()
    assert lines[0] == "transpose: rung 4 would be 1.6x faster than yours on A100-80 SXM (predicted)"
    rows = [" ".join(line.split()) for line in lines]
    assert "time 560 µs 352 µs < 1.6x less" in rows and "sectors a request 32 4 < 8x less" in rows
    whole = dataclasses.replace(made.LAUNCH.sampling, blocks=1, counted=1, numbers=())
    slow = dataclasses.replace(made.LAUNCH, grid=(1, 1, 1), sampling=whole)
    assert "< 32,768x more" in comparison_page(made.profile(slow), made.profile(), RUNG, A100, SOLUTION)
    assert "wavefronts a request - 32" in rows and "launches 1 1" in rows
    assert "yours waits for DRAM bandwidth, 22 % of it useful" in rows
    assert rows[-3:] == [
        "One unused word moves every row one bank on.", "Removes: the 32-way bank conflict.",
        "Next: kata solution transpose 4",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("mine", "theirs", "says"),
    [
        (made.profile(), made.scattered(), "yours would be 1.6x faster than rung 4"),
        (made.profile(), made.profile(), "yours and rung 4 would take about the same time"),
    ],
)
def test_a_comparison_says_who_is_ahead(mine: Profile, theirs: Profile, says: str) -> None:
    assert says in comparison_page(mine, theirs, RUNG, A100, SOLUTION)


def test_the_opening_of_a_solution_ends_with_its_first_code() -> None:
    assert opening(SOLUTION) == "One unused word moves every row one bank on.\nRemoves: the 32-way bank conflict."
    assert opening("// Rung 1: nothing more\nint x;\n") == ""

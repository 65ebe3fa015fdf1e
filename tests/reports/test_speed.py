"""Speed as a person and a program read it."""

from __future__ import annotations

import dataclasses
import json

import pytest
from click import unstyle

from harness.reports.jsonout import bench_record, speed_fields
from harness.reports.speed import bench_headline, ladder_table, speed_lines
from harness.results import Grade, Speed, Timing


def timing(name: str, microseconds: float) -> Timing:
    return Timing(name, microseconds * 1e-6, microseconds * 0.995e-6, microseconds * 1.005e-6, 60)


TITLES = ("three kernels", "one block", "online pair", "many blocks")
SPEED = Speed(
    label="n = 33554432", timing=timing("yours", 41.2),
    rungs=tuple(timing(title, time) for title, time in zip(TITLES, (2633.0, 325.3, 41.9, 31.4), strict=True)),
    titles=TITLES, par=3, nbytes=134217728, flops=0, light=32.5e-6, limit="a copy of the same bytes", noisy=False,
    grade=Grade(rung=3, par_reached=True, next=4, next_ratio=1.312, best_ratio=1.312),
)  # fmt: skip


def page(speed: Speed) -> str:
    return unstyle("\n".join(speed_lines(speed)))


def test_the_lines_give_time_rate_share_of_light_and_rung() -> None:
    text = " ".join(page(SPEED).split())
    assert text.startswith("speed 41.2 µs ± 0.5 % 3.26 TB/s 79 % of a copy of the same bytes n = 33554432 rung 3 of 4")
    assert 'par reached: keeps up with "online pair"; "many blocks" is 1.3x faster' in text
    assert "noisy" not in text and max(map(len, page(SPEED).splitlines())) <= 80


PREDICTED = dataclasses.replace(
    SPEED, timing=Timing("yours", 41.2e-6, 30.5e-6, 55.6e-6, 0), gpu="A100-80 SXM",
    limiter="DRAM bandwidth, 88 % of it useful",
)  # fmt: skip


def test_a_predicted_time_says_so_for_which_gpu_how_sure_and_what_it_waits_for() -> None:
    lines = page(PREDICTED).splitlines()
    assert " ".join(lines[0].split()) == "speed predicted 41.2 µs 3.26 TB/s 79 % of a copy of the same bytes"
    assert lines[1].strip() == "30.5 to 55.6 µs on the A100-80 SXM at n = 33554432"
    assert lines[2] == "  waits   for DRAM bandwidth, 88 % of it useful" and lines[3].startswith("  rung    3 of 4")
    assert max(map(len, lines)) <= 80 and "±" not in page(PREDICTED)
    assert "(predicted for the A100-80 SXM)" in unstyle(ladder_table(PREDICTED)[0])


def test_what_a_prediction_leaves_open_is_said_to_those_who_ask_for_more() -> None:
    brief, long = speed_lines(PREDICTED), speed_lines(PREDICTED, verbose=True)
    assert [line.strip() for line in long if line not in brief] == [
        "its numbers are not checked at that size, only that all of it is done"
    ]
    assert speed_lines(SPEED, verbose=True) == speed_lines(SPEED)


def test_the_longest_size_has_its_prediction_in_one_line() -> None:
    speed = dataclasses.replace(
        PREDICTED, label="M = 2048, N = 2048, K = 2048", timing=Timing("yours", 1.64e-3, 1.22e-3, 2.21e-3, 0)
    )
    assert page(speed).splitlines()[1].strip() == "1.22 to 2.21 ms on the A100-80 SXM at M = 2048, N = 2048, K = 2048"


@pytest.mark.parametrize(
    ("rung", "ratio", "said"),
    [
        (3, 1.312, "softmax: yours reaches rung 3 of 4, par reached; the best is 1.3x faster"),
        (4, 1.001, "softmax: yours reaches rung 4 of 4, par reached; as fast as the best"),
        (3, 1.04, "softmax: yours reaches rung 3 of 4, par reached; the best is 4 % faster"),
        (4, 0.8, "softmax: yours reaches rung 4 of 4, par reached; 1.2x faster than the best"),
        (None, 90.0, "softmax: yours is below every rung, par is 3; the best is 90x faster"),
    ],
)
def test_a_bench_says_first_how_the_kernel_stands(rung: int | None, ratio: float, said: str) -> None:
    grade = Grade(rung, (rung or 0) >= 3, None, None, ratio)
    assert bench_headline("softmax", dataclasses.replace(SPEED, grade=grade)) == said


def test_a_bench_says_first_why_there_is_no_rung() -> None:
    refused = dataclasses.replace(SPEED, grade=None, refused="faster than a copy")
    assert bench_headline("softmax", refused) == "softmax: yours reaches no rung: faster than a copy"


def test_a_program_is_told_a_prediction_from_a_measurement() -> None:
    said, measured = speed_fields(PREDICTED), speed_fields(SPEED)
    assert said["predicted"] is True and (said["gpu"], said["limiter"]) == (PREDICTED.gpu, PREDICTED.limiter)
    assert (measured["predicted"], measured["gpu"], measured["limiter"]) == (False, None, None)


def test_noise_and_a_refusal_are_said() -> None:
    speed = dataclasses.replace(SPEED, noisy=True, grade=None, refused="110 % of a copy: too fast")
    assert "noisy" in page(speed) and "rung    none: 110 % of a copy: too fast" in page(speed)


def test_a_kernel_below_every_rung_is_told_the_next_and_the_best() -> None:
    grade = Grade(rung=None, par_reached=False, next=1, next_ratio=1.5, best_ratio=80.0)
    text = " ".join(page(dataclasses.replace(SPEED, grade=grade)).split())
    assert 'below all 4, par is 3: "three kernels" is 1.5x faster; the best 80x' in text


def test_arithmetic_is_counted_where_it_is_the_limit() -> None:
    speed = dataclasses.replace(SPEED, flops=17179869184, limit="what the GPU's float32 units can compute")
    assert "417 TFLOP/s" in page(speed)
    assert "167 GFLOP/s" in page(dataclasses.replace(speed, flops=6_880_400))
    assert "\n          79 % of what the GPU's float32 units can compute" in page(speed)


def test_a_share_that_rounds_to_nothing_is_not_called_nothing() -> None:
    assert "<1 % of a copy" in page(dataclasses.replace(SPEED, light=1e-9))


def test_the_table_has_a_bar_for_every_rung_and_yours_and_marks_par() -> None:
    lines = unstyle("\n".join(ladder_table(SPEED))).splitlines()
    assert len(lines) == 7 and lines[0].strip() == "n = 33554432"
    assert [line.count("█") for line in lines[1:6]] == [1, 2, 18, 24, 18]
    assert " 3 online pair   par" in lines[3] and "yours" in lines[5] and "par" not in lines[4]
    assert lines[6].strip() == "100 % is a copy of the same bytes, 32.5 µs" and max(map(len, lines)) <= 80


@pytest.mark.parametrize(("title", "bar"), [(32, 8), (33, 0), (42, 0), (90, 0)])
def test_a_ladder_of_long_titles_stays_within_the_page(title: int, bar: int) -> None:
    rungs = (dataclasses.replace(SPEED.rungs[0], name="t" * title), *SPEED.rungs[1:])
    lines = unstyle("\n".join(ladder_table(dataclasses.replace(SPEED, rungs=rungs)))).splitlines()
    assert max(map(len, lines)) <= 80 and lines[4].count("█") == bar
    assert ("t" * title in lines[1]) is (title <= 42)


def test_a_program_gets_the_same_in_seconds() -> None:
    fields = json.loads(json.dumps(speed_fields(SPEED)))
    assert fields["yours"]["seconds"] == 41.2e-6 and fields["grade"]["rung"] == 3 and len(fields["rungs"]) == 4
    assert fields["rungs"][3] | {"rung": 4, "title": "many blocks"} == fields["rungs"][3]
    record = bench_record("softmax", "NVIDIA H200", [SPEED], ["careful"])
    assert (record["schema"], record["device"], record["warnings"]) == (1, "NVIDIA H200", ["careful"])

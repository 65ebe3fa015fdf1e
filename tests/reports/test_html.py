"""The page of ``kata report``: whole, valid, self-contained, escaped, and said as well as shown."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime
from xml.etree import ElementTree

import html5lib
import pytest

from harness import catalogue
from harness.reports.html import Report, is_report, report_page
from harness.results import CaseResult, Grade, Hazard, Mismatch, Outcome, Severity, Speed, Timing, Verdict
from harness.simulator.gpus import load_gpu
from tests.reports import made

NOON = datetime(2026, 11, 27, 12, 0)
GOOD = CaseResult("n = 1", "small", Outcome.RIGHT, 0.1)
RIGHT = Verdict("transpose", "mine.cu", "simulated sm_80", 7, Outcome.RIGHT, (GOOD,), 1.2)
TAIL = Mismatch("n = 33", "output", (32,), "<never written>", "0.03", "±0", 1, 33, "tail", "Only the tail & the end.")
RACE = Hazard("race", Severity.ERROR, "race on tile[3]", line=7, remedy="Put __syncthreads() between.")
WRONG = Verdict(
    "transpose", "mine.cu", "simulated sm_80", 7, Outcome.WRONG,
    (CaseResult("n = 33", "small", Outcome.WRONG, 0.1, TAIL),), 1.2, (RACE,), warnings=("3 cases were left out",),
)  # fmt: skip


def timing(name: str, microseconds: float) -> Timing:
    return Timing(name, microseconds * 1e-6, microseconds * 0.8e-6, microseconds * 1.2e-6, 1)


SPEED = Speed(
    "rows = 4096", timing("yours", 352), (timing("naïve <b>", 560), timing("tile", 190)), ("naïve <b>", "tile"), 2,
    1 << 28, 0, 132e-6, "a copy of the same bytes", False, Grade(1, False, 2, 1.85, 1.85), gpu="A100-80 SXM",
)  # fmt: skip


def report(**changes: object) -> str:
    whole = Report(
        catalogue.load("transpose"), dataclasses.replace(RIGHT, speed=SPEED), None, made.SOURCE, NOON,
        profile=made.profile(), gpu=load_gpu("a100"),
        checks=[(NOON, True, 1)],
    )  # fmt: skip
    return report_page(dataclasses.replace(whole, **changes))  # type: ignore[arg-type]


PAGES = {
    "right": report(), "scattered": report(profile=made.scattered()), "wrong": report(verdict=WRONG, lead=TAIL),
    "fault": report(verdict=WRONG, lead=TAIL, profile=None, gpu=None, why="it faults", checks=[]),
}  # fmt: skip


def tree(page: str) -> ElementTree.Element:
    """The page as a browser reads it, with no parse error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def text_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_valid_html(name: str) -> None:
    root = tree(PAGES[name])
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    named = {word for one in root.iter() for word in (one.get("aria-labelledby") or "").split()}
    links = {link[1:] for one in root.iter("a") if (link := one.get("href", "")).startswith("#")}
    assert named | links <= set(ids)


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched_and_no_script_runs(name: str) -> None:
    root = tree(PAGES[name])
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", PAGES[name].replace("// The same", ""))
    assert not list(root.iter("script")) and not list(root.iter("img")) and not list(root.iter("iframe"))
    assert not [one for one in root.iter() for key in one.keys() if key.startswith("on")]  # noqa: SIM118
    assert "default-src 'none'" in PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_is_said_in_words(name: str) -> None:
    root = tree(PAGES[name])
    pictures = [one for one in root.iter() if one.tag.endswith("svg")]
    assert len(pictures) == {"right": 8, "scattered": 7, "wrong": 7, "fault": 0}[name]
    for picture in pictures:
        words = {one.get("id"): text_of(one) for one in picture if one.get("id")}
        assert picture.get("role") == "img" and all(words[key] for key in picture.get("aria-labelledby", "").split())


def test_headings_step_down_without_a_gap_and_tables_name_their_columns() -> None:
    root = tree(PAGES["wrong"])
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", str(one.tag))]
    assert levels[0] == 1 and set(levels[1:]) == {2}
    assert root.find("html") is None and root.get("lang") == "en"
    for table in root.iter("table"):
        assert all(cell.get("scope") for cell in table.iter("th"))
    for region in root.iter("div"):
        if region.get("role") == "region":  # it scrolls, so a keyboard must reach it
            assert region.get("tabindex") == "0" and region.get("aria-label")


def test_source_that_looks_like_markup_stays_text() -> None:
    page = PAGES["right"]
    assert "</script>" not in page and "&lt;/script&gt; &amp; &lt;b&gt;" in page and "<b>" not in page
    lines = {one.get("id"): one for one in tree(page).iter("tr") if one.get("id")}
    assert text_of(list(lines["L10"])[-1]) == made.SOURCE.splitlines()[9].strip().replace("  ", " ")
    assert len(lines) == len(made.SOURCE.splitlines())


def test_what_no_page_can_hold_is_written_out() -> None:
    page = report(text="int a;\x0b\x1b[2J\u202eint b;\n", verdict=dataclasses.replace(RIGHT, file="\x07.cu"))
    assert "int a;" not in page and "\\x0b\\x1b[" in page and "\\u202e" in page and "\\x07.cu" in page
    assert not set(page) & set("\x07\x0b\x1b\u202e") and tree(page) is not None


def test_every_line_of_the_source_is_there_as_it_was_written() -> None:
    rows = [one for one in tree(PAGES["right"]).iter("tr") if one.get("id")]
    shown = ["".join(list(row)[-1].itertext()) for row in rows]
    assert shown == made.SOURCE.splitlines()


def test_the_gutter_has_the_figures_and_marks_the_worst() -> None:
    (line,) = [one for one in tree(PAGES["right"]).iter("tr") if one.get("id") == "L7"]
    cells = [(one.get("class"), text_of(one)) for one in line][1:4]
    assert cells == [("f heat", "30"), ("f", "4"), ("f high", "32")]


def test_the_verdict_says_what_is_wrong_and_leads_to_the_line() -> None:
    page = PAGES["wrong"]
    text = text_of(tree(page))
    assert "✗ transpose is wrong for" in text and "Only the tail & the end." in text
    assert "output[32] is <never written>, expected 0.03" in text and "3 cases were left out" in text
    assert '<a href="#L7">Line 7</a>: race on tile[3]' in page and "Put __syncthreads() between." in text


def test_what_could_not_be_profiled_still_has_its_verdict_and_source() -> None:
    text = text_of(tree(PAGES["fault"]))
    assert "No figures: it faults." in text and "constexpr int kTile" in text and "Occupancy" not in text


def test_the_ladder_the_roof_and_the_history_are_there() -> None:
    text = text_of(tree(PAGES["right"]))
    assert "Against the ladder" in text and "naïve <b>" in text and "“tile” is 1.9x faster" in text
    assert "% of the DRAM roof" in text and "Right: 1 of the latest 1" in text
    assert "12 of 32,768 blocks were counted" in text


def test_a_full_multiprocessor_has_no_limit() -> None:
    occupancy = dataclasses.replace(
        made.OCCUPANCY, blocks_per_sm=1, warps_per_sm=32, limit="registers", limits={"registers": 1}
    )
    full, half = text_of(tree(PAGES["right"])), text_of(tree(report(profile=made.profile(occupancy=occupancy))))
    assert "they fill it" in full and "set the limit" not in full and "The limit is" not in PAGES["right"]
    assert "registers set the limit" in half


def test_a_time_that_was_taken_stands_before_the_predicted_one() -> None:
    timed = dataclasses.replace(RIGHT, device="NVIDIA H200", speed=dataclasses.replace(SPEED, gpu=None))
    text, predicted = text_of(tree(report(verdict=timed))), text_of(tree(PAGES["right"]))
    assert "Measured on NVIDIA H200" in text and "and yours, measured; shorter is better" in text
    assert "Measured on" not in predicted and "and yours, predicted; shorter is better" in predicted
    assert text.endswith("--compare 2")


def test_what_is_not_right_yet_comes_before_what_is_slow() -> None:
    assert text_of(tree(PAGES["fault"])).endswith("Next: kata hint transpose")


def test_a_report_knows_its_own() -> None:
    assert is_report(PAGES["right"][:4096]) and is_report(PAGES["fault"][:4096])
    assert not is_report("<!doctype html><title>kata report</title>")


def test_the_night_and_the_paper_have_their_colours() -> None:
    assert "prefers-color-scheme: dark" in PAGES["right"] and "@media print" in PAGES["right"]
    assert 'name="viewport" content="width=device-width' in PAGES["right"]

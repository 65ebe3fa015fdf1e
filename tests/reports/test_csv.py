"""Tables for spreadsheets: what people and imported files put into them stays text."""

from __future__ import annotations

import csv
import io

import pytest

from harness.reports.history import table_csv


@pytest.mark.parametrize("text", ['=cmd|" /C calc"!A0', "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_text_is_a_formula(text: str) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(table_csv(("file",), [{"file": text}])))
    assert cell.startswith("'")


def test_control_characters_are_written_out_and_other_text_and_numbers_stay() -> None:
    row = {"file": "/tmp/größe \x1b[2J,\"x\".cu", "seconds": -1.5, "rung": None}
    (_, cells) = csv.reader(io.StringIO(table_csv(tuple(row), [row])))
    assert cells == ['/tmp/größe \\x1b[2J,"x".cu', "-1.5", ""]

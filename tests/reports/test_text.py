from __future__ import annotations

from pathlib import Path

import pytest

from harness.reports.text import excerpt, faster, pasted, percent, shown_path, spelt_out, times, visible, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\tb\n", "a\tb\n"),
        ("µ ✓", "µ ✓"),
        ("\u202e", "\\u202e"),
        ("\x7f", "\\x7f"),
        ("\r", "\\x0d"),
    ],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "plain"),
    [("✓ 3 µs ± 1", b"ok 3 us +- 1"), ("a → b", b"a -> b"), ("日", b"?"), ("√n ≤ 2²", b"sqrtn <= 2^2")],
)
def test_characters_an_encoding_lacks_have_stand_ins(text: str, plain: bytes) -> None:
    assert text.encode("ascii", errors="kata-stand-in") == plain


def test_wrapped_text_keeps_code_and_line_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = wrap("words " * 12 + "\n    if (i < n) c[i] = a[i] + b[i];\n\nend")
    assert "      if (i < n) c[i] = a[i] + b[i];" in lines
    assert lines[-2:] == ["", "  end"]


def test_a_file_name_in_a_command_is_quoted_where_a_shell_needs_it_and_never_torn_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert pasted("mine.cu") == "mine.cu" and pasted("it's mine.cu") == "'it'\"'\"'s mine.cu'"
    name = pasted("my own kernels/add one.cu")
    assert f"  {name} --seed 7" in wrap(f"the same inputs: kata check add {name} --seed 7")
    assert wrap("can't be 'quoted by anything'") == ["  can't be 'quoted by anything'"]


def test_an_excerpt_points_at_the_column_behind_tabs(tmp_path: Path) -> None:
    source = tmp_path / "x.cu"
    source.write_text("\tfoo(bar);\n", encoding="utf-8")
    number, caret = excerpt(source, 1, column=6)
    assert number[caret.index("^")] == "b"


@pytest.mark.parametrize("line", [None, 0, 3])
def test_an_excerpt_of_no_line_is_empty(tmp_path: Path, line: int | None) -> None:
    source = tmp_path / "x.cu"
    source.write_text("one\ntwo\n", encoding="utf-8")
    assert excerpt(source, line) == []
    assert excerpt(tmp_path / "missing.cu", 1) == []


def test_paths_are_shown_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(tmp_path / "a" / "b.cu") == str(Path("a/b.cu"))
    assert shown_path(tmp_path.parent / "c.cu") == str(tmp_path.parent / "c.cu")


@pytest.mark.parametrize(
    ("part", "said"), [(0, "0 %"), (0.0049, "<1 %"), (0.0051, "1 %"), (0.294, "29 %"), (1, "100 %")]
)
def test_a_part_that_is_not_nothing_is_not_called_nothing(part: float, said: str) -> None:
    assert percent(part) == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(64.9, "65x"), (9.96, "10x"), (10.4, "10x"), (2.55, "2.5x"), (8.0, "8x"), (1.312, "1.3x"), (32768.0, "32,768x")],
)
def test_a_ratio_has_two_digits_and_from_ten_on_no_decimals(ratio: float, said: str) -> None:
    assert times(ratio) == said and faster(ratio) == f"{said} faster"


@pytest.mark.parametrize(("ratio", "said"), [(1.04, "4 % faster"), (1.09, "9 % faster"), (1.1, "1.1x faster")])
def test_what_is_nearly_as_fast_is_so_many_percent_faster(ratio: float, said: str) -> None:
    assert faster(ratio) == said


@pytest.mark.parametrize(
    ("limiter", "said"),
    [
        ("latency: 64 warps in flight per SM", "memory and arithmetic latency: 64 warps per SM do not hide it"),
        ("latency in k: 1 warp in flight per SM", "memory and arithmetic latency in k: 1 warp per SM does not hide it"),
        ("DRAM bandwidth, 88 % of it useful", "DRAM bandwidth, 88 % of it useful"),
    ],
)
def test_latency_is_said_to_be_whose_and_that_it_is_not_hidden(limiter: str, said: str) -> None:
    assert spelt_out(limiter) == said

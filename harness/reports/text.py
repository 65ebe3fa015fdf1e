"""Text fit for any output: ASCII stand-ins, control characters made visible, wrapping, source excerpts."""

from __future__ import annotations

import codecs
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path

#: What is printed where an output's encoding lacks a character. Anything else becomes a question mark.
STAND_INS = {
    "✓": "ok", "✗": "x", "·": "-", "•": "*", "…": "...", "—": "-", "–": "-", "±": "+-", "×": "x", "≤": "<=", "≥": ">=",
    "≠": "!=", "█": "#", "▲": "^", "⋮": ":", "→": "->", "⟶": "->", "−": "-",
    "▁": "_", "▂": "_", "▃": "-", "▄": "-", "▅": "=", "▆": "=", "▇": "#",
    "√": "sqrt", "∑": "sum", "Σ": "sum", "µ": "u", "μ": "u", "²": "^2", "³": "^3",
    "“": '"', "”": '"', "‘": "'", "’": "'", "│": "|", "─": "-", "▌": "|", "°": "deg",
    "∞": "inf", "∈": "in", "⌈": "ceil(", "⌉": ")",
}  # fmt: skip


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(STAND_INS.get(character, "?") for character in missing), error.end


codecs.register_error("kata-stand-in", _stand_in)


def fit_streams(environment: Mapping[str, str] = os.environ) -> None:
    """Make standard output and error print what their encoding can't carry as :data:`STAND_INS`.

    Python writes UTF-8 even in the C locale; whoever asked for that locale by name gets plain ASCII.
    """
    plain = (environment.get("LC_ALL") or environment.get("LANG")) in ("C", "POSIX")
    chosen = environment.get("PYTHONIOENCODING") or environment.get("PYTHONUTF8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="ascii" if plain and not chosen else None, errors="kata-stand-in")


#: Columns that are written for even where there are fewer: gutters and indents have to leave room for words.
NARROWEST = 32

#: Columns of a path that is shown whole.
LONGEST_PATH = 48


def width() -> int:
    """Columns to write for: the terminal's, at most 100 (longer lines read badly); 80 where there is none."""
    return max(min(shutil.get_terminal_size((80, 24)).columns, 100), NARROWEST)


def visible(text: str) -> str:
    """``text`` with control characters (escape sequences too) written out, so that it can't drive a terminal."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else f"\\x{ord(character):02x}"
        if ord(character) < 256 else f"\\u{ord(character):04x}"
        for character in text
    )  # fmt: skip


#: What a shell takes as one word, quotes and all, and what stands for its spaces while lines are broken.
_QUOTED, _KEPT = re.compile(r"(?<!\S)'[^']*'(?!\w)"), "\N{NO-BREAK SPACE}"


def pasted(file: str) -> str:
    """A file's name as a shell takes it in a command that is pasted: quoted where it must be."""
    return shlex.quote(visible(file))


def wrap(text: str, *, indent: str = "  ", hanging: str = "") -> list[str]:
    """Paragraph lines of at most :func:`width` columns; lines after the first get ``hanging`` more indent.

    Line breaks in ``text`` are kept, indented lines (code) are not refilled, and nothing between single quotes is torn
    apart: it may be a file's name in a command to be pasted.
    """
    lines: list[str] = []
    for paragraph in visible(text).splitlines():
        if paragraph[:1].isspace() or not paragraph:
            lines.append((indent + paragraph).rstrip())
            continue
        kept = _QUOTED.sub(lambda quoted: quoted.group().replace(" ", _KEPT), paragraph)
        wrapped = textwrap.wrap(
            kept, width(), initial_indent=indent if not lines else indent + hanging,
            subsequent_indent=indent + hanging, break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        lines += [line.replace(_KEPT, " ") for line in wrapped]
    return lines


def columns(*cells: str, indent: str = "  ", gap: str = "   ", hanging: str = "  ") -> list[str]:
    """``cells`` side by side, continued on a further line, ``hanging`` further in, where :func:`width` is reached."""
    lines = [indent + visible(cells[0])]
    for cell in map(visible, cells[1:]):
        if len(lines[-1]) + len(gap) + len(cell) <= width():
            lines[-1] += gap + cell
        else:
            lines.append(f"{indent}{hanging}{cell}")
    return lines


def excerpt(path: Path, line: int | None, *, column: int | None = None, around: int = 0) -> list[str]:
    """The source ``line`` (from 1) with its number, a caret under ``column``, and ``around`` lines on each side.

    Nothing where the file or the line can't be read: an excerpt is a courtesy, never a second error.
    """
    try:
        source = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    if line is None or not 1 <= line <= len(source):
        return []
    rows = []
    for number in range(max(1, line - around), min(len(source), line + around) + 1):
        text = visible(source[number - 1].expandtabs(4))
        row = f"{number:>6} | {text}".rstrip()
        rows.append(row if column or len(row) <= width() else row[: width() - 1] + "…")
        if number == line and column:
            before = len(source[number - 1][: column - 1].expandtabs(4))
            rows.append(f"{'':>6} | {'':>{before}}^")
    return rows


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 case``, ``2 cases``; ``plural`` where an s alone does not make it."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def duration(seconds: float) -> str:
    """Three digits that matter: ``41.2 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            break
    value = seconds / size
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def percent(part: float) -> str:
    """``29 %`` for 0.29; what is more than nothing is not called ``0 %``."""
    return "<1 %" if 0 < part < 0.005 else f"{100 * part:.0f} %"


def times(ratio: float) -> str:
    """``2.6x``, ``65x``: two digits below ten, no part of one from there on."""
    return f"{ratio:.2g}x" if ratio < 10 else f"{ratio:,.0f}x"


def faster(ratio: float) -> str:
    """``2.6x faster``; of what is nearly as fast, ``4 % faster``."""
    return f"{times(ratio)} faster" if ratio >= 1.095 else f"{100 * (ratio - 1):.0f} % faster"


_LATENCY = re.compile(r"latency( in \w+)?: ((\d+) warps?) in flight per SM")


def spelt_out(limiter: str) -> str:
    """What a kernel waits for, for who doesn't know what latency is hidden by."""
    return _LATENCY.sub(_latency, limiter)


def _latency(match: re.Match[str]) -> str:
    where, warps, number = match.groups(default="")
    return f"memory and arithmetic latency{where}: {warps} per SM {'does' if number == '1' else 'do'} not hide it"


def figure(value: float) -> str:
    """A count that may be an average: ``32``, ``5.3``."""
    return f"{value:,.1f}".removesuffix(".0")


def large(number: float) -> str:
    """A count that may be huge: ``12.3 M``; below a hundred thousand in full."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= max(size, 1e5):
            return f"{number / size:.3g} {unit}"
    return f"{number:,.0f}"


def rate(a_second: float, unit: str = "B") -> str:
    """``3.26 TB/s``, ``417 GB/s``; ``167 GFLOP/s`` of another unit than bytes."""
    return f"{a_second / 1e12:.3g} T{unit}/s" if a_second >= 1e12 else f"{a_second / 1e9:.3g} G{unit}/s"


def brief_path(path: Path) -> str:
    """The path where it is short and starts here; else the file's name."""
    return visible(path.name if path.is_absolute() or len(str(path)) > LONGEST_PATH else str(path))


def shown_path(path: Path) -> str:
    """The path as a person would type it here: relative where it lies below the current folder."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)

"""Edits to CUDA C++ text that keep every line where it was, so that the compiler's messages still point at the user's.

Text is handled as one character per UTF-8 byte (see :func:`to_bytes_text`), so that tree-sitter's offsets are indices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

#: Ahead of the grid of each launch: notes the line it is on (``kata::at`` in headers/kata.h), and is nothing else.
LAUNCH_MARK = " ::kata::at{__LINE__}->*"
_BRACED = re.compile(r"\s*\{")

_QUIET = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)'  # comments
    r'|\bu?8?[uUL]?R"(?P<fence>[^()\s\\]{0,16})\(.*?\)(?P=fence)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'",  # characters, but not the separators of 1'000'000
    re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_HOST = re.compile(r"\b__host__\b")
_VOID_CAST = re.compile(r"(?<=\bcudaLaunchKernel\()(\s*)\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)")


def to_bytes_text(text: str) -> str:
    """``text`` with one character per byte of its UTF-8 form."""
    return text.encode().decode("latin-1")


def from_bytes_text(code: str) -> str:
    """The inverse of :func:`to_bytes_text`."""
    return code.encode("latin-1").decode()


def blank(code: str, spans: Iterable[tuple[int, int]]) -> str:
    """``code`` with the characters of these spans made spaces, newlines kept."""
    for start, end in spans:
        code = code[:start] + _NOT_NEWLINE.sub(" ", code[start:end]) + code[end:]
    return code


def mask(code: str) -> str:
    """``code`` of the same length with comments, strings and characters blanked: only what the compiler acts on."""
    return _QUIET.sub(lambda found: _NOT_NEWLINE.sub(" ", found.group()), code)


def line_of(code: str, offset: int) -> int:
    """The line, from 1, that holds this offset."""
    return code.count("\n", 0, offset) + 1


def for_the_device(code: str) -> str:
    """``code`` with host annotations blanked, so that helpers of ``solve`` compile as device functions, and
    ``cudaLaunchKernel((void*)kernel`` without its cast, so that the kernel's parameter types are known."""
    quiet = mask(code)
    spans = [found.span() for found in _HOST.finditer(quiet)]
    spans += [(found.end(1), found.end()) for found in _VOID_CAST.finditer(quiet)]
    return blank(code, spans)


@dataclass(frozen=True)
class Marked:
    """Text with a mark put into each launch, and where each mark went: ``(line, column, length)``, columns from 0."""

    code: str
    marks: tuple[tuple[int, int, int], ...]

    def column(self, line: int, column: int) -> int:
        """The column before marking of what is at ``column`` of ``line`` now (both columns from 0)."""
        taken = 0
        for marked_line, at, length in self.marks:
            if marked_line == line and column > at:
                taken += min(length, column - at)
        return column - taken


def mark_launches(code: str) -> Marked:
    """Put :data:`LAUNCH_MARK` after every ``<<<``, in macros too."""
    pieces: list[str] = []
    marks: list[tuple[int, int, int]] = []
    done = 0
    quiet = mask(code)
    for found in re.finditer("<<<", quiet):
        mark = LAUNCH_MARK + "dim3" * bool(_BRACED.match(quiet, found.end()))
        pieces += [code[done : found.end()], mark]
        done = found.end()
        line = line_of(code, done)
        before = sum(length for marked, _, length in marks if marked == line)
        marks.append((line, done - (code.rfind("\n", 0, done) + 1) + before, len(mark)))
    return Marked("".join(pieces) + code[done:], tuple(marks))

"""The brace that is never closed: the compiler notices at the end of the file, or where a function begins in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.rewrite import mask

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_NOT_NEWLINE = re.compile(r"[^\n]")
_ELSE = re.compile(r"\s*else\b")
_MARKS = re.compile(r"[{};]")


@dataclass(frozen=True)
class Brace:
    """A ``{``: its line from 1, its column from 0, and the columns that the statement it belongs to is indented by."""

    line: int
    column: int
    indent: int


def unclosed(text: str) -> Brace | None:
    """The first ``{`` of CUDA source that no ``}`` closes; None where each has its own, or a ``}`` has none.

    By counting it is the outermost. Which one was meant is told by indentation, wherever the file keeps to it: a ``}``
    at the start of its line ends no statement that is indented further, and an ``else`` is not inside its ``if``.
    """
    quiet = _DIRECTIVE.sub(lambda found: _NOT_NEWLINE.sub(" ", found.group()), mask(text))
    return _first(quiet, by_indent=True) or _first(quiet, by_indent=False)


def _first(quiet: str, *, by_indent: bool) -> Brace | None:
    lines = quiet.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in (line.expandtabs(4) for line in lines)]
    waiting: list[Brace] = []
    left: list[Brace] = []
    begun: int | None = None  # where the statement does that is being read
    for number, line in enumerate(lines):
        if by_indent and _ELSE.match(line) and waiting and indents[number] <= waiting[-1].indent + 1:
            indents[number] = waiting[-1].indent  # one column more where the brace ahead of it was deleted
            left.append(waiting.pop())
        read = 0
        for mark in _MARKS.finditer(line):
            if begun is None and line[read : mark.start()].strip():
                begun = number
            if mark.group() == "{":
                waiting.append(Brace(number + 1, mark.start(), indents[number if begun is None else begun]))
            elif mark.group() == "}":
                leads = by_indent and not line[: mark.start()].strip()
                while leads and waiting and waiting[-1].indent > indents[number]:
                    left.append(waiting.pop())
                if not waiting:
                    return None
                waiting.pop()
            begun, read = None, mark.end()
        if begun is None and line[read:].strip():
            begun = number
    return min((*left, *waiting), key=lambda brace: (brace.line, brace.column), default=None)

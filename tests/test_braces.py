from __future__ import annotations

from pathlib import Path

import pytest

from harness.braces import unclosed
from harness.rewrite import mask
from tests.conftest import ROOT

SOLUTIONS = sorted((ROOT / "solutions").glob("*/*.cu"))


def pairs(text: str) -> list[tuple[int, int]]:
    """Where each ``{`` of a file with a ``}`` for each is, and where that one is."""
    opened: list[int] = []
    found = []
    for at, character in enumerate(mask(text)):
        if character == "{":
            opened.append(at)
        elif character == "}":
            found.append((opened.pop(), at))
    return found


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_whichever_brace_of_a_solution_is_forgotten_the_one_it_closes_is_found(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert unclosed(text) is None
    for start, end in pairs(text):
        found = unclosed(text[:end] + text[end + 1 :])
        assert found is not None
        if not text[text.rfind("\n", 0, end) + 1 : end].strip():  # one within a line has no indentation to go by
            before = text[:start].split("\n")
            assert (found.line, found.column) == (len(before), len(before[-1]))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("void f(int a,\n       int b) {\n    if (a) {\n        g();\n}\n", 3),  # a statement of two lines
        ("void f()\n{\n    if (a)\n    {\n        g();\n}\n", 4),  # braces on lines of their own
        ("void f() {\n\tfor (int i = 0; i < 3; ++i) {\n\t\tg();\n}\n", 2),  # tabs
        ("#define OPEN {\nvoid f() {\n    // }\n    g(\"}\", '}');\n", 2),  # what is no brace of the code
        ("void f() {\nif (a) {\ng();\n}\n", 1),  # no indentation: the outermost, as the compiler counts
        ("void f() {\n        if (a) {\n    }\n    }\nvoid g() {\n", 5),  # indentation that can't be right
        ("void f() {\n    if (a) {\n        g();\n    else {\n        h();\n    }\n}\n", 2),
    ],
)
def test_the_brace_is_told_by_indentation_where_there_is_some(text: str, line: int) -> None:
    found = unclosed(text)
    assert found is not None and found.line == line


@pytest.mark.parametrize("text", ["", "void f() { }\n", "void f() { } }\n", "} }\nvoid g() {\n", "/* {"])
def test_nothing_is_said_of_braces_that_are_closed_or_too_many(text: str) -> None:
    assert unclosed(text) is None

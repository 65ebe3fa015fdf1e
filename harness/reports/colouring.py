"""CUDA source in colour: each line as pieces of a kind, for a terminal or a page."""

from __future__ import annotations

from collections.abc import Iterator

#: A piece of a line: its kind (see :data:`KINDS`, or nothing) and its text.
Piece = tuple[str, str]

#: Kinds of pieces by Pygments' token types, the most special first.
KINDS = (
    ("Comment.Preproc", "preprocessor"), ("Comment", "comment"), ("Keyword.Type", "type"), ("Keyword", "keyword"),
    ("Literal.String", "string"), ("Literal.Number", "number"), ("Name.Builtin", "type"),
)  # fmt: skip


def coloured(text: str) -> list[list[Piece]]:
    """The lines of CUDA source, each in pieces that together are the line, without its end."""
    from pygments.lexers.c_like import CudaLexer

    lines: list[list[Piece]] = [[]]
    for token, piece in CudaLexer(stripnl=False, ensurenl=False).get_tokens(text):
        kind = _kind(str(token).removeprefix("Token."))
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((kind, part))
    return lines[:-1] if text.endswith("\n") else lines


def expanded(pieces: list[Piece], tab: int = 4) -> Iterator[Piece]:
    """A line's pieces with tabs as spaces."""
    column = 0
    for kind, text in pieces:
        spaced = (" " * (column % tab) + text).expandtabs(tab)[column % tab :]
        column += len(spaced)
        yield kind, spaced


def _kind(token: str) -> str:
    return next((kind for name, kind in KINDS if token == name or token.startswith(f"{name}.")), "")

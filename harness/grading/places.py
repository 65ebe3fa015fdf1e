"""Patterns in where a wrong answer is wrong: a tail, a block's share, every nth, rows, columns."""

from __future__ import annotations

import numpy as np

from harness.grading.evidence import WARP, Evidence, Finding, Recogniser, be, counted, span


def edges(evidence: Evidence) -> Finding | None:
    """A matrix that is right in its upper left rectangle only: ragged edges, or the first block's tile."""
    if not evidence.matrix:
        return None
    rows, columns = evidence.matrix
    wrong = evidence.focus
    right_columns = int(wrong[0].argmax()) if wrong[0].any() else columns
    right_rows = int(wrong[:, 0].argmax()) if wrong[:, 0].any() else rows
    if not right_rows or not right_columns or wrong[:right_rows, :right_columns].any():
        return None
    if int(wrong.sum()) != wrong.size - right_rows * right_columns:
        return None
    if _first_tile(evidence, right_rows, right_columns):
        what = f"{right_rows} x {right_columns}"
        return Finding("first_block_only", f"only the first {what} elements are right: one block's share")
    return _ragged(evidence, right_rows, right_columns)


def _first_tile(evidence: Evidence, rows: int, columns: int) -> bool:
    """Whether the rectangle is what a grid of one block covers, or one block's tile with tiles to spare beside it."""
    height, width = evidence.matrix or (0, 0)
    for launch in evidence.launches:
        # A thread, a warp or a block for each row covers whole rows.
        whole_rows = {(each, width) for each in (launch.threads, launch.threads // WARP, 1) if each}
        for tile_height, tile_width in _tiles(launch.block) | whole_rows:
            if (rows, columns) == (min(tile_height, height), min(tile_width, width)):
                spare = (rows == height or height >= 2 * rows) and (columns == width or width >= 2 * columns)
                return launch.blocks == 1 or spare
    return False


def _tiles(block: tuple[int, int, int]) -> set[tuple[int, int]]:
    """Heights and widths a block may cover: its own shape either way up, and squares of its sides."""
    x, y, _ = block
    return {(y, x), (x, y), (x, x), (y, y)} if y > 1 else {(1, x)}


def _ragged(evidence: Evidence, right_rows: int, right_columns: int) -> Finding | None:
    parts, tails, small, verb = [], [], True, "are"
    for thing, length, right, name in zip(
        ("row", "column"), evidence.comparison.got.shape, (right_rows, right_columns), evidence.dims, strict=True
    ):
        left = length - right
        if left:
            parts.append(f"the last {left} of {counted(length, thing)}")
            tails.append(evidence.tail(name, length, left))
            small = small and left < right
            verb = be(left)
    if not (small or any(tail.divisors for tail in tails)):
        return None
    verb = "are" if len(parts) > 1 else verb
    return Finding("tail", f"only {' and '.join(parts)} {verb} {evidence.state(evidence.focus)}", tuple(tails))


def suffix(evidence: Evidence) -> Finding | None:
    """Everything from some element on, in the order of memory."""
    wrong = evidence.focus.ravel()
    first, size = int(wrong.argmax()), wrong.size
    if first == 0 or not wrong[first:].all():
        return None
    state, left = evidence.state(evidence.focus), size - first
    tail = evidence.tail(evidence.length_name, size, left)
    alone = any(launch.blocks == 1 for launch in evidence.launches)
    if first in evidence.shares and (alone or not tail.divisors):
        what = f"only the first {first} of {size} elements are right, one block's share"
        return Finding("first_block_only", f"{what}; the rest is {state}")
    if not tail.divisors and left > first:
        what = f"only the first {first} of {counted(size, 'element')} are right; the rest is {state}"
        return Finding("tail", what, (tail,))
    return Finding("tail", f"only the last {left} of {size} elements {be(left)} {state}", (tail,))


def loose_suffix(evidence: Evidence) -> Finding | None:
    """Most of a rounded-off tail, where some of it happens to be right."""
    wrong = evidence.focus.ravel()
    first, size = int(wrong.argmax()), wrong.size
    count = int(wrong.sum())
    for modulus in evidence.moduli:
        left = size % modulus
        if modulus < size and 0 < left < size and size - left <= first and 2 * count >= left:
            what = f"{counted(count, 'element')} {be(count)} {evidence.state(evidence.focus)}"
            tail = evidence.tail(evidence.length_name, size, left)
            return Finding("tail", f"{what}, all among the last {left} of {size}", (tail,))
    return None


def every_nth(evidence: Evidence) -> Finding | None:
    """Elements whose index has certain remainders, the same all the way: every nth, or all but every nth."""
    wrong = evidence.focus
    views = [*(_lines(wrong) if evidence.matrix else []), (wrong.ravel(), "element")]
    width = evidence.matrix[1] if evidence.matrix else wrong.size  # a period of whole rows is a pattern of columns
    for mask, thing in views:
        periods = (m for m in (*range(2, WARP), *evidence.moduli) if m % width)
        modulus = next((m for m in periods if _periodic(mask, m)), None)
        if modulus:
            residues = np.flatnonzero(mask[:modulus])
            state = evidence.state(wrong)
            return Finding("every_nth", f"{_residues(residues, modulus, thing)} {be(residues.size)} {state}")
    return None


def _lines(wrong: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Which columns, and which rows, are wrong from end to end, where the others are all right."""
    whole = [(np.asarray(wrong.all(axis=axis)), axis, thing) for axis, thing in ((0, "column"), (1, "row"))]
    return [(lines, thing) for lines, axis, thing in whole if np.array_equal(lines, wrong.any(axis=axis))]


def _periodic(mask: np.ndarray, modulus: int) -> bool:
    """Whether the mask repeats with this period, over three periods or more, with both kinds of element."""
    period = mask[:modulus]
    if mask.size < 3 * modulus or period.all() or not period.any():
        return False
    return bool((mask[modulus:] == mask[:-modulus]).all())


def _residues(residues: np.ndarray, modulus: int, thing: str) -> str:
    if residues.size == 1:
        return f"{thing} {residues[0]} of every {modulus}"
    if residues.size == residues[-1] - residues[0] + 1:
        return f"{thing}s {span(residues[0], residues[-1])} of every {modulus}"
    if residues.size == modulus - 1:
        right = (set(range(modulus)) - set(residues.tolist())).pop()
        return f"all {thing}s but number {right} of every {modulus}"
    return f"{residues.size} {thing}s of every {modulus}, always the same ones,"


def rows(evidence: Evidence) -> Finding | None:
    """Whole rows, others right."""
    return _whole_lines(evidence, 1, "row")


def columns(evidence: Evidence) -> Finding | None:
    """Whole columns, others right."""
    return _whole_lines(evidence, 0, "column")


def _whole_lines(evidence: Evidence, axis: int, thing: str) -> Finding | None:
    """Lines of which most elements are wrong (one may be right by luck), beside lines that are all right."""
    if not evidence.matrix:
        return None
    wrong = evidence.focus
    touched = wrong.any(axis=axis)
    lines = np.flatnonzero(touched)
    if touched.all() or wrong.mean(axis=axis)[lines].min() <= 0.5:
        return None
    count = counted(lines.size, thing)
    which = ", ".join(map(str, lines[:6])) + (", ..." if lines.size > 6 else "")
    whole = "whole " if (wrong.all(axis=axis) == touched).all() else ""
    return Finding(f"{thing}s", f"{whole}{count} of {touched.size} {be(lines.size)} {evidence.state(wrong)}: {which}")


def one_block_share(evidence: Evidence) -> Finding | None:
    """A run of elements, or a tile of a matrix, that starts and ends where a block's share does."""
    wrong = evidence.focus.ravel()
    first, last = int(wrong.argmax()), wrong.size - 1 - int(wrong[::-1].argmax())
    length = last - first + 1
    if length in evidence.shares and first % length == 0 and wrong[first : last + 1].all():
        state = evidence.state(evidence.focus)
        where = f"elements {span(first, last)}, the share of block {first // length},"
        return Finding("one_block_share", f"only {where} {be(length)} {state}")
    return _one_tile(evidence)


def _one_tile(evidence: Evidence) -> Finding | None:
    if not evidence.matrix:
        return None
    wrong = evidence.focus
    down, across = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    (top, bottom), (left, right) = (down[0], down[-1] + 1), (across[0], across[-1] + 1)
    tiles = {tile for launch in evidence.launches for tile in _tiles(launch.block) if min(tile) > 1}
    if (bottom - top, right - left) not in tiles or top % (bottom - top) or left % (right - left):
        return None
    if not wrong[top:bottom, left:right].all():
        return None
    where = f"rows {span(top, bottom - 1)} of columns {span(left, right - 1)}, one block's tile,"
    return Finding("one_block_share", f"only {where} are {evidence.state(wrong)}")


#: Tried in order on an answer that is wrong in some places and right in others.
PLACES: tuple[Recogniser, ...] = (edges, suffix, every_nth, one_block_share, rows, columns, loose_suffix)

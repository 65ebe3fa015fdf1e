"""Where the lanes of one warp go: the banks of shared memory they meet in, the sectors of global memory they fetch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.reports.pictures.svg import WIDTH, Picture

#: Shared memory has 32 banks of 4 bytes; global memory moves sectors of 32 bytes, 8 words of 4.
BANKS, WORD, SECTOR = 32, 4, 32

#: Lanes served together, by the bytes each asks for: at most 128 bytes leave the banks at once.
_TOGETHER = {8: 16, 16: 8}

Addresses = Sequence[int | None]


@dataclass(frozen=True)
class Served:
    """One word of one lane: ``row`` is the wavefront it comes in, from 0."""

    row: int
    bank: int
    lane: int


def served(addresses: Addresses, width: int, *, atomic: bool = False) -> list[Served]:
    """How 32 lanes that each access ``width`` bytes of shared memory (None: not active) are served.

    The rules are ``wavefronts`` and, for atomics, ``updated_wavefronts`` of :mod:`harness.simulator.traffic`: groups of
    lanes follow one another. In a group each bank gives a word a wavefront; lanes that ask for the same word share it,
    but each atomic needs a turn of its own.
    """
    found: list[Served] = []
    first = 0
    for group in _groups(addresses, width, atomic):
        queues: dict[int, list[tuple[int, int]]] = {}
        cells = []
        for lane in group:
            for word in _words(addresses[lane], width):
                queue = queues.setdefault(word % BANKS, [])
                ticket = (word, lane if atomic else 0)
                if ticket not in queue:
                    queue.append(ticket)
                cells.append(Served(first + queue.index(ticket), word % BANKS, lane))
        found += cells
        first += max((len(queue) for queue in queues.values()), default=0)
    return found


def _groups(addresses: Addresses, width: int, atomic: bool) -> list[list[int]]:
    """The lanes that are served together. Of 16-byte loads, lanes that pair up on one address count once."""
    lanes = list(range(32))
    if width == 16 and not atomic and None not in addresses:
        for distance in (1, 2):
            if all(addresses[lane] == addresses[lane ^ distance] for lane in lanes):
                lanes = [lane for lane in lanes if not lane & distance]
                break
    together = _TOGETHER.get(width, 32)
    return [lanes[start : start + together] for start in range(0, len(lanes), together)]


def sectors(addresses: Addresses, width: int) -> dict[int, list[int | None]]:
    """The sectors that 32 lanes touch, by number: for each of its 8 words the lane that asks for it, if any does."""
    found: dict[int, list[int | None]] = {}
    for lane, address in enumerate(addresses):
        for word in _words(address, width):
            found.setdefault(word * WORD // SECTOR, [None] * (SECTOR // WORD))[word % (SECTOR // WORD)] = lane
    return dict(sorted(found.items()))


def lanes_by_bank(key: str, addresses: Addresses, width: int, *, atomic: bool = False) -> Markup:
    """A column for each bank, a row for each wavefront, and in it the lanes that are served then."""
    cells = served(addresses, width, atomic=atomic)
    rows = 1 + max(cell.row for cell in cells)
    banks = len({cell.bank for cell in cells})
    left, top, across = 20, 16, 10
    tall = max(6.0, min(14.0, 190 / rows))
    bottom = top + rows * tall
    turns = "1 wavefront serves all" if rows == 1 else f"they take {rows} wavefronts, one after another"
    active = len({cell.lane for cell in cells})
    picture = Picture(
        key, bottom + 40, "Lanes by bank",
        f"{active} lanes touch {banks} of the {BANKS} banks of shared memory: {turns}. {_spread(cells)}",
    )  # fmt: skip
    picture.text(left, 10, "bank", "small muted")
    picture.rect(left, top, BANKS * across, rows * tall, "well")
    for bank in range(1, BANKS):
        picture.line(left + bank * across, top, left + bank * across, bottom, "rule")
    for (row, bank), lane in {(cell.row, cell.bank): cell.lane for cell in reversed(cells)}.items():
        x, y = left + bank * across, top + row * tall
        picture.rect(x + 0.5, y + 0.5, across - 1, tall - 1, "lane", strength=_shade(lane))
    for bank in (0, 8, 16, 24, 31):
        picture.text(left + (bank + 0.5) * across, bottom + 11, str(bank), "small muted", anchor="middle")
    for row in {0, rows - 1}:
        picture.text(left - 4, top + row * tall + tall / 2 + 3, str(row + 1), "small muted", anchor="end")
    picture.text(left + BANKS * across, 10, f"{rows} wavefront{'s' * (rows > 1)}", "small strong", anchor="end")
    _legend(picture, left, bottom + 22)
    return picture.markup()


def lanes_by_sector(key: str, addresses: Addresses, width: int, ideal: int) -> Markup:
    """A box for each 32-byte sector that is moved, with the words that lanes asked for filled in."""
    found = sectors(addresses, width)
    asked = len({address + byte for address in addresses if address is not None for byte in range(width)})
    moved = len(found) * SECTOR
    across, tall, gap = 9.5, 10.0, 5.0
    box = across * SECTOR / WORD
    bottom = 16 + -(-len(found) // 4) * (tall + gap)
    better = f"; {ideal} would hold them" if ideal < len(found) else ""
    legend = bottom + (24 + -(-ideal // 4) * (tall + gap) if better else 4)
    picture = Picture(
        key, legend + 12, "Lanes by sector",
        f"{len(found)} sectors of {SECTOR} bytes are moved for {asked:,} bytes that the warp asks for{better}. "
        f"{100 * asked // moved} percent of what moves is used.",
    )  # fmt: skip
    picture.text(0, 10, f"{len(found)} sector{'s' * (len(found) > 1)} moved", "small strong")
    picture.text(WIDTH, 10, f"{asked:,} of {moved:,} bytes used", "small muted", anchor="end")
    for number, words in enumerate(found.values()):
        x, y = (number % 4) * (box + gap * 1.8), 16 + (number // 4) * (tall + gap)
        picture.rect(x, y, box, tall, "well")
        for word, lane in enumerate(words):
            if lane is not None:
                picture.rect(x + word * across + 0.5, y + 0.5, across - 1, tall - 1, "lane", strength=_shade(lane))
    if better:
        picture.text(0, bottom + 14, f"as few as {ideal} could hold them", "small muted")
        for number in range(ideal):
            y = bottom + 20 + (number // 4) * (tall + gap)
            picture.rect((number % 4) * (box + gap * 1.8), y, box, tall, "ghost")
    _legend(picture, 0, legend)
    return picture.markup()


def _words(address: int | None, width: int) -> Iterator[int]:
    if address is not None:
        yield from range(address // WORD, (address + width - 1) // WORD + 1)


def _shade(lane: int) -> float:
    return 0.3 + 0.7 * lane / 31


def _spread(cells: list[Served]) -> str:
    """The crowd at the worst bank, in words."""
    queues: dict[int, set[int]] = {}
    for cell in cells:
        queues.setdefault(cell.bank, set()).add(cell.row)
    bank, queue = max(queues.items(), key=lambda item: len(item[1]))
    return f"Bank {bank} alone is asked {len(queue)} times." if len(queue) > 1 else "No bank is asked twice."


def _legend(picture: Picture, x: float, y: float) -> None:
    picture.text(x, y + 8, "lane 0", "small muted")
    for lane in range(32):
        picture.rect(x + 34 + lane * 4, y + 1, 4, 8, "lane", strength=_shade(lane))
    picture.text(x + 34 + 132, y + 8, "31", "small muted")

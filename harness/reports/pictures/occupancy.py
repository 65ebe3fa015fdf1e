"""How a multiprocessor is filled: its warp slots, what else would fit, and the waves in which the grid runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from markupsafe import Markup

from harness.reports.pictures.svg import WIDTH, Picture
from harness.reports.text import count, percent

#: Waves drawn one by one; of more, the first and the last.
_MOST_WAVES = 8

#: Below so many, an empty last wave costs enough to be marked.
_FEW_WAVES = 5


def warp_slots(
    key: str, *, slots: int, blocks: int, warps_per_block: int, limits: Mapping[str, int], limit: str
) -> Markup:
    """The warp slots of a multiprocessor, filled block by block, over the blocks that each resource would admit."""
    used = blocks * warps_per_block
    columns = 16
    across, tall = WIDTH / columns, 14
    rows = -(-slots // columns)
    under = 18 + rows * tall + 22
    admitted = ", ".join(f"{fitting} by {name}" for name, fitting in limits.items())
    least = f" The limit is {limit}." if used < slots else ""
    picture = Picture(
        key, under + len(limits) * 18, "Occupancy",
        f"{used} of {slots} warp slots are filled, by {count(blocks, 'block')} of {count(warps_per_block, 'warp')}. "
        f"Blocks that fit a multiprocessor: {admitted}.{least}",
    )  # fmt: skip
    picture.text(0, 10, f"{used} of {slots} warps", "small strong")
    picture.text(WIDTH, 10, "one multiprocessor", "small muted", anchor="end")
    for slot in range(slots):
        x, y = (slot % columns) * across, 18 + (slot // columns) * tall
        block = slot // warps_per_block
        shade = None if slot >= used else 0.9 if block % 2 else 0.55
        picture.rect(x + 1, y + 1, across - 2, tall - 2, "lane" if slot < used else "well", strength=shade, round_=2)
    picture.text(0, under - 6, "blocks that would fit by", "small muted")
    widest = max(limits.values())
    for number, (name, fitting) in enumerate(sorted(limits.items(), key=lambda item: item[1])):
        y, long = under + number * 18, max(2.0, 210 * fitting / widest)
        kind = "bar" if fitting > blocks else "bad" if used <= slots / 2 else "yours"
        weight = "strong" if fitting == blocks else ""
        picture.text(84, y + 11, name, weight, anchor="end")
        picture.rect(90, y + 3, long, 10, kind, round_=2)
        picture.text(90 + long + 5, y + 11, str(fitting), weight)
    return picture.markup()


def waves(key: str, *, grid: float) -> Markup:
    """The waves of blocks in which a grid runs (``grid`` times what the GPU holds), the last as full as it is."""
    total = math.ceil(grid)
    part = grid - total + 1
    drawn = min(total, _MOST_WAVES)
    last = "the last is full" if part == 1 else f"the last is {percent(part)} full"
    picture = Picture(key, 62, "Waves of blocks", f"The grid runs in {count(total, 'wave')}; {last}.")
    picture.text(0, 10, count(total, "wave"), "small strong")
    picture.text(WIDTH, 10, last, "small muted", anchor="end")
    across = WIDTH / max(drawn, 4)
    for number in range(drawn):
        final = number == drawn - 1
        full = part if final else 1.0
        x = number * across
        picture.rect(x + 1, 18, across - 2, 28, "well", round_=2)
        kind = "bad" if full < 0.5 and total < _FEW_WAVES else "bar"
        picture.rect(x + 1, 18 + 28 * (1 - full), across - 2, 28 * full, kind, round_=2)
        hidden = total > _MOST_WAVES and number == drawn - 2
        name = "…" if hidden else f"{total:,}" if final else str(number + 1)
        picture.text(x + across / 2, 58, name, "small muted", anchor="middle")
    return picture.markup()

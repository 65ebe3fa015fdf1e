"""Instructions a warp executes together: shuffles, votes, matches and reductions over named lanes.

Arrays are seen as ``(warps, 32)``. A value read from a lane that is not taking part is undefined in CUDA: here it is
:data:`POISON`, and followed as garbage: using it is an error, dropping it is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator.active import Lanes
from harness.simulator.garbage import Origin
from harness.simulator.operands import Reader, Registers, flatten, reader, writer
from harness.simulator.operands import target as place_of
from harness.simulator.ptx import DTYPES, Instruction

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Step

#: A NaN in every float format, and no likely integer.
POISON = 0x7FC9_7FC9
WARP = 32
_LANE = np.arange(WARP, dtype=np.int64)


def bits(mask: np.ndarray) -> np.ndarray:
    """A boolean per lane -> one uint32 per warp, lane 0 in bit 0."""
    return np.packbits(mask.reshape(-1, WARP), axis=1, bitorder="little").view("<u4")[:, 0]


def per_lane(value: np.ndarray) -> np.ndarray:
    """One value per warp -> one per lane."""
    return np.repeat(value, WARP)


def _present(lanes: Lanes) -> np.ndarray:
    return np.ones(lanes.width, np.bool_) if lanes.mask is None else lanes.mask


def _wide(value: np.ndarray, lanes: Lanes) -> np.ndarray:
    return np.broadcast_to(value, lanes.width) if value.size == 1 else value


def shuffle(instruction: Instruction, kernel: Kernel) -> Step:
    """``shfl.sync.mode.b32 d{|p}, a, b, c, membermask`` (PTX ISA 9.7.9.6)."""
    operands = list(flatten(instruction.operands))
    pair = len(operands) == 6
    write = writer(operands[0], "b32", kernel)
    write_valid = writer(operands[1], "pred", kernel) if pair else None
    value, shift, clamp = (reader(operand, "b32", kernel) for operand in operands[1 + pair : -1])
    number, _ = place_of(operands[0], "b32", kernel)
    source = _SOURCES.get(next((word for word in instruction.modifiers if word in _SOURCES), ""))
    if source is None:
        raise Unsupported(f"shuffle mode in {instruction.text}", line=instruction.line)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        lane = np.tile(_LANE, lanes.width // WARP)
        by, limit = _wide(shift(registers), lanes).astype(np.int64), _wide(clamp(registers), lanes).astype(np.int64)
        giver, valid = source(lane, by & 31, limit & 31, (limit >> 8) & 31)
        taken = np.arange(lanes.width) - lane + np.where(valid, giver, lane)
        present = _present(lanes)
        wide = _wide(value(registers), lanes)
        result = wide[taken]
        absent = present & ~present[taken]
        origin = None
        if absent.any():
            result[absent] = POISON
            origin = _absence(instruction, absent, taken, batch)
        if write is not None:
            write(registers, lanes, result)
        if write_valid is not None:
            write_valid(registers, lanes, valid)
        if origin is not None or batch.garbage:
            batch.garbage.shuffled(operands[1 + pair], number, lanes, taken, absent, origin)

    return step


def _absence(instruction: Instruction, absent: np.ndarray, taken: np.ndarray, batch: Batch) -> Origin:
    """Why the first of these lanes gets nothing: no mistake until the value is used."""
    position = int(np.flatnonzero(absent)[0])
    lane = int(taken[position])
    deed = f"takes the value of lane {lane % WARP} of its warp, which"
    if batch.thread[lane] < batch.threads_per_block and not batch.alive[lane]:
        return Origin(
            instruction, f"{deed} has exited{batch.ways.of(lane, position)}", "missing_lanes", LEFT_REMEDY,
            title=left_title(instruction),
        )  # fmt: skip
    what = "is not taking part" if batch.alive[lane] else "does not exist"
    return Origin(
        instruction, f"{deed} {what}", "missing_lanes",
        "let every lane named in the mask run the shuffle, and give idle lanes a neutral value",
    )  # fmt: skip


#: Instructions that name lanes, as people call them.
_SPOKEN = {
    "shfl": "a shuffle", "vote": "a vote", "match": "a match", "redux": "a reduction", "elect": "an election",
    "bar": "a __syncwarp()", "barrier": "a __syncwarp()",
}  # fmt: skip

LEFT_REMEDY = (
    "let all lanes come here, with a neutral value instead of a return; or take the mask from __ballot_sync before "
    "they part"
)


def left_title(instruction: Instruction) -> str:
    """What it is to name lanes that are no more."""
    return f"{_SPOKEN[instruction.opcode]} that names lanes which have left the kernel"


def _up(lane: np.ndarray, by: np.ndarray, limit: np.ndarray, segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return lane - by, lane - by >= ((lane & segment) | (limit & ~segment))


def _down(lane: np.ndarray, by: np.ndarray, limit: np.ndarray, segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return lane + by, lane + by <= ((lane & segment) | (limit & ~segment))


def _cross(lane: np.ndarray, by: np.ndarray, limit: np.ndarray, segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return lane ^ by, (lane ^ by) <= ((lane & segment) | (limit & ~segment))


def _index(lane: np.ndarray, by: np.ndarray, limit: np.ndarray, segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    origin = (lane & segment) | (by & ~segment)
    return origin, origin <= ((lane & segment) | (limit & ~segment))


_SOURCES = {"up": _up, "down": _down, "bfly": _cross, "idx": _index}


def vote(instruction: Instruction, kernel: Kernel) -> Step:
    """``vote.sync.{all,any,uni}.pred d, a, membermask`` and ``vote.sync.ballot.b32``."""
    target, source, member = flatten(instruction.operands)
    value, members = reader(source, "pred", kernel), reader(member, "b32", kernel)
    ballot = instruction.has("ballot")
    write = writer(target, "b32" if ballot else "pred", kernel)
    decide = _VOTES.get(next((word for word in instruction.modifiers if word in _VOTES), ""))
    if decide is None or write is None:
        raise Unsupported(f"vote form {instruction.text}", line=instruction.line)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        present = _present(lanes)
        mask = _wide(members(registers), lanes)
        yes = per_lane(bits(present & _wide(value(registers), lanes))) & mask
        write(registers, lanes, decide(yes, mask & per_lane(bits(present))))

    return step


_VOTES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "ballot": lambda yes, members: yes,
    "all": lambda yes, members: yes == members,
    "any": lambda yes, members: yes != 0,
    "uni": lambda yes, members: (yes == members) | (yes == 0),
}


def match(instruction: Instruction, kernel: Kernel) -> Step:
    """``match.any.sync.b32/b64 d, a, membermask`` and ``match.all.sync d|p, ...``."""
    operands = list(flatten(instruction.operands))
    everyone = instruction.has("all")
    pair = len(operands) == 4
    write = writer(operands[0], "b32", kernel)
    write_agreed = writer(operands[1], "pred", kernel) if pair else None
    value, members = reader(operands[1 + pair], instruction.type, kernel), reader(operands[2 + pair], "b32", kernel)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        rows = _wide(value(registers), lanes).reshape(-1, WARP)
        equal = (rows[:, :, None] == rows[:, None, :]) & _present(lanes).reshape(-1, 1, WARP)
        named = _wide(members(registers), lanes) & per_lane(bits(_present(lanes)))
        found = np.packbits(equal, axis=2, bitorder="little").view("<u4").reshape(-1) & named
        agreed = found == named
        if write is not None:
            write(registers, lanes, np.where(agreed, named, np.uint32(0)) if everyone else found)
        if write_agreed is not None:
            write_agreed(registers, lanes, agreed)

    return step


def reduce(instruction: Instruction, kernel: Kernel) -> Step:
    """``redux.sync.op.type d, a, membermask``: a 32-bit reduction over the named lanes, given to each."""
    target, source, member = flatten(instruction.operands)
    value, members = reader(source, instruction.type, kernel), reader(member, "b32", kernel)
    write = writer(target, instruction.type, kernel)
    ufunc = _REDUCTIONS.get(next((word for word in instruction.modifiers if word in _REDUCTIONS), ""))
    if ufunc is None or write is None or DTYPES[instruction.type].kind == "f":
        raise Unsupported(f"reduction form {instruction.text}", line=instruction.line)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        wide = _wide(value(registers), lanes)
        present, mask = _present(lanes), _wide(members(registers), lanes)
        result = np.zeros(lanes.width, wide.dtype)
        for named in np.unique(mask[present]):
            takes_part = present & (mask == named)
            warp = np.flatnonzero(takes_part) // WARP
            starts = np.flatnonzero(np.concatenate(([True], warp[1:] != warp[:-1])))
            totals = ufunc.reduceat(wide[takes_part], starts, dtype=wide.dtype)
            result[takes_part] = np.repeat(totals, np.diff(np.append(starts, len(warp))))
        write(registers, lanes, result)

    return step


_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def active_mask(instruction: Instruction, kernel: Kernel) -> Step:
    """``activemask.b32 d``: the lanes that happen to run this together."""
    write = writer(instruction.operands[0], "b32", kernel)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        if write is not None:
            write(registers, lanes, per_lane(bits(_present(lanes))))

    return step


def elect(instruction: Instruction, kernel: Kernel) -> Step:
    """``elect.sync d|p, membermask``: the lowest named lane is the leader."""
    target, leads, member = flatten(instruction.operands)
    members = reader(member, "b32", kernel)
    write, write_leads = writer(target, "b32", kernel), writer(leads, "pred", kernel)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        named = _wide(members(registers), lanes).astype(np.int64)
        leader = np.log2(named & -named).astype(np.uint32)
        if write is not None:
            write(registers, lanes, leader)
        if write_leads is not None:
            write_leads(registers, lanes, leader == np.tile(_LANE, lanes.width // WARP))

    return step


def members_of(instruction: Instruction, kernel: Kernel) -> Reader:
    """The membermask operand of any ``.sync`` warp instruction: its last one."""
    return reader(list(flatten(instruction.operands))[-1], "b32", kernel)

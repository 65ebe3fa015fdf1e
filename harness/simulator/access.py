"""Accesses to memory: from an address operand to bytes, checked as a sanitizer would.

An address array is never changed in place, so what was worked out from it (bounds, alignment, indices) holds as long
as the very same array comes again: a loop over a tile pays for the gather alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator.active import Lanes
from harness.simulator.garbage import Origin
from harness.simulator.memory import Piece
from harness.simulator.operands import Reader, Registers, flatten
from harness.simulator.ptx import DTYPES, Address, Instruction, Register

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch


@dataclass
class Located:
    """What an address array came to: ``units`` pairs each piece with the index of each access in it, in units of the
    access's width. ``initialised`` is set once all of them were seen to be written: bytes are never unwritten."""

    base: np.ndarray
    lanes: np.ndarray | None
    units: list[tuple[Piece, np.ndarray]]
    initialised: bool = False


SPACES = ("global", "shared", "local", "const", "param")
_ONES = {4: 0xFFFF_FFFF, 8: 0xFFFF_FFFF_FFFF_FFFF}
_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}


class Act(Enum):
    """What an access does to its place. Strong ones (volatile, or ordered by C++ atomics) are meant to meet others."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "update"
    BLOCK_ATOMIC = "update within the block"
    STRONG_READ = "strong read"
    STRONG_WRITE = "strong write"


RELEASING, ACQUIRING = ("release", "acq_rel"), ("acquire", "acq_rel")
STRONG = ("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")


class Access:
    """The static part of a memory operation: its space (the instruction's own, unless it names two), width in bytes,
    and address operand."""

    def __init__(
        self, instruction: Instruction, address: Address, width: int, verb: str, kernel: Kernel,
        space: str | None = None,
    ) -> None:  # fmt: skip
        if width not in _SHIFTS:
            raise Unsupported(f"{instruction.text}: accesses of {width} bytes", line=instruction.line)
        self.instruction = instruction
        self.width = width
        self.verb = verb
        words = (word.split("::")[0] for word in instruction.modifiers)
        self.space = space or next((word for word in words if word in SPACES), "generic")
        # A compare-and-swap loop starts from an ordinary read: the swap finds out if it was stale.
        starts_swap = verb == "read" and address in kernel.swapped
        strong = verb != "update" and (instruction.has(*STRONG) or starts_swap)
        self.act = Act(f"strong {verb}" if strong else verb)
        if verb == "update" and instruction.has("cta") and self.space != "shared":
            self.act = Act.BLOCK_ATOMIC
        #: Whether it can't be served from a cache that other multiprocessors don't update.
        self.fresh = self.act is not Act.READ or instruction.has("cg", "cv")
        results = instruction.operands[:1] if verb == "read" or instruction.opcode == "atom" else ()
        names = [one.name for one in flatten(results) if isinstance(one, Register) and one.name in kernel.used]
        reads_others = self.act in (Act.STRONG_READ, Act.ATOMIC) and bool(names)
        #: Whether its value tells what others did: a flag, a ticket, a lock.
        self.looks = reads_others and any(kernel.uses.tested(name) for name in names)
        #: Whether its value is a number that others may still change, taken as it is.
        self.takes = reads_others and not self.looks and DTYPES[instruction.type].kind == "f"
        self.offset = address.offset
        if isinstance(address.base, Register):
            self.register: str | None = address.base.name
            number = kernel.number(address.base.name)
            # The register itself, never a view of it: the same array again means the same addresses again.
            self.base: Reader = lambda registers: registers[number]
        else:
            self.register = None
            base = kernel.address(address.base) if address.base else 0
            if address.base in kernel.layout.local:
                self.space = "local"
            constant = np.array([base], np.uint64)
            self.base = lambda registers: constant

    def located(self, registers: Registers, lanes: Lanes, batch: Batch) -> Located:
        """Where the active lanes' accesses go. Raises KernelFault for one that goes nowhere."""
        base = self.base(registers)
        known = batch.known.get(self)
        if known is not None and known.base is base and known.lanes is lanes.index and lanes.own is None:
            return known
        shift = _SHIFTS[self.width]
        pieces = self._locate(lanes.active(base), lanes, batch)
        units = [(piece, piece.offset >> shift if shift else piece.offset) for piece in pieces]
        found = Located(base, lanes.index, units)
        if lanes.own is None:
            batch.known[self] = found
        return found

    def _locate(self, base: np.ndarray, lanes: Lanes, batch: Batch) -> list[Piece]:
        address = base.view(f"u{base.dtype.itemsize}")
        if self.offset:
            address = address + address.dtype.type(self.offset & _ONES[address.dtype.itemsize])
        pieces = batch.spaces.locate(self, address, lanes)
        for piece in pieces:
            if self.width > 1 and int(np.bitwise_or.reduce(piece.offset)) & (self.width - 1):
                position = int(np.flatnonzero(piece.offset & (self.width - 1))[0])
                if piece.selection is not None:
                    position = int(piece.selection[position])
                self._fail_alignment(int(address[position if address.size > 1 else 0]), position, lanes, batch)
        return pieces

    def _fail_alignment(self, address: int, position: int, lanes: Lanes, batch: Batch) -> None:
        what = {8: "float2 or double", 16: "float4"}.get(self.width, f"{self.width}-byte value")
        place = batch.spaces.place(self, address)
        batch.witness.blame(
            self.instruction, "misaligned",
            f"{self.verb}s {self.width} bytes at {place}, which is not a multiple of {self.width} bytes",
            lanes, position, f"a {what} needs an address divisible by {self.width}: use scalars for the unaligned part",
        )  # fmt: skip


def gather(access: Access, located: Located) -> np.ndarray:
    """Load each active lane's unit: shape ``(lanes,)`` unsigned, or ``(lanes, 2)`` uint64 for 16 bytes."""
    units = located.units
    if len(units) == 1 and units[0][0].selection is None:
        piece, index = units[0]
        return piece.backing.view(access.width).take(index, axis=0)
    total = sum(len(index) for _, index in units)
    result = np.empty((total, 2) if access.width == 16 else total, f"u{min(access.width, 8)}")
    for piece, index in units:
        result[piece.selection] = piece.backing.view(access.width)[index]
    return result


def unwritten(access: Access, located: Located, lanes: Lanes, batch: Batch) -> tuple[np.ndarray, Origin] | None:
    """Which active lanes read a byte that nothing has written, and where the first one is; None where none does."""
    if located.initialised:
        return None
    found = np.zeros(lanes.count, np.bool_)
    origin = None
    for piece, index in located.units:
        bad = piece.backing.unwritten(index, access.width)
        if bad is None:
            continue
        first = int(np.flatnonzero(bad)[0])
        found[slice(None) if piece.selection is None else piece.selection] = bad
        origin = _origin(access, piece, index, first, batch)
    located.initialised = origin is None
    return None if origin is None else (found, origin)


def _origin(access: Access, piece: Piece, index: np.ndarray, first: int, batch: Batch) -> Origin:
    """Where garbage came from: the read that found it, or the one that had brought it here."""
    moved = piece.backing.moved_from
    if isinstance(moved, Origin) and piece.backing.holds_moved(int(index[first]), access.width):
        return moved
    place = batch.spaces.place_in(piece, int(piece.offset[first]), access)
    return Origin(access.instruction, f"{access.verb}s {place}, which nothing has written")


def refuse_unwritten(access: Access, located: Located, lanes: Lanes, batch: Batch) -> None:
    """Raise KernelFault if an active lane's unit has a byte that nothing has written."""
    found = unwritten(access, located, lanes, batch)
    if found is not None:
        batch.garbage.fail(found[1], None, lanes, found[0])


def scatter(
    access: Access, units: list[tuple[Piece, np.ndarray]], data: np.ndarray, lanes: Lanes, batch: Batch
) -> None:
    """Write ``data`` (one unit per active lane, or one for all) to the located units."""
    for piece, index in units:
        if piece.allocation is not None and piece.allocation.kind == "const":
            deed = f"writes {piece.allocation.name}, which is __constant__"
            batch.witness.blame(access.instruction, "read_only", deed, lanes, 0)
        part = data if piece.selection is None or len(data) == 1 else data[piece.selection]
        if len(index) == 1 and len(part) > 1:
            part = part[-1:]
        cells = piece.backing.view(access.width)
        if not batch.doubtful or (cells[index] != part).any():
            batch.launch.changes += 1
        cells[index] = part
        piece.backing.mark_written(index, access.width)
        if batch.garbage.storing is not None:
            _keep_garbage(access, piece, index, lanes, batch)


def _keep_garbage(access: Access, piece: Piece, index: np.ndarray, lanes: Lanes, batch: Batch) -> None:
    """A store of values that nobody wrote: to an output it is a mistake, elsewhere the place is garbage as before."""
    assert batch.garbage.storing is not None  # the caller looked
    elements, origin = batch.garbage.storing
    unit = access.width // len(elements)
    for number, shadow in enumerate(elements):
        bits = (shadow if piece.selection is None else shadow[piece.selection]).astype(f"u{unit}")
        chosen = bits != 0
        if not chosen.any():
            continue
        if piece.allocation is not None and piece.allocation.kind != "scratch":
            batch.garbage.fail(origin, access.instruction, lanes, shadow)
        units = np.broadcast_to(index, len(bits))[chosen] * len(elements) + number
        bad = np.ascontiguousarray(bits[chosen]).view(np.uint8).reshape(-1, unit) != 0
        piece.backing.mark_garbage(units, bad, origin)
        batch.known.clear()

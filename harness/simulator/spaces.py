"""A batch's memory spaces: from addresses to bytes, and from bytes back to words a person knows.

Shared memory of all blocks of a batch is one backing, block after block; local memory one, lane after lane.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from harness.simulator import generic
from harness.simulator.access import Access
from harness.simulator.active import Lanes
from harness.simulator.memory import SHARED_WINDOW, Backing, Piece, plural

if TYPE_CHECKING:
    from harness.simulator.simt import Batch


_REMEDIES = {
    "out_of_bounds":
        "check the index against the size before the access; if it is checked already, the index itself is wrong",
    "use_after_free": "free it after the last kernel that uses it",
    "null_pointer": "allocate it first, and pass the pointer that cudaMalloc gave",
}


class Spaces:
    """Where the accesses of one batch go."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def forget(self) -> None:
        """Give the bytes back."""
        self.__dict__.pop("shared", None)
        self.__dict__.pop("local", None)

    @property
    def has_shared(self) -> bool:
        """Whether anybody has touched shared memory."""
        return "shared" in self.__dict__

    @cached_property
    def shared(self) -> Backing:
        """Shared memory of all blocks, one after the other; never written at first."""
        return Backing(self.batch.block_count * self._shared_stride)

    @cached_property
    def _shared_stride(self) -> int:
        return -(-max(self.batch.shared_bytes, 1) // 16) * 16

    @cached_property
    def shared_start(self) -> int:
        """A number for the batch's first shared byte that no other byte of the launch, shared or global, has."""
        return SHARED_WINDOW + int(self.batch.numbers[0]) * self._shared_stride

    @cached_property
    def _shared_base(self) -> np.ndarray:
        return self.batch.block_of * self._shared_stride

    def shared_of(self, block: int) -> np.ndarray:
        """The shared bytes of one block of the batch."""
        start = block * self._shared_stride
        return self.shared.data[start : start + self.batch.shared_bytes]

    @cached_property
    def local(self) -> Backing:
        """Local memory of all lanes, one after the other."""
        return Backing(self.batch.width * max(self.batch.frame, 16))

    def locate(self, access: Access, address: np.ndarray, lanes: Lanes) -> list[Piece]:
        """Find the bytes of an access for the active lanes. ``address`` is in the access's space, per lane or uniform.
        Raises KernelFault for the first lane that is out of bounds."""
        if access.space == "generic":
            parts = generic.split(address)
            if len(parts) == 1 and parts[0][2] is None:
                return self._locate_in(parts[0][0], access, parts[0][1], lanes, None)
            return [piece for space, part, selection in parts
                    for piece in self._locate_in(space, access, part, lanes, selection)]  # fmt: skip
        return self._locate_in(access.space, access, address, lanes, None)

    def _locate_in(
        self, space: str, access: Access, address: np.ndarray, lanes: Lanes, selection: np.ndarray | None
    ) -> list[Piece]:
        if space in ("global", "const"):
            return self._locate_global(access, address, lanes, selection)
        # Signed, so that an index below an array's start reads as what it is.
        address = address.view(np.int32).astype(np.int64) if address.dtype.itemsize == 4 else address.view(np.int64)
        ids = lanes.ids if selection is None else lanes.ids[selection]
        if space == "param":
            self._check(access, address, self.batch.launch.arguments.nbytes, lanes, selection, space)
            return [Piece(self.batch.launch.arguments, address, selection)]
        if space == "shared":
            self._check(access, address, self.batch.shared_bytes, lanes, selection, space)
            whole = lanes.index is None and lanes.own is None and selection is None
            base = self._shared_base if whole else self._shared_base[ids]
            offset = address if self.batch.block_count == 1 else base + address
            return [Piece(self.shared, offset, selection, None, address)]
        self._check(access, address, self.batch.frame, lanes, selection, space)
        return [Piece(self.local, ids * self.batch.frame + address, selection, None, address)]

    def _locate_global(
        self, access: Access, address: np.ndarray, lanes: Lanes, selection: np.ndarray | None
    ) -> list[Piece]:
        address = address.view(np.uint64) if address.dtype.itemsize == 8 else address.astype(np.uint64)
        pieces, bad = self.batch.memory.locate(address, access.width)
        if bad is not None:
            kind, place = self.batch.memory.explain(int(address[bad]), access.width)
            position = bad if selection is None else int(selection[bad])
            deed = f"{access.verb}s {plural(access.width, 'byte')} at {place}"
            self.batch.witness.blame(access.instruction, kind, deed, lanes, position, _REMEDIES.get(kind))
        if selection is None:
            return pieces
        return [Piece(p.backing, p.offset, selection if p.selection is None else selection[p.selection], p.allocation)
                for p in pieces]  # fmt: skip

    def _check(
        self, access: Access, address: np.ndarray, size: int, lanes: Lanes, selection: np.ndarray | None, space: str
    ) -> None:
        start, end = 0, size
        if space == "shared" and access.register is not None:
            start, end = self.batch.kernel.shared_bounds(access.register, size) or (0, size)
        if int(address.min()) >= start and int(address.max()) <= end - access.width:
            return
        bad = int(np.flatnonzero((address < start) | (address > end - access.width))[0])
        place = self._place_in_space(space, int(address[bad]), (start, end), access.width)
        position = bad if selection is None else int(selection[bad])
        deed = f"{access.verb}s {plural(access.width, 'byte')} at {place}"
        remedy = _REMEDIES["out_of_bounds"]
        if space == "shared" and address[bad] >= start and self.batch.kernel.sized_by_launch(start):
            remedy = self._give_bytes(end - start)
        self.batch.witness.blame(access.instruction, "out_of_bounds", deed, lanes, position, remedy)

    def _give_bytes(self, given: int) -> str:
        """What to do about an access past the array that the launch sizes, and gave so many bytes."""
        launch = self.batch.launch
        whose = "the launch" if launch.line is None else f"the launch on line {launch.line}"
        written = f"{launch.name}<<<blocks, threads, bytes>>>(...)"
        if given:
            return f"check the index against the size, or give {whose} more shared bytes: {written}"
        return f"give {whose} its shared bytes: {written}"

    def _place_in_space(self, space: str, address: int, bounds: tuple[int, int], width: int) -> str:
        """A place in shared, local or parameter space, and how far outside ``bounds`` (start and end) it lies."""
        start, end = bounds
        whose = {"shared": "shared memory", "local": "the thread's local memory"}.get(space, f"{space} memory")
        named = self.batch.kernel.shared_name(max(start, min(address, end - 1))) if space == "shared" else None
        unit = min(width, 4)
        if named is not None:
            name, base = named[0], max(start, min(address, end - 1)) - named[1]
            place, size = f"{name}[{(address - base) // unit}] in {whose}", end - base
        else:
            name, place, size = "it", f"byte {address} of {whose}", end - start
        if address < start:
            return f"{place}, {plural(start - address, 'byte')} before the start of {name}"
        if address + width > end:
            return f"{place}, {plural(address + width - end, 'byte')} past the end of {name} ({plural(size, 'byte')})"
        return place

    def space_of(self, piece: Piece) -> str:
        """``global``, ``const``, ``shared``, ``local`` or ``param``."""
        if piece.allocation is not None:
            return "const" if piece.allocation.kind == "const" else "global"
        if self.has_shared and piece.backing is self.shared:
            return "shared"
        return "local" if piece.inner is not None else "param"

    def place(self, access: Access, address: int) -> str:
        """An address of an access, as the user knows it."""
        space, inside = access.space, address
        if space == "generic":
            space, part, _ = generic.split(np.array([address], np.uint64))[0]
            inside = int(part[0])
        if space in ("shared", "local", "param"):
            sizes = {"shared": self.batch.shared_bytes, "local": self.batch.frame}
            bounds = (0, sizes.get(space, self.batch.launch.arguments.nbytes))
            return self._place_in_space(space, inside, bounds, access.width)
        allocation = self.batch.memory.find(inside)
        return f"{allocation.name} + {inside - allocation.address} bytes" if allocation else f"address {inside:#x}"

    def place_in(self, piece: Piece, offset: int, access: Access) -> str:
        """A byte of a piece, as the user knows it: ``output[12]``, ``tile + 128 bytes``."""
        if piece.allocation is not None:
            unit = access.width if access.width <= 4 else 4
            if offset % unit:
                return f"byte {offset} of {piece.allocation.name}"
            return f"{piece.allocation.name}[{offset // unit}]"
        if piece.backing is self.local:
            return "a local variable"
        return self._place_in_space("shared", offset % self._shared_stride, (0, self.batch.shared_bytes), access.width)

    def shared_place(self, byte: int, width: int) -> str:
        """A byte of the batch's shared memory as the user knows it: ``tile[33]``, counting units of up to 4 bytes."""
        offset = byte % self._shared_stride
        name, inside = self.batch.kernel.shared_name(offset) or ("shared memory", offset)
        return f"{name}[{inside // min(width, 4)}]"

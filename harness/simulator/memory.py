"""Memory as bytes that remember being written: global allocations with red zones, and a batch's shared and local bytes.

Nothing here knows lanes or instructions. An access is resolved to pieces: a backing, byte offsets into it, and which
of the accesses they belong to. What can't be resolved is explained by :meth:`Memory.explain`.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.errors import KernelFault
from harness.results import Hazard, Severity

#: Generic addresses of shared, local and parameter memory start here, above every address a GPU hands out (49 bits).
#: Their upper halves are no round numbers: two int side by side, of which the second is 2^25, must not look like one.
SHARED_WINDOW = 0x0135_9A7B << 32
LOCAL_WINDOW = 0x0271_C63D << 32
PARAM_WINDOW = 0x04E8_15F9 << 32
WINDOW_BYTES = 1 << 32

_FIRST_ADDRESS = 0x10_0000_0000
_RED_ZONE = 1 << 20
_ALIGNMENT = 512
_WRITTEN, _MOVED = 0xFF, 0x01
_PAD = 16  # so that every backing can be viewed in 16-byte units


class Backing:
    """Bytes, and for each whether it was ever written. ``written`` is None once all of them were."""

    def __init__(self, nbytes: int, *, data: np.ndarray | None = None, written: bool = False) -> None:
        padded = -(-max(nbytes, 1) // _PAD) * _PAD
        self.nbytes = nbytes
        self._bytes = np.zeros(padded, np.uint8)
        if data is not None:
            self._bytes[:nbytes] = data
        self.written: np.ndarray | None = None if written else np.zeros(padded, np.uint8)
        if self.written is not None:
            self.written[nbytes:] = _WRITTEN
        self.moved_from: object = None
        self._views: dict[int, np.ndarray] = {}

    @property
    def data(self) -> np.ndarray:
        """The bytes themselves, writable, shape ``(nbytes,)``."""
        return self._bytes[: self.nbytes]

    def fill(self, tile: np.ndarray) -> None:
        """Write ``tile`` over and over, from the start to the end."""
        content = tile.reshape(-1).view(np.uint8)
        whole = self.nbytes // len(content) * len(content)
        self.data[:whole].reshape(-1, len(content))[:] = content
        self.data[whole:] = content[: self.nbytes - whole]
        self.written = None

    def view(self, width: int) -> np.ndarray:
        """The bytes as unsigned numbers of ``width`` bytes (1, 2, 4, 8), or rows of two 8-byte ones (16)."""
        view = self._views.get(width)
        if view is None:
            view = self._views[width] = _typed(self._bytes, width)
        return view

    def mark_written(self, index: np.ndarray, width: int) -> None:
        """Record that the units ``index`` of ``width`` bytes hold a value now."""
        if self.written is not None:
            _typed(self.written, width)[index] = _ALL[width]

    def mark_range(self, start: int, nbytes: int) -> None:
        """Record that the ``nbytes`` bytes from ``start`` on hold a value now."""
        if self.written is not None:
            self.written[start : start + nbytes] = _WRITTEN

    def mark_garbage(self, index: np.ndarray, bad: np.ndarray, origin: object) -> None:
        """Record that of the units ``index``, the bytes for which ``bad`` (units, width) holds got a value that nobody
        wrote, moved here from ``origin``."""
        if self.written is None:
            self.written = np.full(len(self._bytes), _WRITTEN, np.uint8)
        rows = self.written.reshape(-1, bad.shape[1])
        rows[index] = np.where(bad, np.uint8(_MOVED), rows[index])
        self.moved_from = origin

    def unwritten_bytes(self, index: np.ndarray, width: int) -> np.ndarray:
        """For each unit its bytes, 0xFF where nobody wrote them, else 0: shape ``(units, width)``, uint8."""
        if self.written is None:
            return np.zeros((len(index), width), np.uint8)
        return np.where(self.written.reshape(-1, width)[index] == _WRITTEN, np.uint8(0), np.uint8(0xFF))

    def holds_moved(self, index: int, width: int) -> bool:
        """Whether the unit got its garbage from elsewhere."""
        return self.written is not None and bool((self.written.reshape(-1, width)[index] == _MOVED).any())

    def unwritten(self, index: np.ndarray, width: int) -> np.ndarray | None:
        """For each unit whether one of its bytes was never written, shape of ``index``; None where all were."""
        if self.written is None:
            return None
        good = _typed(self.written, width)[index] == _ALL[width]
        if good.all():
            return None
        if (self.written == _WRITTEN).all():
            self.written = None
            return None
        return ~good.reshape(len(index), -1).all(axis=1)


class Unknown(Backing):
    """Bytes that others may write at any time, so that none of what is read from them is known, whatever was stored:
    each read is as one of bytes that nobody wrote."""

    def __init__(self, nbytes: int) -> None:
        super().__init__(nbytes, written=True)

    def mark_garbage(self, index: np.ndarray, bad: np.ndarray, origin: object) -> None:
        """They are no better known elsewhere."""

    def unwritten_bytes(self, index: np.ndarray, width: int) -> np.ndarray:
        """All of them."""
        return np.full((len(index), width), 0xFF, np.uint8)

    def unwritten(self, index: np.ndarray, width: int) -> np.ndarray:
        """All of them."""
        return np.ones(len(index), np.bool_)


_ALL = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF, 8: 0xFFFFFFFFFFFFFFFF, 16: 0xFFFFFFFFFFFFFFFF}


def _typed(data: np.ndarray, width: int) -> np.ndarray:
    return data.view(np.uint64).reshape(-1, 2) if width == 16 else data.view(f"u{width}")


@dataclass(eq=False)
class Allocation:
    """One piece of global memory. ``name`` is the user's word for it; ``kind`` is input, buffer, scratch, global or
    const: what it is there for."""

    name: str
    address: int
    nbytes: int
    kind: str
    backing: Backing
    freed: bool = False

    @property
    def data(self) -> np.ndarray:
        """Its bytes, writable, shape ``(nbytes,)``, uint8."""
        return self.backing.data

    @property
    def written(self) -> np.ndarray:
        """For each byte whether it was ever written, shape ``(nbytes,)``, bool."""
        if self.backing.written is None:
            return np.ones(self.nbytes, np.bool_)
        return self.backing.written[: self.nbytes] == _WRITTEN


@dataclass(frozen=True)
class Piece:
    """Part of an access: byte ``offset`` of each into ``backing``; ``selection`` picks them, None means all. ``inner``
    is the offset into the block's or lane's own part of a backing that several share."""

    backing: Backing
    offset: np.ndarray
    selection: np.ndarray | None = None
    allocation: Allocation | None = None
    inner: np.ndarray | None = None


class Memory:
    """A device's global memory. Addresses are never used twice, so a stale pointer is always seen."""

    def __init__(self) -> None:
        self._next = _FIRST_ADDRESS
        self._starts: list[int] = []
        self._allocations: list[Allocation] = []

    def allocate(
        self, name: str, nbytes: int, *, data: np.ndarray | bytes | None = None, kind: str = "buffer",
        address: int | None = None, written: bool = False, known: bool = True,
    ) -> Allocation:  # fmt: skip
        """Make room for ``nbytes``, unwritten unless ``data`` (that many bytes) is given, or ``written`` says that its
        zeros count as values; not ``known`` makes it :class:`Unknown`. Where ``address`` is None the memory chooses
        one, 512-byte aligned, with a red zone of 1 MiB at least around it."""
        if address is None:
            address = self._next
            self._next += -(-(nbytes + _RED_ZONE) // _ALIGNMENT) * _ALIGNMENT
        content = None if data is None else np.frombuffer(data, np.uint8)
        backing = Backing(nbytes, data=content, written=written or content is not None) if known else Unknown(nbytes)
        allocation = Allocation(name, address, nbytes, kind, backing)
        place = bisect.bisect_left(self._starts, address)
        self._starts.insert(place, address)
        self._allocations.insert(place, allocation)
        return allocation

    def free(self, address: int, line: int | None = None) -> None:
        """Give an allocation back; its bytes stay known, so that a later use can be named. Raises KernelFault
        for an address that is no allocation, or one freed before."""
        if address == 0:
            return
        allocation = self.find(address)
        if allocation is None or allocation.address != address or allocation.kind != "scratch":
            message = f"cudaFree of {address:#x}, which cudaMalloc never returned (cudaErrorInvalidValue)"
            raise KernelFault(Hazard("invalid_free", Severity.ERROR, message, line))
        if allocation.freed:
            message = f"cudaFree of {allocation.name}, which was freed before (cudaErrorInvalidValue)"
            raise KernelFault(Hazard("double_free", Severity.ERROR, message, line))
        allocation.freed = True

    def find(self, address: int) -> Allocation | None:
        """The allocation, freed or not, that holds this address."""
        place = bisect.bisect_right(self._starts, address) - 1
        if place < 0:
            return None
        allocation = self._allocations[place]
        return allocation if address < allocation.address + max(allocation.nbytes, 1) else None

    def keep_small(self, most: int) -> Callable[[], None]:
        """Remember what allocations of up to ``most`` bytes hold; the function returned puts it back."""
        kept = [(one, one.data.copy()) for one in self._allocations if one.nbytes <= most and not one.freed]

        def restore() -> None:
            for one, content in kept:
                one.data[:] = content

        return restore

    def live(self, kind: str) -> list[Allocation]:
        """Allocations of this kind not yet freed, by address."""
        return [one for one in self._allocations if one.kind == kind and not one.freed]

    def locate(self, address: np.ndarray, width: int) -> tuple[list[Piece], int | None]:
        """Resolve accesses of ``width`` bytes at uint64 ``address``: pieces, or the position of the first bad one."""
        first = self.find(int(address[0]))
        if first is not None and not first.freed and first.nbytes >= width:
            offset = address - np.uint64(first.address)
            if int(offset.max()) <= first.nbytes - width:
                return [Piece(first.backing, offset.view(np.int64), None, first)], None
        return self._locate_each(address, width)

    def _locate_each(self, address: np.ndarray, width: int) -> tuple[list[Piece], int | None]:
        if not self._starts:
            return [], 0
        place = np.searchsorted(np.array(self._starts, np.uint64), address, side="right") - 1
        pieces, good = [], np.zeros(len(address), np.bool_)
        for one in np.unique(place[place >= 0]):
            allocation = self._allocations[one]
            selection = np.flatnonzero(place == one)
            offset = (address[selection] - np.uint64(allocation.address)).view(np.int64)
            good[selection] = (offset <= allocation.nbytes - width) & (not allocation.freed)
            pieces.append(Piece(allocation.backing, offset, selection, allocation))
        return (pieces, None) if good.all() else ([], int(np.flatnonzero(~good)[0]))

    def explain(self, address: int, width: int) -> tuple[str, str]:
        """Why an access of ``width`` bytes at ``address`` is bad: the kind of hazard, and the place in words."""
        holder = self.find(address)
        if holder is not None and holder.freed:
            return "use_after_free", f"{holder.name} + {address - holder.address} bytes, after cudaFree({holder.name})"
        if address < _RED_ZONE:
            return "null_pointer", f"address {address:#x}: a null pointer"
        nearest = min(
            (one for one in self._allocations if one.kind != "code"),
            key=lambda one: min(abs(address - one.address), abs(address - one.address - one.nbytes)),
            default=None,
        )
        if nearest is None:
            return "out_of_bounds", f"address {address:#x}, where nothing is allocated"
        return "out_of_bounds", _beside(nearest, address, width)


def _beside(allocation: Allocation, address: int, width: int) -> str:
    """``output[1000], 0 bytes past its end (1000 elements of 4 bytes)``, or how far before its start."""
    offset = address - allocation.address
    unit = min(width, 4)
    name = f"byte {offset} of {allocation.name}" if offset % unit else f"{allocation.name}[{offset // unit}]"
    size = plural(allocation.nbytes, "byte")
    if unit > 1 and allocation.nbytes % unit == 0 and offset % unit == 0:
        size = f"{plural(allocation.nbytes // unit, 'element')} of {unit} bytes"
    if offset < 0:
        return f"{name}, {plural(-offset, 'byte')} before the start of {allocation.name} ({size})"
    past = offset + width - allocation.nbytes
    return f"{name}, {plural(past, 'byte')} past the end of {allocation.name} ({size})"


def plural(count: int, noun: str) -> str:
    """``1 byte``, ``2 bytes``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

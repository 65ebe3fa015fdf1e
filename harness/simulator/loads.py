"""Steps of plain loads and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator.access import Access, Located, gather, scatter, unwritten
from harness.simulator.active import Lanes
from harness.simulator.garbage import Origin
from harness.simulator.operands import Registers, flatten, reader, target
from harness.simulator.ptx import DTYPES, Address, Instruction

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Step


def load(instruction: Instruction, kernel: Kernel) -> Step:
    """``ld{.space}{.cop}{.vec}.type d, [a]``: cache operators change nothing that is computed."""
    *results, address = flatten(instruction.operands)
    if not isinstance(address, Address):
        raise Unsupported(f"load without an address: {instruction.text}", line=instruction.line)
    dtype = DTYPES[instruction.type]
    unit = np.dtype(f"u{dtype.itemsize}")
    access = Access(instruction, address, dtype.itemsize * len(results), "read", kernel)
    places = [target(operand, instruction.type, kernel) for operand in results]

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        located = access.located(registers, lanes, batch)
        missing = None if located.initialised else unwritten(access, located, lanes, batch)
        data = gather(access, located)
        batch.witness.watch(access, located, lanes)
        columns = [data] if len(places) == 1 else np.ascontiguousarray(data.view(unit).reshape(len(data), -1).T)
        for (number, widen), column in zip(places, columns, strict=True):
            if number >= 0:
                registers[number] = lanes.spread(widen(column.view(dtype)), number, registers[number])
        if missing is not None:
            _hand_on(missing, [number for number, _ in places], access, located, lanes, batch)
        elif batch.garbage.held:
            for number, _ in places:
                batch.garbage.put(number, lanes.ids, np.zeros(1, np.uint64), None)

    return step


def _hand_on(
    missing: tuple[np.ndarray, Origin], numbers: list[int], access: Access, located: Located, lanes: Lanes, batch: Batch
) -> None:
    """Let the loaded registers be followed as garbage: of a vector, only the elements that nobody wrote."""
    bad, origin = missing
    count = len(numbers)
    unit = access.width // count
    each = np.zeros((len(bad), access.width), np.uint8)
    for piece, index in located.units:
        part = piece.backing.unwritten_bytes(index, access.width)
        each[slice(None) if piece.selection is None else piece.selection] = part
    bits = each.view(f"u{unit}").astype(np.uint64)
    if DTYPES[access.instruction.type].kind == "i":
        bits = np.where(bits != 0, np.uint64(0xFFFF_FFFF_FFFF_FFFF), bits)  # the sign is spread over the register
    for column, number in enumerate(numbers):
        if number >= 0:
            batch.garbage.put(number, lanes.ids, bits[:, column], origin)


def store(instruction: Instruction, kernel: Kernel) -> Step:
    """``st{.space}{.cop}{.vec}.type [a], b``. Where lanes of one instruction meet, the highest lane's value stays."""
    address, *sources = flatten(instruction.operands)
    if not isinstance(address, Address):
        raise Unsupported(f"store without an address: {instruction.text}", line=instruction.line)
    dtype = DTYPES[instruction.type]
    unit = np.dtype(f"u{dtype.itemsize}")
    width = dtype.itemsize * len(sources)
    access = Access(instruction, address, width, "write", kernel)
    readers = [reader(source, instruction.type, kernel) for source in sources]

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        values = [lanes.active(read(registers)).view(unit) for read in readers]
        located = access.located(registers, lanes, batch)
        data = values[0] if len(values) == 1 else _packed(values, width)
        batch.witness.watch(access, located, lanes, data)
        scatter(access, located.units, data, lanes, batch)

    return step


_VERBS = {"ld": "read", "ldu": "read", "st": "write", "red": "update", "atom": "update"}


def touch(instruction: Instruction, kernel: Kernel) -> Step:
    """Any load, store or atomic as an access alone: it is located and watched, and moves nothing."""
    operands = list(flatten(instruction.operands))
    address = next(one for one in operands if isinstance(one, Address))
    verb = _VERBS[instruction.opcode]
    moved = 1 if verb == "update" else len(operands) - 1
    access = Access(instruction, address, DTYPES[instruction.type].itemsize * moved, verb, kernel)

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        batch.witness.watch(access, access.located(registers, lanes, batch), lanes)

    return step


def _packed(values: list[np.ndarray], width: int) -> np.ndarray:
    rows = np.stack(np.broadcast_arrays(*values), axis=1)
    return rows.view(np.uint64) if width == 16 else rows.view(f"u{width}").reshape(-1)

"""How a step reads its operands from the register file and writes its results back.

A register array keeps the dtype it was made with. Reading it as another type of the same width is a view; as a
narrower type, its low bits; a narrow result is extended to the register by its own sign, as PTX says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported
from harness.simulator.active import Lanes
from harness.simulator.ptx import DTYPES, Address, Immediate, Instruction, Operand, Register, Symbol, Vector
from harness.simulator.specials import CLOCKS

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel

Registers = list[np.ndarray]
Reader = Callable[[Registers], np.ndarray]
Writer = Callable[[Registers, Lanes, np.ndarray], None]


def flatten(operands: tuple[Operand, ...]) -> Iterator[Operand]:
    """Operands with vectors and pairs taken apart."""
    for operand in operands:
        if isinstance(operand, Vector):
            yield from flatten(operand.items)
        else:
            yield operand


def registers(operand: Operand) -> Iterator[str]:
    """Names of the registers an operand mentions."""
    for item in flatten((operand,)):
        if isinstance(item, Address) and isinstance(item.base, Register):
            yield item.base.name
        elif isinstance(item, Register) and item.name != "_" and item.name not in CLOCKS:
            yield item.name


def reader(operand: Operand, type_name: str, kernel: Kernel) -> Reader:
    """A function giving the operand's value as ``type_name``: shape ``(lanes,)``, or ``(1,)`` where uniform."""
    dtype = DTYPES[type_name]
    if isinstance(operand, Immediate):
        return _constant(operand.array(dtype))
    if isinstance(operand, Symbol):
        address = kernel.address(operand.name) + operand.offset
        return _constant(np.array([address & ((1 << 8 * dtype.itemsize) - 1)], f"u{dtype.itemsize}").view(dtype))
    if not isinstance(operand, Register):
        raise Unsupported(f"operand {operand} where a value is needed")
    if operand.name in CLOCKS:
        return lambda registers: np.array([next(kernel.clock)], dtype)
    number = kernel.number(operand.name)
    size = kernel.initial[number].dtype.itemsize
    if size > dtype.itemsize:
        return _narrow(number, size, dtype)
    if operand.negated:
        return lambda registers: ~registers[number]
    return _same_width(number, dtype)


def _constant(value: np.ndarray) -> Reader:
    return lambda registers: value


def _same_width(number: int, dtype: np.dtype) -> Reader:
    def read(registers: Registers) -> np.ndarray:
        value = registers[number]
        return value if value.dtype is dtype else value.view(dtype)

    return read


def _narrow(number: int, size: int, dtype: np.dtype) -> Reader:
    wide, narrow = np.dtype(f"u{size}"), np.dtype(f"u{dtype.itemsize}")
    return lambda registers: registers[number].view(wide).astype(narrow).view(dtype)


def target(operand: Operand, type_name: str, kernel: Kernel) -> tuple[int, Callable[[np.ndarray], np.ndarray]]:
    """Where a result of ``type_name`` goes: the register's number (-1 for ``_``), and how to widen it to that."""
    if not isinstance(operand, Register):
        raise Unsupported(f"operand {operand} where a result goes")
    if operand.name == "_":
        return -1, _as_is
    number = kernel.number(operand.name)
    size, dtype = kernel.initial[number].dtype.itemsize, DTYPES[type_name]
    if dtype.itemsize >= size or dtype.kind == "b":
        return number, _as_is
    wide = np.dtype(f"{'i' if dtype.kind == 'i' else 'u'}{size}")
    narrow = dtype if dtype.kind in "iu" else np.dtype(f"u{dtype.itemsize}")
    return number, lambda value: value.view(narrow).astype(wide)


def _as_is(value: np.ndarray) -> np.ndarray:
    return value


def writer(operand: Operand, type_name: str, kernel: Kernel) -> Writer | None:
    """A function storing a result of ``type_name`` for the active lanes; None for ``_``, which takes nothing."""
    number, widen = target(operand, type_name, kernel)
    if number < 0:
        return None

    def write(registers: Registers, lanes: Lanes, value: np.ndarray) -> None:
        value = widen(value)
        registers[number] = value if number not in lanes.keep else lanes.blend(value, registers[number])

    return write


def fits(instruction: Instruction, count: int) -> None:
    """Raise Unsupported unless the instruction has ``count`` operands, vectors taken apart."""
    found = sum(1 for _ in flatten(instruction.operands))
    if found != count:
        raise Unsupported(f"{instruction.text}: {found} operands where {count} are expected", line=instruction.line)

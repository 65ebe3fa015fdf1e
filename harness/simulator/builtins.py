"""Functions a kernel calls that the toolchain leaves to the driver: ``printf`` and ``assert``."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from harness.errors import Unsupported
from harness.simulator import inline
from harness.simulator.active import Lanes
from harness.simulator.memory import LOCAL_WINDOW, SHARED_WINDOW
from harness.simulator.operands import Registers
from harness.simulator.ptx import Instruction

if TYPE_CHECKING:
    from harness.simulator.kernel import Kernel
    from harness.simulator.simt import Batch
    from harness.simulator.steps import Step

_WIDEST = 1000
_FORMAT = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t)?([diouxXeEfFgGaAcspn%])")


def call(instruction: Instruction, kernel: Kernel) -> Step:
    """A call to a function without a body. Raises Unsupported for those not provided here."""
    results, name, arguments = inline.builtin_call(instruction)
    build = _BUILTINS.get(name)
    if build is None:
        raise Unsupported(f"{name}() on the device is not simulated", line=instruction.line)
    return build(instruction, kernel, results, arguments)


def _printf(instruction: Instruction, kernel: Kernel, results: tuple[str, ...], arguments: tuple[str, ...]) -> Step:
    """``vprintf(format, buffer)`` returns how many arguments it printed."""

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        for lane in lanes.ids[: batch.launch.lines_left()]:
            text = _string(batch, _word(batch, kernel, arguments[0], lane), lane)
            buffer = _word(batch, kernel, arguments[1], lane)
            batch.witness.printed(_formatted(text, buffer, batch, lane), lane)
        _store(batch, kernel, results[0], lanes, 0)

    return step


def _word(batch: Batch, kernel: Kernel, variable: str, lane: int) -> int:
    start = lane * batch.frame + kernel.layout.local[variable]
    return int.from_bytes(batch.spaces.local.data[start : start + 8].tobytes(), "little")


def _store(batch: Batch, kernel: Kernel, variable: str, lanes: Lanes, value: int) -> None:
    index = (lanes.ids * batch.frame + kernel.layout.local[variable]) >> 2
    batch.spaces.local.view(4)[index] = value
    batch.spaces.local.mark_written(index, 4)


def _string(batch: Batch, address: int, lane: int) -> str:
    """The characters at a generic address, as this lane sees it, up to the NUL."""
    if address >= LOCAL_WINDOW:
        data = batch.spaces.local.data[lane * batch.frame :][: batch.frame][address - LOCAL_WINDOW :]
    elif address >= SHARED_WINDOW:
        data = batch.spaces.shared_of(int(batch.block_of[lane]))[address - SHARED_WINDOW :]
    else:
        allocation = batch.memory.find(address)
        if allocation is None:
            return f"<string at {address:#x}, where nothing is>"
        data = allocation.data[address - allocation.address :]
    return data.tobytes().split(b"\0")[0].decode("utf-8", "replace")


def _formatted(text: str, buffer: int, batch: Batch, lane: int) -> str:
    """C's printf on the packed argument buffer: 4-byte values, 8-byte ones aligned to 8."""
    offset = 0

    def take(code: str) -> int | float:
        nonlocal offset
        size = struct.calcsize(code)
        offset = -(-offset // size) * size
        start = lane * batch.frame + buffer - LOCAL_WINDOW + offset
        offset += size
        return struct.unpack(f"<{code}", batch.spaces.local.data[start : start + size].tobytes())[0]

    def one(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width = _bounded(take("i") if width == "*" else width)
        precision = None if precision is None else _bounded(take("i") if precision == "*" else precision)
        spec = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        return _conversion(spec, kind, take(_code(kind, length)), batch, lane)

    return _FORMAT.sub(one, text)


def _bounded(number: float | str | None) -> str:
    """A width or precision as printf takes it, but no wider than a person would read."""
    return "" if number in (None, "") else str(max(-_WIDEST, min(_WIDEST, int(number or 0))))


def _code(kind: str, length: str | None) -> str:
    if kind in "eEfFgGaA":
        return "d"
    if kind in "spn" or length in ("ll", "l", "j", "z", "t"):
        return "q" if kind in "di" else "Q"
    return "i" if kind in "dic" else "I"


def _conversion(spec: str, kind: str, value: int | float, batch: Batch, lane: int) -> str:
    if kind == "s":
        return (spec + "s") % _string(batch, int(value), lane)
    if kind == "p":
        return (spec + "s") % f"{int(value):#x}"
    if kind == "c":
        return (spec + "s") % chr(int(value) & 0xFF)
    if kind in "aA":
        return (spec + "s") % float(value).hex()
    return (spec + {"i": "d", "u": "d"}.get(kind, kind)) % value


def _assert(instruction: Instruction, kernel: Kernel, results: tuple[str, ...], arguments: tuple[str, ...]) -> Step:
    """``__assertfail(message, file, line, function, character size)`` ends the kernel."""

    def step(registers: Registers, lanes: Lanes, batch: Batch) -> None:
        lane = int(lanes.ids[0])
        condition = _string(batch, _word(batch, kernel, arguments[0], lane), lane)
        batch.witness.blame(instruction, "assert", f"finds `{condition}` false: the assertion failed", lanes, 0)

    return step


_BUILTINS = {"vprintf": _printf, "__assertfail": _assert}

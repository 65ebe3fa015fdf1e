"""PTX text to instructions: what NVRTC emits, parsed into frozen records and nothing interpreted.

The grammar is NVIDIA's "Parallel Thread Execution ISA" (sections 4 and 5): directives start with a dot, labels end
with a colon, an instruction is ``@guard opcode.modifiers operands;``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: PTX type suffix -> the dtype a register of it is held in. Packed halves and bf16 stay raw bits.
DTYPES: dict[str, np.dtype] = {
    name: np.dtype(kind)
    for name, kind in {
        "pred": "?",
        "b8": "u1",
        "u8": "u1",
        "s8": "i1",
        "b16": "u2",
        "u16": "u2",
        "s16": "i2",
        "f16": "f2",
        "bf16": "u2",
        "b32": "u4",
        "u32": "u4",
        "s32": "i4",
        "f32": "f4",
        "f16x2": "u4",
        "bf16x2": "u4",
        "b64": "u8",
        "u64": "u8",
        "s64": "i8",
        "f64": "f8",
    }.items()
}


@dataclass(frozen=True)
class Register:
    """``%r1``; ``negated`` for ``!%p1``. ``%tid.x`` and the other special registers are Registers too."""

    name: str
    negated: bool = False


@dataclass(frozen=True)
class Immediate:
    """A literal: an int as written (may be negative), or a float's bits (``0f3F800000`` has width 32, ``0d`` 64)."""

    value: int
    float_bits: int = 0

    def array(self, dtype: np.dtype) -> np.ndarray:
        """The literal as a one-element array of ``dtype``: integers wrap, a ``0f``/``0d`` literal keeps its bits."""
        if self.float_bits:
            raw = np.array([self.value], dtype=f"u{self.float_bits // 8}").view(f"f{self.float_bits // 8}")
            return raw.astype(dtype) if dtype.kind == "f" else raw.view(dtype)
        if dtype.kind == "b":
            return np.array([bool(self.value)])
        if dtype.kind == "f":
            return np.array([self.value], dtype=dtype)
        wrapped = self.value & ((1 << 8 * dtype.itemsize) - 1)
        return np.array([wrapped], dtype=f"u{dtype.itemsize}").view(dtype)


@dataclass(frozen=True)
class Symbol:
    """The address of a variable or function, plus an offset in bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """``[base + offset]``; the base is a register, a symbol or (absolute addresses) None."""

    base: Register | str | None
    offset: int


@dataclass(frozen=True)
class Vector:
    """``{%f1, %f2}``, and the pair ``%r1|%p1`` of instructions with two results."""

    items: tuple[Operand, ...]


Operand = Register | Immediate | Symbol | Address | Vector


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction. ``modifiers`` are the dotted words after the opcode, in order, types included. ``rolled``
    says of a branch that the loop it goes back to is not to be unrolled any more."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None = None
    line: int | None = None
    text: str = ""
    rolled: bool = False
    types: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(word for word in self.modifiers if word in DTYPES))

    @property
    def type(self) -> str:
        """The last type named, which is the operation's (``cvt`` has two: result, then source)."""
        return self.types[-1]

    def has(self, *words: str) -> bool:
        """Whether any of these modifiers is present."""
        return any(word in self.modifiers for word in words)


@dataclass(frozen=True)
class Variable:
    """A declared variable or parameter: ``.shared .align 4 .b8 tile[4224];``. ``space`` is PTX's word without the dot.

    ``initial`` holds its bytes, None where there are none; ``links`` are ``(byte offset, symbol, addend)`` for
    initialisers that are addresses. ``size`` is 0 for an ``extern`` array, whose size the launch gives.
    """

    name: str
    space: str
    align: int
    size: int
    initial: bytes | None = None
    links: tuple[tuple[int, str, int], ...] = ()


@dataclass(frozen=True)
class Function:
    """A kernel (``entry``) or device function: parameters, variables, register types, and its body in order.

    A body item is an :class:`Instruction` or a label (str). ``tables`` maps a ``.branchtargets`` label to its labels.
    """

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    registers: dict[str, str]
    body: tuple[Instruction | str, ...]
    tables: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Translation:
    """A whole PTX file: functions with a body, and module variables."""

    functions: dict[str, Function]
    variables: dict[str, Variable]

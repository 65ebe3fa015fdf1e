"""A loaded module, and its kernels decoded to steps: where every symbol lives and every register is found.

Addresses of module variables and functions are fixed, so a kernel is decoded once and run over many memories.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from harness.errors import Unsupported
from harness.simulator import flow, inline, parser, provenance, specials, steps
from harness.simulator.access import RELEASING, STRONG
from harness.simulator.branches import Branch, branch
from harness.simulator.listening import Uses
from harness.simulator.memory import Memory
from harness.simulator.operands import registers
from harness.simulator.ptx import DTYPES, Function, Immediate, Instruction, Translation
from harness.simulator.steps import Gate, Step

_FUNCTIONS_START = 0x4_0000_0000
_VARIABLES_START = 0x1_5E4D_9D3B_0000  # neither half is a number that people pass beside another
_VARIABLE_GAP = 1 << 16
_SPECIAL_DTYPES = {"%clock64": "u8", "%globaltimer": "u8", "%gridid": "u8"}


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter in the packed argument buffer: ``offset`` and ``size`` in bytes."""

    name: str
    offset: int
    size: int
    align: int


@dataclass
class Layout:
    """Offsets of a kernel's symbols inside the shared, local and parameter spaces, and the spaces' sizes in bytes."""

    shared: dict[str, tuple[int, int]] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    static_shared: int = 0
    frame: int = 0
    parameter_bytes: int = 0


@dataclass
class Block:
    """A basic block ready to run: ``steps`` compute, ``branch`` says who goes where."""

    number: int
    instructions: list[Instruction]
    end: Instruction | None
    successors: tuple[int, ...]
    steps: list[Step]
    branch: Branch
    gate: Gate | None
    first: Instruction | None
    compact: bool
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    live_in: frozenset[int]
    live_out: frozenset[int]

    @cached_property
    def acts(self) -> bool:
        """Whether it does something that other lanes may feel."""
        return any(item.opcode in ("st", "atom", "red", "call", "cp") for item in self.instructions)

    @property
    def line(self) -> int | None:
        """The user's line of its first instruction."""
        return self.first.line if self.first else None


class Module:
    """One compiled PTX file. ``variables`` maps module variables to their fixed addresses."""

    def __init__(self, translation: Translation) -> None:
        self.translation = translation
        self.functions = {name: _FUNCTIONS_START + 16 * n for n, name in enumerate(translation.functions)}
        self.variables: dict[str, int] = {}
        self.shared = {v.name: v for v in translation.variables.values() if v.space == "shared"}
        address = _VARIABLES_START
        for variable in translation.variables.values():
            if variable.space in ("global", "const"):
                self.variables[variable.name] = address
                address += -(-(variable.size + _VARIABLE_GAP) // 512) * 512
        self._kernels: dict[str, Kernel] = {}

    @classmethod
    def parse(cls, ptx: str, user_file: str | None = None) -> Module:
        """Load PTX text. ``user_file`` is the name the user's source was compiled under, for line numbers.
        Raises Unsupported for text the parser does not know."""
        return cls(parser.parse(ptx, user_file))

    @cached_property
    def entries(self) -> dict[str, Function]:
        """The kernels by mangled name."""
        return {name: function for name, function in self.translation.functions.items() if function.entry}

    def function_at(self, address: int) -> str | None:
        """The function with this address, if any."""
        return next((name for name, at in self.functions.items() if at == address), None)

    def kernel(self, name: str) -> Kernel:
        """A kernel decoded (once). Raises Unsupported naming the first instruction the simulator doesn't know."""
        if name not in self._kernels:
            self._kernels[name] = Kernel(self, name)
        return self._kernels[name]

    def load(self, memory: Memory) -> None:
        """Place the module's variables, initialised as the source says, in ``memory``."""
        for name, address in self.variables.items():
            variable = self.translation.variables[name]
            data = bytearray(variable.initial or bytes(variable.size))
            for offset, symbol, addend in variable.links:
                target = self.variables.get(symbol, self.functions.get(symbol))
                if target is None:
                    raise Unsupported(f"{name} is initialised with the address of {symbol}, which has none here")
                data[offset : offset + 8] = (target + addend).to_bytes(8, "little")
            memory.allocate(variable_name(name), variable.size, data=bytes(data), kind=variable.space, address=address)


@cache
def variable_name(symbol: str) -> str:
    """A variable as the user wrote it: the last identifier of a mangled name (Itanium C++ ABI: length, then name).

    ``_ZZ6kernelPfE4tile`` is ``tile``; what is not mangled stays."""
    if not symbol.startswith("_Z"):
        return symbol
    best = symbol
    for match in re.finditer(r"\d+", symbol):
        for start in range(match.start(), match.end()):
            length = int(symbol[start : match.end()])
            name = symbol[match.end() : match.end() + length]
            if len(name) == length and re.fullmatch(r"[A-Za-z_]\w*", name):
                best = name
    return best


def _hands_over_in_shared(body: list[Instruction], used: frozenset[str]) -> bool:
    """Whether threads may tell each other by fences and flags in shared memory that something is ready there: there is
    a fence, or an access that is one, and a volatile read or an atomic with a result that may go there."""
    fences = any(item.opcode in ("membar", "fence") or item.has(*RELEASING) for item in body)
    elsewhere = (item for item in body if not item.has("global"))
    return fences and any(
        item.has(*STRONG) if item.opcode == "ld"
        else item.opcode == "atom" and not used.isdisjoint(registers(item.operands[0]))
        for item in elsewhere
    )  # fmt: skip


def _orders_in_part(item: Instruction) -> bool:
    if item.opcode in ("bar", "barrier"):
        whole_warp = item.has("warp") and item.operands[-1] in (Immediate(-1), Immediate(0xFFFFFFFF))
        counted = len(item.operands) > (3 if item.has("red") else 1)
        return counted or (item.has("warp") and not whole_warp)
    return item.opcode in ("membar", "fence") or item.has(*RELEASING)


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align


def parameters_of(function: Function) -> tuple[Parameter, ...]:
    """A kernel's parameters in order, each at the next multiple of its alignment."""
    found: list[Parameter] = []
    end = 0
    for one in function.parameters:
        found.append(Parameter(one.name, _aligned(end, one.align), one.size, one.align))
        end = found[-1].offset + one.size
    return tuple(found)


class Kernel:
    """One kernel, decoded: register numbers, symbol addresses, blocks of steps."""

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self.function = module.translation.functions[name]
        self.flat = inline.inline(module.translation, name)
        self.layout: Layout = self._lay_out()
        self.numbers: dict[str, int] = {}
        self.initial: list[np.ndarray] = []
        self.specials: dict[str, int] = {}
        self.clock = itertools.count(1)
        for register, kind in self.flat.registers.items():
            self._add(register, DTYPES[kind])
        self._add("%cc", DTYPES["pred"])
        graph = flow.blocks(self.flat, steps.is_gate, steps.effects)
        self._bases = provenance.Bases(self.flat, frozenset(self.layout.shared))
        every = [item for item in self.flat.body if not isinstance(item, str)]
        #: The addresses, as written, that the kernel compares and swaps at.
        self.swapped = frozenset(item.operands[1] for item in every if item.opcode == "atom" and item.has("cas"))
        self.used = frozenset(name for item in every for name in steps.effects(item).reads)
        self.uses = Uses(every, lambda item: steps.effects(item).reads)
        self.hands_over_in_shared = _hands_over_in_shared(every, self.used)
        #: Whether something may order a part of a block's threads: other barriers than the whole block's, or fences.
        self.orders_in_part = any(_orders_in_part(item) for item in every)
        #: Whether some instruction names the lanes that it waits for.
        self.names_lanes = any(steps.is_gate(item) and not steps.meets_the_block(item) for item in every)
        self.reads_clock = any(clock in item.text for item in every for clock in specials.CLOCKS)
        #: Whether blocks may learn from each other while they run.
        self.hands_over = any(map(_hands_over, every))
        self._next: dict[tuple[int, int], bool] = {}
        self.blocks = [self._decode(block, graph) for block in graph]
        #: Registers that some way through the kernel reads before it writes them: C++ variables without a value.
        self.unset = self.blocks[0].live_in - frozenset(self.specials.values())

    def comes_next(self, start: int, block: int) -> bool:
        """Whether lanes at block ``start`` come to another ``block`` in any case, before they end or come back."""
        known = self._next.get((start, block))
        if known is None:
            known = self._next[start, block] = flow.comes_next(self.blocks, start, block)
        return known

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The kernel's parameters in order."""
        return parameters_of(self.function)

    def _add(self, register: str, dtype: np.dtype) -> int:
        self.numbers[register] = len(self.initial)
        self.initial.append(np.zeros(1, dtype))
        return len(self.initial) - 1

    def number(self, register: str) -> int:
        """The place of a register in the register file; special registers get theirs when first named. Raises
        Unsupported for one not known."""
        if register in self.numbers:
            return self.numbers[register]
        if not specials.known(register):
            raise specials.unknown(register)
        if register not in self.specials:
            self.specials[register] = self._add(register, np.dtype(_SPECIAL_DTYPES.get(register, "u4")))
        return self.specials[register]

    def _lay_out(self) -> Layout:
        layout = Layout()
        for parameter in self.parameters:
            layout.parameters[parameter.name] = parameter.offset
            layout.parameter_bytes = parameter.offset + parameter.size
        shared = {v.name: v for v in self.flat.variables.values() if v.space == "shared"} | {
            name: variable for name, variable in self.module.shared.items() if self._mentions(name)
        }
        for variable in sorted(shared.values(), key=lambda v: v.size == 0):  # the extern array comes last
            offset = _aligned(layout.static_shared, max(variable.align, 16 if variable.size == 0 else 1))
            layout.shared[variable.name] = (offset, variable.size)
            layout.static_shared = offset + variable.size
        for variable in self.flat.variables.values():
            if variable.space in ("local", "param"):
                layout.frame = _aligned(layout.frame, variable.align)
                layout.local[variable.name] = layout.frame
                layout.frame += variable.size
        layout.frame = _aligned(layout.frame, 16)
        return layout

    def _mentions(self, name: str) -> bool:
        pattern = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        return any(
            not isinstance(item, str) and name in item.text and pattern.search(item.text) for item in self.flat.body
        )

    @property
    def dynamic_start(self) -> int:
        """Where dynamic shared memory begins, which is how many bytes the static part takes."""
        extern = [offset for offset, size in self.layout.shared.values() if size == 0]
        return extern[0] if extern else self.layout.static_shared

    def shared_name(self, address: int) -> tuple[str, int] | None:
        """The shared variable at or before a shared address, as the user wrote it, and the offset into it."""
        before = [(offset, name) for name, (offset, _) in self.layout.shared.items() if offset <= address]
        if not before:
            return None
        offset, name = max(before)
        return variable_name(name), address - offset

    def shared_bounds(self, register: str, total: int) -> tuple[int, int] | None:
        """Start and end of the shared variable that an address register points into, of ``total`` shared bytes, as
        far as the code tells; the part that the launch sizes goes on to the end."""
        symbol = self._bases.of(register)
        if symbol is None:
            return None
        start, size = self.layout.shared[symbol]
        return start, start + size if size else total

    def sized_by_launch(self, start: int) -> bool:
        """Whether the shared array that starts here is the one whose size a launch gives."""
        return (start, 0) in self.layout.shared.values()

    def address(self, symbol: str) -> int:
        """The address of a symbol inside its own space, or in global memory. Raises Unsupported for an unknown one."""
        if symbol in self.layout.shared:
            return self.layout.shared[symbol][0]
        for table in (self.layout.local, self.layout.parameters, self.module.variables, self.module.functions):
            if symbol in table:
                return table[symbol]
        raise Unsupported(f"{symbol} is used in {variable_name(self.name)} but defined nowhere")

    def _decode(self, block: flow.Block, graph: list[flow.Block]) -> Block:
        made = [steps.step(instruction, self) for instruction in block.instructions]
        out = frozenset(self.number(r) for target in block.successors for r in graph[target].live_in)
        first = block.instructions[0] if block.instructions else block.end
        return Block(
            block.number,
            block.instructions,
            block.end,
            block.successors,
            made,
            branch(block, self),
            steps.gate(block.instructions[0], self) if block.gate else None,
            first,
            not any(steps.needs_whole_warps(instruction) for instruction in block.instructions),
            tuple(sorted(self.number(r) for r in block.reads)),
            tuple(sorted(self.number(r) for r in block.writes)),
            frozenset(self.number(r) for r in block.live_in),
            out,
        )


def _hands_over(item: Instruction) -> bool:
    """Whether an instruction may see what another block has just done: an atomic, or a load past the L1."""
    if item.opcode == "atom":
        return not item.has("shared", "shared::cta")
    return item.opcode == "ld" and item.has("volatile", "relaxed", "acquire")

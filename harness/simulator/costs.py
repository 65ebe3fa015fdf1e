"""What a PTX instruction costs the hardware: the slots it takes on each unit, and the dependent steps of its result.

PTX is not what runs: ``ptxas`` drops moves, folds addresses, and expands a division into a dozen instructions. One row
per opcode says what becomes of it, as CUDA's own tables do: "CUDA C++ Programming Guide", arithmetic instructions
(throughput), and the code that ``cuobjdump -sass`` shows for CUDA 13 on sm_80 and sm_90 (expansions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from harness.simulator.ptx import Instruction, Register

#: Kinds of steps a warp waits for. What an L1 can't answer is ``fetch``, or ``refetch`` where the block has loaded it
#: before, so that the L2 may hold it; ``replay`` is one more wavefront of an access.
KINDS = ("alu", "special", "shared", "l1", "fetch", "refetch", "atomic", "barrier", "branch", "replay")

#: Cycles of a step of each kind, where it matters only which of two paths is longer (an H200's, rounded).
NOMINAL = (4.5, 20.0, 30.0, 35.0, 800.0, 300.0, 800.0, 30.0, 10.0, 1.0)

Steps = tuple[float, ...]

#: Units that instructions take slots of. Each takes one ``issue`` slot; then the FMA pipe, the ALU (integers and logic,
#: compares, minima), special functions and conversions, FP64, and the queue of memory accesses and shuffles.
UNITS = ("issue", "fma", "alu", "special", "fp64", "memory")


@dataclass(frozen=True)
class Cost:
    """Slots by unit, and dependent steps on the arithmetic and on the special unit."""

    fma: float = 0.0
    alu: float = 0.0
    special: float = 0.0
    fp64: float = 0.0
    memory: float = 0.0
    control: float = 0.0
    steps: float = 1.0
    special_steps: float = 0.0

    @property
    def slots(self) -> Steps:
        """In the order of :data:`UNITS`."""
        issue = self.fma + self.alu + self.special + self.fp64 + self.memory + self.control
        return issue, self.fma, self.alu, self.special, self.fp64, self.memory


_FREE = Cost(steps=0.0)
_ALU, _FMA = Cost(alu=1), Cost(fma=1)
_WIDE = Cost(alu=2)
_CONTROL = Cost(control=1, steps=0)
_SFU = Cost(special=1, steps=0, special_steps=1)
_HALF = _FMA
_FP64 = Cost(fp64=1, steps=2)
_SHUFFLE = Cost(memory=1, steps=0)
_MEMORY = Cost(memory=1, steps=0)

#: By opcode, then by the class of its type (``int``, ``long``, ``f32``, ``f64``, ``half``); ``*`` is any other.
COSTS: dict[str, dict[str, Cost]] = {
    "mov": {"*": _FREE}, "cvta": {"*": _FREE}, "bra": {"*": _CONTROL}, "ret": {"*": _CONTROL}, "exit": {"*": _CONTROL},
    "add": {"f32": _FMA, "f64": _FP64, "half": _HALF, "*": _ALU, "long": _ALU},
    "sub": {"f32": _FMA, "f64": _FP64, "half": _HALF, "*": _ALU, "long": _ALU},
    "mul": {"f64": _FP64, "long": Cost(fma=3, steps=2), "*": _FMA},
    "mad": {"f64": _FP64, "long": Cost(fma=3, steps=2), "*": _FMA},
    "fma": {"f64": _FP64, "*": _FMA},
    "div": {"int": Cost(fma=8, alu=8, special=3, steps=14, special_steps=3),
            "long": Cost(fma=30, alu=40, special=4, steps=60, special_steps=4),
            "f64": Cost(fp64=9, alu=3, special=1, steps=20, special_steps=1),
            "*": Cost(fma=7, alu=3, special=1, steps=8, special_steps=1)},
    "rem": {"int": Cost(fma=9, alu=11, special=3, steps=18, special_steps=3),
            "long": Cost(fma=30, alu=45, special=4, steps=60, special_steps=4)},
    "sqrt": {"f64": Cost(fp64=9, alu=3, special=1, steps=20, special_steps=1),
             "*": Cost(fma=6, alu=3, special=1, steps=7, special_steps=1)},
    "rcp": {"f64": Cost(fp64=7, alu=3, special=1, steps=16, special_steps=1),
            "*": Cost(fma=4, alu=3, special=1, steps=6, special_steps=1)},
    "shl": {"long": _WIDE, "*": _ALU}, "shr": {"long": _WIDE, "*": _ALU},
    "and": {"long": _WIDE, "*": _ALU}, "or": {"long": _WIDE, "*": _ALU}, "xor": {"long": _WIDE, "*": _ALU},
    "setp": {"long": _WIDE, "f64": _FP64, "*": _ALU}, "min": {"f64": Cost(fp64=2, alu=2, steps=4), "*": _ALU},
    "max": {"f64": Cost(fp64=2, alu=2, steps=4), "*": _ALU},
    "cvt": {"int": _ALU, "long": _ALU, "*": _SFU}, "popc": {"*": _SFU}, "clz": {"*": _SFU}, "brev": {"*": _SFU},
    "ex2": {"*": Cost(fma=1, alu=1, special=1, steps=2, special_steps=1)},
    "lg2": {"*": Cost(fma=1, alu=1, special=1, steps=2, special_steps=1)},
    "rsqrt": {"*": Cost(fma=1, alu=1, special=1, steps=2, special_steps=1)},
    "sin": {"*": Cost(fma=1, special=1, steps=1, special_steps=1)},
    "cos": {"*": Cost(fma=1, special=1, steps=1, special_steps=1)},
    "tanh": {"*": _SFU},
    "shfl": {"*": _SHUFFLE}, "cp": {"*": _MEMORY}, "bar": {"*": _CONTROL}, "barrier": {"*": _CONTROL},
    "ld": {"*": _MEMORY}, "ldu": {"*": _MEMORY}, "st": {"*": _MEMORY}, "atom": {"*": _MEMORY}, "red": {"*": _MEMORY},
}  # fmt: skip

#: With ``.approx.ftz`` (``.full`` for a division) there is no code around the special unit.
_APPROXIMATE = {"div": Cost(fma=2, special=1, steps=2, special_steps=1)}

#: Loads of these are operands of the instruction that uses them.
_PARAMETERS = ("param", "const")

_LONG = frozenset({"u64", "s64", "b64"})
_CLASS = {**dict.fromkeys(_LONG, "long"), "f32": "f32", "f64": "f64", "f16": "half", "f16x2": "half", "bf16": "half",
          "bf16x2": "half"}  # fmt: skip
_FLOATS = frozenset({"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"})
_SPECIAL_REGISTER = Cost(alu=1, steps=4)


def cost(item: Instruction) -> Cost:
    """What ``item`` costs; one arithmetic instruction where no row says otherwise."""
    if item.opcode == "mov" and _reads_special(item):
        return _SPECIAL_REGISTER
    if item.opcode in ("ld", "ldu") and item.has(*_PARAMETERS):
        return _FREE
    if item.opcode == "cvt":
        return COSTS["cvt"]["*" if any(kind in _FLOATS for kind in item.types) else "int"]
    if item.has("approx", "full") and item.opcode in ("div", "rcp", "sqrt", "ex2", "lg2", "rsqrt"):
        if item.opcode == "div":
            return _APPROXIMATE["div"]
        return _SFU if item.has("ftz") else COSTS["ex2"]["*"]
    rows = COSTS.get(item.opcode, {})
    if not item.types:
        return rows.get("*", _ALU)
    kind = "int" if item.has("wide") else _CLASS.get(item.type, "int")
    return rows.get(kind, rows.get("*", _ALU))


def _reads_special(item: Instruction) -> bool:
    source = item.operands[-1]
    return isinstance(source, Register) and source.name.partition(".")[0] in _SPECIALS


_SPECIALS = frozenset({"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%smid", "%clock", "%clock64"})


class Seen(NamedTuple):
    """What was seen of a memory instruction: the part of its requests that wait for what its block never loaded before
    (``first``), the part that wait for what it did, but its L1 no longer holds (``again``), and the wavefronts of a
    request beyond the first."""

    first: float
    again: float
    replays: float


UNSEEN = Seen(0.0, 0.0, 0.0)


def chain_steps(item: Instruction, seen: Seen) -> Steps:
    """Steps until the result is there, by kind. ``seen`` is what its accesses to memory came to."""
    found = cost(item)
    waits = _WAITS[item.opcode](item, seen) if item.opcode in _WAITS else {}
    steps = {"alu": found.steps, "special": found.special_steps} | waits
    return tuple(steps.get(kind, 0.0) for kind in KINDS)


Waits = Callable[[Instruction, Seen], dict[str, float]]


def _load(item: Instruction, seen: Seen) -> dict[str, float]:
    if item.has(*_PARAMETERS):
        return {}
    fetched = {"l1": 1.0, "fetch": seen.first, "refetch": seen.again}
    here = {"shared": 1.0} if item.has("shared") and not item.has("global") else fetched
    return here | {"replay": seen.replays}


def _atomic(item: Instruction, seen: Seen) -> dict[str, float]:
    return {"shared" if item.has("shared") else "atomic": 1.0, "replay": seen.replays}


def _barrier(item: Instruction, seen: Seen) -> dict[str, float]:
    return {} if item.has("warp") else {"barrier": 1.0}


def _copy(item: Instruction, seen: Seen) -> dict[str, float]:
    return {} if item.has("commit_group", "wait_group", "wait_all") else _load(item, seen)


def _exchange(item: Instruction, seen: Seen) -> dict[str, float]:
    return {"shared": 1.0}


def _jump(item: Instruction, seen: Seen) -> dict[str, float]:
    return {"branch": 1.0}


_WAITS: dict[str, Waits] = {
    "ld": _load, "ldu": _load, "cp": _copy, "atom": _atomic, "bar": _barrier, "barrier": _barrier, "shfl": _exchange,
    "redux": _exchange, "match": _exchange, "bra": _jump,
}  # fmt: skip

#: Whether an opcode stays behind earlier stores of its memory, and whether later loads stay behind it.
_ORDERED = {"ld": (True, False), "ldu": (True, False), "st": (False, True), "red": (False, True), "atom": (True, True)}

#: Operations on the copies to shared memory that a thread has under way.
ISSUE, COMMIT, WAIT, WAIT_ALL = "issue", "commit", "wait", "wait all"
_COPYING = {"commit_group": COMMIT, "wait_group": WAIT, "wait_all": WAIT_ALL}


def copying(item: Instruction) -> str | None:
    """What a ``cp.async`` does, None for any other instruction."""
    if item.opcode != "cp":
        return None
    return next((does for word, does in _COPYING.items() if item.has(word)), ISSUE)


#: What no store changes while a kernel runs.
_CONSTANT = (*_PARAMETERS, "nc")


def memory_order(item: Instruction) -> tuple[str | None, str | None]:
    """The memory whose stores an instruction stays behind, and the one whose loads it is ahead of, as ``@global``."""
    space = "@shared" if item.has("shared", "shared::cta") else "@local" if item.has("local") else "@global"
    behind, ahead = (False, False) if item.has(*_CONSTANT) else _ORDERED.get(item.opcode, (False, False))
    return space if behind else None, space if ahead else None

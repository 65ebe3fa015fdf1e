"""A kernel's calls inlined: one flat body with unique labels, registers and variables.

Lanes need no call stack then, and a function called twice is two stretches of code, each with lines of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from harness.errors import Unsupported
from harness.simulator.ptx import (
    Address,
    Function,
    Instruction,
    Operand,
    Register,
    Symbol,
    Translation,
    Variable,
    Vector,
)


class Recursion(Unsupported):
    """A function that calls itself, on ``line``; ``function`` is its mangled name."""

    def __init__(self, function: str, line: int | None) -> None:
        what = f"{function} calls itself: recursion on the device is not simulated"
        super().__init__(what, line=line, remedy="write the recursion as a loop")
        self.function = function


@dataclass
class Flat:
    """One kernel with every call inlined: unique labels, registers and variables."""

    body: list[Instruction | str] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)


def inline(translation: Translation, kernel: str) -> Flat:
    """Flatten ``kernel``. Functions without a body (``vprintf``) stay calls; a call through a pointer becomes a test
    for each function it may mean. Raises Recursion."""
    flat = Flat()
    _Inliner(translation, flat).expand(translation.functions[kernel], "", {}, ())
    return flat


class _Inliner:
    def __init__(self, translation: Translation, flat: Flat) -> None:
        self.translation = translation
        self.flat = flat
        self.calls = 0

    def expand(self, function: Function, prefix: str, aliases: dict[str, str], stack: tuple[str, ...]) -> None:
        labels = {item for item in function.body if isinstance(item, str)}
        renamed = dict(aliases)
        for name, kind in function.registers.items():
            renamed[name] = prefix + name
            self.flat.registers[prefix + name] = kind
        for variable in function.variables:
            # One shared variable serves every call of its function; the others are one per call.
            own = variable.name if variable.space in ("shared", "global", "const") else prefix + variable.name
            renamed[variable.name] = own
            self.flat.variables[own] = replace(variable, name=own)
        renamed.update({label: prefix + label for label in labels | function.tables.keys()})
        for label, targets in function.tables.items():
            self.flat.tables[prefix + label] = tuple(renamed[target] for target in targets)
        end = f"{prefix}end of {function.name}"
        for item in function.body:
            if isinstance(item, str):
                self.flat.body.append(renamed[item])
            elif item.opcode == "call":
                self._call(rename(item, renamed), stack)
            elif item.opcode == "ret" and stack:
                self.flat.body.append(replace(rename(item, renamed), opcode="bra", operands=(Symbol(end),)))
            else:
                self.flat.body.append(rename(item, renamed))
        if stack:
            self.flat.body.append(end)

    def _call(self, call: Instruction, stack: tuple[str, ...]) -> None:
        results, target, arguments = _call_parts(call)
        if isinstance(target, Register):
            self._call_through(call, target, results, arguments, stack)
            return
        function = self.translation.functions.get(target.name)
        if function is None:
            self.flat.body.append(call)
            return
        if function.name in stack:
            raise Recursion(function.name, call.line)
        if len(results) != len(function.results) or len(arguments) != len(function.parameters):
            raise Unsupported(f"call with another number of arguments: {call.text}", line=call.line)
        formal = [variable.name for variable in function.results + function.parameters]
        self.calls += 1
        self.expand(
            function, f"{function.name}#{self.calls}/", dict(zip(formal, results + arguments, strict=True)),
            (*stack, function.name),
        )  # fmt: skip

    def _call_through(
        self,
        call: Instruction,
        pointer: Register,
        results: tuple[str, ...],
        arguments: tuple[str, ...],
        stack: tuple[str, ...],
    ) -> None:
        """Every function of that shape, each behind a comparison of its address; a pointer to none of them traps."""
        sizes = [self.flat.variables[name].size for name in results + arguments]
        self.calls += 1
        end, test = f"end of call {self.calls}", f"%call{self.calls}"
        self.flat.registers[test] = "pred"
        for function in self.translation.functions.values():
            fits = [variable.size for variable in function.results + function.parameters] == sizes
            if function.entry or not fits or function.name in stack:
                continue
            after = f"{end}, not {function.name}"
            compare = (Register(test), pointer, Symbol(function.name))
            self.flat.body += [
                Instruction("setp", ("ne", "u64"), compare, None, call.line, call.text),
                Instruction("bra", (), (Symbol(after),), Register(test), call.line, call.text),
            ]
            self._call(replace(call, operands=(*call.operands[:-3], Symbol(function.name), call.operands[-2])), stack)
            self.flat.body += [Instruction("bra", (), (Symbol(end),), None, call.line, call.text), after]
        self.flat.body += [Instruction("trap", (), (), None, call.line, call.text), end]


def _call_parts(call: Instruction) -> tuple[tuple[str, ...], Symbol | Register, tuple[str, ...]]:
    """Result variables, the function or the register that points to it, argument variables."""
    operands = list(call.operands)
    results = _variables(operands)
    target = operands.pop(0)
    arguments = _variables(operands)
    names = [item.name for item in results + arguments if isinstance(item, Symbol)]
    if not isinstance(target, Symbol | Register) or len(names) != len(results) + len(arguments):
        raise Unsupported(f"call form {call.text}", line=call.line)
    return tuple(names[: len(results)]), target, tuple(names[len(results) :])


def _variables(operands: list[Operand]) -> tuple[Operand, ...]:
    """Take the parenthesised list at the front, if there is one."""
    if operands and isinstance(operands[0], Vector):
        first = operands.pop(0)
        return first.items if isinstance(first, Vector) else ()
    return ()


def builtin_call(call: Instruction) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The parts of a call that stayed a call: result variables, function name, argument variables."""
    results, target, arguments = _call_parts(call)
    return results, target.name, arguments


def rename(instruction: Instruction, names: dict[str, str]) -> Instruction:
    """The instruction with registers, symbols and labels called as ``names`` says, others as they are."""

    def operand(item: Operand) -> Operand:
        if isinstance(item, Register | Symbol):
            return replace(item, name=names.get(item.name, item.name))
        if isinstance(item, Vector):
            return Vector(tuple(operand(one) for one in item.items))
        if isinstance(item, Address) and isinstance(item.base, Register):
            return replace(item, base=replace(item.base, name=names.get(item.base.name, item.base.name)))
        if isinstance(item, Address) and isinstance(item.base, str):
            return replace(item, base=names.get(item.base, item.base))
        return item

    guard = instruction.guard and replace(
        instruction.guard, name=names.get(instruction.guard.name, instruction.guard.name)
    )
    return replace(instruction, operands=tuple(operand(item) for item in instruction.operands), guard=guard)

"""PTX text to the records of :mod:`harness.simulator.ptx`.

One statement at a time: a directive, a label, a brace or an instruction up to its semicolon. Registers declared in an
inner ``{ }`` (inline assembly does that) get a name of their own, so that equal names stay apart.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from harness.errors import Unsupported
from harness.simulator.ptx import (
    DTYPES,
    Address,
    Function,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    Translation,
    Variable,
    Vector,
)

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_NAME = r"[\w$%.]+"
_LINKAGE = re.compile(r"\.(visible|weak|extern|common|managed)\b|\.attribute\([^)]*\)")
_VARIABLE = re.compile(
    rf"(?:\.align\s+(?P<align>\d+)\s*)?(?:\.ptr\s*(?:\.\w+\s*)*(?:\.align\s+\d+\s*)?)?\.(?P<type>v[24]\s+\.\w+|\w+)\s+"
    rf"(?:\.ptr\s*(?:\.(?:global|shared|const|local)\s*)?(?:\.align\s+\d+\s*)?)?"
    rf"(?P<name>{_NAME})(?P<dims>(?:\s*\[\s*\d*\s*\])*)\s*(?:=\s*(?P<init>.*))?$",
    re.S,
)
_FUNCTION = re.compile(
    rf"\.(?P<kind>entry|func)\s*(?P<results>\([^)]*\))?\s*(?P<name>{_NAME})\s*(?P<params>\([^)]*\))?"
)
_STATEMENT = re.compile(
    rf"\s*(?:(?P<loc>\.loc\b[^\n]*)|(?P<brace>[{{}}])|(?P<label>{_NAME})\s*:(?!:)|(?P<text>[^;]*?);)", re.S
)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?", re.S)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
_INSTRUCTION = re.compile(
    rf"(?:@(?P<neg>!?)(?P<guard>{_NAME})\s+)?(?P<opcode>[a-z]\w*)(?P<modifiers>[\w.:]*)\s*(?P<operands>.*)$", re.S
)
_RANGE = re.compile(r"(.+)<(\d+)>$")
_SPECIAL = re.compile(
    r"%(tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|smid|nsmid|gridid|clock|clock_hi|clock64|globaltimer\w*"
    r"|lanemask_\w+|total_smem_size|dynamic_smem_size|aggr_smem_size|cluster_\w+|clusterid|nclusterid"
    r"|is_explicit_cluster|envreg\d+|pm\d+)(\.[xyzw])?$"
)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,{\[(]+")
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)$")
_FLOAT = re.compile(r"0([fFdD])([0-9a-fA-F]+)$")
_DECIMAL = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?$")


def parse(ptx: str, user_file: str | None = None) -> Translation:
    """Parse a whole PTX file. ``user_file`` is the name the user's source was compiled under: instruction lines
    are lines of that file, inlined library code taking the line of the user's call. Raises Unsupported for
    what the grammar above does not cover."""
    text = _COMMENT.sub("", ptx.rstrip("\0"))
    lines = _Lines({int(n) for n, name in _FILE.findall(text) if user_file is None or name.endswith(user_file)})
    functions: dict[str, Function] = {}
    variables: dict[str, Variable] = {}
    for chunk, body in _top_level(text):
        chunk = _LINKAGE.sub("", chunk).strip()
        match = _FUNCTION.match(chunk)
        if match and body is not None:
            functions[match["name"]] = _FunctionParser(match, lines).parse(body)
        elif chunk.startswith((".global", ".const", ".shared", ".local")):
            variable = _variable(chunk)
            variables[variable.name] = variable
    return Translation(functions, variables)


def _top_level(text: str) -> Iterator[tuple[str, str | None]]:
    """Split a file into (directive, body or None). Initialisers' braces belong to the directive."""
    position = 0
    line_directive = re.compile(r"\s*\.(version|target|address_size|file|loc)\b[^\n]*")
    opener = re.compile(r"[^;{=]*")
    while position < len(text):
        if match := line_directive.match(text, position):
            position = match.end()
            continue
        stop = opener.match(text, position).end()  # type: ignore[union-attr]  # [^...]* always matches
        if stop >= len(text):
            return
        if text[stop] == "{":
            end = _closing(text, stop)
            if not text[position:stop].strip().startswith(".section"):
                yield text[position:stop], text[stop + 1 : end]
            position = end + 1
        else:
            end = text.index(";", stop)
            yield text[position:end], None
            position = end + 1


def _closing(text: str, start: int) -> int:
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    raise Unsupported("PTX text ends inside a { block")


def _variable(text: str, space: str | None = None) -> Variable:
    if space is None:
        space, text = re.match(r"\.(\w+)\s*(.*)", text, re.S).groups()  # type: ignore[union-attr]  # callers checked the dot
        text = _LINKAGE.sub("", text).strip()
    match = _VARIABLE.match(text.strip())
    if match is None:
        raise Unsupported(f"PTX variable: {text}")
    words = match["type"].split()
    element = DTYPES[words[-1].lstrip(".")].itemsize * (int(words[0][1:]) if len(words) == 2 else 1)
    count = 1
    for size in re.findall(r"\[\s*(\d*)\s*\]", match["dims"]):
        count *= int(size or 0)
    initial, links = _initialiser(match["init"], element, count * element) if match["init"] else (None, ())
    return Variable(match["name"], space, int(match["align"] or element), count * element, initial, links)


def _initialiser(text: str, element: int, size: int) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
    data = bytearray(size)
    links = []
    for index, item in enumerate(re.sub(r"[{}\s]", "", text).split(",")):
        offset = index * element
        if match := _FLOAT.match(item):
            data[offset : offset + element] = int(match[2], 16).to_bytes(element, "little")
        elif _NUMBER.match(item):
            value = _integer(item) & ((1 << 8 * element) - 1)
            data[offset : offset + element] = value.to_bytes(element, "little")
        elif match := re.match(rf"(?:generic\()?({_NAME})\)?([-+]\d+)?$", item):
            links.append((offset, match[1], int(match[2] or 0)))
        else:
            raise Unsupported(f"PTX initialiser {item}")
    return bytes(data), tuple(links)


def _integer(text: str) -> int:
    return int(text.rstrip("U"), 0) if not re.match(r"[-+]?0\d", text) else int(text.rstrip("U"), 8)


@dataclass
class _Lines:
    """Turns ``.loc`` into a line of the user's file: inlined code takes the place where it was inlined."""

    user_files: set[int]
    callers: dict[tuple[int, int, int], tuple[int, int, int]] = field(default_factory=dict)

    def resolve(self, text: str, current: int | None) -> int | None:
        match = _LOC.match(text)
        if match is None:
            raise Unsupported(f"PTX line directive {text}")
        numbers = [int(n) for n in match.groups() if n is not None]
        place = (numbers[0], numbers[1], numbers[2])
        if len(numbers) == 6:
            self.callers[place] = (numbers[3], numbers[4], numbers[5])
        seen = set()
        while place[0] not in self.user_files and place in self.callers and place not in seen:
            seen.add(place)
            place = self.callers[place]
        if place[0] not in self.user_files or place[1] == 0:
            return current
        return place[1]


class _FunctionParser:
    def __init__(self, head: re.Match[str], lines: _Lines) -> None:
        self.head = head
        self.lines = lines
        self.scopes: list[dict[str, str]] = [{}]
        self.scope_count = 0
        self.starts: list[int] = []
        self.registers: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.body: list[Instruction | str] = []
        self.tables: dict[str, tuple[str, ...]] = {}
        self.line: int | None = None
        self.rolled: set[str] = set()

    def parse(self, text: str) -> Function:
        position, label = 0, ""
        while match := _STATEMENT.match(text, position):
            position = match.end()
            if match["loc"]:
                self.line = self.lines.resolve(match["loc"], self.line)
            elif match["brace"] == "{":
                self.scope_count += 1
                self.scopes.append({"": f"@{self.scope_count}"})
                self.starts.append(len(self.body))
            elif match["brace"] == "}":
                self._leave_scope()
            elif match["label"]:
                label = match["label"]
                self.body.append(label)
            elif match["text"].strip():
                self._statement(match["text"].strip(), label)
        return Function(
            self.head["name"],
            self.head["kind"] == "entry",
            self._parameters(self.head["params"]),
            self._parameters(self.head["results"]),
            tuple(self.variables),
            self.registers,
            tuple(self.body),
            self.tables,
        )

    def _leave_scope(self) -> None:
        """Labels are local to their braces too: rename those of the scope that ends, and the branches to them."""
        suffix = self.scopes.pop().get("", "")
        start = self.starts.pop()
        labels = {item for item in self.body[start:] if isinstance(item, str) and "@" not in item}
        if not labels:
            return

        def renamed(item: Instruction | str) -> Instruction | str:
            if isinstance(item, str):
                return item + suffix if item in labels else item
            operands = tuple(
                replace(one, name=one.name + suffix) if isinstance(one, Symbol) and one.name in labels else one
                for one in item.operands
            )
            return replace(item, operands=operands)

        self.body[start:] = [renamed(item) for item in self.body[start:]]
        for label in labels & self.tables.keys():
            self.tables[label + suffix] = self.tables.pop(label)

    def _parameters(self, text: str | None) -> tuple[Variable, ...]:
        items = (text or "").strip().strip("()").split(",")
        return tuple(self._parameter(item.strip()) for item in items if item.strip())

    def _parameter(self, text: str) -> Variable:
        space, rest = re.match(r"\.(param|reg)\s*(.*)", text, re.S).groups()  # type: ignore[union-attr]
        return _variable(rest, space)

    def _statement(self, text: str, label: str) -> None:
        if text.startswith(".reg"):
            self._declare_registers(text)
        elif text.startswith((".shared", ".local", ".param", ".global", ".const")):
            variable = _variable(text)
            unique = variable.name + self.scopes[-1].get("", "")
            self.scopes[-1][variable.name] = unique
            self.variables.append(replace(variable, name=unique))
        elif text.startswith(".branchtargets"):
            self.tables[label] = tuple(name.strip() for name in text.removeprefix(".branchtargets").split(","))
        elif text.startswith(".pragma") and '"nounroll"' in text:
            self.rolled.add(label)
        elif text.startswith("."):
            return  # .callprototype and the like: no effect on what is computed
        else:
            self.body.append(self._instruction(text))

    def _declare_registers(self, text: str) -> None:
        kind, names = re.match(r"\.reg\s*\.(\w+)\s+(.*)", text, re.S).groups()  # type: ignore[union-attr]
        suffix = self.scopes[-1].get("", "")
        for name in names.split(","):
            name = name.strip()
            match = _RANGE.match(name)
            every = [f"{match[1]}{n}" for n in range(int(match[2]))] if match else [name]
            for one in every:
                self.scopes[-1][one] = one + suffix
                self.registers[one + suffix] = kind

    def _instruction(self, text: str) -> Instruction:
        match = _INSTRUCTION.match(text)
        if match is None:
            raise Unsupported(f"PTX instruction {text}", line=self.line)
        guard = None
        if match["guard"]:
            guard = Register(self._scoped(match["guard"]) or match["guard"], bool(match["neg"]))
        try:
            operands = tuple(self._operand(item) for item in self._split(match["operands"]))
        except Unsupported as error:
            raise Unsupported(f"{error.message} in {' '.join(text.split())}", line=self.line) from error
        modifiers = tuple(word for word in re.split(r"\.|(?=::)", match["modifiers"]) if word)
        rolled = any(isinstance(one, Symbol) and one.name in self.rolled for one in operands)
        return Instruction(match["opcode"], modifiers, operands, guard, self.line, " ".join(text.split()), rolled)

    @staticmethod
    def _split(text: str) -> Iterator[str]:
        for match in _OPERAND.finditer(text):
            if item := match[0].strip():
                yield item

    def _scoped(self, name: str) -> str | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def _operand(self, text: str) -> Operand:
        if text[0] in "{(":
            return Vector(tuple(self._operand(item.strip()) for item in text[1:-1].split(",") if item.strip()))
        if text[0] == "[":
            return self._address(text[1:-1].strip())
        if "|" in text:
            return Vector(tuple(self._operand(item.strip()) for item in text.split("|")))
        if match := _FLOAT.match(text):
            return Immediate(int(match[2], 16), 32 if match[1] in "fF" else 64)
        if _NUMBER.match(text):
            return Immediate(_integer(text))
        if _DECIMAL.match(text):
            return Immediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)
        return self._name(text)

    def _name(self, text: str) -> Operand:
        negated = text.startswith("!")
        name = text.lstrip("!").strip()
        if (scoped := self._scoped(name)) in self.registers:
            return Register(str(scoped), negated)
        if name == "WARP_SZ":
            return Immediate(32)
        if name == "_" or _SPECIAL.match(name):
            return Register(name, negated)
        if match := re.match(rf"({_NAME}?)\s*([-+]\s*-?\d+)?$", name):
            return Symbol(self._scoped(match[1]) or match[1], _offset(match[2]))
        raise Unsupported(f"PTX operand {text}", line=self.line)

    def _address(self, text: str) -> Address:
        if _NUMBER.match(text):
            return Address(None, _integer(text))
        match = re.match(rf"({_NAME})\s*([-+]\s*-?(?:0x)?[0-9a-fA-F]+)?$", text)
        if match is None:
            raise Unsupported(f"PTX address [{text}]", line=self.line)
        name = self._scoped(match[1]) or match[1]
        return Address(Register(name) if name in self.registers else name, _offset(match[2]))


def _offset(text: str | None) -> int:
    """``+ 4``, ``+-8`` or nothing, as a number."""
    if not text:
        return 0
    text = text.replace(" ", "")
    return int(text[1:], 0) * (1 if text[0] == "+" else -1)

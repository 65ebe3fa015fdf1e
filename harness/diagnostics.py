"""NVRTC's messages, told in terms of the file the user wrote.

NVRTC prints ``name(line): error: text``, the line's code and a caret under the place. The code is the rewritten one, so
the excerpt is replaced by the user's own line, the column is given, and our headers and their names are left out.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import PurePath

from harness.braces import Brace, unclosed
from harness.errors import CompileError
from harness.mangling import plain_name
from harness.rewrite import mask, to_bytes_text
from harness.source import ENTRY_FILE, Program

_HEAD = re.compile(
    r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?P<severity>catastrophic error|error|warning|note|remark)(?P<rest>.*)$"
)
_OURS = (ENTRY_FILE, "std.h", "kata.h", "__nv_nvrtc_builtin_header.h")
_DECLARED_BY_US = re.compile(rf" ?\(declared (?:at|implicitly)[^()]*(?:{'|'.join(map(re.escape, _OURS))})\)")
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
_TOO_MUCH_SHARED = re.compile(
    r"Entry function '(?P<kernel>\w+)' uses too much shared data \((?P<used>\w+) bytes, (?P<most>\w+) max\)"
)
_UNRESOLVED = re.compile(r"Unresolved extern function '(\w+)'")
_NOT_ENDED = 'expected a ";"'
#: What the compiler says of a file that ended too early, and of the code behind a brace that is never closed.
_ENDS_EARLY = re.compile(rf"At end of source: error|^{re.escape(ENTRY_FILE)}\(\d+\): error", re.MULTILINE)
_OPEN_COMMENT = "comment unclosed at end of file"
_COMES_OF_A_BRACE = re.compile(r"expected |linkage specification|a function-definition is not allowed|invalid storage ")
_SUMMARY = re.compile(r"^\d+ errors? detected in the compilation of|^Remark: The warnings can be suppressed")

_REMEDIES = (
    (re.compile(r"cannot open source file|could not open source file"),
     "only CUDA's and the common standard headers are here, and one file is graded: paste what you need into it"),
    (re.compile(r"cannot be configured"), "only a __global__ function can be launched with <<<grid, block>>>"),
    (re.compile(r"__global__ function call must be configured"), "launch it: kernel<<<grid, block>>>(arguments)"),
    (re.compile(r'namespace "std" has no member'),
     "only the parts of the standard library that make sense on a device are here: <algorithm>'s min, max, swap and "
     "clamp, <cmath>, <limits>"),
)  # fmt: skip


@dataclass(frozen=True)
class Diagnostic:
    """One message: ``column`` counts from 1, 0 where the compiler gave no place; ``body`` is what follows the head."""

    file: str
    line: int
    column: int
    severity: str
    text: str
    body: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"
        return "\n".join((f"{place}: {self.severity}: {self.text}", *self.body))


def read(log: str, program: Program) -> list[Diagnostic]:
    """The messages of an NVRTC log, in order, in the user's terms."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in log.splitlines():
        head = _HEAD.match(line)
        if head:
            found.append((head, []))
        elif found and line.strip() and not _SUMMARY.match(line):
            found[-1][1].append(line)
    return [_tell(head, body, program) for head, body in found]


def _tell(head: re.Match[str], body: list[str], program: Program) -> Diagnostic:
    number = re.match(r" #[\w-]+", head["rest"])
    text = _plain(head["rest"][number.end() if number else 0 :].removeprefix(":").strip())
    severity = head["severity"].removeprefix("catastrophic ")
    file = PurePath(head["file"]).name
    told = Diagnostic(file, int(head["line"]), 0, severity, text, tuple(_plain(line) for line in body))
    if file == ENTRY_FILE:  # the file ended too early: an open brace, or comment
        return replace(told, file=program.path.name, line=program.lines, body=())
    if file != program.path.name or told.line > program.lines:
        return told
    return _placed(told, body, program)


def _placed(told: Diagnostic, body: list[str], program: Program) -> Diagnostic:
    """``told`` with the column, and the user's own line in place of the one the compiler read."""
    carets = [index for index, line in enumerate(body) if line.strip() == "^"]
    if not carets or carets[0] == 0:
        return told
    at = carets[0]
    excerpt = body[at - 1].strip()
    compiled = program.rewritten.split("\n")[told.line - 1]
    start = compiled.find(excerpt)
    if start < 0:
        return told
    indent = len(body[at - 1]) - len(body[at - 1].lstrip())
    reached = len(to_bytes_text(compiled[:start])) + body[at].index("^") - indent  # the compiler counts bytes
    column = program.marked.column(told.line, reached)
    lines = program.text.split("\n")
    line = told.line
    before = to_bytes_text(lines[line - 1])[:column].encode("latin-1").decode(errors="ignore")
    if told.text == _NOT_ENDED:
        line, end = _end_of_code(program.text, line, len(before))
        before = lines[line - 1][:end]
    pointer = "".join("\t" if character == "\t" else " " * _width(character) for character in before)
    rest = (_plain(line) for line in body[at + 1 :])
    shown = (*(_plain(line) for line in body[: at - 1]), f"  {lines[line - 1]}", f"  {pointer}^", *rest)
    return replace(told, line=line, column=len(before) + 1, body=shown)


def _end_of_code(text: str, line: int, column: int) -> tuple[int, int]:
    """Where the code ahead of a place ends: its line, and the column (from 0) behind it. What lacks its ``;`` is found
    out at the next word, which may be lines further down."""
    quiet = mask(text).split("\n")
    if quiet[line - 1][:column].strip():
        return line, column
    for number in range(line - 1, 0, -1):
        code = quiet[number - 1].rstrip()
        if code and not code.lstrip().startswith("#"):
            return number, len(code)
    return line, column


def _width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _plain(text: str) -> str:
    text = _DECLARED_BY_US.sub("", text).replace("kata::", "")
    return re.sub(r", int\)(?= does not match|\"|$)", ")", text) if '"cuda' in text else text


def compile_error(log: str, program: Program) -> CompileError:
    """The CompileError for a log with errors in it: the first one in the message, all of them as evidence."""
    told = read(log, program)
    errors = [one for one in told if one.severity == "error"]
    brace = unclosed(program.text) if _ENDS_EARLY.search(log) and _OPEN_COMMENT not in log else None
    if brace is not None:
        return _open_brace(brace, errors, program)
    if not errors:
        return _assembler_error(log, program)
    own = [one for one in errors if one.file == program.path.name]
    first = (own or errors)[0]
    place = f"line {first.line}" if first in own else f"{first.file}:{first.line}"
    theirs = [one for one in errors if one.file not in _OURS]
    shown = [one for one in told if one in theirs or one.file == program.path.name]
    return CompileError(
        f"{place}: {first.text}", file=program.path.name, line=first.line if first in own else None,
        remedy=_remedy(first, program), evidence="\n".join(map(str, shown)),
    )  # fmt: skip


def _open_brace(brace: Brace, errors: list[Diagnostic], program: Program) -> CompileError:
    """A missing ``}``, at the ``{`` that lacks it; and what is wrong besides, without what only comes of it."""
    line = program.text.split("\n")[brace.line - 1]
    pointer = "".join("\t" if character == "\t" else " " * _width(character) for character in line[: brace.column])
    first = Diagnostic(
        program.path.name, brace.line, brace.column + 1, "error",
        f'a "}}" is missing: the "{{" on line {brace.line} is never closed', (f"  {line}", f"  {pointer}^"),
    )  # fmt: skip
    others = [
        replace(one, body=tuple(line for line in one.body if not _ENDS_EARLY.match(line))) for one in errors
        if one.file == program.path.name and (one.line < brace.line or not _COMES_OF_A_BRACE.match(one.text))
    ]  # fmt: skip
    return CompileError(
        f"line {brace.line}: {first.text}", file=program.path.name, line=brace.line,
        evidence="\n".join(map(str, (first, *others))),
    )  # fmt: skip


def _assembler_error(log: str, program: Program) -> CompileError:
    """What ptxas, the second half of the compiler, refuses: it knows kernels but no lines."""
    shared = _TOO_MUCH_SHARED.search(log)
    if shared:
        used, most = int(shared["used"], 16), int(shared["most"], 16)
        return CompileError(
            f"{plain_name(shared['kernel'])} declares {used:,} bytes of __shared__ memory; a block can have {most:,}",
            file=program.path.name,
            remedy="use less, or extern __shared__ with cudaFuncSetAttribute(kernel, "
            "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
        )  # fmt: skip
    missing = _UNRESOLVED.search(log)
    if missing:
        name = missing.group(1).replace("__cudaCDP2", "cuda")
        return CompileError(f"{name} is declared but is nowhere defined", file=program.path.name, evidence=log)
    return CompileError("the compiler refused the file", file=program.path.name, evidence=log)


def _remedy(first: Diagnostic, program: Program) -> str | None:
    undefined = _UNDEFINED.search(first.text)
    if undefined:
        near = difflib.get_close_matches(undefined.group(1), program.kernels, 1, 0.6)
        if near:
            return f"did you mean {near[0]}?"
        launched = {launch.kernel.rpartition("::")[2] for launch in program.launches}
        if undefined.group(1) in launched and program.kernels:
            return f"the file's kernels are {', '.join(program.kernels)}"
    return next((remedy for pattern, remedy in _REMEDIES if pattern.search(str(first))), None)


def warnings(log: str, program: Program) -> str:
    """The log of a compilation that worked, in the user's terms: warnings about the user's own lines."""
    own = [one for one in read(log, program) if one.file == program.path.name and one.severity == "warning"]
    return "\n".join(map(str, own))

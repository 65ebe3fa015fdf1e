"""The user's file, made ready for NVRTC: ``solve`` found and checked, what only a host can run set aside.

NVRTC compiles device code alone, so the launch function is compiled as device code too (see headers/kata.h): ``main``
and host functions that ``solve`` never reaches are blanked, and an entry that calls ``solve`` is added at the end.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SourceError
from harness.functions import Function, find_functions
from harness.launches import Launches, Site
from harness.refusals import refuse_host_features, refuse_other_files
from harness.rewrite import Marked, blank, for_the_device, from_bytes_text, line_of, mark_launches, mask, to_bytes_text
from harness.sides import refuse_wrong_side
from harness.signature import Signature, mismatch

if TYPE_CHECKING:
    from harness.catalogue import Kata

#: The entry that runs ``solve``, and the name its lines have in the compiler's messages.
ENTRY = "kata_entry"
ENTRY_FILE = "kata_entry.h"



@dataclass(frozen=True)
class Program:
    """A file ready to compile. ``text`` is the user's own, ``rewritten`` what the compiler is given: line for line the
    same, then the entry. ``kernels`` are the names of its ``__global__`` functions, ``parameter_names`` the user's
    own names for the parameters of ``solve``, in order."""

    path: Path
    text: str
    rewritten: str
    kernels: tuple[str, ...]
    launches: tuple[Site, ...]
    parameter_names: tuple[str, ...]
    marked: Marked

    @property
    def lines(self) -> int:
        """How many lines the user's text has."""
        return self.text.count("\n") + (not self.text.endswith("\n"))


def parse(path: Path, kata: Kata) -> Program:
    """Read and check the user's file.

    Raises SourceError when it can't be read as UTF-8, is empty, has no ``solve`` or two, when the parameters of
    ``solve`` are not the kata's, or when it uses what a planned launch can't (a host container, Thrust, ...).
    """
    text = _read(path)
    code = to_bytes_text(text)
    refuse_other_files(path.name, code, mask(code))
    functions, broken = find_functions(code)
    solve = _find_solve(path, code, functions, broken, kata)
    names = _check_parameters(path, code, solve, kata)
    code = blank(code, _host_only(mask(code), functions))
    quiet = mask(code)
    if not broken:
        refuse_host_features(path.name, quiet, functions)
    launches = Launches.of(quiet)
    launches.refuse_misuse(path.name, quiet, [] if broken else functions)
    if not broken:
        refuse_wrong_side(path.name, quiet, functions)
    marked = mark_launches(for_the_device(code))
    entry = _entry(solve.qualified if solve is not None else "solve", kata)
    rewritten = from_bytes_text(marked.code).rstrip("\n") + "\n" + entry
    return Program(path, text, rewritten, launches.kernels, launches.sites, names, marked)


def _check_parameters(path: Path, code: str, solve: Function | None, kata: Kata) -> tuple[str, ...]:
    """The user's names for the parameters of ``solve``, the kata's where they have none."""
    asked = [parameter.name for parameter in kata.parameters]
    if solve is None:
        return tuple(asked)
    signature = Signature.of(solve.parameters)
    problem = mismatch(signature, kata, mask(code), solve.template)
    if problem:
        raise SourceError(
            f"{problem}\n  expected  {kata.signature}\n  found     void solve({_one_line(solve.parameters)})",
            file=path.name, line=line_of(code, code.index("solve", solve.start)),
            remedy="change the parameters of solve to the expected ones; their names are free",
        )  # fmt: skip
    return tuple(one.name or name for one, name in zip(signature.types, asked, strict=True))


def _read(path: Path) -> str:
    if not path.name.isprintable() or set(path.name) & set('"\\'):
        raise SourceError(
            f"the compiler can't take a file name like {path.name!a}", remedy="rename it: letters, digits, . _ and -"
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SourceError(f"the file can't be read: {error.strerror}", file=path.name) from error
    if b"\0" in raw:
        raise SourceError(
            "the file is UTF-16, or no text: it holds zero bytes", file=path.name, remedy="save the file as UTF-8"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError(
            f"the file is not UTF-8: line {line} holds the byte {raw[error.start]:#04x}",
            file=path.name, line=line, remedy="save the file as UTF-8",
        ) from error  # fmt: skip
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise SourceError("the file is empty", file=path.name, remedy="kata start writes a skeleton to begin from")
    return text


def _one_line(text: str) -> str:
    return from_bytes_text(" ".join(text.split()))


def _find_solve(path: Path, code: str, functions: list[Function], broken: bool, kata: Kata) -> Function | None:
    """The one ``solve``; None where the file doesn't parse and the compiler should say why."""
    found = [function for function in functions if function.name == "solve"]
    if len(found) > 1:
        first, second = (line_of(code, code.index("solve", function.start)) for function in found[:2])
        raise SourceError(
            f"there are two functions named solve, on lines {first} and {second}",
            file=path.name, line=second, remedy="keep one; call the other something else",
        )  # fmt: skip
    if found and "__global__" in found[0].head:
        line = line_of(code, code.index("solve", found[0].start))
        raise SourceError(
            f"solve on line {line} is a kernel (__global__); it should be the host function that launches one",
            file=path.name, line=line, remedy=f"rename the kernel and add {kata.signature}",
        )  # fmt: skip
    if found:
        return found[0]
    mentioned = re.search(r"\bsolve\s*\(", mask(code))
    if broken and mentioned:
        return None
    names = list(dict.fromkeys(from_bytes_text(function.name) for function in functions))
    if mentioned:
        message = f"solve is mentioned on line {line_of(code, mentioned.start())}, but never defined"
    else:
        message = "there is no function solve"
        message += f"; it has {', '.join(names)}" if names else ""
    host = {function.name.lower(): from_bytes_text(function.name) for function in functions if not function.on_device}
    like = [host[name] for name in ("solution", *difflib.get_close_matches("solve", host, 1, 0.6)) if name in host]
    hint = f"rename {like[0]} to solve: " if like else "add the host function that launches your kernel: "
    raise SourceError(message, file=path.name, remedy=hint + kata.signature)


def _host_only(quiet: str, functions: list[Function]) -> list[tuple[int, int]]:
    """Where ``main`` and the host functions lie that nothing else names: often a test bench nobody asked to compile."""
    asleep = [one for one in functions if not one.on_device and one.name != "solve" and one.name.isidentifier()]
    awake = blank(quiet, [(one.start, one.end) for one in asleep])
    while True:
        words = set(re.findall(r"\w+", awake))
        woken = [one for one in asleep if one.name in words and one.name != "main"]
        if not woken:
            return [(one.start, one.end) for one in asleep]
        asleep = [one for one in asleep if one not in woken]
        awake += " ".join(quiet[one.start : one.end] for one in woken)


def _entry(solve: str, kata: Kata) -> str:
    """The kernel that begins a plan, calls ``solve`` with the arguments it was given, and ends the plan."""
    types = [parameter.type.removeprefix("const ") for parameter in kata.parameters]
    parameters = "".join(f", {kind} kata_argument{i}" for i, kind in enumerate(types))
    arguments = ", ".join(f"kata_argument{i}" for i in range(len(types)))
    return (
        f'#line 1 "{ENTRY_FILE}"\n'
        f'extern "C" __global__ void {ENTRY}(void* kata_buffer, unsigned long long kata_bytes, '
        f"unsigned long long kata_parameter_bytes{parameters}) {{\n"
        f"    kata::begin(kata_buffer, kata_bytes, kata_parameter_bytes);\n    ::{solve}({arguments});\n"
        "    kata::end();\n}\n"
    )

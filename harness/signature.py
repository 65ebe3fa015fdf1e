"""The parameters of ``solve`` as written, against those a kata asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.catalogue import Kata, Parameter

_INTEGERS = frozenset(
    {"char", "short", "int", "long", "unsigned", "signed", "size_t", "ssize_t", "ptrdiff_t", "uint"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (16, 32, 64)}
)
_REALS = frozenset({"float", "double"})
_RESTRICT = re.compile(r"\b(?:__restrict__|__restrict|restrict|struct|register|volatile)\b")


@dataclass(frozen=True)
class Type:
    """A parameter: the words of its type, how many pointers deep, whether what it points to is const, and its name
    (empty where it has none)."""

    words: tuple[str, ...]
    pointers: int
    const: bool
    name: str = ""


@dataclass(frozen=True)
class Signature:
    """The types of a parameter list, in order."""

    types: tuple[Type, ...]

    @staticmethod
    def of(parameters: str) -> Signature:
        """Read a parameter list without its parentheses and comments. Names and default values don't matter."""
        parts = [part for part in _split(parameters) if part.strip() not in ("", "void")]
        return Signature(tuple(_type(part) for part in parts))


def _split(parameters: str) -> list[str]:
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _type(part: str) -> Type:
    declared = _RESTRICT.sub(" ", part.split("=")[0])
    base, _, after = declared.rpartition("*") if "*" in declared else (declared, "", "")
    words = re.findall(r"[A-Za-z_][\w:]*", base.split("[")[0])
    const = "const" in re.findall(r"\w+", base.split("*")[0])
    words = [word.removeprefix("std::") for word in words if word != "const"]
    names = [word for word in re.findall(r"[A-Za-z_]\w*", after.split("[")[0]) if word != "const"]
    if "*" not in declared and len(words) > 1 and words[-1] not in _INTEGERS | _REALS:
        names = [words.pop()]
    return Type(tuple(words), declared.count("*") + declared.count("["), const, names[0] if names else "")


def mismatch(found: Signature, kata: Kata, quiet: str, template: bool) -> str | None:
    """Why ``found`` is not what ``kata`` asks for, in words; None if it is. ``quiet`` is the file without comments:
    a type it defines itself, or any type of a template, is left to the compiler."""
    if len(found.types) != len(kata.parameters):
        asked = len(kata.parameters)
        return f"solve takes {len(found.types)} parameter{'s' * (len(found.types) != 1)}, the kata passes {asked}"
    for number, (one, parameter) in enumerate(zip(found.types, kata.parameters, strict=True), 1):
        problem = _differs(one, parameter, quiet, template)
        if problem:
            return f"parameter {number} of solve ({parameter.name}) {problem}"
    return None


def _differs(one: Type, parameter: Parameter, quiet: str, template: bool) -> str | None:
    asked = parameter.type.replace("const ", "").rstrip("* ")
    if parameter.type.endswith("*") != (one.pointers > 0) or one.pointers > 1:
        return "should be a pointer" if parameter.type.endswith("*") else "should be a plain value"
    if one.const and one.pointers and parameter.role != "in":
        return "is where the result goes, so it can't be const"
    if template or _own(one, quiet):
        return None
    if one.pointers:
        return None if one.words == (asked,) else f"should point to {asked}"
    alike = _REALS if asked in _REALS else _INTEGERS
    if asked in alike and one.words and set(one.words) <= alike:
        return None
    return None if one.words == (asked,) else f"should be {asked}"


def _own(one: Type, quiet: str) -> bool:
    name = re.escape(one.words[-1]) if one.words else "auto"
    return bool(re.search(rf"\busing\s+{name}\s*=|\btypedef\b[^;]*\b{name}\s*;|#\s*define\s+{name}\b", quiet))

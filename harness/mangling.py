"""Kernel names: from the mangled form (Itanium C++ ABI, section 5.1) to what the user wrote."""

from __future__ import annotations

import re

_PREFIX = re.compile(r"_ZN?K?L?")


def plain_name(mangled: str) -> str:
    """``foo::k`` for ``_ZN3foo1kILi4EEEvPf``: scopes and name, without template arguments and parameters. A name that
    isn't mangled (``extern "C"``) is its own; unnamed namespaces are left out."""
    prefix = _PREFIX.match(mangled)
    if prefix is None:
        return mangled
    parts: list[str] = []
    nested = mangled.startswith("_ZN")
    at = prefix.end()
    while length := re.compile(r"L?(\d+)").match(mangled, at):
        start = length.end()
        at = start + int(length.group(1))
        parts.append(mangled[start:at])
        if not nested:
            break
    named = [part for part in parts if not part.startswith(("_GLOBAL__N", "_INTERNAL_"))]
    return "::".join(named) or mangled

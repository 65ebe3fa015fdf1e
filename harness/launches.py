"""Every ``<<<...>>>`` of a file and every kernel, found in text rather than in a tree, so that macros hide none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.errors import SourceError
from harness.functions import Function
from harness.rewrite import from_bytes_text, line_of

_KERNEL = re.compile(
    r"\b__global__\b(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)|[^;{}()])*?\b(?!__launch_bounds__)(\w+)\s*\("
)
_LAUNCHED = re.compile(r"([A-Za-z_][\w:]*)\s*$")
_NO_COMMA = re.compile(r"<<<((?:[^(),{}<>;]|\((?:[^()]|\([^()]*\))*\)|\{[^{}]*\})*)>>>")
_CALLED = r"(?<![\w.>])%s\s*(?:<[^;{}()<]*>)?\s*\("


@dataclass(frozen=True)
class Site:
    """A ``<<<...>>>``: the kernel as written, without template arguments, and the line."""

    kernel: str
    line: int


@dataclass(frozen=True)
class Launches:
    """The launches of a file in order, and the names of its ``__global__`` functions."""

    sites: tuple[Site, ...]
    kernels: tuple[str, ...]

    @staticmethod
    def of(quiet: str) -> Launches:
        """Find them in ``quiet``, a file's code without comments and strings."""
        places = [found.start() for found in re.finditer("<<<", quiet)]
        sites = tuple(Site(_launched(quiet, place), line_of(quiet, place)) for place in places)
        return Launches(sites, tuple(dict.fromkeys(_KERNEL.findall(quiet))))

    def refuse_misuse(self, name: str, quiet: str, functions: list[Function]) -> None:
        """Raise SourceError for what a host compiler refuses but a device compiler lets pass: a launch of a plain
        function, from a kernel, or without a block size, and a kernel called without ``<<<...>>>``."""
        _refuse_nested(name, quiet, functions)
        plain = {function.name for function in functions} - set(self.kernels)
        for site in self.sites:
            if site.kernel.rpartition("::")[2] in plain:
                raise SourceError(
                    f"this launches {site.kernel}, which is not a kernel", file=name, line=site.line,
                    remedy=f"declare it __global__ void {site.kernel}(...), or call it without <<<...>>>",
                )  # fmt: skip
        for found in _NO_COMMA.finditer(quiet):
            if "__VA_ARGS__" not in found.group():
                line = line_of(quiet, found.start())
                raise SourceError(
                    f"<<<{found.group(1).strip()}>>> gives a grid but no block", file=name, line=line,
                    remedy="write <<<grid, block>>>",
                )  # fmt: skip
        others = {function.name for function in functions if not function.kernel}
        _refuse_plain_calls(name, quiet, [kernel for kernel in self.kernels if kernel not in others])


def _launched(quiet: str, offset: int) -> str:
    """The name ahead of a ``<<<``, template arguments skipped; empty where there is none."""
    end = len(quiet[:offset].rstrip())
    if quiet[end - 1 : end] == ">":
        depth = 0
        while end > 0:
            end -= 1
            depth += {">": 1, "<": -1}.get(quiet[end], 0)
            if depth == 0:
                break
    found = _LAUNCHED.search(quiet, max(0, end - 200), end)
    return found.group(1) if found else ""


def _refuse_plain_calls(name: str, quiet: str, kernels: list[str]) -> None:
    declared = {found.start(1) for found in _KERNEL.finditer(quiet)}
    for kernel in kernels:
        for found in re.finditer(_CALLED % re.escape(kernel), quiet):
            statement = re.split(r"[;{}]", quiet[: found.start()])[-1]
            if found.start() not in declared and "__global__" not in statement:
                line = line_of(quiet, found.start())
                raise SourceError(
                    f"the kernel {kernel} is called without a launch configuration", file=name, line=line,
                    remedy=f"launch it: {kernel}<<<grid, block>>>(...)",
                )  # fmt: skip


def _refuse_nested(name: str, quiet: str, functions: list[Function]) -> None:
    for function in functions:
        at = quiet.find("<<<", function.start, function.end) if function.on_device else -1
        if at >= 0 and "__host__" not in function.head:
            raise SourceError(
                f"{from_bytes_text(function.name)} launches a kernel from the device on line {line_of(quiet, at)}",
                file=name, line=line_of(quiet, at),
                remedy="launch from solve: dynamic parallelism is not graded",
            )  # fmt: skip

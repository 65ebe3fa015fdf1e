"""What may be used on which side, host or device. Compiling ``solve`` as device code lifts these rules; nvcc has them.

Names are looked up in the file's own text, so what a macro or a header declares is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harness.errors import SourceError
from harness.functions import Function
from harness.rewrite import from_bytes_text, line_of

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_CALL = r"(?<![\w.>:])%s\s*(?:<[^;{}()<]*>)?\s*\("
_USE = r"(?<![\w.>])%s\b(?!\s*\()"
#: A file-scope array of the host: no word of CUDA's in front, not constant, with a bound or an initialiser.
_ARRAY = re.compile(
    r"(?:^|(?<=[;}]))(?P<head>\s*(?:(?:static|inline|const|unsigned|signed|struct)\s+)*[A-Za-z_][\w:]*(?:\s*<[^;{}<>]*>)?)"
    r"\s+(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)+(?:=|;|\{)",
)
_DEVICE_WORDS = re.compile(r"__(?:device|constant|shared|managed)__|\bconstexpr\b|\breturn\b|\btypedef\b|\busing\b")


def refuse_wrong_side(name: str, quiet: str, functions: list[Function]) -> None:
    """Raise SourceError where device code calls a host function or uses a host array, or the host a device function.

    ``quiet`` is the file's code without comments and strings."""
    macros = set(_MACRO.findall(quiet))
    known = [one for one in functions if not macros & set(re.findall(r"\w+", one.head))]
    host = {one.name for one in known if not one.on_device and "constexpr" not in one.head}
    device = {one.name for one in known if one.on_device and not one.kernel and "__host__" not in one.head}
    either = {one.name for one in functions} - host - device | (host & device)
    for function in known:
        wrong, side = (host - either, "host") if function.on_device else (device - either, "device")
        if function.on_device or "constexpr" not in function.head:
            _refuse_calls(name, quiet, function, wrong, side)
    arrays = list(_host_arrays(quiet, functions))
    for function in (one for one in known if one.on_device):
        _refuse_arrays(name, quiet, function, arrays)


def _refuse_calls(name: str, quiet: str, function: Function, callees: Iterable[str], side: str) -> None:
    for callee in sorted(callees):
        body = quiet.find("{", function.start)
        found = re.compile(_CALL % re.escape(callee)).search(quiet, max(body, function.start), function.end)
        if found is None:
            continue
        line, caller = line_of(quiet, found.start()), from_bytes_text(function.name)
        if side == "host":
            what = f"{caller} runs on the device and calls {callee} on line {line}, which is a host function"
            remedy = f"write __device__ in front of {callee}"
        else:
            what = f"{caller} runs on the host and calls {callee} on line {line}, which is a __device__ function"
            remedy = f"write __host__ __device__ in front of {callee}, or call it from a kernel"
        raise SourceError(what, file=name, line=line, remedy=remedy)


def _host_arrays(quiet: str, functions: list[Function]) -> Iterator[str]:
    inside = [(function.start, function.end) for function in functions]
    for found in _ARRAY.finditer(quiet):
        outside = all(not start <= found.start("name") < end for start, end in inside)
        before = quiet[max(0, quiet.rfind(";", 0, found.start("name"))) : found.start("name")]
        top_level = quiet.count("{", 0, found.start()) == quiet.count("}", 0, found.start())
        if outside and top_level and not _DEVICE_WORDS.search(before):
            yield found["name"]


def _refuse_arrays(name: str, quiet: str, function: Function, arrays: list[str]) -> None:
    for array in arrays:
        body = quiet.find("{", function.start)
        found = re.compile(_USE % re.escape(array)).search(quiet, max(body, function.start), function.end)
        if found is not None and array not in re.findall(r"\w+", function.parameters):
            line = line_of(quiet, found.start())
            raise SourceError(
                f"{from_bytes_text(function.name)} runs on the device and uses {array} on line {line}, an array of the "
                "host", file=name, line=line, remedy="declare it __constant__ or __device__",
            )  # fmt: skip

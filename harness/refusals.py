"""What a file can't use when ``solve`` is turned into a launch plan, and what to do instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.functions import Function
from harness.rewrite import line_of


@dataclass(frozen=True)
class Refusal:
    """A pattern in the code, why it is refused (``{0}`` is what was found), and the remedy; ``in_kernels`` are the
    reason and the remedy in device code, where they differ."""

    pattern: re.Pattern[str]
    reason: str
    remedy: str
    in_kernels: tuple[str, str] | None = None

    def of(self, word: str, on_device: bool) -> tuple[str, str]:
        """The reason and the remedy for what was found."""
        reason, remedy = self.in_kernels if on_device and self.in_kernels else (self.reason, self.remedy)
        return reason.format(word), remedy


_HOST_MEMORY = "allocates host memory, and solve is only read for the launches it makes"
_SCRATCH = "use plain arrays for host values, and cudaMalloc for scratch memory on the device"
_HEAP = (
    "{0} takes memory from the device's heap, which is not simulated",
    "use registers or a local array for a few values of a thread, __shared__ memory for a block's, and cudaMalloc in "
    "solve for more",
)
_OWN = "write the kernel yourself: that is the exercise"

_REFUSALS = tuple(
    Refusal(re.compile(pattern), *said)
    for pattern, *said in (
        (r"\bthrust\s*::\s*\w+", "{0} is a library call", _OWN),
        (r"\bcub\s*::\s*Device\w+", "{0} launches kernels of its own",
         f"{_OWN}; cub's block and warp primitives are fine"),
        (r"\bcublas\w*|\bcudnn\w*|\bcutlass\s*::\s*\w+", "{0} is a library call", _OWN),
        (
            r"\bstd\s*::\s*(?:vector|string|map|unordered_map|set|list|deque|unique_ptr|shared_ptr|function|thread)\b",
            "{0} needs a host, and solve is only read for the launches it makes", _SCRATCH,
        ),
        (r"\bnew\b(?=\s+[A-Za-z_])", "{0} " + _HOST_MEMORY, _SCRATCH, _HEAP),
        (r"\b(?:malloc|calloc|realloc)\b(?=\s*\()", "{0} " + _HOST_MEMORY, _SCRATCH, _HEAP),
        (r"\bcuda(?:MallocManaged|MallocHost|HostAlloc|HostRegister)\b",
         "{0} gives memory that the host can read, which a plan has not", "use cudaMalloc and stay on the device"),
        (r"\bcudaMalloc(?:Pitch|3D|Array|3DArray)\b|\bcudaMem(?:cpy|set)(?:2D|3D)\w*", "{0} is not supported",
         "use cudaMalloc, cudaMemset and cudaMemcpy of contiguous bytes"),
        (r"\bcudaStreamBeginCapture\w*|\bcudaGraph[A-Z]\w*", "{0}: graphs are not supported",
         "launch the kernels directly"),
        (r"\bcudaCreateTextureObject\b|\btexture\s*<", "{0}: textures are not supported",
         "read through the pointer, or __ldg"),
        (r"\bcudaLaunchCooperativeKernel\w*", "{0}: cooperative launches, which grid.sync() needs, are not simulated",
         "end the kernel at grid.sync() and launch a second one: between two launches all blocks are done"),
        (r"\bcudaLaunchKernelEx\w*", "{0} is not supported", "launch with <<<grid, block>>>"),
        (r"\bthrow\b", "throw: there are no exceptions here", "print the error and return"),
        (r"\btry\s*(?=\{)", "try: there are no exceptions here", "check the error code"),
    )
)  # fmt: skip


_INCLUDE = re.compile(r"""^[ \t]*(#)[ \t]*include[ \t]*(["<])([^">\n]+)""", re.MULTILINE)
_ELSEWHERE = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.[/\\]")


def refuse_other_files(name: str, code: str, quiet: str) -> None:
    """Raise SourceError for an include that the compiler would find, and that is no header of CUDA's: by where it lies,
    or in the working folder, where it looks for quoted ones.

    One file is graded; what another holds may change without it. ``quiet`` is ``code`` with comments blanked.
    """
    for match in _INCLUDE.finditer(code):
        mark, opening, header = match.groups()
        own = _ELSEWHERE.match(header) or (opening == '"' and Path(header).is_file())
        if own and quiet[match.start(1)] == mark:
            raise SourceError(
                f"{header} is another file, and one file is graded", file=name, line=line_of(code, match.start(1)),
                remedy="paste what you need of it into this one",
            )  # fmt: skip


def refuse_host_features(name: str, quiet: str, functions: Iterable[Function]) -> None:
    """Raise SourceError for the first thing in ``quiet`` (the file without comments, strings and what is never
    called) that can't be part of a plan, or of one of its ``functions`` on the device."""
    found = [(match.start(), match, one) for one in _REFUSALS for match in one.pattern.finditer(quiet)]
    if not found:
        return
    start, match, refusal = min(found, key=lambda item: item[0])
    line = line_of(quiet, start)
    word = "".join(match.group().split()) if "::" in match.group() else " ".join(match.group().split())
    reason, remedy = refusal.of(word, any(one.on_device and one.start <= start < one.end for one in functions))
    raise SourceError(reason, file=name, line=line, remedy=remedy)

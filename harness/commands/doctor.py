"""``kata doctor``: what this machine has, and what to do about what it lacks."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from harness import catalogue
from harness.commands.shared import json_option, say, say_json, waiting
from harness.errors import EnvironmentFault, KataError
from harness.reports.text import wrap

#: The way out where NVIDIA publishes no compiler wheel.
_MACOS = ("NVIDIA publishes no compiler for macOS. Run kata in a Linux container (docker run -it -v \"$PWD\":/kata "
          "-w /kata python:3.12 bash), in a Linux virtual machine, or on a GPU machine.")  # fmt: skip
_PIP = f"{sys.executable} -m pip install --force-reinstall"
_HEADER_PACKAGES = "'nvidia-cuda-runtime<14' 'nvidia-cuda-cccl<14' 'nvidia-cuda-crt<14'"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for. ``needed`` things must be there for `kata check` to work."""

    name: str
    ok: bool
    detail: str
    needed: bool = True
    remedy: str | None = None


@click.command("doctor")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Say what this machine has and lacks.

    For each thing that is missing, what to do about it.

    \b
    Example:  kata doctor
    """
    with waiting("compiling, to see whether that works"):
        findings = list(examine())
    missing = [finding.name for finding in findings if finding.needed and not finding.ok]
    healthy = not missing
    if as_json:
        from harness.reports.jsonout import SCHEMA

        say_json({"schema": SCHEMA, "ok": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        say("kata check runs on this machine." if healthy else f"kata check can't run here yet: {', '.join(missing)}.")
        for finding in findings:
            mark = "✓" if finding.ok else "✗" if finding.needed else "·"
            say("\n".join(wrap(f"{mark} {finding.name:<12} {finding.detail}", indent="", hanging=" " * 15)))
            if finding.remedy and not finding.ok:
                say("\n".join(wrap(finding.remedy, indent=" " * 15)))
        say("Next: kata list" if healthy else "Next: do what is said beside each ✗, then kata doctor")
    context.exit(0 if healthy else EnvironmentFault.exit_code)


def examine() -> Iterator[Finding]:
    """Everything worth knowing, in the order in which one thing builds on another."""
    for look in (_python, _katas, _parser, _compiler, _compiles, _headers, _cache):
        yield look()
    from harness.devices.gpu_probe import survey

    for part in survey():  # each wanted, none needed: the simulator does without
        yield Finding(part.name, part.ok, part.detail, needed=False, remedy=part.remedy)


def _python() -> Finding:
    version = platform.python_version()
    where = f"{version} on {platform.system()} {platform.machine()}"
    return Finding("python", sys.version_info >= (3, 11), where, remedy="kata needs Python 3.11 or later.")


def _katas() -> Finding:
    try:
        found = catalogue.load_all()
    except KataError as error:
        return Finding("katas", False, f"{error.file or ''} {error.message}".strip(), remedy=error.remedy)
    where = f"{len(found)} in {catalogue.home().katas}"
    return Finding("katas", bool(found), where, remedy="Install kata again: its katas are missing.")


def _parser() -> Finding:
    def parse() -> str:
        import tree_sitter
        import tree_sitter_cuda

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
        if parser.parse(b"void solve() { k<<<1, 1>>>(); }").root_node.has_error:
            raise ValueError("does not understand a kernel launch")
        return f"tree-sitter {_version('tree-sitter')}, CUDA grammar {_version('tree-sitter-cuda')}"

    return _try("parser", parse, remedy=f"{_PIP} tree-sitter tree-sitter-cuda")


def _compiler() -> Finding:
    def ask() -> str:
        from cuda.bindings import nvrtc

        status, major, minor = nvrtc.nvrtcVersion()
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise OSError(f"NVRTC answers {status.name}")
        return f"NVRTC {major}.{minor} (nvidia-cuda-nvrtc {_version('nvidia-cuda-nvrtc')})"

    install = f"{_PIP} 'cuda-bindings<14' 'nvidia-cuda-nvrtc<14'"
    return _try("compiler", ask, remedy=_MACOS if sys.platform == "darwin" else install)


def _compiles() -> Finding:
    return _try("compiles", lambda: _compile(""), remedy="The compiler above must work first.")


def _headers() -> Finding:
    includes = ("cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h", "cub/cub.cuh")
    source = "".join(f"#include <{header}>\n" for header in includes)
    return _try("headers", lambda: f"{_compile(source)}: {', '.join(includes)}", remedy=f"{_PIP} {_HEADER_PACKAGES}")


def _compile(includes: str) -> str:
    """Compile the first kata's skeleton under ``includes`` with no cache, as `kata check` would."""
    import time

    from harness.cache import Cache
    from harness.compile import compile_program
    from harness.source import parse

    kata = catalogue.load_all()[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kata.skeleton.name
        path.write_text(includes + kata.skeleton.read_text(encoding="utf-8"), encoding="utf-8")
        started = time.perf_counter()
        compile_program(parse(path, kata), cache=Cache(Path(folder) / "cache"))
    return f"a kernel, in {time.perf_counter() - started:.2f} s"


def _cache() -> Finding:
    from harness.cache import default_folder

    folder = default_folder()

    def write() -> str:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)

    remedy = "Every check compiles anew while nothing can be kept: make it writable, or name another in KATA_CACHE."
    return _try("cache", write, needed=False, remedy=remedy)


def _try(name: str, look: Callable[[], str], *, remedy: str, needed: bool = True) -> Finding:
    """A finding from a function that says what is there, or raises whatever a broken installation raises."""
    try:
        return Finding(name, True, look(), needed)
    except KataError as error:
        return Finding(name, False, error.message, needed, error.remedy or remedy)
    except Exception as error:  # noqa: BLE001  a missing or broken library may raise anything, and is what we look for
        return Finding(name, False, f"{type(error).__name__}: {error}".splitlines()[0], needed, remedy)


def _version(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of unknown version"

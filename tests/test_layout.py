"""The shape of the code: imports go one way, and the command starts light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, environment

#: Each layer may import from those before it, and within itself.
LAYERS = (
    ("counts", "errors", "profiles", "results"),
    ("catalogue", "functions", "launches", "references", "refusals", "rewrite", "sides", "signature", "source"),
    ("braces", "cache", "compile", "cubin", "diagnostics", "mangling", "simulator"),
    ("launch_rules", "plan", "plan_rules", "steps", "streams"),
    ("devices",),
    ("profiling",),
    ("grading",),
    ("practice", "reports"),
    ("verification",),
    ("commands",),
    ("cli",),
)
RANKS = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

MODULES = sorted((ROOT / "harness").rglob("*.py"))


def part(module: str) -> str:
    """``simulator`` for ``harness.simulator.ptx``."""
    return module.split(".")[1]


def imports(path: Path) -> set[str]:
    """Every module that a file names in an import, wherever in the file it stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def owner(path: Path) -> str:
    return path.relative_to(ROOT / "harness").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", [path for path in MODULES if owner(path) != "__init__"], ids=str)
def test_imports_go_one_way(path: Path) -> None:
    mine = owner(path)
    assert mine in RANKS, f"{path.name} has no place in the layers"
    for module in imports(path):
        if module.startswith("harness.") and part(module) in RANKS:
            assert RANKS[part(module)] <= RANKS[mine], f"{mine} imports {module}"


def test_the_simulator_stands_alone() -> None:
    for path in MODULES:
        if owner(path) == "simulator":
            parts = {part(module) for module in imports(path) if module.startswith("harness.")}
            assert parts <= {"simulator", "counts", "errors", "profiles", "results"}, f"{path.name} imports {parts}"


def test_pycuda_is_imported_by_the_gpu_device_only() -> None:
    for path in MODULES:
        if any(module.split(".")[0] == "pycuda" for module in imports(path)):
            assert owner(path) == "devices" and path.name.startswith("gpu")


def test_nothing_prints_but_the_commands() -> None:
    for path in MODULES:
        if owner(path) not in ("cli", "commands"):
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            calls = [node.func for node in nodes if isinstance(node, ast.Call)]
            names = {call.id for call in calls if isinstance(call, ast.Name)}
            assert not names & {"print", "exit"}, f"{path.name} prints or exits"


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("list",), ("show", "--help"), ("hint", "add"), ("list", "--json"), ("profile", "--help"),
     ("report", "--help")],
)  # fmt: skip
def test_start_up_imports_nothing_heavy(arguments: tuple[str, ...], home: Path) -> None:
    program = f"""
import sys
sys.argv[1:] = {list(arguments)!r}
from harness.cli import main
try:
    main()
except SystemExit:
    pass
heavy = {{"numpy", "rich", "tree_sitter", "cuda", "pygments", "multiprocessing"}} & set(sys.modules)
sys.exit(f"imported {{heavy}}" if heavy else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

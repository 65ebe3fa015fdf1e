"""What many tests share: a catalogue of one small kata, and the real command in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import pexpect

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background ignores it, and so would what it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent

KATA_TOML = """\
order = 1
title = "Add two vectors"
summary = "c = a + b, element by element"
frequency = "low"
minutes = 5
topics = ["memory"]

[[parameters]]
name = "a"
type = "const float*"
role = "in"
shape = ["n"]
[[parameters]]
name = "b"
type = "const float*"
role = "in"
shape = ["n"]
[[parameters]]
name = "c"
type = "float*"
role = "out"
shape = ["n"]
[[parameters]]
name = "n"
type = "int"
role = "scalar"

[[hints]]
text = "Which element does this thread own?"
[[hints]]
text = "Round the number of blocks up."
[[hints]]
text = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) ..."
""" + "".join(
    f"""
[[questions]]
topic = "memory"
ask = "Question {number}?"
answer = "Answer {number}."
"""
    for number in (1, 2, 3)
)

SKELETON = """\
#include <cuda_runtime.h>

// Your kernel here.

void solve(const float* a, const float* b, float* c, int n) {
}
"""

#: A kernel that adds, with places to break it: {guard} and {grid}.
KERNEL = """\
__global__ void add(const float* a, const float* b, float* c, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ({guard}) c[i] = a[i] + b[i];
}}

void solve(const float* a, const float* b, float* c, int n) {{
    add<<<{grid}, 128>>>(a, b, c, n);
}}
"""
RIGHT = "// Rung 1: one thread per element\n" + KERNEL.format(guard="i < n", grid="(n + 127) / 128")
TAIL = KERNEL.format(guard="i < n / 32 * 32", grid="(n + 127) / 128")
PAST_THE_END = KERNEL.format(guard="true", grid="(n + 127) / 128")
SYNTAX_ERROR = RIGHT.replace("c[i] = a[i]", "c[i] = a[j]")

#: Known-wrong kernels of the small catalogue: what is said about each, and the kernel.
WRONG = {
    "skips_tail": ("// expect: tail | never_written\n// says: n % 32\n", TAIL),
    "past_the_end": ("// expect: out_of_bounds\n// says: a[\n// line: 6\n", PAST_THE_END),
    "unknown_name": ('// expect: compile_error\n// says: "j" is undefined\n', SYNTAX_ERROR),
    "no_solve": ("// expect: refused\n// says: solve\n", RIGHT.replace("solve", "answer")),
}

Run = Callable[..., "subprocess.CompletedProcess[str]"]

#: Seconds after which what a test waits for will never come, also on a machine that has much else to do; and those
#: after which a key is pressed again.
PATIENCE, _AGAIN = 120, 10
CTRL_C = "\x03"


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled kernels and history are kept apart from the user's; kernels are shared by the processes of one run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "kata-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATA_CACHE", str(folder))
        patch.setenv("KATA_HOME", str(base / "kata-home"))
        yield


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder of the test's own, which KATA_HOME names: nothing has been practised yet."""
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setenv("KATA_HOME", str(folder))
    return folder


@pytest.fixture
def home(tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out like a checkout, with the kata ``add`` only, which KATA_CATALOGUE names."""
    folder = tmp_path / "home"
    files = {
        "katas/add/kata.toml": KATA_TOML,
        "katas/add/README.md": "# Add two vectors\n\nWrite `c[i] = a[i] + b[i]`.\n",
        "katas/add/add.cu": SKELETON,
        "solutions/add/1_one_thread_per_element.cu": RIGHT,
    }
    for slug, (header, source) in WRONG.items():
        files[f"tests/wrong/add/{slug}.cu"] = header + source
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("KATA_CATALOGUE", str(folder))
    return folder


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one: where a person works."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def command(*arguments: str) -> list[str]:
    """The command line of ``kata`` with these arguments, in this interpreter."""
    return [sys.executable, "-m", "harness.cli", *arguments]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, able to find the package from any folder, without colour or locale settings."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "LANG", "COLUMNS")}
    return kept | {"PYTHONPATH": str(ROOT), "COLUMNS": "80"} | changes


def press(child: pexpect.spawn[str], key: str, shown: str) -> None:
    """Press a key at a terminal until ``shown`` appears. One that is pressed just before the command listens is lost,
    and a person presses it again."""
    import pexpect

    for _ in range(PATIENCE // _AGAIN):
        child.send(key)
        if child.expect([shown, pexpect.TIMEOUT], timeout=_AGAIN) == 0:
            return
    pytest.fail(f"{key!r} is never answered by {shown!r}, but by {child.buffer!r}")


@pytest.fixture
def kata(desk: Path) -> Run:
    """Run the real command in :func:`desk` or another folder, piped, with nobody at standard input."""

    def run(*arguments: str, folder: Path = desk, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments), cwd=folder, env=environment(**changes), capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL, encoding="utf-8", check=False,
        )  # fmt: skip

    return run

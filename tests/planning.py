"""What the tests of source, compile and plan share: a small kata, and the way from text to a plan."""

from __future__ import annotations

from pathlib import Path

from harness.catalogue import Kata, Parameter, Question
from harness.compile import Compiled, compile_program
from harness.plan import make_plan
from harness.simulator import Module
from harness.source import Program, parse
from harness.steps import Launch, LaunchPlan

INPUT, OUTPUT, N = 0x10_0000_0000, 0x10_4000_0000, 1000

KATA = Kata(
    name="scale", order=1, title="Scale", summary="scale", frequency="low", minutes=5, topics=("memory",),
    parameters=(
        Parameter("input", "const float*", "in", ("n",)),
        Parameter("output", "float*", "out", ("n",)),
        Parameter("n", "int", "scalar"),
    ),
    hints=("a", "b", "c"), questions=tuple(Question("memory", "Why?", "Because.") for _ in range(3)), folder=Path(),
)  # fmt: skip

KERNEL = """\
__global__ void scale(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = 2 * a[i];
}
"""

#: The line of the first line of a body given to :func:`with_body`.
BODY_LINE = 6


def with_body(body: str, kernel: str = KERNEL) -> str:
    """A file whose ``solve(in, out, n)`` has this body."""
    return f"{kernel}void solve(const float* in, float* out, int n) {{\n{body}\n}}\n"


def program(folder: Path, text: str | bytes, name: str = "scale.cu") -> Program:
    """``text`` parsed as the user's file."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return parse(path, KATA)


def compiled(folder: Path, text: str | bytes) -> Compiled:
    """``text`` compiled, with the cache of the test run."""
    return compile_program(program(folder, text))


def planned(folder: Path, text: str | bytes, n: int = N) -> LaunchPlan:
    """The plan of ``text``, with pointers at INPUT and OUTPUT."""
    made = compiled(folder, text)
    module = Module.parse(made.ptx, "scale.cu")
    return make_plan(module, made, (INPUT, OUTPUT, n), source_name="scale.cu")


def only_launch(plan: LaunchPlan) -> Launch:
    """The launch of a plan that has one."""
    (launch,) = plan.launches
    return launch

"""Unusual kernels count the same whether they are cut down for that or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from harness import catalogue, source
from harness.catalogue import Kata
from harness.compile import compile_program
from harness.devices import Buffer
from harness.devices.simulated import Session
from harness.plan import Launch, make_plan
from harness.profiles import InstructionCounters
from harness.references.values import fill
from harness.simulator import Module
from harness.simulator.counters import Tally
from harness.simulator.kernel import Kernel
from harness.simulator.machine import Launch as Running
from harness.simulator.memory import Backing
from harness.simulator.slicing import lean
from harness.simulator.summing import Sums

ROOT = Path(__file__).resolve().parents[2]

#: Libraries whose headers take seconds to compile: the first file that includes each of them will do.
_LIBRARY = re.compile(r"#include <(cub|cooperative_groups|cuda)[/.]")

#: A scalar's value, of a kata that has so many: a few blocks, the last of them not full.
SMALL = {1: 1100, 2: 70, 3: 40}


def _files() -> Iterator[Path]:
    seen = set()
    for path in sorted((ROOT / "tests/right").rglob("*.cu")):
        library = _LIBRARY.search(path.read_text(encoding="utf-8"))
        if library is None or library[1] not in seen:
            yield path
        seen |= {library[1]} if library else set()


@dataclass
class _Twice(Session):
    """Counts each launch cut down, then whole, over the same memory."""

    pairs: list[tuple[tuple[InstructionCounters, ...], ...]] = field(default_factory=list)

    def launch(self, step: Launch) -> None:
        kernel = self.module.kernel(step.kernel)
        restore = self.memory.keep_small(1 << 30)
        cut = self._counted(lean(kernel), step)
        restore()
        self.pairs.append((cut, self._counted(kernel, step)))

    def _counted(self, kernel: Kernel, step: Launch) -> tuple[InstructionCounters, ...]:
        tally = Tally(1 << 16, {}, together=True)
        packed = Backing(len(step.args), data=np.frombuffer(step.args, np.uint8), written=True)
        running = Running(
            kernel, step.name, self.memory, step.grid, step.block, kernel.dynamic_start + step.shared_bytes, packed,
            self.print, self.machine.budget, False, None, tally,
        )  # fmt: skip
        running.run()
        return tuple(Sums(kernel, [(part, np.ones(1)) for part in tally.parts], running.blocks).instructions())


def _arguments(kata: Kata) -> Iterator[Buffer | int]:
    scalars = [parameter.name for parameter in kata.parameters if not parameter.pointer]
    sizes = dict.fromkeys(scalars, SMALL[len(scalars)])
    for parameter in kata.parameters:
        if parameter.pointer:
            yield Buffer(parameter.name, fill(np.random.default_rng(0), "random", parameter.shape_for(sizes)))
        else:
            yield sizes[parameter.name]


@pytest.mark.parametrize("path", [*_files()], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kernel_cut_down_counts_what_the_whole_one_does(path: Path) -> None:
    kata = catalogue.load(path.parent.name)
    program = source.parse(path, kata)
    compiled = compile_program(program)
    session = _Twice(Module.parse(compiled.ptx, path.name))
    values = tuple(session.place(one) if isinstance(one, Buffer) else one for one in _arguments(kata))
    for buffer, allocation in session.buffers:
        allocation.backing.fill(buffer.data)
    for step in make_plan(session.module, compiled, values, source_name=path.name).steps:
        session.perform(step)
    assert session.pairs
    for cut, whole in session.pairs:
        assert cut == whole

"""From a user's file to a :class:`Profile`: each launch of ``solve`` counted in the simulator, its time predicted.

A launch is counted on some of its blocks, so what a kernel leaves in memory is mostly missing when the next one reads
it. Counting goes on all the same, over zeros: where a kernel's way depends on what an earlier one computed, its
counts are those of zeros. Where many launches differ only in their arguments, only some of them are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from harness import source
from harness.catalogue import Kata, Parameter
from harness.compile import Compiled, compile_program
from harness.devices import LAUNCH_ONE, NO_LAUNCH
from harness.devices.simulated import Session
from harness.errors import KernelFault, Unsupported, UsageError
from harness.launch_rules import LaunchLimits
from harness.plan import Copy, Launch, LaunchPlan, Malloc, Memset, Upload, make_plan
from harness.profiles import LaunchProfile, Profile, Transfer
from harness.references.values import fill
from harness.simulator import Budget, Machine, Memory, Module, sampling
from harness.simulator.counting import Call, count
from harness.simulator.gpus import Gpu, load_gpu
from harness.simulator.memory import Allocation
from harness.simulator.occupancy import cache_share, place
from harness.simulator.timing import predict_all, whole

#: Arrays hold a random piece of this many elements over and over: no power of two, so that rows differ.
TILE = 65521

#: Simulated seconds after which a launch counts as one that can't be profiled here.
SECONDS = 60.0

#: Launches that are counted of those that differ only in their arguments.
MOST_ALIKE = 24


#: Solve's scalars and their values.
Size = Mapping[str, int] | tuple[tuple[str, int], ...]


def profile(kata: Kata, path: Path, gpu: str, size: Size | None = None) -> Profile:
    """Profile the kernels in ``path`` on the GPU of this name, at ``size`` or at the
    first size that the kata is timed at.

    Raises SourceError, CompileError, EnvironmentFault, Unsupported, KernelFault for a kernel that can't run to its end,
    and UsageError for an unknown GPU, a block that does not fit it, or a kata without a size.
    """
    target = load_gpu(gpu)
    chosen: dict[str, int] = dict(size or _first_size(kata))
    program = source.parse(path, kata)
    compiled = compile_program(program, arch=target.arch)
    session = _Counting(Module.parse(compiled.ptx, path.name), compiled=compiled, gpu=target)
    values = tuple(
        session.fill(parameter, name, chosen) if parameter.pointer else chosen[parameter.name]
        for parameter, name in zip(kata.parameters, program.parameter_names, strict=True)
    )
    plan = make_plan(session.module, compiled, values, limits=_limits(target), source_name=path.name)
    if not plan.later.launches:
        raise UsageError(NO_LAUNCH, file=str(path), remedy=LAUNCH_ONE)
    session.perform_all(plan)
    launches = predict_all(session.profiles(), target)
    label = ", ".join(f"{name} = {value}" for name, value in chosen.items())
    transfers = tuple(session.transfers)
    return Profile(kata.name, str(path), target.name, label, launches, transfers, whole(launches, transfers, target))


def filled(memory: Memory, parameter: Parameter, name: str, sizes: Mapping[str, int]) -> Allocation:
    """The array of a pointer: values such as the kata's cases have for inputs, else the initial value."""
    allocation = memory.allocate(name, 4 * math.prod(parameter.shape_for(sizes)), written=True)
    if parameter.role != "out":
        allocation.backing.fill(fill(np.random.default_rng(0), "random", (TILE,)))
    elif parameter.initial:
        allocation.backing.fill(np.full(1, parameter.initial, np.float32))
    return allocation


def _first_size(kata: Kata) -> Size:
    if not kata.speed:
        raise UsageError(f"{kata.name} is not timed, so there is no size to profile it at")
    return kata.speed[0]


def _limits(gpu: Gpu) -> LaunchLimits:
    return LaunchLimits(
        gpu.arch, opt_in_shared_bytes=gpu.shared_per_block, registers=gpu.registers_per_sm,
        memory_bytes=gpu.memory_bytes,
    )  # fmt: skip


@dataclass(frozen=True)
class _Chosen:
    """A launch that is counted: how many it stands for, and what that leaves in doubt."""

    times: int
    notes: tuple[str, ...]


def _plain(step: Launch) -> Launch:
    """What makes launches equal."""
    return replace(step, line=None, relocations=())


def _choose(launches: tuple[Launch, ...]) -> dict[Launch, _Chosen]:
    """The launches to be counted, plain: some of those that differ in nothing but their arguments."""
    calls = Counter(map(_plain, launches))
    first: dict[Launch, Launch] = {}
    for step in launches:
        first.setdefault(_plain(step), step)
    alike: dict[Launch, list[Launch]] = {}
    for plain, step in first.items():
        alike.setdefault(replace(plain, args=b"", line=step.line), []).append(plain)
    found: dict[Launch, _Chosen] = {}
    for group in alike.values():
        chosen = sampling.stand_ins(len(group), MOST_ALIKE)
        notes = () if len(chosen) == len(group) else (
            f"Of {len(group):,} launches that differ only in their arguments, {len(chosen)} were counted: each stands "
            "for those made next to it.",
        )  # fmt: skip
        for number, others in chosen.items():
            found[group[number]] = _Chosen(sum(calls[group[other]] for other in others), notes)
    return found


@dataclass
class _Counting(Session):
    """A case whose launches are counted, not run whole. Memory counts as written from the start."""

    compiled: Compiled = field(kw_only=True)
    gpu: Gpu = field(kw_only=True)
    chosen: Mapping[Launch, _Chosen] = field(default_factory=dict)
    counted: dict[Launch, LaunchProfile] = field(default_factory=dict)
    transfers: list[Transfer] = field(default_factory=list)
    scratch: int = 0

    def __post_init__(self) -> None:
        self.machine = Machine(self.module, self.memory, printer=self.print, budget=Budget(SECONDS), watch_races=False)

    def fill(self, parameter: Parameter, name: str, sizes: Mapping[str, int]) -> int:
        """Give a pointer its array."""
        return filled(self.memory, parameter, name, sizes).address

    def perform_all(self, plan: LaunchPlan) -> None:
        """One call of solve, and not its first where that does something else: what that one keeps takes no time."""
        later = plan.later
        if set(later.steps) != set(plan.steps):
            for step in plan.steps:
                if isinstance(step, Malloc | Upload):
                    self.perform(step)
            self.transfers.clear()
        self.chosen = _choose(later.launches)
        super().perform_all(later)

    def launch(self, step: Launch) -> None:
        """Count it, unless an equal one was, or another stands for it."""
        plain = _plain(step)
        if plain in self.chosen and plain not in self.counted:
            self.counted[plain] = self._counted(step, self.chosen[plain])

    def _counted(self, step: Launch, chosen: _Chosen) -> LaunchProfile:
        needs = self.compiled.resources[step.kernel]
        call = Call(step.kernel, step.name, step.grid, step.block, step.shared_bytes, step.args)
        warps = -(-math.prod(step.block) // 32)
        shared_bytes = needs.shared_bytes + step.shared_bytes
        held = place(self.gpu, step.name, warps, needs.registers, shared_bytes, call.blocks)
        try:
            found = count(self.machine, call, cache_share(self.gpu, held, call.blocks, shared_bytes))
        except KernelFault as fault:
            raise self._as_met_here(fault, step) from fault
        sample = replace(found.sampling, notes=found.sampling.notes + chosen.notes)
        return LaunchProfile(
            step.name, step.line, step.grid, step.block, needs.registers, needs.frame_bytes, needs.shared_bytes,
            step.shared_bytes, **vars(replace(found, sampling=sample)), times=chosen.times,
        )  # fmt: skip

    def _as_met_here(self, fault: KernelFault, step: Launch) -> KernelFault | Unsupported:
        """What a fault means here: only a first launch sees in memory what it would see on a GPU."""
        if fault.hazard.kind == "unfinished":
            return Unsupported(
                f"{step.name} is too slow to profile here: one of its blocks ran for over {SECONDS:g} s",
                line=fault.hazard.line, remedy="profile it on a GPU, or share the work out over more threads",
            )  # fmt: skip
        if self.counted:
            return Unsupported(
                f"{step.name} can't be profiled here: it needs what an earlier kernel computed, of which only a part "
                f"was run ({fault.message})", line=fault.hazard.line, remedy="profile it on a GPU",
            )  # fmt: skip
        return fault

    def profiles(self) -> tuple[LaunchProfile, ...]:
        """Each different launch, in the order in which they were first made."""
        return tuple(self.counted.values())

    def malloc(self, step: Malloc) -> None:
        """Scratch memory, by a name of its own."""
        self.scratch += 1
        name = "scratch" if self.scratch == 1 else f"scratch {self.scratch}"
        self.memory.allocate(name, step.nbytes, kind="scratch", address=step.address, written=True)

    def memset(self, step: Memset) -> None:
        """Fill bytes, and note that it takes time."""
        super().memset(step)
        self.transfers.append(Transfer("memset", step.nbytes, step.line))

    def copy(self, step: Copy) -> None:
        """Copy bytes, and note that it takes time."""
        super().copy(step)
        self.transfers.append(Transfer("copy", step.nbytes, step.line))

    def upload(self, step: Upload) -> None:
        """Write bytes, and note that it takes time."""
        super().upload(step)
        self.transfers.append(Transfer("upload", len(step.data), step.line))

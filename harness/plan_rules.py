"""What CUDA would refuse of a launch plan: the launches, the memory and the shared memory that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.cubin import Resources
from harness.errors import KernelFault
from harness.launch_rules import LaunchLimits, check_launch, launch_fault
from harness.mangling import plain_name
from harness.results import Hazard
from harness.steps import Free, Launch, LaunchPlan, Malloc, SetAttribute, Step

#: Why a pointer can't be freed: the hazard's kind, the reason, and the remedy.
_TWICE = "double_free", "was freed before", "free it once"
_NEVER = (
    "invalid_free", "is not what cudaMalloc returned",
    "free only what solve allocates; give the pointer its memory first: cudaMalloc(&pointer, bytes)",
)  # fmt: skip


class Refused(KernelFault):
    """CUDA would refuse a step of ``solve``. ``before`` are the calls up to it, the last as far as it gets: they run
    all the same, and what they do may be why."""

    def __init__(self, hazard: Hazard, before: tuple[LaunchPlan, ...]) -> None:
        super().__init__(hazard)
        self.before = before


class PlanRules:
    """Holds a plan against what CUDA would refuse, step by step."""

    def __init__(self, resources: Mapping[str, Resources], limits: LaunchLimits) -> None:
        self.resources = resources
        self.limits = limits
        self.live: dict[int, int] = {}
        self.freed: set[int] = set()
        self.allowed: dict[str, int] = {}

    def check(self, plan: LaunchPlan) -> None:
        """Raise Refused for the first step that CUDA would refuse, in the first call of ``solve`` or in another: what a
        kernel was allowed last stays, and so does scratch."""
        self._call(plan, (), "")
        self._call(plan.later, (plan,), "when solve is called again, ")

    def _call(self, plan: LaunchPlan, before: tuple[LaunchPlan, ...], when: str) -> None:
        for number, step in enumerate(plan.steps):
            try:
                self._check(step)
            except KernelFault as fault:
                reached = replace(plan, steps=plan.steps[:number])
                raise Refused(replace(fault.hazard, message=when + fault.hazard.message), (*before, reached)) from fault

    def _check(self, step: Step) -> None:
        match step:
            case Malloc():
                self._malloc(step)
            case Free():
                self._free(step)
            case SetAttribute():
                self._allow(step)
            case Launch():
                needs = self.resources[step.kernel]
                check_launch(
                    step.name, step.grid, step.block, step.shared_bytes, step.line, needs,
                    self.allowed.get(step.kernel), self.limits,
                )  # fmt: skip

    def _malloc(self, step: Malloc) -> None:
        self.live[step.address] = step.nbytes
        total = sum(self.live.values())
        if total > self.limits.memory_bytes:
            launch_fault(
                "cudaErrorMemoryAllocation", f"cudaMalloc of {step.nbytes:,} bytes: more than the GPU has",
                line=step.line, remedy="check the size: is it negative, or counted twice?", kind="out_of_memory",
            )  # fmt: skip

    def _free(self, step: Free) -> None:
        if self.live.pop(step.address, None) is None:
            kind, why, remedy = _TWICE if step.address in self.freed else _NEVER
            what = f"cudaFree of a pointer that {why}"
            launch_fault("cudaErrorInvalidValue", what, line=step.line, remedy=remedy, kind=kind)
        self.freed.add(step.address)

    def _allow(self, step: SetAttribute) -> None:
        most = self.limits.opt_in_shared_bytes - self.resources[step.kernel].shared_bytes
        if not 0 <= step.shared_bytes <= most:
            launch_fault(
                "cudaErrorInvalidValue",
                f"cudaFuncSetAttribute asks for {step.shared_bytes:,} bytes of shared memory; {most:,} is the most",
                line=step.line, kernel=plain_name(step.kernel), remedy="use a smaller tile",
            )  # fmt: skip
        self.allowed[step.kernel] = step.shared_bytes

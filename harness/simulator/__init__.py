"""A GPU in NumPy: runs PTX warp by warp, checks like a sanitizer. Knows nothing of katas, devices or grading."""

from harness.simulator.kernel import Kernel, Module
from harness.simulator.machine import Budget, LaunchReport, Machine
from harness.simulator.memory import Allocation, Memory

__all__ = ["Allocation", "Budget", "Kernel", "LaunchReport", "Machine", "Memory", "Module"]

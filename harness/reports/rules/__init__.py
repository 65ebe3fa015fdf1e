"""What can be wrong with a kernel's speed: one row for each thing, read from what was counted.

A row says which part of a resource is wasted, in a sentence what wastes it, and in another what to do.
"""

from harness.reports.rules import execution, memory
from harness.reports.rules.scene import Rule, Scene, Waste

__all__ = ["RULES", "Rule", "Scene", "Waste"]

RULES = (*memory.RULES, *execution.RULES)

"""Grading: is a kernel right, and if not, what does the wrong answer look like. Never prints."""

from __future__ import annotations

from harness.grading.check import check_file, completed, headline

__all__ = ["check_file", "completed", "headline"]

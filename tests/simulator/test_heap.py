"""Keeping freed memory is a matter of speed only."""

from __future__ import annotations

import ctypes

import pytest

from harness.simulator import heap


def test_a_platform_without_the_setting_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str | None) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", without)
    heap.keep_freed_memory.cache_clear()
    assert heap.keep_freed_memory() is False
    heap.keep_freed_memory.cache_clear()


def test_it_answers_whether_the_library_took_the_setting() -> None:
    assert heap.keep_freed_memory() in (True, False)

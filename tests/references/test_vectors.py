from __future__ import annotations

from harness.references.vectors import vector_cases


def test_the_awkward_lengths_are_all_there_and_the_small_ones_come_first() -> None:
    cases = vector_cases((7, "constant"), large=99_991)
    lengths = [case["n"] for case in cases]
    assert {1, 2, 3, 31, 32, 33, 255, 257, 1000, 1025, 99_991} <= set(lengths)
    assert lengths[:3] == [1, 2, 3]
    groups = [case.group for case in cases]
    assert groups == sorted(groups, key=["small", "ragged", "round", "values", "large"].index)


def test_special_values_are_named_in_the_label() -> None:
    assert "n = 7 (constant)" in [case.label for case in vector_cases((7, "constant"), large=9)]

"""The GPUs that can be named, held against figures that NVIDIA states elsewhere."""

from __future__ import annotations

import dataclasses

import pytest

from harness.commands.shared import GPU
from harness.errors import UsageError
from harness.simulator.gpus import DEFAULT, Gpu, load_gpu, names


@pytest.mark.parametrize(
    ("name", "teraflops"),
    [("t4", 8.1), ("a10", 31.2), ("l4", 30.3), ("rtx3090", 35.6), ("rtx4090", 82.6), ("a100", 19.5), ("h100", 67.0),
     ("h200", 67.0)],
)  # fmt: skip
def test_lanes_sms_and_clock_make_the_peak_that_the_datasheet_states(name: str, teraflops: float) -> None:
    assert load_gpu(name).fp32 / 1e12 == pytest.approx(teraflops, rel=0.01)


@pytest.mark.parametrize(("name", "teraflops"), [("a100", 9.7), ("h100", 34.0)])
def test_so_does_double_precision(name: str, teraflops: float) -> None:
    assert load_gpu(name).fp64 / 1e12 == pytest.approx(teraflops, rel=0.02)


def test_the_architecture_follows_from_the_capability() -> None:
    assert [load_gpu(name).arch for name in ("t4", "a100", "l4", "h200")] == ["sm_75", "sm_80", "sm_89", "sm_90"]


def test_commands_and_simulator_mean_the_same_gpu_where_none_is_named() -> None:
    assert GPU == DEFAULT


def test_every_gpu_says_where_its_figures_come_from() -> None:
    assert len(names()) == 8 and DEFAULT in names()
    assert all("datasheet" in load_gpu(name).source or "whitepaper" in load_gpu(name).source for name in names())


@pytest.mark.parametrize(("typed", "meant"), [("h20", "h200"), ("H1OO", "h100"), ("rtx-4090", "rtx4090")])
def test_an_unknown_gpu_is_refused_with_the_nearest_and_all_known(typed: str, meant: str) -> None:
    with pytest.raises(UsageError, match=typed) as refused:
        load_gpu(typed)
    remedy = refused.value.remedy or ""
    assert f"did you mean {meant}?" in remedy and all(name in remedy for name in names())


def test_upper_case_is_as_good() -> None:
    assert load_gpu("H100") == load_gpu("h100")


@pytest.mark.parametrize(
    "change",
    [{"sms": 0}, {"clock": -1.0}, {"l2_bandwidth": 1e9}, {"shared_per_block": 1 << 30}, {"carveouts": (0, 8192)}],
)
def test_a_record_that_can_not_be_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="h200"):
        dataclasses.replace(load_gpu("h200"), **change)


@pytest.mark.parametrize("change", [{"dram": 0.0}, {"dram_achieved": 1.2}, {"dirty": 2.0}])
def test_physics_that_can_not_be_is_refused(change: dict[str, float]) -> None:
    gpu: Gpu = load_gpu("a100")
    with pytest.raises(ValueError, match="physics"):
        dataclasses.replace(gpu.physics, **change)

"""Opening a device by name, and what a run must be."""

from __future__ import annotations

import numpy as np
import pytest

from harness.devices import CALLS, Buffer, Launched, Run, open_device
from harness.errors import EnvironmentFault, UsageError


def test_an_unknown_device_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        open_device("tpu")
    assert "sim" in (caught.value.remedy or "")


def test_a_gpu_is_refused_without_pycuda_with_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.devices.gpu.pycuda_installed", lambda: False)
    with pytest.raises(EnvironmentFault) as caught:
        open_device("gpu")
    assert caught.value.exit_code == 5 and "kata doctor" in (caught.value.remedy or "")


def test_the_default_device_is_the_simulator_without_pycuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.devices.gpu_probe.pycuda_installed", lambda: False)
    assert open_device().name == open_device("sim").name == "simulated sm_80"


def test_a_run_that_stopped_early_must_say_why() -> None:
    with pytest.raises(ValueError, match=f"1 of {CALLS}"):
        Run(calls=({},))


def test_a_buffers_data_is_contiguous() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        Buffer("a", np.zeros((4, 4), np.float32).T[:2])


def test_a_launch_counts_its_threads_and_blocks() -> None:
    launch = Launched((4, 3, 1), (32, 8, 1))
    assert (launch.threads, launch.blocks) == (256, 12)

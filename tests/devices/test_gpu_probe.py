"""What `kata doctor` says of a GPU: which part is missing, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.devices import gpu_probe
from harness.devices.gpu_probe import Part, survey

Machine = Callable[..., list[Part]]

NVCC = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release {}, V1\n"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """A machine as described: the driver's answer (exit code, text), nvcc's release, whether PyCUDA can be imported."""

    def describe(
        driver: tuple[int, str] | None = (0, "13000\nNVIDIA H200\n"), nvcc: str | None = "13.0",
        pycuda: tuple[int, str] | None = (0, "2026.1\n"), sanitizer: str | None = "/opt/cuda/compute-sanitizer",
    ) -> list[Part]:  # fmt: skip
        def load(name: str) -> None:
            if driver is None:
                raise OSError(name)

        def run(command: list[str], **_: Any) -> SimpleNamespace:
            if command[1:] == ["--version"]:
                return SimpleNamespace(returncode=0, stdout=NVCC.format(nvcc), stderr="")
            code, text = (pycuda if "pycuda" in command[2] else driver) or (1, "")
            return SimpleNamespace(returncode=code, stdout=text if not code else "", stderr=text if code else "")

        monkeypatch.setattr(gpu_probe.ctypes, "CDLL", load)
        monkeypatch.setattr(gpu_probe.subprocess, "run", run)
        monkeypatch.setattr(gpu_probe, "find_nvcc", lambda: None if nvcc is None else "/usr/local/cuda/bin/nvcc")
        monkeypatch.setattr(gpu_probe, "pycuda_installed", lambda: pycuda is not None)
        monkeypatch.setattr(gpu_probe, "find_sanitizer", lambda: sanitizer)
        return list(survey())

    return describe


def test_a_machine_with_everything_is_described(machine: Machine) -> None:
    driver, toolkit, pycuda, sanitizer = machine()
    assert driver.ok and toolkit.ok and pycuda.ok and sanitizer.ok
    assert driver.detail == "NVIDIA H200; the driver supports CUDA 13.0"
    assert (toolkit.detail, pycuda.detail) == ("nvcc 13.0 in /usr/local/cuda/bin/nvcc", "PyCUDA 2026.1")


def test_a_machine_without_a_gpu_needs_nothing(machine: Machine) -> None:
    driver, _, pycuda, _ = machine(driver=None, nvcc=None, pycuda=None)
    assert not driver.ok and "none is needed" in driver.detail and not pycuda.remedy


@pytest.mark.parametrize(
    ("code", "says"), [(100, "sees no GPU"), (35, "older than its library"), (3, "CUDA error 3")], ids=str
)
def test_a_driver_that_does_not_start_says_why(machine: Machine, code: int, says: str) -> None:
    driver = machine(driver=(code, ""))[0]
    assert not driver.ok and says in f"{driver.detail} {driver.remedy}"


def test_a_driver_older_than_the_toolkit_is_named_with_both_versions(machine: Machine) -> None:
    toolkit = machine(driver=(0, "12040\nNVIDIA A100\n"))[1]
    assert not toolkit.ok and "newer than the driver (CUDA 12.4)" in toolkit.detail
    assert toolkit.remedy and "CUDA 13" in toolkit.remedy and "12.4" in toolkit.remedy


def test_without_nvcc_nvrtcs_build_would_run(machine: Machine) -> None:
    toolkit = machine(nvcc=None)[1]
    assert not toolkit.ok and "NVRTC" in toolkit.detail and toolkit.remedy


def test_pycuda_that_is_missing_or_broken_is_told_apart(machine: Machine) -> None:
    missing, broken = machine(pycuda=None)[2], machine(pycuda=(1, "...\nImportError: libcurand.so.10"))[2]
    assert "not installed: the GPU is not used" in missing.detail and "pip install pycuda" in (missing.remedy or "")
    assert "libcurand" in broken.detail and "--force-reinstall" in (broken.remedy or "")


def test_this_machine_can_be_asked() -> None:
    assert [part.name for part in survey()] == ["gpu", "toolkit", "gpu extra", "sanitizer"]


def test_a_toolkit_without_compute_sanitizer_is_told(machine: Machine) -> None:
    sanitizer = machine(sanitizer=None)[3]
    assert not sanitizer.ok and "--sanitize" in sanitizer.detail and sanitizer.remedy

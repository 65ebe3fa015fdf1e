"""The GPU device with a stand-in for PyCUDA: its process, its messages and its bookkeeping, on any machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import catalogue, references
from harness.devices import PhysicalDevice, open_device
from harness.devices.gpu import GpuDevice
from harness.errors import EnvironmentFault
from harness.grading import check_file, speed
from harness.results import Outcome
from tests.conftest import RIGHT, ROOT
from tests.devices.gpu_cases import *  # noqa: F403  the promises, run here on the stand-in
from tests.devices.gpu_cases import DOUBLE, arguments, load

STANDIN = Path(__file__).parent / "standin"


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[GpuDevice]:
    monkeypatch.syspath_prepend(str(STANDIN))
    monkeypatch.setenv("PYTHONPATH", str(STANDIN))
    monkeypatch.setenv("KATA_CACHE", str(tmp_path / "cache"))
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("", encoding="utf-8")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(nvcc.parent))
    opened = GpuDevice()
    yield opened
    opened.close()


def test_auto_takes_a_gpu_where_there_is_one(device: GpuDevice) -> None:
    found = open_device("auto")
    assert isinstance(found, PhysicalDevice) and (found.name, found.arch) == ("stand-in GPU", "sm_80")
    found.close()


def test_a_gpu_number_that_there_is_not_is_refused(device: GpuDevice) -> None:
    with pytest.raises(EnvironmentFault, match=r"GPU 3 can't be used: .*invalid device ordinal"):
        open_device("gpu", 3)


def test_where_nvcc_refuses_the_file_nvrtcs_build_runs_and_a_remark_says_so(device: GpuDevice, tmp_path: Path) -> None:
    executable = load(device, tmp_path, DOUBLE)
    assert executable.run(arguments()).fault is None
    (remark,) = executable.remarks
    assert "refuses mine.cu, so NVRTC's build of it ran: mine.cu(1): error: the stand-in compiles nothing" in remark


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks for the process in /proc")
def test_the_process_ends_with_the_one_that_started_it(device: GpuDevice) -> None:
    program = "from harness.devices.gpu import GpuDevice; print(GpuDevice().link.process.pid, flush=True); input()"
    environment = os.environ | {"PYTHONPATH": f"{STANDIN}:{ROOT}"}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        worker = Path("/proc", parent.stdout.readline().strip())
        assert worker.is_dir()
        parent.kill()
    deadline = time.monotonic() + 10
    while worker.is_dir() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not worker.is_dir() or "\nState:\tZ" in (worker / "status").read_text()


def test_closing_the_device_ends_its_process(device: GpuDevice) -> None:
    device.close()
    assert device.link.process.returncode == 0


def test_a_check_grades_the_kernel_among_the_rungs(
    home: Path, device: GpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = home / "katas/add/kata.toml"
    toml.write_text(toml.read_text().replace("[[hints]]", "[[speed]]\nn = 1000\n[[hints]]", 1), encoding="utf-8")
    monkeypatch.setattr(speed, "WARM_UP", 0.0)
    monkeypatch.setattr(speed, "CAP", 0.1)
    cases = tuple(case for case in references.load("add").CASES if case.group == "small")
    monkeypatch.setattr("harness.references.add.CASES", cases)
    verdict = check_file(catalogue.load("add"), home / "solutions/add/1_one_thread_per_element.cu", device, 1)
    assert verdict.outcome is Outcome.RIGHT and [case.group for case in verdict.cases][-1] == "speed"
    assert verdict.speed is not None and verdict.speed.timing is not None and verdict.speed.nbytes == 12000
    assert len(verdict.speed.rungs) == 1 and (verdict.speed.grade or verdict.speed.refused)


def test_a_hazard_that_the_gpu_does_not_see_fails_the_check_all_the_same(home: Path, device: GpuDevice) -> None:
    path = home / "reads.cu"
    reading = RIGHT.replace("a[i] + b[i]", "a[i] + b[i] + (c[i] == 12345.0f ? 1.0f : 0.0f)")
    path.write_text(reading, encoding="utf-8")
    verdict = check_file(catalogue.load("add"), path, device, 1)
    assert verdict.outcome is Outcome.FAULT and verdict.hazards[0].kind == "uninitialised" and verdict.speed is None

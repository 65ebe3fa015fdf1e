"""The GPU device with a stand-in for PyCUDA: its process, its messages and its bookkeeping, on any machine."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness import catalogue, references
from harness.devices import PhysicalDevice, open_device
from harness.devices.gpu import GpuDevice
from harness.errors import EnvironmentFault
from harness.grading import check_file, speed
from harness.grading.ladder import ladder_of, speed_cases
from harness.results import Outcome, Severity
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


def test_large_arrays_go_from_process_to_process_unchanged(device: GpuDevice, tmp_path: Path) -> None:
    n = 300_000
    text = DOUBLE.replace("threadIdx.x", "blockIdx.x * blockDim.x + threadIdx.x").replace("<<<1, 64", "<<<1200, 256")
    done = load(device, tmp_path, text).run(arguments(n))
    assert done.fault is None
    assert np.array_equal(done.calls[1]["out"], 2 * (np.arange(n, dtype=np.float32) - 20))


def test_a_size_that_the_memory_cannot_hold_is_cut_down(
    home: Path, device: GpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "WARM_UP", 0.0)
    monkeypatch.setattr(speed, "CAP", 0.1)
    monkeypatch.setenv("STANDIN_MEMORY", "1000000")
    small = GpuDevice()
    kata = dataclasses.replace(catalogue.load("add"), speed=((("n", 50_000),),))
    timed = ladder_of(kata, None, small, 1, time.perf_counter).time(speed_cases(kata)[0])
    small.close()
    assert timed.speed is not None and timed.speed.label == "n = 12500"
    assert timed.warnings == ("timed at n = 12500: the GPU's memory can't hold n = 50000",)


#: A compute-sanitizer that runs the program it is given, and then says that one tool found something.
SANITIZER = """#!/bin/sh
tool=$2
while [ "$1" != --log-file ]; do shift; done
log=$2
shift 2
"$@"
[ $tool = racecheck ] && cat > "$log" <<'END'
========= Error: Race reported between Write access at k(const float *, float *, int)+0xd0 in /tmp/x/mine.cu:2
=========     and Read access at k(const float *, float *, int)+0x110 in /tmp/x/mine.cu:3 [160 hazards]
=========
END
exit 0
"""


def test_each_tool_of_the_sanitizer_watches_a_process_of_its_own(
    device: GpuDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "compute-sanitizer"
    program.write_text(SANITIZER, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    executable = load(device, tmp_path, DOUBLE)
    (finding,) = device.sanitize(executable.program, executable.compiled, [arguments(), arguments(33)])
    assert (finding.tool, finding.kind, finding.lines, finding.count) == ("racecheck", "race", (2, 3), 160)


def test_what_the_sanitizer_finds_is_part_of_the_verdict(
    device: GpuDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "compute-sanitizer"
    program.write_text(SANITIZER, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setattr("harness.references.relu.CASES", references.load("relu").CASES[:3])
    path = tmp_path / "mine.cu"
    path.write_text(DOUBLE.replace("2 * in[i]", "fmaxf(in[i], 0)"), encoding="utf-8")
    kata = dataclasses.replace(catalogue.load("relu"), speed=())
    verdict = check_file(kata, path, device, 1, sanitize=True)
    assert verdict.outcome is Outcome.RIGHT  # the simulator watched, and saw no race: a warning
    (hazard,) = verdict.hazards
    assert hazard.severity is Severity.WARNING and (hazard.other_line, hazard.line) == (2, 3)
    assert verdict.remarks and "over 3 cases: 1 found" in verdict.remarks[0]


def test_a_machine_without_the_sanitizer_is_told(device: GpuDevice, tmp_path: Path) -> None:
    executable = load(device, tmp_path, DOUBLE)
    with pytest.raises(EnvironmentFault, match="compute-sanitizer is not here"):
        device.sanitize(executable.program, executable.compiled, [arguments()])


def test_a_hazard_that_the_gpu_does_not_see_fails_the_check_all_the_same(home: Path, device: GpuDevice) -> None:
    path = home / "reads.cu"
    reading = RIGHT.replace("a[i] + b[i]", "a[i] + b[i] + (c[i] == 12345.0f ? 1.0f : 0.0f)")
    path.write_text(reading, encoding="utf-8")
    verdict = check_file(catalogue.load("add"), path, device, 1)
    assert verdict.outcome is Outcome.FAULT and verdict.hazards[0].kind == "uninitialised" and verdict.speed is None

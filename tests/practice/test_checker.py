"""Checks in a process of their own: what comes back, and what happens when that process dies."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import CompileError, EnvironmentFault
from harness.practice.checker import Checker
from harness.practice.events import CaseDone, Check, Checked, Event, Graded, Snapshot
from harness.results import Outcome
from tests.conftest import PATIENCE, RIGHT, ROOT, SYNTAX_ERROR, TAIL


class Desk:
    """A checker of ``add.cu`` and what it reports."""

    def __init__(self, path: Path, *, kata: str = "add", gpu: str | None = None) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.checker = Checker(kata, path, self.events.put, device="sim", gpu=gpu)

    def check(self, text: str) -> tuple[Checked, list[CaseDone]]:
        """The result, and the cases on the way to it."""
        snapshot = Snapshot(text.encode())
        self.checker.check(Check(snapshot, 1))
        cases = []
        while isinstance(event := self.events.get(timeout=PATIENCE), CaseDone):
            cases.append(event)
        assert isinstance(event, Checked)
        assert event.snapshot == snapshot
        return event, cases


@pytest.fixture
def bench(home: Path, desk: Path) -> Iterator[Desk]:
    bench = Desk(Path("add.cu"))
    yield bench
    bench.checker.close()


def test_results_come_back_whole(bench: Desk) -> None:
    checked, cases = bench.check(RIGHT)
    assert checked.result.right
    assert checked.result.verdict is not None
    assert checked.result.verdict.file == "add.cu"
    assert len(cases) == cases[0].total == len(checked.result.verdict.cases)
    checked, _ = bench.check(TAIL)
    assert checked.result.outcome is Outcome.WRONG
    assert checked.result.lead is not None
    checked, cases = bench.check(SYNTAX_ERROR)
    assert isinstance(checked.result.error, CompileError)
    assert checked.result.error.file == "add.cu"
    assert checked.result.outcome is Outcome.COMPILE_ERROR
    assert cases == []


def test_the_snapshot_is_checked_not_what_is_saved_later(bench: Desk, desk: Path) -> None:
    (desk / "add.cu").write_text(TAIL, encoding="utf-8")
    checked, _ = bench.check(RIGHT)
    assert checked.result.right
    assert (desk / "add.cu").read_text(encoding="utf-8") == TAIL


def test_a_process_that_dies_is_said_and_replaced(bench: Desk) -> None:
    bench.check(RIGHT)
    os.kill(bench.checker.pid, signal.SIGSTOP)  # so that it is surely busy when it dies
    bench.checker.check(Check(Snapshot(RIGHT.encode()), 1))
    os.kill(bench.checker.pid, signal.SIGKILL)
    event = bench.events.get(timeout=PATIENCE)
    assert isinstance(event, Checked)
    assert isinstance(event.result.error, EnvironmentFault)
    assert "signal 9" in event.result.error.message
    assert not event.result.judged
    checked, _ = bench.check(RIGHT)
    assert checked.result.right


def test_the_predicted_time_follows_the_verdict(desk: Path) -> None:
    kata = catalogue.load("add")
    predicting = Desk(Path("add.cu"), gpu="a100")
    try:
        checked, _ = predicting.check(kata.rungs[0].path.read_text(encoding="utf-8"))
        assert checked.result.right
        assert not checked.result.complete
        graded = predicting.events.get(timeout=PATIENCE)
        assert isinstance(graded, Graded)
        assert graded.snapshot == checked.snapshot
        assert graded.result.complete
        assert graded.result.rung is not None
    finally:
        predicting.checker.close()


def test_a_fault_at_the_size_that_it_is_timed_at_follows_the_verdict(desk: Path) -> None:
    predicting = Desk(Path("sigmoid.cu"), kata="sigmoid", gpu="a100")
    try:
        checked, _ = predicting.check((ROOT / "tests/wrong/sigmoid/block_times_n_overflows.cu").read_text("utf-8"))
        assert checked.result.right
        assert not checked.result.complete
        graded = predicting.events.get(timeout=PATIENCE)
        assert isinstance(graded, Graded)
        assert graded.result.outcome is Outcome.FAULT
        assert graded.result.verdict is not None
        assert [case.label for case in graded.result.verdict.cases][-1] == "n = 33554432"
    finally:
        predicting.checker.close()


def test_a_newer_check_does_not_wait_for_a_prediction(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_CACHE", str(tmp_path / "empty"))  # so that the whole ladder has to be predicted
    kata = catalogue.load("sgemm_tile")
    predicting = Desk(Path("sgemm_tile.cu"), kata="sgemm_tile", gpu="a100")
    try:
        checked, _ = predicting.check(kata.rungs[0].path.read_text(encoding="utf-8"))
        assert not checked.result.complete
        predicting.checker.check(Check(Snapshot(b"void f"), 1))
        given_up = predicting.events.get(timeout=PATIENCE)
        assert isinstance(given_up, Graded)
        assert given_up.result.complete
        assert given_up.result.rung is None
        newer = predicting.events.get(timeout=PATIENCE)
        assert isinstance(newer, Checked)
        assert newer.result.outcome is Outcome.COMPILE_ERROR
    finally:
        predicting.checker.close()


def test_closing_ends_a_check_that_runs_and_leaves_nothing(home: Path, desk: Path, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    bench = Desk(Path("add.cu"))
    bench.checker.check(Check(Snapshot(RIGHT.encode()), 1))
    bench.checker.close()
    assert list((tmp_path / "scratch").iterdir()) == []

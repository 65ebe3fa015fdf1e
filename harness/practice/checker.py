"""Checks run in a process of their own, one at a time, while the session goes on."""

from __future__ import annotations

import dataclasses
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import harness
from harness.errors import EnvironmentFault
from harness.practice.events import CaseDone, Check, Checked, Event, Graded, Result, Snapshot
from harness.practice.worker import CASE, ERROR, FIRST, Job


class Checker:
    """Checks snapshots of ``path`` as answers to ``kata``; what comes of them is reported from a thread.

    A check sees the snapshot and nothing that is saved later: it is given a copy of that content, by the same name.
    """

    def __init__(
        self, kata: str, path: Path, report: Callable[[Event], None], *, device: str = "auto", gpu_index: int = 0,
        gpu: str | None = None,
    ) -> None:  # fmt: skip
        self._kata, self._path, self._report = kata, path, report
        self._device, self._gpu_index, self._gpu = device, gpu_index, gpu
        self._predicting = False
        self._folder = tempfile.TemporaryDirectory(prefix="kata-")
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self._requests: queue.SimpleQueue[Check | None] = queue.SimpleQueue()
        self._process = self._start(kata)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """The process that checks; another one when that has died."""
        return self._process.pid

    def check(self, request: Check) -> None:
        """Check it when the check asked for before is done. A prediction that still runs is not waited for."""
        if self._predicting:
            self._process.kill()
            self._process.wait()
        self._requests.put(request)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._requests.put(None)
        self._process.kill()
        self._thread.join()
        self._process.kill()  # one that was started in between
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()

    def _start(self, *warmed: str) -> subprocess.Popen[bytes]:
        """A new process. One that has work waiting needs no warming up by a kata."""
        self._errors.seek(0)
        self._errors.truncate()
        package = str(Path(harness.__file__).resolve().parent.parent)
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            [sys.executable, "-m", "harness.practice.worker", *warmed], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    def _serve(self) -> None:
        for request in iter(self._requests.get, None):
            self._answer(request.snapshot, self._ask(request))

    def _answer(self, snapshot: Snapshot, results: Iterator[Result]) -> None:
        """Report the result of a check, and the whole one that follows where the first was not complete."""
        started = time.perf_counter()
        first = next(results)
        self._predicting = not first.complete
        self._report(Checked(snapshot, first, time.perf_counter() - started))
        if not first.complete:
            whole = next(results)
            self._predicting = False
            self._report(Graded(snapshot, whole if whole.verdict else dataclasses.replace(first, complete=True)))

    def _ask(self, request: Check) -> Iterator[Result]:
        """The results of one check; an error is the last."""
        copy = Path(self._folder.name) / self._path.name
        try:
            copy.write_bytes(request.snapshot.content)
        except OSError as error:
            said = f"can't write {copy}: {error.strerror}"
            yield Result(error=EnvironmentFault(said, remedy="Make some room there, and save again."))
            return
        if self._process.poll() is not None:
            self._process = self._start()
        job = Job(self._kata, copy, request.seed, self._device, self._gpu_index, self._gpu)
        try:
            for word, value in self._words(job):
                if word == ERROR:
                    yield Result(error=value)
                elif word == CASE:
                    self._report(CaseDone(*value))
                else:
                    verdict, lead = value
                    complete = word != FIRST
                    yield Result(dataclasses.replace(verdict, file=str(self._path)), lead, complete=complete)
        except (EOFError, OSError, pickle.UnpicklingError):
            yield Result(error=self._last_words())

    def _words(self, job: Job) -> Iterator[tuple[str, Any]]:
        """What the process says of a job, up to its last word. EOFError or OSError where it ends before."""
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise EOFError
        pickle.dump(job, requests)
        requests.flush()
        word = CASE
        while word in (CASE, FIRST):
            word, value = pickle.load(answers)
            yield word, value

    def _last_words(self) -> EnvironmentFault:
        """Why the process ended by itself: the next check gets a new one."""
        self._process.kill()
        code = self._process.wait()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        return EnvironmentFault(
            f"the process that checks was ended {how}", evidence=said or None,
            remedy="Save again to check again. Where it keeps happening, kata doctor says what this machine lacks.",
        )  # fmt: skip

"""The worker's process seen from the one that grades: requests go in, results or faults come out, hangs are ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import harness
from harness.devices.gpu_messages import DONE, FAULT, NOTE
from harness.devices.gpu_pipe import send
from harness.errors import EnvironmentFault

#: Seconds without a word after which a request is given up: a kernel, and everything else (nvcc takes its time).
KERNEL_SECONDS, OTHER_SECONDS = 10.0, 120.0

#: Seconds that a worker has to give its GPU back before it is killed.
CLOSING_SECONDS = 5.0


class WorkerFault(Exception):
    """The worker's GPU faulted, hung or died. ``text`` is CUDA's own; ``launch`` the name and line last launched."""

    def __init__(self, text: str, launch: tuple[str, int | None] | None, *, hung: bool = False) -> None:
        super().__init__(text)
        self.text, self.launch, self.hung = text, launch, hung


class Link:
    """One worker process. After a :class:`WorkerFault` it has ended, and another must be started.

    ``wrapper`` is a command that runs another one: a tool that watches the worker's GPU.
    """

    def __init__(self, wrapper: Sequence[str] = ()) -> None:
        if sys.platform == "win32":
            raise EnvironmentFault("a GPU can't be used on Windows yet", remedy="use WSL, or --device sim")
        self.pipe, theirs = multiprocessing.Pipe()
        command = [*wrapper, sys.executable, "-m", "harness.devices.gpu_worker", str(theirs.fileno())]
        package = str(Path(harness.__file__).resolve().parent.parent)
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}, start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self.alive = True

    def ask(self, method: str, *arguments: Any, seconds: float = OTHER_SECONDS) -> Any:
        """The worker's answer. WorkerFault where the GPU faults, hangs for ``seconds`` or the process dies."""
        launch: tuple[str, int | None] | None = None
        try:
            kept = send(self.pipe, (method, arguments))
            while True:
                if not self.pipe.poll(seconds):
                    self.kill()
                    raise WorkerFault(f"no answer for {seconds:.0f} s", launch, hung=True)
                word, value = self.pipe.recv()
                if word == DONE:
                    del kept  # until here the worker may have been reading it
                    return value
                if word == NOTE:
                    launch = value
                    continue
                self.kill()
                if word == FAULT:
                    raise WorkerFault(value[0], launch)
                raise RuntimeError(f"the GPU's process failed in {method}:\n{value}")
        except (EOFError, OSError) as error:
            raise WorkerFault(self._last_words(), launch) from error

    def _last_words(self) -> str:
        """Why the process ended by itself."""
        self.alive = False
        self._end()  # in vain where it is gone already
        _, errors = self.process.communicate()
        code = self.process.returncode
        said = errors.decode(errors="replace").strip().splitlines()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the GPU's process {how}" + (f": {said[-1]}" if said else "")

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.alive = False
        self._end()
        self.process.communicate()
        self.pipe.close()

    def close(self) -> None:
        """Let the process give its GPU back and end."""
        if not self.alive:
            return
        self.alive = False
        self.pipe.close()
        try:
            self.process.communicate(timeout=CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def _end(self) -> None:
        """Kill the process and what it started: a wrapper's worker would live on."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

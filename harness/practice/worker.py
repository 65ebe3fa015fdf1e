"""The process that checks, kept warm: requests come in at standard input, what came of them goes out, pickled."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import catalogue
from harness.catalogue import Kata
from harness.errors import EnvironmentFault, KataError
from harness.results import Outcome


@dataclass(frozen=True)
class Job:
    """One check: the file at ``path`` as an answer to ``kata``, on the inputs of ``seed``. Where there is no GPU to
    time it on, its time is predicted for the one called ``gpu``."""

    kata: str
    path: Path
    seed: int
    device: str
    gpu_index: int
    gpu: str | None


#: The words that answers begin with, and what follows: a case that is done and how many there are; the verdict and the
#: mismatch that says most, first without the time if that is yet to be predicted, which may find it wrong after all;
#: the error that prevented one.
CASE, FIRST, VERDICT, ERROR = "case", "first", "verdict", "error"

_Send = Callable[[str, Any], None]


def run(job: Job, send: _Send) -> None:
    """Check, telling each case as it is done, and last the verdict or what prevented one."""
    try:
        _check(job, send)
    except KataError as error:
        send(ERROR, error)
    except MemoryError:
        send(ERROR, EnvironmentFault("this machine has too little memory for that check"))
    except Exception:  # noqa: BLE001  a bug ends one check, not the practice
        send(ERROR, EnvironmentFault("kata itself failed: a bug, not your kernel", evidence=traceback.format_exc(),
                                     remedy="Please report it with the lines above."))  # fmt: skip


def _check(job: Job, send: _Send) -> None:
    from harness import references
    from harness.devices import PhysicalDevice, open_device
    from harness.grading import check_file, completed, headline
    from harness.grading.predicted import predict_first
    from harness.simulator.gpus import load_gpu

    kata = catalogue.load(job.kata)
    total = len(references.load(kata.name).CASES)
    with closing(open_device(job.device, job.gpu_index)) as device:
        verdict = check_file(kata, job.path, device, job.seed, lambda case: send(CASE, (case, total)))
        physical = isinstance(device, PhysicalDevice)
    if job.gpu is not None and verdict.outcome is Outcome.RIGHT and not physical:
        send(FIRST, (verdict, None))
        verdict = completed(verdict, predict_first(kata, job.path, load_gpu(job.gpu)))
    send(VERDICT, (verdict, headline(verdict)))


def warm_up(kata: Kata) -> None:
    """Load everything that a check needs, by one whose answer nobody wants: of the skeleton, in the simulator."""
    with tempfile.TemporaryDirectory() as folder, suppress(KataError):
        path = Path(folder) / kata.skeleton.name
        path.write_bytes(kata.skeleton.read_bytes())
        run(Job(kata.name, path, 0, "sim", 0, None), lambda word, value: None)


def main() -> None:
    """Serve until standard input ends, warmed up by the katas on the command line. Ctrl-C is the session's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between the answers

    def send(word: str, value: Any) -> None:
        pickle.dump((word, value), answers)
        answers.flush()

    for name in sys.argv[1:]:
        warm_up(catalogue.load(name))
    with suppress(EOFError, BrokenPipeError):
        while True:
            run(pickle.load(sys.stdin.buffer), send)


if __name__ == "__main__":
    main()

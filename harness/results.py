"""What a check found, as frozen records. A leaf: imports nothing of the project."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace


class Severity(enum.StrEnum):
    """How much a finding weighs: an error fails the check, a warning is shown, a note needs ``-v``."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Barrier(enum.StrEnum):
    """What orders two accesses of one block: lanes of a warp, or any of its threads."""

    WARP = "__syncwarp()"
    BLOCK = "__syncthreads()"


class Outcome(enum.StrEnum):
    """What a check, or one case of it, came to."""

    RIGHT = "right"
    WRONG = "wrong"
    FAULT = "fault"
    COMPILE_ERROR = "compile_error"


@dataclass(frozen=True)
class Hazard:
    """One thing a kernel does that it must not do, or should not rely on.

    ``kind`` is a stable word for programs (``out_of_bounds``, ``misaligned``, ``uninitialised``,
    ``use_after_free``, ``null_pointer``, ``read_only``, ``barrier``, ``missing_lanes``, ``runaway``, ``unfinished``,
    ``trap``, ``assert``, ``launch``, ``no_launch``, ``race`` ...); ``message`` is one or two sentences
    for a person. ``line`` is a line of the user's file, None where the compiler gave none; ``other_line`` is
    the earlier of the two that race, and ``missing`` the barrier that would order them, where one would. ``title`` is
    what it is in a few words, where its kind alone says too little.
    """

    kind: str
    severity: Severity
    message: str
    line: int | None = None
    kernel: str | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    count: int = 1
    remedy: str | None = None
    other_line: int | None = None
    missing: Barrier | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        if not self.kind or not self.message:
            raise ValueError("a hazard needs a kind and a message")
        if self.count < 1:
            raise ValueError("a hazard happened at least once")

    def met_again(self, other: Hazard) -> Hazard:
        """The same finding with the counts of both, told as this one; but a race that takes a barrier of the whole
        block is told as such, whether or not lanes of one warp race there too."""
        told = other if (self.missing, other.missing) == (Barrier.WARP, Barrier.BLOCK) else self
        return replace(told, count=self.count + other.count)


@dataclass(frozen=True)
class Tail:
    """The last ``left`` along a length that the kata calls ``name`` are wrong, in one case.

    ``divisors`` leave just so many of that length; ``usual`` are those of them that kernels round by most,
    ``threads`` those that are a block's threads.
    """

    name: str
    left: int
    divisors: tuple[int, ...] = ()
    usual: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mismatch:
    """Why one output of one case is wrong.

    ``index`` is the first wrong element (row-major, one number per dimension of the parameter);
    ``got`` is NaN-safe text (``"(never written)"`` where the poison is still there), as are
    ``expected`` and ``allowed``. ``pattern`` is a stable word for programs; ``sentence`` says the
    pattern to a person; ``tails`` are the ends that are wrong, where that is the pattern.
    """

    case: str
    parameter: str
    index: tuple[int, ...]
    got: str
    expected: str
    allowed: str
    wrong: int
    size: int
    pattern: str
    sentence: str
    tails: tuple[Tail, ...] = ()


@dataclass(frozen=True)
class CaseResult:
    """One case: its label (``n = 33``), the group it is shown under, and what came of it."""

    label: str
    group: str
    outcome: Outcome
    seconds: float
    mismatch: Mismatch | None = None
    hazards: tuple[Hazard, ...] = ()


@dataclass(frozen=True)
class Timing:
    """How long one thing takes: the median of ``samples`` runs in seconds, and its 95 % interval.

    Of a predicted time ``samples`` is 0, and the interval is the prediction's band.
    """

    name: str
    seconds: float
    low: float
    high: float
    samples: int

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.seconds <= self.high:
            raise ValueError(f"{self.name}: a median lies in its interval, and takes some time")

    @property
    def spread(self) -> float:
        """Half the interval, as a part of the median."""
        return (self.high - self.low) / 2 / self.seconds


@dataclass(frozen=True)
class Grade:
    """Where a kernel stands on the ladder: ``rung`` is the best it keeps up with, None for none.

    ``next`` is the slowest rung that is clearly faster (of several as slow, the lowest), ``next_ratio`` how many times
    faster; None at the top.
    ``best_ratio`` is its time over the fastest rung's.
    """

    rung: int | None
    par_reached: bool
    next: int | None
    next_ratio: float | None
    best_ratio: float


@dataclass(frozen=True)
class Speed:
    """What timing one size showed. ``timing`` is the user's kernel, None where only the ladder was timed.

    ``nbytes`` and ``flops`` are the least that any kernel must move and compute; ``light`` is the time that moving
    them with a copy, or computing them with nothing else to do, took in the same run: the longer of both, ``limit``
    says which. ``refused`` says why there is no grade. ``gpu`` is the GPU that all times are predicted for, None where
    they were measured; ``limiter`` what the user's kernel is predicted to wait for.
    """

    label: str
    timing: Timing | None
    rungs: tuple[Timing, ...]
    titles: tuple[str, ...]
    par: int
    nbytes: int
    flops: int
    light: float
    limit: str
    noisy: bool
    grade: Grade | None = None
    refused: str | None = None
    gpu: str | None = None
    limiter: str | None = None

    @property
    def predicted(self) -> bool:
        """Whether nothing was timed."""
        return self.gpu is not None

    def of_light(self, timing: Timing) -> float:
        """How near to the speed of light: 1 is as fast as the copy, or the arithmetic."""
        return self.light / timing.seconds


@dataclass(frozen=True)
class Verdict:
    """The whole answer to one ``kata check``. ``remarks`` are what a person asked to be told, and no warnings."""

    kata: str
    file: str
    device: str
    seed: int
    outcome: Outcome
    cases: tuple[CaseResult, ...]
    seconds: float
    hazards: tuple[Hazard, ...] = ()
    printed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    remarks: tuple[str, ...] = ()
    speed: Speed | None = None

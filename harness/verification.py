"""The catalogue proves itself: skeletons fail, solutions pass, known-wrong kernels fail for the reason they state.

Known-wrong kernels are ``tests/wrong/<kata>/<slug>.cu``. The comment lines they open with are read here:

    // expect: tail | scattered      a mismatch's pattern, a hazard's kind, compile_error or refused; any one of them
    // says: last n % 32             text that must be in what is said about it (upper and lower case alike)
    // line: 14                      the line that the error or hazard names; those of NAME_A_LINE must have it

Known-right kernels are ``tests/right/<kata>/<slug>.cu``: unusual, and no reason for an error or a warning all the same.
They open with comment lines that say what is unusual, and why it is right. Solutions must be as silent.
"""

from __future__ import annotations

import enum
import multiprocessing
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from harness import catalogue
from harness.catalogue import Home, Kata
from harness.errors import CatalogueError, CompileError, EnvironmentFault, KataError, KernelFault, SourceError
from harness.results import Hazard, Mismatch, Outcome, Severity, Verdict

#: What every kata has at least of each.
HINTS, QUESTIONS, WRONG_KERNELS = 3, 3, 4

#: Kinds of hazards that a wrong kernel expects together with the line that is to blame.
NAME_A_LINE = frozenset({
    "assert", "barrier", "double_free", "invalid_free", "launch", "misaligned", "missing_lanes",
    "null_pointer", "out_of_bounds", "out_of_memory", "race", "read_only", "runaway", "trap", "uninitialised",
    "use_after_free",
})  # fmt: skip

_HEADER = re.compile(r"//\s*(expect|says|line):\s*(\S.*?)\s*")


@dataclass(frozen=True)
class Finding:
    """One way in which the catalogue is not as it claims, in words."""

    file: str
    problem: str


@dataclass(frozen=True)
class Expectation:
    """What a known-wrong kernel must be told."""

    words: tuple[str, ...]
    says: str
    line: int | None = None


class Role(enum.StrEnum):
    """What a file is to its kata, which decides what must come of checking it. The value is what a person calls it."""

    SKELETON = "skeleton"
    SOLUTION = "solution"
    RIGHT = "right kernel"
    WRONG = "wrong kernel"


@dataclass(frozen=True)
class Task:
    """One file to check; a wrong kernel comes with what it must be told."""

    kata: str
    path: Path
    role: Role
    expectation: Expectation | None = None

    def __post_init__(self) -> None:
        if (self.expectation is not None) != (self.role is Role.WRONG):
            raise ValueError("a wrong kernel, and no other file, has an expectation")

    @property
    def must_pass(self) -> bool:
        """Whether it must be right for every case, with nothing to be warned of."""
        return self.role in (Role.SOLUTION, Role.RIGHT)

    @property
    def cost(self) -> int:
        """A guess, to start the slow ones first: a right kernel runs every case."""
        return 2 * self.must_pass + self.kata.startswith(("softmax", "sgem"))


@dataclass(frozen=True)
class Said:
    """All that a check said about a file, whether it ended in a verdict or in an error."""

    outcome: str
    words: frozenset[str]
    text: str
    lines: frozenset[int]
    warnings: tuple[str, ...] = ()


def read_expectation(path: Path) -> Expectation:
    """The opening comment of a known-wrong kernel; CatalogueError if it doesn't say what to expect."""
    found: dict[str, str] = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        if not text.startswith("//"):
            break
        match = _HEADER.fullmatch(text)
        if match:
            found[match[1]] = match[2]
    for key in ("expect", "says"):
        if key not in found:
            raise CatalogueError(f"a wrong kernel opens with a line `// {key}: ...`", file=str(path), line=1)
    if not found.get("line", "1").isdigit():
        raise CatalogueError(f"`// line:` takes a number, not {found['line']!r}", file=str(path))
    words = tuple(word.strip() for word in found["expect"].split("|"))
    if "line" not in found and not NAME_A_LINE.isdisjoint(words):
        raise CatalogueError(f"what is {found['expect']} has a line `// line: ...` too", file=str(path), line=1)
    return Expectation(words, found["says"], int(found["line"]) if "line" in found else None)


def examine_files(home: Home, katas: Iterable[Kata]) -> list[Finding]:
    """What can be said without running anything: counts, numbering, files missing or in nobody's place."""
    katas = tuple(katas)
    known = {kata.name for kata in katas}
    findings = [finding for kata in katas for finding in _examine(kata)]
    for place in (home.katas, home.solutions, right_kernels(home), home.wrong):
        for path in _entries(place):
            if path.name not in known:
                findings.append(Finding(str(path), "belongs to no kata"))
    for kata in katas:
        if home.wrong.is_dir():
            findings += _examine_wrong(home.wrong / kata.name)
        findings += _examine_right(right_kernels(home) / kata.name)
    return findings


def right_kernels(home: Home) -> Path:
    """``tests/right``, beside the known-wrong kernels: a folder for each kata that has some."""
    return home.wrong.with_name("right")


def concerns(finding: Finding, home: Home, katas: Iterable[Kata], everything: Iterable[Kata]) -> bool:
    """Whether a finding is about one of ``katas``, or about no kata when they are ``everything``."""
    chosen = {kata.name for kata in katas}
    return chosen == {kata.name for kata in everything} or not chosen.isdisjoint(
        Path(finding.file).relative_to(home.folder).parts
    )


def _examine(kata: Kata) -> Iterator[Finding]:
    toml = str(kata.folder / "kata.toml")
    if len(kata.hints) != HINTS:
        yield Finding(toml, f"has {len(kata.hints)} hints; every kata has {HINTS}")
    if len(kata.questions) < QUESTIONS:
        yield Finding(toml, f"has {len(kata.questions)} questions; every kata has at least {QUESTIONS}")
    for path in (kata.skeleton, kata.question):
        if not path.is_file():
            yield Finding(str(path), "is missing")
    for path in _entries(kata.folder):
        if path.name not in {"kata.toml", "README.md", kata.skeleton.name}:
            yield Finding(str(path), "belongs to no part of a kata")
    try:
        numbers = [rung.number for rung in kata.rungs]
    except CatalogueError as error:
        yield Finding(error.file or str(kata.solutions), error.message)
        return
    if numbers != list(range(1, len(numbers) + 1)) or not numbers:
        yield Finding(str(kata.solutions), f"rungs are numbered {numbers}; they count from 1 without a gap")


def _examine_right(folder: Path) -> Iterator[Finding]:
    yield from _not_kernels(folder, Role.RIGHT)
    for path in sorted(folder.glob("*.cu")):
        if not path.read_text(encoding="utf-8").startswith("//"):
            yield Finding(str(path), "opens with no comment that says what is unusual, and why it is right")


def _examine_wrong(folder: Path) -> Iterator[Finding]:
    yield from _not_kernels(folder, Role.WRONG)
    kernels = len(list(folder.glob("*.cu")))
    if kernels < WRONG_KERNELS:
        yield Finding(str(folder), f"holds {kernels} wrong kernels; every kata has at least {WRONG_KERNELS}")


def _not_kernels(folder: Path, role: Role) -> Iterator[Finding]:
    for path in _entries(folder):
        if path.suffix != ".cu":
            yield Finding(str(path), f"is not a {role}: they are .cu files")


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.name != "__pycache__")


def plan_tasks(home: Home, katas: Iterable[Kata]) -> tuple[list[Task], list[Finding]]:
    """Every file to run, and what is wrong with those whose expectations can't be read."""
    tasks: list[Task] = []
    findings: list[Finding] = []
    for kata in katas:
        tasks.append(Task(kata.name, kata.skeleton, Role.SKELETON))
        for role, folder in ((Role.SOLUTION, kata.solutions), (Role.RIGHT, right_kernels(home) / kata.name)):
            tasks += [Task(kata.name, path, role) for path in sorted(folder.glob("*.cu"))]
        for path in sorted((home.wrong / kata.name).glob("*.cu")):
            try:
                tasks.append(Task(kata.name, path, Role.WRONG, read_expectation(path)))
            except CatalogueError as error:
                findings.append(Finding(str(path), error.message))
    return tasks, findings


def run_task(task: Task, seed: int) -> Finding | None:
    """Check one file; None where it came out as it must. EnvironmentFault where this machine can't check anything."""
    from harness.devices import open_device
    from harness.grading import check_file
    from harness.simulator.gpus import DEFAULT, load_gpu

    gpu = load_gpu(DEFAULT) if task.role is Role.WRONG else None  # some are wrong only at the size they are timed at
    try:
        said = hear(check_file(catalogue.load(task.kata), task.path, open_device("sim"), seed, gpu=gpu))
    except KataError as error:
        said = hear_error(error)
    except Exception as error:  # noqa: BLE001  one file that breaks the harness must not hide the others
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return Finding(str(task.path), f"broke the harness at {where}: {type(error).__name__}: {error}")
    problem = judge(task, said)
    return Finding(str(task.path), problem) if problem else None


def judge(task: Task, said: Said) -> str | None:
    """What is wrong with what was said about a file, or None."""
    heard = f"{said.outcome} ({', '.join(sorted(said.words)) or 'no pattern'}): {_shorten(said.text)}"
    if task.must_pass:
        if said.outcome != Outcome.RIGHT:
            return f"a {task.role} must be right, but it is {heard}"
        if said.warnings:
            return f"a {task.role} must be silent, but it is warned: {_shorten(' '.join(said.warnings))}"
        return None
    if said.outcome == Outcome.RIGHT:
        return "must fail, but it is right"
    if task.expectation is None:
        failed = said.outcome in (Outcome.WRONG, Outcome.FAULT)
        return None if failed else f"a skeleton must compile and be wrong, but it is {heard}"
    expected = task.expectation
    if not said.words & set(expected.words):
        return f"must be {' or '.join(expected.words)}, but it is {heard}"
    if expected.says.lower() not in said.text.lower():
        return f"must be told {expected.says!r}, but it is told: {_shorten(said.text)}"
    if expected.line is not None and expected.line not in said.lines:
        return f"must name line {expected.line}, but names {sorted(said.lines) or 'none'}: {_shorten(said.text)}"
    return None


def hear(verdict: Verdict) -> Said:
    """What a verdict says: the mismatch that leads its page, and its hazards."""
    from harness.grading import headline

    lead: Mismatch | None = headline(verdict)
    hazards: list[Hazard] = [hazard for hazard in verdict.hazards if hazard.severity is Severity.ERROR]
    text = [lead.sentence, f"got {lead.got} expected {lead.expected}"] if lead else []
    text += [f"{hazard.message} {hazard.remedy or ''}" for hazard in hazards]
    words = {hazard.kind for hazard in hazards} | ({lead.pattern} if lead else set())
    lines = frozenset(hazard.line for hazard in hazards if hazard.line is not None)
    warnings = tuple(
        f"line {hazard.line}: {hazard.message}" if hazard.line else hazard.message
        for hazard in verdict.hazards if hazard.severity is Severity.WARNING
    )  # fmt: skip
    return Said(verdict.outcome.value, frozenset(words), " ".join(text), lines, warnings)


def hear_error(error: KataError) -> Said:
    """What an error says. A machine that can't check anything is not the catalogue's fault: that error goes on."""
    if isinstance(error, EnvironmentFault) and not error.line:
        raise error
    kinds = ((CompileError, "compile_error"), (SourceError, "refused"))
    word = next((word for kind, word in kinds if isinstance(error, kind)), "error")
    if isinstance(error, KernelFault):
        word = error.hazard.kind
    text = " ".join(filter(None, (error.message, error.evidence, error.remedy)))
    lines = frozenset([error.line] if error.line is not None else [])
    return Said(word, frozenset([word]), text, lines)


def _shorten(text: str, most: int = 240) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def run_all(tasks: Iterable[Task], seed: int, processes: int, progress: Callable[[int], None]) -> list[Finding]:
    """Check every file in ``processes`` processes of their own; ``progress`` hears how many are done.

    On an interrupt the processes are ended, not waited for.
    """
    ordered = sorted(tasks, key=lambda task: -task.cost)
    executor = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_one_thread)
    try:
        futures: list[Future[Finding | None]] = [executor.submit(run_task, task, seed) for task in ordered]
        findings = []
        for done, future in enumerate(as_completed(futures), start=1):
            findings.append(future.result())
            progress(done)
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()
    return sorted((finding for finding in findings if finding), key=lambda finding: finding.file)


def _one_thread() -> None:
    """Called in each process before NumPy is there: as many processes as cores leave no room for its threads."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and ends us
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

"""The katas: ``kata.toml`` read into frozen records that have checked themselves.

Katas lie in a checkout (``katas/`` beside the package) or inside the installed wheel (``harness/data``). The
environment variable ``KATA_CATALOGUE`` names another folder laid out like a checkout.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import CatalogueError, UsageError

FREQUENCIES = ("low", "medium", "high")
ROLES = ("in", "out", "inout", "scalar")

#: What ``gates`` may ask for.
GATES = ("shared_memory", "one_pass", "reused")

QUESTION_TOPICS = ("reductions", "memory", "warps", "numerics", "gemm")

_Record = TypeVar("_Record")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TYPE = re.compile(r"(const )?[A-Za-z_]\w*( ?\*)?")
_RUNG_FILE = re.compile(r"(\d+)_[a-z0-9_]+\.cu")
_RUNG_TITLE = re.compile(r"// Rung (\d+): (\S.*)")


@dataclass(frozen=True)
class Home:
    """Where katas, their solutions and, in a checkout only, the known-wrong kernels lie."""

    folder: Path
    checkout: bool

    @property
    def katas(self) -> Path:
        return self.folder / "katas"

    @property
    def solutions(self) -> Path:
        return self.folder / "solutions"

    @property
    def wrong(self) -> Path:
        """``tests/wrong``: one folder per kata. An installed wheel has none."""
        return self.folder / "tests" / "wrong"


@dataclass(frozen=True)
class Parameter:
    """One parameter of ``solve``.

    ``shape`` (pointers only) names scalar parameters or gives integers, row-major. ``initial`` is what every
    element of an ``out`` buffer holds on entry; None means the buffer is uninitialised.
    """

    name: str
    type: str
    role: str
    shape: tuple[str | int, ...] = ()
    initial: float | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"name: {self.name!r} is not a C++ identifier")
        if not _TYPE.fullmatch(self.type):
            raise ValueError(f'type: {self.type!r} is not written like "const float*" or "int"')
        if self.role not in ROLES:
            raise ValueError(f"role: {self.role!r} is not one of {', '.join(ROLES)}")
        if (self.role == "scalar") == self.type.endswith("*"):
            raise ValueError(f"role: {self.role!r} does not go with the type {self.type!r}")
        if self.type.endswith("*") and (self.role == "in") != self.type.startswith("const "):
            raise ValueError(f"type: a pointer is const exactly when its role is 'in', not {self.type!r} {self.role!r}")
        if (self.role == "scalar") == bool(self.shape):
            raise ValueError("shape: a pointer has one, a scalar has none")
        if self.initial is not None and self.role != "out":
            raise ValueError("initial: only an out parameter has an initial value")

    @property
    def pointer(self) -> bool:
        return self.role != "scalar"

    def shape_for(self, arguments: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape when solve is called with these ``arguments`` (scalars by parameter name)."""
        return tuple(size if isinstance(size, int) else int(arguments[size]) for size in self.shape)


@dataclass(frozen=True)
class Question:
    """What an interviewer asks next, with an answer worth giving."""

    topic: str
    ask: str
    answer: str

    def __post_init__(self) -> None:
        if self.topic not in QUESTION_TOPICS:
            raise ValueError(f"topic: {self.topic!r} is not one of {', '.join(QUESTION_TOPICS)}")
        if not self.ask.strip() or not self.answer.strip():
            raise ValueError("ask, answer: neither may be empty")


@dataclass(frozen=True)
class Rung:
    """One reference solution; rungs of a kata are numbered from 1, simplest first."""

    number: int
    title: str
    path: Path


@dataclass(frozen=True)
class Kata:
    """One practice question. ``folder`` is ``katas/<name>``; ``order`` sorts the catalogue, easiest first.

    ``speed`` has the sizes at which it is timed, pairs of a scalar parameter and its value; ``par`` is the rung that a
    good answer keeps up with there; ``flops``, names of scalars and integers to be multiplied, counts what one call
    computes (empty where moving the data is what takes time); ``gates`` are what a graded kernel must use.
    """

    name: str
    order: int
    title: str
    summary: str
    frequency: str
    minutes: int
    topics: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    hints: tuple[str, ...]
    questions: tuple[Question, ...]
    folder: Path
    par: int = 1
    speed: tuple[tuple[tuple[str, int], ...], ...] = ()
    flops: tuple[str | int, ...] = ()
    gates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in ("title", "summary"):
            text = getattr(self, key)
            if not text.strip() or "\n" in text:
                raise ValueError(f"{key}: one line of text is wanted, not {text!r}")
        if self.order < 1 or self.minutes < 1:
            raise ValueError("order, minutes: both start at 1")
        if self.frequency not in FREQUENCIES:
            raise ValueError(f"frequency: {self.frequency!r} is not one of {', '.join(FREQUENCIES)}")
        if not self.topics or not self.hints or not all(hint.strip() for hint in self.hints):
            raise ValueError("topics, hints: there is at least one of each, and none is empty")
        self._check_parameters()

    def _check_parameters(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) != len(names):
            raise ValueError(f"parameters: a name appears twice in {', '.join(names)}")
        if not any(parameter.role in ("out", "inout") for parameter in self.parameters):
            raise ValueError("parameters: none is out or inout, so there is nothing to check")
        scalars = {parameter.name for parameter in self.parameters if parameter.role == "scalar"}
        for parameter in self.parameters:
            for size in parameter.shape:
                if (isinstance(size, str) and size not in scalars) or (isinstance(size, int) and size < 1):
                    raise ValueError(f"parameters: the shape of {parameter.name} holds {size!r}, which is neither "
                                     "a scalar parameter nor an integer of at least 1")  # fmt: skip

        self._check_speed(scalars)

    def _check_speed(self, scalars: set[str]) -> None:
        for size in self.speed:
            if {name for name, _ in size} != scalars or any(value < 1 for _, value in size):
                raise ValueError(f"speed: each size gives {', '.join(sorted(scalars))}, at least 1")
        if self.par < 1:
            raise ValueError("par: rungs start at 1")
        if any(isinstance(factor, str) and factor not in scalars for factor in self.flops):
            raise ValueError("flops: holds integers and names of scalar parameters")
        if set(self.gates) - set(GATES):
            raise ValueError(f"gates: known are {', '.join(GATES)}")

    def least_bytes(self, arguments: Mapping[str, Any]) -> int:
        """What any ``solve`` must move: each input read once, each output written once (all elements have 4 bytes)."""
        return sum(
            4 * math.prod(one.shape_for(arguments)) * (2 if one.role == "inout" else 1)
            for one in self.parameters if one.pointer
        )  # fmt: skip

    def least_flops(self, arguments: Mapping[str, Any]) -> int:
        """What any ``solve`` must compute, 0 where that doesn't count."""
        factors = (factor if isinstance(factor, int) else int(arguments[factor]) for factor in self.flops)
        return math.prod(factors) if self.flops else 0

    @property
    def signature(self) -> str:
        """``void solve(const float* input, float* output, int n)``."""
        return f"void solve({', '.join(f'{parameter.type} {parameter.name}' for parameter in self.parameters)})"

    @property
    def skeleton(self) -> Path:
        return self.folder / f"{self.name}.cu"

    @property
    def question(self) -> Path:
        return self.folder / "README.md"

    @property
    def solutions(self) -> Path:
        return self.folder.parent.parent / "solutions" / self.name

    @cached_property
    def rungs(self) -> tuple[Rung, ...]:
        """The ladder of reference solutions. CatalogueError names a file that doesn't belong or has no title."""
        if not self.solutions.is_dir():
            return ()
        return tuple(sorted((_read_rung(path) for path in self.solutions.iterdir()), key=lambda rung: rung.number))


def home() -> Home:
    """Where the katas are: ``KATA_CATALOGUE``, else the checkout around this package, else the installed wheel."""
    chosen = os.environ.get("KATA_CATALOGUE")
    if chosen:
        if not (Path(chosen) / "katas").is_dir():
            raise UsageError(
                f"KATA_CATALOGUE is {chosen}, which holds no katas/", remedy="Unset it, or name a checkout."
            )
        return Home(Path(chosen), checkout=True)
    package = Path(__file__).resolve().parent
    if (package / "data" / "katas").is_dir():
        return Home(package / "data", checkout=False)
    return Home(package.parent, checkout=True)


def folders() -> tuple[str, ...]:
    """Names of the folders under ``katas/``, by name, with nothing read: for completion and suggestions."""
    katas = home().katas
    if not katas.is_dir():
        return ()
    return tuple(sorted(path.name for path in katas.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)))


def load_all() -> tuple[Kata, ...]:
    """Every kata, easiest first."""
    return tuple(sorted((load(name) for name in folders()), key=lambda kata: (kata.order, kata.name)))


def names() -> tuple[str, ...]:
    """The name of every kata, easiest first."""
    return tuple(kata.name for kata in load_all())


def load(name: str) -> Kata:
    """The kata of this name. UsageError if there is none, CatalogueError if its kata.toml is not as it should be."""
    known = folders()
    if name not in known:
        raise UsageError(f"there is no kata named {name!r}", remedy=_suggestion(name, known))
    return read(home().katas / name)


def read(folder: Path) -> Kata:
    """The kata described by ``folder/kata.toml``; CatalogueError names the file and the key that is wrong."""
    path = folder / "kata.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CatalogueError(f"can't read the kata's metadata: {error.strerror}", file=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogueError(f"not valid TOML: {error}", file=str(path)) from error
    return _Reader(path).kata(table, folder)


class _Reader:
    """Turns a TOML table into records, naming the file and the key of whatever is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def kata(self, table: dict[str, Any], folder: Path) -> Kata:
        known = {"order", "title", "summary", "frequency", "minutes", "topics", "parameters", "hints", "questions"}
        self.only(table, known | {"par", "speed", "flops", "gates"})
        topics = self.take(table, "topics", list)
        fields = {
            "parameters": tuple(self.parameter(row, where) for row, where in self.rows(table, "parameters")),
            "hints": tuple(self.hint(row, where) for row, where in self.rows(table, "hints")),
            "questions": tuple(self.question(row, where) for row, where in self.rows(table, "questions")),
            "topics": tuple(str(topic) for topic in topics),
        }
        for key, kind in (("order", int), ("title", str), ("summary", str), ("frequency", str), ("minutes", int)):
            fields[key] = self.take(table, key, kind)
        return self.build(Kata, {"name": folder.name, "folder": folder} | fields | self.speed(table))

    def speed(self, table: dict[str, Any]) -> dict[str, Any]:
        """The keys about speed, which a kata may lack."""
        fields: dict[str, Any] = {}
        if "par" in table:
            fields["par"] = self.take(table, "par", int)
        for key in ("flops", "gates"):
            if key in table:
                fields[key] = tuple(self.take(table, key, list))
        if "speed" in table:
            rows = self.rows(table, "speed")
            fields["speed"] = tuple(
                tuple((name, self.take(row, name, int, where)) for name in row) for row, where in rows
            )
        return fields

    def parameter(self, row: dict[str, Any], where: str) -> Parameter:
        self.only(row, {"name", "type", "role", "shape", "initial"}, where)
        fields: dict[str, Any] = {key: self.take(row, key, str, where) for key in ("name", "type", "role")}
        shape = self.take(row, "shape", list, where) if "shape" in row else []
        if not all(isinstance(size, str | int) and not isinstance(size, bool) for size in shape):
            raise self.wrong(f"{where}shape", f"holds names and integers, not {shape!r}")
        initial = self.take(row, "initial", (int, float), where) if "initial" in row else None
        fields |= {"shape": tuple(shape), "initial": None if initial is None else float(initial)}
        return self.build(Parameter, fields, where)

    def hint(self, row: dict[str, Any], where: str) -> str:
        self.only(row, {"text"}, where)
        return str(self.take(row, "text", str, where)).strip()

    def question(self, row: dict[str, Any], where: str) -> Question:
        self.only(row, {"topic", "ask", "answer"}, where)
        fields = {key: self.take(row, key, str, where).strip() for key in ("topic", "ask", "answer")}
        return self.build(Question, fields, where)

    def rows(self, table: dict[str, Any], key: str) -> list[tuple[dict[str, Any], str]]:
        rows = self.take(table, key, list)
        if not all(isinstance(row, dict) for row in rows):
            raise self.wrong(key, f"is written as [[{key}]] tables")
        return [(row, f"{key}[{index}].") for index, row in enumerate(rows)]

    def take(self, table: dict[str, Any], key: str, kind: type | tuple[type, ...], where: str = "") -> Any:
        if key not in table:
            raise self.wrong(where + key, "is missing")
        value = table[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = kind if isinstance(kind, type) else kind[-1]
            raise self.wrong(where + key, f"is a {wanted.__name__}, not {value!r}")
        return value

    def only(self, table: dict[str, Any], known: set[str], where: str = "") -> None:
        unknown = sorted(set(table) - known)
        if unknown:
            raise self.wrong(where + unknown[0], f"is not a key of kata.toml; known here: {', '.join(sorted(known))}")

    def build(self, record: type[_Record], fields: dict[str, Any], where: str = "") -> _Record:
        try:
            return record(**fields)
        except ValueError as error:
            raise CatalogueError(f"{where}{error}", file=str(self.path)) from error

    def wrong(self, key: str, problem: str) -> CatalogueError:
        return CatalogueError(f"{key} {problem}", file=str(self.path))


def _read_rung(path: Path) -> Rung:
    match = _RUNG_FILE.fullmatch(path.name)
    if not match:
        raise CatalogueError("a solution is named <number>_<slug>.cu", file=str(path))
    number = int(match[1])
    with path.open(encoding="utf-8") as file:
        title = _RUNG_TITLE.fullmatch(file.readline().strip())
    if not title or int(title[1]) != number:
        raise CatalogueError(f"the first line of a solution is `// Rung {number}: <title>`", file=str(path), line=1)
    return Rung(number, title[2], path)


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    import difflib  # only needed on the way out

    if name.endswith(".cu") and Path(name).stem in known:
        return f"The kata is {Path(name).stem}; a file comes after it, and is ./{Path(name).name} unless given."
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close)}? `kata list` shows all of them."
    return "`kata list` shows all of them."

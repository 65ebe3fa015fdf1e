"""Everything that can end a command, with its exit code. A leaf, but for the records it carries."""

from __future__ import annotations

from harness.results import Hazard


class KataError(Exception):
    """An expected failure: says what, where, and what to do. ``exit_code`` is the command's."""

    exit_code = 2

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, remedy: str | None = None,
        evidence: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.remedy = remedy
        self.evidence = evidence


class UsageError(KataError):
    """The command was asked something it can't do: an unknown kata, a missing file."""

    exit_code = 2


class CatalogueError(KataError):
    """A kata's own files are not as they should be (for people who write katas)."""

    exit_code = 2


class SourceError(KataError):
    """The user's file can't be graded as it stands: no ``solve``, other parameters, host reads of device data."""

    exit_code = 3


class CompileError(KataError):
    """NVIDIA's compiler refused the file; ``evidence`` holds its output with the user's name and lines."""

    exit_code = 3


class KernelFault(KataError):
    """A kernel or its launch did something that ends it; ``hazard`` says what, where and who."""

    exit_code = 4

    def __init__(self, hazard: Hazard) -> None:
        super().__init__(hazard.message, line=hazard.line, remedy=hazard.remedy)
        self.hazard = hazard


class EnvironmentFault(KataError):
    """Something this machine lacks: a compiler, a device, a readable folder."""

    exit_code = 5


class Unsupported(EnvironmentFault):
    """An instruction or feature the simulator doesn't know. Never guessed: it says which, and where."""

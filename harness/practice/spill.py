"""Where records wait that could not get into the history: a side file, taken in when the history is next opened."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from harness.cache import default_folder
from harness.errors import UsageError
from harness.practice import transfer
from harness.practice.rows import COLUMNS
from harness.practice.store import Store


def refuges() -> tuple[Path, ...]:
    """Folders beside the history's own that may have room when that has none."""
    import tempfile

    return default_folder(), Path(tempfile.gettempdir())


class Spill:
    """The side files of the history at ``path``: this process's own, in the first of ``places`` that takes it, and
    those that others left."""

    def __init__(self, places: tuple[Path, ...], path: Path, identify: Callable[[], int]) -> None:
        self._places = places
        mark = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:12]  # refuges are shared by histories
        self._pattern = f"kata-pending-{mark}-*.jsonl"
        self._name = f"kata-pending-{mark}-{identify():x}.jsonl"
        self._kept: dict[tuple[str, int], None] = {}
        self._told: set[str] = set()

    def keep(self, store: Store, table: str, identity: int) -> list[str]:
        """Add a record to the side file; sentences about it that the person has not been told yet."""
        self._kept[table, identity] = None
        text = "\n".join(transfer.lines(transfer.read_rows(store, self._kept))) + "\n"
        for place in self._places:
            if self._write(place / self._name, text):
                kept = f"What you do waits in {place / self._name}, and is taken in as soon as that can be written."
                return self._once(f"{store.trouble} {kept}".strip())
        alone = transfer.read_rows(store, [(table, identity)])
        problem = f"{store.trouble} No other folder takes what you do either.".strip()
        if any(row[COLUMNS["attempts"].index("ending")] is None for row in alone["attempts"]):
            return self._once(problem)  # there will be more to say when it ends
        way = "Save the next two lines in a file, and take it in later: kata history --import FILE"
        return self._once("\n".join([f"{problem} {way}", *(f"  {line}" for line in transfer.lines(alone))]))

    def take_in(self, store: Store) -> list[str]:
        """Merge what waits beside the history into it; sentences about what can't be."""
        notices = []
        for path in self._waiting():
            try:
                transfer.merge(store, transfer.read_file(path))
            except UsageError as error:
                kept = path.with_suffix(".unreadable")
                with suppress(OSError):  # another process was faster, or it stays where it is
                    path.replace(kept)
                    notices.append(f"What waited to get into the history can't be read: {error.message}. "
                                   f"It is kept as {kept}.")  # fmt: skip
                continue
            if store.detached:  # still no room: it stays where it is
                break
            with suppress(OSError):  # taken in twice it does no harm
                path.unlink()
        return notices

    def _waiting(self) -> Iterator[Path]:
        for place in self._places:
            with suppress(OSError):  # a folder that can't be read, a file that another process has just taken in
                for path in sorted(place.glob(self._pattern)):
                    status = path.lstat()
                    # A folder for temporary files is shared with other users; what is no file is not ours either, and
                    # reading a pipe would wait for ever.
                    mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
                    if mine and stat.S_ISREG(status.st_mode):
                        yield path

    def _once(self, sentence: str) -> list[str]:
        if sentence in self._told:
            return []
        self._told.add(sentence)
        return [sentence]

    @staticmethod
    def _write(path: Path, text: str) -> bool:
        """Write a file whole or not at all, onto the disk; False where that fails."""
        partial = path.with_suffix(".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Whatever has the name already is not followed, waited for or removed.
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return False
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except OSError:
            with suppress(OSError):
                partial.unlink()
            return False
        return True

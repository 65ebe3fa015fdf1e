"""The user's file, noticed whenever it is saved.

Events of the system make it fast, and a look at the file with every tick of the session makes it certain: network file
systems send no events, and a system's supply of watches can run out. ``WATCHFILES_FORCE_POLLING=1`` makes the watching
itself poll.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from harness.practice.events import Snapshot

#: Seconds for which a file must stay empty to be taken as such: editors empty a file before they write it.
EMPTY_SECONDS = 0.5

#: Milliseconds: how long a burst of events may go on, and the calm that ends it.
_BURST, _CALM = 200, 40

_State = tuple[int, int, int]


class SavedFile:
    """The content of one path, read when it has changed. The folder's name may be what is replaced, or the file's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""
        self._seen: _State | None = None
        self._content: bytes | None = None
        self._empty_since: float | None = None

    def look(self, now: float) -> Snapshot | None:
        """What is new since the last look. None where nothing is, and while the file is missing or half written."""
        try:
            before = self._state()
            if before == self._seen:
                return None
            content = self.path.read_bytes()
            if self._state() != before:
                return None  # it is being written: the next look finds it done
        except OSError as error:
            self._missing(error)
            return None
        self.trouble = ""
        if not content and not self._empty_for_long(now):
            return None
        self._empty_since = None
        self._seen = before
        if content == self._content:
            return None
        self._content = content
        return Snapshot(content)

    def _state(self) -> _State:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _missing(self, error: OSError) -> None:
        """Gone, as between the two steps of a save that replaces it, or not ours to read."""
        self._seen = None
        self.trouble = f"{self.path.name} can't be read: {error.strerror}"

    def _empty_for_long(self, now: float) -> bool:
        if self._empty_since is None:
            self._empty_since = now
        return now - self._empty_since >= EMPTY_SECONDS


class Watch:
    """Calls ``changed`` from a thread of its own whenever something happens to a file of this path."""

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        self._path = path.absolute()
        self._changed = changed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def _follow(self) -> None:
        from watchfiles import watch

        name = self._path.name
        try:
            for _ in watch(
                self._path.parent, watch_filter=lambda _, path: os.path.basename(path) == name,  # noqa: PTH119
                debounce=_BURST, step=_CALM, stop_event=self._stop, recursive=False, raise_interrupt=False,
            ):  # fmt: skip
                self._changed()
        except (OSError, RuntimeError):
            return  # no watches left (its own error is a RuntimeError), or none here: the ticks still look

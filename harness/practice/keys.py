"""Keys of a terminal, one event each, without Enter. The terminal is always given back as it was found."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Any

#: What terminals send for keys without a character of their own.
_SEQUENCES = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down", "\x1b[5~": "page_up", "\x1b[6~": "page_down",
    "\r": "enter", "\n": "enter", "\x1b": "escape",
}  # fmt: skip


def decode(text: str) -> list[str]:
    """The keys in what a terminal sent at once. Sequences that mean nothing here are left out."""
    keys = []
    while text:
        length = _length(text)
        key, text = text[:length], text[length:]
        if key in _SEQUENCES:
            keys.append(_SEQUENCES[key])
        elif key.isprintable():
            keys.append(key)
    return keys


def _length(text: str) -> int:
    """How many characters the first key takes: an escape sequence ends with a letter or ``~``."""
    if text[0] != "\x1b" or text[1:2] not in ("[", "O"):
        return 1
    return next((at + 1 for at in range(2, len(text)) if text[at].isalpha() or text[at] == "~"), len(text))


class Keyboard:
    """The terminal at a file descriptor, read key by key from :meth:`start` to :meth:`stop`."""

    def __init__(self, descriptor: int, pressed: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._pressed = pressed
        self._found: list[Any] | None = None
        self._thread: threading.Thread | None = None
        self._ear = self._mouth = -1

    def start(self) -> None:
        import termios
        import tty

        if self._found is not None:
            return
        self._found = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSADRAIN)  # Ctrl-C and Ctrl-Z stay signals
        self._ear, self._mouth = os.pipe()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._found is None:
            return
        found, self._found = self._found, None
        if self._thread is not None:
            os.close(self._mouth)
            self._thread.join()
            self._thread = None
            os.close(self._ear)
        _restore(self._descriptor, found)

    def _listen(self) -> None:
        while True:
            ready, _, _ = select.select([self._descriptor, self._ear], [], [])
            if self._ear in ready:
                return
            try:
                sent = os.read(self._descriptor, 1024)
            except OSError:
                sent = b""
            if not sent:
                return  # the terminal is gone: the signal of that ends the session
            for key in decode(sent.decode(errors="ignore")):
                self._pressed(key)


def _restore(descriptor: int, found: list[Any]) -> None:
    """Set the terminal back, from the background too, and if it is still there."""
    import termios

    previous = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, found)
    except termios.error:
        return  # it was closed, which is why we end
    finally:
        signal.signal(signal.SIGTTOU, previous)

"""Owns what a runtime writes to stderr: its last bytes, and the caller's handler, which may be slow and may raise."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

_TAIL_BYTES = 8192
_WAITING_LINES = 1000
_log = logging.getLogger("quiesce")


class Stderr:
    """Keeps the last 8 KiB, and hands whole lines to the handler on a thread of its own.

    A handler that lags 1,000 lines behind misses the ones after that; it never holds up the runtime.
    """

    def __init__(self, handler: Callable[[str], object] | None) -> None:
        self._tail = b""
        self._rest = b""
        self._lines: queue.Queue[str | None] | None = None
        if handler is not None:
            self._lines = queue.Queue(_WAITING_LINES)
            threading.Thread(target=_hand_over, args=(self._lines, handler), name="quiesce-stderr", daemon=True).start()

    @property
    def tail(self) -> str:
        """The last lines, at most 8 KiB."""
        return self._tail.decode(errors="replace").strip()

    def feed(self, data: bytes) -> None:
        """Takes the next bytes."""
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        if self._lines is None:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _TAIL_BYTES:  # no line of text: it goes out in pieces, rather than be kept
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._put(line.decode(errors="replace").rstrip("\r"))

    def end(self) -> None:
        """No more will come: hands over what has no end of line yet, and lets the thread end."""
        if self._lines is None:
            return
        if self._rest:
            self._put(self._rest.decode(errors="replace"))
            self._rest = b""
        self._put(None)

    def _put(self, line: str | None) -> None:
        lines = self._lines
        if lines is None:
            return
        try:
            lines.put_nowait(line)
        except queue.Full:
            if line is None:  # the thread must hear of the end, at the price of one line
                lines.get_nowait()
                lines.put_nowait(None)


def _hand_over(lines: queue.Queue[str | None], handler: Callable[[str], object]) -> None:
    while (line := lines.get()) is not None:
        try:
            handler(line)
        except Exception:
            _log.exception("the on_stderr handler raised")

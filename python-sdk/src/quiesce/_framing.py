"""Owns the form of frames: one JSON object per line, split at LF alone (FR-1). Knows nothing of what they say."""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast

from ._errors import ProtocolError

MAX_FRAME_BYTES = 32 * 1024 * 1024
"""Longest frame that is read or, until the runtime names its own limit, sent; in bytes (FR-2)."""

_SHOWN = 200
_SPACE = b" \t\r"
"""What JSON takes for space: a line of nothing else is blank; other white space is no frame either, but a fault."""


class FrameReader:
    """Cuts bytes into frames, in time linear in their number however they are chunked."""

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Takes the next bytes and returns the frames that they complete, without their LF; blank lines are left out.

        Raises ProtocolError once a frame exceeds the limit, complete or not.
        """
        first, *others = data.split(b"\n")
        self._keep(first)
        frames: list[bytes] = []
        for line in others:
            frames.append(self._take())
            self._keep(line)
        return [frame for frame in frames if frame.strip(_SPACE)]

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        self._check(self._size)
        if part:
            self._parts.append(part)

    def _take(self) -> bytes:
        """What was kept, joined once."""
        frame = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts, self._size = [], 0
        return frame

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise ProtocolError(f"the runtime sent a frame of more than {self._limit} bytes")


def encode(message: dict[str, Any]) -> bytes:
    """One frame, LF included. Raises TypeError or ValueError where the message isn't JSON (NaN isn't)."""
    try:
        return _plain.encode(message).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
        return _escaping.encode(message).encode() + b"\n"


def decode(frame: bytes) -> dict[str, Any]:
    """The object in a frame. Raises ProtocolError, which shows how the frame begins.

    Half of a surrogate pair is kept: a Python string can hold it, though not print or encode it.
    """
    try:
        message: object = _decoder.decode(frame.decode())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the runtime sent a line that is not JSON: {_shown(frame)} ({error})") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"the runtime sent a line that is not a JSON object: {_shown(frame)}")
    return cast("dict[str, Any]", message)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)
_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_escaping = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _shown(frame: bytes) -> str:
    start = frame[:_SHOWN].decode(errors="replace")
    return repr(start) + ("…" if len(frame) > _SHOWN else "")

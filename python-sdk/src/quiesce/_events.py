"""Owns the facts as callers see them: decoded, each with its session; and that none is lost or repeated (SUB-1,
SUB-4).
"""

from __future__ import annotations

from typing import Any

from ._errors import ProtocolError
from ._generated import models
from ._shown import shown
from ._wire import MalformedValueError, decode

SessionEvent = models.Fact
"""One committed fact: `session_id`, `seq`, `time` (Unix milliseconds), `type`, `data`.

A fact of a type that this version doesn't know is an `UnknownEvent` with the raw value. Narrow with
`match event: case TurnEnd(): ...`.
"""

Delta = models.SessionDeltaParams
"""A piece of text on its way: `kind` is `"text"`, `"reasoning"` or `"tool_input"`.

It is no fact, and may be dropped (TU-4).
"""


def warm_up() -> None:
    """Builds what decodes facts, which takes tens of milliseconds: best done while a runtime starts."""
    models.decode_fact({"type": "", "seq": 0, "time": 0})


def decode_event(session_id: str, raw: dict[str, Any]) -> SessionEvent:
    """The fact, with its session filled in: the one that the frame around it names, whatever the fact itself says.

    Raises ProtocolError, which names the fact and the place of the fault (FR-4).
    """
    raw.setdefault("sessionId", session_id)
    try:
        event = models.decode_fact(raw)
        if event.session_id != session_id:  # it says another
            frame = {"subscriptionId": "", "sessionId": session_id, "event": raw}
            event.session_id = decode(models.SessionEventFrame, frame).session_id
    except MalformedValueError as error:
        what = f"{shown(raw.get('type'), 60)} with seq {shown(raw.get('seq'), 60)}"
        raise ProtocolError(f"session {session_id}: the fact {what} is malformed: {error}") from None
    return event


class Sequence:
    """Accepts each `seq` of one session once, in order."""

    def __init__(self, after: int | None = None) -> None:
        """`after`: the cursor, where it is known; otherwise the first fact may have any `seq`."""
        self._last = after

    @property
    def last(self) -> int | None:
        """The last `seq` that was accepted, or the cursor."""
        return self._last

    def accept(self, seq: int) -> bool:
        """False for a repeat. Raises ProtocolError where a fact is missing, and goes on behind the gap."""
        last, self._last = self._last, seq
        if last is not None and seq <= last:
            self._last = last
            return False
        if last is not None and seq != last + 1:
            raise ProtocolError(f"facts are missing: seq {seq} came after {last}")
        return True

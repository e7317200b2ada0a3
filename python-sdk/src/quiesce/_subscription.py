"""Owns one cursor of a session: what it sends comes out decoded, each fact once and in order (SUB-1, SUB-4)."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, Literal, Protocol, cast

from . import _wire
from ._connection import Connection, checked
from ._errors import ProtocolError, QuiesceError, RpcError, rpc_error_of
from ._events import Delta, Sequence, SessionEvent, decode_event
from ._generated.errors import ERROR_CODES
from ._generated.models import SessionClosedParams, SessionSubscribeResult


class Sink(Protocol):
    """Where a subscription delivers. Its methods return at once and never raise."""

    def event(self, event: SessionEvent) -> None:
        """The next fact."""

    def delta(self, delta: Delta) -> None:
        """A piece of text on its way."""

    def fault(self, error: ProtocolError) -> None:
        """A fact that is malformed or missing; the ones behind it still come (FR-4)."""

    def closed(self, error: QuiesceError) -> None:
        """The end, where it was not `close` that brought it; nothing comes after it (SUB-5)."""


class Subscription:
    """One subscription. Its id is made here, so that what comes before the answer is known, and kept until then."""

    def __init__(self, connection: Connection, session_id: str, sink: Sink) -> None:
        self._connection = connection
        self._session_id = session_id
        self._sink = sink
        self._id = str(uuid.uuid4())
        self._early: list[tuple[str, dict[str, Any]]] | None = []
        self._sequence = Sequence()
        self._open = False
        self._opening: asyncio.Future[Any] | None = None

    async def start(
        self, *, after: int | Literal["now"] | None, from_message: str | None, activate: bool, deltas: bool
    ) -> SessionSubscribeResult:
        """Asks for the cursor and returns the status there.

        Raises what `Connection.request` does, and leaves nothing behind.
        """
        self._connection.peer.subscribe(self._id, self._route, self._closed)
        self._open = True
        params: dict[str, Any] = {"sessionId": self._session_id, "subscriptionId": self._id}
        if from_message is not None:
            params["from"] = {"messageId": from_message}
        elif after is not None:
            params["after"] = after
        params |= {name: True for name, wanted in (("activate", activate), ("deltas", deltas)) if wanted}
        self._opening = self._connection.send("session/subscribe", params)
        try:
            answer = checked("session/subscribe", await self._opening, SessionSubscribeResult)
        except RpcError:
            self._leave()  # it was refused: there is nothing to end
            raise
        except BaseException:
            self.close()
            raise
        if from_message is None:
            self._sequence = Sequence(after if isinstance(after, int) else answer.seq)
        early, self._early = self._early or [], None
        for method, fields in early:
            self._route(method, fields)
        return answer

    def close(self) -> None:
        """Ends it; nothing is delivered any more. The runtime is told, and not waited for."""
        if self._leave():
            self._connection.send("session/unsubscribe", {"subscriptionId": self._id})

    def _leave(self) -> bool:
        """Hears nothing any more; False where it didn't before."""
        was_open, self._open = self._open, False
        if was_open:
            self._connection.peer.unsubscribe(self._id)
        return was_open

    def _route(self, method: str, params: dict[str, Any]) -> None:
        if not self._open:
            return
        if self._early is not None:
            self._early.append((method, params))
        elif method == "session.event":
            self._event(params)
        elif method == "session.delta":
            self._delta(params)
        elif method == "session.closed":
            self._closed(_reason(params))

    def _event(self, params: dict[str, Any]) -> None:
        session_id, raw = params.get("sessionId"), params.get("event")
        if not isinstance(session_id, str) or not isinstance(raw, dict):
            self._sink.fault(
                ProtocolError(f"a fact of session {self._session_id} is malformed: it has no sessionId or no event")
            )
            return
        fields = cast("dict[str, Any]", raw)
        seq = fields.get("seq")
        try:
            if session_id == self._session_id and type(seq) is int and not self._sequence.accept(seq):
                return
        except ProtocolError as gap:
            self._sink.fault(ProtocolError(f"session {session_id}: {gap}"))
            if not self._open:
                return  # that was too much for it
        try:
            event = decode_event(session_id, fields)
        except ProtocolError as error:
            self._sink.fault(error)
        else:
            self._sink.event(event)

    def _delta(self, params: dict[str, Any]) -> None:
        try:
            delta = _wire.decode(Delta, params)
        except _wire.MalformedValueError as error:
            self._sink.fault(ProtocolError(f"a delta of session {self._session_id} is malformed: {error}"))
        else:
            self._sink.delta(delta)

    def _closed(self, error: QuiesceError) -> None:
        if not self._open:
            return
        if isinstance(error, ProtocolError):
            self.close()  # the runtime doesn't know that it is over
        self._open = False
        self._connection.peer.unsubscribe(self._id)
        if self._opening is not None and not self._opening.done():
            self._opening.set_exception(error)  # what is over isn't waited for
        self._sink.closed(error)


_CODES = {
    "deleted": "session_not_found",
    "fenced": "fenced",
    "storage": "storage_unavailable",
    "shutdown": "shutting_down",
}


def _reason(params: dict[str, Any]) -> QuiesceError:
    """The typed error that `session.closed` stands for (SUB-5)."""
    try:
        closed = _wire.decode(SessionClosedParams, params)
    except _wire.MalformedValueError as error:
        return ProtocolError(f"a session.closed notification is malformed: {error}")
    said = "" if closed.error is None else f": {closed.error.message}"
    message = f"session {closed.session_id} can't go on in this runtime ({closed.reason}){said}"
    if closed.error is not None and closed.error.data is not None:
        return rpc_error_of(-32000, message, _wire.encode(closed.error.data))
    code = _CODES.get(closed.reason, "internal")
    return rpc_error_of(-32000, message, {"code": code, "retryable": ERROR_CODES[code].retryable})

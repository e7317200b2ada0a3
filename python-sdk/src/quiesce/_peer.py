"""Owns the JSON-RPC conversation: ids, answers, time limits, routing of notifications.

Knows nothing of pipes or of facts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ._errors import ProtocolError, QuiesceError, RequestTimeoutError, rpc_error_for, rpc_error_of
from ._framing import MAX_FRAME_BYTES, encode
from ._generated.methods import NOTIFICATIONS
from ._shown import shown

Route = Callable[[str, dict[str, Any]], None]
"""Takes the method and params of each notification of one subscription; it must not raise."""


@dataclass(slots=True)
class _Pending:
    method: str
    answer: asyncio.Future[Any]
    timer: asyncio.TimerHandle | None = None


class Peer:
    """The client's end of one connection. Frames go out through `write`; the caller feeds `receive`."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.max_frame_bytes = MAX_FRAME_BYTES
        self._loop = asyncio.get_running_loop()
        self._write = write
        self._issued = 0
        self._pending: dict[int, _Pending] = {}
        self._routes: dict[str, tuple[Route, Callable[[QuiesceError], None]]] = {}
        self._failure: Callable[[], QuiesceError] | None = None

    @property
    def failed(self) -> bool:
        """Whether the conversation is over."""
        return self._failure is not None

    def request(self, method: str, params: dict[str, Any], timeout: float | None) -> asyncio.Future[Any]:
        """Sends a request; the future holds its result. Cancelling the future forgets the answer.

        Contract: raises TypeError or ValueError where the params aren't JSON and FrameTooLargeError where they are
        too many bytes; the future fails with RpcError, RequestTimeoutError, ProtocolError or ConnectionClosedError.
        """
        answer: asyncio.Future[Any] = self._loop.create_future()
        answer.add_done_callback(_retrieve)
        if self._failure is not None:
            answer.set_exception(self._failure())
            return answer
        number = self._issued + 1
        frame = self._frame(number, method, params)
        self._issued = number
        pending = self._pending[number] = _Pending(method, answer)
        if timeout is not None:
            pending.timer = self._loop.call_later(timeout, self._expire, number, timeout)
        answer.add_done_callback(lambda _: self._settle(number))
        self._write(frame)
        return answer

    def subscribe(self, subscription_id: str, route: Route, failed: Callable[[QuiesceError], None]) -> None:
        """Sends the subscription's notifications to `route` from now on; `failed` hears of the connection's end,
        once.
        """
        self._routes[subscription_id] = (route, failed)

    def unsubscribe(self, subscription_id: str) -> None:
        """Ends the route; what is still on its way for it is ignored."""
        self._routes.pop(subscription_id, None)

    def receive(self, message: dict[str, Any]) -> None:
        """Takes the next message. Raises ProtocolError where the conversation can't be trusted any more."""
        if self._failure is not None:
            return
        method = message.get("method")
        if isinstance(method, str):
            if "id" in message:
                refusal = {"code": -32601, "message": f"the client serves no requests, so not {method[:200]}"}
                self._write(encode({"jsonrpc": "2.0", "id": _id_in(message), "error": refusal}))
            else:
                self._notified(method, message.get("params"))
        elif "id" in message and ("result" in message or "error" in message):
            self._answered(message)
        else:
            raise ProtocolError(f"the runtime sent neither an answer nor a notification: {shown(message, 200)}")

    def fail(self, failure: Callable[[], QuiesceError]) -> None:
        """Ends the conversation: every pending and every later request fails with an error of its own.

        Only the first call counts.
        """
        if self._failure is not None:
            return
        self._failure = failure
        for pending in list(self._pending.values()):
            if not pending.answer.done():
                pending.answer.set_exception(failure())
        self.fail_subscriptions(failure)

    def fail_subscriptions(self, failure: Callable[[], QuiesceError]) -> None:
        """Ends every subscription, and leaves the requests."""
        routes, self._routes = self._routes, {}
        for _, failed in routes.values():
            failed(failure())

    def _frame(self, number: int, method: str, params: dict[str, Any]) -> bytes:
        try:
            frame = encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        except (TypeError, ValueError, RecursionError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{method}: the params can't be written as JSON: {error}") from error
        size = len(frame) - 1
        if size > self.max_frame_bytes:
            raise rpc_error_for(
                "frame_too_large",
                f"{method} would be a frame of {size} bytes, and the runtime takes {self.max_frame_bytes} at most",
            )
        return frame

    def _notified(self, method: str, params: object) -> None:
        if method not in NOTIFICATIONS:
            return  # of a newer version
        fields = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        subscription_id = fields.get("subscriptionId")
        if not isinstance(subscription_id, str):  # that may have been anybody's fact
            said = f"a {method} notification is malformed: subscriptionId: required, got {shown(fields, 200)}"
            self.fail_subscriptions(lambda: ProtocolError(said))
        elif (route := self._routes.get(subscription_id)) is not None:
            route[0](method, fields)

    def _answered(self, message: dict[str, Any]) -> None:
        number, error = message["id"], _error_in(message)
        if number is None and error is not None:
            raise ProtocolError(f"the runtime could not read a request: {error[1]}")
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= self._issued:
            raise ProtocolError(f"the runtime answered a request that was never made: {shown(message, 200)}")
        pending = self._pending.get(number)
        if pending is None or pending.answer.done():
            return  # given up, or answered before
        if "result" in message:
            pending.answer.set_result(message["result"])
        elif error is None:
            pending.answer.set_exception(
                ProtocolError(f"{pending.method}: the error has no code or message: {shown(message, 200)}")
            )
        else:
            pending.answer.set_exception(rpc_error_of(*error, method=pending.method))

    def _expire(self, number: int, timeout: float) -> None:
        pending = self._pending.get(number)
        if pending is not None and not pending.answer.done():
            message = f"the runtime did not answer {pending.method} within {timeout:g} s"
            pending.answer.set_exception(RequestTimeoutError(message, method=pending.method, timeout=timeout))

    def _settle(self, number: int) -> None:
        pending = self._pending.pop(number, None)
        if pending is not None and pending.timer is not None:
            pending.timer.cancel()


def _retrieve(answer: asyncio.Future[Any]) -> None:
    """Marks the outcome as seen, so that an answer that nobody awaits any more is no noise."""
    if not answer.cancelled():
        answer.exception()


def _id_in(message: dict[str, Any]) -> str | int | None:
    """The id of a request. What is none isn't repeated: it may be anything, also what can't be written again."""
    given: object = message["id"]
    return given if isinstance(given, (str, int)) and not isinstance(given, bool) else None


def _error_in(message: dict[str, Any]) -> tuple[int, str, dict[str, Any]] | None:
    """Code, message and details of an answer's error, None where it isn't one."""
    error: object = message.get("error")
    if not isinstance(error, dict):
        return None
    fields = cast("dict[str, Any]", error)
    code, text, data = fields.get("code"), fields.get("message"), fields.get("data")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(text, str):
        return None
    return code, text, cast("dict[str, Any]", data) if isinstance(data, dict) else {}

"""Owns the tree of errors, one class per way in which a caller would branch; knows nothing of pipes or processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ._generated.errors import ERROR_CODES

if TYPE_CHECKING:
    from ._collect import RunResult
    from ._events import SessionEvent

AbortOutcome = Literal["withdrawn", "cancelled", "detached", "unconfirmed"]
"""What became of the work of a run that was given up (RUN-9).

`"withdrawn"`: its message never entered the conversation. `"cancelled"`: the whole tree was cancelled. `"detached"`:
the work goes on, because `on_abort="detach"` said so or because another caller's message lies in the same interval.
`"unconfirmed"`: the runtime did not answer in time, so the work may go on.
"""


class QuiesceError(Exception):
    """Every error that this package raises by itself; all others below are kinds of it."""

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[QuiesceError], args: tuple[object, ...], state: dict[str, object]) -> QuiesceError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class RuntimeNotFoundError(QuiesceError):
    """No runtime could be started: the message lists every place that was looked at, and what would help."""


class ConnectionClosedError(QuiesceError):
    """The runtime went away, or `close()` was called, before the answer came (RUN-10).

    `exit_code`: the runtime's exit status, negative for a signal's number, None where it is not known.
    `stderr`: the last lines that it wrote to stderr, at most 8 KiB.
    """

    def __init__(self, message: str, *, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.stderr = stderr


class RequestTimeoutError(QuiesceError, TimeoutError):
    """The runtime did not answer one request in time. It may still have carried it out.

    `method`: the request. `timeout`: the limit that was exceeded, in seconds.
    """

    def __init__(self, message: str, *, method: str, timeout: float) -> None:
        super().__init__(message)
        self.method = method
        self.timeout = timeout


class ProtocolError(QuiesceError):
    """The runtime sent something that the protocol doesn't allow: a broken frame, a gap in the facts, a malformed
    fact.
    """


class RpcError(QuiesceError):
    """The runtime answered a request with an error.

    `code`: the error's name, such as `"session_busy"`; JSON-RPC's own are `"invalid_params"`, `"method_not_found"`,
    `"invalid_request"`, `"parse_error"` and `"internal_error"`. `rpc_code`: the number in the frame. `data`: the
    details as they came. `retryable`: whether the same request may succeed later.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        rpc_code: int = -32000,
        data: Mapping[str, Any] | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.rpc_code = rpc_code
        self.data: dict[str, Any] = dict(data or {})
        self.retryable = retryable


class UnsupportedProtocolError(RpcError):
    """No version of the protocol is spoken by both sides (FR-3)."""


class SessionNotFoundError(RpcError):
    """No session has this id, or it was deleted."""


class SessionExistsError(RpcError):
    """A session with this id exists, or existed: ids are not used again (DEL-1)."""


class SessionBusyError(RpcError):
    """The agent was not idle with an empty queue, and `on_busy="reject"` or `expect="idle"` asked for that (IN-7)."""


class MessageConflictError(RpcError):
    """The message id stands for another message of this session (IN-3)."""


class MessageNotFoundError(RpcError):
    """No message of this session has this id (SUB-1)."""


class RevisionConflictError(RpcError):
    """The goal changed since the given revision (GO-1)."""


class UnknownModelError(RpcError):
    """The model is not configured, or none was named; the message says how to name one."""


class ModelAuthError(RpcError):
    """The key of the model's provider is missing or was refused."""


class FencedError(RpcError):
    """Another runtime took the session over, or it was deleted (RE-4)."""


class LimitExceededError(RpcError):
    """A limit that the message names was reached."""


class FrameTooLargeError(RpcError):
    """The request is longer than the runtime takes in one frame (FR-2)."""


class OverloadedError(RpcError):
    """Too many requests in flight; retry later."""


class StorageUnavailableError(RpcError):
    """The runtime's store failed; nothing of the request was kept (RE-6)."""


class UnauthorizedError(RpcError):
    """The token is missing or wrong (FR-6)."""


class ShuttingDownError(RpcError):
    """The runtime is shutting down."""


class StoreVersionError(RpcError):
    """The store was written by a newer runtime."""


class _GivenUpError(QuiesceError):
    def __init__(
        self,
        message: str,
        *,
        outcome: AbortOutcome,
        partial: RunResult,
        last_status: str | None,
        last_event: SessionEvent | None,
    ) -> None:
        super().__init__(message)
        self.outcome: AbortOutcome = outcome
        self.partial = partial
        self.last_status = last_status
        self.last_event = last_event


class RunTimeoutError(_GivenUpError, TimeoutError):
    """A run's `timeout` or `inactivity_timeout` passed (RUN-9).

    `outcome`: what became of the work. `partial`: what the interval held so far. `last_status`: `"running"`,
    `"idle"`, or None where nothing was heard. `last_event`: the last fact that came, of any kind, or None.
    """


class RunAbortedError(_GivenUpError):
    """The caller gave a run up, by cancelling its task or closing its stream (RUN-9).

    A cancelled task still raises `asyncio.CancelledError`, as asyncio requires; this error is its `__cause__`.
    The attributes are those of `RunTimeoutError`.
    """


_CLASSES: dict[str, type[RpcError]] = {kind.__name__: kind for kind in (RpcError, *RpcError.__subclasses__())}

_OF_JSON_RPC = {
    -32700: "parse_error",
    -32600: "invalid_request",
    -32601: "method_not_found",
    -32602: "invalid_params",
    -32603: "internal_error",
}


def class_of(code: str) -> type[RpcError]:
    """The class that stands for an error's code; `RpcError` for one that nobody branches on, or that is new."""
    return _CLASSES[ERROR_CODES[code].class_name] if code in ERROR_CODES else RpcError


def rpc_error_of(rpc_code: int, message: str, data: Mapping[str, Any], *, method: str | None = None) -> RpcError:
    """The error that an error response stands for; faults of params are told under the name of their `method`."""
    named = data.get("code")
    code = named if isinstance(named, str) else _OF_JSON_RPC.get(rpc_code, str(rpc_code))
    if method is not None and code == "invalid_params":
        message = f"{method}: {message.removeprefix('invalid params: ')}"
    return class_of(code)(message, code=code, rpc_code=rpc_code, data=data, retryable=data.get("retryable") is True)


def rpc_error_for(code: str, message: str) -> RpcError:
    """An error of a known code that this side raises itself, before or without a request."""
    return rpc_error_of(-32000, message, {"code": code, "retryable": ERROR_CODES[code].retryable})

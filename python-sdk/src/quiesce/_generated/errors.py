# Generated from schema/src by `make gen`: do not edit.
"""The codes of error responses."""

from __future__ import annotations

from typing import Final, NamedTuple


class ErrorCode(NamedTuple):
    """What a code means, whether trying again can help, and the exception class that stands for it."""

    meaning: str
    retryable: bool
    class_name: str


ERROR_CODES: Final[dict[str, ErrorCode]] = {
    "not_initialized": ErrorCode("A request came before `initialize` was answered.", False, "RpcError"),
    "unsupported_protocol": ErrorCode("No protocol version of the client's range is spoken here.", False, "UnsupportedProtocolError"),
    "session_not_found": ErrorCode("No session has this id, or it was deleted.", False, "SessionNotFoundError"),
    "session_exists": ErrorCode("A session with this id exists, or existed: ids are not used again.", False, "SessionExistsError"),
    "has_children": ErrorCode("The session has children that are not deleted; deleting it needs `tree: true`.", False, "RpcError"),
    "session_busy": ErrorCode("The agent is not idle with an empty queue, and the prompt said `expect: \"idle\"`.", True, "SessionBusyError"),
    "message_conflict": ErrorCode("The messageId stands for another message of this session.", False, "MessageConflictError"),
    "message_not_found": ErrorCode("No message of this session has this id.", False, "MessageNotFoundError"),
    "already_answered": ErrorCode("The request was answered before, otherwise.", False, "RpcError"),
    "request_closed": ErrorCode("A cancel or a recovery ended the request before the answer came.", False, "RpcError"),
    "revision_conflict": ErrorCode("The goal changed since the given revision.", True, "RevisionConflictError"),
    "subscription_not_found": ErrorCode("No subscription of this connection has this id.", False, "RpcError"),
    "not_parent": ErrorCode("Only the direct parent may do this.", False, "RpcError"),
    "not_driving": ErrorCode("Another runtime drives the session.", True, "RpcError"),
    "unknown_model": ErrorCode("The model is not configured, or no model was named.", False, "UnknownModelError"),
    "model_auth": ErrorCode("The key of the model's provider is missing.", False, "ModelAuthError"),
    "invalid_cursor": ErrorCode("The cursor was not given by this method, or lies beyond the log.", False, "RpcError"),
    "fenced": ErrorCode("Another runtime took the session over, or it was deleted.", True, "FencedError"),
    "limit_exceeded": ErrorCode("A limit named in the message was reached.", False, "LimitExceededError"),
    "frame_too_large": ErrorCode("The frame is longer than the limit in `limits.maxFrameBytes`.", False, "FrameTooLargeError"),
    "overloaded": ErrorCode("Too many requests in flight.", True, "OverloadedError"),
    "storage_unavailable": ErrorCode("The store failed: nothing of the request was kept.", True, "StorageUnavailableError"),
    "unauthorized": ErrorCode("The token is missing or wrong.", False, "UnauthorizedError"),
    "shutting_down": ErrorCode("The runtime is shutting down.", True, "ShuttingDownError"),
    "store_version": ErrorCode("The store was written by a newer runtime.", False, "StoreVersionError"),
    "internal": ErrorCode("A fault of the runtime; its log says more.", False, "RpcError"),
}

# Generated from schema/src by `make gen`: do not edit.
"""The tables of requests and notifications."""

from __future__ import annotations

from typing import Final, NamedTuple

from quiesce._wire import WireModel

from .models import (
    InitializeParams,
    InitializeResult,
    ModelListParams,
    ModelListResult,
    ServerPingParams,
    ServerPingResult,
    SessionCancelParams,
    SessionCancelResult,
    SessionClosedParams,
    SessionCreateParams,
    SessionCreateResult,
    SessionDeleteParams,
    SessionDeleteResult,
    SessionDeltaParams,
    SessionEventParams,
    SessionEventsParams,
    SessionEventsResult,
    SessionGetParams,
    SessionGetResult,
    SessionListParams,
    SessionListResult,
    SessionMessagesParams,
    SessionMessagesResult,
    SessionPromptParams,
    SessionPromptResult,
    SessionStatusNotice,
    SessionStatusParams,
    SessionStatusResult,
    SessionSubscribeParams,
    SessionSubscribeResult,
    SessionUnsubscribeParams,
    SessionUnsubscribeResult,
    SessionUpdateParams,
    SessionUpdateResult,
    SessionWithdrawParams,
    SessionWithdrawResult,
    ShutdownParams,
    ShutdownResult,
    ToolListParams,
    ToolListResult,
)


class Method(NamedTuple):
    """A request: the models of its params and of its result."""

    params: type[WireModel]
    result: type[WireModel]


PROTOCOL_VERSION: Final = 1

METHODS: Final[dict[str, Method]] = {
    "initialize": Method(InitializeParams, InitializeResult),
    "session/create": Method(SessionCreateParams, SessionCreateResult),
    "session/get": Method(SessionGetParams, SessionGetResult),
    "session/list": Method(SessionListParams, SessionListResult),
    "session/update": Method(SessionUpdateParams, SessionUpdateResult),
    "session/delete": Method(SessionDeleteParams, SessionDeleteResult),
    "session/prompt": Method(SessionPromptParams, SessionPromptResult),
    "session/withdraw": Method(SessionWithdrawParams, SessionWithdrawResult),
    "session/cancel": Method(SessionCancelParams, SessionCancelResult),
    "session/status": Method(SessionStatusParams, SessionStatusResult),
    "session/events": Method(SessionEventsParams, SessionEventsResult),
    "session/messages": Method(SessionMessagesParams, SessionMessagesResult),
    "session/subscribe": Method(SessionSubscribeParams, SessionSubscribeResult),
    "session/unsubscribe": Method(SessionUnsubscribeParams, SessionUnsubscribeResult),
    "model/list": Method(ModelListParams, ModelListResult),
    "tool/list": Method(ToolListParams, ToolListResult),
    "server/ping": Method(ServerPingParams, ServerPingResult),
    "shutdown": Method(ShutdownParams, ShutdownResult),
}

NOTIFICATIONS: Final[dict[str, type[WireModel]]] = {
    "session.event": SessionEventParams,
    "session.status": SessionStatusNotice,
    "session.delta": SessionDeltaParams,
    "session.closed": SessionClosedParams,
}

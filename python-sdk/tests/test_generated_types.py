"""What a type checker must know of the generated models: classes and tags narrow, unknown kinds have a branch."""

from __future__ import annotations

from typing import Any, assert_type

from quiesce._generated.errors import ERROR_CODES
from quiesce._generated.methods import METHODS, NOTIFICATIONS
from quiesce._generated.models import (
    ContentBlock,
    Fact,
    InboxReceipt,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    TurnEnd,
    TurnEndData,
    UnknownBlock,
    UnknownEvent,
    decode_fact,
)


def told_by_class(event: Fact) -> str:
    match event:
        case TurnEnd():
            assert_type(event.data, TurnEndData)
            return event.data.reason.kind
        case InboxReceipt():
            return "".join(map(shown, event.data.message.content))
        case ToolCall(data=data):
            assert_type(data.input, Any)
            return data.name
        case UnknownEvent():
            assert_type(event.raw, dict[str, Any])
            return event.original_type
        case _:
            return f"{event.seq} {event.type}"


def told_by_tag(event: Fact) -> str:
    if event.type == "turn/end":
        assert_type(event, TurnEnd)
        return event.data.reason.kind
    if event.type == "unknown":
        assert_type(event, UnknownEvent)
        return event.original_type
    return str(event.data)


def shown(block: ContentBlock) -> str:
    match block:
        case TextBlock() | ReasoningBlock():
            return block.text
        case UnknownBlock():
            return str(block.raw["type"])
        case _:
            return block.type


def test_a_match_by_class_narrows() -> None:
    usage = {"inputTokens": 0, "outputTokens": 0}
    data = {"turnId": "t", "reason": {"kind": "a kind of the future"}, "usage": usage}
    event = decode_fact({"type": "turn/end", "seq": 1, "time": 1, "data": data})
    assert told_by_class(event) == told_by_tag(event) == "a kind of the future"
    unknown = decode_fact({"type": "x/y", "seq": 1, "time": 1})
    assert told_by_class(unknown) == told_by_tag(unknown) == "x/y"


def test_the_tables_have_their_types() -> None:
    assert METHODS["session/prompt"].result.__name__ == "SessionPromptResult"
    assert NOTIFICATIONS.keys() == {"session.event", "session.status", "session.delta", "session.closed"}
    assert ERROR_CODES["session_busy"].class_name == "SessionBusyError"
    assert ERROR_CODES["session_busy"].retryable

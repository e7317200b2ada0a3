"""The JSON-RPC conversation by itself, against frames that no right runtime sends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quiesce import ProtocolError
from quiesce._events import decode_event
from quiesce._framing import decode
from quiesce._peer import Peer


class Wire:
    """What the peer wrote, and frames for it."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.peer = Peer(lambda data: self.written.append(json.loads(data)))

    def frame(self, text: str) -> None:
        self.peer.receive(decode(text.encode()))


@pytest.mark.parametrize(
    ("given", "answered"),
    [
        ("1e400", None),
        ("1.5", None),
        ("true", None),
        ("null", None),
        ("{}", None),
        ("[[[[]]]]", None),
        ('"q"', "q"),
        ("7", 7),
    ],
)
async def test_a_request_of_the_runtime_is_refused_whatever_its_id(given: str, answered: str | int | None) -> None:
    wire = Wire()
    wire.frame('{"jsonrpc":"2.0","id":' + given + ',"method":"' + "x" * 100_000 + '"}')
    [answer] = wire.written
    assert (answer["id"], answer["error"]["code"]) == (answered, -32601)
    assert len(json.dumps(answer)) < 500


@pytest.mark.parametrize(
    "error", ['{"message":"x"}', '{"code":-32000}', '{"code":true,"message":"x"}', "[]", "null", '"no"']
)
async def test_an_error_that_is_none_fails_its_request_alone(error: str) -> None:
    wire = Wire()
    bad, good = wire.peer.request("work", {}, None), wire.peer.request("work", {}, None)
    wire.frame('{"jsonrpc":"2.0","id":1,"error":' + error + "}")
    wire.frame('{"jsonrpc":"2.0","id":2,"result":{}}')
    with pytest.raises(ProtocolError, match=r"^work: the error has no code or message"):
        await bad
    assert await good == {}


@pytest.mark.parametrize("given", ["99", "0", "-1", "1.5", '"1"', "{}", "null", "true"])
async def test_an_answer_to_what_was_never_asked_is_not_to_be_trusted(given: str) -> None:
    wire = Wire()
    wire.peer.request("work", {}, None)
    with pytest.raises(ProtocolError, match="answered a request that was never made"):
        wire.frame('{"jsonrpc":"2.0","id":' + given + ',"result":{}}')


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")])
async def test_what_nests_as_deeply_as_can_be_read_is_told_too(opens: str, closes: str) -> None:
    """What can just be read can't be told whole: the way there is deeper."""
    wire = Wire()
    wire.peer.subscribe("u", lambda _method, _params: None, lambda _error: None)
    read = 0
    for depth in range(800, 1100):
        deep = opens * depth + "1" + closes * depth
        try:
            value = decode(f'{{"value":{deep}}}'.encode())["value"]
        except ProtocolError:
            continue
        read += 1
        for message in ({"value": value}, {"id": value, "result": value}):
            with pytest.raises(ProtocolError):
                wire.peer.receive(message)
        wire.peer.receive({"method": "session.event", "params": {"value": value}})
        for fact in (
            {"seq": value, "type": value},
            {"seq": 1, "time": 1, "type": "tool/start", "data": {"callId": value}},
        ):
            with pytest.raises(ProtocolError):
                decode_event("s", fact)
    assert read > 0

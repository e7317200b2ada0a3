"""Owns what a scripted peer is made of: frames in, frames out, facts. Runs without the SDK, on a bare interpreter."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, cast

Json = dict[str, Any]

SESSION = "s-1"
LIMITS = {"maxFrameBytes": 32 * 1024 * 1024, "maxInFlight": 100, "maxPendingMessages": 100}
USAGE = {"inputTokens": 10, "outputTokens": 5}
DESCRIPTION: Json = {
    "sessionId": SESSION, "depth": 0, "metadata": {}, "cwd": "/", "roots": [], "model": "scripted/demo",
    "permissions": "edit", "limits": {}, "createdAt": 1, "updatedAt": 1, "status": "idle", "seq": 1,
    "usage": {"inputTokens": 0, "outputTokens": 0},
}  # fmt: skip

RESULTS: dict[str, Json] = {
    "session/get": {"session": DESCRIPTION},
    "session/update": {"session": DESCRIPTION},
    "session/list": {"sessions": [DESCRIPTION]},
    "session/withdraw": {"withdrawn": False},
    "session/cancel": {"cancelled": False, "withdrawn": []},
    "session/messages": {"messages": []},
    "model/list": {"models": [{"model": "scripted/demo", "provider": "scripted", "available": True}]},
    "tool/list": {"tools": []},
}


class Peer:
    """The server's end of stdio. Every request that it reads goes to the file that PEER_LOG names, one per line."""

    def __init__(self) -> None:
        log = os.environ.get("PEER_LOG")
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if log else None
        self.subscription = ""
        self.session = SESSION
        self.held: bytearray | None = None
        """What is written while it isn't None."""

    def read(self) -> Json | None:
        """The next message, None at the end of stdin."""
        line = sys.stdin.buffer.readline()
        if not line:
            return None
        if self._log is not None:
            os.write(self._log, line)
        return cast("Json", json.loads(line))

    def expect(self, method: str) -> Json:
        """The next request of this method; what says nothing about a run is answered on the way."""
        while (message := self.read()) is not None:
            if message["method"] == method:
                if method == "session/subscribe":
                    self.subscription = message["params"]["subscriptionId"]
                    self.session = message["params"]["sessionId"]
                return message
            if message["method"] not in {"server/ping", "session/get", "session/unsubscribe"}:
                sys.exit(f"expected {method}, got {message['method']}")
            self.answer(message, RESULTS.get(message["method"], {}))
        sys.exit(0)

    def write(self, data: bytes | bytearray) -> None:
        if self.held is not None:
            self.held += data
            return
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def send(self, message: Json) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n")

    def answer(self, request: Json, result: object) -> None:
        self.send({"id": request["id"], "result": result})

    def refuse(self, request: Json, code: str, **details: object) -> None:
        data = {"code": code, "retryable": False, **details}
        self.send({"id": request["id"], "error": {"code": -32000, "message": f"refused: {code}", "data": data}})

    def greet(self, limits: Json = LIMITS) -> None:
        """Answers `initialize`."""
        server = {"name": "peer", "version": "0"}
        capabilities: Json = {"methods": [], "deltas": True}
        result = {"protocol": 1, "server": server, "capabilities": capabilities, "limits": limits}
        self.answer(self.expect("initialize"), result)

    def subscribed(self, seq: int = 0) -> Json:
        """Answers the next `session/subscribe`, and returns it."""
        request = self.expect("session/subscribe")
        self.answer(request, self.subscription_at(seq))
        return request

    def subscription_at(self, seq: int) -> Json:
        return {"subscriptionId": self.subscription, "status": "idle", "seq": seq, "waitingOn": []}

    def fact(self, seq: int, kind: str, data: object, *, session: str | None = None) -> Json:
        """The notification of one fact."""
        event = {"seq": seq, "type": kind, "time": 1796000000000 + seq, "data": data}
        params = {"subscriptionId": self.subscription, "sessionId": session or self.session, "event": event}
        return {"method": "session.event", "params": params}

    def facts(self, *facts: Json) -> None:
        """Sends notifications in one write."""
        self.write(
            b"".join(json.dumps({"jsonrpc": "2.0", **fact}, ensure_ascii=False).encode() + b"\n" for fact in facts)
        )

    def delta(self, text: str) -> Json:
        ids = {"subscriptionId": self.subscription, "sessionId": self.session, "turnId": "t-1", "stepId": "st-1"}
        return {"method": "session.delta", "params": {**ids, "kind": "text", "index": 0, "text": text}}

    def receipt(self, seq: int, message_id: str, *, delivery: str = "followup", origin: Json | None = None) -> Json:
        content = [{"type": "text", "text": "hello"}]
        who = origin or {"kind": "user"}
        message = {"id": message_id, "delivery": delivery, "origin": who, "content": content}
        return self.fact(seq, "inbox/receipt", {"message": message})

    def status(self, seq: int, status: str, waiting_on: list[Json] | None = None) -> Json:
        waiting = {} if status == "running" else {"waitingOn": waiting_on or []}
        return self.fact(seq, "agent/status", {"status": status, "activityId": "a-1", **waiting})

    def turn(self, seq: int, message_id: str, text: str = "Hi.", *, deltas: list[str] | None = None) -> list[Json]:
        """The facts of one turn of one step, without the idle: seven of them."""
        ids = {"turnId": "t-1", "stepId": "st-1"}
        trigger = {"kind": "message", "messageId": message_id}
        answer = {"outputId": "o-1", "content": [{"type": "text", "text": text}], "model": "m", "finish": "stop"}
        return [
            self.status(seq, "running"),
            self.fact(seq + 1, "turn/start", {"turnId": "t-1", "activityId": "a-1", "trigger": trigger}),
            self.fact(seq + 2, "inbox/admitted", {"messageId": message_id, **ids}),
            self.fact(seq + 3, "step/start", {**ids, "model": "m"}),
            *map(self.delta, deltas or []),
            self.fact(seq + 4, "assistant/message", {**ids, **answer, "usage": USAGE}),
            self.fact(seq + 5, "step/end", {**ids, "usage": USAGE}),
            self.fact(seq + 6, "turn/end", {"turnId": "t-1", "reason": {"kind": "completed"}, "usage": USAGE}),
        ]  # fmt: skip

    def interval(self, seq: int, message_id: str, text: str = "Hi.", *, deltas: list[str] | None = None) -> list[Json]:
        """The facts of a whole run: nine of them."""
        return [
            self.receipt(seq, message_id),
            *self.turn(seq + 1, message_id, text, deltas=deltas),
            self.status(seq + 8, "idle"),
        ]

    def serve(self) -> None:
        """Does what a right server would, until it is told to shut down: each prompt is a turn."""
        logs: dict[str, int] = {}
        cursors: dict[str, str] = {}
        while (request := self.read()) is not None:
            params = request["params"]
            session = params.get("sessionId", SESSION)
            match request["method"]:
                case "shutdown":
                    self.answer(request, {})
                    return
                case "session/create":
                    logs[params.get("sessionId", f"s-{len(logs) + 1}")] = 0
                    self.answer(request, {"session": {**DESCRIPTION, "sessionId": list(logs)[-1]}})
                case "session/subscribe":
                    self.subscription = params["subscriptionId"]
                    cursors[self.subscription] = session
                    self.answer(request, self.subscription_at(logs.setdefault(session, 0)))
                case "session/unsubscribe":
                    cursors.pop(params["subscriptionId"], None)
                    self.answer(request, {})
                case "session/prompt":
                    self.answer(request, {"messageId": params["messageId"]})
                    self.session = session
                    logs[session] = logs.get(session, 0) + 9
                    for cursor in [cursor for cursor, of in cursors.items() if of == session]:
                        self.subscription = cursor
                        text = f"You said {params['content']}."
                        self.facts(*self.interval(logs[session] - 8, params["messageId"], text, deltas=["Yo", "u"]))
                case method:
                    self.answer(request, RESULTS.get(method, {}))

    def until_end(self) -> None:
        """Reads on, answering nothing, until it is told to shut down or stdin ends."""
        while (request := self.read()) is not None and request.get("method") != "shutdown":
            pass


PEERS: dict[str, Callable[[Peer], None]] = {}


def peer(script: Callable[[Peer], None]) -> Callable[[Peer], None]:
    """Names a peer after its function."""
    PEERS[script.__name__] = script
    return script

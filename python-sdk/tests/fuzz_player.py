"""One scenario against this SDK, in this process: its real connection, peer and sessions over a scenario's bytes.

A scenario comes from `conformance/fuzz/print-scenarios.mjs`, with what must become of every call.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any, cast
from unittest import mock

from quiesce import AsyncSession, QuiesceError, RpcError, _connection
from quiesce._collect import RunResult
from quiesce._connection import Connection
from quiesce._framing import FrameReader
from quiesce._generated import models
from quiesce._launch import Launch
from quiesce._process import Grace
from quiesce._wire import WireModel, encode

Json = dict[str, Any]

WATCHDOG = 20.0
"""Nothing that a scenario waits for takes longer, unless it hangs; in seconds."""

_SIMPLE: dict[str, tuple[str, Json, type[WireModel]]] = {
    "ping": ("server/ping", {}, models.ServerPingResult),
    "models": ("model/list", {}, models.ModelListResult),
    "get": ("session/get", {"sessionId": ""}, models.SessionGetResult),
    "withdraw": ("session/withdraw", {"sessionId": "", "messageId": "m"}, models.SessionWithdrawResult),
    "cancel": ("session/cancel", {"sessionId": ""}, models.SessionCancelResult),
    "status": ("session/status", {"sessionId": ""}, models.SessionStatusResult),
}


class Runtime:
    """What a connection takes for the runtime's process: what it reads is what a scenario sends."""

    exit_code = 0
    stderr_tail = ""

    def __init__(self) -> None:
        self.refused = 0
        self.prompts = 0
        self.send: Callable[[bytes], None] = _ignore
        self.end_of_stream: Callable[[], None] = _ignore
        self._unread: list[Json] = []
        self._news = asyncio.Event()
        self._names: list[tuple[bytes, bytes]] = []

    async def start(
        self, _command: object, *, on_data: Callable[[bytes], None], on_end: Callable[[], None], **_options: object
    ) -> Runtime:
        """Stands for `Process.start`."""
        self.send, self.end_of_stream = on_data, on_end
        return self

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            message = json.loads(line)
            if "method" in message:
                self.prompts += message["method"] == "session/prompt"
                self._unread.append(message)
            else:
                self.refused += message["error"]["code"] == -32601
        self._news.set()

    async def end(self) -> None:
        """It has ended."""

    def abandon(self) -> None:
        """It is to end, and nobody waits."""

    async def bind(self, step: Json) -> None:
        """Waits for the request that a step means; from then on its ids are known."""
        request = await self._request(step)
        params = request["params"]
        self._name(str(step["id"]), str(request["id"]))
        if "subscription" in step:
            self._name(step["subscription"], params["subscriptionId"])
        if "message" in step:
            self._name(step["message"], params["messageId"])

    def _name(self, name: str, real: str) -> None:
        self._names.append((name.encode(), real.encode()))

    async def _request(self, step: Json) -> Json:
        """A prompt says which call it is of; all else comes in the order in which the scenario asks for it."""
        session, name = step.get("session"), step["name"]
        while True:
            for request in self._unread:
                params = request["params"]
                is_of = params.get("sessionId", session) == session and params.get("content", name) == name
                if request["method"] == step["method"] and is_of:
                    self._unread.remove(request)
                    return request
            self._news.clear()
            await self._news.wait()

    def chunks(self, step: Json) -> list[bytes]:
        """The bytes of a step as they go over the wire, cut where the scenario cuts them."""
        data = base64.b64decode(step["bytes"])
        for name, real in self._names:
            data = data.replace(name, real)
        places = [0, *(at for at in step["cuts"] if at < len(data)), len(data)]
        return [data[start:end] for start, end in itertools.pairwise(places)]

    def named(self, value: object) -> Any:
        """A value in which the scenario's own names stand for the real ids of texts."""
        text = json.dumps(value)
        for name, real in self._names:
            if len(real) == 36:
                text = text.replace(real.decode(), name.decode())
        return json.loads(text)


async def play(scenario: Json) -> list[str]:
    """Plays it, and tells what became otherwise than it must."""
    runtime = Runtime()
    reader = functools.partial(FrameReader, scenario["limit"])
    with mock.patch.multiple(_connection, Process=runtime, FrameReader=reader):
        launch = Launch(("fuzz",), None, {})
        opening = asyncio.create_task(Connection.open(launch, request_timeout=None, on_stderr=None, grace=Grace()))
        calls: dict[str, asyncio.Task[Json]] = {}
        for step in scenario["steps"]:
            match step["do"]:
                case "start":
                    calls[step["name"]] = asyncio.create_task(_outcome(_begin(step, opening)))
                    continue
                case "bind":
                    if not await _within(runtime.bind(step)):
                        return [f"hang: {step['name']} sends no {step['method']}"]
                case "send":
                    for chunk in runtime.chunks(step):
                        runtime.send(chunk)
                case _:
                    runtime.end_of_stream()
            await _settled()
    problems: list[str] = []
    for name, call in calls.items():
        if not await _within(asyncio.wait([call])):
            call.cancel()
            problems.append(f"hang: {name} does not settle")
        elif difference := unlike(scenario["expect"][name], runtime.named(call.result())):
            problems.append(f"{name}: {difference}")
    await _settled()
    for what, seen in (("refused", runtime.refused), ("prompts", runtime.prompts)):
        if seen != scenario[what]:
            problems.append(f"{what}: {seen} instead of {scenario[what]}")
    return problems


async def _begin(step: Json, opening: asyncio.Task[Connection]) -> object:
    """The SDK's own word for a call."""

    async def connect() -> Connection:
        return await asyncio.shield(opening)

    session = AsyncSession(step.get("session", ""), connect)
    match step["kind"]:
        case "run":
            return _wired(await session.run(step["name"]))
        case "stream":
            return await _streamed(session, step["name"])
        case "collect":
            return _wired(await session.collect(step["message"]))
        case "open":
            await connect()
            return None
        case "tail":
            return await _tailed(session, step["after"])
        case kind:
            method, params, result = _SIMPLE[kind]
            params = {**params, **({"sessionId": session.id} if "sessionId" in params else {})}
            return encode(await (await connect()).request(method, params, result))


async def _streamed(session: AsyncSession, prompt: str) -> Json:
    """What a stream's result says, once its iteration has given the same facts."""
    stream = session.stream(prompt)
    seqs: list[int] = []
    failed: Exception | None = None
    try:
        async for item in stream:
            if not isinstance(item, models.SessionDeltaParams):
                seqs.append(item.seq)  # noqa: PERF401 (what came before an error counts)
    except QuiesceError as error:
        failed = error
    result = await stream.result()
    if failed is not None or seqs != [event.seq for event in result.events]:
        raise AssertionError(f"the iteration gave {seqs}: {failed}")
    return _wired(result)


class _TailedError(Exception):
    def __init__(self, events: list[int], cause: QuiesceError) -> None:
        super().__init__(events)
        self.events = events
        self.cause = cause


async def _tailed(session: AsyncSession, after: int) -> list[int]:
    seqs: list[int] = []
    events = session.events(after=after)
    try:
        async for event in events:
            seqs.append(event.seq)  # noqa: PERF401 (what came before an error counts)
    except QuiesceError as error:
        await events.close()
        raise _TailedError(seqs, error) from error
    return seqs


def _wired(result: RunResult) -> Json:
    """A result as its facts stood on the wire, where the frame around each named its session."""
    dumped = result.model_dump(by_alias=True, exclude_unset=True)
    for event in dumped["events"]:
        event.pop("sessionId", None)
    finish_reason = dumped.pop("finish_reason")
    return {**dumped, "finishReason": finish_reason}


async def _outcome(work: Awaitable[object]) -> Json:
    try:
        return {"ok": await work}
    except _TailedError as tailed:
        return {**_failure(tailed.cause), "events": tailed.events}
    except QuiesceError as error:
        return _failure(error)


def _failure(error: QuiesceError) -> Json:
    return {"error": type(error).__name__, **({"code": error.code} if isinstance(error, RpcError) else {})}


def unlike(told: object, became: object, path: str = "") -> str:
    """Where `became` isn't what was told, or nothing. Numbers that are equal are alike, however they are written."""
    if isinstance(told, dict) and isinstance(became, dict):
        pairs, others = cast("Json", told), cast("Json", became)
        for key in {**pairs, **others}:
            if key not in others or key not in pairs:
                return f"{path}.{key} is {_shown(others.get(key))} instead of {_shown(pairs.get(key))}"
            if difference := unlike(pairs[key], others[key], f"{path}.{key}"):
                return difference
        return ""
    if isinstance(told, list) and isinstance(became, list):
        items, given = cast("list[object]", told), cast("list[object]", became)
        if len(items) != len(given):
            return f"{path} holds {len(given)} instead of {len(items)}"
        return next((each for i, item in enumerate(items) if (each := unlike(item, given[i], f"{path}.{i}"))), "")
    if told == became and isinstance(told, bool) == isinstance(became, bool):
        return ""
    return f"{path or 'it'} is {_shown(became)} instead of {_shown(cast('object', told))}"


def _ignore(*_: object) -> None:
    """Nobody listens yet."""


def _shown(value: object) -> str:
    return json.dumps(value)[:300]


async def _settled() -> None:
    """Whatever is due in this process is done."""
    for _ in range(5):
        await asyncio.sleep(0)


async def _within(work: Awaitable[object]) -> bool:
    try:
        await asyncio.wait_for(work, WATCHDOG)
    except TimeoutError:
        return False
    return True

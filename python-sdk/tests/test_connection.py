"""A connection whose other side answers wrongly, or doesn't."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from conftest import Scripted
from quiesce import (
    ConnectionClosedError,
    FrameTooLargeError,
    ProtocolError,
    RequestTimeoutError,
    RpcError,
    SessionNotFoundError,
    UnknownModelError,
    UnsupportedProtocolError,
)

Peers = Callable[[str], Scripted]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("answers_malformed", r"the result of model/list is malformed: models\[0\].model: .*, got 5"),
        ("refuses_malformed", "model/list: the error has no code or message"),
    ],
)
async def test_a_malformed_answer_is_the_error_of_that_request_alone(scripted: Peers, name: str, message: str) -> None:
    async with scripted(name).client() as quiesce:
        for _ in range(2):
            with pytest.raises(ProtocolError, match=message):
                await quiesce.models()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("answers_nobody", "answered a request that was never made: .*99"),
        ("cannot_read", "could not read a request: not JSON"),
        ("prints_garbage", "a line that is not JSON: 'Debugger attached.'"),
        ("sends_a_frame_over_the_limit", "a frame of more than 33554432 bytes"),
    ],
)
async def test_what_cannot_be_trusted_ends_the_connection(scripted: Peers, name: str, message: str) -> None:
    peer = scripted(name)
    async with peer.client() as quiesce:
        first, second = await asyncio.gather(quiesce.models(), quiesce.ping(), return_exceptions=True)
        for error in (first, second):
            assert isinstance(error, ProtocolError)
        with pytest.raises(ProtocolError, match=message):
            await quiesce.ping()
        assert await asyncio.to_thread(peer.is_gone)


async def test_the_runtimes_own_limit_counts(scripted: Peers) -> None:
    async with scripted("takes_small_frames").client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        await session.prompt("x" * 300, message_id="m-1")
        with pytest.raises(FrameTooLargeError, match="the runtime takes 500 at most") as raised:
            await session.prompt("x" * 500)
    assert (raised.value.code, raised.value.retryable) == ("frame_too_large", False)


async def test_a_request_of_the_server_is_refused_and_nothing_stops(scripted: Peers) -> None:
    async with scripted("asks_questions").client() as quiesce:
        assert [model.model for model in await quiesce.models()] == ["-32601"]
        await quiesce.ping()


async def test_a_second_answer_is_ignored(scripted: Peers) -> None:
    async with scripted("answers_twice_and_late").client() as quiesce:
        assert await quiesce.models() == []
        await quiesce.ping()


async def test_a_request_has_a_time_limit(scripted: Peers) -> None:
    async with scripted("never_answers").client(request_timeout=1.5) as quiesce:
        with pytest.raises(RequestTimeoutError, match=r"did not answer model/list within 1.5 s") as raised:
            await quiesce.models()
    assert (raised.value.method, raised.value.timeout) == ("model/list", 1.5)
    assert isinstance(raised.value, TimeoutError)


async def test_the_start_has_a_time_limit(scripted: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quiesce._connection.START_LIMIT", 0.2)
    with pytest.raises(RequestTimeoutError, match="did not answer initialize"):
        await scripted("never_greets").client()


async def test_the_time_limit_of_requests_holds_for_the_start(scripted: Peers) -> None:
    with pytest.raises(RequestTimeoutError, match=r"did not answer initialize within 0\.2 s"):
        await scripted("never_greets").client(request_timeout=0.2)


async def test_another_version_is_one_clear_error(scripted: Peers) -> None:
    with pytest.raises(UnsupportedProtocolError, match="chose version 2 of the protocol; this package speaks 1"):
        await scripted("speaks_version_2").client()


async def test_a_runtime_that_exits_at_once(scripted: Peers) -> None:
    peer = scripted("exits_at_once")
    with pytest.raises(ConnectionClosedError) as raised:
        await peer.client()
    said = str(raised.value)
    assert said.startswith(f"the runtime exited with code 3 before it had answered ({peer.path} serve --stdio)")
    assert said.endswith("the end of its stderr:\nthe store is locked")
    assert (raised.value.exit_code, raised.value.stderr) == (3, "the store is locked")


@pytest.mark.parametrize(
    ("code", "kind"),
    [("session_not_found", SessionNotFoundError), ("unknown_model", UnknownModelError), ("odd", RpcError)],
)
async def test_errors_are_typed_by_their_code(scripted: Peers, code: str, kind: type[RpcError]) -> None:
    async with scripted("refuses_everything").client() as quiesce:
        with pytest.raises(kind, match=f"refused: {code}") as raised:
            await quiesce.models(provider=code)
    assert type(raised.value) is kind
    assert raised.value.code == code


async def test_params_that_are_not_json_are_refused_here(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()
        with pytest.raises(TypeError, match=r"session/prompt: the params can't be written as JSON: .*set"):
            await session.prompt("hello", metadata={"tags": {"a"}})
        with pytest.raises(ValueError, match="session/prompt: the params can't be written as JSON"):
            await session.prompt("hello", metadata={"x": float("nan")})
        await quiesce.ping()
    assert "session/prompt" not in peer.methods()

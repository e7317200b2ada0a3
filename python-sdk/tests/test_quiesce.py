"""The way in: one process however many calls come first; and what its methods send."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from conftest import Scripted
from quiesce import (
    AsyncQuiesce,
    ConnectionClosedError,
    Limits,
    ModelOptions,
    PermissionPolicy,
    PermissionRule,
    TextBlock,
)

Peers = Callable[[str], Scripted]


async def test_a_hundred_first_calls_start_one_process(scripted: Peers) -> None:
    peer = scripted("right")
    quiesce = peer.client()
    await asyncio.gather(*(quiesce.ping() for _ in range(100)))
    await quiesce.close()
    assert peer.methods() == ["initialize", *["server/ping"] * 100, "shutdown"]


async def test_a_first_call_that_is_cancelled_leaves_the_start_to_the_others(scripted: Peers) -> None:
    peer = scripted("right")
    quiesce = peer.client()
    first, second = asyncio.create_task(quiesce.ping()), asyncio.create_task(quiesce.ping())
    await asyncio.sleep(0)
    first.cancel()
    await second
    await quiesce.close()
    assert first.cancelled()
    assert peer.methods() == ["initialize", "server/ping", "shutdown"]


async def test_a_start_that_failed_is_tried_again(scripted: Peers) -> None:
    peer = scripted("exits_at_once")
    quiesce = peer.client()
    for result in await asyncio.gather(*(quiesce.ping() for _ in range(3)), return_exceptions=True):
        assert isinstance(result, ConnectionClosedError)
    peer.path.write_text(scripted("right").path.read_text())
    await quiesce.ping()
    await quiesce.close()


async def test_the_three_ways_to_launch(scripted: Peers) -> None:
    runtime = scripted("right").path
    async with AsyncQuiesce.launch(runtime=runtime) as entered:
        await entered.ping()
    awaited = await AsyncQuiesce.launch(runtime=runtime)
    await awaited.ping()
    await awaited.close()
    lazy = AsyncQuiesce.launch(runtime=runtime)
    await lazy.ping()
    await lazy.close()


async def test_what_create_sends(scripted: Peers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = scripted("right")
    (tmp_path / "work").mkdir()
    async with AsyncQuiesce.launch(runtime=peer.path, cwd=tmp_path, model="scripted/demo") as quiesce:
        await quiesce.sessions.create()
        rules = [PermissionRule(tool="shell", action="deny")]
        session = await quiesce.sessions.create(
            session_id="mine",
            cwd="work",
            roots=["more", "/tmp"],
            model="other/one",
            model_options={"max_output_tokens": 9, "providerOptions": {"a_b": 1}},
            tools=("read_*",),
            permissions=PermissionPolicy(mode="edit", rules=rules),
            env={"A_B": "1"},
            limits=Limits(max_steps=3),
            recovery="settle",
            metadata=MappingProxyType({"a_b": {"c_d": None}}),
        )
        assert session.id == "mine"
        await session.update(title="new", limits={"maxSteps": 4}, model_options=ModelOptions(seed=1))
    first, second = peer.asked("session/create")
    assert first == {"cwd": str(tmp_path), "model": "scripted/demo"}
    assert second == {
        "sessionId": "mine",
        "cwd": str(tmp_path / "work"),
        "roots": [str(tmp_path / "more"), "/tmp"],
        "model": "other/one",
        "modelOptions": {"maxOutputTokens": 9, "providerOptions": {"a_b": 1}},
        "tools": ["read_*"],
        "permissions": {"mode": "edit", "rules": [{"tool": "shell", "action": "deny"}]},
        "env": {"A_B": "1"},
        "limits": {"maxSteps": 3},
        "recovery": "settle",
        "metadata": {"a_b": {"c_d": None}},
    }
    assert peer.asked("session/update") == [
        {"sessionId": "mine", "title": "new", "limits": {"maxSteps": 4}, "modelOptions": {"seed": 1}}
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limits": {"max_steps": 0}}, r"session/create: limits\.\w+: .*greater than or equal to 1, got 0"),
        ({"permissions": "everything"}, "session/create: permissions: .*, got 'everything'"),
        ({"session_id": "a b"}, r"session/create: \w+: .*, got 'a b'"),
        ({"recovery": "retry"}, "session/create: recovery: .*, got 'retry'"),
    ],
)
async def test_a_malformed_option_is_named(scripted: Peers, options: dict[str, Any], message: str) -> None:
    async with scripted("right").client() as quiesce:
        with pytest.raises(ValueError, match=message):
            await quiesce.sessions.create(**options)


async def test_what_the_other_methods_send(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        receipt = await session.prompt("one", message_id="m-1", expect="idle", metadata={"a_b": 1})
        assert receipt.message_id == "m-1"
        await session.steer(
            [TextBlock(type="text", text="two"), {"type": "new_kind", "camelCase": 1}], message_id="m-2"
        )
        await session.inject("three", message_id="m-3")
        assert await session.withdraw("m-3") is False
        assert (await session.cancel(scope="session", turn_id="t-1", reason="why")).cancelled is False
        assert await session.messages() == []
        assert (await session.describe()).session_id == "s-1"
        assert len((await quiesce.sessions.list(status="idle", metadata={"a": 1}, limit=5, cursor="c")).sessions) == 1
        await quiesce.sessions.delete("s-1")
        await quiesce.sessions.delete("s-1", tree=True)
        await quiesce.tools(session_id="s-1")
        await quiesce.models(provider="p")
    ids = {"sessionId": "s-1"}
    assert peer.asked("session/prompt") == [
        {**ids, "content": "one", "messageId": "m-1", "expect": "idle", "metadata": {"a_b": 1}},
        {
            **ids,
            "content": [{"type": "text", "text": "two"}, {"type": "new_kind", "camelCase": 1}],
            "messageId": "m-2",
            "delivery": "steer",
        },
        {**ids, "content": "three", "messageId": "m-3", "delivery": "inject"},
    ]
    assert peer.asked("session/withdraw") == [{**ids, "messageId": "m-3"}]
    assert peer.asked("session/cancel") == [{**ids, "scope": "session", "turnId": "t-1", "reason": "why"}]
    assert peer.asked("session/list") == [{"status": "idle", "metadata": {"a": 1}, "limit": 5, "cursor": "c"}]
    assert peer.asked("session/delete") == [ids, {**ids, "tree": True}]
    assert peer.asked("tool/list") == [ids]
    assert peer.asked("model/list") == [{"provider": "p"}]


async def test_messages_come_from_every_page(scripted: Peers) -> None:
    peer = scripted("has_pages")
    async with peer.client() as quiesce:
        messages = await (await quiesce.sessions.get("s-1")).messages()
    assert [message.seq for message in messages] == [1, 2, 3]
    assert [asked.get("cursor") for asked in peer.asked("session/messages")] == [None, "1", "2"]


@pytest.mark.parametrize("options", [{"timeout": 0}, {"inactivity_timeout": -1}, {"timeout": float("inf")}])
async def test_a_time_limit_that_no_clock_keeps_is_refused(scripted: Peers, options: dict[str, Any]) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()
        for call in (session.run, session.collect):
            with pytest.raises(ValueError, match=f"{next(iter(options))} must be positive"):
                await call("hello", **options)
        with pytest.raises(ValueError, match="must be positive"):
            session.stream("hello", **options)
    assert "session/subscribe" not in peer.methods()
    with pytest.raises(ValueError, match="request_timeout must be positive"):
        AsyncQuiesce.launch(request_timeout=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": "done"}, "until must be one of 'idle', 'quiescent'; got 'done'"),
        ({"on_busy": "wait"}, "on_busy must be one of 'join', 'reject'; got 'wait'"),
        ({"on_abort": "stop"}, "on_abort must be one of 'cancel', 'detach'; got 'stop'"),
    ],
)
async def test_an_option_that_is_none_of_its_words_is_refused(
    scripted: Peers, options: dict[str, Any], message: str
) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()
        with pytest.raises(ValueError, match=message):
            await session.run("hello", **options)
    assert "session/subscribe" not in peer.methods()


@pytest.mark.parametrize(
    "prompt", [None, 5, b"hello", {"type": "text", "text": "hello"}, TextBlock(type="text", text="x")]
)
async def test_a_prompt_that_has_no_blocks_is_refused(scripted: Peers, prompt: Any) -> None:
    async with scripted("right").client() as quiesce:
        session = await quiesce.sessions.create()
        for call in (session.run, session.prompt, session.steer, session.inject):
            with pytest.raises(TypeError, match="a prompt must be a string or a list of blocks, not "):
                await call(prompt)

"""The facts of a session, watched: each once, in order, in bounded memory."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import Callable

import pytest

from conftest import Scripted
from quiesce import (
    AsyncEvents,
    ConnectionClosedError,
    MessageNotFoundError,
    ProtocolError,
    SessionEvent,
    StorageUnavailableError,
)

Peers = Callable[[str], Scripted]


async def test_history_then_live(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()
        async with session.events() as events:
            await session.run("hello")
            seqs = [(await anext(events)).seq for _ in range(9)]
    assert seqs == list(range(1, 10))
    assert "activate" not in peer.asked("session/subscribe")[0]
    assert peer.asked("session/subscribe")[0]["after"] == "now"
    assert peer.methods()[-2:] == ["session/unsubscribe", "shutdown"]


async def test_a_slow_reader_loses_nothing_and_holds_nothing_up(scripted: Peers) -> None:
    """The peer sends 2,500 facts at once; no more than 1,000 are kept, and the rest is asked for again."""
    peer = scripted("history")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        events = session.events(after=0)
        seqs = [(await anext(events)).seq]
        await quiesce.ping()
        seqs += [(await anext(events)).seq for _ in range(1232)]
        with pytest.raises(ProtocolError, match=r"'tool/start' with seq 1234 is malformed: data.callId: .*, got 0"):
            await anext(events)
        seqs += [(await anext(events)).seq for _ in range(2500 - 1234)]
        await events.close()
        assert [event async for event in events] == []
    assert seqs == [seq for seq in range(1, 2501) if seq != 1234]
    cursors = [asked["after"] for asked in peer.asked("session/subscribe")]
    assert cursors[0] == 0
    assert cursors[1] in {1000, 1001}  # 1,000 that waited, and perhaps the first one, which was taken meanwhile


async def test_a_gap_is_told_and_gone_on_behind(scripted: Peers) -> None:
    async with scripted("has_a_hole").client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        events = session.events(after=3)
        assert (await anext(events)).seq == 4
        with pytest.raises(ProtocolError, match="session s-1: facts are missing: seq 7 came after 4"):
            await anext(events)
        assert [(await anext(events)).seq for _ in range(2)] == [7, 8]


async def test_a_session_that_cannot_go_on(scripted: Peers) -> None:
    async with scripted("closes_a_watched_session").client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        events = session.events(after=0)
        assert (await anext(events)).seq == 1
        with pytest.raises(StorageUnavailableError):
            await anext(events)
        assert [event async for event in events] == []


async def test_what_has_ended_is_forgotten(scripted: Peers) -> None:
    async with scripted("closes_a_watched_session").client() as quiesce:
        session = await quiesce.sessions.get("s-1")

        async def look() -> weakref.ref[AsyncEvents]:
            events = session.events(after=0)
            with contextlib.suppress(StorageUnavailableError):
                while True:
                    await anext(events)
            return weakref.ref(events)

        left = await look()
        gc.collect()
        assert left() is None


async def test_the_end_of_the_connection(scripted: Peers) -> None:
    quiesce = scripted("right").client()
    session = await quiesce.sessions.create()
    waiting = asyncio.create_task(session.events().__anext__())
    await quiesce.ping()
    await quiesce.close()
    with pytest.raises(ConnectionClosedError):
        await waiting


async def test_close_is_what_ends_it_whatever_the_runtime_says(scripted: Peers) -> None:
    quiesce = scripted("closes_its_sessions").client()
    async with (await quiesce.sessions.get("s-1")).events() as events:
        await quiesce.close()
        with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
            await anext(events)


async def test_from_an_unknown_message(scripted: Peers) -> None:
    peer = scripted("knows_no_message")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        with pytest.raises(MessageNotFoundError):
            await anext(session.events(from_message="m-1"))
    [subscribe] = peer.asked("session/subscribe")
    assert subscribe["from"] == {"messageId": "m-1"}
    assert "after" not in subscribe


async def test_an_iterator_that_is_dropped_ends_its_subscription(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()

        async def look() -> None:
            events = session.events(after=0)
            async with asyncio.timeout(0.1):
                await anext(events)

        with pytest.raises(TimeoutError):
            await look()
        gc.collect()
        await quiesce.ping()
        await quiesce.ping()
        assert peer.methods()[-3:] == ["server/ping", "session/unsubscribe", "server/ping"]


async def test_close_ends_an_iteration_that_waits(scripted: Peers) -> None:
    async with scripted("right").client() as quiesce:
        session = await quiesce.sessions.create()
        for pings in range(3):  # before it has asked, while it asks, while it waits
            events = session.events()
            waiting = asyncio.create_task(all_of(events))
            for _ in range(pings):
                await quiesce.ping()
            await events.close()
            assert await waiting == []


async def all_of(events: AsyncEvents) -> list[SessionEvent]:
    return [event async for event in events]

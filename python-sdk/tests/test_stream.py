"""A run that is watched while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from conftest import Scripted
from quiesce import (
    AgentStatus,
    AsyncRunStream,
    Delta,
    InboxReceipt,
    ProtocolError,
    RunAbortedError,
    StreamItem,
    TurnEnd,
)

Peers = Callable[[str], Scripted]


def names(items: list[StreamItem]) -> list[str]:
    return [item.text if isinstance(item, Delta) else item.type for item in items]


async def drained(run: AsyncRunStream) -> list[StreamItem]:
    return [item async for item in run]


async def test_items_are_the_facts_of_the_interval_and_deltas(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        run = (await quiesce.sessions.create()).stream("hello")
        items = await drained(run)
        result = await run.result()
        assert await run.result() is result
        assert await drained(run) == []
    assert names(items) == [
        "inbox/receipt", "agent/status", "turn/start", "inbox/admitted", "step/start", "Yo", "u",
        "assistant/message", "step/end", "turn/end", "agent/status",
    ]  # fmt: skip
    assert [item for item in items if not isinstance(item, Delta)] == result.events
    assert result.message_id == run.message_id
    assert peer.asked("session/subscribe")[0]["deltas"] is True
    match items[0], items[-1]:
        case InboxReceipt(data=data), AgentStatus():
            assert data.message.id == run.message_id
        case _:
            pytest.fail("the interval begins with a receipt and ends with a status")


async def test_the_result_needs_no_iteration(scripted: Peers) -> None:
    async with scripted("right").client() as quiesce:
        session = await quiesce.sessions.create()
        run = session.stream("hello")
        assert (await run.result()).final_response == "You said hello."
        assert len(await drained(run)) == 11


async def test_facts_and_deltas_before_the_receipt_are_no_items(scripted: Peers) -> None:
    async with scripted("was_busy").client() as quiesce:
        run = (await quiesce.sessions.get("s-1")).stream("hello")
        assert names(await drained(run)) == ["inbox/receipt", "after", "agent/status"]


async def test_an_error_ends_the_iteration_and_the_result(scripted: Peers) -> None:
    async with scripted("loses_a_fact").client() as quiesce:
        run = (await quiesce.sessions.get("s-1")).stream("hello")
        items: list[StreamItem] = []

        async def iterate() -> None:
            while True:
                items.append(await anext(run))

        with pytest.raises(ProtocolError, match="facts are missing"):
            await iterate()
        assert names(items) == ["inbox/receipt", "agent/status", "turn/start", "inbox/admitted"]
        assert await drained(run) == []
        with pytest.raises(ProtocolError, match="facts are missing"):
            await run.result()


async def test_errors_that_nobody_asks_for_are_no_noise(scripted: Peers) -> None:
    """The test fails on a warning or an unraisable error."""
    async with scripted("loses_a_fact").client() as quiesce:
        (await quiesce.sessions.get("s-1")).stream("hello")
        await quiesce.ping()


async def test_close_gives_the_run_up(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        async with session.stream("hello") as run:
            async for item in run:
                if isinstance(item, TurnEnd):
                    break
        with pytest.raises(RunAbortedError) as raised:
            await run.result()
        assert await drained(run) == []
    assert raised.value.outcome == "cancelled"
    assert "session/cancel" in peer.methods()


async def test_leaving_the_loop_leaves_the_run(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        run = (await quiesce.sessions.create()).stream("hello")
        async for _ in run:
            break
        assert (await run.result()).final_response == "You said hello."
    assert "session/withdraw" not in peer.methods()


@pytest.mark.parametrize("where", ["iteration", "result"])
async def test_cancelling_the_watcher_gives_the_run_up(scripted: Peers, where: str) -> None:
    peer = scripted("turn_without_idle")
    async with peer.client() as quiesce:
        run = (await quiesce.sessions.get("s-1")).stream("hello")
        watcher = asyncio.create_task(drained(run)) if where == "iteration" else asyncio.create_task(run.result())
        await quiesce.ping()
        while "session/prompt" not in peer.methods():
            await quiesce.ping()
        await quiesce.ping()
        watcher.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await watcher
    assert isinstance(raised.value.__cause__, RunAbortedError)
    assert "session/cancel" in peer.methods()


async def test_close_before_the_run_began(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()
        run = session.stream("hello")
        await run.close()
        with pytest.raises(RunAbortedError) as raised:
            await run.result()
    assert raised.value.outcome == "withdrawn"
    assert "session/prompt" not in peer.methods()


async def test_deltas_are_activity(scripted: Peers) -> None:
    """Each ping has the peer send one delta, so the limit never passes though no fact comes."""
    async with scripted("trickles").client() as quiesce:
        run = (await quiesce.sessions.get("s-1")).stream("hello", inactivity_timeout=1.5)
        loop = asyncio.get_running_loop()
        started = loop.time()
        while loop.time() - started < 1.8:
            await quiesce.ping()
        await run.close()
        with pytest.raises(RunAbortedError):
            await run.result()


async def test_deltas_are_dropped_for_a_slow_reader(scripted: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quiesce._stream._WAITING_DELTAS", 1)
    async with scripted("right").client() as quiesce:
        run = (await quiesce.sessions.create()).stream("hello")
        await run.result()
        assert [item.text for item in await drained(run) if isinstance(item, Delta)] == ["Yo"]

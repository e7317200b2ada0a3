"""What becomes of the work of a run that is given up (RUN-9)."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Scripted
from quiesce import AsyncQuiesce, RunAbortedError, RunTimeoutError

Peers = Callable[[str], Scripted]


async def given_up(
    peer: Scripted, until: str = "session/prompt", *, collect: bool = False, times: int = 1, **options: Any
) -> RunAbortedError:
    """The error of a run whose task is cancelled once the peer has read `until` and sent what it sends for it."""
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        run = asyncio.create_task(session.collect("m-1", **options) if collect else session.run("hello", **options))
        await quiesce.ping()
        while until not in peer.methods():
            await quiesce.ping()
        await quiesce.ping()
        return await cancelled(run, times)


async def cancelled(run: asyncio.Task[Any], times: int) -> RunAbortedError:
    """The error of a task that is cancelled so many times, each while it settles the one before."""
    for _ in range(times):
        run.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError) as raised:
        await run
    assert isinstance(raised.value.__cause__, RunAbortedError)
    return raised.value.__cause__


async def test_a_pending_message_is_withdrawn(scripted: Peers) -> None:
    peer = scripted("withdraws")
    error = await given_up(peer)
    assert error.outcome == "withdrawn"
    assert [event.type for event in error.partial.events] == ["inbox/receipt"]
    assert "session/cancel" not in peer.methods()
    assert peer.methods()[-2:] == ["session/unsubscribe", "shutdown"]


async def test_an_admitted_message_cancels_the_tree(scripted: Peers) -> None:
    peer = scripted("shares_with_a_goal")
    assert (await given_up(peer)).outcome == "cancelled"
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]


@pytest.mark.parametrize("times", [2, 5])
async def test_more_cancellations_do_not_lose_the_first(scripted: Peers, times: int) -> None:
    peer = scripted("shares_with_a_goal")
    assert (await given_up(peer, times=times)).outcome == "cancelled"
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]


@pytest.mark.parametrize("how", ["result", "iterate", "close"])
async def test_more_cancellations_do_not_lose_the_first_of_a_stream(scripted: Peers, how: str) -> None:
    peer = scripted("turn_without_idle")
    async with peer.client() as quiesce:
        stream = (await quiesce.sessions.get("s-1")).stream("hello")

        async def iterate() -> None:
            async for _ in stream:
                pass

        while "session/prompt" not in peer.methods():
            await quiesce.ping()
        ways = {"result": stream.result, "iterate": iterate, "close": stream.close}
        task = asyncio.ensure_future(ways[how]())
        await asyncio.sleep(0)
        assert (await cancelled(task, 3)).outcome == "cancelled"
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]


async def test_a_cancellation_behind_a_time_limit_is_raised_once_the_work_is_settled(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        run = asyncio.create_task(session.run("hello", inactivity_timeout=0.1))
        while "session/withdraw" not in peer.methods():
            await quiesce.ping()
        assert (await cancelled(run, 2)).outcome == "cancelled"
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]


async def test_close_waits_for_what_becomes_of_a_run(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    async with peer.client() as quiesce:
        run = asyncio.create_task((await quiesce.sessions.get("s-1")).run("hello"))
        while "session/prompt" not in peer.methods():
            await quiesce.ping()
        run.cancel()
        await asyncio.sleep(0)
    assert peer.methods()[-3:] == ["session/cancel", "session/unsubscribe", "shutdown"]
    assert (await cancelled(run, 0)).outcome == "cancelled"


async def test_another_clients_message_in_the_interval_is_not_cancelled(scripted: Peers) -> None:
    peer = scripted("shares_the_interval")
    assert (await given_up(peer)).outcome == "detached"
    assert "session/cancel" not in peer.methods()


async def test_a_run_of_its_own_is_cancelled_though_another_joined(scripted: Peers) -> None:
    assert (await given_up(scripted("shares_the_interval"), on_busy="reject")).outcome == "cancelled"


async def test_detach_leaves_the_work_alone(scripted: Peers) -> None:
    peer = scripted("withdraws")
    assert (await given_up(peer, on_abort="detach")).outcome == "detached"
    assert peer.methods()[-2:] == ["session/unsubscribe", "shutdown"]
    assert "session/withdraw" not in peer.methods()


async def test_collect_leaves_the_work_alone_by_default(scripted: Peers) -> None:
    peer = scripted("shares_with_a_goal")
    assert (await given_up(peer, until="session/subscribe", collect=True)).outcome == "detached"
    assert "session/withdraw" not in peer.methods()


async def test_collect_cancels_where_it_is_told_to(scripted: Peers) -> None:
    error = await given_up(scripted("shares_with_a_goal"), "session/subscribe", collect=True, on_abort="cancel")
    assert error.outcome == "cancelled"


async def test_a_run_that_has_not_prompted_never_will(scripted: Peers) -> None:
    peer = scripted("never_subscribes")
    assert (await given_up(peer, until="session/subscribe")).outcome == "withdrawn"
    assert "session/prompt" not in peer.methods()
    assert peer.methods()[-2:] == ["session/unsubscribe", "shutdown"]


async def test_a_prompt_that_is_refused_meanwhile_needs_no_withdrawing(scripted: Peers) -> None:
    peer = scripted("refuses_the_prompt_late")
    async with peer.client() as quiesce:
        run = asyncio.create_task((await quiesce.sessions.get("s-1")).run("hello"))
        await asyncio.sleep(0)
        await quiesce.ping()  # answered behind the subscription, so the prompt is on its way
        run.cancel()
        await asyncio.sleep(0)
        await quiesce.ping()  # has the peer refuse the prompt
        with pytest.raises(asyncio.CancelledError) as raised:
            await run
    assert isinstance(raised.value.__cause__, RunAbortedError)
    assert raised.value.__cause__.outcome == "withdrawn"
    assert peer.methods() == [
        "initialize", "session/get", "session/subscribe", "server/ping", "session/prompt", "server/ping",
        "session/unsubscribe", "shutdown",
    ]  # fmt: skip


async def test_a_runtime_that_says_nothing_leaves_it_open(scripted: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quiesce._run._GIVING_UP", 0.05)
    assert (await given_up(scripted("says_nothing_of_withdrawing"))).outcome == "unconfirmed"


async def test_the_error_says_what_became_of_the_work(scripted: Peers) -> None:
    async with scripted("withdraws").client() as quiesce:
        with pytest.raises(
            RunTimeoutError, match="its message was withdrawn and never entered the conversation"
        ) as raised:
            await (await quiesce.sessions.get("s-1")).run("hello", timeout=0.1)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (type(copy), str(copy), copy.outcome) == (RunTimeoutError, str(raised.value), "withdrawn")


async def test_a_time_limit_holds_while_the_subscription_is_asked_for(scripted: Peers) -> None:
    async with scripted("never_subscribes").client() as quiesce:
        with pytest.raises(RunTimeoutError, match=r"exceeded its timeout of 0\.05 s; "):
            await (await quiesce.sessions.get("s-1")).run("hello", timeout=0.05)


async def test_a_timeout_around_a_run_works_as_asyncio_says(scripted: Peers) -> None:
    async with scripted("withdraws").client() as quiesce:
        with pytest.raises(TimeoutError) as raised:
            async with asyncio.timeout(0.1):
                await (await quiesce.sessions.get("s-1")).run("hello")
    assert not isinstance(raised.value, RunTimeoutError)


async def test_a_failing_sibling_gives_a_run_up(scripted: Peers) -> None:
    peer = scripted("withdraws")

    async def fail(quiesce: AsyncQuiesce) -> None:
        while "session/prompt" not in peer.methods():
            await quiesce.ping()
        raise LookupError

    async def both(quiesce: AsyncQuiesce) -> None:
        session = await quiesce.sessions.get("s-1")
        async with asyncio.TaskGroup() as group:
            group.create_task(session.run("hello"))
            group.create_task(fail(quiesce))

    async with peer.client() as quiesce:
        with pytest.raises(ExceptionGroup) as raised:
            await both(quiesce)
    assert [type(error) for error in raised.value.exceptions] == [LookupError]
    assert "session/withdraw" in peer.methods()

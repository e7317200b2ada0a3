"""A run against peers that are right in their own way, and against peers that are wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Scripted
from quiesce import (
    AssistantMessage,
    AsyncQuiesce,
    ConnectionClosedError,
    FrameTooLargeError,
    MessageNotFoundError,
    ProtocolError,
    QuiesceError,
    RunAbortedError,
    RunResult,
    RunTimeoutError,
    SessionBusyError,
    StorageUnavailableError,
    UnknownBlock,
    UnknownEvent,
    UnknownWaitingOn,
)

Peers = Callable[[str], Scripted]

ODD = "LF \n, CR \r, U+2028 \u2028, U+2029 \u2029, NEL \u0085, VT \u000b, FF \u000c, NUL \0, ä, 🜁"


async def of(peers: Peers, name: str, prompt: str = "hello") -> RunResult:
    async with peers(name).client() as quiesce:
        return await (await quiesce.sessions.get("s-1")).run(prompt)


async def prompted(peer: Scripted, quiesce: AsyncQuiesce) -> None:
    """Returns behind every fact that the peer sends in answer to a prompt: what it answers comes in order."""
    await quiesce.ping()
    while "session/prompt" not in peer.methods():
        await quiesce.ping()
    await quiesce.ping()


async def test_a_run_subscribes_then_prompts_then_lets_go(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.create()
        result = await session.run("hello", metadata={"aB": 1})
    assert (result.session_id, result.final_response, result.finish_reason) == ("s-1", "You said hello.", "completed")
    assert [event.session_id for event in result.events] == ["s-1"] * 9
    assert peer.methods() == [
        "initialize", "session/create", "session/subscribe", "session/prompt", "session/unsubscribe", "shutdown",
    ]  # fmt: skip
    [prompt], [subscribe] = peer.asked("session/prompt"), peer.asked("session/subscribe")
    assert prompt == {"sessionId": "s-1", "messageId": result.message_id, "content": "hello", "metadata": {"aB": 1}}
    assert subscribe == {
        "sessionId": "s-1", "subscriptionId": subscribe["subscriptionId"], "after": "now", "activate": True,
    }  # fmt: skip


async def test_the_receipt_is_recognised_before_the_answer(scripted: Peers) -> None:
    async with scripted("answers_after_the_facts").client() as quiesce:
        result = await (await quiesce.sessions.get("s-1")).run("hello")
        assert result.final_response == "Hi."
        await quiesce.ping()  # has the peer answer the prompt, which nobody waits for any more


async def test_facts_before_the_answer_of_subscribe_are_kept(scripted: Peers) -> None:
    async with scripted("subscribes_after_the_facts").client() as quiesce:
        result = await (await quiesce.sessions.get("s-1")).collect("m-1")
    assert [event.seq for event in result.events] == list(range(5, 14))


async def test_live_facts_before_the_answer_of_subscribe_are_in_order(scripted: Peers) -> None:
    assert [event.seq for event in (await of(scripted, "subscribes_behind_live_facts")).events] == list(range(10, 19))


async def test_a_gap_behind_the_cursor_is_a_protocol_error(scripted: Peers) -> None:
    with pytest.raises(ProtocolError, match="facts are missing: seq 9 came after 7"):
        await of(scripted, "loses_the_first_fact")


async def test_frames_may_be_cut_anywhere(scripted: Peers) -> None:
    assert (await of(scripted, "cuts_everywhere", ODD)).final_response == ODD


async def test_only_an_idle_ends_a_run(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    async with peer.client() as quiesce:
        run = asyncio.create_task((await quiesce.sessions.get("s-1")).run("hello"))
        await prompted(peer, quiesce)
        assert not run.done()
        run.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await run
    aborted = raised.value.__cause__
    assert isinstance(aborted, RunAbortedError)
    assert (aborted.outcome, aborted.last_status) == ("cancelled", "running")
    assert aborted.last_event is not None
    assert aborted.last_event.type == "turn/end"
    assert (aborted.partial.final_response, aborted.partial.finish_reason) == ("Hi.", "completed")
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]


async def test_an_idle_older_than_the_receipt_ends_nothing(scripted: Peers) -> None:
    assert [event.seq for event in (await of(scripted, "stale_idle")).events] == list(range(10, 19))


async def test_unknown_things_are_kept_and_stop_nothing(scripted: Peers) -> None:
    result = await of(scripted, "speaks_of_new_things")
    assert result.finish_reason == "paused_by_weather"
    assert result.final_response == "Hi."
    weather, message = result.events[1], result.events[2]
    assert isinstance(weather, UnknownEvent)
    assert (weather.original_type, weather.raw["data"], weather.session_id) == (
        "weather/change",
        {"sky": "grey"},
        "s-1",
    )
    assert isinstance(message, AssistantMessage)
    assert isinstance(message.data.content[0], UnknownBlock)
    assert (message.data.finish, message.data.model_extra) == ("bored", {"new": 1})
    [tide] = result.waiting_on
    assert isinstance(tide, UnknownWaitingOn)
    assert tide.raw == {"kind": "tide", "harbour": "Dover"}


async def test_big_frames_arrive(scripted: Peers) -> None:
    assert len((await of(scripted, "sends_big_frames")).final_response) == 8_000_000


async def test_a_big_prompt_is_refused_before_it_is_sent(scripted: Peers) -> None:
    peer = scripted("right")
    with pytest.raises(FrameTooLargeError, match="session/prompt would be a frame of"):
        async with peer.client() as quiesce:
            await (await quiesce.sessions.get("s-1")).run("x" * (32 * 1024 * 1024))
    assert peer.methods() == ["initialize", "session/get", "session/subscribe", "session/unsubscribe", "shutdown"]


async def test_a_gap_is_a_protocol_error(scripted: Peers) -> None:
    with pytest.raises(ProtocolError, match="session s-1: facts are missing: seq 6 came after 4"):
        await of(scripted, "loses_a_fact")


async def test_repeats_are_dropped(scripted: Peers) -> None:
    result = await of(scripted, "repeats_facts")
    assert [event.seq for event in result.events] == list(range(1, 10))
    assert result.usage.input_tokens == 10


async def test_a_malformed_fact_is_a_protocol_error(scripted: Peers) -> None:
    with pytest.raises(ProtocolError, match=r"'turn/end' with seq 2 is malformed: data.reason.kind: required"):
        await of(scripted, "sends_a_malformed_fact")


async def test_nothing_is_prompted_where_the_run_has_failed_by_then(scripted: Peers) -> None:
    peer = scripted("answers_a_subscribe_and_fails_it")
    async with peer.client() as quiesce:
        with pytest.raises(ProtocolError, match=r"data.status: required"):
            await (await quiesce.sessions.get("s-1")).run("hello")
        await quiesce.ping()
    assert peer.methods() == [
        "initialize",
        "session/get",
        "session/subscribe",
        "session/unsubscribe",
        "server/ping",
        "shutdown",
    ]


async def test_a_subscription_that_is_over_is_not_waited_for(scripted: Peers) -> None:
    peer = scripted("fails_a_subscription_before_its_answer")
    async with peer.client(request_timeout=None) as quiesce:
        with pytest.raises(ProtocolError, match=r"subscriptionId: required"):
            await (await quiesce.sessions.get("s-1")).run("hello")
        await quiesce.ping()
    assert peer.methods()[-3:] == ["session/unsubscribe", "server/ping", "shutdown"]


async def test_a_fact_for_nobody_may_have_been_anybodys(scripted: Peers) -> None:
    with pytest.raises(ProtocolError, match=r"a session\.event notification is malformed: subscriptionId: required"):
        await of(scripted, "sends_a_fact_to_nobody")


async def test_a_closed_session_is_a_typed_error(scripted: Peers) -> None:
    with pytest.raises(StorageUnavailableError, match="disk full") as raised:
        await of(scripted, "closes_the_session")
    assert (raised.value.code, raised.value.retryable) == ("storage_unavailable", True)


async def test_a_subscription_that_was_refused_is_not_ended(scripted: Peers) -> None:
    peer = scripted("refuses_the_subscription")
    async with peer.client() as quiesce:
        session = await quiesce.sessions.get("s-1")
        with pytest.raises(MessageNotFoundError):
            await session.collect("m-9")
        await quiesce.ping()
    assert peer.methods()[-3:] == ["session/subscribe", "server/ping", "shutdown"]


async def test_a_refused_prompt_is_a_typed_error(scripted: Peers) -> None:
    peer = scripted("refuses_the_prompt")
    async with peer.client() as quiesce:
        with pytest.raises(SessionBusyError) as raised:
            await (await quiesce.sessions.get("s-1")).run("hello", on_busy="reject")
    assert (raised.value.code, raised.value.rpc_code, raised.value.retryable) == ("session_busy", -32000, True)
    assert raised.value.data["since"] == 7
    assert peer.asked("session/prompt")[0]["expect"] == "idle"
    assert peer.methods()[-2:] == ["session/unsubscribe", "shutdown"]


async def test_another_id_in_the_receipt_is_a_protocol_error(scripted: Peers) -> None:
    with pytest.raises(ProtocolError, match="the id another"):
        await of(scripted, "gives_another_id")


async def test_the_end_of_the_process_rejects_a_run_at_once(scripted: Peers) -> None:
    with pytest.raises(
        ConnectionClosedError, match=r"ended by SIGKILL; the end of its stderr:\nout of memory"
    ) as raised:
        await of(scripted, "dies_in_a_run")
    assert (raised.value.exit_code, raised.value.stderr) == (-9, "out of memory\nwhat now")


async def test_close_rejects_a_run(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    quiesce = peer.client()
    run = asyncio.create_task((await quiesce.sessions.get("s-1")).run("hello"))
    await quiesce.ping()
    await quiesce.close()
    with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
        await run


async def test_collect_of_an_unknown_message(scripted: Peers) -> None:
    peer = scripted("knows_no_message")
    async with peer.client() as quiesce:
        with pytest.raises(MessageNotFoundError):
            await (await quiesce.sessions.get("s-1")).collect("m-9")
    [subscribe] = peer.asked("session/subscribe")
    assert (subscribe["from"], subscribe["activate"]) == ({"messageId": "m-9"}, True)
    assert "after" not in subscribe


async def test_collect_of_an_inject_message_is_refused(scripted: Peers) -> None:
    async with scripted("holds_an_inject").client() as quiesce:
        with pytest.raises(QuiesceError, match="can't be collected: it is an inject message") as raised:
            await (await quiesce.sessions.get("s-1")).collect("m-1")
    assert type(raised.value) is QuiesceError


async def test_runs_overlap(scripted: Peers) -> None:
    async with scripted("right").client() as quiesce:
        session = await quiesce.sessions.create()
        results = await asyncio.gather(*(session.run(f"n{number}") for number in range(20)))
    assert [result.final_response for result in results] == [f"You said n{number}." for number in range(20)]
    assert len({result.message_id for result in results}) == 20


@pytest.mark.parametrize("limit", ["timeout", "inactivity_timeout"])
async def test_a_time_limit(scripted: Peers, limit: str) -> None:
    options: dict[str, Any] = {limit: 0.05}
    async with scripted("turn_without_idle").client() as quiesce:
        with pytest.raises(RunTimeoutError, match=f"exceeded its {limit} of 0.05 s; its work was cancelled") as raised:
            await (await quiesce.sessions.get("s-1")).run("hello", **options)
    assert isinstance(raised.value, TimeoutError)
    assert raised.value.outcome == "cancelled"

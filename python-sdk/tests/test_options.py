"""What an option may be, and what the error says where it isn't that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Scripted, Watched
from quiesce import AsyncQuiesce, ConnectionClosedError, InboxReceipt, Limits, Quiesce

Peers = Callable[[str], Scripted]
HUGE = 10**400


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": 42}, "store must be a string such as 'sqlite:PATH', not 42"),
        ({"store": "\ud800"}, r"store must not hold half of a surrogate pair, as '\\ud800' does"),
        ({"model": 5}, "model must be a string such as 'provider/model', not 5"),
        ({"log_level": 5}, "log_level must be a string such as 'info', not 5"),
        ({"runtime": 5}, r"runtime must be a path \(a string or os.PathLike\), not 5"),
        ({"cwd": 42}, r"cwd must be a path \(a string or os.PathLike\), not 42"),
        ({"cwd": b"/"}, r"cwd must be a path \(a string or os.PathLike\), not b'/'"),
        ({"cwd": "a\0"}, r"cwd must not hold NUL, as 'a\\x00' does"),
        ({"env": "A=1"}, "env must be a dict of strings such as {'NAME': 'value'}, not 'A=1'"),
        ({"env": {"A": 1}}, r"env\['A'\] must be a string, or None to take the variable away, not 1"),
        ({"env": {"A": "\0"}}, r"env\['A'\] must not hold NUL"),
        ({"env": {"A=B": "1"}}, "env: a name must be a string without '=', not 'A=B'"),
        ({"env": {1: "1"}}, "env: a name must be a string without '=', not 1"),
        ({"on_stderr": "x"}, "on_stderr must be callable, not 'x'"),
        ({"request_timeout": HUGE}, "request_timeout must be positive and finite, .*; got an integer that no float"),
    ],
)
def test_an_option_of_the_launch_that_is_wrong(options: dict[str, Any], message: str) -> None:
    for face in (AsyncQuiesce, Quiesce):
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            face.launch(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cwd": 42}, r"cwd must be a path \(a string or os.PathLike\), not 42"),
        ({"roots": 1}, "roots must be a list, not 1"),
        ({"roots": "src"}, r"roots must be a list, not 'src'; write \['src'\]"),
        ({"roots": [1]}, r"roots\[0\] must be a path \(a string or os.PathLike\), not 1"),
        ({"tools": 1}, "tools must be a list, not 1"),
        ({"tools": "shell"}, r"tools must be a list, not 'shell'; write \['shell'\]"),
        ({"tools": {"shell": True}}, "tools must be a list, not {'shell': True}"),
        ({"limits": {"maxStep": 1}}, "session/create: unknown option limits.maxStep; did you mean limits.maxSteps?"),
        ({"limits": {"max_step": 1}}, "session/create: unknown option limits.max_step; did you mean limits.max_steps?"),
        (
            {"limits": {"per_turn": {"colour": 1}}},
            "session/create: unknown option limits.per_turn.colour; known are limits.per_turn.",
        ),
        (
            {"limits": {"max_steps": 1, "maxSteps": 2}},
            "session/create: limits.max_steps is given twice, also as limits.maxSteps",
        ),
        (
            {"model_options": {"seeds": 1}},
            "session/create: unknown option model_options.seeds; did you mean model_options.seed?",
        ),
        (
            {"permissions": {"mode": "edit", "rules": [], "rule": []}},
            "session/create: unknown option permissions.rule; did you mean permissions.rules?",
        ),
        (
            {"permissions": {"mode": "edit", "rules": [{"tool": "*", "action": "deny", "pattren": "x"}]}},
            r"session/create: unknown option permissions.rules\[0\].pattren; did you mean .*rules\[0\].pattern\?",
        ),
    ],
)
async def test_an_option_of_a_session_that_is_wrong(scripted: Peers, options: dict[str, Any], message: str) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            await quiesce.sessions.create(**options)
        session = await quiesce.sessions.create()
        if "limits" in options:
            with pytest.raises(ValueError, match=message.replace("create", "update")):
                await session.update(**options)
    assert len(peer.asked("session/create")) == 1
    assert "session/update" not in peer.methods()


async def test_data_of_the_user_and_what_a_newer_runtime_sent_are_left_alone(scripted: Peers) -> None:
    peer = scripted("right")
    newer = Limits.model_validate({"maxSteps": 1, "maxWords": 2})
    async with peer.client() as quiesce:
        await quiesce.sessions.create(
            metadata={"limit": {"x": 1}},
            env={"LIMIT": "1"},
            model_options={"provider_options": {"seeds": 1}},
            limits=newer,
        )
    (asked,) = peer.asked("session/create")
    assert asked["metadata"] == {"limit": {"x": 1}}
    assert asked["env"] == {"LIMIT": "1"}
    assert asked["modelOptions"] == {"providerOptions": {"seeds": 1}}
    assert asked["limits"] == {"maxSteps": 1, "maxWords": 2}


@pytest.mark.parametrize("block", [None, 1, "hello"])
async def test_a_block_that_is_none_is_refused(scripted: Peers, block: Any) -> None:
    async with scripted("right").client() as quiesce:
        session = await quiesce.sessions.create()
        text: dict[str, Any] = {"type": "text", "text": "x"}
        for call in (session.run, session.prompt):
            with pytest.raises(TypeError, match=f"block 1 of a prompt must be a dict or a model .*, not {block!r}"):
                await call([text, block])


async def test_a_time_limit_that_no_float_holds_is_refused(scripted: Peers) -> None:
    async with scripted("right").client() as quiesce:
        session = await quiesce.sessions.create()
        for limit in ("timeout", "inactivity_timeout"):
            options: dict[str, Any] = {limit: HUGE}
            with pytest.raises(ValueError, match=f"{limit} must be positive and finite"):
                await session.run("hello", **options)


async def test_half_a_surrogate_pair_goes_through(runtime: Watched) -> None:
    """RUN-1: what a run gives is what the log holds, in every language."""
    text = "a\ud800b"
    async with AsyncQuiesce.launch(runtime=runtime.path, store="memory:", model="scripted/demo") as quiesce:
        session = await quiesce.sessions.create(title=text, metadata={text: text})
        result = await session.run(text, metadata={text: [text]})
        collected = await session.collect(result.message_id)
        description = await session.describe()
    assert (description.title, description.metadata) == (text, {text: text})
    assert text in result.final_response
    receipt = result.events[0]
    assert isinstance(receipt, InboxReceipt)
    assert receipt.data.message.metadata == {text: [text]}
    assert collected == result
    written = json.dumps(result.model_dump(by_alias=True, exclude_unset=True))
    assert json.loads(written)["finalResponse"] == result.final_response


def test_close_from_another_loop_is_refused(scripted: Peers) -> None:
    """And where the client's own loop is closed, the runtime is ended."""
    peer = scripted("right")
    loop = asyncio.new_event_loop()
    quiesce = loop.run_until_complete(started(peer))
    with pytest.raises(RuntimeError, match="belongs to another event loop; launch one per loop"):
        asyncio.run(quiesce.close())
    loop.run_until_complete(quiesce.close())
    loop.close()
    asyncio.run(quiesce.close())
    assert peer.is_gone()


async def started(peer: Scripted) -> AsyncQuiesce:
    return await peer.client()


async def test_what_is_closed_is_not_entered_again(scripted: Peers) -> None:
    quiesce = await scripted("right").client()
    await quiesce.close()
    for call in (quiesce.__aenter__, quiesce.ping, quiesce.sessions.create):
        with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
            await call()


def test_what_is_closed_is_not_entered_again_by_code_that_blocks(scripted: Peers) -> None:
    quiesce = Quiesce.launch(runtime=scripted("right").path)
    quiesce.close()
    with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"), quiesce:
        raise AssertionError

"""Both faces against the real runtime, with its scripted model: the contract as a caller meets it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import Watched
from quiesce import (
    AsyncQuiesce,
    AsyncSession,
    ConnectionClosedError,
    Delta,
    FrameTooLargeError,
    InboxReceipt,
    MessageConflictError,
    MessageNotFoundError,
    Quiesce,
    RpcError,
    RunResult,
    RunTimeoutError,
    SessionBusyError,
    SessionExistsError,
    SessionNotFoundError,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    UnknownModelError,
)

ODD = "LF \n, CR \r, U+2028 \u2028, U+2029 \u2029, NEL \u0085, VT \u000b, FF \u000c, ä, 🜁"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'store.db'}"


def launch(runtime: Watched, workspace: Path, store: str = "memory:") -> AsyncQuiesce:
    return AsyncQuiesce.launch(runtime=runtime.path, cwd=workspace, store=store, model="scripted/demo")


@pytest.fixture
async def quiesce(runtime: Watched, workspace: Path) -> AsyncIterator[AsyncQuiesce]:
    async with launch(runtime, workspace) as quiesce:
        yield quiesce
    assert await asyncio.to_thread(runtime.is_gone)


@pytest.fixture
async def session(quiesce: AsyncQuiesce) -> AsyncSession:
    return await quiesce.sessions.create(permissions="allow-all")


async def waiting(session: AsyncSession) -> None:
    """Returns once a tool of the session runs."""
    async with session.events(after=0) as events:
        async for event in events:
            if isinstance(event, ToolStart):
                return


def same(one: RunResult, other: RunResult) -> bool:
    return one.model_dump(by_alias=True, exclude_unset=True) == other.model_dump(by_alias=True, exclude_unset=True)


async def test_a_run_with_a_tool(session: AsyncSession, workspace: Path) -> None:
    (workspace / "notes.txt").write_text("Buy milk\n")
    result = await session.run("What does notes.txt say?")
    assert result.final_response == 'notes.txt says: "Buy milk".'
    assert (result.session_id, result.finish_reason, result.waiting_on) == (session.id, "completed", [])
    assert isinstance(result.events[0], InboxReceipt)
    assert result.events[0].data.message.id == result.message_id
    [call] = [event for event in result.events if isinstance(event, ToolCall)]
    [answer] = [event for event in result.events if isinstance(event, ToolResult)]
    assert (call.data.name, answer.data.is_error) == ("read_file", False)
    assert [event.seq for event in result.events] == list(range(result.events[0].seq, result.events[-1].seq + 1))
    assert result.usage.input_tokens > 0
    assert [message.role for message in await session.messages()] == ["user", "assistant", "tool", "assistant"]


async def test_text_survives(session: AsyncSession) -> None:
    result = await session.run(ODD)
    assert isinstance(result.events[0], InboxReceipt)
    [block] = result.events[0].data.message.content
    assert getattr(block, "text", None) == ODD


async def test_a_stream(session: AsyncSession) -> None:
    run = session.stream("Say hello.")
    items = [item async for item in run]
    result = await run.result()
    assert [item for item in items if not isinstance(item, Delta)] == result.events
    assert "".join(item.text for item in items if isinstance(item, Delta)) == result.final_response


async def test_steering_joins_the_run(session: AsyncSession, workspace: Path) -> None:
    run = asyncio.create_task(session.run("Wait for the file go"))
    await waiting(session)
    await session.steer("British spelling, please")
    (workspace / "go").touch()
    result = await run
    assert "British spelling, please" in result.final_response
    assert sum(isinstance(event, TurnEnd) for event in result.events) == 1


async def test_overlapping_runs_end_at_one_idle(session: AsyncSession, workspace: Path) -> None:
    first = asyncio.create_task(session.run("Wait for the file go"))
    await waiting(session)
    second = asyncio.create_task(session.run("Say hello."))
    receipts = 0
    async with session.events(after=0) as events:
        while receipts < 2:
            receipts += isinstance(await anext(events), InboxReceipt)
    (workspace / "go").touch()
    one, two = await asyncio.gather(first, second)
    assert one.events[-1] == two.events[-1]
    assert one.final_response == two.final_response
    assert one.events[0].seq < two.events[0].seq


async def test_a_busy_agent(session: AsyncSession, workspace: Path) -> None:
    run = asyncio.create_task(session.run("Wait for the file go"))
    await waiting(session)
    for refused in (session.run("x", on_busy="reject"), session.prompt("x", expect="idle")):
        with pytest.raises(SessionBusyError) as raised:
            await refused
        assert raised.value.retryable
    status = await session.status()
    assert (status.status, status.pending.followup) == ("running", 0)
    (workspace / "go").touch()
    await run
    assert (await session.run("x", on_busy="reject")).finish_reason == "completed"


async def test_a_time_limit_cancels_the_work(session: AsyncSession) -> None:
    with pytest.raises(RunTimeoutError, match="its work was cancelled") as raised:
        await session.run("Wait for the file never", timeout=1.5)
    assert raised.value.last_status == "running"
    assert any(isinstance(event, InboxReceipt) for event in raised.value.partial.events)
    result = await session.collect(raised.value.partial.message_id)
    assert result.finish_reason == "cancelled"
    assert (await session.run("Say hello.")).finish_reason == "completed"


async def test_cancel(session: AsyncSession) -> None:
    run = asyncio.create_task(session.run("Wait for the file never"))
    await waiting(session)
    queued = await session.prompt("later")
    answer = await session.cancel(scope="session", reason="enough")
    assert answer.cancelled
    assert [message.message_id for message in answer.withdrawn] == [queued.message_id]
    assert (await run).finish_reason == "cancelled"
    assert (await session.cancel()).cancelled is False


async def test_a_pending_message_is_withdrawn(session: AsyncSession, workspace: Path) -> None:
    run = asyncio.create_task(session.run("Wait for the file go"))
    await waiting(session)
    pending = await session.prompt("never mind")
    assert await session.withdraw(pending.message_id) is True
    with pytest.raises(RunTimeoutError, match="withdrawn") as raised:
        await session.run("nor this", timeout=0.5)
    assert raised.value.outcome == "withdrawn"
    (workspace / "go").touch()
    result = await run
    assert await session.withdraw(result.message_id) is False
    with pytest.raises(MessageNotFoundError):
        await session.withdraw("unknown")
    assert (await session.collect(pending.message_id)).events[-1] == result.events[-1]


async def test_a_message_is_enqueued_once(session: AsyncSession) -> None:
    first = await session.prompt("Say hello.", message_id="m-1")
    assert await session.prompt("Say hello.", message_id="m-1") == first
    with pytest.raises(MessageConflictError):
        await session.prompt("Say goodbye.", message_id="m-1")
    result = await session.collect("m-1", until="quiescent")
    assert same(result, await session.collect("m-1"))
    assert [event.seq for event in result.events if isinstance(event, InboxReceipt)] == [result.events[0].seq]


async def test_an_inject_opens_no_interval(session: AsyncSession) -> None:
    context = await session.inject("The file is called go.")
    with pytest.raises(Exception, match="can't be collected: it is an inject message"):
        await session.collect(context.message_id)
    with pytest.raises(MessageNotFoundError):
        await session.collect("unknown")
    assert (await session.status()).pending.inject == 1


async def test_collect_from_another_runtime(runtime: Watched, workspace: Path, store: str) -> None:
    async with launch(runtime, workspace, store) as quiesce:
        session = await quiesce.sessions.create(title="mine", metadata={"a_b": {"c_d": [None]}})
        result = await session.run("Say hello.")
        later = await session.prompt("And again.")
    async with launch(runtime, workspace, store) as quiesce:
        [found] = (await quiesce.sessions.list(metadata={"a_b": {"c_d": [None]}})).sessions
        assert (found.session_id, found.title, found.metadata) == (session.id, "mine", {"a_b": {"c_d": [None]}})
        again = await quiesce.sessions.get(session.id)
        assert same(result, await again.collect(result.message_id))
        assert (await again.collect(later.message_id)).message_id == later.message_id


async def test_a_runtime_that_is_killed(runtime: Watched, workspace: Path, store: str) -> None:
    async with launch(runtime, workspace, store) as quiesce:
        session = await quiesce.sessions.create(permissions="allow-all")
        run = asyncio.create_task(session.run("Run `kill -9 $PPID` in the shell."))
        with pytest.raises(ConnectionClosedError, match="was ended by SIGKILL"):
            await run
        with pytest.raises(ConnectionClosedError):
            await session.status()
    assert runtime.is_gone()
    async with launch(runtime, workspace, store) as quiesce:
        again = await quiesce.sessions.get(session.id)
        receipt = await anext(again.events(after=1))
        assert isinstance(receipt, InboxReceipt)
        await again.update(permissions="read-only")  # what goes on kills nobody
        result = await again.collect(receipt.data.message.id)
        assert "interrupted" in [event.data.reason.kind for event in result.events if isinstance(event, TurnEnd)]


async def test_history_and_then_live(session: AsyncSession) -> None:
    result = await session.run("Say hello.")
    async with session.events(after=0) as events:
        history = [await anext(events) for _ in range(result.events[-1].seq)]
        assert history[-len(result.events) :] == result.events
        more = await session.run("And again.")
        assert [await anext(events) for _ in more.events] == more.events
    async with session.events(from_message=more.message_id) as events:
        assert [await anext(events) for _ in more.events] == more.events


async def test_errors(quiesce: AsyncQuiesce, session: AsyncSession) -> None:
    with pytest.raises(SessionExistsError):
        await quiesce.sessions.create(session_id=session.id)
    with pytest.raises(SessionNotFoundError):
        await quiesce.sessions.get("unknown")
    with pytest.raises(UnknownModelError):
        await quiesce.sessions.create(model="nobody/nothing")
    with pytest.raises(RpcError, match="content") as raised:
        await session.prompt([{"type": "text"}])
    assert raised.value.code == "invalid_params"
    with pytest.raises(FrameTooLargeError):
        await session.prompt("x" * (33 * 1024 * 1024))
    await quiesce.sessions.delete(session.id)
    with pytest.raises(SessionNotFoundError):
        await session.run("Say hello.")


async def test_deleting_ends_what_runs_on_it(quiesce: AsyncQuiesce, session: AsyncSession) -> None:
    run = asyncio.create_task(session.run("Wait for the file never"))
    await waiting(session)
    await quiesce.sessions.delete(session.id)
    with pytest.raises(SessionNotFoundError):
        await run


async def test_what_there_is(quiesce: AsyncQuiesce, session: AsyncSession) -> None:
    assert "scripted/demo" in [model.model for model in await quiesce.models()]
    assert {"read_file", "shell"} <= {tool.name for tool in await quiesce.tools(session_id=session.id)}
    description = await session.update(title="new", limits={"max_steps": 7})
    assert (description.title, description.limits.max_steps) == ("new", 7)
    assert (await session.describe()) == description


def test_the_synchronous_face(runtime: Watched, workspace: Path) -> None:
    with Quiesce.launch(runtime=runtime.path, cwd=workspace, store="memory:", model="scripted/demo") as quiesce:

        def work(number: int) -> list[str | None]:
            session = quiesce.sessions.create()
            return [session.run(f"{number}").finish_reason for _ in range(3)]

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(4))) == [["completed"] * 3] * 4
    assert runtime.is_gone()


@pytest.mark.parametrize(
    "end", ["os.kill(os.getpid(), signal.SIGKILL)", "raise LookupError", "sys.exit(0)", "interrupt()"]
)
def test_a_script_leaves_neither_the_runtime_nor_its_tools(runtime: Watched, workspace: Path, end: str) -> None:
    """The tool's process writes its id; it is ended along with the runtime."""
    script = f"""
import os, signal, sys, threading
from quiesce import Quiesce, ToolStart

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

quiesce = Quiesce.launch(runtime={str(runtime.path)!r}, cwd={str(workspace)!r}, store="memory:", model="scripted/demo")
session = quiesce.sessions.create(permissions="allow-all")
for item in session.stream("Run `echo $$ > pid; exec sleep 1000` in the shell."):
    if isinstance(item, ToolStart):
        while not os.path.exists("{workspace}/pid"):
            quiesce.ping()
        {end}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert "Exception ignored" not in done.stderr
    assert runtime.is_gone()
    pid = int((workspace / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)

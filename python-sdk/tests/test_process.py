"""Processes: how they end, and that none is left."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Scripted
from quiesce import AsyncQuiesce, ConnectionClosedError, RuntimeNotFoundError

Peers = Callable[[str], Scripted]


async def test_a_right_end_asks_first(scripted: Peers) -> None:
    peer = scripted("right")
    async with peer.client() as quiesce:
        await quiesce.ping()
    assert peer.methods()[-1] == "shutdown"


@pytest.mark.parametrize("name", ["ignores_every_hint", "leaves_a_child"])
async def test_close_is_bounded_and_takes_the_whole_group(scripted: Peers, name: str) -> None:
    peer = scripted(name)
    async with peer.client():
        assert not peer.is_gone(within=0)
    assert peer.is_gone()


async def test_a_cancelled_close_goes_on(scripted: Peers) -> None:
    peer = scripted("ignores_every_hint")
    quiesce = await peer.client()
    closing = asyncio.create_task(quiesce.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await quiesce.close()
    assert peer.is_gone()


async def test_close_twice_and_at_once(scripted: Peers) -> None:
    peer = scripted("right")
    quiesce = await peer.client()
    await asyncio.gather(*(quiesce.close() for _ in range(5)))
    await quiesce.close()
    assert peer.methods().count("shutdown") == 1
    with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
        await quiesce.ping()


async def test_close_before_the_start_starts_nothing(scripted: Peers) -> None:
    peer = scripted("right")
    quiesce = peer.client()
    await quiesce.close()
    with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
        await quiesce.ping()
    assert not peer.log.exists()


async def test_a_start_that_is_cancelled_leaves_nothing(scripted: Peers, tmp_path: Path) -> None:
    peer = scripted("never_greets")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await peer.client()
    assert peer.is_gone()


async def test_close_while_it_starts(scripted: Peers) -> None:
    peer = scripted("never_greets")
    quiesce = peer.client()
    call = asyncio.create_task(quiesce.ping())
    await asyncio.sleep(0)
    await quiesce.close()
    with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
        await call
    assert peer.is_gone()


async def test_stdout_that_ends_ends_the_runtime(scripted: Peers) -> None:
    async with scripted("closes_stdout_and_stays").client() as quiesce:
        with pytest.raises(ConnectionClosedError, match="was ended by SIGTERM"):
            await quiesce.models()


async def test_fifty_launches_leave_nothing(scripted: Peers) -> None:
    peer = scripted("right")
    before = threading.active_count()
    for _ in range(10):
        clients = [peer.client() for _ in range(5)]
        await asyncio.gather(*(client.ping() for client in clients))
        await asyncio.gather(*(client.close() for client in clients))
    assert peer.methods().count("shutdown") == 50
    for thread in threading.enumerate():
        if thread.name.startswith("quiesce"):
            thread.join(20)
    assert threading.active_count() == before
    assert peer.is_gone()


async def test_a_launch_after_a_crash_works(scripted: Peers) -> None:
    with pytest.raises(ConnectionClosedError):
        async with scripted("dies_in_a_run").client() as quiesce:
            await (await quiesce.sessions.get("s-1")).run("hello")
    async with scripted("right").client() as quiesce:
        await quiesce.ping()


@pytest.mark.parametrize("name", ["right", "ignores_every_hint"])
async def test_a_client_that_is_collected_ends_its_runtime(scripted: Peers, name: str) -> None:
    peer = scripted(name)
    await peer.client()
    gc.collect()
    assert await asyncio.to_thread(peer.is_gone)


@pytest.mark.parametrize("name", ["leaves_a_child", "ignores_every_hint"])
def test_a_client_whose_loop_ends_ends_its_runtime(scripted: Peers, name: str) -> None:
    peer = scripted(name)

    async def forget() -> AsyncQuiesce:
        return await peer.client()

    quiesce = asyncio.run(forget())
    assert peer.is_gone()
    with pytest.raises(RuntimeError, match="belongs to another event loop"):
        asyncio.run(quiesce.ping())
    asyncio.run(quiesce.close())


async def test_what_cannot_be_started_is_named(tmp_path: Path, scripted: Peers) -> None:
    program = tmp_path / "quiesce"
    program.write_text("no program")
    program.chmod(0o755)
    with pytest.raises(RuntimeNotFoundError, match=f"can't start the runtime {program}: .*Exec format error"):
        await AsyncQuiesce.launch(runtime=program)
    with pytest.raises(RuntimeNotFoundError, match=f"can't start the runtime .* in {tmp_path}/nowhere: .*No such file"):
        await AsyncQuiesce.launch(runtime=scripted("right").path, cwd=tmp_path / "nowhere")


async def test_stderr_comes_line_by_line(scripted: Peers) -> None:
    lines: list[str] = []
    third = threading.Event()

    def take(line: str) -> None:
        lines.append(line)
        if len(lines) == 3:
            third.set()
        raise LookupError("a handler may raise")

    async with AsyncQuiesce.launch(runtime=scripted("writes_to_stderr").path, on_stderr=take) as quiesce:
        await quiesce.ping()
    assert await asyncio.to_thread(third.wait, 20)
    assert lines == ["first", "second ä", "third"]


FORK = """
import gc, threading
quiesce = Quiesce.launch()
pid = os.fork()
if pid == 0:  # forgets it, and ends
    del quiesce
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "quiesce-abandon":
            thread.join(1)
else:
    os.waitpid(pid, 0)
    quiesce.ping()
    quiesce.close()
"""

WAYS = {
    "raises": ("with Quiesce.launch() as quiesce: raise LookupError('why')", 1),
    "forgets": ("quiesce = Quiesce.launch(); quiesce.ping()", 0),
    "exits": ("quiesce = Quiesce.launch(); sys.exit(3)", 3),
    "forgets in asyncio": ("asyncio.run(AsyncQuiesce.launch().ping())", 0),
    "forks": (FORK, 0),
}


def test_a_fork_that_lives_on_keeps_no_runtime_alive(scripted: Peers) -> None:
    peer = scripted("right")
    body = """
quiesce = Quiesce.launch()
pid = os.fork()
if pid == 0:
    os.close(1)
    os.close(2)
    signal.pause()
print(pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = script(body, peer.path)
    fork = int(done.stdout)
    try:
        assert done.returncode == -signal.SIGKILL
        assert peer.is_gone()
    finally:
        os.kill(fork, signal.SIGKILL)


CTRL_C = """
async def main():
    async with AsyncQuiesce.launch() as quiesce:
        session = await quiesce.sessions.get("s-1")
        async for item in session.stream("hello"):
            if item.type == "turn/end":
                os.kill(os.getpid(), signal.SIGINT)
asyncio.run(main())
"""


def script(body: str, runtime: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script of its own to its end."""
    source = f"import asyncio, os, signal, sys\nfrom quiesce import AsyncQuiesce, Quiesce\n{body}\n"
    env = {**os.environ, "QUIESCE_RUNTIME": str(runtime)}
    command = [sys.executable, "-W", "error", "-c", source]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("way", WAYS)
def test_however_a_script_ends_nothing_is_left(scripted: Peers, way: str) -> None:
    peer = scripted("leaves_a_child")
    body, code = WAYS[way]
    done = script(body, peer.path)
    assert peer.is_gone(within=0)
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (code, ["LookupError: why"] if way == "raises" else [])


def test_a_script_that_is_killed_takes_the_runtime_along(scripted: Peers) -> None:
    peer = scripted("right")
    done = script("quiesce = Quiesce.launch(); os.kill(os.getpid(), signal.SIGKILL)", peer.path)
    assert done.returncode == -signal.SIGKILL
    assert peer.is_gone()


def test_an_interrupted_script_gives_its_run_up_and_leaves_nothing(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    done = script(CTRL_C, peer.path)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert peer.methods()[-4:] == ["session/withdraw", "session/cancel", "session/unsubscribe", "shutdown"]
    assert peer.is_gone(within=0)

"""The synchronous face: from several threads, inside a running loop, interrupted, forgotten, forked."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conftest import Scripted
from quiesce import ConnectionClosedError, Delta, Quiesce, RunAbortedError, RuntimeNotFoundError, SessionBusyError
from quiesce._portal import LoopThread, Portal

Peers = Callable[[str], Scripted]


@pytest.fixture
def quiesce(scripted: Peers) -> Iterator[Quiesce]:
    with Quiesce.launch(runtime=scripted("right").path) as quiesce:
        yield quiesce


def test_a_script(quiesce: Quiesce) -> None:
    session = quiesce.sessions.create()
    result = session.run("hello")
    assert (result.final_response, result.finish_reason) == ("You said hello.", "completed")
    run = session.stream("again")
    items = list(run)
    assert run.result().final_response == "You said again."
    assert "".join(item.text for item in items if isinstance(item, Delta)) == "You"
    assert session.withdraw("m-1") is False
    assert session.messages() == []
    assert [model.model for model in quiesce.models()] == ["scripted/demo"]
    assert repr(session) == "Session('s-1')"


def test_events(quiesce: Quiesce) -> None:
    session = quiesce.sessions.create()
    with session.events() as events:
        session.run("hello")
        assert [next(events).seq for _ in range(9)] == list(range(1, 10))
    assert list(events) == []


def test_several_threads(quiesce: Quiesce) -> None:
    def work(number: int) -> str:
        session = quiesce.sessions.create()
        return "".join(session.run(f"{number}.{turn}").final_response for turn in range(5))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(8)))
    assert answers == ["".join(f"You said {number}.{turn}." for turn in range(5)) for number in range(8)]


async def test_inside_a_running_loop(quiesce: Quiesce) -> None:
    """As a notebook's cell does."""
    assert quiesce.sessions.create().run("hello").final_response == "You said hello."


def test_errors_are_the_same(scripted: Peers) -> None:
    with Quiesce.launch(runtime=scripted("refuses_the_prompt").path) as quiesce:
        session = quiesce.sessions.get("s-1")
        with pytest.raises(SessionBusyError, match="refused: session_busy"):
            session.run("hello", on_busy="reject")


def test_a_launch_that_fails_leaves_no_thread(tmp_path: object) -> None:
    before = threading.active_count()
    with pytest.raises(RuntimeNotFoundError, match="the runtime option names /nowhere/quiesce"):
        Quiesce.launch(runtime="/nowhere/quiesce")
    assert threading.active_count() == before


def test_close_twice_and_from_several_threads(scripted: Peers) -> None:
    peer = scripted("right")
    quiesce = Quiesce.launch(runtime=peer.path)
    with ThreadPoolExecutor(4) as pool:
        for closing in [pool.submit(quiesce.close) for _ in range(4)]:
            closing.result()
    quiesce.close()
    with pytest.raises(ConnectionClosedError, match=r"close\(\) was called"):
        quiesce.ping()
    assert peer.methods().count("shutdown") == 1
    assert peer.is_gone()


@pytest.mark.parametrize("how", ["run", "stream"])
def test_close_wakes_a_thread_that_waits(scripted: Peers, how: str) -> None:
    peer = scripted("turn_without_idle")
    quiesce = Quiesce.launch(runtime=peer.path)
    session = quiesce.sessions.get("s-1")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: session.run("hello") if how == "run" else list(session.stream("hello")))
        while "session/prompt" not in peer.methods():
            quiesce.ping()
        quiesce.close()
        with pytest.raises(ConnectionClosedError):
            waiting.result()


def interrupt(peer: Scripted, quiesce: Quiesce, *methods: str) -> threading.Thread:
    """Interrupts the main thread each time that the peer has read the next of these requests."""

    def work() -> None:
        for method in methods:
            while method not in peer.methods():
                quiesce.ping()
            quiesce.ping()
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_an_interrupted_run_is_given_up(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    with Quiesce.launch(runtime=peer.path) as quiesce:
        session = quiesce.sessions.get("s-1")
        thread = interrupt(peer, quiesce, "session/prompt")
        with pytest.raises(KeyboardInterrupt):
            session.run("hello")
        thread.join()
        assert peer.methods()[-1] in {"session/cancel", "session/unsubscribe"}
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]
    assert peer.is_gone()


def test_an_interrupted_stream_is_given_up(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    with Quiesce.launch(runtime=peer.path) as quiesce:
        run = quiesce.sessions.get("s-1").stream("hello")
        thread = interrupt(peer, quiesce, "session/prompt")
        with pytest.raises(KeyboardInterrupt):
            list(run)
        thread.join()
        run.close()  # where the interruption came between two items, it left the run going
        with pytest.raises(RunAbortedError) as raised:
            run.result()
    assert raised.value.outcome == "cancelled"


def test_a_second_interruption_does_not_lose_the_first(scripted: Peers) -> None:
    peer = scripted("turn_without_idle")
    with Quiesce.launch(runtime=peer.path) as quiesce:
        session = quiesce.sessions.get("s-1")
        cancel = LoopThread.cancel
        interrupted: list[object] = []

        def interrupt_again(thread: LoopThread, job: Any) -> None:
            interrupted.append(job)
            if len(interrupted) == 1:
                raise KeyboardInterrupt
            cancel(thread, job)

        thread = interrupt(peer, quiesce, "session/prompt")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LoopThread, "cancel", interrupt_again)
            with pytest.raises(KeyboardInterrupt):
                session.run("hello")
        thread.join()
    assert peer.asked("session/cancel") == [{"sessionId": "s-1", "scope": "tree"}]
    assert peer.is_gone()


def test_a_second_interruption_waits_no_longer(scripted: Peers) -> None:
    peer = scripted("says_nothing_of_withdrawing")
    with Quiesce.launch(runtime=peer.path) as quiesce:
        session = quiesce.sessions.get("s-1")
        thread = interrupt(peer, quiesce, "session/prompt", "session/withdraw")
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            session.run("hello")
        thread.join()
        assert time.monotonic() - started < 4.5
    assert peer.is_gone()


def test_a_forgotten_client_ends_its_runtime(scripted: Peers) -> None:
    peer = scripted("right")
    Quiesce.launch(runtime=peer.path).ping()
    gc.collect()
    assert peer.is_gone()
    loops = [thread for thread in threading.enumerate() if thread.name == "quiesce"]
    for loop in loops:
        loop.join(20)
    assert not any(loop.is_alive() for loop in loops)


def test_a_session_keeps_its_runtime(scripted: Peers) -> None:
    peer = scripted("right")
    session = Quiesce.launch(runtime=peer.path).sessions.create()
    gc.collect()
    assert session.run("hello").final_response == "You said hello."
    del session
    gc.collect()
    assert peer.is_gone()


def test_an_iterator_that_is_dropped_ends_its_subscription(scripted: Peers) -> None:
    peer = scripted("history")
    with Quiesce.launch(runtime=peer.path) as quiesce:
        for _ in quiesce.sessions.get("s-1").events(after=2000):
            break
        gc.collect()
        quiesce.ping()
        assert peer.methods()[-2:] == ["session/unsubscribe", "server/ping"]


def test_a_fork_is_told_that_it_cannot_call(quiesce: Quiesce) -> None:
    child = os.fork()
    if child == 0:
        try:
            quiesce.ping()
        except RuntimeError as error:
            os._exit(7 if "belongs to another process" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    quiesce.ping()


def test_a_call_that_would_wait_for_itself_is_refused() -> None:
    portal = Portal()

    async def nested() -> None:
        portal.call(nothing)

    async def nothing() -> None:
        pass

    with pytest.raises(RuntimeError, match="would wait for ever"):
        portal.call(nested)
    portal.stop()
    portal.stop()
    with pytest.raises(ConnectionClosedError):
        portal.call(nothing)


def test_what_a_stop_cuts_off_is_told() -> None:
    portal = Portal()
    begun = threading.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(portal.call, forever)
        begun.wait()
        portal.stop()
        with pytest.raises(ConnectionClosedError):
            waiting.result()


def test_a_call_that_a_stop_overtakes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop takes the call, and ends before it begins it."""
    post = LoopThread.post
    taken = threading.Event()

    def take(thread: LoopThread, work: Callable[[], object]) -> bool:
        if work.__name__ != "begin":
            return post(thread, work)
        taken.set()
        return True

    portal = Portal()
    monkeypatch.setattr(LoopThread, "post", take)

    async def never() -> None:
        raise AssertionError

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(portal.call, never)
        taken.wait()
        portal.stop()
        with pytest.raises(ConnectionClosedError):
            waiting.result()

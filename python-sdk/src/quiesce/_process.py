"""Owns one runtime process: its pipes, its end, and that nothing of its process group outlives us.

Refuses to know what the bytes mean.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ._errors import RuntimeNotFoundError
from ._stderr import Stderr


@dataclass(frozen=True, slots=True)
class Grace:
    """How long each way of ending gets before the next one is tried, in seconds."""

    shutdown: float = 5.0
    stdin: float = 2.0
    term: float = 2.0
    kill: float = 2.0
    pipes: float = 0.5


class Process:
    """A running runtime, made by `start`."""

    def __init__(
        self, popen: subprocess.Popen[bytes], grace: Grace, on_data: Callable[[bytes], None], stderr: Stderr
    ) -> None:
        self._popen = popen
        self._owner = os.getpid()
        self._grace = grace
        self._stderr = stderr
        self._loop = asyncio.get_running_loop()
        self._gone = threading.Event()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._stdout_pipe = _Pipe(on_data)
        self._stderr_pipe = _Pipe(stderr.feed)
        self._stdin_pipe = _Pipe(lambda _: None)
        self._stdin: asyncio.WriteTransport | None = None
        self._closed_pipes = False
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: str | None,
        env: Mapping[str, str],
        grace: Grace,
        on_data: Callable[[bytes], None],
        on_stderr: Callable[[str], object] | None,
        on_end: Callable[[], None],
    ) -> Process:
        """Starts `command` in a session of its own. `on_data` gets its stdout; `on_end` is called once, when no more
        will come.

        Contract: raises RuntimeNotFoundError where the system can't start it; a cancellation leaves no process behind.
        """
        try:
            popen = subprocess.Popen(  # noqa: ASYNC220 (returns as soon as the child has called exec)
                command, bufsize=0, cwd=cwd, env=env, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            where = "" if cwd is None else f" in {cwd}"
            raise RuntimeNotFoundError(f"can't start the runtime {command[0]}{where}: {error}") from error
        process = cls(popen, grace, on_data, Stderr(on_stderr))
        _alive.add(process)
        threading.Thread(target=process._reap, name="quiesce-reap", daemon=True).start()
        try:
            await process._connect()
        except BaseException:
            process._signal(signal.SIGKILL)
            process._close_pipes()
            raise
        process._watch = process._loop.create_task(process._until_end(on_end))
        return process

    @property
    def exit_code(self) -> int | None:
        """Its exit status, negative for a signal's number; None while it runs."""
        return self._popen.returncode if self._gone.is_set() else None

    @property
    def stderr_tail(self) -> str:
        """The last lines that it wrote to stderr, at most 8 KiB."""
        return self._stderr.tail

    def write(self, data: bytes) -> None:
        """Sends bytes to its stdin, in order; they are dropped where it no longer reads."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(data)

    async def end(self) -> None:
        """Ends the process and its group: end of stdin, SIGTERM, SIGKILL, each with its grace.

        Cancelled, it kills at once.
        """
        try:
            await self._ask_to_exit()
            if self._watch is not None:
                await asyncio.wait([self._watch])
        except asyncio.CancelledError:
            self._signal(signal.SIGKILL)
            raise
        finally:
            self._close_pipes()

    def end_blocking(self) -> None:
        """Ends the process from any thread, without its loop: SIGTERM, then SIGKILL.

        For forgotten runtimes and for our own exit.
        """
        for number, limit in (
            (signal.SIGTERM, self._grace.stdin + self._grace.term),
            (signal.SIGKILL, self._grace.kill),
        ):
            self._signal(number)
            if self._gone.wait(limit):
                return

    def kill(self) -> None:
        """Sends SIGKILL to the group, and waits for nothing."""
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Sends SIGTERM to the group, and waits for nothing."""
        self._signal(signal.SIGTERM)

    def abandon(self) -> None:
        """`end_blocking` that returns at once, since it is called where a forgotten client is collected."""
        if self._gone.is_set():
            return
        with contextlib.suppress(RuntimeError):  # the interpreter ends: `_end_all` does it
            threading.Thread(target=self.end_blocking, name="quiesce-abandon", daemon=True).start()

    def let_go(self) -> None:
        """Closes a fork's copies of the pipes: the runtime must see its stdin end when its owner ends."""
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()

    async def _connect(self) -> None:
        waiting = [self._popen.stdout, self._popen.stderr, self._popen.stdin]
        try:
            await self._loop.connect_read_pipe(lambda: self._stdout_pipe, waiting.pop(0))
            await self._loop.connect_read_pipe(lambda: self._stderr_pipe, waiting.pop(0))
            self._stdin, _ = await self._loop.connect_write_pipe(lambda: self._stdin_pipe, waiting.pop(0))
        except BaseException:
            for pipe in waiting:
                if pipe is not None:
                    pipe.close()
            raise

    def _reap(self) -> None:
        """Waits for the exit, on a thread of its own, and takes what is left of the group along."""
        self._popen.wait()
        self._signal(signal.SIGKILL)
        self._gone.set()
        _alive.discard(self)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._set_exited)

    def _set_exited(self) -> None:
        if not self._exited.done():
            self._exited.set_result(None)

    async def _until_end(self, on_end: Callable[[], None]) -> None:
        """Waits for the exit or the end of stdout, whichever comes first, and a little for the rest of both pipes."""
        try:
            await asyncio.wait([self._exited, self._stdout_pipe.ended], return_when=asyncio.FIRST_COMPLETED)
            rest = [self._exited, self._stdout_pipe.ended, self._stderr_pipe.ended]
            await asyncio.wait(rest, timeout=self._grace.pipes)
            await self._ask_to_exit()  # where only stdout ended: no answer can come any more
        except asyncio.CancelledError:  # the loop ends, and nobody called `end`
            self.abandon()
            raise
        finally:
            self._close_pipes()
            on_end()

    async def _ask_to_exit(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        for limit, number in ((self._grace.stdin, signal.SIGTERM), (self._grace.term, signal.SIGKILL)):
            if await self._exits_within(limit):
                return
            self._signal(number)
        await self._exits_within(self._grace.kill)

    async def _exits_within(self, limit: float) -> bool:
        if not self._exited.done():
            await asyncio.wait([self._exited], timeout=limit)
        return self._exited.done()

    def _signal(self, number: signal.Signals) -> None:
        if os.getpid() == self._owner and not self._gone.is_set():  # a fork's copy of us ends nothing
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, number)

    def _close_pipes(self) -> None:
        if self._closed_pipes:
            return
        self._closed_pipes = True
        self._stderr.end()
        if self._stdin is not None and not self._stdin_pipe.ended.done():
            self._stdin.abort()
        for pipe in (self._stdout_pipe, self._stderr_pipe):
            if pipe.transport is not None:
                pipe.transport.close()


class _Pipe(asyncio.Protocol):
    """Hands on what is read; `ended` is set when no more will come."""

    def __init__(self, on_data: Callable[[bytes], None]) -> None:
        self._on_data = on_data
        self.transport: asyncio.BaseTransport | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


_alive: set[Process] = set()


def _end_all() -> None:
    left = list(_alive)
    for process in left:
        process.terminate()
    for process in left:
        process.end_blocking()


def _let_all_go() -> None:
    for process in list(_alive):
        process.let_go()
    _alive.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_let_all_go)

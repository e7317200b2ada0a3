"""Owns one connection over stdio: a process, the peer that talks to it, the first word and the last.

Knows no session.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any, TypeVar

from . import _wire
from ._errors import ConnectionClosedError, ProtocolError, QuiesceError, rpc_error_for
from ._events import warm_up
from ._framing import FrameReader, decode
from ._generated.methods import PROTOCOL_VERSION
from ._generated.models import InitializeResult
from ._launch import Launch
from ._peer import Peer
from ._process import Grace, Process
from ._version import __version__

START_LIMIT = 30.0
"""How long the runtime gets at most for its first answer, in seconds."""

Result = TypeVar("Result", bound=_wire.WireModel)


class Connection:
    """One runtime, made by `open`; ready once it has answered `initialize`."""

    def __init__(self, command: str, request_timeout: float | None, grace: Grace) -> None:
        self.peer = Peer(self._write)
        self._command = command
        self._request_timeout = request_timeout
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._frames = FrameReader()
        self._unsent: list[bytes] = []
        self._process: Process | None = None
        self._greeted = False
        self._closing = False
        self._unfinished: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls, launch: Launch, *, request_timeout: float | None, on_stderr: Callable[[str], object] | None, grace: Grace
    ) -> Connection:
        """Starts the runtime and greets it (FR-3). Where that fails or is cancelled, no process is left.

        Raises RuntimeNotFoundError, ConnectionClosedError, RequestTimeoutError, ProtocolError or RpcError.
        """
        connection = cls(" ".join(launch.command), request_timeout, grace)
        connection._process = await Process.start(
            launch.command,
            cwd=launch.cwd,
            env=launch.env,
            grace=grace,
            on_data=connection._received,
            on_stderr=on_stderr,
            on_end=connection._ended,
        )
        try:
            await connection._greet()
        except BaseException:
            await connection._process.end()
            raise
        return connection

    @property
    def process(self) -> Process:
        """The runtime's process."""
        if self._process is None:
            raise ConnectionClosedError("the runtime was not started")
        return self._process

    async def request(self, method: str, params: dict[str, Any], result: type[Result]) -> Result:
        """Makes a request and checks its result; raises what `Peer.request` does."""
        return checked(method, await self.send(method, params), result)

    def send(self, method: str, params: dict[str, Any]) -> asyncio.Future[Any]:
        """Makes a request; the future holds its result as it came."""
        return self.peer.request(method, params, self._request_timeout)

    def finish_first(self, task: asyncio.Task[Any]) -> None:
        """Has `close` wait for the task, which must end by itself: it says what becomes of a run's work (RUN-9)."""
        self._unfinished.add(task)
        task.add_done_callback(self._unfinished.discard)

    async def close(self) -> None:
        """Ends the runtime: `shutdown`, then end of stdin, SIGTERM, SIGKILL, each with its grace.

        Cancelled, it kills at once.
        """
        self._closing = True
        try:
            if self._unfinished:
                await asyncio.wait(self._unfinished)
            self.peer.fail_subscriptions(self._closed_error)
            await asyncio.wait([self.peer.request("shutdown", {}, self._grace.shutdown)])
        except asyncio.CancelledError:
            self.process.kill()
            raise
        finally:
            self.peer.fail(self._closed_error)
            await self.process.end()

    async def _greet(self) -> None:
        protocol = {"min": PROTOCOL_VERSION, "max": PROTOCOL_VERSION}
        client = {"name": "quiesce-python", "version": __version__}
        limit = START_LIMIT if self._request_timeout is None else min(START_LIMIT, self._request_timeout)
        answer = self.peer.request("initialize", {"protocol": protocol, "client": client}, limit)
        warm_up()  # while the runtime starts
        greeting = checked("initialize", await answer, InitializeResult)
        if greeting.protocol != PROTOCOL_VERSION:
            message = (
                f"the runtime chose version {greeting.protocol} of the protocol; this package speaks {PROTOCOL_VERSION}"
            )
            raise rpc_error_for("unsupported_protocol", message)
        self._greeted = True
        self.peer.max_frame_bytes = greeting.limits.max_frame_bytes

    def _write(self, data: bytes) -> None:
        """What one turn of the loop sends goes out in one write: a run's last word with the next one's first."""
        self._unsent.append(data)
        if len(self._unsent) == 1:
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self.process.write(b"".join(self._unsent))
        self._unsent.clear()

    def _received(self, data: bytes) -> None:
        if self.peer.failed:
            return
        try:
            for frame in self._frames.feed(data):
                self.peer.receive(decode(frame))
        except ProtocolError as error:
            message = str(error)
            self.peer.fail(lambda: ProtocolError(message))
            self.process.abandon()

    def _ended(self) -> None:
        self.peer.fail(self._closed_error)

    def _closed_error(self) -> QuiesceError:
        if self._closing:
            return ConnectionClosedError("close() was called")
        code, tail = self.process.exit_code, self.process.stderr_tail
        if code is None:
            how = "the runtime closed its stdout and can't be ended"
        elif code < 0:
            how = f"the runtime was ended by {_signal_name(-code)}"
        else:
            how = f"the runtime exited with code {code}"
        if not self._greeted:
            how += f" before it had answered ({self._command})"
        said = f"the end of its stderr:\n{tail}" if tail else "it wrote nothing to stderr"
        return ConnectionClosedError(f"{how}; {said}", exit_code=code, stderr=tail)


def checked(method: str, raw: object, result: type[Result]) -> Result:
    """The result of a request as its type; raises ProtocolError."""
    try:
        return _wire.decode(result, raw)
    except _wire.MalformedValueError as error:
        raise ProtocolError(f"the result of {method} is malformed: {error}") from None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has none
        return f"signal {number}"

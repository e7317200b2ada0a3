"""Owns the way in: one runtime, started at most once, and its end."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from ._connection import Connection
from ._duration import Duration, seconds
from ._errors import ConnectionClosedError
from ._generated.models import ModelInfo, ModelListResult, ServerPingResult, ToolInfo, ToolListResult
from ._launch import plan
from ._options import environment, handler, path, text
from ._params import given
from ._process import Grace
from ._sessions import AsyncSessions, StrPath

_ANOTHER_LOOP = "this AsyncQuiesce belongs to another event loop; launch one per loop, or use Quiesce"


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """What `launch` was given."""

    runtime: StrPath | None
    cwd: StrPath | None
    env: Mapping[str, str | None] | None
    store: str | None
    model: str | None
    log_level: str | None
    on_stderr: Callable[[str], object] | None
    request_timeout: float | None
    grace: Grace


class AsyncQuiesce:
    """A runtime of one's own, for asyncio. Made by `launch`; it belongs to the event loop in which it is first used."""

    def __init__(self, options: LaunchOptions) -> None:
        self._options = options
        self._sessions = AsyncSessions(self._connect, options.cwd, options.model)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    def launch(
        cls,
        *,
        runtime: StrPath | None = None,
        cwd: StrPath | None = None,
        env: Mapping[str, str | None] | None = None,
        store: str | None = None,
        model: str | None = None,
        log_level: str | None = None,
        on_stderr: Callable[[str], object] | None = None,
        request_timeout: Duration | None = 60.0,
    ) -> Self:
        """Launches a runtime: `async with AsyncQuiesce.launch() as quiesce:`, or `quiesce = await
        AsyncQuiesce.launch()`.

        Neither entered nor awaited, it starts with the first call that needs it; however many first calls come at
        once, one process starts.

        `runtime`: the executable, or its `.js` file. It is looked for in this order: this option, `QUIESCE_RUNTIME`,
        the runtime beside this package, `quiesce` on PATH. `cwd`: the working directory of the runtime, and of
        sessions that name none; default: this process's. `env` is added to this process's environment; None takes a
        variable away. `store`: `sqlite:PATH` or `memory:`. `model`: `provider/model`, for sessions that name none.
        `log_level`: how much the runtime writes to its stderr. `on_stderr` gets each line of that, on a thread of its
        own; it may be slow, and what it raises is logged. `request_timeout`: how long the runtime may take for one
        answer, in seconds or as a timedelta, None for no limit (its first one: 30 s at most); runs have limits of their
        own.

        Entering, awaiting and first calls raise RuntimeNotFoundError, which says where it was looked for;
        ConnectionClosedError where the runtime exits at once, with the end of its stderr; UnsupportedProtocolError.
        Raises TypeError or ValueError at once where an option is malformed.
        """
        environment(env)
        text("store", store, "sqlite:PATH")
        text("model", model, "provider/model")
        text("log_level", log_level, "info")
        handler("on_stderr", on_stderr)
        return cls(
            LaunchOptions(
                None if runtime is None else path("runtime", runtime),
                None if cwd is None else path("cwd", cwd),
                env,
                store,
                model,
                log_level,
                on_stderr,
                seconds("request_timeout", request_timeout),
                Grace(),
            )
        )

    @property
    def sessions(self) -> AsyncSessions:
        """The sessions of the runtime's store."""
        return self._sessions

    async def models(self, *, provider: str | None = None) -> list[ModelInfo]:
        """The models that sessions can name, and whether each is available."""
        return (await (await self._connect()).request("model/list", given(provider=provider), ModelListResult)).models

    async def tools(self, *, session_id: str | None = None) -> list[ToolInfo]:
        """The tools that the model may call: the runtime's, or those of one session. Raises SessionNotFoundError."""
        return (await (await self._connect()).request("tool/list", given(sessionId=session_id), ToolListResult)).tools

    async def ping(self) -> None:
        """Returns once the runtime has answered."""
        await (await self._connect()).request("server/ping", {}, ServerPingResult)

    async def close(self) -> None:
        """Ends the runtime: `shutdown`, end of stdin, SIGTERM, SIGKILL to its process group, each with a time limit.

        Runs under way raise; their work goes on when a runtime drives the session again (RE-7). Safe to call again,
        and safe to cancel: the end goes on.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            if self._loop.is_closed():
                if self._connection is not None:
                    self._connection.process.abandon()  # where it didn't end with its loop
                return
            raise RuntimeError(_ANOTHER_LOOP)
        self._loop = loop
        if self._ending is None:
            self._ending = loop.create_task(self._end())
        await asyncio.shield(self._ending)

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __await__(self) -> Generator[Any, None, Self]:
        return self._started().__await__()

    async def _started(self) -> Self:
        """Whoever is cancelled while it starts has nothing to close, so nothing stays."""
        try:
            await self._connect()
        except asyncio.CancelledError:
            await self.close()
            raise
        return self

    async def _connect(self) -> Connection:
        if self._ending is not None:
            raise ConnectionClosedError("close() was called")
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            raise RuntimeError(_ANOTHER_LOOP)
        if self._connection is not None:
            return self._connection
        self._loop = loop
        if self._starting is None or (self._starting.done() and self._connection is None):
            self._starting = loop.create_task(self._start())
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if starting.cancelled() and (task is None or task.cancelling() == 0):  # not this call: the start was
                raise ConnectionClosedError("close() was called") from None
            raise

    async def _start(self) -> Connection:
        options = self._options
        cwd = None if options.cwd is None else os.fspath(options.cwd)
        launch = plan(
            runtime=options.runtime, cwd=cwd, env=options.env, store=options.store, log_level=options.log_level
        )
        connection = await Connection.open(
            launch, request_timeout=options.request_timeout, on_stderr=options.on_stderr, grace=options.grace
        )
        self._connection = connection
        weakref.finalize(self, connection.process.abandon).atexit = False
        return connection

    async def _end(self) -> None:
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._connection is not None:
            await self._connection.close()

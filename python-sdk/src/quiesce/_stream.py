"""Owns a run that is watched while it goes on: its items, and its result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from types import TracebackType
from typing import Self

from ._collect import RunResult
from ._errors import RunAbortedError
from ._events import Delta
from ._run import Connect, Run, RunPlan, StreamItem, settled

_WAITING_DELTAS = 10_000


class AsyncRunStream:
    """A run that started: an async iterator over the facts of its interval and the text on its way, and its result.

    The iteration ends with the interval, or raises what `AsyncSession.run` would raise. Leaving it early leaves the
    run going; `close()`, or the end of `async with`, gives it up as `on_abort` says (RUN-9), and so does cancelling a
    task that iterates or awaits `result()`. Deltas are never part of the result (TU-4), and are dropped while 10,000
    of them wait.
    """

    def __init__(self, connect: Connect, plan: RunPlan) -> None:
        self._message_id = plan.message_id
        self._items: deque[StreamItem] = deque()
        self._deltas = 0
        self._news = asyncio.Event()
        self._told = False
        self._aborted: RunAbortedError | None = None
        self._run = Run(connect, plan, self._take)
        self._task = asyncio.get_running_loop().create_task(self._run.follow())
        self._task.add_done_callback(self._ended)

    @property
    def message_id(self) -> str:
        """The id of the message that the run prompts with; made here, so known from the start."""
        return self._message_id

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamItem:
        while not self._items:
            if self._task.done():
                if self._told:
                    raise StopAsyncIteration
                self._told = True
                self._outcome()
                raise StopAsyncIteration
            self._news.clear()
            await self._or_give_up(self._news.wait())
        item = self._items.popleft()
        if isinstance(item, Delta):
            self._deltas -= 1
        return item

    async def result(self) -> RunResult:
        """The run's result, once it has ended; awaited as often as you like. Raises what `AsyncSession.run` does, and
        RunAbortedError where the run was given up."""
        if not self._task.done():
            await self._or_give_up(asyncio.wait([self._task]))
        return self._outcome()

    async def close(self) -> None:
        """Gives the run up, where it hasn't ended, and waits until that is settled; never raises for the run's own
        sake.
        """
        self._told = True
        late = await self._give_up()
        if late is not None:
            late.__cause__ = self._aborted
            raise late

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _take(self, item: StreamItem) -> None:
        if isinstance(item, Delta):
            if self._deltas >= _WAITING_DELTAS:
                return
            self._deltas += 1
        self._items.append(item)
        self._news.set()

    def _ended(self, task: asyncio.Task[RunResult]) -> None:
        self._news.set()
        try:
            task.result()
        except asyncio.CancelledError as cancelled:  # asyncio gives its cause away once only
            cause = cancelled.__cause__
            self._aborted = cause if isinstance(cause, RunAbortedError) else self._run.never_began()
        except Exception:
            pass  # whoever iterates or asks for the result is told, and nobody else need be

    async def _or_give_up(self, waiting: Awaitable[object]) -> None:
        try:
            await waiting
        except asyncio.CancelledError as cancelled:
            self._told = True
            await self._give_up()
            cancelled.__cause__ = self._aborted
            raise

    async def _give_up(self) -> asyncio.CancelledError | None:
        self._task.cancel()
        return await settled(self._task)

    def _outcome(self) -> RunResult:
        if self._aborted is not None:
            raise self._aborted
        return self._task.result()

"""Owns the watching of a session's facts: history, then live, in bounded memory however slowly they are taken
(SUB-1, SUB-2).
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections import deque
from types import TracebackType
from typing import Literal, Self

from ._errors import ProtocolError, QuiesceError
from ._events import Delta, SessionEvent
from ._run import Connect
from ._subscription import Subscription

_MOST_WAITING = 1000


class AsyncEvents:
    """An async iterator over a session's facts, each once and in order. It begins with the first item that is asked
    for, or with `async with`, and ends with `close()`, the end of `async with`, or an error.

    Raises ProtocolError for a fact that is malformed or missing, and goes on behind it where it is iterated on
    (FR-4); MessageNotFoundError, SessionNotFoundError; a typed error where the session can't go on in this runtime
    (SUB-5); ConnectionClosedError where the runtime went away. Looking at a session starts no work (RE-3). While
    1,000 facts wait to be taken, no more are fetched; none is lost.
    """

    def __init__(
        self, connect: Connect, session_id: str, after: int | Literal["now"], from_message: str | None
    ) -> None:
        self._connect = connect
        self._session_id = session_id
        self._after: int | Literal["now"] | None = after if from_message is None else None
        self._from_message = from_message
        self._buffer: _Buffer | None = None
        self._finalizer: weakref.finalize[[asyncio.AbstractEventLoop, _Buffer], AsyncEvents] | None = None
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        while not self._closed:
            buffer = self._buffer or await self._open()
            if self._closed:
                break
            if buffer.items:
                item = buffer.items.popleft()
                if isinstance(item, ProtocolError):
                    raise item
                return item
            if buffer.end is not None:
                await self.close()
                raise buffer.end
            if buffer.full:
                self._resume_behind(buffer)
                continue
            buffer.news.clear()
            await buffer.news.wait()
        raise StopAsyncIteration

    async def close(self) -> None:
        """Ends the iteration and its subscription; safe to call again."""
        self._closed = True
        self._detach()
        if self._buffer is not None:
            self._buffer.let_go()

    async def __aenter__(self) -> Self:
        if self._buffer is None:
            await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _open(self) -> _Buffer:
        connection = await self._connect()
        buffer = _Buffer()
        buffer.subscription = subscription = Subscription(connection, self._session_id, buffer)
        await subscription.start(after=self._after, from_message=self._from_message, activate=False, deltas=False)
        self._buffer = buffer
        if self._closed:  # meanwhile
            buffer.let_go()
        else:
            self._finalizer = weakref.finalize(self, _forget, asyncio.get_running_loop(), buffer)
            self._finalizer.atexit = False
        return buffer

    def _resume_behind(self, buffer: _Buffer) -> None:
        """What was left out is asked for again: a subscription is a cursor."""
        if buffer.last is not None:
            self._after, self._from_message = buffer.last, None
        self._buffer = None
        self._detach()

    def _detach(self) -> None:
        """A finalizer holds its buffer, whose error holds the iterator by its traceback: nothing would be forgotten."""
        if self._finalizer is not None:
            self._finalizer.detach()


class _Buffer:
    """The sink of a subscription that stops it rather than grow. It knows nothing of who takes the items."""

    def __init__(self) -> None:
        self.items: deque[SessionEvent | ProtocolError] = deque()
        self.news = asyncio.Event()
        self.last: int | None = None
        self.full = False
        self.end: QuiesceError | None = None
        self.subscription: Subscription | None = None

    def event(self, event: SessionEvent) -> None:
        if self._takes(event):
            self.last = event.seq

    def delta(self, delta: Delta) -> None:
        """Not asked for."""

    def fault(self, error: ProtocolError) -> None:
        self._takes(error)

    def closed(self, error: QuiesceError) -> None:
        self.end = error
        self.news.set()

    def let_go(self) -> None:
        if self.subscription is not None:
            self.subscription.close()
        self.news.set()

    def _takes(self, item: SessionEvent | ProtocolError) -> bool:
        if len(self.items) >= _MOST_WAITING:
            self.full = True
            self.let_go()
            return False
        self.items.append(item)
        self.news.set()
        return True


def _forget(loop: asyncio.AbstractEventLoop, buffer: _Buffer) -> None:
    """An iterator that nobody holds any more ends its subscription; it may be collected on any thread."""
    with contextlib.suppress(RuntimeError):  # the loop is closed, and the connection with it
        loop.call_soon_threadsafe(buffer.let_go)

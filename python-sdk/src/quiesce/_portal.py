"""Owns the event loop behind the synchronous face: one daemon thread, to which any other thread hands work and
waits.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from ._errors import ConnectionClosedError

T = TypeVar("T")

_SETTLING = 10.0


class Portal:
    """Runs coroutines for callers that block. Every handle of the synchronous face holds it; when the last one is
    gone, the loop ends, and what runs on it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._thread = LoopThread()
        weakref.finalize(self, self._thread.stop).atexit = False

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs the coroutine on the loop, and returns or raises what it does.

        Interrupted (Ctrl-C), it cancels the coroutine, gives it 10 s to settle, and goes on with the interruption. A
        second interruption waits no longer. Raises ConnectionClosedError after `stop`, RuntimeError where waiting
        could never end.
        """
        if os.getpid() != self._owner:
            raise RuntimeError("this Quiesce belongs to another process; launch one after the fork")
        if threading.get_ident() == self._thread.ident:
            raise RuntimeError(
                "a blocking call from the loop of its own Quiesce would wait for ever; use AsyncQuiesce there"
            )
        done: concurrent.futures.Future[T] = concurrent.futures.Future()
        job = _Job(work, done)
        try:
            self._thread.begin(job)
            return done.result()
        except BaseException:
            try:
                self._thread.cancel(job)
                concurrent.futures.wait([done], timeout=_SETTLING)
            finally:
                if not done.done():  # interrupted again, perhaps before the cancellation was on its way
                    self._thread.cancel(job)
            raise
        finally:
            self._thread.forget(job)

    def stop(self) -> None:
        """Ends the loop; what still runs on it is cancelled. Safe to call again."""
        self._thread.stop()
        self._thread.join()


class _Job(Generic[T]):
    """One coroutine on its way from a thread to the loop and back."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], done: concurrent.futures.Future[T]) -> None:
        self._work = work
        self._done = done
        self._task: asyncio.Task[T] | None = None

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._work())
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def lose(self) -> None:
        """The loop has ended, and this with it."""
        if not self._done.done():
            self._done.set_exception(ConnectionClosedError("close() was called"))

    def _ended(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self.lose()
        elif (error := task.exception()) is not None:
            self._done.set_exception(error)
        else:
            self._done.set_result(task.result())


class LoopThread:
    """The thread and its loop. It knows nobody who uses it, so that it can outlive them."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._jobs: set[_Job[Any]] = set()
        self._thread = threading.Thread(target=self._main, name="quiesce", daemon=True)
        self._thread.start()
        self._ready.wait()

    @property
    def ident(self) -> int | None:
        """The thread's identity."""
        return self._thread.ident

    def begin(self, job: _Job[Any]) -> None:
        """Has the loop begin the job, which fails where the loop has ended."""
        self._jobs.add(job)
        if not self.post(job.begin):
            job.lose()

    def forget(self, job: _Job[Any]) -> None:
        """The caller no longer waits for it."""
        self._jobs.discard(job)

    def cancel(self, job: _Job[Any]) -> None:
        """Has the loop cancel the job."""
        self.post(job.cancel)

    def stop(self) -> None:
        """Has the loop end; waits for nothing, and may be called from any thread."""
        if self._stopping is not None:
            self.post(self._stopping.set)

    def join(self) -> None:
        """Waits for the thread's end."""
        if threading.get_ident() != self.ident:
            self._thread.join()

    def post(self, work: Callable[[], object]) -> bool:
        """Has the loop call `work`; False where the loop has ended."""
        if self._loop is None:
            return False
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:  # it is closed
            return False
        return True

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            for job in list(self._jobs):
                job.lose()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._ready.set()
        await self._stopping.wait()

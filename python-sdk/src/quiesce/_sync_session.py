"""Owns the synchronous face of one session, its runs and its facts. It decides nothing by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from ._collect import RunResult, Until
from ._duration import Duration
from ._events import SessionEvent
from ._generated.models import (
    Limits,
    Message,
    ModelOptions,
    PermissionMode,
    PermissionPolicy,
    SessionCancelResult,
    SessionPromptResult,
    SessionStatusResult,
)
from ._generated.models import Session as SessionDescription
from ._params import ContentInput
from ._portal import Portal
from ._run import OnAbort, OnBusy, StreamItem
from ._session import AsyncSession
from ._stream import AsyncRunStream
from ._tail import AsyncEvents

Item = TypeVar("Item")
Method = TypeVar("Method", bound=Callable[..., object])


def like(original: Callable[..., object]) -> Callable[[Method], Method]:
    """Gives a method the words of the one that it stands for."""

    def document(method: Method) -> Method:
        method.__doc__ = original.__doc__
        return method

    return document


class Session:
    """One durable conversation, for code that blocks; its methods are those of `AsyncSession`."""

    def __init__(self, portal: Portal, session: AsyncSession) -> None:
        self._portal = portal
        self._session = session

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session.id

    @like(AsyncSession.run)
    def run(
        self,
        prompt: ContentInput,
        *,
        until: Until = "idle",
        on_busy: OnBusy = "join",
        timeout: Duration | None = None,
        inactivity_timeout: Duration | None = None,
        on_abort: OnAbort = "cancel",
        metadata: Mapping[str, Any] | None = None,
    ) -> RunResult:
        return self._portal.call(
            lambda: self._session.run(
                prompt,
                until=until,
                on_busy=on_busy,
                timeout=timeout,
                inactivity_timeout=inactivity_timeout,
                on_abort=on_abort,
                metadata=metadata,
            )
        )

    @like(AsyncSession.stream)
    def stream(
        self,
        prompt: ContentInput,
        *,
        until: Until = "idle",
        on_busy: OnBusy = "join",
        timeout: Duration | None = None,
        inactivity_timeout: Duration | None = None,
        on_abort: OnAbort = "cancel",
        metadata: Mapping[str, Any] | None = None,
    ) -> RunStream:
        async def start() -> AsyncRunStream:
            return self._session.stream(
                prompt,
                until=until,
                on_busy=on_busy,
                timeout=timeout,
                inactivity_timeout=inactivity_timeout,
                on_abort=on_abort,
                metadata=metadata,
            )

        return RunStream(self._portal, self._portal.call(start))

    @like(AsyncSession.collect)
    def collect(
        self,
        message_id: str,
        *,
        until: Until = "idle",
        timeout: Duration | None = None,
        inactivity_timeout: Duration | None = None,
        on_abort: OnAbort = "detach",
    ) -> RunResult:
        return self._portal.call(
            lambda: self._session.collect(
                message_id, until=until, timeout=timeout, inactivity_timeout=inactivity_timeout, on_abort=on_abort
            )
        )

    @like(AsyncSession.prompt)
    def prompt(
        self,
        prompt: ContentInput,
        *,
        message_id: str | None = None,
        expect: Literal["idle"] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> SessionPromptResult:
        return self._portal.call(
            lambda: self._session.prompt(prompt, message_id=message_id, expect=expect, metadata=metadata)
        )

    @like(AsyncSession.steer)
    def steer(
        self, prompt: ContentInput, *, message_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> SessionPromptResult:
        return self._portal.call(lambda: self._session.steer(prompt, message_id=message_id, metadata=metadata))

    @like(AsyncSession.inject)
    def inject(
        self, prompt: ContentInput, *, message_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> SessionPromptResult:
        return self._portal.call(lambda: self._session.inject(prompt, message_id=message_id, metadata=metadata))

    @like(AsyncSession.withdraw)
    def withdraw(self, message_id: str) -> bool:
        return self._portal.call(lambda: self._session.withdraw(message_id))

    @like(AsyncSession.cancel)
    def cancel(
        self,
        *,
        scope: Literal["turn", "session", "tree"] = "turn",
        turn_id: str | None = None,
        reason: str | None = None,
    ) -> SessionCancelResult:
        return self._portal.call(lambda: self._session.cancel(scope=scope, turn_id=turn_id, reason=reason))

    @like(AsyncSession.events)
    def events(self, *, after: int | Literal["now"] = "now", from_message: str | None = None) -> Events:
        return Events(self._portal, self._session.events(after=after, from_message=from_message))

    @like(AsyncSession.messages)
    def messages(self) -> list[Message]:
        return self._portal.call(self._session.messages)

    @like(AsyncSession.status)
    def status(self) -> SessionStatusResult:
        return self._portal.call(self._session.status)

    @like(AsyncSession.describe)
    def describe(self) -> SessionDescription:
        return self._portal.call(self._session.describe)

    @like(AsyncSession.update)
    def update(
        self,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        model: str | None = None,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
        permissions: PermissionMode | PermissionPolicy | Mapping[str, Any] | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> SessionDescription:
        return self._portal.call(
            lambda: self._session.update(
                title=title,
                metadata=metadata,
                model=model,
                model_options=model_options,
                permissions=permissions,
                limits=limits,
            )
        )


class RunStream:
    """A run that started, for code that blocks: an iterator like `AsyncRunStream`, and its `result()`."""

    def __init__(self, portal: Portal, run: AsyncRunStream) -> None:
        self._portal = portal
        self._run = run

    @property
    def message_id(self) -> str:
        """The id of the message that the run prompts with; made here, so known from the start."""
        return self._run.message_id

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamItem:
        return _next(self._portal, self._run.__anext__)

    @like(AsyncRunStream.result)
    def result(self) -> RunResult:
        return self._portal.call(self._run.result)

    @like(AsyncRunStream.close)
    def close(self) -> None:
        self._portal.call(self._run.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Events:
    """An iterator over a session's facts, for code that blocks; what `AsyncEvents` is, the beginning, the end and the
    errors included. An iterator that is dropped ends its subscription."""

    def __init__(self, portal: Portal, events: AsyncEvents) -> None:
        self._portal = portal
        self._events = events

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> SessionEvent:
        return _next(self._portal, self._events.__anext__)

    @like(AsyncEvents.close)
    def close(self) -> None:
        self._portal.call(self._events.close)

    def __enter__(self) -> Self:
        self._portal.call(self._events.__aenter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _next(portal: Portal, take: Callable[[], Awaitable[Item]]) -> Item:
    async def one() -> list[Item]:
        try:
            return [await take()]
        except StopAsyncIteration:
            return []

    for item in portal.call(one):
        return item
    raise StopIteration

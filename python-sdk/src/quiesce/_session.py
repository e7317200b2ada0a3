"""Owns the handle of one session: what a caller does with a conversation, each a thin word for one request or one
run.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Literal

from ._collect import RunResult, Until
from ._duration import Duration, seconds
from ._generated.models import (
    Limits,
    Message,
    ModelOptions,
    PermissionMode,
    PermissionPolicy,
    SessionCancelResult,
    SessionGetResult,
    SessionMessagesResult,
    SessionPromptResult,
    SessionStatusResult,
    SessionUpdateParams,
    SessionUpdateResult,
    SessionWithdrawResult,
)
from ._generated.models import Session as SessionDescription
from ._params import ContentInput, content, given, one_of, params
from ._run import Connect, OnAbort, OnBusy, Run, RunPlan
from ._stream import AsyncRunStream
from ._tail import AsyncEvents


class AsyncSession:
    """One durable conversation.

    A handle holds nothing but the id: any number of them, and of runs at a time, may stand for one.
    """

    def __init__(self, session_id: str, connect: Connect) -> None:
        self._id = session_id
        self._connect = connect

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._id!r})"

    @property
    def id(self) -> str:
        """The session's id."""
        return self._id

    async def run(
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
        """Prompts, and gives what the interval held: the facts from this message's receipt through the first idle
        after it.

        It is broader than the message: steering and other callers' messages may lie in it (RUN-1 to RUN-5). A model
        error is no exception: `finish_reason` and `events` say how the last turn ended (RUN-11).

        `until="quiescent"` goes on to the first idle that waits on nothing (RUN-3). `on_busy="reject"` raises where
        the agent isn't idle with an empty queue, and enqueues nothing; `"join"` waits in its queue (RUN-8). `timeout`
        limits the whole, `inactivity_timeout` the time in which no fact comes; both are seconds or a timedelta, None
        for no limit. On either, and where the task is cancelled, `on_abort="cancel"` withdraws the message or cancels
        the tree, unless another client's message lies in the interval; `"detach"` leaves the work alone (RUN-9).
        `metadata` is kept with the message as it is.

        Raises SessionBusyError, SessionNotFoundError, RunTimeoutError with the partial result, ProtocolError for a
        missing or malformed fact, ConnectionClosedError; where its task is cancelled, CancelledError with a
        RunAbortedError as cause.
        """
        plan = self._plan(prompt, until, on_busy, timeout, inactivity_timeout, on_abort, metadata)
        return await Run(self._connect, plan).follow()

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
    ) -> AsyncRunStream:
        """Starts a `run` that can be watched: iterate it for facts and text on its way, await `result()` for its
        result.

        Deltas count as activity for `inactivity_timeout`. The options are those of `run`.
        """
        return AsyncRunStream(
            self._connect, self._plan(prompt, until, on_busy, timeout, inactivity_timeout, on_abort, metadata)
        )

    async def collect(
        self,
        message_id: str,
        *,
        until: Until = "idle",
        timeout: Duration | None = None,
        inactivity_timeout: Duration | None = None,
        on_abort: OnAbort = "detach",
    ) -> RunResult:
        """Gives the interval of a message that is there already: enqueued before, elsewhere, by anybody. It may be
        long over.

        What `run` gives for the same message, from the same facts (RUN-1). Unlike `run` it leaves the work alone by
        default where it is given up, since somebody else may be waiting for that message.

        Raises MessageNotFoundError; QuiesceError for an `inject` message, which opens no interval; and what `run`
        raises.
        """
        _check(until, on_abort)
        limits = seconds("timeout", timeout), seconds("inactivity_timeout", inactivity_timeout)
        return await Run(self._connect, RunPlan(self._id, message_id, None, until, *limits, on_abort)).follow()

    async def prompt(
        self,
        prompt: ContentInput,
        *,
        message_id: str | None = None,
        expect: Literal["idle"] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> SessionPromptResult:
        """Puts a message into the inbox. Returns once it is durably there, and never waits for the agent (IN-1, IN-4).

        `message_id`, 1 to 200 characters, may be chosen: the same id with the same content is enqueued once (IN-3).
        `expect="idle"` makes it conditional (IN-7). Hand the receipt's `message_id` to `collect`.

        Raises MessageConflictError, SessionBusyError, SessionNotFoundError, StorageUnavailableError.
        """
        return await self._enqueue(prompt, given(messageId=message_id, expect=expect, metadata=metadata))

    async def steer(
        self, prompt: ContentInput, *, message_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> SessionPromptResult:
        """A message for the work under way: it joins at the next step, or opens a turn where nothing is under way
        (IN-5).
        """
        return await self._enqueue(prompt, given(messageId=message_id, delivery="steer", metadata=metadata))

    async def inject(
        self, prompt: ContentInput, *, message_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> SessionPromptResult:
        """Context for the next step, whenever there is one; it wakes nobody (IN-6)."""
        return await self._enqueue(prompt, given(messageId=message_id, delivery="inject", metadata=metadata))

    async def withdraw(self, message_id: str) -> bool:
        """Takes a pending message back; False where it entered the conversation already, or was cancelled (IN-8).

        Raises MessageNotFoundError.
        """
        fields = {"sessionId": self._id, "messageId": message_id}
        return (await (await self._connect()).request("session/withdraw", fields, SessionWithdrawResult)).withdrawn

    async def cancel(
        self,
        *,
        scope: Literal["turn", "session", "tree"] = "turn",
        turn_id: str | None = None,
        reason: str | None = None,
    ) -> SessionCancelResult:
        """Cancels the open turn; with `scope` also the session's queue, or the whole tree (CAN-1 to CAN-3).

        `turn_id` names the turn that is meant: another one is left alone. The result's `cancelled` is False where no
        such work was open; `withdrawn` lists the messages that left the queue.
        """
        fields = {"sessionId": self._id, "scope": scope, **given(turnId=turn_id, reason=reason)}
        return await (await self._connect()).request("session/cancel", fields, SessionCancelResult)

    def events(self, *, after: int | Literal["now"] = "now", from_message: str | None = None) -> AsyncEvents:
        """The session's facts, history first and live after, until you stop (SUB-1).

        `after`: the `seq` behind which they begin, 0 for all, `"now"` for those that come from here on.
        `from_message`: begin with this message's receipt instead.
        """
        return AsyncEvents(self._connect, self._id, after, from_message)

    async def messages(self) -> list[Message]:
        """The whole conversation, as the model sees it."""
        found: list[Message] = []
        cursor: str | None = None
        while True:
            fields = {"sessionId": self._id, **given(cursor=cursor)}
            page = await (await self._connect()).request("session/messages", fields, SessionMessagesResult)
            found += page.messages
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def status(self) -> SessionStatusResult:
        """What the whole agent does now, what it waits on, what it is blocked on, and how many messages are pending
        (ST-7).
        """
        return await (await self._connect()).request("session/status", {"sessionId": self._id}, SessionStatusResult)

    async def describe(self) -> SessionDescription:
        """The session's configuration, status and usage."""
        return (await (await self._connect()).request("session/get", {"sessionId": self._id}, SessionGetResult)).session

    async def update(
        self,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        model: str | None = None,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
        permissions: PermissionMode | PermissionPolicy | Mapping[str, Any] | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> SessionDescription:
        """Changes the configuration, and returns it; what isn't given stays.

        Raises ValueError where an option is malformed.
        """
        change = given(
            session_id=self._id,
            title=title,
            metadata=metadata,
            model=model,
            model_options=model_options,
            permissions=permissions,
            limits=limits,
        )
        fields = params("session/update", SessionUpdateParams, change)
        return (await (await self._connect()).request("session/update", fields, SessionUpdateResult)).session

    async def _enqueue(self, prompt: ContentInput, options: dict[str, Any]) -> SessionPromptResult:
        fields = {"sessionId": self._id, "content": content(prompt), **options}
        return await (await self._connect()).request("session/prompt", fields, SessionPromptResult)

    def _plan(
        self,
        prompt: ContentInput,
        until: Until,
        on_busy: OnBusy,
        timeout: Duration | None,
        inactivity_timeout: Duration | None,
        on_abort: OnAbort,
        metadata: Mapping[str, Any] | None,
    ) -> RunPlan:
        one_of("on_busy", on_busy, "join", "reject")
        _check(until, on_abort)
        expect = "idle" if on_busy == "reject" else None
        return RunPlan(
            session_id=self._id,
            message_id=str(uuid.uuid4()),
            prompt={"content": content(prompt), **given(expect=expect, metadata=metadata)},
            until=until,
            timeout=seconds("timeout", timeout),
            inactivity_timeout=seconds("inactivity_timeout", inactivity_timeout),
            on_abort=on_abort,
        )


def _check(until: str, on_abort: str) -> None:
    one_of("until", until, "idle", "quiescent")
    one_of("on_abort", on_abort, "cancel", "detach")

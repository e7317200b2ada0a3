"""Owns one run: subscribe, prompt, follow the facts to the reducer's word, let go; and what becomes of the work when
its caller gives up (RUN-9)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ._collect import RunReducer, RunResult, Until
from ._connection import Connection, checked
from ._errors import AbortOutcome, ProtocolError, QuiesceError, RpcError, RunAbortedError, RunTimeoutError
from ._events import Delta, SessionEvent
from ._generated.models import AgentStatus, SessionCancelResult, SessionPromptResult, SessionWithdrawResult
from ._subscription import Subscription

OnAbort = Literal["cancel", "detach"]
"""What giving a run up does to its work (RUN-9)."""

OnBusy = Literal["join", "reject"]
"""What `run` does where the agent is busy: wait in its queue, or raise SessionBusyError and enqueue nothing (RUN-8)."""

Connect = Callable[[], Awaitable[Connection]]
"""Gives the connection, starting the runtime where it doesn't run yet."""

StreamItem = SessionEvent | Delta
"""What a stream yields: a fact of the interval, or a piece of text on its way."""

GivenUp = TypeVar("GivenUp", RunTimeoutError, RunAbortedError)

_GIVING_UP = 5.0


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What is followed, and how long.

    `prompt` is what `session/prompt` gets beside the ids; None collects what is there already.
    """

    session_id: str
    message_id: str
    prompt: dict[str, Any] | None
    until: Until
    timeout: float | None
    inactivity_timeout: float | None
    on_abort: OnAbort


class Run:
    """One run; the sink of its own subscription. `listener` hears the interval as it comes."""

    def __init__(self, connect: Connect, plan: RunPlan, listener: Callable[[StreamItem], None] | None = None) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._plan = plan
        self._listener = listener
        self._reducer = RunReducer(plan.session_id, plan.message_id, plan.until)
        self._subscription: Subscription | None = None
        self._loop = asyncio.get_running_loop()
        self._verdict: asyncio.Future[RunResult] = self._loop.create_future()
        self._prompted: asyncio.Future[Any] | None = None
        self._quiet: asyncio.Timeout | None = None
        self._last_status: str | None = None
        self._last_event: SessionEvent | None = None

    async def follow(self) -> RunResult:
        """The result, once the reducer has spoken.

        Raises what the requests raise, RunTimeoutError, ProtocolError for a missing or malformed fact, and, where its
        task is cancelled, CancelledError with a RunAbortedError as its cause.
        """
        total, quiet = asyncio.timeout(self._plan.timeout), asyncio.timeout(self._plan.inactivity_timeout)
        try:
            async with total, quiet:
                return await self._verdict_within(quiet)
        except TimeoutError:
            if not (total.expired() or quiet.expired()):
                raise
            raise await self._given_up(RunTimeoutError, self._exceeded(total.expired())) from None
        except asyncio.CancelledError as cancelled:
            cancelled.__cause__ = await self._given_up(RunAbortedError, "was given up", cancelled)
            raise
        finally:
            if self._subscription is not None:
                self._subscription.close()

    def never_began(self) -> RunAbortedError:
        """The error of a run that was given up before `follow` ran."""
        return self._error(RunAbortedError, "was given up", "withdrawn")

    async def _verdict_within(self, quiet: asyncio.Timeout) -> RunResult:
        self._quiet = quiet  # which what is heard puts off, as long as it is open
        try:
            await self._begin()
            return await self._verdict
        finally:
            self._quiet = None

    async def _begin(self) -> None:
        """Subscribes first, so that no fact of the message is missed; then prompts, with an id that is known
        beforehand.
        """
        plan = self._plan
        collecting = plan.prompt is None
        self._connection = connection = await self._connect()
        self._subscription = Subscription(connection, plan.session_id, self)
        opened = await self._subscription.start(
            after=None if collecting else "now",
            from_message=plan.message_id if collecting else None,
            activate=True,
            deltas=self._listener is not None,
        )
        self._last_status = self._last_status or opened.status
        if plan.prompt is not None and not self._verdict.done():  # what has failed by now must not be begun
            params = {"sessionId": plan.session_id, "messageId": plan.message_id, **plan.prompt}
            self._prompted = connection.send("session/prompt", params)
            self._prompted.add_done_callback(self._answered)

    # The sink of the subscription.

    def event(self, event: SessionEvent) -> None:
        """Takes a fact."""
        self._heard()
        self._last_event = event
        if isinstance(event, AgentStatus):
            self._last_status = event.data.status
        try:
            belongs = self._reducer.add(event)
        except QuiesceError as error:
            self._fail(error)
            return
        if belongs and self._listener is not None:
            self._listener(event)
        if self._reducer.ended and not self._verdict.done():
            self._verdict.set_result(self._reducer.result())

    def delta(self, delta: Delta) -> None:
        """Takes a piece of text."""
        self._heard()
        if self._listener is not None and self._reducer.begun:
            self._listener(delta)

    def fault(self, error: ProtocolError) -> None:
        """Ends the run: what it would hold is incomplete."""
        self._fail(error)

    def closed(self, error: QuiesceError) -> None:
        """Ends the run: nothing will come any more (SUB-5)."""
        self._fail(error)

    def _heard(self) -> None:
        limit = self._plan.inactivity_timeout
        if limit is not None and self._quiet is not None and not self._quiet.expired():
            self._quiet.reschedule(self._loop.time() + limit)

    def _answered(self, answer: asyncio.Future[Any]) -> None:
        """The receipt itself is recognised among the facts, before or after this answer."""
        if answer.cancelled():
            return
        try:
            given = checked("session/prompt", answer.result(), SessionPromptResult).message_id
        except QuiesceError as error:
            self._fail(error)
            return
        if given != self._plan.message_id:
            self._fail(ProtocolError(f"the runtime gave message {self._plan.message_id} the id {given}"))

    def _fail(self, error: QuiesceError) -> None:
        if self._subscription is not None:
            self._subscription.close()  # nothing behind the error is part of the run
        if not self._verdict.done():
            self._verdict.set_exception(error)
            self._verdict.exception()  # seen, also where nobody awaits the verdict any more

    def _exceeded(self, whole: bool) -> str:
        plan = self._plan
        limit, name = (plan.timeout, "timeout") if whole else (plan.inactivity_timeout, "inactivity_timeout")
        return f"exceeded its {name} of {limit:g} s"

    async def _given_up(
        self, kind: type[GivenUp], how: str, cancelled: asyncio.CancelledError | None = None
    ) -> GivenUp:
        """The error, once what becomes of the work is settled, though more cancellations come meanwhile. One that
        comes where nobody had cancelled is raised."""
        stopping = self._loop.create_task(self._stop_work())
        if self._connection is not None:
            self._connection.finish_first(stopping)
        late = await settled(stopping)
        outcome: AbortOutcome = "unconfirmed" if stopping.cancelled() else stopping.result()
        if late is not None and cancelled is None:
            raise late from self._error(RunAbortedError, "was given up", outcome)
        return self._error(kind, how, outcome)

    def _error(self, kind: type[GivenUp], how: str, outcome: AbortOutcome) -> GivenUp:
        plan = self._plan
        return kind(
            f"the run of message {plan.message_id} in session {plan.session_id} {how}; {_MEANING[outcome]}",
            outcome=outcome,
            partial=self._reducer.result(),
            last_status=self._last_status,
            last_event=self._last_event,
        )

    async def _stop_work(self) -> AbortOutcome:
        plan, prompted, connection = self._plan, self._prompted, self._connection
        if plan.on_abort == "detach":
            return "detached"
        if plan.prompt is not None and prompted is None:
            return "withdrawn"  # and it will not be sent
        if connection is None:
            return "unconfirmed"
        try:
            async with asyncio.timeout(_GIVING_UP):
                if prompted is not None and not self._reducer.begun:
                    await asyncio.wait([prompted])
                    if isinstance(prompted.exception(), RpcError):
                        return "withdrawn"  # refused, so not enqueued
                ids = {"sessionId": plan.session_id, "messageId": plan.message_id}
                if (await connection.request("session/withdraw", ids, SessionWithdrawResult)).withdrawn:
                    return "withdrawn"
                exclusive = plan.prompt is not None and "expect" in plan.prompt
                if not exclusive and self._reducer.is_shared():
                    return "detached"
                scope = {"sessionId": plan.session_id, "scope": "tree"}
                await connection.request("session/cancel", scope, SessionCancelResult)
                return "cancelled"
        except (QuiesceError, TimeoutError):
            return "unconfirmed"


async def settled(task: asyncio.Task[Any]) -> asyncio.CancelledError | None:
    """Waits until the task has ended, however often its own is cancelled meanwhile; the last of these cancellations.

    Only for a task that ends by itself: whoever is cancelled is waited for.
    """
    late: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as cancelled:
            late = cancelled
    return late


_MEANING: dict[AbortOutcome, str] = {
    "withdrawn": "its message was withdrawn and never entered the conversation",
    "cancelled": "its work was cancelled",
    "detached": "its work goes on",
    "unconfirmed": "the runtime did not say what became of its work, which may go on",
}

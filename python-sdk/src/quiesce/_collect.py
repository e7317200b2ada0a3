"""Owns what a run comes to: the pure fold from a session's facts to a RunResult.

Orders by seq alone; never looks at a status that is not a fact, nor at which message a turn belongs to.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ._errors import QuiesceError
from ._events import Sequence, SessionEvent
from ._generated.models import (
    AgentStatus,
    AssistantMessage,
    AssistantMessageData,
    InboxReceipt,
    OriginUser,
    StepEnd,
    SubagentSettled,
    TextBlock,
    TurnEnd,
    TurnEndKind,
    Usage,
    WaitingOn,
)

Until = Literal["idle", "quiescent"]
"""Where a run ends: at the first idle, or at the first idle that waits on nothing (RUN-3)."""


class _Plain(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, defer_build=True
    )


class TokenUsage(_Plain):
    """Tokens, summed. `input_tokens` includes the cached ones, `output_tokens` the reasoning ones."""

    input_tokens: Annotated[int, Field(alias="inputTokens")] = 0
    output_tokens: Annotated[int, Field(alias="outputTokens")] = 0
    cached_input_tokens: Annotated[int, Field(alias="cachedInputTokens")] = 0
    reasoning_tokens: Annotated[int, Field(alias="reasoningTokens")] = 0


class RunUsage(TokenUsage):
    """The session's own steps, and what its settled children used, summed apart (RUN-12)."""

    descendants: TokenUsage


class RunResult(_Plain):
    """What an interval held: the facts from a message's receipt through the idle that ended it (RUN-2, RUN-4). Plain
    data.

    `model_dump(by_alias=True, exclude_unset=True)` gives the wire's names and JSON; `finish_reason` keeps its own.
    Text is exactly what the runtime keeps, half of a surrogate pair included: write that with `json.dumps` of it, since
    pydantic's own JSON and `print` refuse it.
    """

    session_id: Annotated[str, Field(alias="sessionId")]
    message_id: Annotated[str, Field(alias="messageId")]
    final_response: Annotated[str, Field(alias="finalResponse")]
    """The text of `final_message`, `""` where it has none (RUN-5).

    These are the last words of the interval, which is deliberately broader than the message: they may answer a steer,
    or another caller's message.
    """
    final_message: Annotated[AssistantMessageData | None, Field(alias="finalMessage")]
    """The last assistant message that the session committed in the interval, or None (RUN-5)."""
    events: list[SessionEvent]
    """Every fact of the interval, in order, the receipt and the idle included (RUN-7)."""
    usage: RunUsage
    """Tokens of the steps that ended in the interval (RUN-12)."""
    waiting_on: Annotated[list[WaitingOn], Field(alias="waitingOn")]
    """What the agent still waited on at the end: empty means quiescent (ST-5)."""
    finish_reason: TurnEndKind | None
    """How the session's last turn in the interval ended, None where no turn ended (RUN-6).

    It says how that turn ended, not whether the message was served. Kinds are open: `"completed"`, `"max_tokens"`,
    `"max_steps"`, `"budget"`, `"refused"`, `"cancelled"`, `"error"`, `"interrupted"`, or one that is new.
    """


class RunReducer:
    """Facts in, RunResult out (RUN-2 to RUN-7, RUN-12). Looks at nothing any more once the interval has ended."""

    def __init__(self, session_id: str, message_id: str, until: Until, after: int | None = None) -> None:
        """`after`: the `seq` behind which the facts begin, where it is known."""
        self._session_id = session_id
        self._message_id = message_id
        self._until: Until = until
        self._sequence = Sequence(after)
        self._events: list[SessionEvent] = []
        self._steps: list[Usage] = []
        self._children: list[Usage] = []
        self._final_message: AssistantMessageData | None = None
        self._waiting_on: list[WaitingOn] = []
        self._finish_reason: TurnEndKind | None = None
        self._ended = False

    @property
    def begun(self) -> bool:
        """Whether the message's receipt was seen."""
        return bool(self._events)

    @property
    def ended(self) -> bool:
        """Whether the idle that ends the interval was seen."""
        return self._ended

    def add(self, event: SessionEvent) -> bool:
        """Takes the next fact as it was delivered; True where it belongs to the interval.

        Raises ProtocolError where a fact is missing, QuiesceError where the message is an `inject` (RUN-1).
        """
        if self._ended or event.session_id != self._session_id or not self._sequence.accept(event.seq):
            return False
        if not self._events and not self._opens(event):
            return False
        self._events.append(event)
        self._fold(event)
        return True

    def result(self) -> RunResult:
        """What there is so far; the result, once the interval has ended."""
        message = self._final_message
        text = (
            "" if message is None else "".join(block.text for block in message.content if isinstance(block, TextBlock))
        )
        return RunResult.model_construct(
            session_id=self._session_id,
            message_id=self._message_id,
            final_response=text,
            final_message=message,
            events=list(self._events),
            usage=_usage(_sum(self._steps), _sum(self._children)),
            waiting_on=self._waiting_on,
            finish_reason=self._finish_reason,
        )

    def is_shared(self) -> bool:
        """Whether the interval holds the receipt of another message of a client (RUN-9)."""
        receipts = (event.data.message for event in self._events if isinstance(event, InboxReceipt))
        return any(isinstance(message.origin, OriginUser) and message.id != self._message_id for message in receipts)

    def _opens(self, event: SessionEvent) -> bool:
        if not isinstance(event, InboxReceipt) or event.data.message.id != self._message_id:
            return False
        if event.data.message.delivery == "inject":
            raise QuiesceError(
                f"message {self._message_id} can't be collected: "
                "it is an inject message, which wakes nobody and so opens no interval"
            )
        return True

    def _fold(self, event: SessionEvent) -> None:
        match event:
            case AssistantMessage():
                self._final_message = event.data
            case StepEnd():
                self._steps.append(event.data.usage)
            case SubagentSettled():
                self._children.append(event.data.usage)
            case TurnEnd():
                self._finish_reason = event.data.reason.kind
            case AgentStatus() if event.data.status == "idle":
                self._waiting_on = event.data.waiting_on or []
                self._ended = self._until == "idle" or not self._waiting_on
            case _:
                pass


def _sum(usages: list[Usage]) -> TokenUsage:
    return TokenUsage.model_construct(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cached_input_tokens=sum(usage.cached_input_tokens or 0 for usage in usages),
        reasoning_tokens=sum(usage.reasoning_tokens or 0 for usage in usages),
    )


def _usage(own: TokenUsage, descendants: TokenUsage) -> RunUsage:
    return RunUsage.model_construct(
        input_tokens=own.input_tokens,
        output_tokens=own.output_tokens,
        cached_input_tokens=own.cached_input_tokens,
        reasoning_tokens=own.reasoning_tokens,
        descendants=descendants,
    )

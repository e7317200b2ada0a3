# Generated from schema/src by `make gen`: do not edit.
"""Every type on the wire, by its name in the schema."""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias, cast

from pydantic import Discriminator, Field, Tag

from quiesce._wire import UNKNOWN, UnknownKind, WireModel, by_tag, decode


class FileBlock(WireModel):
    """A reference to a file under the roots, by path."""

    type: Literal["file"]
    path: str


class ImageBlock(WireModel):
    """An image: base64 `data` with its `mediaType`, or the `path` of a file under the roots."""

    type: Literal["image"]
    media_type: Annotated[str | None, Field(alias="mediaType")] = None
    data: str | None = None
    """Base64, without a data: prefix."""
    path: str | None = None


class McpServer(WireModel):
    """An MCP server of the session: a `command` with `args` (stdio), or a `url`."""

    command: str | None = None
    args: list[str] | None = None
    env: dict[str, str] | None = None
    url: str | None = None
    headers: dict[str, str] | None = None


class ModelInfo(WireModel):
    """A model that can be named in `session/create`."""

    model: str
    """`provider/model`."""
    provider: str
    available: bool
    """False where something is missing, for example its key."""
    reason: str | None = None
    context_window: Annotated[int | None, Field(alias="contextWindow")] = None
    default: bool | None = None


class ModelListParams(WireModel):
    """Params of `model/list`. Lists the models."""

    provider: str | None = None


class OriginGoal(WireModel):
    """A round of a goal."""

    kind: Literal["goal"]
    goal_id: Annotated[str, Field(alias="goalId")]


class OriginUser(WireModel):
    """A client."""

    kind: Literal["user"]


class ParamFault(WireModel):
    """One fault of bad params (-32602): where it is and what is wrong."""

    path: str
    """For example `content[0].text`."""
    message: str


class PeerInfo(WireModel):
    """The name and version of a program."""

    name: str
    version: str


class PendingCounts(WireModel):
    """How many messages are pending, by delivery."""

    followup: int
    steer: int
    inject: int


class PermissionRequestData(WireModel):
    """The data of `permission/request`."""

    request_id: Annotated[str, Field(alias="requestId")]
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    summary: str


class PermissionRule(WireModel):
    """One rule; the first that matches wins, before the mode."""

    tool: str
    pattern: str | None = None
    action: Literal["allow", "ask", "deny"]


class ProtocolRange(WireModel):
    """The protocol versions that a client speaks, both ends included."""

    min: int
    max: int


class ReasoningBlock(WireModel):
    """Reasoning of the model; the provider's signature is kept verbatim."""

    type: Literal["reasoning"]
    text: str
    signature: str | None = None


class RpcErrorObject(WireModel):
    """The `error` of a JSON-RPC response. Code -32000 carries RpcErrorData; -32602 carries `{faults: ParamFault[]}`."""

    code: int
    message: str
    data: Any | None = None


class ServerCapabilities(WireModel):
    """What this server can do: the methods that it serves."""

    methods: list[str]
    deltas: bool


class ServerLimits(WireModel):
    """Limits of the server."""

    max_frame_bytes: Annotated[int, Field(alias="maxFrameBytes")]
    max_in_flight: Annotated[int, Field(alias="maxInFlight")]
    max_pending_messages: Annotated[int, Field(alias="maxPendingMessages")]


class ServerPingParams(WireModel):
    """Params of `server/ping`. Answers at once."""


class SessionDeleteResult(WireModel):
    """Result of `session/delete`."""


class SessionUnsubscribeParams(WireModel):
    """Params of `session/unsubscribe`. Ends a subscription."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]


class SessionUnsubscribeResult(WireModel):
    """Result of `session/unsubscribe`."""


class SessionWithdrawResult(WireModel):
    """Result of `session/withdraw`."""

    withdrawn: bool


class ShutdownParams(WireModel):
    """Params of `shutdown`. Answers once everything is committed; then the runtime exits."""


class ShutdownResult(WireModel):
    """Result of `shutdown`."""


class StepStartData(WireModel):
    """The data of `step/start`."""

    turn_id: Annotated[str, Field(alias="turnId")]
    step_id: Annotated[str, Field(alias="stepId")]
    model: str


class TextBlock(WireModel):
    """Plain text."""

    type: Literal["text"]
    text: str


class ToolStartData(WireModel):
    """The data of `tool/start`."""

    call_id: Annotated[str, Field(alias="callId")]


class ToolUseBlock(WireModel):
    """A tool call that the model asked for. `callId` is the runtime's own; the vendor's is kept beside it."""

    type: Literal["tool_use"]
    call_id: Annotated[str, Field(alias="callId")]
    vendor_call_id: Annotated[str | None, Field(alias="vendorCallId")] = None
    name: str
    input: Any
    """The input as the model wrote it; user data, never renamed."""


class TriggerRecovery(WireModel):
    """The turn goes on where a crash interrupted `turnId`."""

    kind: Literal["recovery"]
    turn_id: Annotated[str, Field(alias="turnId")]


class TurnLimits(WireModel):
    """Bounds of one turn."""

    max_steps: Annotated[int | None, Field(alias="maxSteps", ge=1)] = None
    max_total_tokens: Annotated[int | None, Field(alias="maxTotalTokens", ge=1)] = None
    max_cost: Annotated[float | None, Field(alias="maxCost")] = None


class Usage(WireModel):
    """Tokens of model requests, summed. `inputTokens` includes the cached ones, `outputTokens` the reasoning ones."""

    input_tokens: Annotated[int, Field(alias="inputTokens", ge=0)]
    output_tokens: Annotated[int, Field(alias="outputTokens", ge=0)]
    cached_input_tokens: Annotated[
        int | None, Field(alias="cachedInputTokens", ge=0)
    ] = None
    reasoning_tokens: Annotated[int | None, Field(alias="reasoningTokens", ge=0)] = None


class WaitingGoal(WireModel):
    """A goal whose next round will be enqueued."""

    kind: Literal["goal"]
    goal_id: Annotated[str, Field(alias="goalId")]


AgentStatusName: TypeAlias = Annotated[Literal["running", "idle"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Status of the whole agent."""


CancelScopeName: TypeAlias = Annotated[Literal["turn", "session", "tree"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""How far a cancel reaches (CAN-1 to CAN-3)."""


DeliveryName: TypeAlias = Annotated[Literal["followup", "steer", "inject"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""How a message enters the conversation (IN-4 to IN-6)."""


DeltaKind: TypeAlias = Annotated[Literal["text", "reasoning", "tool_input"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""What a delta is a piece of."""


ErrorCodeName: TypeAlias = Annotated[Literal["not_initialized", "unsupported_protocol", "session_not_found", "session_exists", "has_children", "session_busy", "message_conflict", "message_not_found", "already_answered", "request_closed", "revision_conflict", "subscription_not_found", "not_parent", "not_driving", "unknown_model", "model_auth", "invalid_cursor", "fenced", "limit_exceeded", "frame_too_large", "overloaded", "storage_unavailable", "unauthorized", "shutting_down", "store_version", "internal"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""The codes of error responses; new ones may be added."""


FactErrorCode: TypeAlias = Annotated[Literal["tool_not_started", "tool_outcome_unknown", "tool_unavailable", "tool_timeout", "tool_input", "tool_failed", "tool_unknown", "tool_cancelled", "permission_denied", "recovery_exhausted", "model_auth", "model_request", "model_rate_limit", "model_overloaded", "model_network", "model_stalled", "model_stream", "model_empty", "model_context_length", "model_internal", "internal"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""The codes of errors inside facts."""


Finish: TypeAlias = Annotated[Literal["stop", "length", "tool_calls", "content_filter", "interrupted"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""How the model ended its answer, in the runtime's words (TU-5)."""


GoalPhase: TypeAlias = Annotated[Literal["active", "paused", "blocked", "complete"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Where a goal stands."""


InboxCancelReason: TypeAlias = Annotated[Literal["withdrawn", "cancelled", "goal"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Why a pending message was cancelled."""


JsonSchema: TypeAlias = dict[str, Any]
"""A JSON Schema object, passed on as it is."""


MessageId: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
"""Identifies an inbox message, unique per session (IN-3). The prefixes `goal:`, `settle:` and `call:` are reserved."""


Metadata: TypeAlias = dict[str, Any]
"""Data of the user, kept as it is and never renamed."""


PermissionDecisionName: TypeAlias = Annotated[Literal["allow", "allow_always", "deny"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""What was decided."""


PermissionMode: TypeAlias = Literal["read-only", "edit", "allow-all"]
"""What is allowed without asking (CB-5)."""


RecoveryPolicy: TypeAlias = Literal["resume", "settle"]
"""What follows a turn that a crash interrupted (RE-2)."""


Role: TypeAlias = Annotated[Literal["user", "assistant", "tool"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Who speaks in a conversation message."""


Seq: TypeAlias = Annotated[int, Field(ge=0)]
"""Position of a fact in its session: starts at 1, no gaps. 0 stands for "before the first fact"."""


SessionClosedReason: TypeAlias = Annotated[Literal["deleted", "fenced", "storage", "shutdown"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Why a subscription ended."""


SessionId: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
"""Identifies a session. 1 to 128 characters out of letters, digits, `.`, `_`, `:` and `-`; never used again after a delete."""


SubagentActivity: TypeAlias = Annotated[Literal["running", "inactive"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Residency (AG-6)."""


SubagentMode: TypeAlias = Annotated[Literal["isolated", "continuable"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Who owns the child's lifecycle."""


ToolProvider: TypeAlias = Annotated[Literal["runtime", "client", "mcp"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""Who runs a tool."""


TurnEndKind: TypeAlias = Annotated[Literal["completed", "max_tokens", "max_steps", "budget", "refused", "cancelled", "error", "interrupted"], Tag("<known>")] | Annotated[str, Tag("<other>")]
"""How a turn ended (TU-2)."""


UnixMs: TypeAlias = int
"""A moment, in integer milliseconds since the Unix epoch."""


class AgentCancelData(WireModel):
    """The data of `agent/cancel`."""

    scope: CancelScopeName
    by: str
    turn_id: Annotated[str | None, Field(alias="turnId")] = None
    reason: str | None = None


class BlockedOnPermission(WireModel):
    """A permission request without a decision."""

    kind: Literal["permission"]
    request_id: Annotated[str, Field(alias="requestId")]
    since_ms: Annotated[UnixMs, Field(alias="sinceMs")]


class BlockedOnTool(WireModel):
    """A call that a client tool has not answered."""

    kind: Literal["tool"]
    call_id: Annotated[str, Field(alias="callId")]
    since_ms: Annotated[UnixMs, Field(alias="sinceMs")]


class ClientTool(WireModel):
    """A tool that a client provides."""

    name: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
    description: str
    parameters: JsonSchema
    parallel: bool | None = None
    timeout_ms: Annotated[int | None, Field(alias="timeoutMs", ge=1)] = None


class FactError(WireModel):
    """An error recorded in a fact."""

    code: FactErrorCode
    message: str
    retryable: bool


class FromMessage(WireModel):
    """The cursor just before a message's receipt."""

    message_id: Annotated[MessageId, Field(alias="messageId")]


class Goal(WireModel):
    """A goal of a session (GO-1)."""

    goal_id: Annotated[str, Field(alias="goalId")]
    revision: int
    objective: str
    phase: GoalPhase
    reason: str | None = None
    rounds: int
    max_rounds: Annotated[int, Field(alias="maxRounds")]
    token_budget: Annotated[int | None, Field(alias="tokenBudget")] = None
    tokens_used: Annotated[int, Field(alias="tokensUsed")]


class InboxAdmittedData(WireModel):
    """The data of `inbox/admitted`."""

    message_id: Annotated[MessageId, Field(alias="messageId")]
    turn_id: Annotated[str, Field(alias="turnId")]
    step_id: Annotated[str, Field(alias="stepId")]


class InboxCancelledData(WireModel):
    """The data of `inbox/cancelled`."""

    message_id: Annotated[MessageId, Field(alias="messageId")]
    reason: InboxCancelReason


class ModelListResult(WireModel):
    """Result of `model/list`."""

    models: list[ModelInfo]


class ModelOptions(WireModel):
    """Options of each model request."""

    temperature: float | None = None
    max_output_tokens: Annotated[int | None, Field(alias="maxOutputTokens", ge=1)] = (
        None
    )
    reasoning_effort: Annotated[str | None, Field(alias="reasoningEffort")] = None
    stop: list[str] | None = None
    seed: int | None = None
    provider_options: Annotated[Metadata | None, Field(alias="providerOptions")] = None
    """Passed through to the provider."""


class OriginAgent(WireModel):
    """The parent agent."""

    kind: Literal["agent"]
    session_id: Annotated[SessionId, Field(alias="sessionId")]


class OriginSettlement(WireModel):
    """The notice that a child settled."""

    kind: Literal["settlement"]
    session_id: Annotated[SessionId, Field(alias="sessionId")]


class PermissionDecisionData(WireModel):
    """The data of `permission/decision`."""

    request_id: Annotated[str, Field(alias="requestId")]
    decision: PermissionDecisionName
    by: str
    input: Any | None = None
    feedback: str | None = None


class RpcErrorData(WireModel):
    """The `data` of an error response with code -32000; further fields are details."""

    code: ErrorCodeName
    retryable: bool


class ServerPingResult(WireModel):
    """Result of `server/ping`."""

    time: UnixMs | None = None


class SessionCancelParams(WireModel):
    """Params of `session/cancel`. Cancels the open turn, the session or its tree (CAN-1 to CAN-3)."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    scope: Literal["turn", "session", "tree"] | None = None
    turn_id: Annotated[str | None, Field(alias="turnId")] = None
    reason: str | None = None


class SessionDeleteParams(WireModel):
    """Params of `session/delete`. Deletes a session (DEL-1)."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    tree: bool | None = None


class SessionDeltaParams(WireModel):
    """A piece of text on its way; not a fact, and it may be dropped (TU-4)."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    session_id: Annotated[SessionId, Field(alias="sessionId")]
    turn_id: Annotated[str, Field(alias="turnId")]
    step_id: Annotated[str, Field(alias="stepId")]
    kind: DeltaKind
    index: int
    text: str


class SessionForkData(WireModel):
    """The data of `session/fork`."""

    from_: Annotated[SessionId, Field(alias="from")]
    at_seq: Annotated[Seq, Field(alias="atSeq")]


class SessionGetParams(WireModel):
    """Params of `session/get`. Describes a session."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]


class SessionListParams(WireModel):
    """Params of `session/list`. Lists sessions, newest first."""

    cursor: str | None = None
    limit: Annotated[int | None, Field(ge=1, le=1000)] = None
    parent_id: Annotated[SessionId | None, Field(alias="parentId")] = None
    status: Literal["running", "idle"] | None = None
    metadata: Metadata | None = None


class SessionMessagesParams(WireModel):
    """Params of `session/messages`. Reads the conversation as the model sees it."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    cursor: str | None = None
    limit: Annotated[int | None, Field(ge=1, le=1000)] = None


class SessionPromptResult(WireModel):
    """Result of `session/prompt`."""

    message_id: Annotated[MessageId, Field(alias="messageId")]


class SessionStatusParams(WireModel):
    """Params of `session/status`. Tells the whole-agent status now."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]


class SessionWithdrawParams(WireModel):
    """Params of `session/withdraw`. Cancels a pending message (IN-8)."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    message_id: Annotated[MessageId, Field(alias="messageId")]


class SubagentListEntry(WireModel):
    """One child session."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    parent_id: Annotated[SessionId, Field(alias="parentId")]
    label: str
    depth: int
    mode: SubagentMode
    activity: SubagentActivity
    created_at: Annotated[UnixMs, Field(alias="createdAt")]


class SubagentStartData(WireModel):
    """The data of `subagent/start`."""

    child_id: Annotated[SessionId, Field(alias="childId")]
    label: str
    wait: bool


class ToolCallData(WireModel):
    """The data of `tool/call`."""

    turn_id: Annotated[str, Field(alias="turnId")]
    step_id: Annotated[str, Field(alias="stepId")]
    call_id: Annotated[str, Field(alias="callId")]
    name: str
    input: Any
    provider: ToolProvider


class ToolInfo(WireModel):
    """A tool that the model may call."""

    name: str
    description: str
    parameters: JsonSchema


class ToolListParams(WireModel):
    """Params of `tool/list`. Lists the tools, of a session or of the runtime."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None


class ToolResultBlock(WireModel):
    """The answer to a tool call, as the model sees it."""

    type: Literal["tool_result"]
    call_id: Annotated[str, Field(alias="callId")]
    content: str
    images: list[ImageBlock] | None = None
    """What the tool showed, beside its words: images with `data` and `mediaType`."""
    is_error: Annotated[bool | None, Field(alias="isError")] = None


class TriggerMessage(WireModel):
    """The turn was opened by a message."""

    kind: Literal["message"]
    message_id: Annotated[MessageId, Field(alias="messageId")]


class WaitingAgent(WireModel):
    """A continuable child that is not settled."""

    kind: Literal["agent"]
    session_id: Annotated[SessionId, Field(alias="sessionId")]


class WithdrawnMessage(WireModel):
    """A pending message that a cancel withdrew."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    message_id: Annotated[MessageId, Field(alias="messageId")]


class SessionEventFrame(WireModel):
    """One fact, after it was committed (TU-3). Facts are left as they came: decode each by itself."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    session_id: Annotated[SessionId, Field(alias="sessionId")]
    event: Any


class SessionEventsPage(WireModel):
    """Result of `session/events`. Facts are left as they came: decode each by itself."""

    events: list[Any]
    next_after: Annotated[Seq, Field(alias="nextAfter")]
    more: bool


class InitializeParams(WireModel):
    """Params of `initialize`. Comes first, once (FR-3)."""

    protocol: ProtocolRange
    client: PeerInfo
    capabilities: Metadata | None = None


class InitializeResult(WireModel):
    """Result of `initialize`."""

    protocol: int
    server: PeerInfo
    capabilities: ServerCapabilities
    limits: ServerLimits


class Limits(WireModel):
    """Bounds of a session. `maxSteps` is per turn, default 200."""

    max_steps: Annotated[int | None, Field(alias="maxSteps", ge=1)] = None
    max_total_tokens: Annotated[int | None, Field(alias="maxTotalTokens", ge=1)] = None
    max_cost: Annotated[float | None, Field(alias="maxCost")] = None
    per_turn: Annotated[TurnLimits | None, Field(alias="perTurn")] = None


class PermissionPolicy(WireModel):
    """A mode with rules."""

    mode: PermissionMode
    rules: list[PermissionRule]


class PermissionRequest(WireModel):
    """A call needs a decision (CB-1)."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["permission/request"]
    data: PermissionRequestData


class StepEndData(WireModel):
    """The data of `step/end`."""

    turn_id: Annotated[str, Field(alias="turnId")]
    step_id: Annotated[str, Field(alias="stepId")]
    usage: Usage


class StepStart(WireModel):
    """A model request is about to be made."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["step/start"]
    data: StepStartData


class SubagentSettledData(WireModel):
    """The data of `subagent/settled`."""

    child_id: Annotated[SessionId, Field(alias="childId")]
    activity_id: Annotated[str, Field(alias="activityId")]
    outcome: str
    usage: Usage


class ToolStart(WireModel):
    """The tool is about to run."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["tool/start"]
    data: ToolStartData


After: TypeAlias = Annotated[Seq, Tag("<Seq>")] | Annotated[Literal["now"], Tag("<now>")] | Annotated[dict[str, Seq], Tag("<object>")]
"""Where a subscription starts: behind a `seq`, at `"now"`, or with one cursor per session."""


class GoalChangeData(WireModel):
    """The data of `goal/change`."""

    goal: Goal | None


class ModelRetryData(WireModel):
    """The data of `model/retry`."""

    step_id: Annotated[str, Field(alias="stepId")]
    attempt: int
    delay_ms: Annotated[int, Field(alias="delayMs")]
    error: FactError


class SessionEventsParams(WireModel):
    """Params of `session/events`. Reads facts."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    after: Seq | None = None
    from_: Annotated[FromMessage | None, Field(alias="from")] = None
    limit: Annotated[int | None, Field(ge=1, le=1000)] = None


class SessionSubscribeParams(WireModel):
    """Params of `session/subscribe`. Starts a cursor (SUB-1)."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    subscription_id: Annotated[
        str | None, Field(alias="subscriptionId", max_length=200, min_length=1)
    ] = None
    after: After | None = None
    from_: Annotated[FromMessage | None, Field(alias="from")] = None
    activate: bool | None = None
    deltas: bool | None = None
    tree: bool | None = None


class ToolListResult(WireModel):
    """Result of `tool/list`."""

    tools: list[ToolInfo]


class ToolResultData(WireModel):
    """The data of `tool/result`."""

    call_id: Annotated[str, Field(alias="callId")]
    content: str
    images: list[ImageBlock] | None = None
    is_error: Annotated[bool, Field(alias="isError")]
    error: FactError | None = None
    duration_ms: Annotated[int, Field(alias="durationMs", ge=0)]


class TurnEndReason(WireModel):
    """Why a turn ended."""

    kind: TurnEndKind
    error: FactError | None = None
    by: str | None = None
    limit: float | None = None
    """The limit that was reached."""


class AgentCancel(WireModel):
    """A cancel, and the turn that it names (CAN-1)."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["agent/cancel"]
    data: AgentCancelData


class ClosedError(WireModel):
    """The error that ended a subscription."""

    message: str
    data: RpcErrorData | None = None


class ContextCompactionData(WireModel):
    """The data of `context/compaction`."""

    summary: str | None = None
    through_seq: Annotated[Seq | None, Field(alias="throughSeq")] = None
    usage: Usage | None = None
    error: FactError | None = None


class InboxAdmitted(WireModel):
    """The message entered the conversation."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["inbox/admitted"]
    data: InboxAdmittedData


class InboxCancelled(WireModel):
    """The message will never enter the conversation."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["inbox/cancelled"]
    data: InboxCancelledData


class PermissionDecision(WireModel):
    """The decision about a call."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["permission/decision"]
    data: PermissionDecisionData


class SessionCancelResult(WireModel):
    """Result of `session/cancel`."""

    cancelled: bool
    withdrawn: list[WithdrawnMessage]


class SessionFork(WireModel):
    """The session starts from another one's transcript."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["session/fork"]
    data: SessionForkData


class SubagentStart(WireModel):
    """A child was spawned."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["subagent/start"]
    data: SubagentStartData


class ToolCall(WireModel):
    """The model asked for a tool."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["tool/call"]
    data: ToolCallData


class StepEnd(WireModel):
    """The step is over: its answer and every result are committed."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["step/end"]
    data: StepEndData


class SubagentSettled(WireModel):
    """A child settled; its usage since the last time (RUN-12)."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["subagent/settled"]
    data: SubagentSettledData


class UnknownBlockedOn(UnknownKind):
    """One of BlockedOn whose `kind` this version does not know: kept as it came, and written again as it is."""

    kind: ClassVar[Literal["unknown"]] = "unknown"
    original_kind: Annotated[str, Field(alias="kind")]


BlockedOn: TypeAlias = Annotated[
    Annotated[BlockedOnPermission, Tag("<permission>")]
    | Annotated[BlockedOnTool, Tag("<tool>")]
    | Annotated[UnknownBlockedOn, Tag(UNKNOWN)],
    Discriminator(by_tag("kind", frozenset({"permission", "tool"}))),
]
"""What a running agent waits for (ST-7)."""


class UnknownBlock(UnknownKind):
    """One of ContentBlock whose `type` this version does not know: kept as it came, and written again as it is."""

    type: ClassVar[Literal["unknown"]] = "unknown"
    original_type: Annotated[str, Field(alias="type")]


ContentBlock: TypeAlias = Annotated[
    Annotated[TextBlock, Tag("<text>")]
    | Annotated[ImageBlock, Tag("<image>")]
    | Annotated[FileBlock, Tag("<file>")]
    | Annotated[ToolUseBlock, Tag("<tool_use>")]
    | Annotated[ToolResultBlock, Tag("<tool_result>")]
    | Annotated[ReasoningBlock, Tag("<reasoning>")]
    | Annotated[UnknownBlock, Tag(UNKNOWN)],
    Discriminator(by_tag("type", frozenset({"text", "image", "file", "tool_use", "tool_result", "reasoning"}))),
]
"""One block of a message. Unknown types are kept as they are."""


class UnknownOrigin(UnknownKind):
    """One of Origin whose `kind` this version does not know: kept as it came, and written again as it is."""

    kind: ClassVar[Literal["unknown"]] = "unknown"
    original_kind: Annotated[str, Field(alias="kind")]


Origin: TypeAlias = Annotated[
    Annotated[OriginUser, Tag("<user>")]
    | Annotated[OriginGoal, Tag("<goal>")]
    | Annotated[OriginSettlement, Tag("<settlement>")]
    | Annotated[OriginAgent, Tag("<agent>")]
    | Annotated[UnknownOrigin, Tag(UNKNOWN)],
    Discriminator(by_tag("kind", frozenset({"user", "goal", "settlement", "agent"}))),
]
"""Where a message comes from (IN-10)."""


Permissions: TypeAlias = Annotated[PermissionMode, Tag("<PermissionMode>")] | Annotated[PermissionPolicy, Tag("<PermissionPolicy>")]
"""A mode, or a mode with rules."""


class UnknownTrigger(UnknownKind):
    """One of Trigger whose `kind` this version does not know: kept as it came, and written again as it is."""

    kind: ClassVar[Literal["unknown"]] = "unknown"
    original_kind: Annotated[str, Field(alias="kind")]


Trigger: TypeAlias = Annotated[
    Annotated[TriggerMessage, Tag("<message>")]
    | Annotated[TriggerRecovery, Tag("<recovery>")]
    | Annotated[UnknownTrigger, Tag(UNKNOWN)],
    Discriminator(by_tag("kind", frozenset({"message", "recovery"}))),
]
"""What opened a turn."""


class UnknownWaitingOn(UnknownKind):
    """One of WaitingOn whose `kind` this version does not know: kept as it came, and written again as it is."""

    kind: ClassVar[Literal["unknown"]] = "unknown"
    original_kind: Annotated[str, Field(alias="kind")]


WaitingOn: TypeAlias = Annotated[
    Annotated[WaitingAgent, Tag("<agent>")]
    | Annotated[WaitingGoal, Tag("<goal>")]
    | Annotated[UnknownWaitingOn, Tag(UNKNOWN)],
    Discriminator(by_tag("kind", frozenset({"agent", "goal"}))),
]
"""What an idle agent still waits on (ST-5)."""


class AgentStatusData(WireModel):
    """The data of `agent/status`."""

    status: AgentStatusName
    activity_id: Annotated[str, Field(alias="activityId")]
    waiting_on: Annotated[list[WaitingOn] | None, Field(alias="waitingOn")] = None


class SessionStatusNotice(WireModel):
    """Mirrors an `agent/status` fact, after it (ST-6)."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    session_id: Annotated[SessionId, Field(alias="sessionId")]
    seq: Seq
    status: AgentStatusName
    activity_id: Annotated[str, Field(alias="activityId")]
    waiting_on: Annotated[list[WaitingOn], Field(alias="waitingOn")]


class SessionStatusResult(WireModel):
    """Result of `session/status`."""

    status: AgentStatusName
    seq: Seq
    activity_id: Annotated[str | None, Field(alias="activityId")] = None
    waiting_on: Annotated[list[WaitingOn], Field(alias="waitingOn")]
    blocked_on: Annotated[list[BlockedOn], Field(alias="blockedOn")]
    pending: PendingCounts
    resident: bool


class SessionSubscribeResult(WireModel):
    """Result of `session/subscribe`."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    status: AgentStatusName
    seq: Seq
    activity_id: Annotated[str | None, Field(alias="activityId")] = None
    waiting_on: Annotated[list[WaitingOn], Field(alias="waitingOn")]


class TurnStartData(WireModel):
    """The data of `turn/start`."""

    turn_id: Annotated[str, Field(alias="turnId")]
    activity_id: Annotated[str, Field(alias="activityId")]
    trigger: Trigger


class GoalChange(WireModel):
    """The goal changed; null when cleared."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["goal/change"]
    data: GoalChangeData


class ModelRetry(WireModel):
    """A model request failed and is tried again (TU-5)."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["model/retry"]
    data: ModelRetryData


class Session(WireModel):
    """The whole description of a session."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    parent_id: Annotated[SessionId | None, Field(alias="parentId")] = None
    label: str | None = None
    depth: Annotated[int, Field(ge=0)]
    title: str | None = None
    metadata: Metadata
    cwd: str
    roots: list[str]
    model: str
    permissions: Permissions
    limits: Limits
    created_at: Annotated[UnixMs, Field(alias="createdAt")]
    updated_at: Annotated[UnixMs, Field(alias="updatedAt")]
    status: AgentStatusName
    seq: Seq
    usage: Usage


class SessionChange(WireModel):
    """What an update sets; an absent field stays."""

    title: str | None = None
    metadata: Metadata | None = None
    model: str | None = None
    model_options: Annotated[ModelOptions | None, Field(alias="modelOptions")] = None
    permissions: Permissions | None = None
    limits: Limits | None = None
    output_schema: Annotated[JsonSchema | None, Field(alias="outputSchema")] = None


class SessionClosedParams(WireModel):
    """The subscription ended (SUB-5)."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    session_id: Annotated[SessionId, Field(alias="sessionId")]
    reason: SessionClosedReason
    error: ClosedError | None = None


class SessionConfig(WireModel):
    """What a session was created with."""

    cwd: str
    """Absolute path of the working directory."""
    roots: list[str]
    """Absolute paths that file tools stay inside; the cwd is always one."""
    model: str
    """`provider/model`."""
    model_options: Annotated[ModelOptions | None, Field(alias="modelOptions")] = None
    system: str | None = None
    """Replaces the default system text."""
    instructions: str | None = None
    """Joined to the system text."""
    tools: list[str] | None = None
    """Names and patterns (`*`) of the tools that are on; default: all built in."""
    client_tools: Annotated[list[ClientTool] | None, Field(alias="clientTools")] = None
    mcp_servers: Annotated[dict[str, McpServer] | None, Field(alias="mcpServers")] = (
        None
    )
    permissions: Permissions
    env: dict[str, str] | None = None
    """Environment of the tools' processes, beside the allow-list."""
    limits: Limits
    output_schema: Annotated[JsonSchema | None, Field(alias="outputSchema")] = None
    recovery: RecoveryPolicy | None = None
    title: str | None = None
    metadata: Metadata


class SessionCreateOptions(WireModel):
    """What `session/create` takes."""

    cwd: str
    """Absolute path of the working directory; it must exist."""
    roots: list[str] | None = None
    """Absolute paths that file tools stay inside; the cwd is always one."""
    model: str | None = None
    """`provider/model`."""
    model_options: Annotated[ModelOptions | None, Field(alias="modelOptions")] = None
    system: str | None = None
    """Replaces the default system text."""
    instructions: str | None = None
    """Joined to the system text."""
    tools: list[str] | None = None
    """Names and patterns (`*`) of the tools that are on; default: all built in."""
    client_tools: Annotated[list[ClientTool] | None, Field(alias="clientTools")] = None
    mcp_servers: Annotated[dict[str, McpServer] | None, Field(alias="mcpServers")] = (
        None
    )
    permissions: Permissions | None = None
    env: dict[str, str] | None = None
    """Environment of the tools' processes, beside the allow-list."""
    limits: Limits | None = None
    output_schema: Annotated[JsonSchema | None, Field(alias="outputSchema")] = None
    recovery: RecoveryPolicy | None = None
    title: str | None = None
    metadata: Metadata | None = None
    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None


class SessionCreateParams(WireModel):
    """Params of `session/create`. Creates a session."""

    cwd: str
    """Absolute path of the working directory; it must exist."""
    roots: list[str] | None = None
    """Absolute paths that file tools stay inside; the cwd is always one."""
    model: str | None = None
    """`provider/model`."""
    model_options: Annotated[ModelOptions | None, Field(alias="modelOptions")] = None
    system: str | None = None
    """Replaces the default system text."""
    instructions: str | None = None
    """Joined to the system text."""
    tools: list[str] | None = None
    """Names and patterns (`*`) of the tools that are on; default: all built in."""
    client_tools: Annotated[list[ClientTool] | None, Field(alias="clientTools")] = None
    mcp_servers: Annotated[dict[str, McpServer] | None, Field(alias="mcpServers")] = (
        None
    )
    permissions: Permissions | None = None
    env: dict[str, str] | None = None
    """Environment of the tools' processes, beside the allow-list."""
    limits: Limits | None = None
    output_schema: Annotated[JsonSchema | None, Field(alias="outputSchema")] = None
    recovery: RecoveryPolicy | None = None
    title: str | None = None
    metadata: Metadata | None = None
    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None


class SessionUpdateParams(WireModel):
    """Params of `session/update`. Changes the configuration; absent fields stay."""

    title: str | None = None
    metadata: Metadata | None = None
    model: str | None = None
    model_options: Annotated[ModelOptions | None, Field(alias="modelOptions")] = None
    permissions: Permissions | None = None
    limits: Limits | None = None
    output_schema: Annotated[JsonSchema | None, Field(alias="outputSchema")] = None
    session_id: Annotated[SessionId, Field(alias="sessionId")]


class ToolResult(WireModel):
    """What the tool answered."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["tool/result"]
    data: ToolResultData


class TurnEndData(WireModel):
    """The data of `turn/end`."""

    turn_id: Annotated[str, Field(alias="turnId")]
    reason: TurnEndReason
    usage: Usage


class ContextCompaction(WireModel):
    """The conversation was summarised, or that failed."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["context/compaction"]
    data: ContextCompactionData


Content: TypeAlias = list[ContentBlock]
"""The blocks of a message, in order."""


ContentInput: TypeAlias = Annotated[Annotated[str, Field(min_length=1)], Tag("<string>")] | Annotated[Annotated[list[ContentBlock], Field(min_length=1)], Tag("<array>")]
"""What a caller may give as content: a string (one text block) or blocks."""


class InboxMessage(WireModel):
    """A message of the inbox."""

    id: MessageId
    delivery: DeliveryName
    origin: Origin
    content: Content
    metadata: Metadata | None = None


class Message(WireModel):
    """One message of the conversation as the model sees it."""

    role: Role
    content: Content
    message_id: Annotated[MessageId | None, Field(alias="messageId")] = None
    seq: Seq
    """The fact that the message comes from."""


class SessionPromptParams(WireModel):
    """Params of `session/prompt`. Enqueues a message; answers as soon as its receipt is durable (IN-1)."""

    session_id: Annotated[SessionId, Field(alias="sessionId")]
    content: ContentInput
    message_id: Annotated[MessageId | None, Field(alias="messageId")] = None
    delivery: Literal["followup", "steer", "inject"] | None = None
    expect: Literal["idle"] | None = None
    metadata: Metadata | None = None


class AgentStatus(WireModel):
    """The whole agent went from idle to running or back (ST-1)."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["agent/status"]
    data: AgentStatusData


class AssistantMessageData(WireModel):
    """The data of `assistant/message`."""

    turn_id: Annotated[str, Field(alias="turnId")]
    step_id: Annotated[str, Field(alias="stepId")]
    output_id: Annotated[str, Field(alias="outputId")]
    content: Content
    model: str
    finish: Finish
    usage: Usage
    interrupted: bool | None = None


class SessionCreateData(WireModel):
    """The data of `session/create`."""

    config: SessionConfig
    parent_id: Annotated[SessionId | None, Field(alias="parentId")] = None
    label: str | None = None
    depth: Annotated[int, Field(ge=0)]


class SessionCreateResult(WireModel):
    """Result of `session/create`."""

    session: Session


class SessionGetResult(WireModel):
    """Result of `session/get`."""

    session: Session


class SessionListResult(WireModel):
    """Result of `session/list`."""

    sessions: list[Session]
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None


class SessionUpdateData(WireModel):
    """The data of `session/update`."""

    change: SessionChange


class SessionUpdateResult(WireModel):
    """Result of `session/update`."""

    session: Session


class TurnStart(WireModel):
    """A turn began."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["turn/start"]
    data: TurnStartData


class TurnEnd(WireModel):
    """The turn is over."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["turn/end"]
    data: TurnEndData


class InboxReceiptData(WireModel):
    """The data of `inbox/receipt`."""

    message: InboxMessage


class SessionMessagesResult(WireModel):
    """Result of `session/messages`."""

    messages: list[Message]
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None


class AssistantMessage(WireModel):
    """What the model answered."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["assistant/message"]
    data: AssistantMessageData


class SessionCreate(WireModel):
    """The session exists."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["session/create"]
    data: SessionCreateData


class SessionUpdate(WireModel):
    """The configuration changed."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["session/update"]
    data: SessionUpdateData


class InboxReceipt(WireModel):
    """The message is durably in the inbox (IN-1)."""

    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    """The fact's session; absent where the frame around it names it."""
    seq: Seq
    time: UnixMs
    type: Literal["inbox/receipt"]
    data: InboxReceiptData


class UnknownEvent(UnknownKind):
    """One of Fact whose `type` this version does not know: kept as it came, and written again as it is."""

    type: ClassVar[Literal["unknown"]] = "unknown"
    original_type: Annotated[str, Field(alias="type")]
    session_id: Annotated[SessionId | None, Field(alias="sessionId")] = None
    seq: Seq
    time: UnixMs


Fact: TypeAlias = Annotated[
    Annotated[SessionCreate, Tag("<session/create>")]
    | Annotated[SessionUpdate, Tag("<session/update>")]
    | Annotated[SessionFork, Tag("<session/fork>")]
    | Annotated[InboxReceipt, Tag("<inbox/receipt>")]
    | Annotated[InboxAdmitted, Tag("<inbox/admitted>")]
    | Annotated[InboxCancelled, Tag("<inbox/cancelled>")]
    | Annotated[AgentStatus, Tag("<agent/status>")]
    | Annotated[AgentCancel, Tag("<agent/cancel>")]
    | Annotated[TurnStart, Tag("<turn/start>")]
    | Annotated[StepStart, Tag("<step/start>")]
    | Annotated[ModelRetry, Tag("<model/retry>")]
    | Annotated[AssistantMessage, Tag("<assistant/message>")]
    | Annotated[ToolCall, Tag("<tool/call>")]
    | Annotated[PermissionRequest, Tag("<permission/request>")]
    | Annotated[PermissionDecision, Tag("<permission/decision>")]
    | Annotated[ToolStart, Tag("<tool/start>")]
    | Annotated[ToolResult, Tag("<tool/result>")]
    | Annotated[StepEnd, Tag("<step/end>")]
    | Annotated[TurnEnd, Tag("<turn/end>")]
    | Annotated[SubagentStart, Tag("<subagent/start>")]
    | Annotated[SubagentSettled, Tag("<subagent/settled>")]
    | Annotated[GoalChange, Tag("<goal/change>")]
    | Annotated[ContextCompaction, Tag("<context/compaction>")]
    | Annotated[UnknownEvent, Tag(UNKNOWN)],
    Discriminator(by_tag("type", frozenset({"session/create", "session/update", "session/fork", "inbox/receipt", "inbox/admitted", "inbox/cancelled", "agent/status", "agent/cancel", "turn/start", "step/start", "model/retry", "assistant/message", "tool/call", "permission/request", "permission/decision", "tool/start", "tool/result", "step/end", "turn/end", "subagent/start", "subagent/settled", "goal/change", "context/compaction"}))),
]
"""One committed entry of a session's log. Unknown types are kept as they are."""


class SessionEventParams(WireModel):
    """One fact, after it was committed (TU-3)."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    session_id: Annotated[SessionId, Field(alias="sessionId")]
    event: Fact


class SessionEventsResult(WireModel):
    """Result of `session/events`."""

    events: list[Fact]
    next_after: Annotated[Seq, Field(alias="nextAfter")]
    more: bool


_FACTS: dict[str, type[Any]] = {
    "session/create": SessionCreate,
    "session/update": SessionUpdate,
    "session/fork": SessionFork,
    "inbox/receipt": InboxReceipt,
    "inbox/admitted": InboxAdmitted,
    "inbox/cancelled": InboxCancelled,
    "agent/status": AgentStatus,
    "agent/cancel": AgentCancel,
    "turn/start": TurnStart,
    "step/start": StepStart,
    "model/retry": ModelRetry,
    "assistant/message": AssistantMessage,
    "tool/call": ToolCall,
    "permission/request": PermissionRequest,
    "permission/decision": PermissionDecision,
    "tool/start": ToolStart,
    "tool/result": ToolResult,
    "step/end": StepEnd,
    "turn/end": TurnEnd,
    "subagent/start": SubagentStart,
    "subagent/settled": SubagentSettled,
    "goal/change": GoalChange,
    "context/compaction": ContextCompaction,
}


def decode_fact(value: object) -> Fact:
    """The fact; raises MalformedValueError. Builds the model of this kind alone."""
    return decode(_FACTS.get(_kind_of(value), UnknownEvent), value)


def _kind_of(value: object) -> str:
    kind = cast("dict[object, object]", value).get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""

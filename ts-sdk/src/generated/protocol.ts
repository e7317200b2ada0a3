// Generated from schema/src by `make gen`: do not edit.

/** Where a subscription starts: behind a `seq`, at `"now"`, or with one cursor per session. */
export type After = Seq | 'now' | Record<string, Seq>

/** Status of the whole agent. */
export type AgentStatusName = 'running' | 'idle' | (string & {})

/** What a running agent waits for (ST-7). */
export type BlockedOn =
  | BlockedOnPermission
  | BlockedOnTool
  | UnknownBlockedOn

/** One of BlockedOn whose `kind` this version does not know: kept as it came, and written again as it is. */
export interface UnknownBlockedOn {
  kind: 'unknown'
  originalKind: string
  raw: Record<string, unknown>
}

/** How far a cancel reaches (CAN-1 to CAN-3). */
export type CancelScopeName = 'turn' | 'session' | 'tree' | (string & {})

/** The blocks of a message, in order. */
export type Content = ContentBlock[]

/** One block of a message. Unknown types are kept as they are. */
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | FileBlock
  | ToolUseBlock
  | ToolResultBlock
  | ReasoningBlock
  | UnknownBlock

/** One of ContentBlock whose `type` this version does not know: kept as it came, and written again as it is. */
export interface UnknownBlock {
  type: 'unknown'
  originalType: string
  raw: Record<string, unknown>
}

/** What a caller may give as content: a string (one text block) or blocks. */
export type ContentInput = string | ContentBlock[]

/** How a message enters the conversation (IN-4 to IN-6). */
export type DeliveryName = 'followup' | 'steer' | 'inject' | (string & {})

/** What a delta is a piece of. */
export type DeltaKind = 'text' | 'reasoning' | 'tool_input' | (string & {})

/** The codes of error responses; new ones may be added. */
export type ErrorCodeName = 'not_initialized' | 'unsupported_protocol' | 'session_not_found' | 'session_exists' | 'has_children' | 'session_busy' | 'message_conflict' | 'message_not_found' | 'already_answered' | 'request_closed' | 'revision_conflict' | 'subscription_not_found' | 'not_parent' | 'not_driving' | 'unknown_model' | 'model_auth' | 'invalid_cursor' | 'fenced' | 'limit_exceeded' | 'frame_too_large' | 'overloaded' | 'storage_unavailable' | 'unauthorized' | 'shutting_down' | 'store_version' | 'internal' | (string & {})

/** One committed entry of a session's log. Unknown types are kept as they are. */
export type Fact =
  | SessionCreate
  | SessionUpdate
  | SessionFork
  | InboxReceipt
  | InboxAdmitted
  | InboxCancelled
  | AgentStatus
  | AgentCancel
  | TurnStart
  | StepStart
  | ModelRetry
  | AssistantMessage
  | ToolCall
  | PermissionRequest
  | PermissionDecision
  | ToolStart
  | ToolResult
  | StepEnd
  | TurnEnd
  | SubagentStart
  | SubagentSettled
  | GoalChange
  | ContextCompaction
  | UnknownEvent

/** One of Fact whose `type` this version does not know: kept as it came, and written again as it is. */
export interface UnknownEvent {
  type: 'unknown'
  originalType: string
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  raw: Record<string, unknown>
}

/** The codes of errors inside facts. */
export type FactErrorCode = 'tool_not_started' | 'tool_outcome_unknown' | 'tool_unavailable' | 'tool_timeout' | 'tool_input' | 'tool_failed' | 'tool_unknown' | 'tool_cancelled' | 'permission_denied' | 'recovery_exhausted' | 'model_auth' | 'model_request' | 'model_rate_limit' | 'model_overloaded' | 'model_network' | 'model_stalled' | 'model_stream' | 'model_empty' | 'model_context_length' | 'model_internal' | 'internal' | (string & {})

/** How the model ended its answer, in the runtime's words (TU-5). */
export type Finish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'interrupted' | (string & {})

/** Where a goal stands. */
export type GoalPhase = 'active' | 'paused' | 'blocked' | 'complete' | (string & {})

/** Why a pending message was cancelled. */
export type InboxCancelReason = 'withdrawn' | 'cancelled' | 'goal' | (string & {})

/** A JSON Schema object, passed on as it is. */
export type JsonSchema = Record<string, unknown>

/** Identifies an inbox message, unique per session (IN-3). The prefixes `goal:`, `settle:` and `call:` are reserved. */
export type MessageId = string

/** Data of the user, kept as it is and never renamed. */
export type Metadata = Record<string, unknown>

/** Where a message comes from (IN-10). */
export type Origin =
  | OriginUser
  | OriginGoal
  | OriginSettlement
  | OriginAgent
  | UnknownOrigin

/** One of Origin whose `kind` this version does not know: kept as it came, and written again as it is. */
export interface UnknownOrigin {
  kind: 'unknown'
  originalKind: string
  raw: Record<string, unknown>
}

/** What was decided. */
export type PermissionDecisionName = 'allow' | 'allow_always' | 'deny' | (string & {})

/** What is allowed without asking (CB-5). */
export type PermissionMode = 'read-only' | 'edit' | 'allow-all'

/** A mode, or a mode with rules. */
export type Permissions = PermissionMode | PermissionPolicy

/** What follows a turn that a crash interrupted (RE-2). */
export type RecoveryPolicy = 'resume' | 'settle'

/** Who speaks in a conversation message. */
export type Role = 'user' | 'assistant' | 'tool' | (string & {})

/** Position of a fact in its session: starts at 1, no gaps. 0 stands for "before the first fact". */
export type Seq = number

/** Why a subscription ended. */
export type SessionClosedReason = 'deleted' | 'fenced' | 'storage' | 'shutdown' | (string & {})

/** Identifies a session. 1 to 128 characters out of letters, digits, `.`, `_`, `:` and `-`; never used again after a delete. */
export type SessionId = string

/** Residency (AG-6). */
export type SubagentActivity = 'running' | 'inactive' | (string & {})

/** Who owns the child's lifecycle. */
export type SubagentMode = 'isolated' | 'continuable' | (string & {})

/** Who runs a tool. */
export type ToolProvider = 'runtime' | 'client' | 'mcp' | (string & {})

/** What opened a turn. */
export type Trigger =
  | TriggerMessage
  | TriggerRecovery
  | UnknownTrigger

/** One of Trigger whose `kind` this version does not know: kept as it came, and written again as it is. */
export interface UnknownTrigger {
  kind: 'unknown'
  originalKind: string
  raw: Record<string, unknown>
}

/** How a turn ended (TU-2). */
export type TurnEndKind = 'completed' | 'max_tokens' | 'max_steps' | 'budget' | 'refused' | 'cancelled' | 'error' | 'interrupted' | (string & {})

/** A moment, in integer milliseconds since the Unix epoch. */
export type UnixMs = number

/** What an idle agent still waits on (ST-5). */
export type WaitingOn =
  | WaitingAgent
  | WaitingGoal
  | UnknownWaitingOn

/** One of WaitingOn whose `kind` this version does not know: kept as it came, and written again as it is. */
export interface UnknownWaitingOn {
  kind: 'unknown'
  originalKind: string
  raw: Record<string, unknown>
}

/**
 * A cancel, and the turn that it names (CAN-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "AgentCancel".
 */
export interface AgentCancel {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'agent/cancel'
  data: AgentCancelData
}
/**
 * The data of `agent/cancel`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "AgentCancelData".
 */
export interface AgentCancelData {
  scope: CancelScopeName
  by: string
  turnId?: string
  reason?: string
}
/**
 * The whole agent went from idle to running or back (ST-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "AgentStatus".
 */
export interface AgentStatus {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'agent/status'
  data: AgentStatusData
}
/**
 * The data of `agent/status`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "AgentStatusData".
 */
export interface AgentStatusData {
  status: AgentStatusName
  activityId: string
  waitingOn?: WaitingOn[]
}
/**
 * What the model answered.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "AssistantMessage".
 */
export interface AssistantMessage {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'assistant/message'
  data: AssistantMessageData
}
/**
 * The data of `assistant/message`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "AssistantMessageData".
 */
export interface AssistantMessageData {
  turnId: string
  stepId: string
  outputId: string
  content: Content
  model: string
  finish: Finish
  usage: Usage
  interrupted?: boolean
}
/**
 * A permission request without a decision.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "BlockedOnPermission".
 */
export interface BlockedOnPermission {
  kind: 'permission'
  requestId: string
  sinceMs: UnixMs
}
/**
 * A call that a client tool has not answered.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "BlockedOnTool".
 */
export interface BlockedOnTool {
  kind: 'tool'
  callId: string
  sinceMs: UnixMs
}
/**
 * A tool that a client provides.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ClientTool".
 */
export interface ClientTool {
  name: string
  description: string
  parameters: JsonSchema
  parallel?: boolean | undefined
  timeoutMs?: number | undefined
}
/**
 * The error that ended a subscription.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ClosedError".
 */
export interface ClosedError {
  message: string
  data?: RpcErrorData
}
/**
 * The conversation was summarised, or that failed.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ContextCompaction".
 */
export interface ContextCompaction {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'context/compaction'
  data: ContextCompactionData
}
/**
 * The data of `context/compaction`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ContextCompactionData".
 */
export interface ContextCompactionData {
  summary?: string
  throughSeq?: Seq
  usage?: Usage
  error?: FactError
}
/**
 * An error recorded in a fact.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "FactError".
 */
export interface FactError {
  code: FactErrorCode
  message: string
  retryable: boolean
}
/**
 * A reference to a file under the roots, by path.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "FileBlock".
 */
export interface FileBlock {
  type: 'file'
  path: string
}
/**
 * The cursor just before a message's receipt.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "FromMessage".
 */
export interface FromMessage {
  messageId: MessageId
}
/**
 * A goal of a session (GO-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "Goal".
 */
export interface Goal {
  goalId: string
  revision: number
  objective: string
  phase: GoalPhase
  reason?: string
  rounds: number
  maxRounds: number
  tokenBudget?: number
  tokensUsed: number
}
/**
 * The goal changed; null when cleared.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "GoalChange".
 */
export interface GoalChange {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'goal/change'
  data: GoalChangeData
}
/**
 * The data of `goal/change`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "GoalChangeData".
 */
export interface GoalChangeData {
  goal: Goal | null
}
/**
 * An image: base64 `data` with its `mediaType`, or the `path` of a file under the roots.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ImageBlock".
 */
export interface ImageBlock {
  type: 'image'
  mediaType?: string | undefined
  /**
   * Base64, without a data: prefix.
   */
  data?: string | undefined
  path?: string | undefined
}
/**
 * The message entered the conversation.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxAdmitted".
 */
export interface InboxAdmitted {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'inbox/admitted'
  data: InboxAdmittedData
}
/**
 * The data of `inbox/admitted`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxAdmittedData".
 */
export interface InboxAdmittedData {
  messageId: MessageId
  turnId: string
  stepId: string
}
/**
 * The message will never enter the conversation.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxCancelled".
 */
export interface InboxCancelled {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'inbox/cancelled'
  data: InboxCancelledData
}
/**
 * The data of `inbox/cancelled`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxCancelledData".
 */
export interface InboxCancelledData {
  messageId: MessageId
  reason: InboxCancelReason
}
/**
 * A message of the inbox.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxMessage".
 */
export interface InboxMessage {
  id: MessageId
  delivery: DeliveryName
  origin: Origin
  content: Content
  metadata?: Metadata
}
/**
 * The message is durably in the inbox (IN-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxReceipt".
 */
export interface InboxReceipt {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'inbox/receipt'
  data: InboxReceiptData
}
/**
 * The data of `inbox/receipt`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InboxReceiptData".
 */
export interface InboxReceiptData {
  message: InboxMessage
}
/**
 * Params of `initialize`. Comes first, once (FR-3).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InitializeParams".
 */
export interface InitializeParams {
  protocol: ProtocolRange
  client: PeerInfo
  capabilities?: Metadata | undefined
}
/**
 * Result of `initialize`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "InitializeResult".
 */
export interface InitializeResult {
  protocol: number
  server: PeerInfo
  capabilities: ServerCapabilities
  limits: ServerLimits
}
/**
 * Bounds of a session. `maxSteps` is per turn, default 200.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "Limits".
 */
export interface Limits {
  maxSteps?: number | undefined
  maxTotalTokens?: number | undefined
  maxCost?: number | undefined
  perTurn?: TurnLimits | undefined
}
/**
 * An MCP server of the session: a `command` with `args` (stdio), or a `url`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "McpServer".
 */
export interface McpServer {
  command?: string | undefined
  args?: string[] | undefined
  env?: Record<string, string> | undefined
  url?: string | undefined
  headers?: Record<string, string> | undefined
}
/**
 * One message of the conversation as the model sees it.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "Message".
 */
export interface Message {
  role: Role
  content: Content
  messageId?: MessageId
  /**
   * The fact that the message comes from.
   */
  seq: Seq
}
/**
 * A model that can be named in `session/create`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ModelInfo".
 */
export interface ModelInfo {
  /**
   * `provider/model`.
   */
  model: string
  provider: string
  /**
   * False where something is missing, for example its key.
   */
  available: boolean
  reason?: string
  contextWindow?: number
  default?: boolean
}
/**
 * Params of `model/list`. Lists the models.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ModelListParams".
 */
export interface ModelListParams {
  provider?: string | undefined
}
/**
 * Result of `model/list`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ModelListResult".
 */
export interface ModelListResult {
  models: ModelInfo[]
}
/**
 * Options of each model request.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ModelOptions".
 */
export interface ModelOptions {
  temperature?: number | undefined
  maxOutputTokens?: number | undefined
  reasoningEffort?: string | undefined
  stop?: string[] | undefined
  seed?: number | undefined
  /**
   * Passed through to the provider.
   */
  providerOptions?: Metadata | undefined
}
/**
 * A model request failed and is tried again (TU-5).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ModelRetry".
 */
export interface ModelRetry {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'model/retry'
  data: ModelRetryData
}
/**
 * The data of `model/retry`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ModelRetryData".
 */
export interface ModelRetryData {
  stepId: string
  attempt: number
  delayMs: number
  error: FactError
}
/**
 * The parent agent.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "OriginAgent".
 */
export interface OriginAgent {
  kind: 'agent'
  sessionId: SessionId
}
/**
 * A round of a goal.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "OriginGoal".
 */
export interface OriginGoal {
  kind: 'goal'
  goalId: string
}
/**
 * The notice that a child settled.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "OriginSettlement".
 */
export interface OriginSettlement {
  kind: 'settlement'
  sessionId: SessionId
}
/**
 * A client.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "OriginUser".
 */
export interface OriginUser {
  kind: 'user'
}
/**
 * One fault of bad params (-32602): where it is and what is wrong.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ParamFault".
 */
export interface ParamFault {
  /**
   * For example `content[0].text`.
   */
  path: string
  message: string
}
/**
 * The name and version of a program.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PeerInfo".
 */
export interface PeerInfo {
  name: string
  version: string
}
/**
 * How many messages are pending, by delivery.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PendingCounts".
 */
export interface PendingCounts {
  followup: number
  steer: number
  inject: number
}
/**
 * The decision about a call.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PermissionDecision".
 */
export interface PermissionDecision {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'permission/decision'
  data: PermissionDecisionData
}
/**
 * The data of `permission/decision`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PermissionDecisionData".
 */
export interface PermissionDecisionData {
  requestId: string
  decision: PermissionDecisionName
  by: string
  input?: unknown
  feedback?: string
}
/**
 * A mode with rules.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PermissionPolicy".
 */
export interface PermissionPolicy {
  mode: PermissionMode
  rules: PermissionRule[]
}
/**
 * A call needs a decision (CB-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PermissionRequest".
 */
export interface PermissionRequest {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'permission/request'
  data: PermissionRequestData
}
/**
 * The data of `permission/request`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PermissionRequestData".
 */
export interface PermissionRequestData {
  requestId: string
  callId: string
  tool: string
  summary: string
}
/**
 * One rule; the first that matches wins, before the mode.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "PermissionRule".
 */
export interface PermissionRule {
  tool: string
  pattern?: string | undefined
  action: 'allow' | 'ask' | 'deny'
}
/**
 * The protocol versions that a client speaks, both ends included.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ProtocolRange".
 */
export interface ProtocolRange {
  min: number
  max: number
}
/**
 * Reasoning of the model; the provider's signature is kept verbatim.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ReasoningBlock".
 */
export interface ReasoningBlock {
  type: 'reasoning'
  text: string
  signature?: string | undefined
}
/**
 * The `data` of an error response with code -32000; further fields are details.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "RpcErrorData".
 */
export interface RpcErrorData {
  code: ErrorCodeName
  retryable: boolean
}
/**
 * The `error` of a JSON-RPC response. Code -32000 carries RpcErrorData; -32602 carries `{faults: ParamFault[]}`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "RpcErrorObject".
 */
export interface RpcErrorObject {
  code: number
  message: string
  data?: unknown
}
/**
 * What this server can do: the methods that it serves.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ServerCapabilities".
 */
export interface ServerCapabilities {
  methods: string[]
  deltas: boolean
}
/**
 * Limits of the server.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ServerLimits".
 */
export interface ServerLimits {
  maxFrameBytes: number
  maxInFlight: number
  maxPendingMessages: number
}
/**
 * Params of `server/ping`. Answers at once.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ServerPingParams".
 */
export interface ServerPingParams {}
/**
 * Result of `server/ping`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ServerPingResult".
 */
export interface ServerPingResult {
  time?: UnixMs
}
/**
 * The whole description of a session.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "Session".
 */
export interface Session {
  sessionId: SessionId
  parentId?: SessionId
  label?: string
  depth: number
  title?: string
  metadata: Metadata
  cwd: string
  roots: string[]
  model: string
  permissions: Permissions
  limits: Limits
  createdAt: UnixMs
  updatedAt: UnixMs
  status: AgentStatusName
  seq: Seq
  usage: Usage
}
/**
 * Params of `session/cancel`. Cancels the open turn, the session or its tree (CAN-1 to CAN-3).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCancelParams".
 */
export interface SessionCancelParams {
  sessionId: SessionId
  scope?: 'turn' | 'session' | 'tree' | undefined
  turnId?: string | undefined
  reason?: string | undefined
}
/**
 * Result of `session/cancel`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCancelResult".
 */
export interface SessionCancelResult {
  cancelled: boolean
  withdrawn: WithdrawnMessage[]
}
/**
 * What an update sets; an absent field stays.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionChange".
 */
export interface SessionChange {
  title?: string
  metadata?: Metadata
  model?: string
  modelOptions?: ModelOptions
  permissions?: Permissions
  limits?: Limits
  outputSchema?: JsonSchema
}
/**
 * The subscription ended (SUB-5).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionClosedParams".
 */
export interface SessionClosedParams {
  subscriptionId: string
  sessionId: SessionId
  reason: SessionClosedReason
  error?: ClosedError
}
/**
 * What a session was created with.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionConfig".
 */
export interface SessionConfig {
  /**
   * Absolute path of the working directory.
   */
  cwd: string
  /**
   * Absolute paths that file tools stay inside; the cwd is always one.
   */
  roots: string[]
  /**
   * `provider/model`.
   */
  model: string
  modelOptions?: ModelOptions
  /**
   * Replaces the default system text.
   */
  system?: string
  /**
   * Joined to the system text.
   */
  instructions?: string
  /**
   * Names and patterns (`*`) of the tools that are on; default: all built in.
   */
  tools?: string[]
  clientTools?: ClientTool[]
  mcpServers?: Record<string, McpServer>
  permissions: Permissions
  /**
   * Environment of the tools' processes, beside the allow-list.
   */
  env?: Record<string, string>
  limits: Limits
  outputSchema?: JsonSchema
  recovery?: RecoveryPolicy
  title?: string
  metadata: Metadata
}
/**
 * The session exists.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCreate".
 */
export interface SessionCreate {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'session/create'
  data: SessionCreateData
}
/**
 * The data of `session/create`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCreateData".
 */
export interface SessionCreateData {
  config: SessionConfig
  parentId?: SessionId
  label?: string
  depth: number
}
/**
 * What `session/create` takes.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCreateOptions".
 */
export interface SessionCreateOptions {
  /**
   * Absolute path of the working directory; it must exist.
   */
  cwd: string
  /**
   * Absolute paths that file tools stay inside; the cwd is always one.
   */
  roots?: string[]
  /**
   * `provider/model`.
   */
  model?: string
  modelOptions?: ModelOptions
  /**
   * Replaces the default system text.
   */
  system?: string
  /**
   * Joined to the system text.
   */
  instructions?: string
  /**
   * Names and patterns (`*`) of the tools that are on; default: all built in.
   */
  tools?: string[]
  clientTools?: ClientTool[]
  mcpServers?: Record<string, McpServer>
  permissions?: Permissions
  /**
   * Environment of the tools' processes, beside the allow-list.
   */
  env?: Record<string, string>
  limits?: Limits
  outputSchema?: JsonSchema
  recovery?: RecoveryPolicy
  title?: string
  metadata?: Metadata
  sessionId?: SessionId
}
/**
 * Params of `session/create`. Creates a session.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCreateParams".
 */
export interface SessionCreateParams {
  /**
   * Absolute path of the working directory; it must exist.
   */
  cwd: string
  /**
   * Absolute paths that file tools stay inside; the cwd is always one.
   */
  roots?: string[] | undefined
  /**
   * `provider/model`.
   */
  model?: string | undefined
  modelOptions?: ModelOptions | undefined
  /**
   * Replaces the default system text.
   */
  system?: string | undefined
  /**
   * Joined to the system text.
   */
  instructions?: string | undefined
  /**
   * Names and patterns (`*`) of the tools that are on; default: all built in.
   */
  tools?: string[] | undefined
  clientTools?: ClientTool[] | undefined
  mcpServers?: Record<string, McpServer> | undefined
  permissions?: Permissions | undefined
  /**
   * Environment of the tools' processes, beside the allow-list.
   */
  env?: Record<string, string> | undefined
  limits?: Limits | undefined
  outputSchema?: JsonSchema | undefined
  recovery?: RecoveryPolicy | undefined
  title?: string | undefined
  metadata?: Metadata | undefined
  sessionId?: SessionId | undefined
}
/**
 * Result of `session/create`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionCreateResult".
 */
export interface SessionCreateResult {
  session: Session
}
/**
 * Params of `session/delete`. Deletes a session (DEL-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionDeleteParams".
 */
export interface SessionDeleteParams {
  sessionId: SessionId
  tree?: boolean | undefined
}
/**
 * Result of `session/delete`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionDeleteResult".
 */
export interface SessionDeleteResult {}
/**
 * A piece of text on its way; not a fact, and it may be dropped (TU-4).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionDeltaParams".
 */
export interface SessionDeltaParams {
  subscriptionId: string
  sessionId: SessionId
  turnId: string
  stepId: string
  kind: DeltaKind
  index: number
  text: string
}
/**
 * One fact, after it was committed (TU-3). Facts are left as they came: decode each by itself.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionEventFrame".
 */
export interface SessionEventFrame {
  subscriptionId: string
  sessionId: SessionId
  event: unknown
}
/**
 * One fact, after it was committed (TU-3).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionEventParams".
 */
export interface SessionEventParams {
  subscriptionId: string
  sessionId: SessionId
  event: Fact
}
/**
 * Result of `session/events`. Facts are left as they came: decode each by itself.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionEventsPage".
 */
export interface SessionEventsPage {
  events: unknown[]
  nextAfter: Seq
  more: boolean
}
/**
 * Params of `session/events`. Reads facts.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionEventsParams".
 */
export interface SessionEventsParams {
  sessionId: SessionId
  after?: Seq | undefined
  from?: FromMessage | undefined
  limit?: number | undefined
}
/**
 * Result of `session/events`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionEventsResult".
 */
export interface SessionEventsResult {
  events: Fact[]
  nextAfter: Seq
  more: boolean
}
/**
 * The session starts from another one's transcript.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionFork".
 */
export interface SessionFork {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'session/fork'
  data: SessionForkData
}
/**
 * The data of `session/fork`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionForkData".
 */
export interface SessionForkData {
  from: SessionId
  atSeq: Seq
}
/**
 * Params of `session/get`. Describes a session.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionGetParams".
 */
export interface SessionGetParams {
  sessionId: SessionId
}
/**
 * Result of `session/get`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionGetResult".
 */
export interface SessionGetResult {
  session: Session
}
/**
 * Params of `session/list`. Lists sessions, newest first.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionListParams".
 */
export interface SessionListParams {
  cursor?: string | undefined
  limit?: number | undefined
  parentId?: SessionId | undefined
  status?: 'running' | 'idle' | undefined
  metadata?: Metadata | undefined
}
/**
 * Result of `session/list`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionListResult".
 */
export interface SessionListResult {
  sessions: Session[]
  nextCursor?: string
}
/**
 * Params of `session/messages`. Reads the conversation as the model sees it.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionMessagesParams".
 */
export interface SessionMessagesParams {
  sessionId: SessionId
  cursor?: string | undefined
  limit?: number | undefined
}
/**
 * Result of `session/messages`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionMessagesResult".
 */
export interface SessionMessagesResult {
  messages: Message[]
  nextCursor?: string
}
/**
 * Params of `session/prompt`. Enqueues a message; answers as soon as its receipt is durable (IN-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionPromptParams".
 */
export interface SessionPromptParams {
  sessionId: SessionId
  content: ContentInput
  messageId?: MessageId | undefined
  delivery?: 'followup' | 'steer' | 'inject' | undefined
  expect?: 'idle' | undefined
  metadata?: Metadata | undefined
}
/**
 * Result of `session/prompt`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionPromptResult".
 */
export interface SessionPromptResult {
  messageId: MessageId
}
/**
 * Mirrors an `agent/status` fact, after it (ST-6).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionStatusNotice".
 */
export interface SessionStatusNotice {
  subscriptionId: string
  sessionId: SessionId
  seq: Seq
  status: AgentStatusName
  activityId: string
  waitingOn: WaitingOn[]
}
/**
 * Params of `session/status`. Tells the whole-agent status now.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionStatusParams".
 */
export interface SessionStatusParams {
  sessionId: SessionId
}
/**
 * Result of `session/status`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionStatusResult".
 */
export interface SessionStatusResult {
  status: AgentStatusName
  seq: Seq
  activityId?: string
  waitingOn: WaitingOn[]
  blockedOn: BlockedOn[]
  pending: PendingCounts
  resident: boolean
}
/**
 * Params of `session/subscribe`. Starts a cursor (SUB-1).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionSubscribeParams".
 */
export interface SessionSubscribeParams {
  sessionId: SessionId
  subscriptionId?: string | undefined
  after?: After | undefined
  from?: FromMessage | undefined
  activate?: boolean | undefined
  deltas?: boolean | undefined
  tree?: boolean | undefined
}
/**
 * Result of `session/subscribe`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionSubscribeResult".
 */
export interface SessionSubscribeResult {
  subscriptionId: string
  status: AgentStatusName
  seq: Seq
  activityId?: string
  waitingOn: WaitingOn[]
}
/**
 * Params of `session/unsubscribe`. Ends a subscription.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionUnsubscribeParams".
 */
export interface SessionUnsubscribeParams {
  subscriptionId: string
}
/**
 * Result of `session/unsubscribe`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionUnsubscribeResult".
 */
export interface SessionUnsubscribeResult {}
/**
 * The configuration changed.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionUpdate".
 */
export interface SessionUpdate {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'session/update'
  data: SessionUpdateData
}
/**
 * The data of `session/update`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionUpdateData".
 */
export interface SessionUpdateData {
  change: SessionChange
}
/**
 * Params of `session/update`. Changes the configuration; absent fields stay.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionUpdateParams".
 */
export interface SessionUpdateParams {
  title?: string | undefined
  metadata?: Metadata | undefined
  model?: string | undefined
  modelOptions?: ModelOptions | undefined
  permissions?: Permissions | undefined
  limits?: Limits | undefined
  outputSchema?: JsonSchema | undefined
  sessionId: SessionId
}
/**
 * Result of `session/update`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionUpdateResult".
 */
export interface SessionUpdateResult {
  session: Session
}
/**
 * Params of `session/withdraw`. Cancels a pending message (IN-8).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionWithdrawParams".
 */
export interface SessionWithdrawParams {
  sessionId: SessionId
  messageId: MessageId
}
/**
 * Result of `session/withdraw`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SessionWithdrawResult".
 */
export interface SessionWithdrawResult {
  withdrawn: boolean
}
/**
 * Params of `shutdown`. Answers once everything is committed; then the runtime exits.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ShutdownParams".
 */
export interface ShutdownParams {}
/**
 * Result of `shutdown`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ShutdownResult".
 */
export interface ShutdownResult {}
/**
 * The step is over: its answer and every result are committed.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "StepEnd".
 */
export interface StepEnd {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'step/end'
  data: StepEndData
}
/**
 * The data of `step/end`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "StepEndData".
 */
export interface StepEndData {
  turnId: string
  stepId: string
  usage: Usage
}
/**
 * A model request is about to be made.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "StepStart".
 */
export interface StepStart {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'step/start'
  data: StepStartData
}
/**
 * The data of `step/start`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "StepStartData".
 */
export interface StepStartData {
  turnId: string
  stepId: string
  model: string
}
/**
 * One child session.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SubagentListEntry".
 */
export interface SubagentListEntry {
  sessionId: SessionId
  parentId: SessionId
  label: string
  depth: number
  mode: SubagentMode
  activity: SubagentActivity
  createdAt: UnixMs
}
/**
 * A child settled; its usage since the last time (RUN-12).
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SubagentSettled".
 */
export interface SubagentSettled {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'subagent/settled'
  data: SubagentSettledData
}
/**
 * The data of `subagent/settled`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SubagentSettledData".
 */
export interface SubagentSettledData {
  childId: SessionId
  activityId: string
  outcome: string
  usage: Usage
}
/**
 * A child was spawned.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SubagentStart".
 */
export interface SubagentStart {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'subagent/start'
  data: SubagentStartData
}
/**
 * The data of `subagent/start`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "SubagentStartData".
 */
export interface SubagentStartData {
  childId: SessionId
  label: string
  wait: boolean
}
/**
 * Plain text.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TextBlock".
 */
export interface TextBlock {
  type: 'text'
  text: string
}
/**
 * The model asked for a tool.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolCall".
 */
export interface ToolCall {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'tool/call'
  data: ToolCallData
}
/**
 * The data of `tool/call`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolCallData".
 */
export interface ToolCallData {
  turnId: string
  stepId: string
  callId: string
  name: string
  input: unknown
  provider: ToolProvider
}
/**
 * A tool that the model may call.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolInfo".
 */
export interface ToolInfo {
  name: string
  description: string
  parameters: JsonSchema
}
/**
 * Params of `tool/list`. Lists the tools, of a session or of the runtime.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolListParams".
 */
export interface ToolListParams {
  sessionId?: SessionId | undefined
}
/**
 * Result of `tool/list`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolListResult".
 */
export interface ToolListResult {
  tools: ToolInfo[]
}
/**
 * What the tool answered.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolResult".
 */
export interface ToolResult {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'tool/result'
  data: ToolResultData
}
/**
 * The answer to a tool call, as the model sees it.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolResultBlock".
 */
export interface ToolResultBlock {
  type: 'tool_result'
  callId: string
  content: string
  /**
   * What the tool showed, beside its words: images with `data` and `mediaType`.
   */
  images?: ImageBlock[] | undefined
  isError?: boolean | undefined
}
/**
 * The data of `tool/result`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolResultData".
 */
export interface ToolResultData {
  callId: string
  content: string
  images?: ImageBlock[]
  isError: boolean
  error?: FactError
  durationMs: number
}
/**
 * The tool is about to run.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolStart".
 */
export interface ToolStart {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'tool/start'
  data: ToolStartData
}
/**
 * The data of `tool/start`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolStartData".
 */
export interface ToolStartData {
  callId: string
}
/**
 * A tool call that the model asked for. `callId` is the runtime's own; the vendor's is kept beside it.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "ToolUseBlock".
 */
export interface ToolUseBlock {
  type: 'tool_use'
  callId: string
  vendorCallId?: string | undefined
  name: string
  /**
   * The input as the model wrote it; user data, never renamed.
   */
  input: unknown
}
/**
 * The turn was opened by a message.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TriggerMessage".
 */
export interface TriggerMessage {
  kind: 'message'
  messageId: MessageId
}
/**
 * The turn goes on where a crash interrupted `turnId`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TriggerRecovery".
 */
export interface TriggerRecovery {
  kind: 'recovery'
  turnId: string
}
/**
 * The turn is over.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TurnEnd".
 */
export interface TurnEnd {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'turn/end'
  data: TurnEndData
}
/**
 * The data of `turn/end`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TurnEndData".
 */
export interface TurnEndData {
  turnId: string
  reason: TurnEndReason
  usage: Usage
}
/**
 * Why a turn ended.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TurnEndReason".
 */
export interface TurnEndReason {
  kind: TurnEndKind
  error?: FactError
  by?: string
  /**
   * The limit that was reached.
   */
  limit?: number
}
/**
 * Bounds of one turn.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TurnLimits".
 */
export interface TurnLimits {
  maxSteps?: number | undefined
  maxTotalTokens?: number | undefined
  maxCost?: number | undefined
}
/**
 * A turn began.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TurnStart".
 */
export interface TurnStart {
  /**
   * The fact's session; absent where the frame around it names it.
   */
  sessionId?: SessionId
  seq: Seq
  time: UnixMs
  type: 'turn/start'
  data: TurnStartData
}
/**
 * The data of `turn/start`.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "TurnStartData".
 */
export interface TurnStartData {
  turnId: string
  activityId: string
  trigger: Trigger
}
/**
 * Tokens of model requests, summed. `inputTokens` includes the cached ones, `outputTokens` the reasoning ones.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "Usage".
 */
export interface Usage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens?: number
  reasoningTokens?: number
}
/**
 * A continuable child that is not settled.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "WaitingAgent".
 */
export interface WaitingAgent {
  kind: 'agent'
  sessionId: SessionId
}
/**
 * A goal whose next round will be enqueued.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "WaitingGoal".
 */
export interface WaitingGoal {
  kind: 'goal'
  goalId: string
}
/**
 * A pending message that a cancel withdrew.
 *
 * This interface was referenced by `Root`'s JSON-Schema
 * via the `definition` "WithdrawnMessage".
 */
export interface WithdrawnMessage {
  sessionId: SessionId
  messageId: MessageId
}

// Generated from schema/src by `make gen`: do not edit.

import { type Decoded, type WireTable, wireTypes } from '../wire.ts'
import { type MethodName, type Methods, type NotificationName, type Notifications, notificationNames } from './methods.ts'
import type {
  After,
  AgentCancel,
  AgentCancelData,
  AgentStatus,
  AgentStatusData,
  AgentStatusName,
  AssistantMessage,
  AssistantMessageData,
  BlockedOn,
  BlockedOnPermission,
  BlockedOnTool,
  CancelScopeName,
  ClientTool,
  ClosedError,
  Content,
  ContentBlock,
  ContentInput,
  ContextCompaction,
  ContextCompactionData,
  DeliveryName,
  DeltaKind,
  ErrorCodeName,
  Fact,
  FactError,
  FactErrorCode,
  FileBlock,
  Finish,
  FromMessage,
  Goal,
  GoalChange,
  GoalChangeData,
  GoalPhase,
  ImageBlock,
  InboxAdmitted,
  InboxAdmittedData,
  InboxCancelReason,
  InboxCancelled,
  InboxCancelledData,
  InboxMessage,
  InboxReceipt,
  InboxReceiptData,
  InitializeParams,
  InitializeResult,
  JsonSchema,
  Limits,
  McpServer,
  Message,
  MessageId,
  Metadata,
  ModelInfo,
  ModelListParams,
  ModelListResult,
  ModelOptions,
  ModelRetry,
  ModelRetryData,
  Origin,
  OriginAgent,
  OriginGoal,
  OriginSettlement,
  OriginUser,
  ParamFault,
  PeerInfo,
  PendingCounts,
  PermissionDecision,
  PermissionDecisionData,
  PermissionDecisionName,
  PermissionMode,
  PermissionPolicy,
  PermissionRequest,
  PermissionRequestData,
  PermissionRule,
  Permissions,
  ProtocolRange,
  ReasoningBlock,
  RecoveryPolicy,
  Role,
  RpcErrorData,
  RpcErrorObject,
  Seq,
  ServerCapabilities,
  ServerLimits,
  ServerPingParams,
  ServerPingResult,
  Session,
  SessionCancelParams,
  SessionCancelResult,
  SessionChange,
  SessionClosedParams,
  SessionClosedReason,
  SessionConfig,
  SessionCreate,
  SessionCreateData,
  SessionCreateOptions,
  SessionCreateParams,
  SessionCreateResult,
  SessionDeleteParams,
  SessionDeleteResult,
  SessionDeltaParams,
  SessionEventFrame,
  SessionEventParams,
  SessionEventsPage,
  SessionEventsParams,
  SessionEventsResult,
  SessionFork,
  SessionForkData,
  SessionGetParams,
  SessionGetResult,
  SessionId,
  SessionListParams,
  SessionListResult,
  SessionMessagesParams,
  SessionMessagesResult,
  SessionPromptParams,
  SessionPromptResult,
  SessionStatusNotice,
  SessionStatusParams,
  SessionStatusResult,
  SessionSubscribeParams,
  SessionSubscribeResult,
  SessionUnsubscribeParams,
  SessionUnsubscribeResult,
  SessionUpdate,
  SessionUpdateData,
  SessionUpdateParams,
  SessionUpdateResult,
  SessionWithdrawParams,
  SessionWithdrawResult,
  ShutdownParams,
  ShutdownResult,
  StepEnd,
  StepEndData,
  StepStart,
  StepStartData,
  SubagentActivity,
  SubagentListEntry,
  SubagentMode,
  SubagentSettled,
  SubagentSettledData,
  SubagentStart,
  SubagentStartData,
  TextBlock,
  ToolCall,
  ToolCallData,
  ToolInfo,
  ToolListParams,
  ToolListResult,
  ToolProvider,
  ToolResult,
  ToolResultBlock,
  ToolResultData,
  ToolStart,
  ToolStartData,
  ToolUseBlock,
  Trigger,
  TriggerMessage,
  TriggerRecovery,
  TurnEnd,
  TurnEndData,
  TurnEndKind,
  TurnEndReason,
  TurnLimits,
  TurnStart,
  TurnStartData,
  UnixMs,
  Usage,
  WaitingAgent,
  WaitingGoal,
  WaitingOn,
  WithdrawnMessage,
} from './protocol.ts'

/** Every type on the wire, by its name in the schema. */
export interface WireTypes {
  After: After
  AgentCancel: AgentCancel
  AgentCancelData: AgentCancelData
  AgentStatus: AgentStatus
  AgentStatusData: AgentStatusData
  AgentStatusName: AgentStatusName
  AssistantMessage: AssistantMessage
  AssistantMessageData: AssistantMessageData
  BlockedOn: BlockedOn
  BlockedOnPermission: BlockedOnPermission
  BlockedOnTool: BlockedOnTool
  CancelScopeName: CancelScopeName
  ClientTool: ClientTool
  ClosedError: ClosedError
  Content: Content
  ContentBlock: ContentBlock
  ContentInput: ContentInput
  ContextCompaction: ContextCompaction
  ContextCompactionData: ContextCompactionData
  DeliveryName: DeliveryName
  DeltaKind: DeltaKind
  ErrorCodeName: ErrorCodeName
  Fact: Fact
  FactError: FactError
  FactErrorCode: FactErrorCode
  FileBlock: FileBlock
  Finish: Finish
  FromMessage: FromMessage
  Goal: Goal
  GoalChange: GoalChange
  GoalChangeData: GoalChangeData
  GoalPhase: GoalPhase
  ImageBlock: ImageBlock
  InboxAdmitted: InboxAdmitted
  InboxAdmittedData: InboxAdmittedData
  InboxCancelReason: InboxCancelReason
  InboxCancelled: InboxCancelled
  InboxCancelledData: InboxCancelledData
  InboxMessage: InboxMessage
  InboxReceipt: InboxReceipt
  InboxReceiptData: InboxReceiptData
  InitializeParams: InitializeParams
  InitializeResult: InitializeResult
  JsonSchema: JsonSchema
  Limits: Limits
  McpServer: McpServer
  Message: Message
  MessageId: MessageId
  Metadata: Metadata
  ModelInfo: ModelInfo
  ModelListParams: ModelListParams
  ModelListResult: ModelListResult
  ModelOptions: ModelOptions
  ModelRetry: ModelRetry
  ModelRetryData: ModelRetryData
  Origin: Origin
  OriginAgent: OriginAgent
  OriginGoal: OriginGoal
  OriginSettlement: OriginSettlement
  OriginUser: OriginUser
  ParamFault: ParamFault
  PeerInfo: PeerInfo
  PendingCounts: PendingCounts
  PermissionDecision: PermissionDecision
  PermissionDecisionData: PermissionDecisionData
  PermissionDecisionName: PermissionDecisionName
  PermissionMode: PermissionMode
  PermissionPolicy: PermissionPolicy
  PermissionRequest: PermissionRequest
  PermissionRequestData: PermissionRequestData
  PermissionRule: PermissionRule
  Permissions: Permissions
  ProtocolRange: ProtocolRange
  ReasoningBlock: ReasoningBlock
  RecoveryPolicy: RecoveryPolicy
  Role: Role
  RpcErrorData: RpcErrorData
  RpcErrorObject: RpcErrorObject
  Seq: Seq
  ServerCapabilities: ServerCapabilities
  ServerLimits: ServerLimits
  ServerPingParams: ServerPingParams
  ServerPingResult: ServerPingResult
  Session: Session
  SessionCancelParams: SessionCancelParams
  SessionCancelResult: SessionCancelResult
  SessionChange: SessionChange
  SessionClosedParams: SessionClosedParams
  SessionClosedReason: SessionClosedReason
  SessionConfig: SessionConfig
  SessionCreate: SessionCreate
  SessionCreateData: SessionCreateData
  SessionCreateOptions: SessionCreateOptions
  SessionCreateParams: SessionCreateParams
  SessionCreateResult: SessionCreateResult
  SessionDeleteParams: SessionDeleteParams
  SessionDeleteResult: SessionDeleteResult
  SessionDeltaParams: SessionDeltaParams
  SessionEventFrame: SessionEventFrame
  SessionEventParams: SessionEventParams
  SessionEventsPage: SessionEventsPage
  SessionEventsParams: SessionEventsParams
  SessionEventsResult: SessionEventsResult
  SessionFork: SessionFork
  SessionForkData: SessionForkData
  SessionGetParams: SessionGetParams
  SessionGetResult: SessionGetResult
  SessionId: SessionId
  SessionListParams: SessionListParams
  SessionListResult: SessionListResult
  SessionMessagesParams: SessionMessagesParams
  SessionMessagesResult: SessionMessagesResult
  SessionPromptParams: SessionPromptParams
  SessionPromptResult: SessionPromptResult
  SessionStatusNotice: SessionStatusNotice
  SessionStatusParams: SessionStatusParams
  SessionStatusResult: SessionStatusResult
  SessionSubscribeParams: SessionSubscribeParams
  SessionSubscribeResult: SessionSubscribeResult
  SessionUnsubscribeParams: SessionUnsubscribeParams
  SessionUnsubscribeResult: SessionUnsubscribeResult
  SessionUpdate: SessionUpdate
  SessionUpdateData: SessionUpdateData
  SessionUpdateParams: SessionUpdateParams
  SessionUpdateResult: SessionUpdateResult
  SessionWithdrawParams: SessionWithdrawParams
  SessionWithdrawResult: SessionWithdrawResult
  ShutdownParams: ShutdownParams
  ShutdownResult: ShutdownResult
  StepEnd: StepEnd
  StepEndData: StepEndData
  StepStart: StepStart
  StepStartData: StepStartData
  SubagentActivity: SubagentActivity
  SubagentListEntry: SubagentListEntry
  SubagentMode: SubagentMode
  SubagentSettled: SubagentSettled
  SubagentSettledData: SubagentSettledData
  SubagentStart: SubagentStart
  SubagentStartData: SubagentStartData
  TextBlock: TextBlock
  ToolCall: ToolCall
  ToolCallData: ToolCallData
  ToolInfo: ToolInfo
  ToolListParams: ToolListParams
  ToolListResult: ToolListResult
  ToolProvider: ToolProvider
  ToolResult: ToolResult
  ToolResultBlock: ToolResultBlock
  ToolResultData: ToolResultData
  ToolStart: ToolStart
  ToolStartData: ToolStartData
  ToolUseBlock: ToolUseBlock
  Trigger: Trigger
  TriggerMessage: TriggerMessage
  TriggerRecovery: TriggerRecovery
  TurnEnd: TurnEnd
  TurnEndData: TurnEndData
  TurnEndKind: TurnEndKind
  TurnEndReason: TurnEndReason
  TurnLimits: TurnLimits
  TurnStart: TurnStart
  TurnStartData: TurnStartData
  UnixMs: UnixMs
  Usage: Usage
  WaitingAgent: WaitingAgent
  WaitingGoal: WaitingGoal
  WaitingOn: WaitingOn
  WithdrawnMessage: WithdrawnMessage
}

const table: WireTable<keyof WireTypes> = {
  After: { is: 'either', of: ['Seq', { is: 'one', of: ['now'] }, { is: 'map', of: 'Seq' }] },
  AgentCancel: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['agent/cancel'] }, data: 'AgentCancelData' }, may: { sessionId: 'SessionId' } },
  AgentCancelData: { is: 'object', must: { scope: 'CancelScopeName', by: { is: 'string' } }, may: { turnId: { is: 'string' }, reason: { is: 'string' } } },
  AgentStatus: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['agent/status'] }, data: 'AgentStatusData' }, may: { sessionId: 'SessionId' } },
  AgentStatusData: { is: 'object', must: { status: 'AgentStatusName', activityId: { is: 'string' } }, may: { waitingOn: { is: 'list', of: 'WaitingOn' } } },
  AgentStatusName: { is: 'string' },
  AssistantMessage: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['assistant/message'] }, data: 'AssistantMessageData' }, may: { sessionId: 'SessionId' } },
  AssistantMessageData: { is: 'object', must: { turnId: { is: 'string' }, stepId: { is: 'string' }, outputId: { is: 'string' }, content: 'Content', model: { is: 'string' }, finish: 'Finish', usage: 'Usage' }, may: { interrupted: { is: 'boolean' } } },
  BlockedOn: { is: 'open', tag: 'kind', kinds: { permission: 'BlockedOnPermission', tool: 'BlockedOnTool' }, shared: { must: {}, may: {} } },
  BlockedOnPermission: { is: 'object', must: { kind: { is: 'one', of: ['permission'] }, requestId: { is: 'string' }, sinceMs: 'UnixMs' }, may: {} },
  BlockedOnTool: { is: 'object', must: { kind: { is: 'one', of: ['tool'] }, callId: { is: 'string' }, sinceMs: 'UnixMs' }, may: {} },
  CancelScopeName: { is: 'string' },
  ClientTool: { is: 'object', must: { name: { is: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }, description: { is: 'string' }, parameters: 'JsonSchema' }, may: { parallel: { is: 'boolean' }, timeoutMs: { is: 'integer', min: 1 } } },
  ClosedError: { is: 'object', must: { message: { is: 'string' } }, may: { data: 'RpcErrorData' } },
  Content: { is: 'list', of: 'ContentBlock' },
  ContentBlock: { is: 'open', tag: 'type', kinds: { text: 'TextBlock', image: 'ImageBlock', file: 'FileBlock', tool_use: 'ToolUseBlock', tool_result: 'ToolResultBlock', reasoning: 'ReasoningBlock' }, shared: { must: {}, may: {} } },
  ContentInput: { is: 'either', of: [{ is: 'string', min: 1 }, { is: 'list', of: 'ContentBlock', min: 1 }] },
  ContextCompaction: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['context/compaction'] }, data: 'ContextCompactionData' }, may: { sessionId: 'SessionId' } },
  ContextCompactionData: { is: 'object', must: {}, may: { summary: { is: 'string' }, throughSeq: 'Seq', usage: 'Usage', error: 'FactError' } },
  DeliveryName: { is: 'string' },
  DeltaKind: { is: 'string' },
  ErrorCodeName: { is: 'string' },
  Fact: { is: 'open', tag: 'type', kinds: { 'session/create': 'SessionCreate', 'session/update': 'SessionUpdate', 'session/fork': 'SessionFork', 'inbox/receipt': 'InboxReceipt', 'inbox/admitted': 'InboxAdmitted', 'inbox/cancelled': 'InboxCancelled', 'agent/status': 'AgentStatus', 'agent/cancel': 'AgentCancel', 'turn/start': 'TurnStart', 'step/start': 'StepStart', 'model/retry': 'ModelRetry', 'assistant/message': 'AssistantMessage', 'tool/call': 'ToolCall', 'permission/request': 'PermissionRequest', 'permission/decision': 'PermissionDecision', 'tool/start': 'ToolStart', 'tool/result': 'ToolResult', 'step/end': 'StepEnd', 'turn/end': 'TurnEnd', 'subagent/start': 'SubagentStart', 'subagent/settled': 'SubagentSettled', 'goal/change': 'GoalChange', 'context/compaction': 'ContextCompaction' }, shared: { must: { seq: 'Seq', time: 'UnixMs' }, may: { sessionId: 'SessionId' } } },
  FactError: { is: 'object', must: { code: 'FactErrorCode', message: { is: 'string' }, retryable: { is: 'boolean' } }, may: {} },
  FactErrorCode: { is: 'string' },
  FileBlock: { is: 'object', must: { type: { is: 'one', of: ['file'] }, path: { is: 'string' } }, may: {} },
  Finish: { is: 'string' },
  FromMessage: { is: 'object', must: { messageId: 'MessageId' }, may: {} },
  Goal: { is: 'object', must: { goalId: { is: 'string' }, revision: { is: 'integer' }, objective: { is: 'string' }, phase: 'GoalPhase', rounds: { is: 'integer' }, maxRounds: { is: 'integer' }, tokensUsed: { is: 'integer' } }, may: { reason: { is: 'string' }, tokenBudget: { is: 'integer' } } },
  GoalChange: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['goal/change'] }, data: 'GoalChangeData' }, may: { sessionId: 'SessionId' } },
  GoalChangeData: { is: 'object', must: { goal: { is: 'either', of: ['Goal', { is: 'null' }] } }, may: {} },
  GoalPhase: { is: 'string' },
  ImageBlock: { is: 'object', must: { type: { is: 'one', of: ['image'] } }, may: { mediaType: { is: 'string' }, data: { is: 'string' }, path: { is: 'string' } } },
  InboxAdmitted: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['inbox/admitted'] }, data: 'InboxAdmittedData' }, may: { sessionId: 'SessionId' } },
  InboxAdmittedData: { is: 'object', must: { messageId: 'MessageId', turnId: { is: 'string' }, stepId: { is: 'string' } }, may: {} },
  InboxCancelReason: { is: 'string' },
  InboxCancelled: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['inbox/cancelled'] }, data: 'InboxCancelledData' }, may: { sessionId: 'SessionId' } },
  InboxCancelledData: { is: 'object', must: { messageId: 'MessageId', reason: 'InboxCancelReason' }, may: {} },
  InboxMessage: { is: 'object', must: { id: 'MessageId', delivery: 'DeliveryName', origin: 'Origin', content: 'Content' }, may: { metadata: 'Metadata' } },
  InboxReceipt: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['inbox/receipt'] }, data: 'InboxReceiptData' }, may: { sessionId: 'SessionId' } },
  InboxReceiptData: { is: 'object', must: { message: 'InboxMessage' }, may: {} },
  InitializeParams: { is: 'object', must: { protocol: 'ProtocolRange', client: 'PeerInfo' }, may: { capabilities: 'Metadata' } },
  InitializeResult: { is: 'object', must: { protocol: { is: 'integer' }, server: 'PeerInfo', capabilities: 'ServerCapabilities', limits: 'ServerLimits' }, may: {} },
  JsonSchema: { is: 'map', of: { is: 'any' } },
  Limits: { is: 'object', must: {}, may: { maxSteps: { is: 'integer', min: 1 }, maxTotalTokens: { is: 'integer', min: 1 }, maxCost: { is: 'number' }, perTurn: 'TurnLimits' } },
  McpServer: { is: 'object', must: {}, may: { command: { is: 'string' }, args: { is: 'list', of: { is: 'string' } }, env: { is: 'map', of: { is: 'string' } }, url: { is: 'string' }, headers: { is: 'map', of: { is: 'string' } } } },
  Message: { is: 'object', must: { role: 'Role', content: 'Content', seq: 'Seq' }, may: { messageId: 'MessageId' } },
  MessageId: { is: 'string', min: 1, max: 200 },
  Metadata: { is: 'map', of: { is: 'any' } },
  ModelInfo: { is: 'object', must: { model: { is: 'string' }, provider: { is: 'string' }, available: { is: 'boolean' } }, may: { reason: { is: 'string' }, contextWindow: { is: 'integer' }, default: { is: 'boolean' } } },
  ModelListParams: { is: 'object', must: {}, may: { provider: { is: 'string' } } },
  ModelListResult: { is: 'object', must: { models: { is: 'list', of: 'ModelInfo' } }, may: {} },
  ModelOptions: { is: 'object', must: {}, may: { temperature: { is: 'number' }, maxOutputTokens: { is: 'integer', min: 1 }, reasoningEffort: { is: 'string' }, stop: { is: 'list', of: { is: 'string' } }, seed: { is: 'integer' }, providerOptions: 'Metadata' } },
  ModelRetry: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['model/retry'] }, data: 'ModelRetryData' }, may: { sessionId: 'SessionId' } },
  ModelRetryData: { is: 'object', must: { stepId: { is: 'string' }, attempt: { is: 'integer' }, delayMs: { is: 'integer' }, error: 'FactError' }, may: {} },
  Origin: { is: 'open', tag: 'kind', kinds: { user: 'OriginUser', goal: 'OriginGoal', settlement: 'OriginSettlement', agent: 'OriginAgent' }, shared: { must: {}, may: {} } },
  OriginAgent: { is: 'object', must: { kind: { is: 'one', of: ['agent'] }, sessionId: 'SessionId' }, may: {} },
  OriginGoal: { is: 'object', must: { kind: { is: 'one', of: ['goal'] }, goalId: { is: 'string' } }, may: {} },
  OriginSettlement: { is: 'object', must: { kind: { is: 'one', of: ['settlement'] }, sessionId: 'SessionId' }, may: {} },
  OriginUser: { is: 'object', must: { kind: { is: 'one', of: ['user'] } }, may: {} },
  ParamFault: { is: 'object', must: { path: { is: 'string' }, message: { is: 'string' } }, may: {} },
  PeerInfo: { is: 'object', must: { name: { is: 'string' }, version: { is: 'string' } }, may: {} },
  PendingCounts: { is: 'object', must: { followup: { is: 'integer' }, steer: { is: 'integer' }, inject: { is: 'integer' } }, may: {} },
  PermissionDecision: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['permission/decision'] }, data: 'PermissionDecisionData' }, may: { sessionId: 'SessionId' } },
  PermissionDecisionData: { is: 'object', must: { requestId: { is: 'string' }, decision: 'PermissionDecisionName', by: { is: 'string' } }, may: { input: { is: 'any' }, feedback: { is: 'string' } } },
  PermissionDecisionName: { is: 'string' },
  PermissionMode: { is: 'one', of: ['read-only', 'edit', 'allow-all'] },
  PermissionPolicy: { is: 'object', must: { mode: 'PermissionMode', rules: { is: 'list', of: 'PermissionRule' } }, may: {} },
  PermissionRequest: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['permission/request'] }, data: 'PermissionRequestData' }, may: { sessionId: 'SessionId' } },
  PermissionRequestData: { is: 'object', must: { requestId: { is: 'string' }, callId: { is: 'string' }, tool: { is: 'string' }, summary: { is: 'string' } }, may: {} },
  PermissionRule: { is: 'object', must: { tool: { is: 'string' }, action: { is: 'one', of: ['allow', 'ask', 'deny'] } }, may: { pattern: { is: 'string' } } },
  Permissions: { is: 'either', of: ['PermissionMode', 'PermissionPolicy'] },
  ProtocolRange: { is: 'object', must: { min: { is: 'integer' }, max: { is: 'integer' } }, may: {} },
  ReasoningBlock: { is: 'object', must: { type: { is: 'one', of: ['reasoning'] }, text: { is: 'string' } }, may: { signature: { is: 'string' } } },
  RecoveryPolicy: { is: 'one', of: ['resume', 'settle'] },
  Role: { is: 'string' },
  RpcErrorData: { is: 'object', must: { code: 'ErrorCodeName', retryable: { is: 'boolean' } }, may: {} },
  RpcErrorObject: { is: 'object', must: { code: { is: 'integer' }, message: { is: 'string' } }, may: { data: { is: 'any' } } },
  Seq: { is: 'integer', min: 0 },
  ServerCapabilities: { is: 'object', must: { methods: { is: 'list', of: { is: 'string' } }, deltas: { is: 'boolean' } }, may: {} },
  ServerLimits: { is: 'object', must: { maxFrameBytes: { is: 'integer' }, maxInFlight: { is: 'integer' }, maxPendingMessages: { is: 'integer' } }, may: {} },
  ServerPingParams: { is: 'object', must: {}, may: {} },
  ServerPingResult: { is: 'object', must: {}, may: { time: 'UnixMs' } },
  Session: { is: 'object', must: { sessionId: 'SessionId', depth: { is: 'integer', min: 0 }, metadata: 'Metadata', cwd: { is: 'string' }, roots: { is: 'list', of: { is: 'string' } }, model: { is: 'string' }, permissions: 'Permissions', limits: 'Limits', createdAt: 'UnixMs', updatedAt: 'UnixMs', status: 'AgentStatusName', seq: 'Seq', usage: 'Usage' }, may: { parentId: 'SessionId', label: { is: 'string' }, title: { is: 'string' } } },
  SessionCancelParams: { is: 'object', must: { sessionId: 'SessionId' }, may: { scope: { is: 'one', of: ['turn', 'session', 'tree'] }, turnId: { is: 'string' }, reason: { is: 'string' } } },
  SessionCancelResult: { is: 'object', must: { cancelled: { is: 'boolean' }, withdrawn: { is: 'list', of: 'WithdrawnMessage' } }, may: {} },
  SessionChange: { is: 'object', must: {}, may: { title: { is: 'string' }, metadata: 'Metadata', model: { is: 'string' }, modelOptions: 'ModelOptions', permissions: 'Permissions', limits: 'Limits', outputSchema: 'JsonSchema' } },
  SessionClosedParams: { is: 'object', must: { subscriptionId: { is: 'string' }, sessionId: 'SessionId', reason: 'SessionClosedReason' }, may: { error: 'ClosedError' } },
  SessionClosedReason: { is: 'string' },
  SessionConfig: { is: 'object', must: { cwd: { is: 'string' }, roots: { is: 'list', of: { is: 'string' } }, model: { is: 'string' }, permissions: 'Permissions', limits: 'Limits', metadata: 'Metadata' }, may: { modelOptions: 'ModelOptions', system: { is: 'string' }, instructions: { is: 'string' }, tools: { is: 'list', of: { is: 'string' } }, clientTools: { is: 'list', of: 'ClientTool' }, mcpServers: { is: 'map', of: 'McpServer' }, env: { is: 'map', of: { is: 'string' } }, outputSchema: 'JsonSchema', recovery: 'RecoveryPolicy', title: { is: 'string' } } },
  SessionCreate: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['session/create'] }, data: 'SessionCreateData' }, may: { sessionId: 'SessionId' } },
  SessionCreateData: { is: 'object', must: { config: 'SessionConfig', depth: { is: 'integer', min: 0 } }, may: { parentId: 'SessionId', label: { is: 'string' } } },
  SessionCreateOptions: { is: 'object', must: { cwd: { is: 'string' } }, may: { roots: { is: 'list', of: { is: 'string' } }, model: { is: 'string' }, modelOptions: 'ModelOptions', system: { is: 'string' }, instructions: { is: 'string' }, tools: { is: 'list', of: { is: 'string' } }, clientTools: { is: 'list', of: 'ClientTool' }, mcpServers: { is: 'map', of: 'McpServer' }, permissions: 'Permissions', env: { is: 'map', of: { is: 'string' } }, limits: 'Limits', outputSchema: 'JsonSchema', recovery: 'RecoveryPolicy', title: { is: 'string' }, metadata: 'Metadata', sessionId: 'SessionId' } },
  SessionCreateParams: { is: 'object', must: { cwd: { is: 'string' } }, may: { roots: { is: 'list', of: { is: 'string' } }, model: { is: 'string' }, modelOptions: 'ModelOptions', system: { is: 'string' }, instructions: { is: 'string' }, tools: { is: 'list', of: { is: 'string' } }, clientTools: { is: 'list', of: 'ClientTool' }, mcpServers: { is: 'map', of: 'McpServer' }, permissions: 'Permissions', env: { is: 'map', of: { is: 'string' } }, limits: 'Limits', outputSchema: 'JsonSchema', recovery: 'RecoveryPolicy', title: { is: 'string' }, metadata: 'Metadata', sessionId: 'SessionId' } },
  SessionCreateResult: { is: 'object', must: { session: 'Session' }, may: {} },
  SessionDeleteParams: { is: 'object', must: { sessionId: 'SessionId' }, may: { tree: { is: 'boolean' } } },
  SessionDeleteResult: { is: 'object', must: {}, may: {} },
  SessionDeltaParams: { is: 'object', must: { subscriptionId: { is: 'string' }, sessionId: 'SessionId', turnId: { is: 'string' }, stepId: { is: 'string' }, kind: 'DeltaKind', index: { is: 'integer' }, text: { is: 'string' } }, may: {} },
  SessionEventFrame: { is: 'object', must: { subscriptionId: { is: 'string' }, sessionId: 'SessionId', event: { is: 'any' } }, may: {} },
  SessionEventParams: { is: 'object', must: { subscriptionId: { is: 'string' }, sessionId: 'SessionId', event: 'Fact' }, may: {} },
  SessionEventsPage: { is: 'object', must: { events: { is: 'list', of: { is: 'any' } }, nextAfter: 'Seq', more: { is: 'boolean' } }, may: {} },
  SessionEventsParams: { is: 'object', must: { sessionId: 'SessionId' }, may: { after: 'Seq', from: 'FromMessage', limit: { is: 'integer', min: 1, max: 1000 } } },
  SessionEventsResult: { is: 'object', must: { events: { is: 'list', of: 'Fact' }, nextAfter: 'Seq', more: { is: 'boolean' } }, may: {} },
  SessionFork: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['session/fork'] }, data: 'SessionForkData' }, may: { sessionId: 'SessionId' } },
  SessionForkData: { is: 'object', must: { from: 'SessionId', atSeq: 'Seq' }, may: {} },
  SessionGetParams: { is: 'object', must: { sessionId: 'SessionId' }, may: {} },
  SessionGetResult: { is: 'object', must: { session: 'Session' }, may: {} },
  SessionId: { is: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
  SessionListParams: { is: 'object', must: {}, may: { cursor: { is: 'string' }, limit: { is: 'integer', min: 1, max: 1000 }, parentId: 'SessionId', status: { is: 'one', of: ['running', 'idle'] }, metadata: 'Metadata' } },
  SessionListResult: { is: 'object', must: { sessions: { is: 'list', of: 'Session' } }, may: { nextCursor: { is: 'string' } } },
  SessionMessagesParams: { is: 'object', must: { sessionId: 'SessionId' }, may: { cursor: { is: 'string' }, limit: { is: 'integer', min: 1, max: 1000 } } },
  SessionMessagesResult: { is: 'object', must: { messages: { is: 'list', of: 'Message' } }, may: { nextCursor: { is: 'string' } } },
  SessionPromptParams: { is: 'object', must: { sessionId: 'SessionId', content: 'ContentInput' }, may: { messageId: 'MessageId', delivery: { is: 'one', of: ['followup', 'steer', 'inject'] }, expect: { is: 'one', of: ['idle'] }, metadata: 'Metadata' } },
  SessionPromptResult: { is: 'object', must: { messageId: 'MessageId' }, may: {} },
  SessionStatusNotice: { is: 'object', must: { subscriptionId: { is: 'string' }, sessionId: 'SessionId', seq: 'Seq', status: 'AgentStatusName', activityId: { is: 'string' }, waitingOn: { is: 'list', of: 'WaitingOn' } }, may: {} },
  SessionStatusParams: { is: 'object', must: { sessionId: 'SessionId' }, may: {} },
  SessionStatusResult: { is: 'object', must: { status: 'AgentStatusName', seq: 'Seq', waitingOn: { is: 'list', of: 'WaitingOn' }, blockedOn: { is: 'list', of: 'BlockedOn' }, pending: 'PendingCounts', resident: { is: 'boolean' } }, may: { activityId: { is: 'string' } } },
  SessionSubscribeParams: { is: 'object', must: { sessionId: 'SessionId' }, may: { subscriptionId: { is: 'string', min: 1, max: 200 }, after: 'After', from: 'FromMessage', activate: { is: 'boolean' }, deltas: { is: 'boolean' }, tree: { is: 'boolean' } } },
  SessionSubscribeResult: { is: 'object', must: { subscriptionId: { is: 'string' }, status: 'AgentStatusName', seq: 'Seq', waitingOn: { is: 'list', of: 'WaitingOn' } }, may: { activityId: { is: 'string' } } },
  SessionUnsubscribeParams: { is: 'object', must: { subscriptionId: { is: 'string' } }, may: {} },
  SessionUnsubscribeResult: { is: 'object', must: {}, may: {} },
  SessionUpdate: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['session/update'] }, data: 'SessionUpdateData' }, may: { sessionId: 'SessionId' } },
  SessionUpdateData: { is: 'object', must: { change: 'SessionChange' }, may: {} },
  SessionUpdateParams: { is: 'object', must: { sessionId: 'SessionId' }, may: { title: { is: 'string' }, metadata: 'Metadata', model: { is: 'string' }, modelOptions: 'ModelOptions', permissions: 'Permissions', limits: 'Limits', outputSchema: 'JsonSchema' } },
  SessionUpdateResult: { is: 'object', must: { session: 'Session' }, may: {} },
  SessionWithdrawParams: { is: 'object', must: { sessionId: 'SessionId', messageId: 'MessageId' }, may: {} },
  SessionWithdrawResult: { is: 'object', must: { withdrawn: { is: 'boolean' } }, may: {} },
  ShutdownParams: { is: 'object', must: {}, may: {} },
  ShutdownResult: { is: 'object', must: {}, may: {} },
  StepEnd: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['step/end'] }, data: 'StepEndData' }, may: { sessionId: 'SessionId' } },
  StepEndData: { is: 'object', must: { turnId: { is: 'string' }, stepId: { is: 'string' }, usage: 'Usage' }, may: {} },
  StepStart: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['step/start'] }, data: 'StepStartData' }, may: { sessionId: 'SessionId' } },
  StepStartData: { is: 'object', must: { turnId: { is: 'string' }, stepId: { is: 'string' }, model: { is: 'string' } }, may: {} },
  SubagentActivity: { is: 'string' },
  SubagentListEntry: { is: 'object', must: { sessionId: 'SessionId', parentId: 'SessionId', label: { is: 'string' }, depth: { is: 'integer' }, mode: 'SubagentMode', activity: 'SubagentActivity', createdAt: 'UnixMs' }, may: {} },
  SubagentMode: { is: 'string' },
  SubagentSettled: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['subagent/settled'] }, data: 'SubagentSettledData' }, may: { sessionId: 'SessionId' } },
  SubagentSettledData: { is: 'object', must: { childId: 'SessionId', activityId: { is: 'string' }, outcome: { is: 'string' }, usage: 'Usage' }, may: {} },
  SubagentStart: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['subagent/start'] }, data: 'SubagentStartData' }, may: { sessionId: 'SessionId' } },
  SubagentStartData: { is: 'object', must: { childId: 'SessionId', label: { is: 'string' }, wait: { is: 'boolean' } }, may: {} },
  TextBlock: { is: 'object', must: { type: { is: 'one', of: ['text'] }, text: { is: 'string' } }, may: {} },
  ToolCall: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['tool/call'] }, data: 'ToolCallData' }, may: { sessionId: 'SessionId' } },
  ToolCallData: { is: 'object', must: { turnId: { is: 'string' }, stepId: { is: 'string' }, callId: { is: 'string' }, name: { is: 'string' }, input: { is: 'any' }, provider: 'ToolProvider' }, may: {} },
  ToolInfo: { is: 'object', must: { name: { is: 'string' }, description: { is: 'string' }, parameters: 'JsonSchema' }, may: {} },
  ToolListParams: { is: 'object', must: {}, may: { sessionId: 'SessionId' } },
  ToolListResult: { is: 'object', must: { tools: { is: 'list', of: 'ToolInfo' } }, may: {} },
  ToolProvider: { is: 'string' },
  ToolResult: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['tool/result'] }, data: 'ToolResultData' }, may: { sessionId: 'SessionId' } },
  ToolResultBlock: { is: 'object', must: { type: { is: 'one', of: ['tool_result'] }, callId: { is: 'string' }, content: { is: 'string' } }, may: { images: { is: 'list', of: 'ImageBlock' }, isError: { is: 'boolean' } } },
  ToolResultData: { is: 'object', must: { callId: { is: 'string' }, content: { is: 'string' }, isError: { is: 'boolean' }, durationMs: { is: 'integer', min: 0 } }, may: { images: { is: 'list', of: 'ImageBlock' }, error: 'FactError' } },
  ToolStart: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['tool/start'] }, data: 'ToolStartData' }, may: { sessionId: 'SessionId' } },
  ToolStartData: { is: 'object', must: { callId: { is: 'string' } }, may: {} },
  ToolUseBlock: { is: 'object', must: { type: { is: 'one', of: ['tool_use'] }, callId: { is: 'string' }, name: { is: 'string' }, input: { is: 'any' } }, may: { vendorCallId: { is: 'string' } } },
  Trigger: { is: 'open', tag: 'kind', kinds: { message: 'TriggerMessage', recovery: 'TriggerRecovery' }, shared: { must: {}, may: {} } },
  TriggerMessage: { is: 'object', must: { kind: { is: 'one', of: ['message'] }, messageId: 'MessageId' }, may: {} },
  TriggerRecovery: { is: 'object', must: { kind: { is: 'one', of: ['recovery'] }, turnId: { is: 'string' } }, may: {} },
  TurnEnd: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['turn/end'] }, data: 'TurnEndData' }, may: { sessionId: 'SessionId' } },
  TurnEndData: { is: 'object', must: { turnId: { is: 'string' }, reason: 'TurnEndReason', usage: 'Usage' }, may: {} },
  TurnEndKind: { is: 'string' },
  TurnEndReason: { is: 'object', must: { kind: 'TurnEndKind' }, may: { error: 'FactError', by: { is: 'string' }, limit: { is: 'number' } } },
  TurnLimits: { is: 'object', must: {}, may: { maxSteps: { is: 'integer', min: 1 }, maxTotalTokens: { is: 'integer', min: 1 }, maxCost: { is: 'number' } } },
  TurnStart: { is: 'object', must: { seq: 'Seq', time: 'UnixMs', type: { is: 'one', of: ['turn/start'] }, data: 'TurnStartData' }, may: { sessionId: 'SessionId' } },
  TurnStartData: { is: 'object', must: { turnId: { is: 'string' }, activityId: { is: 'string' }, trigger: 'Trigger' }, may: {} },
  UnixMs: { is: 'integer' },
  Usage: { is: 'object', must: { inputTokens: { is: 'integer', min: 0 }, outputTokens: { is: 'integer', min: 0 } }, may: { cachedInputTokens: { is: 'integer', min: 0 }, reasoningTokens: { is: 'integer', min: 0 } } },
  WaitingAgent: { is: 'object', must: { kind: { is: 'one', of: ['agent'] }, sessionId: 'SessionId' }, may: {} },
  WaitingGoal: { is: 'object', must: { kind: { is: 'one', of: ['goal'] }, goalId: { is: 'string' } }, may: {} },
  WaitingOn: { is: 'open', tag: 'kind', kinds: { agent: 'WaitingAgent', goal: 'WaitingGoal' }, shared: { must: {}, may: {} } },
  WithdrawnMessage: { is: 'object', must: { sessionId: 'SessionId', messageId: 'MessageId' }, may: {} },
}

const paramsIds: Record<MethodName, keyof WireTypes> = {
  'initialize': 'InitializeParams',
  'session/create': 'SessionCreateParams',
  'session/get': 'SessionGetParams',
  'session/list': 'SessionListParams',
  'session/update': 'SessionUpdateParams',
  'session/delete': 'SessionDeleteParams',
  'session/prompt': 'SessionPromptParams',
  'session/withdraw': 'SessionWithdrawParams',
  'session/cancel': 'SessionCancelParams',
  'session/status': 'SessionStatusParams',
  'session/events': 'SessionEventsParams',
  'session/messages': 'SessionMessagesParams',
  'session/subscribe': 'SessionSubscribeParams',
  'session/unsubscribe': 'SessionUnsubscribeParams',
  'model/list': 'ModelListParams',
  'tool/list': 'ToolListParams',
  'server/ping': 'ServerPingParams',
  'shutdown': 'ShutdownParams',
}

const resultIds: Record<MethodName, keyof WireTypes> = {
  'initialize': 'InitializeResult',
  'session/create': 'SessionCreateResult',
  'session/get': 'SessionGetResult',
  'session/list': 'SessionListResult',
  'session/update': 'SessionUpdateResult',
  'session/delete': 'SessionDeleteResult',
  'session/prompt': 'SessionPromptResult',
  'session/withdraw': 'SessionWithdrawResult',
  'session/cancel': 'SessionCancelResult',
  'session/status': 'SessionStatusResult',
  'session/events': 'SessionEventsResult',
  'session/messages': 'SessionMessagesResult',
  'session/subscribe': 'SessionSubscribeResult',
  'session/unsubscribe': 'SessionUnsubscribeResult',
  'model/list': 'ModelListResult',
  'tool/list': 'ToolListResult',
  'server/ping': 'ServerPingResult',
  'shutdown': 'ShutdownResult',
}

const noticeIds: Record<NotificationName, keyof WireTypes> = {
  'session.event': 'SessionEventParams',
  'session.status': 'SessionStatusNotice',
  'session.delta': 'SessionDeltaParams',
  'session.closed': 'SessionClosedParams',
}

const wire = wireTypes(table)

/** Checks `value` against the type `id`; unknown kinds of an open union become `Unknown…` with their raw data. */
export const decode = <K extends keyof WireTypes>(id: K, value: unknown): Decoded<WireTypes[K]> => wire.decode(id, value)

/** The value as it goes over the wire: unknown kinds are written as they came. */
export const encode = <K extends keyof WireTypes>(id: K, value: WireTypes[K]): unknown => wire.encode(id, value)

export const decodeFact = (value: unknown): Decoded<Fact> => wire.decode('Fact', value)
export const encodeFact = (fact: Fact): unknown => wire.encode('Fact', fact)

/** A `session.event` whose fact is left as it came: a malformed fact is a fault of that fact alone. */
export const decodeEventFrame = (params: unknown): Decoded<SessionEventFrame> => wire.decode('SessionEventFrame', params)

/** A result of `session/events` whose facts are left as they came. */
export const decodeEventsPage = (result: unknown): Decoded<SessionEventsPage> => wire.decode('SessionEventsPage', result)

export const decodeParams = <M extends MethodName>(method: M, params: unknown): Decoded<Methods[M]['params']> =>
  wire.decode(paramsIds[method], params)
export const encodeParams = <M extends MethodName>(method: M, params: Methods[M]['params']): unknown =>
  wire.encode(paramsIds[method], params)
export const decodeResult = <M extends MethodName>(method: M, result: unknown): Decoded<Methods[M]['result']> =>
  wire.decode(resultIds[method], result)
export const encodeResult = <M extends MethodName>(method: M, result: Methods[M]['result']): unknown =>
  wire.encode(resultIds[method], result)

/** Whether this version knows the notification `name`; others are ignored (FR-2). */
export const isNotification = (name: string): name is NotificationName => notificationNames.some((known) => known === name)

export const decodeNotification = <N extends NotificationName>(name: N, params: unknown): Decoded<Notifications[N]> =>
  wire.decode(noticeIds[name], params)

// Owns the facts: one named type per kind, and the open union of them (TU-1, TU-2, IN-2).
import * as z from 'zod/mini'
import { Content, Finish, ImageBlock, Usage } from './content.ts'
import { FactError } from './errors.ts'
import { openEnum, openUnion } from './open.ts'
import { field, named } from './registry.ts'
import { MessageId, Metadata, Seq, SessionId, UnixMs } from './scalars.ts'
import { AgentStatusName, Goal, SessionChange, SessionConfig, WaitingOn } from './session.ts'

const pascal = (type: string): string => type.replace(/(^|[/_])([a-z])/g, (_, __, letter: string) => letter.toUpperCase())

/** What every fact has beside its type and data, one of an unknown type too. */
const envelope = () => ({
  sessionId: z.optional(field("The fact's session; absent where the frame around it names it.", SessionId)),
  seq: Seq,
  time: UnixMs,
})

function fact<const T extends string, D extends z.ZodMiniType>(type: T, description: string, data: D) {
  const id = pascal(type)
  return named(
    id,
    description,
    z.looseObject({
      ...envelope(),
      type: z.literal(type),
      data: named(`${id}Data`, `The data of \`${type}\`.`, data),
    }),
  )
}

export const Delivery = openEnum('DeliveryName', 'How a message enters the conversation (IN-4 to IN-6).', ['followup', 'steer', 'inject'])

export const OriginUser = named('OriginUser', 'A client.', z.looseObject({ kind: z.literal('user') }))
export const OriginGoal = named('OriginGoal', 'A round of a goal.', z.looseObject({ kind: z.literal('goal'), goalId: z.string() }))
export const OriginSettlement = named(
  'OriginSettlement',
  'The notice that a child settled.',
  z.looseObject({ kind: z.literal('settlement'), sessionId: SessionId }),
)
export const OriginAgent = named('OriginAgent', 'The parent agent.', z.looseObject({ kind: z.literal('agent'), sessionId: SessionId }))
export const Origin = openUnion('Origin', 'Where a message comes from (IN-10).', 'kind', {
  user: OriginUser,
  goal: OriginGoal,
  settlement: OriginSettlement,
  agent: OriginAgent,
})

export const InboxMessage = named(
  'InboxMessage',
  'A message of the inbox.',
  z.looseObject({
    id: MessageId,
    delivery: Delivery,
    origin: Origin,
    content: Content,
    metadata: z.optional(Metadata),
  }),
)

export const TriggerMessage = named(
  'TriggerMessage',
  'The turn was opened by a message.',
  z.looseObject({ kind: z.literal('message'), messageId: MessageId }),
)
export const TriggerRecovery = named(
  'TriggerRecovery',
  'The turn goes on where a crash interrupted `turnId`.',
  z.looseObject({ kind: z.literal('recovery'), turnId: z.string() }),
)
export const Trigger = openUnion('Trigger', 'What opened a turn.', 'kind', { message: TriggerMessage, recovery: TriggerRecovery })

export const TurnEndKind = openEnum('TurnEndKind', 'How a turn ended (TU-2).', [
  'completed',
  'max_tokens',
  'max_steps',
  'budget',
  'refused',
  'cancelled',
  'error',
  'interrupted',
])
export const TurnEndReason = named(
  'TurnEndReason',
  'Why a turn ended.',
  z.looseObject({
    kind: TurnEndKind,
    error: z.optional(FactError),
    by: z.optional(z.string()),
    limit: z.optional(field('The limit that was reached.', z.number())),
  }),
)
export const CancelScopeName = openEnum('CancelScopeName', 'How far a cancel reaches (CAN-1 to CAN-3).', ['turn', 'session', 'tree'])
export const ToolProvider = openEnum('ToolProvider', 'Who runs a tool.', ['runtime', 'client', 'mcp'])

export const facts = {
  'session/create': fact(
    'session/create',
    'The session exists.',
    z.looseObject({
      config: SessionConfig,
      parentId: z.optional(SessionId),
      label: z.optional(z.string()),
      depth: z.int().check(z.minimum(0)),
    }),
  ),
  'session/update': fact('session/update', 'The configuration changed.', z.looseObject({ change: SessionChange })),
  'session/fork': fact('session/fork', "The session starts from another one's transcript.", z.looseObject({ from: SessionId, atSeq: Seq })),
  'inbox/receipt': fact('inbox/receipt', 'The message is durably in the inbox (IN-1).', z.looseObject({ message: InboxMessage })),
  'inbox/admitted': fact(
    'inbox/admitted',
    'The message entered the conversation.',
    z.looseObject({ messageId: MessageId, turnId: z.string(), stepId: z.string() }),
  ),
  'inbox/cancelled': fact(
    'inbox/cancelled',
    'The message will never enter the conversation.',
    z.looseObject({
      messageId: MessageId,
      reason: openEnum('InboxCancelReason', 'Why a pending message was cancelled.', ['withdrawn', 'cancelled', 'goal']),
    }),
  ),
  'agent/status': fact(
    'agent/status',
    'The whole agent went from idle to running or back (ST-1).',
    z.looseObject({ status: AgentStatusName, activityId: z.string(), waitingOn: z.optional(z.array(WaitingOn)) }),
  ),
  'agent/cancel': fact(
    'agent/cancel',
    'A cancel, and the turn that it names (CAN-1).',
    z.looseObject({ scope: CancelScopeName, by: z.string(), turnId: z.optional(z.string()), reason: z.optional(z.string()) }),
  ),
  'turn/start': fact('turn/start', 'A turn began.', z.looseObject({ turnId: z.string(), activityId: z.string(), trigger: Trigger })),
  'step/start': fact(
    'step/start',
    'A model request is about to be made.',
    z.looseObject({ turnId: z.string(), stepId: z.string(), model: z.string() }),
  ),
  'model/retry': fact(
    'model/retry',
    'A model request failed and is tried again (TU-5).',
    z.looseObject({ stepId: z.string(), attempt: z.int(), delayMs: z.int(), error: FactError }),
  ),
  'assistant/message': fact(
    'assistant/message',
    'What the model answered.',
    z.looseObject({
      turnId: z.string(),
      stepId: z.string(),
      outputId: z.string(),
      content: Content,
      model: z.string(),
      finish: Finish,
      usage: Usage,
      interrupted: z.optional(z.boolean()),
    }),
  ),
  'tool/call': fact(
    'tool/call',
    'The model asked for a tool.',
    z.looseObject({
      turnId: z.string(),
      stepId: z.string(),
      callId: z.string(),
      name: z.string(),
      input: z.unknown(),
      provider: ToolProvider,
    }),
  ),
  'permission/request': fact(
    'permission/request',
    'A call needs a decision (CB-1).',
    z.looseObject({ requestId: z.string(), callId: z.string(), tool: z.string(), summary: z.string() }),
  ),
  'permission/decision': fact(
    'permission/decision',
    'The decision about a call.',
    z.looseObject({
      requestId: z.string(),
      decision: openEnum('PermissionDecisionName', 'What was decided.', ['allow', 'allow_always', 'deny']),
      by: z.string(),
      input: z.optional(z.unknown()),
      feedback: z.optional(z.string()),
    }),
  ),
  'tool/start': fact('tool/start', 'The tool is about to run.', z.looseObject({ callId: z.string() })),
  'tool/result': fact(
    'tool/result',
    'What the tool answered.',
    z.looseObject({
      callId: z.string(),
      content: z.string(),
      images: z.optional(z.array(ImageBlock)),
      isError: z.boolean(),
      error: z.optional(FactError),
      durationMs: z.int().check(z.minimum(0)),
    }),
  ),
  'step/end': fact(
    'step/end',
    'The step is over: its answer and every result are committed.',
    z.looseObject({ turnId: z.string(), stepId: z.string(), usage: Usage }),
  ),
  'turn/end': fact('turn/end', 'The turn is over.', z.looseObject({ turnId: z.string(), reason: TurnEndReason, usage: Usage })),
  'subagent/start': fact(
    'subagent/start',
    'A child was spawned.',
    z.looseObject({ childId: SessionId, label: z.string(), wait: z.boolean() }),
  ),
  'subagent/settled': fact(
    'subagent/settled',
    'A child settled; its usage since the last time (RUN-12).',
    z.looseObject({ childId: SessionId, activityId: z.string(), outcome: z.string(), usage: Usage }),
  ),
  'goal/change': fact('goal/change', 'The goal changed; null when cleared.', z.looseObject({ goal: z.nullable(Goal) })),
  'context/compaction': fact(
    'context/compaction',
    'The conversation was summarised, or that failed.',
    z.looseObject({
      summary: z.optional(z.string()),
      throughSeq: z.optional(Seq),
      usage: z.optional(Usage),
      error: z.optional(FactError),
    }),
  ),
} as const

export const Fact = openUnion(
  'Fact',
  "One committed entry of a session's log. Unknown types are kept as they are.",
  'type',
  facts,
  envelope(),
)

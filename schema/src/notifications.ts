// Owns the notifications that a server sends.
import * as z from 'zod/mini'
import { RpcErrorData } from './errors.ts'
import { Fact } from './facts.ts'
import { openEnum } from './open.ts'
import { named } from './registry.ts'
import { Seq, SessionId } from './scalars.ts'
import { AgentStatusName, WaitingOn } from './session.ts'

const ofSubscription = { subscriptionId: z.string(), sessionId: SessionId }

const ClosedError = named(
  'ClosedError',
  'The error that ended a subscription.',
  z.looseObject({ message: z.string(), data: z.optional(RpcErrorData) }),
)

export const notifications = {
  'session.event': named(
    'SessionEventParams',
    'One fact, after it was committed (TU-3).',
    z.looseObject({ ...ofSubscription, event: Fact }),
  ),
  'session.status': named(
    'SessionStatusNotice',
    'Mirrors an `agent/status` fact, after it (ST-6).',
    z.looseObject({
      ...ofSubscription,
      seq: Seq,
      status: AgentStatusName,
      activityId: z.string(),
      waitingOn: z.array(WaitingOn),
    }),
  ),
  'session.delta': named(
    'SessionDeltaParams',
    'A piece of text on its way; not a fact, and it may be dropped (TU-4).',
    z.looseObject({
      ...ofSubscription,
      turnId: z.string(),
      stepId: z.string(),
      kind: openEnum('DeltaKind', 'What a delta is a piece of.', ['text', 'reasoning', 'tool_input']),
      index: z.int(),
      text: z.string(),
    }),
  ),
  'session.closed': named(
    'SessionClosedParams',
    'The subscription ended (SUB-5).',
    z.looseObject({
      ...ofSubscription,
      reason: openEnum('SessionClosedReason', 'Why a subscription ended.', ['deleted', 'fenced', 'storage', 'shutdown']),
      error: z.optional(ClosedError),
    }),
  ),
} as const

export type NotificationName = keyof typeof notifications

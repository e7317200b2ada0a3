// Owns the fold of a session's log into what rules are decided on: status, open turn, pending messages.
// Pure: the store applies it inside its transaction, the driver to what it reads back.
import type { AnyFact, SessionConfigOf, UsageOf, WaitingOnOf } from '@quiesce/schema'
import { addUsage, noUsage } from './facts.ts'

export interface PendingMessage {
  id: string
  /** Its receipt. */
  seq: number
  delivery: 'followup' | 'steer' | 'inject'
  origin: string
}

export interface OpenCall {
  callId: string
  name: string
  started: boolean
}

export interface OpenTurn {
  turnId: string
  /** Who cancelled it, or null. From then on it commits only what closes it (CAN-1). */
  cancelledBy: string | null
  /** The open step, or null between `step/end` and the next `step/start`. */
  stepId: string | null
  steps: number
  /** Calls without a result, in the model's order. */
  calls: OpenCall[]
  usage: UsageOf
}

export interface SessionState {
  seq: number
  parentId: string | null
  label: string | null
  depth: number
  createdAt: number
  updatedAt: number
  status: 'running' | 'idle'
  activityId: string | null
  waitingOn: WaitingOnOf[]
  lastIdle: number
  /** The last waking receipt, or other change that owes an idle (ST-12). */
  owedAt: number
  turn: OpenTurn | null
  /** The turn that a stop of the runtime interrupted, while nothing has followed it (RE-7). */
  interrupted: string | null
  pending: PendingMessage[]
  /** Recoveries of this activity in a row without a new `step/end` (RE-2). */
  resumes: number
  usage: UsageOf
}

export const emptyState: SessionState = {
  seq: 0,
  parentId: null,
  label: null,
  depth: 0,
  createdAt: 0,
  updatedAt: 0,
  status: 'idle',
  activityId: null,
  waitingOn: [],
  lastIdle: 0,
  owedAt: 0,
  turn: null,
  interrupted: null,
  pending: [],
  resumes: 0,
  usage: noUsage,
}

export const isWaking = (message: PendingMessage): boolean => message.delivery !== 'inject'
export const owesIdle = (state: SessionState): boolean => state.owedAt > state.lastIdle
/** RE-3: something is left to do, whether or not anybody drives the session. */
export const isDue = (state: SessionState): boolean => state.status === 'running' || owesIdle(state) || state.pending.some(isWaking)

/** One fact further. A fact of an unknown type changes nothing but `seq`. */
export function applyFact(state: SessionState, fact: AnyFact): SessionState {
  return { ...state, ...change(state, fact), seq: fact.seq, updatedAt: Math.max(state.updatedAt, fact.time) }
}

function change(state: SessionState, fact: AnyFact): Partial<SessionState> {
  switch (fact.type) {
    case 'session/create': {
      const { parentId, label, depth } = fact.data
      return { parentId: parentId ?? null, label: label ?? null, depth, createdAt: fact.time }
    }
    case 'inbox/receipt': {
      const { id, delivery, origin } = fact.data.message
      const message: PendingMessage = { id, seq: fact.seq, delivery, origin: origin.kind }
      return { pending: [...state.pending, message], ...(isWaking(message) && { owedAt: fact.seq }) }
    }
    case 'inbox/admitted':
    case 'inbox/cancelled':
      return { pending: state.pending.filter((message) => message.id !== fact.data.messageId) }
    case 'agent/status': {
      const { status, activityId, waitingOn } = fact.data
      if (status === 'running') return { status, activityId, resumes: 0 }
      return { status: 'idle', activityId, waitingOn: waitingOn ?? [], lastIdle: fact.seq, resumes: 0, interrupted: null }
    }
    case 'agent/cancel':
      return {
        ...(state.turn !== null && fact.data.turnId === state.turn.turnId && { turn: { ...state.turn, cancelledBy: fact.data.by } }),
        ...(fact.data.scope !== 'turn' && { pending: state.pending.map(demoteNotice) }),
      }
    case 'turn/start': {
      const turn = { turnId: fact.data.turnId, cancelledBy: null, stepId: null, steps: 0, calls: [], usage: noUsage }
      return { turn, interrupted: null, ...(fact.data.trigger.kind === 'recovery' && { resumes: state.resumes + 1 }) }
    }
    case 'turn/end':
      return { turn: null, interrupted: fact.data.reason.kind === 'interrupted' ? fact.data.turnId : null }
    case 'step/start':
    case 'tool/call':
    case 'tool/start':
    case 'tool/result':
    case 'step/end':
      return changeTurn(state, fact)
    default:
      return {}
  }
}

type TurnFact = Extract<AnyFact, { type: 'step/start' | 'tool/call' | 'tool/start' | 'tool/result' | 'step/end' }>

function changeTurn(state: SessionState, fact: TurnFact): Partial<SessionState> {
  const { turn } = state
  if (turn === null) return {}
  switch (fact.type) {
    case 'step/start':
      return { turn: { ...turn, stepId: fact.data.stepId, steps: turn.steps + 1 } }
    case 'tool/call':
      return { turn: { ...turn, calls: [...turn.calls, { callId: fact.data.callId, name: fact.data.name, started: false }] } }
    case 'tool/start':
      return { turn: { ...turn, calls: turn.calls.map((call) => (call.callId === fact.data.callId ? { ...call, started: true } : call)) } }
    case 'tool/result':
      return { turn: { ...turn, calls: turn.calls.filter((call) => call.callId !== fact.data.callId) } }
    case 'step/end': {
      const usage = addUsage(turn.usage, fact.data.usage)
      return { turn: { ...turn, stepId: null, usage }, usage: addUsage(state.usage, fact.data.usage), resumes: 0 }
    }
  }
}

/** CAN-2: from a session cancel on a settlement notice counts as `inject`. */
function demoteNotice(message: PendingMessage): PendingMessage {
  return message.origin === 'settlement' ? { ...message, delivery: 'inject' } : message
}

/** The configuration after one more fact; null before `session/create`. */
export function applyConfig(config: SessionConfigOf | null, fact: AnyFact): SessionConfigOf | null {
  if (fact.type === 'session/create') return fact.data.config
  if (fact.type !== 'session/update' || config === null) return config
  const { change } = fact.data
  return {
    ...config,
    ...change,
    model: change.model ?? config.model,
    metadata: change.metadata ?? config.metadata,
    permissions: change.permissions ?? config.permissions,
    limits: change.limits ?? config.limits,
  }
}

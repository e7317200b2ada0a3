// Owns what the reference model of one session knows, and the words that its rules are said in: for tests. Pure; shares no fold with
// the runtime, so that the two can be compared.
import type { AnyFact } from '@quiesce/schema'

export interface Message {
  id: string
  seq: number
  delivery: string
  /** What makes a repeated prompt the same one. */
  body: string
  end: 'pending' | 'admitted' | 'withdrawn' | 'cancelled'
}

export interface Step {
  id: string
  /** The finish of its answer, or null. */
  finish: string | null
  /** Calls that the answer asks for and that are not in the log yet, in the model's order. */
  asked: readonly string[]
  /** Did it ask for any? */
  called: boolean
}

export interface Turn {
  id: string
  /** The epoch that opened it: another one may only close it. */
  epoch: number
  /** The message that opens it; null in a recovery's turn. */
  opener: string | null
  cancelledBy: string | null
  steps: number
  step: Step | null
  /** The last step that ended in this turn. */
  last: Step | null
  /** Calls without a result, in the model's order. */
  calls: readonly { id: string; started: boolean; parallel: boolean }[]
  /** What joined since the last step ended, or the turn began. */
  joining: { stepId: string; deliveries: readonly string[] } | null
}

export interface Lease {
  epoch: number
  holder: string | null
  until: number
  /** It ran out once, and was renewed since. */
  lapsed: boolean
}

export interface State {
  exists: boolean
  deleted: boolean
  seq: number
  config: { recovery: string; maxSteps: number; model: string; title: string | undefined }
  messages: readonly Message[]
  status: 'running' | 'idle'
  activityId: string | null
  activities: number
  turns: readonly string[]
  turn: Turn | null
  /** The turn that a stop interrupted, while nothing has followed it. */
  interrupted: { id: string; epoch: number } | null
  /** Turns of recoveries in a row without a `step/end`. */
  resumes: number
  lastIdle: number
  tokens: number
  lease: Lease
  /** Held anywhere at some instant since the driver's last commit: what a decision of it may rest on. */
  since: { waking: boolean; steer: boolean; models: readonly string[] }
  /** The epoch that interrupted a turn of its own: it stops, and commits nothing more. */
  stopped: number
}

export const unborn: State = {
  exists: false,
  deleted: false,
  seq: 0,
  config: { recovery: 'resume', maxSteps: 200, model: '', title: undefined },
  messages: [],
  status: 'idle',
  activityId: null,
  activities: 0,
  turns: [],
  turn: null,
  interrupted: null,
  resumes: 0,
  lastIdle: 0,
  tokens: 0,
  lease: { epoch: 0, holder: null, until: 0, lapsed: false },
  since: { waking: false, steer: false, models: [] },
  stopped: 0,
}

export type Fact<T extends AnyFact['type']> = Extract<AnyFact, { type: T }>

export const pendingOf = (state: State): Message[] => state.messages.filter(({ end }) => end === 'pending')
export const isWaking = ({ delivery }: Message): boolean => delivery !== 'inject'
export const wakingOf = (state: State): Message[] => pendingOf(state).filter(isWaking)
export const steersOf = (state: State): Message[] => pendingOf(state).filter(({ delivery }) => delivery === 'steer')
export const messageOf = (state: State, id: string): Message | undefined => state.messages.find((message) => message.id === id)

/** IN-7: not idle, or a waking message pending. */
export const isBusy = (state: State): boolean => state.status === 'running' || wakingOf(state).length > 0

/** ST-12: a waking receipt lies above the last idle. */
export const owesIdle = (state: State): boolean => state.messages.some((message) => isWaking(message) && message.seq > state.lastIdle)

/** RE-3. */
export const isDue = (state: State): boolean => !state.deleted && (isBusy(state) || owesIdle(state))

/** CAN-1, CAN-2: what a cancel of this scope would reach. */
export function reachOf(state: State, scope: string, turnId: string | undefined): { turn: string | null; withdrawn: string[] } {
  const { turn } = state
  const live = turn !== null && turn.cancelledBy === null && (turnId ?? turn.id) === turn.id
  return { turn: live ? turn.id : null, withdrawn: scope === 'turn' ? [] : pendingOf(state).map(({ id }) => id) }
}

/** RE-2: the third resume in a row settles instead. */
export const isExhausted = (state: State): boolean => state.resumes >= 2

/** A turn has to go on before anything else is done. */
export const mustResume = (state: State): boolean => state.interrupted !== null && state.config.recovery === 'resume'

/** The same content, delivery and metadata, key order apart (IN-3). */
export function bodyOf(message: { delivery: string; content: unknown; metadata?: unknown }): string {
  const { delivery, content, metadata } = message
  return JSON.stringify([delivery, content, metadata ?? null])
}

/** The rules that a session at rest keeps (ST-1, ST-3, IN-4, IN-5). */
export function unfinished(state: State): string[] {
  if (state.deleted) return []
  const bad: string[] = []
  if (state.status === 'running') bad.push('ST-1: running for ever')
  for (const { id } of wakingOf(state)) bad.push(`IN-4/5: ${id} is stranded`)
  if (owesIdle(state)) bad.push('ST-3: no idle follows a waking receipt')
  return bad
}

/** A state that is being made of another one. */
export type Draft = { -readonly [K in keyof State]: State[K] }

/** What the reading of one commit shares. */
export interface Reading {
  draft: Draft
  by: string
  epoch: number
  stopping: boolean
  facts: readonly AnyFact[]
  broken: string[]
}

export function receive(draft: Draft, fact: Fact<'inbox/receipt'>, broken: string[]): void {
  const { message } = fact.data
  const { id, delivery } = message
  if (messageOf(draft, id) !== undefined) broken.push(`IN-2: a second receipt of ${id}`)
  draft.messages = [...draft.messages, { id, delivery, seq: fact.seq, body: bodyOf(message), end: 'pending' }]
}

/** IN-2, IN-8: what is pending ends once, one way or the other. */
export function end(draft: Draft, id: string, how: 'admitted' | 'withdrawn' | 'cancelled', broken: string[]): void {
  const message = messageOf(draft, id)
  if (message?.end !== 'pending') broken.push(`IN-2: ${id} is ${how}, but it is ${message?.end ?? 'unknown'}`)
  draft.messages = draft.messages.map((other) => (other.id === id ? { ...other, end: how } : other))
}

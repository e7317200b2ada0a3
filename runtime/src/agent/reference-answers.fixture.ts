// Owns what a client may be told: each answer agrees with the model's state at some instant between call and answer. For tests. Pure.
import type { Happening } from './reference-model.fixture.ts'
import { isBusy, messageOf, reachOf, type State } from './reference-state.fixture.ts'

export type Ask =
  | { kind: 'prompt'; id: string; body: string; delivery: string; idle: boolean }
  | { kind: 'withdraw'; id: string }
  | { kind: 'cancel'; by: string; scope: string; turnId: string | undefined }
  | { kind: 'update'; title: string }
  | { kind: 'collect' | 'delete' | 'shutdown' }

export type Answer = { ok: true; value: unknown } | { ok: false; code: string }

/** What happened between a call and its answer. */
export interface Span {
  /** Every state from the call to the answer, both included. */
  states: readonly State[]
  /** What led from each of them to the next. */
  happenings: readonly Happening[]
  /** The runtime's store failed in it. */
  failed: boolean
  /** The runtime was shutting down at the call. */
  stopping: boolean
  /** Nobody else asked for the same. */
  sole: boolean
}

/** The rules that the answer breaks. */
export function misled(ask: Ask, answer: Answer, span: Span): string[] {
  const { states } = span
  const last = states.at(-1)
  if (last === undefined) throw new Error('a span without a state')
  const what = `${ask.kind} is answered ${answer.ok ? JSON.stringify(answer.value) : answer.code}`
  const never = (rule: string, at: (state: State) => boolean): string[] =>
    states.some(at) ? [] : [`${rule}: ${what}, and at no instant it was so`]
  if (!answer.ok) {
    switch (answer.code) {
      case 'storage_unavailable':
        return [...(span.failed ? [] : [`RE-6: ${what}, and the store did not fail`]), ...unkept(ask, last, span, 'RE-6', what)]
      case 'session_not_found':
        return [...(last.deleted ? [] : [`DEL-1: ${what}, and the session is there`]), ...unkept(ask, last, span, 'IN-1', what)]
      case 'shutting_down':
        return [...(span.stopping ? [] : [`RE-7: ${what} by a runtime that goes on`]), ...unkept(ask, last, span, 'IN-1', what)]
    }
  }
  switch (ask.kind) {
    case 'prompt':
      if (answer.ok) return prompted(ask, span, last, what)
      if (answer.code === 'session_busy' && ask.idle)
        return [
          ...never('IN-7', (state) => isBusy(state) && messageOf(state, ask.id) === undefined),
          ...unkept(ask, last, span, 'IN-7', what),
        ]
      if (answer.code === 'message_conflict')
        return never('IN-3', (state) => messageOf(state, ask.id)?.body !== undefined && messageOf(state, ask.id)?.body !== ask.body)
      break
    case 'withdraw':
      if (answer.ok && answer.value === true) return withdrawn(ask.id, span, what)
      if (answer.ok) return never('IN-8', (state) => !['pending', undefined].includes(messageOf(state, ask.id)?.end))
      if (answer.code === 'message_not_found') return never('IN-8', (state) => state.deleted || messageOf(state, ask.id) === undefined)
      break
    case 'cancel':
      if (answer.ok) return cancelled(ask, answer.value, span, never, what)
      break
    case 'update':
      if (answer.ok) return commits(span).some(updates(ask.title)) ? [] : [`update: ${what}, and it is not in the log`]
      break
    case 'delete':
      if (answer.ok) return span.happenings.some(({ kind }) => kind === 'deleted') ? [] : [`DEL-1: ${what}, and nothing was deleted`]
      break
    default:
      if (answer.ok) return []
  }
  return [`${what}, which it may never be`]
}

const commits = (span: Span): (Happening & { kind: 'commit' })[] =>
  span.happenings.flatMap((happening) => (happening.kind === 'commit' ? [happening] : []))

const updates = (title: string) => (commit: Happening & { kind: 'commit' }) =>
  commit.facts.some((fact) => fact.type === 'session/update' && fact.data.change.title === title)

/** A refused prompt leaves nothing behind. */
function unkept(ask: Ask, last: State, { sole }: Span, rule: string, what: string): string[] {
  if (ask.kind !== 'prompt' || !sole || last.deleted || messageOf(last, ask.id) === undefined) return []
  return [`${rule}: ${what}, and its receipt is in the log`]
}

function prompted(ask: Ask & { kind: 'prompt' }, span: Span, last: State, what: string): string[] {
  // Of a session that is deleted nothing is left to compare with but what it was before.
  const message = messageOf(last, ask.id)
  if (message === undefined) return [`IN-1: ${what} before its receipt is committed`]
  if (message.body !== ask.body) return [`IN-3: ${what}, and ${ask.id} stands for another message`]
  if (!ask.idle || !span.sole) return []
  const at = span.states.findIndex((state) => messageOf(state, ask.id) !== undefined)
  const before = span.states[at - 1]
  return before !== undefined && isBusy(before) ? [`IN-7: ${what}, and the agent was busy at the receipt`] : []
}

function withdrawn(id: string, span: Span, what: string): string[] {
  const gone = commits(span).some(
    ({ epoch, facts }) => epoch === null && facts.length === 1 && facts[0]?.type === 'inbox/cancelled' && facts[0].data.messageId === id,
  )
  return gone ? [] : [`IN-8: ${what}, and ${id} was not withdrawn`]
}

function cancelled(
  ask: Ask & { kind: 'cancel' },
  value: unknown,
  span: Span,
  never: (rule: string, at: (state: State) => boolean) => string[],
  what: string,
): string[] {
  const { cancelled: reached, withdrawn: told } = value as { cancelled: boolean; withdrawn: { messageId: string }[] }
  const at = span.happenings.findIndex(
    (happening) => happening.kind === 'commit' && happening.facts.some((fact) => fact.type === 'agent/cancel' && fact.data.by === ask.by),
  )
  const made = span.happenings[at]
  const before = span.states[at]
  if (!reached) {
    if (made !== undefined) return [`CAN-1: ${what}, and the cancel is in the log`]
    return never('CAN-1', (state) => {
      const { turn, withdrawn: waiting } = reachOf(state, ask.scope, ask.turnId)
      return turn === null && waiting.length === 0
    })
  }
  if (made?.kind !== 'commit' || before === undefined) return [`CAN-1: ${what} before the cancel is committed`]
  const gone = made.facts.flatMap((fact) => (fact.type === 'inbox/cancelled' ? [fact.data.messageId] : []))
  const named = made.facts.flatMap((fact) => (fact.type === 'agent/cancel' ? [fact.data.turnId, fact.data.scope] : []))
  const bad: string[] = []
  if (gone.join() !== told.map(({ messageId }) => messageId).join()) bad.push(`CAN-2: ${what}, and it withdrew ${gone.join() || 'nothing'}`)
  if (named[1] !== ask.scope) bad.push(`CAN-1: a cancel of the ${ask.scope} is committed as one of the ${named[1]}`)
  const { turn } = reachOf(before, ask.scope, ask.turnId)
  if ((named[0] ?? null) !== turn) bad.push(`CAN-1: a cancel names ${named[0] ?? 'no turn'}, open is ${turn ?? 'none'}`)
  return bad
}

/** RE-1 and IN-8 over a whole history: who was told what became of a message agrees with what did. */
export function unclaimed(state: State, claims: ReadonlyMap<string, { told: number; unsure: number }>): string[] {
  return state.messages.flatMap(({ id, end }) => {
    const { told, unsure } = claims.get(id) ?? { told: 0, unsure: 0 }
    if (told > 1) return [`IN-8: ${told} clients were told that they withdrew ${id}`]
    if (told === 1 && end !== 'withdrawn') return [`IN-8: a client was told that it withdrew ${id}, which is ${end}`]
    if (end === 'withdrawn' && told + unsure === 0) return [`IN-8: ${id} was withdrawn, and nobody was told so`]
    return []
  })
}

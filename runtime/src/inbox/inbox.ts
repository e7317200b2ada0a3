// Owns what goes into a session's inbox from outside: receipts, withdrawals, cancels. Needs no lease (RE-4).
import type { AnyFact, ContentOf, InboxMessageOf, OriginOf } from '@quiesce/schema'
import type { Clock } from '../base/clock.ts'
import type { Condition } from '../log/conditions.ts'
import type { EventLog } from '../log/event-log.ts'
import { fact, type NewFact } from '../log/facts.ts'
import { InvalidParams, Refusal } from '../log/refusal.ts'
import type { SessionState } from '../log/session-state.ts'
import type { CommitResult, Store } from '../store/store.ts'

/** More pending messages than this are refused (`limit_exceeded`). */
export const MAX_PENDING = 1000

const RESERVED = ['goal:', 'settle:', 'call:']

export interface NewMessage {
  id: string
  content: ContentOf
  delivery: 'followup' | 'steer' | 'inject'
  origin: OriginOf
  metadata?: Record<string, unknown>
}

export type CancelScope = 'turn' | 'session' | 'tree'

export type CancelResult = {
  cancelled: boolean
  withdrawn: { sessionId: string; messageId: string }[]
}

export class Inbox {
  readonly #log: EventLog
  readonly #store: Store
  readonly #clock: Clock

  constructor(log: EventLog, store: Store, clock: Clock) {
    this.#log = log
    this.#store = store
    this.#clock = clock
  }

  /** A client may not use the ids that the runtime makes (IN-3). */
  static checkId(messageId: string): void {
    const prefix = RESERVED.find((reserved) => messageId.startsWith(reserved))
    if (prefix !== undefined)
      throw new InvalidParams([{ path: 'messageId', message: `the prefix "${prefix}" is reserved, got ${JSON.stringify(messageId)}` }])
  }

  receipt(message: NewMessage): NewFact {
    return fact('inbox/receipt', this.#clock.now(), { message: asWire(message) })
  }

  /** What every receipt is conditional on. */
  conditions(message: NewMessage): Condition[] {
    return [
      { kind: 'new-message', messageId: message.id },
      { kind: 'room', below: MAX_PENDING },
    ]
  }

  /**
   * Commits a receipt alone. A repeated message answers as the first did and enqueues nothing.
   * *Contract:* rejects with Refusal `session_not_found`, `session_busy`, `message_conflict`, `limit_exceeded`, or as the store does.
   */
  async enqueue(sessionId: string, message: NewMessage, expectIdle: boolean): Promise<void> {
    const when = this.conditions(message)
    if (expectIdle) when.push({ kind: 'idle' })
    const result = await this.#log.commit({ sessionId, when, facts: [this.receipt(message)] })
    if (!result.ok) await this.settleRefused(sessionId, message, result)
  }

  /** Makes of a refused receipt what the caller is told: nothing for a repeated message, else a Refusal. */
  async settleRefused(sessionId: string, message: NewMessage, result: CommitResult & { ok: false }): Promise<void> {
    if (result.refused === 'known-message') return this.#compare(sessionId, message, result.seq)
    if (result.refused !== 'unmet') throw noSession(sessionId)
    if (result.condition.kind === 'room')
      throw new Refusal('limit_exceeded', `session ${sessionId} has ${MAX_PENDING} pending messages; wait until some are admitted`, {
        limit: MAX_PENDING,
      })
    throw new Refusal('session_busy', `session ${sessionId} is busy: ${busyText(result.state)}`, { sessionId })
  }

  async #compare(sessionId: string, message: NewMessage, seq: number): Promise<void> {
    // From the store: where another runtime committed it, what is followed here may end below it.
    const [known] = await this.#store.read(sessionId, seq - 1, 1)
    // The receipt was there a moment ago: only the session can be gone.
    if (known === undefined) throw noSession(sessionId)
    if (known.type === 'inbox/receipt' && sameMessage(known.data.message, asWire(message))) return
    throw new Refusal('message_conflict', `messageId ${JSON.stringify(message.id)} of session ${sessionId} stands for another message`, {
      sessionId,
      messageId: message.id,
    })
  }

  /**
   * Cancels a pending message; false where it was admitted or cancelled before (IN-8).
   * *Contract:* rejects with Refusal `session_not_found`, `message_not_found`, or as the store does.
   */
  async withdraw(sessionId: string, messageId: string): Promise<boolean> {
    for (;;) {
      const withdrawn = fact('inbox/cancelled', this.#clock.now(), { messageId, reason: 'withdrawn' })
      const result = await this.#log.commit({ sessionId, when: [{ kind: 'pending', messageIds: [messageId] }], facts: [withdrawn] })
      if (result.ok) return true
      if (result.refused !== 'unmet') throw noSession(sessionId)
      const receipt = await this.#store.receiptSeq(sessionId, messageId)
      if (receipt === null)
        throw new Refusal('message_not_found', `session ${sessionId} has no message ${JSON.stringify(messageId)}`, { sessionId, messageId })
      // One whose receipt came after the refusal may still be pending.
      if (receipt <= result.state.seq) return false
    }
  }

  /**
   * Commits a cancel, conditional on the state that it was made for; answers what it reached (CAN-1, CAN-2).
   * *Contract:* rejects with Refusal `session_not_found`, or as the store does.
   */
  async cancel(sessionId: string, scope: CancelScope, options: { by: string; turnId?: string; reason?: string }): Promise<CancelResult> {
    let state = (await this.#log.peek(sessionId))?.state
    for (let isFresh = false; ; isFresh = true) {
      if (state === undefined) throw noSession(sessionId)
      const facts = this.#cancelFacts(state, scope, options)
      if (facts.length === 0 && isFresh) return { cancelled: false, withdrawn: [] }
      if (facts.length === 0) {
        // What is known here may be behind what is committed: that there is nothing to cancel is the store's to say.
        state = (await this.#store.load(sessionId))?.state
        continue
      }
      const result = await this.#log.commit({ sessionId, when: [{ kind: 'seq', is: state.seq }], facts })
      if (result.ok)
        return {
          cancelled: true,
          withdrawn: facts.flatMap((made) => (made.type === 'inbox/cancelled' ? [{ sessionId, messageId: made.data.messageId }] : [])),
        }
      if (result.refused !== 'unmet') throw noSession(sessionId)
      state = result.state
    }
  }

  #cancelFacts(state: SessionState, scope: CancelScope, options: { by: string; turnId?: string; reason?: string }): NewFact[] {
    const now = this.#clock.now()
    const { turn } = state
    const open = turn !== null && turn.cancelledBy === null && (options.turnId ?? turn.turnId) === turn.turnId
    const withdrawn =
      scope === 'turn'
        ? []
        : state.pending
            .filter((message) => message.origin !== 'settlement')
            .map((message) => fact('inbox/cancelled', now, { messageId: message.id, reason: 'cancelled' }))
    if (!open && withdrawn.length === 0) return []
    const { by, reason } = options
    const named = { scope, by, ...(open && { turnId: turn.turnId }), ...(reason !== undefined && { reason }) }
    return [...withdrawn, fact('agent/cancel', now, named)]
  }
}

export const noSession = (sessionId: string): Refusal =>
  new Refusal('session_not_found', `no session ${JSON.stringify(sessionId)} (it was never created here, or it was deleted)`, { sessionId })

function asWire(message: NewMessage): InboxMessageOf {
  const { id, delivery, origin, content, metadata } = message
  return { id, delivery, origin, content, ...(metadata !== undefined && { metadata }) }
}

function busyText(state: SessionState): string {
  return state.status === 'running' ? 'the agent is running' : `${state.pending.length} messages are pending`
}

/** Equal content, delivery, origin and metadata, key order apart. */
function sameMessage(a: Extract<AnyFact, { type: 'inbox/receipt' }>['data']['message'], b: InboxMessageOf): boolean {
  return canonical(a) === canonical(b)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

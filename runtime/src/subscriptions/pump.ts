// Owns one cursor: facts behind it go out once and in order, from memory or the store, never faster than the socket drains.
import type { AnyFact } from '@quiesce/schema'
import { failpoint } from '../base/failpoint.ts'
import type { ClosedReason, Delta, EventLog, FollowedSession, Follower } from '../log/event-log.ts'
import { Refusal } from '../log/refusal.ts'
import type { Sink } from './subscriptions.ts'

/** Facts sent between two looks at the socket. */
const CHUNK = 64

export interface Target {
  subscriptionId: string
  sessionId: string
  deltas: boolean
}

/** What hangs on a cursor's end. */
export interface Ends {
  /** It sends nothing more. Called once. */
  stopped(): void
  /** It ended by itself, because the session did (SUB-5). */
  closed(): void
}

export class Pump implements Follower {
  /** The last fact sent. */
  cursor = 0
  readonly #log: EventLog
  readonly #sink: Sink
  readonly #target: Target
  readonly #ends: Ends
  #session: FollowedSession | null = null
  #leave: () => void = () => undefined
  #state: 'waiting' | 'idle' | 'pumping' | 'stopped' = 'waiting'
  #closing: { reason: ClosedReason; error: Error | null } | null = null

  constructor(log: EventLog, sink: Sink, target: Target, ends: Ends) {
    this.#log = log
    this.#sink = sink
    this.#target = target
    this.#ends = ends
  }

  /** Follows the session; null where there is none. Nothing is sent before `start`. */
  async follow(): Promise<FollowedSession | null> {
    const followed = await this.#log.follow(this.#target.sessionId, this)
    this.#session = followed?.session ?? null
    this.#leave = followed?.leave ?? this.#leave
    return this.#session
  }

  start(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'idle'
    this.#pump()
  }

  stop(): void {
    if (this.#halted()) return
    this.#state = 'stopped'
    this.#leave()
    this.#ends.stopped()
  }

  facts(): void {
    this.#pump()
  }

  /** Only to a cursor that is caught up, on a socket that drains (TU-4). */
  delta(delta: Delta): void {
    if (!this.#target.deltas || this.#state !== 'idle' || !this.#caughtUp || !this.#sink.ready()) return
    const { subscriptionId, sessionId } = this.#target
    this.#sink.send('session.delta', { subscriptionId, sessionId, ...delta })
  }

  closed(reason: ClosedReason, error: Error | null): void {
    this.#closing = { reason, error }
    this.#pump()
  }

  get #caughtUp(): boolean {
    return this.cursor >= (this.#session?.state.seq ?? 0)
  }

  /** Sends what memory has at once; where the store or the socket has to be waited for, goes on later. */
  #pump(): void {
    if (this.#state !== 'idle') return
    while (!this.#caughtUp && this.#sink.ready()) {
      const facts = this.#log.recent(this.#target.sessionId, this.cursor, CHUNK)
      if (facts === null || facts.length === 0) break
      this.#send(facts)
    }
    if (this.#caughtUp || this.#closing !== null) this.#finish()
    else void this.#goOn()
  }

  async #goOn(): Promise<void> {
    this.#state = 'pumping'
    try {
      await this.#sink.drained()
      if (this.#halted()) return
      this.#send(await this.#log.read(this.#target.sessionId, this.cursor, CHUNK))
    } catch (error) {
      this.#closing ??= { reason: 'storage', error: error instanceof Error ? error : null }
    }
    if (this.#halted()) return
    this.#state = 'idle'
    this.#pump()
  }

  #halted(): boolean {
    return this.#state === 'stopped'
  }

  #send(facts: readonly AnyFact[]): void {
    const { subscriptionId, sessionId } = this.#target
    for (const event of facts) {
      if (this.#halted()) return
      this.cursor = event.seq
      failpoint('event.before', () => event.type)
      this.#sink.send('session.event', { subscriptionId, sessionId, event })
      failpoint('event.after', () => event.type)
      if (event.type === 'agent/status') {
        const { status, activityId, waitingOn } = event.data
        this.#sink.send('session.status', { subscriptionId, sessionId, seq: event.seq, status, activityId, waitingOn: waitingOn ?? [] })
      }
    }
  }

  #finish(): void {
    if (this.#closing === null) return
    const { reason, error } = this.#closing
    const { subscriptionId, sessionId } = this.#target
    this.stop()
    this.#ends.closed()
    const data = error instanceof Refusal ? { code: error.code, retryable: error.retryable } : undefined
    const told =
      error === null ? undefined : { message: data === undefined ? 'the runtime failed; its log says more' : error.message, data }
    this.#sink.send('session.closed', { subscriptionId, sessionId, reason, ...(told !== undefined && { error: told }) })
  }
}

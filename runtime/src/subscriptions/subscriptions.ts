// Owns the subscriptions of one connection: each a cursor that reads history, then live, as the socket drains (SUB-1 to SUB-5).
import type { NotificationName, NotificationParams, Params, Result } from '@quiesce/schema'
import type { Sessions } from '../agent/sessions.ts'
import { startOf } from '../agent/sessions.ts'
import { noSession } from '../inbox/inbox.ts'
import type { EventLog } from '../log/event-log.ts'
import { InvalidParams, Refusal } from '../log/refusal.ts'
import type { Store } from '../store/store.ts'
import { Pump } from './pump.ts'

/** Where notifications go. */
export interface Sink {
  send<N extends NotificationName>(method: N, params: NotificationParams<N>): void
  /** Resolves once the socket has drained below its mark; at once where it is. */
  drained(): Promise<void>
  /** Is the socket below its mark now? */
  ready(): boolean
}

export interface SubscriptionDeps {
  log: EventLog
  store: Store
  sessions: Sessions
  newId: () => string
}

interface Subscription {
  result: Result<'session/subscribe'>
  pump: Pump
}

export class Subscriptions {
  readonly #deps: SubscriptionDeps
  readonly #sink: Sink
  readonly #open = new Map<string, { asked: string; opening: Promise<Subscription> }>()

  constructor(deps: SubscriptionDeps, sink: Sink) {
    this.#deps = deps
    this.#sink = sink
  }

  /**
   * Opens a cursor; `start` lets it run, after the answer was written. The same `subscriptionId` again answers the first (SUB-4).
   * *Contract:* rejects with InvalidParams, Refusal `session_not_found`, `message_not_found`, `invalid_cursor`, or as the store does.
   */
  async subscribe(params: Params<'session/subscribe'>): Promise<{ result: Result<'session/subscribe'>; start(): void }> {
    const subscriptionId = params.subscriptionId ?? this.#deps.newId()
    const known = this.#open.get(subscriptionId)
    const asked = JSON.stringify(params)
    if (known !== undefined) {
      if (known.asked !== asked)
        throw new InvalidParams([{ path: 'subscriptionId', message: `${JSON.stringify(subscriptionId)} is in use` }])
      return { result: (await known.opening).result, start: () => undefined }
    }
    const opening = this.#begin(subscriptionId, params)
    this.#open.set(subscriptionId, { asked, opening })
    try {
      const { result, pump } = await opening
      return { result, start: () => pump.start() }
    } catch (error) {
      this.#open.delete(subscriptionId)
      throw error
    }
  }

  async #begin(subscriptionId: string, params: Params<'session/subscribe'>): Promise<Subscription> {
    const { log, sessions } = this.#deps
    const { sessionId, activate, deltas, tree } = params
    if (tree === true) throw new InvalidParams([{ path: 'tree', message: 'not served by this runtime; leave it out' }])
    const after = typeof params.after === 'object' ? params.after[sessionId] : params.after
    const leave = activate === true ? await sessions.activate(sessionId) : () => undefined
    const target = { subscriptionId, sessionId, deltas: deltas === true }
    const pump = new Pump(log, this.#sink, target, { stopped: leave, closed: () => this.#open.delete(subscriptionId) })
    try {
      const session = await pump.follow()
      if (session === null) throw noSession(sessionId)
      const { state } = session
      pump.cursor = await startOf(this.#deps, { sessionId, after, from: params.from }, state.seq, state.seq)
      const { status, seq, activityId, waitingOn } = session.state
      return { pump, result: { subscriptionId, status, seq, ...(activityId !== null && { activityId }), waitingOn } }
    } catch (error) {
      pump.stop()
      throw error
    }
  }

  /** *Contract:* rejects with Refusal `subscription_not_found`. */
  async unsubscribe(subscriptionId: string): Promise<void> {
    const opened = this.#open.get(subscriptionId)
    if (opened === undefined)
      throw new Refusal('subscription_not_found', `this connection has no subscription ${JSON.stringify(subscriptionId)}`, {
        subscriptionId,
      })
    this.#open.delete(subscriptionId)
    await opened.opening.then(({ pump }) => pump.stop())
  }

  /** Ends them all, without a word: the connection is gone. */
  close(): void {
    for (const { opening } of this.#open.values())
      opening.then(
        ({ pump }) => pump.stop(),
        () => undefined,
      )
    this.#open.clear()
  }
}

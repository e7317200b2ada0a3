// Owns one run in process: subscribe, prompt an idle agent, follow the facts to the end of the interval (CLI-1).
import type { AnyFact, NotificationName, NotificationParams, SessionOf } from '@quiesce/schema'
import { type Deferred, deferred } from '../base/deferred.ts'
import { Refusal } from '../log/refusal.ts'
import type { RunFold } from '../log/run.ts'
import type { Sink, Subscriptions } from '../subscriptions/subscriptions.ts'
import type { Runtime } from './runtime.ts'

export type DeltaOf = NotificationParams<'session.delta'>

/** Hears what happens in the interval. */
export interface IntervalObserver {
  fact(fact: AnyFact): void
  delta(delta: DeltaOf): void
  /** The session is busy, and the run waits. */
  waiting(): void
}

export interface IntervalParts {
  runtime: Runtime
  session: SessionOf
  messageId: string
  fold: RunFold
  observer: IntervalObserver
  /** Whether pieces of text are wanted. */
  deltas: boolean
}

type Handlers = { [N in NotificationName]: (params: NotificationParams<N>) => void }

export class Interval {
  readonly #parts: IntervalParts
  readonly #subscriptions: Subscriptions
  readonly #ended = deferred()
  /** Resolves at the next idle; made anew at each. */
  #nextIdle: Deferred<void> = deferred()
  #stage: 'waiting' | 'prompting' | 'accepted' | 'left' = 'waiting'
  #accepting: Promise<void> = Promise.resolve()

  constructor(parts: IntervalParts) {
    this.#parts = parts
    const handlers: Handlers = {
      'session.event': ({ event }) => this.#fact(event),
      'session.status': () => undefined,
      'session.delta': (delta) => this.#parts.observer.delta(delta),
      'session.closed': ({ reason, error }) => this.#ended.reject(closedError(reason, error?.message)),
    }
    const sink: Sink = {
      send: (method, params) => handlers[method](params),
      drained: () => Promise.resolve(),
      ready: () => true,
    }
    this.#subscriptions = parts.runtime.subscriptions(sink)
    this.#ended.promise.catch(() => undefined)
  }

  /**
   * Prompts, and resolves at the end of the interval, or once it was left before the prompt was accepted.
   * `wait` says whether to wait for a busy session. *Contract:* rejects with Refusal, `session_busy` where it may not wait.
   */
  async run(content: string, wait: boolean): Promise<void> {
    const { sessionId } = this.#parts.session
    const { start } = await this.#subscriptions.subscribe({ sessionId, activate: true, deltas: this.#parts.deltas })
    start()
    this.#accepting = this.#prompt(content, wait)
    this.#accepting.catch(() => undefined)
    await Promise.race([this.#accepting, this.#ended.promise])
    if (this.#stage === 'accepted') await this.#ended.promise
  }

  /** Gives the work up: withdraws the message, or cancels the tree where it was admitted. The interval goes on to its idle. */
  async cancel(reason: string): Promise<void> {
    const { runtime, session, messageId } = this.#parts
    const { sessionId } = session
    if (this.#stage === 'waiting') {
      this.#stage = 'left'
      this.#nextIdle.resolve()
      this.#ended.resolve()
      return
    }
    await this.#accepting
    if (await runtime.sessions.withdraw(sessionId, messageId)) return
    await runtime.sessions.cancel({ sessionId, scope: 'tree', reason }, 'run')
  }

  close(): void {
    this.#subscriptions.close()
  }

  /** Enqueues on an idle agent; a busy one is waited for, at each of its idles anew. */
  async #prompt(content: string, wait: boolean): Promise<void> {
    const { runtime, session, messageId, observer } = this.#parts
    while (this.#stage !== 'left') {
      const idle = this.#nextIdle
      this.#stage = 'prompting'
      try {
        await runtime.sessions.prompt({ sessionId: session.sessionId, content, messageId, expect: 'idle' })
        this.#stage = 'accepted'
        return
      } catch (error) {
        if (!wait || !(error instanceof Refusal && error.code === 'session_busy')) throw error
      }
      this.#stage = 'waiting'
      observer.waiting()
      await Promise.race([idle.promise, this.#ended.promise])
    }
  }

  #fact(fact: AnyFact): void {
    const { fold, observer } = this.#parts
    if (fold.apply(fact)) observer.fact(fact)
    if (fact.type === 'agent/status' && fact.data.status === 'idle') {
      this.#nextIdle.resolve()
      this.#nextIdle = deferred()
    }
    if (fold.done) this.#ended.resolve()
  }
}

const closings = new Map([
  ['deleted', 'the session was deleted'],
  ['fenced', 'another runtime took the session over'],
  ['shutdown', 'the runtime stopped'],
])

function closedError(reason: string, message: string | undefined): Refusal {
  const code = reason === 'storage' ? 'storage_unavailable' : 'fenced'
  return new Refusal(code, message ?? closings.get(reason) ?? `the session ended: ${reason}`)
}

// Owns the watching of a session's facts: history, then live, in bounded memory however slowly they are taken (SUB-1, SUB-2).
import { onAbort } from './abort.ts'
import { CallSite } from './call-site.ts'
import { Sequence, type SessionEvent } from './collect.ts'
import type { Connect, Subscription } from './connection.ts'
import { ProtocolError } from './errors.ts'
import { Queue } from './queue.ts'

export interface EventsOptions {
  /** The `seq` behind which the facts begin: 0 for the whole history. Default: `now`, the facts that come from here on. */
  after?: number | 'now' | undefined
  /** Begins with the receipt of this message instead. */
  from?: { messageId: string } | undefined
  /** Ends the iteration, which throws the signal's reason. */
  signal?: AbortSignal | undefined
}

type Cursor = Pick<EventsOptions, 'after' | 'from'>
type Step = IteratorResult<SessionEvent, undefined>

/** How many facts may wait to be taken before no more are fetched. */
const mostWaiting = 1000

/**
 * The facts of a session: history, then live, each once and in order, until the consumer stops. The subscription begins with the
 * first `next()` and ends with `return()`, which `break` calls. While 1,000 facts wait to be taken no more are fetched; none is
 * lost. Looking at a session starts no work (RE-3).
 */
export function tail(connect: Connect, sessionId: string, options: EventsOptions): AsyncIterable<SessionEvent> {
  const site = new CallSite(tail)
  return { [Symbol.asyncIterator]: () => new Tail(connect, sessionId, site, options) }
}

class Tail implements AsyncIterator<SessionEvent, undefined> {
  readonly #connect: Connect
  readonly #sessionId: string
  readonly #site: CallSite
  readonly #signal: AbortSignal | undefined
  #cursor: Cursor
  #queue: Queue<SessionEvent> | undefined
  #subscription: Subscription | undefined
  #deafen = (): void => {}
  #end: { error?: unknown } | undefined
  /** One next() after another: each looks at what the one before it left. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(connect: Connect, sessionId: string, site: CallSite, { after = 'now', from, signal }: EventsOptions) {
    this.#connect = connect
    this.#sessionId = sessionId
    this.#site = site
    this.#cursor = from === undefined ? { after } : { from }
    this.#signal = signal
  }

  next(): Promise<Step> {
    const step = this.#turn.then(() => this.#pull())
    this.#turn = step.catch(() => {})
    return step
  }

  return(): Promise<Step> {
    this.#close({})
    return Promise.resolve({ done: true, value: undefined })
  }

  async #pull(): Promise<Step> {
    while (this.#end === undefined) {
      this.#queue ??= this.#open()
      try {
        const step = await this.#queue.next()
        if (!step.done) return step
        this.#leave() // it was full: what is behind it is asked for anew
      } catch (error) {
        this.#leave()
        // Behind a fact that is malformed or missing another next() may go on; nothing else can.
        if (error instanceof ProtocolError && error.seq !== null) this.#cursor = { after: error.seq }
        else this.#close({})
        throw this.#site.shownIn(error)
      }
    }
    const { error } = this.#end
    this.#end = {}
    if (error !== undefined) throw error
    return { done: true, value: undefined }
  }

  #open(): Queue<SessionEvent> {
    const queue = new Queue<SessionEvent>()
    this.#deafen = onAbort(this.#signal, () => this.#close({ error: this.#signal?.reason }))
    if (this.#end !== undefined) queue.finish()
    this.#subscribe(queue).catch((error: unknown) => queue.finish({ error }))
    return queue
  }

  async #subscribe(queue: Queue<SessionEvent>): Promise<void> {
    const connection = await this.#connect()
    if (queue.ended) return
    const { after } = this.#cursor
    const sequence = new Sequence(typeof after === 'number' ? after : undefined)
    const subscription = connection.subscribe(
      { sessionId: this.#sessionId, ...this.#cursor },
      {
        event: (event) => {
          // Another session's facts have their own numbers.
          const isOwn = event.sessionId === this.#sessionId
          if (isOwn && !sequence.accept(event.seq)) return
          if (queue.length < mostWaiting) {
            if (isOwn) this.#cursor = { after: event.seq }
            queue.push(event)
          } else {
            subscription.close()
            queue.finish()
          }
        },
        failed: (error) => queue.finish({ error }),
      },
    )
    this.#subscription = subscription
    await subscription.opened
  }

  #leave(): void {
    this.#deafen()
    this.#subscription?.close()
    this.#subscription = undefined
    this.#queue = undefined
  }

  #close(end: { error?: unknown }): void {
    if (this.#end !== undefined) return
    this.#end = end
    void this.#queue?.return()
    this.#leave()
  }
}

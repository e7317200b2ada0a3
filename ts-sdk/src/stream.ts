// Owns what a caller iterates over: a run as it goes on, and a session's facts as they come.
import { randomUUID } from 'node:crypto'
import { type RunResult, Sequence, type SessionEvent } from './collect.ts'
import type { Connection, Subscription } from './connection.ts'
import type { ContentInput, SessionDeltaParams } from './generated/protocol.ts'
import { Queue } from './queue.ts'
import { follow, type RunOptions } from './run.ts'

/** A fact of the run's interval. */
export interface EventItem {
  kind: 'event'
  event: SessionEvent
}

/**
 * A piece of what the model is writing, on its way: of its text (`delta`), of its reasoning, or of a tool's input. Pieces are no
 * facts, and a slow reader may miss some (TU-4); the whole comes as the fact `assistant/message`.
 */
export interface DeltaItem {
  kind: 'delta' | 'reasoning_delta' | 'tool_input_delta'
  text: string
  /** Which block of the message it belongs to. */
  index: number
  turnId: string
  stepId: string
}

export type StreamItem = EventItem | DeltaItem

const kindOfDelta = new Map<string, DeltaItem['kind']>([
  ['text', 'delta'],
  ['reasoning', 'reasoning_delta'],
  ['tool_input', 'tool_input_delta'],
])

/** How many items may wait for their reader before deltas are left out. */
const patience = 4096

/**
 * A run that is under way, whether or not it is iterated. Iterating gives the interval's facts, each once, and deltas; it ends
 * with the run and throws what `result` rejects with. To stop iterating doesn't stop the run: abort its `signal` for that.
 */
export class RunStream implements AsyncIterable<StreamItem> {
  /** The id of the message that was prompted. */
  readonly messageId: string
  /** What `run()` would have given. Errors that nobody waits for are no unhandled rejections. */
  readonly result: Promise<RunResult>
  readonly #items = new Queue<StreamItem>(() => {})
  #iterated = false

  constructor(connection: Promise<Connection>, sessionId: string, content: ContentInput, options: RunOptions) {
    this.messageId = randomUUID()
    this.result = this.#follow(connection, sessionId, content, options)
    this.result.then(
      () => this.#items.finish(),
      (error: unknown) => this.#items.finish({ error }),
    )
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamItem, undefined> {
    if (this.#iterated) throw new TypeError('a run can be iterated once; keep what it gave, or read session.events()')
    this.#iterated = true
    return this.#items
  }

  async #follow(connection: Promise<Connection>, sessionId: string, content: ContentInput, options: RunOptions): Promise<RunResult> {
    return await follow(
      await connection,
      { ...options, sessionId, messageId: this.messageId, content },
      {
        event: (event) => this.#items.push({ kind: 'event', event }),
        delta: (delta) => this.#delta(delta),
      },
    )
  }

  #delta({ kind, text, index, turnId, stepId }: SessionDeltaParams): void {
    const known = kindOfDelta.get(kind)
    if (known !== undefined && this.#items.length < patience) this.#items.push({ kind: known, text, index, turnId, stepId })
  }
}

export interface EventsOptions {
  /** The `seq` behind which the facts begin: 0 for the whole history. Default: `now`, the facts that come from here on. */
  after?: number | 'now'
  /** Begins with the receipt of this message instead. */
  from?: { messageId: string }
  /** Ends the iteration, which throws the signal's reason. */
  signal?: AbortSignal
}

/**
 * The facts of a session: history, then live, each once and in order (SUB-1), until the consumer stops. The subscription begins
 * with the iteration, and ends with it. A consumer that is slower than the session holds up nobody: what it hasn't taken yet waits
 * in this process's memory.
 */
export function tail(connect: () => Promise<Connection>, sessionId: string, options: EventsOptions): AsyncIterable<SessionEvent> {
  return { [Symbol.asyncIterator]: () => new Tail(sessionId, options).begin(connect()) }
}

class Tail {
  readonly #sessionId: string
  readonly #options: EventsOptions
  readonly #queue = new Queue<SessionEvent>(() => this.#close())
  readonly #abort = (): void => this.#finish({ error: this.#options.signal?.reason })
  #subscription: Subscription | undefined

  constructor(sessionId: string, options: EventsOptions) {
    this.#sessionId = sessionId
    this.#options = options
  }

  begin(connecting: Promise<Connection>): AsyncIterator<SessionEvent, undefined> {
    this.#options.signal?.addEventListener('abort', this.#abort)
    if (this.#options.signal?.aborted) this.#abort()
    connecting.then((connection) => this.#subscribe(connection)).catch((error: unknown) => this.#finish({ error }))
    return this.#queue
  }

  async #subscribe(connection: Connection): Promise<void> {
    if (this.#queue.ended) return
    const { after = 'now', from } = this.#options
    const sequence = new Sequence(typeof after === 'number' && from === undefined ? after : undefined)
    this.#subscription = connection.subscribe(
      { sessionId: this.#sessionId, ...(from === undefined ? { after } : { from }) },
      {
        event: (event) => void (sequence.accept(event.seq) && this.#queue.push(event)),
        failed: (error) => this.#finish({ error }),
      },
    )
    await this.#subscription.opened
  }

  #finish(end: { error?: unknown }): void {
    this.#queue.finish(end)
    this.#close()
  }

  #close(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#subscription?.close()
  }
}

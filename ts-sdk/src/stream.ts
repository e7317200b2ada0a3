// Owns a run that is watched while it goes on: its facts, the pieces in between, and its result.
import { randomUUID } from 'node:crypto'
import type { RunResult, SessionEvent } from './collect.ts'
import type { Connect } from './connection.ts'
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
  readonly #items = new Queue<StreamItem>()
  #iterated = false

  constructor(connect: Connect, sessionId: string, content: ContentInput, options: RunOptions) {
    this.messageId = randomUUID()
    this.result = follow(
      connect,
      { ...options, sessionId, messageId: this.messageId, content },
      { event: (event) => this.#items.push({ kind: 'event', event }), delta: (delta) => this.#delta(delta) },
    )
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

  #delta({ kind, text, index, turnId, stepId }: SessionDeltaParams): void {
    const known = kindOfDelta.get(kind)
    if (known !== undefined && this.#items.length < patience) this.#items.push({ kind: known, text, index, turnId, stepId })
  }
}

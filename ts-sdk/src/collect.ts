// Owns what a run comes to: the pure fold from a session's facts to a RunResult. Orders by seq alone; never looks at a status
// that is not a fact, nor at which message a turn belongs to.
import { ProtocolError, QuiesceError } from './errors.ts'
import type { AssistantMessageData, Fact, Usage, WaitingOn } from './generated/protocol.ts'

/** One committed fact, with the session that it belongs to. */
export type SessionEvent = Fact & { sessionId: string }

/** Where a run ends: at the first idle, or at the first idle that waits on nothing (RUN-3). */
export type Until = 'idle' | 'quiescent'

/** Tokens, summed. `inputTokens` includes the cached ones, `outputTokens` the reasoning ones. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  reasoningTokens: number
}

/** The session's own steps, and what its settled children used, summed apart (RUN-12). */
export interface RunUsage extends TokenUsage {
  descendants: TokenUsage
}

/** What an interval held: the facts from a message's receipt through the idle that ended it (RUN-4). Plain data. */
export interface RunResult {
  sessionId: string
  messageId: string
  /**
   * The text of `finalMessage`, `''` where it has none. The last words of the interval, which is deliberately broader than the
   * message: they may answer a steer, or another caller's message (RUN-5).
   */
  finalResponse: string
  /** The last assistant message that the session committed in the interval, or null (RUN-5). */
  finalMessage: AssistantMessageData | null
  /** Every fact of the interval, in order. */
  events: SessionEvent[]
  usage: RunUsage
  /** What the agent still waited on at the end: empty means quiescent. */
  waitingOn: WaitingOn[]
}

/** Accepts each `seq` of one session once, in order (SUB-1, SUB-4). */
export class Sequence {
  #last: number | undefined

  /** `after`: the cursor, where it is known; otherwise the first fact may have any `seq`. */
  constructor(after?: number) {
    this.#last = after
  }

  /** False for a repeat. @throws ProtocolError where a fact is missing. */
  accept(seq: number): boolean {
    if (this.#last !== undefined && seq <= this.#last) return false
    if (this.#last !== undefined && seq !== this.#last + 1) {
      throw new ProtocolError(`facts are missing: seq ${seq} came after ${this.#last}`, { seq: seq - 1 })
    }
    this.#last = seq
    return true
  }
}

export interface RunInterval {
  sessionId: string
  messageId: string
  until: Until
  /** The `seq` behind which the facts begin, where it is known. */
  after?: number
}

/** Facts in, RunResult out (RUN-2 to RUN-7, RUN-12). Looks at nothing any more once the interval has ended. */
export class RunReducer {
  readonly #interval: RunInterval
  readonly #sequence: Sequence
  readonly #events: SessionEvent[] = []
  readonly #usage = noUsage()
  readonly #descendants = noUsage()
  #finalMessage: AssistantMessageData | null = null
  #waitingOn: WaitingOn[] = []
  #ended = false

  constructor(interval: RunInterval) {
    this.#interval = interval
    this.#sequence = new Sequence(interval.after)
  }

  /** Whether the receipt has come. */
  get begun(): boolean {
    return this.#events.length > 0
  }

  /** Whether the idle has come: the result is final. */
  get ended(): boolean {
    return this.#ended
  }

  /**
   * Takes the next fact as it was delivered; false where it is none of the interval's.
   * @throws ProtocolError where a fact is missing, QuiesceError where the message is an `inject`.
   */
  add(event: SessionEvent): boolean {
    if (this.#ended || event.sessionId !== this.#interval.sessionId || !this.#sequence.accept(event.seq)) return false
    if (!this.begun && !this.#opens(event)) return false
    this.#events.push(event)
    this.#fold(event)
    return true
  }

  /** What there is so far; the result, once the interval has ended. */
  result(): RunResult {
    const { sessionId, messageId } = this.#interval
    return {
      sessionId,
      messageId,
      finalResponse: textOf(this.#finalMessage),
      finalMessage: this.#finalMessage,
      events: [...this.#events],
      usage: { ...this.#usage, descendants: { ...this.#descendants } },
      waitingOn: this.#waitingOn,
    }
  }

  /** Whether the interval holds the receipt of another message of a client (RUN-9). */
  isShared(): boolean {
    return this.#events.some(
      (event) =>
        event.type === 'inbox/receipt' && event.data.message.origin.kind === 'user' && event.data.message.id !== this.#interval.messageId,
    )
  }

  #opens(event: SessionEvent): boolean {
    if (event.type !== 'inbox/receipt' || event.data.message.id !== this.#interval.messageId) return false
    if (event.data.message.delivery === 'inject') {
      throw new QuiesceError(
        `message ${this.#interval.messageId} can't be collected: it is an inject message, which wakes nobody and so opens no interval`,
      )
    }
    return true
  }

  #fold(event: SessionEvent): void {
    if (event.type === 'assistant/message') this.#finalMessage = event.data
    else if (event.type === 'step/end') addUsage(this.#usage, event.data.usage)
    else if (event.type === 'subagent/settled') addUsage(this.#descendants, event.data.usage)
    else if (event.type === 'agent/status' && event.data.status === 'idle') {
      this.#waitingOn = event.data.waitingOn ?? []
      this.#ended = this.#interval.until === 'idle' || this.#waitingOn.length === 0
    }
  }
}

function noUsage(): TokenUsage {
  return { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
}

function addUsage(sum: TokenUsage, usage: Usage): void {
  sum.inputTokens += usage.inputTokens
  sum.outputTokens += usage.outputTokens
  sum.cachedInputTokens += usage.cachedInputTokens ?? 0
  sum.reasoningTokens += usage.reasoningTokens ?? 0
}

function textOf(message: AssistantMessageData | null): string {
  if (message === null) return ''
  let text = ''
  for (const block of message.content) if (block.type === 'text') text += block.text
  return text
}

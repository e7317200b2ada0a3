// Owns the fold of an interval's facts into what a run came to (RUN-2 to RUN-6, RUN-12). Attributes nothing to a message.
import type { AnyFact, FactData, UsageOf, WaitingOnOf } from '@quiesce/schema'

export type Until = 'idle' | 'quiescent'

export interface RunUsage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  reasoningTokens: number
}

/** What an interval came to: plain data, the same as in both SDKs. */
export interface RunResult {
  sessionId: string
  messageId: string
  /** The text of `finalMessage`, `""` where it has none. */
  finalResponse: string
  /** The last assistant message committed in the interval; not attributed to the prompt (RUN-5). */
  finalMessage: FactData<'assistant/message'> | null
  events: AnyFact[]
  usage: RunUsage & { descendants: RunUsage }
  waitingOn: WaitingOnOf[]
}

/** Folds the facts of one session, in order, from a message's receipt to the idle that ends the interval. */
export class RunFold {
  readonly #sessionId: string
  readonly #messageId: string
  readonly #until: Until
  readonly #events: AnyFact[] = []
  readonly #usage = noTokens()
  readonly #descendants = noTokens()
  #finalMessage: FactData<'assistant/message'> | null = null
  #lastTurnEnd: FactData<'turn/end'> | null = null
  #waitingOn: WaitingOnOf[] = []
  #done = false

  constructor(sessionId: string, messageId: string, until: Until) {
    this.#sessionId = sessionId
    this.#messageId = messageId
    this.#until = until
  }

  /** One fact further; false where it is none of the interval's: before the receipt, or after the end. */
  apply(fact: AnyFact): boolean {
    if (this.#done) return false
    const begins = fact.type === 'inbox/receipt' && fact.data.message.id === this.#messageId
    if (this.#events.length === 0 && !begins) return false
    this.#events.push({ ...fact, sessionId: this.#sessionId })
    switch (fact.type) {
      case 'assistant/message':
        this.#finalMessage = fact.data
        break
      case 'step/end':
        add(this.#usage, fact.data.usage)
        break
      case 'subagent/settled':
        add(this.#descendants, fact.data.usage)
        break
      case 'turn/end':
        this.#lastTurnEnd = fact.data
        break
      case 'agent/status':
        if (fact.data.status !== 'idle') break
        this.#waitingOn = fact.data.waitingOn ?? []
        this.#done = this.#until === 'idle' || this.#waitingOn.length === 0
    }
    return true
  }

  /** The interval ended. */
  get done(): boolean {
    return this.#done
  }

  /** The last turn that ended in the interval. */
  get lastTurnEnd(): FactData<'turn/end'> | null {
    return this.#lastTurnEnd
  }

  /** The result; before the end, what there is so far. */
  result(): RunResult {
    return {
      sessionId: this.#sessionId,
      messageId: this.#messageId,
      finalResponse: textOf(this.#finalMessage),
      finalMessage: this.#finalMessage,
      events: [...this.#events],
      usage: { ...this.#usage, descendants: { ...this.#descendants } },
      waitingOn: this.#waitingOn,
    }
  }
}

/** The text of a message, its blocks joined. */
export function textOf(message: Pick<FactData<'assistant/message'>, 'content'> | null): string {
  return message?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? ''
}

const noTokens = (): RunUsage => ({ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 })

function add(sum: RunUsage, usage: UsageOf): void {
  sum.inputTokens += usage.inputTokens
  sum.outputTokens += usage.outputTokens
  sum.cachedInputTokens += usage.cachedInputTokens ?? 0
  sum.reasoningTokens += usage.reasoningTokens ?? 0
}

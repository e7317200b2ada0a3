// Owns what a run comes to, told once more in few words: the facts of one session in, the result out (RUN-2 to RUN-7, RUN-12).
// Shares nothing with the SDKs' own folds, which it is held against.

const counted = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens']

export class Interval {
  #sessionId
  messageId
  last
  #events = []
  #final = null
  #finish = null
  #own = noTokens()
  #descendants = noTokens()

  /** @param {{ sessionId: string, messageId: string, after: number | undefined }} of `after`: the cursor, where it is known */
  constructor({ sessionId, messageId, after }) {
    this.#sessionId = sessionId
    this.messageId = messageId
    this.last = after
  }

  /**
   * Takes a fact that is well-formed.
   * @returns {'ignored' | 'taken' | 'gap' | 'inject' | 'ended'}
   */
  add(sessionId, fact) {
    if (sessionId !== this.#sessionId) return 'ignored'
    const order = this.order(fact.seq)
    if (order !== 'next') return order
    this.last = fact.seq
    if (this.#events.length === 0) {
      const message = fact.type === 'inbox/receipt' ? fact.data.message : undefined
      if (message?.id !== this.messageId) return 'ignored'
      if (message.delivery === 'inject') return 'inject'
    }
    const { sessionId: _, ...event } = fact
    this.#events.push(event)
    return this.#fold(fact)
  }

  /** What a seq is, behind those that came. */
  order(seq) {
    if (this.last === undefined || seq === this.last + 1) return 'next'
    return seq <= this.last ? 'ignored' : 'gap'
  }

  #fold({ type, data }) {
    if (type === 'assistant/message') this.#final = data
    if (type === 'step/end') add(this.#own, data.usage)
    if (type === 'subagent/settled') add(this.#descendants, data.usage)
    if (type === 'turn/end') this.#finish = data.reason.kind
    return type === 'agent/status' && data.status === 'idle' ? 'ended' : 'taken'
  }

  /** The result in the words of the wire; `finishReason` is Python's. */
  result() {
    const blocks = this.#final?.content ?? []
    return {
      sessionId: this.#sessionId,
      messageId: this.messageId,
      finalResponse: blocks.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
      finalMessage: this.#final,
      events: this.#events,
      usage: { ...this.#own, descendants: this.#descendants },
      waitingOn: this.#events.at(-1).data.waitingOn ?? [],
      finishReason: this.#finish,
    }
  }
}

const noTokens = () => Object.fromEntries(counted.map((name) => [name, 0]))

function add(sum, usage) {
  for (const name of counted) sum[name] += usage[name] ?? 0
}

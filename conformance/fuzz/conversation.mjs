// Owns logs of sessions for scenarios: right facts, numbered without a gap, of whole turns with whatever else may stand between them.
import { knownFacts } from './schema.mjs'
import { Values } from './values.mjs'

/** What tells of a turn's own course, and of messages: it stands where it must, and nowhere else. */
const ofTheTurn = ['InboxReceipt', 'InboxAdmitted', 'AgentStatus', 'TurnStart', 'StepStart', 'AssistantMessage', 'StepEnd', 'TurnEnd']
const between = knownFacts.filter((name) => !ofTheTurn.includes(name))

const tokens = (random) => ({
  inputTokens: random.below(1000),
  outputTokens: random.below(1000),
  ...(random.chance(0.3) && { cachedInputTokens: random.below(9) }),
  ...(random.chance(0.3) && { reasoningTokens: random.below(9), 'x-more': null }),
})

export class Conversation {
  #random
  #values
  #steps = 0
  /** The facts so far. */
  facts = []

  /** @param {import('./random.mjs').Random} random @param {string} sessionId @param {number} after the seq before its first fact */
  constructor(random, sessionId, after) {
    this.#random = random
    this.sessionId = sessionId
    this.seq = after
    this.#values = new Values(random, { SessionId: () => sessionId, Usage: tokens })
  }

  /** The facts from a message's receipt to an idle behind it. @returns {object[]} those that are new */
  run(messageId) {
    const random = this.#random
    const first = this.facts.length
    for (let left = random.below(3); left > 0; left -= 1) this.#anything()
    this.#receipt(messageId)
    const activityId = random.id('act')
    this.#fact('agent/status', { status: 'running', activityId })
    for (let left = random.between(1, 2); left > 0; left -= 1) this.#turn(messageId, activityId)
    const waitingOn = random.once(4) ? [this.#values.of('WaitingOn')] : []
    this.#fact('agent/status', { status: 'idle', activityId, ...(random.once(8) && waitingOn.length === 0 ? {} : { waitingOn }) })
    return this.facts.slice(first)
  }

  /** Facts that open and end nothing. */
  idleTalk(count) {
    const first = this.facts.length
    for (let left = count; left > 0; left -= 1) this.#anything()
    return this.facts.slice(first)
  }

  #turn(messageId, activityId) {
    const random = this.#random
    const turnId = random.id('turn')
    this.#fact('turn/start', { turnId, activityId, trigger: this.#trigger(messageId) })
    for (let left = random.below(3); left > 0; left -= 1) this.#step(turnId, messageId)
    this.#fact('turn/end', { turnId, reason: { kind: this.#kind(), 'x-note': 1 }, usage: tokens(random) })
  }

  #step(turnId, messageId) {
    const random = this.#random
    this.#steps += 1
    const step = { turnId, stepId: `step-${this.#steps}` }
    if (random.once(2)) this.#fact('inbox/admitted', { messageId, ...step })
    if (random.once(6)) this.#receipt(random.id('other'), random.pick(['steer', 'inject', 'later']))
    this.#fact('step/start', { ...step, model: 'scripted/demo' })
    for (let left = random.below(3); left > 0; left -= 1) this.#anything()
    if (random.chance(0.8)) {
      const content = this.#values.of('Content')
      if (random.chance(0.7)) content.push({ type: 'text', text: this.#values.text() })
      const rest = { outputId: random.id('out'), content, model: 'm', finish: 'stop', usage: tokens(random) }
      this.#fact('assistant/message', { ...step, ...rest })
    }
    this.#fact('step/end', { ...step, usage: tokens(random) })
  }

  #trigger(messageId) {
    const random = this.#random
    if (random.once(5)) return { kind: 'recovery', turnId: random.id('turn') }
    return random.once(8) ? { kind: 'a new kind', of: messageId } : { kind: 'message', messageId }
  }

  #kind() {
    return this.#random.pick(['completed', 'completed', 'completed', 'error', 'cancelled', 'a new kind'])
  }

  #receipt(id, delivery = 'followup') {
    const random = this.#random
    const origin = random.pick([{ kind: 'user' }, { kind: 'user' }, { kind: 'star', of: 5 }])
    const message = {
      id,
      delivery,
      origin,
      content: [
        { type: 'text', text: this.#values.text() },
        { type: 'hologram', depth: random.below(9) },
      ],
    }
    this.#fact('inbox/receipt', {
      message: random.once(3) ? { ...message, metadata: { [this.#values.key()]: this.#values.any() } } : message,
    })
  }

  /** A fact of any kind that changes nothing of the interval's course, known or not. */
  #anything() {
    const random = this.#random
    if (random.once(4)) {
      this.#fact(random.pick(['sky/change', '__proto__', 'turn/pause', 'Turn/End', '']), this.#values.any())
      return
    }
    const { type, data } = this.#values.of(random.pick(between))
    this.#fact(type, data)
  }

  #fact(type, data) {
    const random = this.#random
    this.seq += 1
    this.facts.push({
      ...(random.once(10) && { sessionId: this.sessionId }),
      seq: this.seq,
      type,
      time: 1_796_000_000_000 + this.seq,
      data,
      ...(random.once(12) && { [random.pick(['x-new', 'id', 'constructor'])]: this.#values.any() }),
    })
  }
}

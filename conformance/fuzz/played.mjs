// Owns the playing of a scenario's runtime: which request of the client is which of the scenario's, and bytes with the real ids in them.

export class Played {
  /** Requests that came and that no step has asked for yet. */
  #unread = []
  #waiting = []
  /** What stands in the scenario, and what is to stand in the bytes. */
  #names = []
  /** Errors that the client answered requests of the runtime with. */
  refused = 0
  prompts = 0

  /** A frame of the client. */
  take(text) {
    const message = JSON.parse(text)
    if (message.method === undefined) {
      this.refused += message.error?.code === -32601 ? 1 : 0
      return
    }
    if (message.method === 'session/prompt') this.prompts += 1
    this.#unread.push(message)
    for (const look of this.#waiting.splice(0)) look()
  }

  /** Resolves with the request that a step binds, once it is there; from then on its ids are known. */
  async bind(step) {
    const request = await this.#request(step)
    this.#names.push([String(step.id), String(request.id)])
    if (step.subscription !== undefined) this.#names.push([step.subscription, request.params.subscriptionId])
    if (step.message !== undefined) this.#names.push([step.message, request.params.messageId])
    return request
  }

  /** A prompt says which call it is of; all else comes in the order in which the scenario asks for it. */
  #request(step) {
    const isIt = ({ method, params }) =>
      method === step.method && (params.sessionId ?? step.session) === step.session && (params.content ?? step.name) === step.name
    const found = this.#unread.findIndex(isIt)
    if (found !== -1) return this.#unread.splice(found, 1)[0]
    return new Promise((resolve) => this.#waiting.push(() => resolve(this.#request(step))))
  }

  /** A value in which the scenario's own names stand for the real ids of texts. */
  named(value) {
    let text = JSON.stringify(value)
    for (const [name, real] of this.#names) if (real.length === 36) text = text.replaceAll(real, name)
    return JSON.parse(text)
  }

  /** The bytes of a step as they go over the wire, cut where the scenario cuts them. @returns {Buffer[]} */
  chunks({ bytes, cuts }) {
    let text = bytes.toString('latin1')
    for (const [name, real] of this.#names) if (name !== real) text = text.replaceAll(name, real)
    const whole = Buffer.from(text, 'latin1')
    const places = [0, ...cuts.filter((at) => at < whole.length), whole.length]
    return places.slice(1).map((end, i) => whole.subarray(places[i], end))
  }
}

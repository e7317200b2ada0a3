// Owns the single frames that a runtime may send to an SDK, right and wrong, each written in one of its spellings.
import { isHazy, parsed } from './hazy.mjs'
import { written } from './json-text.mjs'
import { odd } from './odd.mjs'
import { errorCodes, noticeOf, notificationNames } from './schema.mjs'
import { Values } from './values.mjs'

/** The sessions that a scenario speaks of. */
export const sessions = ['s-1', 's-2']

export class SdkFrames {
  #random
  #language
  /** Values of the schema's types, in the scenario's terms. */
  values

  /** @param {import('./random.mjs').Random} random @param {'typescript' | 'python'} language */
  constructor(random, language) {
    this.#random = random
    this.#language = language
    this.values = new Values(random, { SessionId: () => random.pick(sessions), Usage: () => ({ inputTokens: 1, outputTokens: 2 }) })
  }

  /** Made of digits, which no spelling of JSON hides. */
  uuid() {
    const digits = () => String(this.#random.between(1000, 9999))
    return `${digits()}${digits()}-${digits()}-4${digits().slice(1)}-8${digits().slice(1)}-${digits()}${digits()}${digits()}`
  }

  error() {
    const random = this.#random
    const code = random.pick([...Object.keys(errorCodes), 'a_new_code'])
    return random.pick([
      { code: -32000, message: 'no', data: { code, retryable: random.chance(0.5), more: 1 } },
      { code: random.pick([-32600, -32601, -32602, -32603, -32700, -1, 7]), message: 'no' },
    ])
  }

  /** For a subscription that nobody has. */
  notice() {
    const random = this.#random
    const method = random.pick(notificationNames)
    const params = { ...this.values.of(noticeOf(method)), subscriptionId: random.pick(['nobody', '', '__proto__', this.uuid()]) }
    const isWrong = random.once(3)
    return this.sane({ jsonrpc: '2.0', method, params: isWrong ? { ...params, sessionId: odd(random), event: odd(random) } : params })
  }

  closed() {
    const random = this.#random
    const error = {
      message: 'why',
      ...(random.chance(0.7) && { data: { code: random.pick(['fenced', 'storage_unavailable', 'new']), retryable: true } }),
    }
    return { reason: random.pick(['deleted', 'fenced', 'storage', 'shutdown', 'weather']), ...(random.chance(0.5) && { error }) }
  }

  line(message) {
    return this.clear(Buffer.from(written(message, this.#random)))
  }

  /** The same, but nothing where it would be no JSON. */
  sane(message) {
    const line = this.line(message)
    return parsed(line.toString()) === undefined ? Buffer.from('') : line
  }

  /** Nothing, where it isn't told what the language makes of it. */
  clear(bytes) {
    return isHazy(bytes, this.#language) ? Buffer.from('') : bytes
  }
}

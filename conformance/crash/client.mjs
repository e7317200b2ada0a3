// Owns one process of the runtime, and the raw protocol with it: every answer and every notification that came is kept, whatever
// becomes of the process. A peer of its own: no SDK takes part.
import { spawn } from 'node:child_process'
import { LogReading } from './log-rules.mjs'

/** The runtime ended while something was awaited of it. */
export class Ended extends Error {}

/** The runtime answered with an error. */
export class Refused extends Error {
  constructor(method, { code, message, data }) {
    super(`${method}: ${message}`)
    this.code = data?.code ?? code
  }
}

/** A process of the runtime, and all that it said. */
export class RuntimeProcess {
  stderr = ''
  /** How it ended: {code, signal}. Resolves once its output was read to the end. */
  ended
  #lines

  constructor(bundle, args, { env, cwd }, onLine) {
    this.child = spawn(process.execPath, [bundle, ...args], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#lines = onLine
    let rest = ''
    this.child.stdout.setEncoding('utf8').on('data', (chunk) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      for (const line of lines) this.#lines(line)
    })
    this.child.stderr.setEncoding('utf8').on('data', (chunk) => {
      this.stderr += chunk
    })
    // It may be gone before it has read what was sent.
    this.child.stdin.on('error', () => undefined)
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject)
      this.child.on('close', (code, signal) => resolve({ code, signal }))
    })
  }

  signal(name) {
    this.child.kill(name)
  }

  closeInput() {
    this.child.stdin.end()
  }
}

/** A client of one runtime over stdio. */
export class Client {
  /** In the order in which they were sent: {method, params, answer, toBeRefused}, `answer` being {result}, {error} or undefined. */
  calls = []
  /** In the order in which they came. */
  notifications = []
  /** By session: the facts that came, and their reading. */
  #followed = new Map()
  #waiting = new Set()
  #over = false

  constructor(bundle, place) {
    this.process = new RuntimeProcess(bundle, ['serve', '--stdio'], place, (line) => this.#receive(JSON.parse(line)))
    this.ended = this.process.ended.then((end) => {
      this.#over = true
      for (const waiting of [...this.#waiting]) waiting.fail(new Ended(`the runtime ended while ${waiting.what} was awaited`))
      return end
    })
  }

  /** Sends a request and resolves with its result. *Contract:* rejects with Refused or Ended. */
  async call(method, params = {}, { toBeRefused = false } = {}) {
    const call = { method, params, answer: undefined, toBeRefused }
    const id = this.calls.push(call)
    this.process.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await this.until(`the answer to ${method}`, () => call.answer !== undefined)
    if ('error' in call.answer) throw new Refused(method, call.answer.error)
    return call.answer.result
  }

  /** Expects a refusal with this code. */
  async refused(code, method, params) {
    try {
      await this.call(method, params, { toBeRefused: true })
    } catch (error) {
      if (error instanceof Refused && error.code === code) return
      throw error
    }
    throw new Error(`${method} was not refused as ${code}`)
  }

  /** What is awaited now. */
  get awaited() {
    return [...this.#waiting].map(({ what }) => what)
  }

  begin() {
    return this.call('initialize', { protocol: { min: 1, max: 1 }, client: { name: 'crash', version: '1' } })
  }

  /** Resolves once `holds` does: it is looked at after every frame. *Contract:* rejects with Ended. */
  until(what, holds) {
    return new Promise((resolve, reject) => {
      const waiting = {
        what,
        look: () => {
          if (!holds()) return
          this.#waiting.delete(waiting)
          resolve()
        },
        fail: reject,
      }
      this.#waiting.add(waiting)
      waiting.look()
      if (this.#over && this.#waiting.has(waiting)) reject(new Ended(`the runtime had ended when ${what} was awaited`))
    })
  }

  /** Resolves with what `promise` does. *Contract:* rejects with Ended where the runtime ends first. */
  meanwhile(what, promise) {
    return Promise.race([promise, this.ended.then(() => Promise.reject(new Ended(`the runtime ended while ${what} was awaited`)))])
  }

  facts(sessionId) {
    return this.#of(sessionId).facts
  }

  /** Resolves once a fact came for which `test` holds. */
  fact(sessionId, type, test = () => true) {
    return this.until(`a fact ${type}`, () => this.facts(sessionId).some((fact) => fact.type === type && test(fact.data)))
  }

  /** Resolves once the facts that came say that nothing is left to do. */
  settled(sessionId, atLeast = 1) {
    const { reading } = this.#of(sessionId)
    return this.until('settling', () => reading.seq >= atLeast && reading.settled)
  }

  #of(sessionId) {
    if (!this.#followed.has(sessionId)) this.#followed.set(sessionId, { facts: [], reading: new LogReading() })
    return this.#followed.get(sessionId)
  }

  #receive(message) {
    if (message.id !== undefined) {
      const call = this.calls[message.id - 1]
      if (call === undefined || call.answer !== undefined) throw new Error(`an answer to nothing: ${JSON.stringify(message)}`)
      call.answer = 'error' in message ? { error: message.error } : { result: message.result }
    } else {
      this.notifications.push(message)
      if (message.method === 'session.event') {
        const { sessionId, event } = message.params
        const { facts, reading } = this.#of(sessionId)
        facts.push(event)
        reading.read(event)
      }
    }
    for (const waiting of [...this.#waiting]) waiting.look()
  }
}

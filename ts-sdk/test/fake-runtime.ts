// Owns a runtime in memory, scripted by a test: it keeps every request, answers what it was told to, and sends what it is told to.
import type { QuiesceError } from '../src/errors.ts'
import type { Receiver, Transport } from '../src/peer.ts'

export interface Request {
  id: number
  method: string
  params: Record<string, unknown>
}

type Handler = (params: Record<string, unknown>) => unknown

export const silence = Symbol('silence')

/** Thrown by a handler to answer with an error. */
export class Refusal extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: string | number, message = 'no', details: Record<string, unknown> = {}) {
    super(message)
    this.code = typeof code === 'number' ? code : -32000
    this.data = typeof code === 'number' ? details : { code, retryable: false, ...details }
  }
}

export class FakeRuntime implements Transport {
  readonly requests: Request[] = []
  holds = 0
  stops = 0
  readonly #handlers = new Map<string, Handler>()
  readonly #awaited = new Map<string, ((request: Request) => void)[]>()
  #unread: Request[] = []
  #receiver: Receiver | undefined

  constructor() {
    this.on('initialize', () => ({
      protocol: 1,
      server: { name: 'fake', version: '0' },
      capabilities: { methods: [], deltas: true },
      limits: { maxFrameBytes: 33_554_432, maxInFlight: 100, maxPendingMessages: 100 },
    }))
    this.on('session/subscribe', (params) => ({ subscriptionId: params.subscriptionId, status: 'idle', seq: 0, waitingOn: [] }))
    this.on('session/unsubscribe', () => ({}))
    this.on('session/prompt', (params) => ({ messageId: params.messageId ?? 'm-server' }))
    this.on('session/withdraw', () => ({ withdrawn: true }))
    this.on('session/cancel', () => ({ cancelled: true, withdrawn: [] }))
    this.on('server/ping', () => ({}))
    this.on('shutdown', () => ({}))
  }

  /** Answers `method` from now on: with what the handler gives, an error where it throws a Refusal, not at all with `silence`. */
  on(method: string, handler: Handler): this {
    this.#handlers.set(method, handler)
    return this
  }

  /** The next request of this method that no test has seen yet, now or later. */
  received(method: string): Promise<Request> {
    const found = this.#unread.find((request) => request.method === method)
    if (found !== undefined) {
      this.#unread = this.#unread.filter((request) => request !== found)
      return Promise.resolve(found)
    }
    return new Promise((resolve) => this.#awaited.set(method, [...(this.#awaited.get(method) ?? []), resolve]))
  }

  methods(): string[] {
    return this.requests.map((request) => request.method)
  }

  answer(request: Request, result: unknown): void {
    this.frame(JSON.stringify({ jsonrpc: '2.0', id: request.id, result }))
  }

  notify(method: string, params: unknown): void {
    this.frame(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  /** Sends facts to a subscription, as `session.event`. */
  facts(subscribed: Request, facts: readonly object[], sessionId: unknown = subscribed.params.sessionId): void {
    for (const event of facts) this.notify('session.event', { subscriptionId: subscribed.params.subscriptionId, sessionId, event })
  }

  /** Delivers one raw frame, in order, never before the caller has gone on. */
  frame(text: string): void {
    queueMicrotask(() => this.#receiver?.frame(text))
  }

  end(error: QuiesceError): void {
    queueMicrotask(() => this.#receiver?.ended(error))
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver
  }

  send(frame: string): void {
    const message = JSON.parse(frame)
    if (message.method === undefined) {
      this.#see({ id: message.id, method: '(answer)', params: message })
      return
    }
    const request: Request = { id: message.id, method: message.method, params: message.params }
    this.#see(request)
    const handler = this.#handlers.get(request.method)
    if (handler === undefined) throw new Error(`the test does not answer ${request.method}`)
    try {
      const result = handler(request.params)
      if (result !== silence) this.answer(request, result)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const refusal = { code: error.code, message: error.message, data: error.data }
      this.frame(JSON.stringify({ jsonrpc: '2.0', id: request.id, error: refusal }))
    }
  }

  hold(): void {
    this.holds += 1
  }

  release(): void {
    this.holds -= 1
  }

  stop(): Promise<void> {
    this.stops += 1
    return Promise.resolve()
  }

  #see(request: Request): void {
    this.requests.push(request)
    const waiting = this.#awaited.get(request.method)?.shift()
    if (waiting === undefined) this.#unread.push(request)
    else waiting(request)
  }
}

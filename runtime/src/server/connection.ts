// Owns one client's connection: initialize first and once (FR-3), params checked once, requests of one session in order.
import type { MethodName } from '@quiesce/schema'
import { Refusal } from '../log/refusal.ts'
import type { Sink, Subscriptions } from '../subscriptions/subscriptions.ts'
import { Backpressure } from './backpressure.ts'
import { Lanes } from './lanes.ts'
import { isMethod, methodNames, type Prepare, type ServerPorts, serveMethods } from './methods.ts'
import { type Answer, Peer, RefusedRequest } from './peer.ts'
import { invalidRequest, methodNotFound } from './rpc-error.ts'

/** More of a client's name is kept nowhere: it stands in each cancel of it. */
const MAX_CLIENT_NAME = 200

/** Where the connection's frames go. */
export interface ConnectionOutput {
  send(frame: string): void
  drained(): Promise<void>
  ready(): boolean
}

export interface ConnectionPorts extends ServerPorts {
  subscriptions(sink: Sink): Subscriptions
  report(what: string, error: unknown): void
  /** Stops the runtime; resolves once everything is committed. Safe to call twice. */
  stop(): Promise<void>
}

export class Connection {
  readonly peer: Peer
  readonly #methods: Readonly<Record<MethodName, Prepare>>
  readonly #subscriptions: Subscriptions
  readonly #lanes = new Lanes()
  readonly #backpressure: Backpressure
  readonly #running = new Set<Promise<unknown>>()
  #client = 'client'
  #phase: 'new' | 'initialized' | 'stopping' = 'new'

  /** `onStopped` is called after the answer to `shutdown` was sent. */
  constructor(ports: ConnectionPorts, output: ConnectionOutput, onStopped: () => void) {
    this.peer = new Peer({
      send: (frame) => output.send(frame),
      dispatch: (method, params) => this.#dispatch(method, params),
      report: ports.report,
      maxInFlight: ports.limits.maxInFlight,
    })
    this.#backpressure = new Backpressure(output)
    this.#subscriptions = ports.subscriptions({
      send: (method, params) => this.peer.notify(method, params),
      drained: () => output.drained(),
      ready: () => output.ready(),
    })
    this.#methods = serveMethods(ports, {
      subscriptions: this.#subscriptions,
      by: () => this.#client,
      initialized: (client) => {
        this.#client = client.slice(0, MAX_CLIENT_NAME)
        this.#phase = 'initialized'
      },
      stop: async () => {
        this.#phase = 'stopping'
        await this.settled()
        await ports.stop()
      },
      stopped: onStopped,
    })
  }

  /** Resolves once the requests that came before are through. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running])
  }

  /** It is going to end: a client that doesn't read is waited for no more. */
  hurry(): void {
    this.#backpressure.hurry()
  }

  close(): void {
    this.#phase = 'stopping'
    this.#subscriptions.close()
  }

  async #dispatch(method: string, params: unknown): Promise<Answer> {
    this.#admit(method)
    if (!isMethod(method)) throw new RefusedRequest(methodNotFound(method, methodNames))
    const { sessionId, run, answer } = this.#methods[method](params ?? {})
    // It waits for the others, so it isn't one of them.
    if (method === 'shutdown') return run()
    // Room is waited for at the head of a lane, and by what waits for no lane: so the two can't wait for each other.
    const start = answer === 'small' ? run : () => this.#backpressure.run(run)
    const running = sessionId === null ? start() : this.#lanes.run(sessionId, start)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  #admit(method: string): void {
    if (this.#phase === 'stopping') throw new Refusal('shutting_down', 'the runtime is shutting down')
    if (this.#phase === 'new' && method !== 'initialize')
      throw new Refusal('not_initialized', `${method} came before initialize: send initialize first, and once`)
    if (this.#phase === 'initialized' && method === 'initialize')
      throw new RefusedRequest(invalidRequest('initialize comes once, and this connection has had it'))
  }
}

// Owns one connection: its first word and its last, requests and results in their types, and which notification belongs to
// which subscription. What comes over the wire is checked here, once; what doesn't fit is the error of whom it concerns alone.
import { randomUUID } from 'node:crypto'
import { fromCaller } from './call-site.ts'
import type { SessionEvent } from './collect.ts'
import { ConnectionClosedError, isRecord, ProtocolError, QuiesceError, RequestTimeoutError, rpcErrorFor, rpcErrorOf } from './errors.ts'
import { decodeEventFrame, decodeFact, decodeNotification, decodeResult, encodeParams, isNotification } from './generated/guards.ts'
import { type MethodName, type Methods, type NotificationName, type Notifications, protocolVersion } from './generated/methods.ts'
import type { SessionClosedParams, SessionDeltaParams, SessionSubscribeParams, SessionSubscribeResult } from './generated/protocol.ts'
import { checkJson } from './json.ts'
import { ownOf, Peer, type Transport } from './peer.ts'
import { shown } from './shown.ts'

/** Who hears what one subscription brings. *Contract:* what a method throws ends this subscription and reaches `failed`. */
export interface Observer {
  event(event: SessionEvent): void
  delta?(delta: SessionDeltaParams): void
  /** The subscription is over; called at most once, and nothing comes after it. */
  failed(error: QuiesceError): void
}

export interface Subscription {
  /** What the server answered: the status and last `seq` at the cursor. */
  opened: Promise<SessionSubscribeResult>
  /** Ends it, without waiting: nothing reaches the observer any more. Safe to call again. */
  close(): void
}

/** Gives the connection, and starts the runtime where it doesn't run yet. */
export type Connect = () => Promise<Connection>

/**
 * One request of a public call.
 * @throws what `Connection.call` throws, and what starting the runtime does, with the stack of whoever called.
 */
export function request<M extends MethodName>(connect: Connect, method: M, params: Methods[M]['params']): Promise<Methods[M]['result']> {
  return fromCaller(async () => (await connect()).call(method, params))
}

/** How long `shutdown` may take, in milliseconds, before the process is ended without its answer. */
const shutdownMs = 5000
const client = { name: '@quiesce/sdk', version: '0.1.0' }

export class Connection {
  readonly #transport: Transport
  readonly #peer: Peer
  readonly #observers = new Map<string, Observer>()
  #closing: Promise<void> | undefined

  private constructor(transport: Transport, requestTimeoutMs: number) {
    this.#transport = transport
    this.#peer = new Peer({
      transport,
      requestTimeoutMs,
      onNotification: (method, params) => this.#notice(method, params),
      onEnd: (error) => this.#end(error),
    })
  }

  /** Greets the other side (FR-3); where that fails, nothing of the transport is left. */
  static async open(transport: Transport, requestTimeoutMs: number): Promise<Connection> {
    const connection = new Connection(transport, requestTimeoutMs)
    try {
      const range = { min: protocolVersion, max: protocolVersion }
      const { protocol, limits } = await connection.call('initialize', { protocol: range, client })
      if (protocol !== protocolVersion) {
        throw rpcErrorFor('unsupported_protocol', `the runtime chose protocol ${protocol}; this package speaks ${protocolVersion}`)
      }
      connection.#peer.maxFrameBytes = limits.maxFrameBytes
      return connection
    } catch (error) {
      await transport.stop()
      throw error
    }
  }

  /**
   * Makes a request; its result is checked. `timeoutMs` replaces the connection's own limit.
   * @throws RpcError, RequestTimeoutError, ConnectionClosedError, ProtocolError; TypeError where JSON can't carry the params.
   */
  async call<M extends MethodName>(method: M, params: Methods[M]['params'], timeoutMs?: number): Promise<Methods[M]['result']> {
    const encoded = encodeParams(method, params)
    checkJson(method, encoded)
    const decoded = decodeResult(method, await this.#peer.request(method, encoded, timeoutMs))
    if (decoded.ok) return decoded.value
    throw new ProtocolError(`the result of ${method} is malformed: ${where(decoded)}`)
  }

  /** Starts a cursor (SUB-1). The id is made here, so that what comes before the answer finds its observer (SUB-4). */
  subscribe(params: Omit<SessionSubscribeParams, 'subscriptionId'>, observer: Observer): Subscription {
    const subscriptionId = randomUUID()
    this.#observers.set(subscriptionId, observer)
    this.#transport.hold()
    const opened = this.call('session/subscribe', { ...params, subscriptionId })
    opened.catch((error: unknown) => {
      this.#forget(subscriptionId)
      if (error instanceof RequestTimeoutError) this.#unsubscribe(subscriptionId) // it may be carried out yet
    })
    const close = (): void => {
      if (this.#forget(subscriptionId) !== undefined) this.#unsubscribe(subscriptionId)
    }
    return { opened, close }
  }

  /** Ends the connection: `shutdown`, then the transport. Bounded; subscriptions end at once, with ConnectionClosedError. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#failAll(new ConnectionClosedError('close() was called'))
    await this.call('shutdown', {}, shutdownMs).catch(() => {}) // what can't be asked to end is ended
    this.#peer.fail(new ConnectionClosedError('close() was called'))
    await this.#transport.stop()
  }

  #end(error: QuiesceError): void {
    this.#failAll(error)
    void this.#transport.stop()
  }

  #failAll(error: QuiesceError): void {
    for (const id of [...this.#observers.keys()]) this.#forget(id)?.failed(ownOf(error))
  }

  #forget(subscriptionId: string): Observer | undefined {
    const observer = this.#observers.get(subscriptionId)
    if (this.#observers.delete(subscriptionId)) this.#transport.release()
    return observer
  }

  /** Ends one subscription with an error, on both sides. */
  #fail(subscriptionId: string, error: QuiesceError): void {
    const observer = this.#forget(subscriptionId)
    if (observer === undefined) return
    this.#unsubscribe(subscriptionId)
    observer.failed(error)
  }

  /** Nobody waits for the answer: the subscription is over either way. */
  #unsubscribe(subscriptionId: string): void {
    this.call('session/unsubscribe', { subscriptionId }).catch(() => {})
  }

  #notice(method: string, params: unknown): void {
    if (!isNotification(method)) return
    switch (method) {
      case 'session.event':
        this.#event(params)
        break
      case 'session.delta':
        this.#checked(method, params, (delta) => this.#tell(delta.subscriptionId, (observer) => observer.delta?.(delta)))
        break
      case 'session.closed':
        this.#checked(method, params, (closed) => this.#closed(closed))
        break
      case 'session.status':
        this.#checked(method, params, () => {}) // says nothing that the facts don't say
    }
  }

  #checked<N extends NotificationName>(method: N, params: unknown, take: (value: Notifications[N]) => void): void {
    const decoded = decodeNotification(method, params)
    if (decoded.ok) take(decoded.value)
    else this.#malformed(method, params, where(decoded))
  }

  #event(params: unknown): void {
    const frame = decodeEventFrame(params)
    if (!frame.ok) {
      this.#malformed('session.event', params, where(frame))
      return
    }
    const { subscriptionId, sessionId, event } = frame.value
    if (!this.#observers.has(subscriptionId)) return // closed here, and the server had sent on
    const fact = decodeFact(event)
    if (fact.ok) this.#tell(subscriptionId, (observer) => observer.event({ ...fact.value, sessionId }))
    else {
      const { name, seq } = identityOf(event)
      this.#fail(subscriptionId, new ProtocolError(`a fact of session ${sessionId} is malformed: ${where(fact)} (${name})`, { seq }))
    }
  }

  #tell(subscriptionId: string, tell: (observer: Observer) => void): void {
    const observer = this.#observers.get(subscriptionId)
    if (observer === undefined) return
    try {
      tell(observer)
    } catch (cause) {
      this.#fail(subscriptionId, cause instanceof QuiesceError ? cause : new QuiesceError('an observer threw', { cause }))
    }
  }

  /** A notification that nobody can be found for concerns everybody: a fact may be lost. */
  #malformed(method: string, params: unknown, fault: string): void {
    const error = new ProtocolError(`a ${method} notification is malformed: ${fault}`)
    const subscriptionId = isRecord(params) ? params.subscriptionId : undefined
    if (typeof subscriptionId === 'string') this.#fail(subscriptionId, error)
    else for (const id of [...this.#observers.keys()]) this.#fail(id, ownOf(error))
  }

  #closed({ subscriptionId, sessionId, reason, error }: SessionClosedParams): void {
    const message = `session ${sessionId} can't go on in this runtime (${reason})${error === undefined ? '' : `: ${error.message}`}`
    const data = error?.data ?? { code: codeOfReason.get(reason) ?? 'internal', retryable: reason !== 'deleted' }
    this.#forget(subscriptionId)?.failed(rpcErrorOf({ code: -32000, message, data }))
  }
}

const codeOfReason = new Map([
  ['deleted', 'session_not_found'],
  ['fenced', 'fenced'],
  ['storage', 'storage_unavailable'],
  ['shutdown', 'shutting_down'],
])

function where({ path, message }: { path: string; message: string }): string {
  return path === '' ? message : `${path}: ${message}`
}

/** What can be said of a fact that is malformed. */
function identityOf(event: unknown): { name: string; seq: number | null } {
  if (!isRecord(event)) return { name: 'not an object', seq: null }
  const seq = typeof event.seq === 'number' && Number.isSafeInteger(event.seq) ? event.seq : null
  return { name: `type ${shown(event.type)}, seq ${shown(event.seq)}`, seq }
}

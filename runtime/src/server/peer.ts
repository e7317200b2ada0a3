// Owns the server's side of JSON-RPC 2.0: what is a request, which answer belongs to it, in which form it fails (FR-2).
// Knows no method.
import { failpoint } from '../base/failpoint.ts'
import { Refusal } from '../log/refusal.ts'
import type { FrameSink } from './framing.ts'
import { invalidRequest, parseError, type RpcError, rpcErrorOf } from './rpc-error.ts'

export const MAX_IN_FLIGHT = 1024

export interface Answer {
  result: unknown
  /** Runs right after the answer was sent: nothing that it sends can precede the answer. */
  afterwards?: () => void
}

/** *Contract:* rejects with Refusal, InvalidParams or RefusedRequest; anything else is a fault of the runtime. */
export type Dispatch = (method: string, params: unknown) => Promise<Answer>

/** A request that fails with an error of JSON-RPC's own. */
export class RefusedRequest extends Error {
  readonly error: RpcError

  constructor(error: RpcError) {
    super(error.message)
    this.name = 'RefusedRequest'
    this.error = error
  }
}

export interface PeerPorts {
  send(frame: string): void
  dispatch: Dispatch
  report(what: string, error: unknown): void
  /** Requests in flight at once; more are `overloaded`. */
  maxInFlight?: number
}

type Id = string | number

export class Peer implements FrameSink {
  readonly #ports: PeerPorts
  readonly #maxInFlight: number
  readonly #inFlight = new Map<Id, Promise<void>>()

  constructor(ports: PeerPorts) {
    this.#ports = ports
    this.#maxInFlight = ports.maxInFlight ?? MAX_IN_FLIGHT
  }

  frame(text: string): void {
    const read = readMessage(text)
    if (read.kind === 'fault') this.#fail(read.id, read.error)
    else if (read.kind === 'request') this.#request(read)
  }

  tooLarge(limit: number): void {
    const refusal = new Refusal('frame_too_large', `the frame is longer than ${limit} bytes`, { limit })
    this.#fail(
      null,
      rpcErrorOf(refusal, () => undefined),
    )
  }

  notText(): void {
    this.#fail(null, parseError('not UTF-8'))
  }

  notify(method: string, params: unknown): void {
    this.#ports.send(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  /** Resolves once every request that came so far is answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#inFlight.values())
  }

  #request({ id, method, params }: Request): void {
    const limit = this.#maxInFlight
    if (this.#inFlight.has(id)) this.#fail(id, invalidRequest(`the id ${JSON.stringify(id)} is in flight already`))
    else if (this.#inFlight.size < limit) this.#inFlight.set(id, this.#answer(id, method, params))
    else {
      const refusal = new Refusal('overloaded', `${limit} requests are in flight; send this one again when some are answered`, { limit })
      this.#fail(id, this.#rpcError(method, refusal))
    }
  }

  async #answer(id: Id, method: string, params: unknown): Promise<void> {
    let frame: string
    let afterwards: (() => void) | undefined
    try {
      const answer = await this.#ports.dispatch(method, params)
      frame = JSON.stringify({ jsonrpc: '2.0', id, result: answer.result })
      afterwards = answer.afterwards
    } catch (error) {
      frame = JSON.stringify({ jsonrpc: '2.0', id, error: this.#rpcError(method, error) })
    }
    this.#inFlight.delete(id)
    failpoint('answer.before', () => method)
    this.#ports.send(frame)
    failpoint('answer.after', () => method)
    afterwards?.()
  }

  #rpcError(method: string, error: unknown): RpcError {
    if (error instanceof RefusedRequest) return error.error
    return rpcErrorOf(error, (fault) => this.#ports.report(`the request ${method} failed`, fault))
  }

  #fail(id: Id | null, error: RpcError): void {
    this.#ports.send(JSON.stringify({ jsonrpc: '2.0', id, error }))
  }
}

interface Request {
  id: Id
  method: string
  params: unknown
}

/** What a frame says; what is no request, and no attempt at one, needs no answer. */
type Read = ({ kind: 'request' } & Request) | { kind: 'fault'; id: Id | null; error: RpcError } | { kind: 'nothing' }

function readMessage(text: string): Read {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return fault(null, parseError(`not JSON: ${error instanceof Error ? error.message : String(error)}`))
  }
  if (Array.isArray(value)) return fault(null, invalidRequest('batches are not served: send one request per frame'))
  if (typeof value !== 'object' || value === null) return fault(null, invalidRequest(`a request is an object, got ${shown(value)}`))
  return readObject({ ...value })
}

function readObject(message: { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: unknown }): Read {
  const { jsonrpc, id, method, params } = message
  // A notification, and none is known; or an answer, and nothing was asked.
  if (id === undefined && typeof method === 'string') return { kind: 'nothing' }
  if (method === undefined && ('result' in message || 'error' in message)) return { kind: 'nothing' }
  const known = isId(id) ? id : null
  if (jsonrpc !== '2.0') return fault(known, invalidRequest(`jsonrpc: expected "2.0", got ${shown(jsonrpc)}`))
  if (known === null) return fault(null, invalidRequest(`id: expected a string or an integer, got ${shown(id)}`))
  if (typeof method !== 'string') return fault(known, invalidRequest(`method: expected a string, got ${shown(method)}`))
  if (params !== undefined && (typeof params !== 'object' || params === null))
    return fault(known, invalidRequest(`params: expected an object, got ${shown(params)}`))
  return { kind: 'request', id: known, method, params }
}

const fault = (id: Id | null, error: RpcError): Read => ({ kind: 'fault', id, error })

const isId = (id: unknown): id is Id => typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value === undefined ? 'nothing' : value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

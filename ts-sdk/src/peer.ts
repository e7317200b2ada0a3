// Owns JSON-RPC over a transport: which answer belongs to which request, and that every request ends. Knows no method's meaning.
import {
  ConnectionClosedError,
  isRecord,
  ProtocolError,
  type QuiesceError,
  RequestTimeoutError,
  rpcErrorFor,
  rpcErrorOf,
} from './errors.ts'
import { frameOf } from './framing.ts'

/** Where frames come from. */
export interface Receiver {
  /** One frame, without its LF. */
  frame(text: string): void
  /** Nothing will come any more; called once. */
  ended(error: QuiesceError): void
}

/** Two directions of frames, and how to end them. */
export interface Transport {
  /** Begins to deliver; called once. */
  start(receiver: Receiver): void
  /** *Contract:* never throws and never waits; a frame that can't be sent any more is dropped, `ended` says so. */
  send(frame: string): void
  /**
   * As long as every `hold` has met its `release`, this process may exit by itself though the other side still runs: its stdin
   * ends then, and so does it (FR-5). Until the first release it may not.
   */
  hold(): void
  release(): void
  /** Ends both directions. *Contract:* bounded, and safe to call again. */
  stop(): Promise<void>
}

interface Pending {
  method: string
  resolve(result: unknown): void
  reject(error: QuiesceError): void
  timer: NodeJS.Timeout
}

type Frame =
  | { kind: 'answer'; id: unknown; result: unknown }
  /** `error` is absent where it is no error of JSON-RPC's. */
  | { kind: 'refusal'; id: unknown; error?: { code: number; message: string; data?: unknown } }
  | { kind: 'request'; id: unknown; method: string }
  | { kind: 'notification'; method: string; params: unknown }

export interface PeerOptions {
  transport: Transport
  /** How long a request may take, in milliseconds. */
  requestTimeoutMs: number
  onNotification(method: string, params: unknown): void
  /** The connection is over; every pending request was rejected with the same error. Called once. */
  onEnd(error: QuiesceError): void
}

export class Peer {
  /** The longest frame that the other side takes, in bytes, once it has said so. */
  maxFrameBytes = Infinity
  readonly #options: PeerOptions
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #ended: QuiesceError | undefined

  constructor(options: PeerOptions) {
    this.#options = options
    options.transport.start({
      frame: (text) => this.#receive(text),
      ended: (error) => this.#end(error),
    })
  }

  /**
   * Sends a request and gives its result, unchecked.
   * @throws RpcError, RequestTimeoutError, ConnectionClosedError (at once where the connection is over), ProtocolError.
   */
  request(method: string, params: unknown, timeoutMs: number = this.#options.requestTimeoutMs): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(ownOf(this.#ended))
    this.#lastId += 1
    const id = this.#lastId
    const frame = frameOf({ jsonrpc: '2.0', id, method, params })
    if (exceeds(frame, this.maxFrameBytes)) {
      const message = `${method} would be a frame of ${Buffer.byteLength(frame)} bytes; the runtime takes ${this.maxFrameBytes}`
      return Promise.reject(rpcErrorFor('frame_too_large', message))
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#take(id)?.reject(new RequestTimeoutError(method, timeoutMs)), timeoutMs)
      this.#pending.set(id, { method, resolve, reject, timer })
      this.#options.transport.hold()
      this.#options.transport.send(frame)
    })
  }

  /** Ends the connection from this side: every pending request rejects with `error`, and so does every later one. */
  fail(error: QuiesceError): void {
    this.#end(error)
  }

  #take(id: unknown): Pending | undefined {
    if (typeof id !== 'number') return undefined
    const pending = this.#pending.get(id)
    if (pending === undefined) return undefined
    this.#pending.delete(id)
    clearTimeout(pending.timer)
    this.#options.transport.release()
    return pending
  }

  #receive(text: string): void {
    if (this.#ended !== undefined) return
    const frame = parse(text)
    if (frame instanceof ProtocolError) this.#end(frame)
    else if (frame.kind === 'notification') this.#options.onNotification(frame.method, frame.params)
    else if (frame.kind === 'request') this.#refuse(frame)
    else if (this.#made(frame.id)) this.#answered(frame, text)
    else if (frame.kind === 'refusal' && frame.id === null && frame.error !== undefined)
      this.#end(new ProtocolError(`the runtime could not read a request: ${frame.error.message}`))
    // Some request will never get its own.
    else this.#end(new ProtocolError(`the runtime answered a request that was never made: ${excerpt(text)}`))
  }

  #made(id: unknown): boolean {
    return Number.isInteger(id) && Number(id) >= 1 && Number(id) <= this.#lastId
  }

  /** An answer to a request that timed out, or was answered before, finds nobody, and that is all right. */
  #answered(frame: Extract<Frame, { kind: 'answer' | 'refusal' }>, text: string): void {
    const pending = this.#take(frame.id)
    if (pending === undefined) return
    if (frame.kind === 'answer') pending.resolve(frame.result)
    else if (frame.error === undefined)
      pending.reject(new ProtocolError(`${pending.method}: the error has no code or message: ${excerpt(text)}`))
    else pending.reject(rpcErrorOf(frame.error, pending.method))
  }

  /** The server sends no requests; one from a newer version is answered, so that it doesn't wait. */
  #refuse({ id, method }: { id: unknown; method: string }): void {
    const error = { code: -32601, message: `this client answers no requests: ${excerpt(method)}` }
    this.#options.transport.send(frameOf({ jsonrpc: '2.0', id: isId(id) ? id : null, error }))
  }

  #end(error: QuiesceError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    for (const [id, { method }] of [...this.#pending]) this.#take(id)?.reject(whileWaiting(error, method))
    this.#options.onEnd(error)
  }
}

/** An error of its own for each caller, which says what it was waiting for. */
function whileWaiting(error: QuiesceError, method: string): QuiesceError {
  if (!(error instanceof ConnectionClosedError)) return ownOf(error)
  return new ConnectionClosedError(`${error.message} (while ${method} was waiting for its answer)`, error)
}

/** The same again, so that each caller's shows that caller's stack. */
export function ownOf(error: QuiesceError): QuiesceError {
  if (error instanceof ConnectionClosedError) return new ConnectionClosedError(error.message, error)
  if (!(error instanceof ProtocolError)) return error
  const cause = error.cause === undefined ? {} : { cause: error.cause }
  return new ProtocolError(error.message, { seq: error.seq, ...cause })
}

/** Counts only where it may matter: UTF-8 needs at most three bytes for each unit of a string. */
const exceeds = (frame: string, limit: number): boolean => frame.length * 3 > limit && Buffer.byteLength(frame) > limit

function parse(text: string): Frame | ProtocolError {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new ProtocolError(`the runtime wrote to stdout what is not a frame: ${excerpt(text)}`)
  }
  return frameIn(value) ?? new ProtocolError(`the runtime sent what is not a JSON-RPC message: ${excerpt(text)}`)
}

function frameIn(value: unknown): Frame | undefined {
  if (!isRecord(value)) return undefined
  const { id, method, params, result, error } = value
  if (typeof method === 'string') return id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id, method }
  if (id === undefined) return undefined
  if (result !== undefined) return { kind: 'answer', id, result }
  if (error === undefined) return undefined
  if (!isRecord(error) || !isInteger(error.code) || typeof error.message !== 'string') return { kind: 'refusal', id }
  return { kind: 'refusal', id, error: { code: error.code, message: error.message, data: error.data } }
}

/** What is no id isn't repeated: it may be anything, and nested so deeply that it can't be written. */
const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id)

const isInteger = (value: unknown): value is number => Number.isInteger(value)

function excerpt(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

// Owns the tree of errors: one class per way in which a caller would branch. Knows nothing of pipes or processes.
import type { RunResult, SessionEvent } from './collect.ts'
import { type ErrorClassName, errorCodes } from './generated/errors.ts'
import type { RpcErrorObject } from './generated/protocol.ts'

/** Every error that this package raises by itself; all others below are kinds of it. */
export class QuiesceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** No runtime could be started: the message lists every place that was looked at, and what would help. */
export class RuntimeNotFoundError extends QuiesceError {}

export interface ProcessEnd {
  /** The runtime's exit status, null where a signal ended it or where it is not known. */
  exitCode: number | null
  /** The signal that ended it, for example `SIGKILL`, or null. */
  signal: string | null
  /** The end of what it wrote to stderr, at most 8 KiB. */
  stderr: string
}

/** The runtime went away, or `close()` was called, before the answer came (RUN-10). */
export class ConnectionClosedError extends QuiesceError implements ProcessEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stderr: string

  constructor(message: string, end: ProcessEnd = { exitCode: null, signal: null, stderr: '' }) {
    super(message)
    this.exitCode = end.exitCode
    this.signal = end.signal
    this.stderr = end.stderr
  }
}

/** The runtime did not answer one request in time. It may still have carried it out. */
export class RequestTimeoutError extends QuiesceError {
  /** The request's name, for example `session/prompt`. */
  readonly method: string
  /** The limit that was exceeded, in milliseconds. */
  readonly timeoutMs: number

  constructor(method: string, timeoutMs: number) {
    super(`the runtime did not answer ${method} within ${timeoutMs} ms; it may still carry it out`)
    this.method = method
    this.timeoutMs = timeoutMs
  }
}

/** The runtime sent what the protocol doesn't allow: a broken frame, a gap in the facts, a malformed fact (FR-4). */
export class ProtocolError extends QuiesceError {
  /** Where it is about one fact, that fact's `seq`; of several that are missing, the last one's. Otherwise null. */
  readonly seq: number | null

  constructor(message: string, { seq, ...options }: ErrorOptions & { seq?: number | null } = {}) {
    super(message, options)
    this.seq = seq ?? null
  }
}

export interface RpcErrorFields {
  code: string
  rpcCode: number
  data: Record<string, unknown>
  retryable: boolean
}

/** The runtime answered a request with an error. */
export class RpcError extends QuiesceError implements RpcErrorFields {
  /**
   * The error's name, for example `session_busy`. JSON-RPC's own are `parse_error`, `invalid_request`, `method_not_found`,
   * `invalid_params` and `internal_error`.
   */
  readonly code: string
  /** The number in the frame. */
  readonly rpcCode: number
  /** The details as they came. */
  readonly data: Record<string, unknown>
  /** Whether the same request may succeed later. */
  readonly retryable: boolean

  constructor(message: string, fields: RpcErrorFields) {
    super(message)
    this.code = fields.code
    this.rpcCode = fields.rpcCode
    this.data = fields.data
    this.retryable = fields.retryable
  }
}

/** No version of the protocol is spoken by both sides (FR-3). */
export class UnsupportedProtocolError extends RpcError {}
/** No session has this id, or it was deleted. */
export class SessionNotFoundError extends RpcError {}
/** A session with this id exists, or existed: ids are not used again (DEL-1). */
export class SessionExistsError extends RpcError {}
/** The agent was not idle with an empty queue, and `onBusy: 'reject'` or `expect: 'idle'` asked for that (IN-7). */
export class SessionBusyError extends RpcError {}
/** The message id stands for another message of this session (IN-3). */
export class MessageConflictError extends RpcError {}
/** No message of this session has this id (SUB-1). */
export class MessageNotFoundError extends RpcError {}
/** The goal changed since the given revision (GO-1). */
export class RevisionConflictError extends RpcError {}
/** The model is not configured, or none was named; the message says how to name one. */
export class UnknownModelError extends RpcError {}
/** The key of the model's provider is missing or was refused. */
export class ModelAuthError extends RpcError {}
/** Another runtime took the session over, or it was deleted (RE-4). */
export class FencedError extends RpcError {}
/** A limit that the message names was reached. */
export class LimitExceededError extends RpcError {}
/** The request is longer than the runtime takes in one frame (FR-2). */
export class FrameTooLargeError extends RpcError {}
/** Too many requests in flight; retry later. */
export class OverloadedError extends RpcError {}
/** The runtime's store failed; nothing of the request was kept (RE-6). */
export class StorageUnavailableError extends RpcError {}
/** The token is missing or wrong (FR-6). */
export class UnauthorizedError extends RpcError {}
/** The runtime is shutting down. */
export class ShuttingDownError extends RpcError {}
/** The store was written by a newer runtime. */
export class StoreVersionError extends RpcError {}

/**
 * What became of the work of a run that was given up (RUN-9). `withdrawn`: its message never entered the conversation.
 * `cancelled`: the whole tree was cancelled. `detached`: the work goes on, because `onAbort: 'detach'` said so or because
 * another caller's message lies in the same interval. `unconfirmed`: the runtime did not say in time, so it may go on.
 */
export type AbortOutcome = 'withdrawn' | 'cancelled' | 'detached' | 'unconfirmed'

export interface GivenUpRun {
  /** What became of the work. */
  outcome: AbortOutcome
  /** What the interval held so far. */
  partial: RunResult
  /** The session's last status that was heard of, or null. */
  lastStatus: string | null
  /** The last fact that came, of any kind, or null. */
  lastEvent: SessionEvent | null
}

abstract class GivenUpError extends QuiesceError implements GivenUpRun {
  readonly outcome: AbortOutcome
  readonly partial: RunResult
  readonly lastStatus: string | null
  readonly lastEvent: SessionEvent | null

  constructor(message: string, run: GivenUpRun, options?: ErrorOptions) {
    super(message, options)
    this.outcome = run.outcome
    this.partial = run.partial
    this.lastStatus = run.lastStatus
    this.lastEvent = run.lastEvent
  }
}

/** A run's `timeoutMs` or `inactivityTimeoutMs` passed (RUN-9). */
export class RunTimeoutError extends GivenUpError {}
/** A run's `signal` was aborted (RUN-9); `cause` is the signal's reason. */
export class RunAbortedError extends GivenUpError {}

type RpcErrorClass = new (message: string, fields: RpcErrorFields) => RpcError

const classes: Record<ErrorClassName, RpcErrorClass> = {
  RpcError,
  UnsupportedProtocolError,
  SessionNotFoundError,
  SessionExistsError,
  SessionBusyError,
  MessageConflictError,
  MessageNotFoundError,
  RevisionConflictError,
  UnknownModelError,
  ModelAuthError,
  FencedError,
  LimitExceededError,
  FrameTooLargeError,
  OverloadedError,
  StorageUnavailableError,
  UnauthorizedError,
  ShuttingDownError,
  StoreVersionError,
}

const ofJsonRpc = new Map([
  [-32700, 'parse_error'],
  [-32600, 'invalid_request'],
  [-32601, 'method_not_found'],
  [-32602, 'invalid_params'],
  [-32603, 'internal_error'],
])

const isKnown = (code: string): code is keyof typeof errorCodes => Object.hasOwn(errorCodes, code)

/**
 * The error that an error response stands for: the class of its code, `RpcError` where nobody branches on it. Faults of params
 * are told under the name of their `method`.
 */
export function rpcErrorOf(error: RpcErrorObject, method?: string): RpcError {
  const data = isRecord(error.data) ? error.data : {}
  const code = typeof data.code === 'string' ? data.code : (ofJsonRpc.get(error.code) ?? String(error.code))
  const errorClass = isKnown(code) ? classes[errorCodes[code].className] : RpcError
  const message = method !== undefined && code === 'invalid_params' ? ofMethod(method, error.message) : error.message
  return new errorClass(message, { code, rpcCode: error.code, data, retryable: data.retryable === true })
}

const ofMethod = (method: string, message: string): string => `${method}: ${message.replace(/^invalid params: /, '')}`

/** An error of a known code that this side raises itself, before or without a request. */
export function rpcErrorFor(code: keyof typeof errorCodes, message: string): RpcError {
  return rpcErrorOf({ code: -32000, message, data: { code, retryable: errorCodes[code].retryable } })
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

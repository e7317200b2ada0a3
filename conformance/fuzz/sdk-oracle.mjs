// Owns what an SDK owes to its caller for a stream of bytes from a runtime: what becomes of each call, read off the contract and the
// schema alone (FR-1, FR-4, RUN-2, RUN-10, SUB-1, SUB-4, SUB-5).
import { isUtf8 } from 'node:buffer'
import { parsed } from './hazy.mjs'
import { Interval } from './interval.mjs'
import { errorCodes, fits, isFact, noticeOf, notificationNames, resultOf } from './schema.mjs'

/** @typedef {{ ok: unknown } | { error: string, code?: string, events?: number[] }} Outcome `events`: the seqs that a tail gave before */

const protocolError = { error: 'ProtocolError' }
const closedError = { error: 'ConnectionClosedError' }
const codeOfReason = { deleted: 'session_not_found', fenced: 'fenced', storage: 'storage_unavailable', shutdown: 'shutting_down' }
const codeOfNumber = {
  '-32700': 'parse_error',
  '-32600': 'invalid_request',
  '-32601': 'method_not_found',
  '-32602': 'invalid_params',
  '-32603': 'internal_error',
}
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Where the two SDKs differ, and may: both ways are told to the caller, and neither loses or invents anything.
 * A repeated fact that is malformed is a fault in TypeScript, and a repeat in Python. A malformed `session.status`, which nothing
 * depends on (ST-6), ends the subscription in TypeScript, and is passed over in Python.
 */
const manners = {
  typescript: { looksAtRepeats: true, looksAtStatus: true },
  python: { looksAtRepeats: false, looksAtStatus: false },
}

export class SdkOracle {
  #manners
  #limit
  #bytes = Buffer.alloc(0)
  /** By name: what is known of each call. */
  #calls = new Map()
  /** By id: the request that waits for its answer. */
  #pending = new Map()
  #issued = new Set()
  /** By id: the subscription's call. */
  #subscriptions = new Map()
  #subscribed = []
  /** What the answer to a prompt makes of its run, once all that came along with it was looked at: the run may have ended by then. */
  #late = []
  #fate = null
  /** What came, by kind. */
  kinds = new Map()
  /** Requests of the runtime, each of which is to be refused. */
  refused = 0
  /** How many prompts go out. @type {number} */
  prompts = 0

  /** @param {{ language: 'typescript' | 'python', limit: number }} options `limit`: of a frame, in bytes */
  constructor({ language, limit }) {
    this.#manners = manners[language]
    this.#limit = limit
  }

  get isAlive() {
    return this.#fate === null
  }

  /** Whether calls can be made. */
  get isReady() {
    return this.isAlive && this.#calls.get('open')?.outcome?.ok !== undefined
  }

  /** One step of a scenario; false where it can't be, after what came before. */
  step(step) {
    if (!this.#canBe(step)) return false
    if (step.do === 'start') this.start(step)
    else if (step.do === 'send') this.feed(step.bytes)
    else if (step.do === 'end') this.end()
    else this.bind(step)
    return true
  }

  #canBe({ do: what, name, method, kind }) {
    if (what === 'start') return kind === 'open' || this.isReady || !this.isAlive
    if (what !== 'bind') return true
    return this.isAlive && this.#calls.has(name) && (method !== 'session/prompt' || this.isListening(name))
  }

  /** Whether a call's subscription is open. */
  isListening(name) {
    const call = this.#calls.get(name)
    return call.outcome === null && call.interval !== null
  }

  /** A call of the SDK begins. @param {{ name: string, kind: string, session?: string, after?: number, message?: string }} call */
  start(call) {
    const outcome = this.#fate === null || call.kind !== 'tail' ? this.#fate : { ...this.#fate, events: [] }
    this.#calls.set(call.name, { ...call, outcome, events: [], interval: null, early: [] })
  }

  /** Whether nothing is known yet of what becomes of a call. */
  isOpen(name) {
    return this.#calls.get(name).outcome === null
  }

  /** A request of a call went out. */
  bind({ name, method, id, subscription, message }) {
    const call = this.#calls.get(name)
    this.#issued.add(id)
    this.#pending.set(id, { call, method })
    if (message !== undefined) call.message = message
    if (method === 'session/prompt') call.interval.messageId = message
    if (subscription === undefined) return
    call.subscription = subscription
    this.#subscriptions.set(subscription, call)
  }

  /** The last fact that a call took. */
  lastSeq(name) {
    return this.#calls.get(name).interval?.last
  }

  /** Bytes came. */
  feed(bytes) {
    this.#read(bytes)
    for (const [call, outcome] of this.#late.splice(0)) this.#settle(call, outcome)
    // What has failed by now is not begun.
    for (const call of this.#subscribed.splice(0))
      if (call.outcome === null && (call.kind === 'run' || call.kind === 'stream')) this.prompts += 1
  }

  #read(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    while (this.isAlive) {
      const end = this.#bytes.indexOf(10)
      if ((end === -1 ? this.#bytes.length : end) > this.#limit) this.#tooLong()
      else if (end === -1) return
      else this.#line(this.#bytes.subarray(0, end))
      this.#bytes = this.#bytes.subarray(end + 1)
    }
  }

  /** The stream ended. */
  end() {
    this.#die(closedError)
  }

  /** What has become of each call, by name. @returns {Record<string, Outcome>} */
  outcomes() {
    return Object.fromEntries([...this.#calls].map(([name, { outcome }]) => [name, outcome]))
  }

  #die(outcome) {
    if (this.#fate !== null) return
    this.#fate = outcome
    for (const call of this.#calls.values()) this.#settle(call, outcome)
  }

  #settle(call, outcome) {
    if (call.outcome !== null) return
    call.outcome = call.kind === 'tail' ? { ...outcome, events: call.events } : outcome
    if (call.subscription !== undefined) this.#subscriptions.delete(call.subscription)
  }

  #line(line) {
    const blank = line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
    if (blank) return this.#is('blank')
    const message = isUtf8(line) ? parsed(line.toString()) : undefined
    if (isObject(message)) return this.#message(message)
    this.#is('no message')
    return this.#die(protocolError)
  }

  #tooLong() {
    this.#is('too long')
    this.#die(protocolError)
  }

  #is(kind) {
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1)
  }

  #message(message) {
    const has = (name) => Object.hasOwn(message, name)
    const { method } = message
    if (typeof method === 'string' && has('method')) {
      const isKnown = notificationNames.includes(method)
      this.#is(has('id') ? 'request' : isKnown ? method : 'unknown notification')
      if (has('id')) this.refused += 1
      else if (isKnown) this.#notice(method, message.params)
    } else if (has('id') && (has('result') || has('error'))) {
      this.#is('answer')
      this.#answer(message)
    } else {
      this.#is('no message')
      this.#die(protocolError)
    }
  }

  #answer({ id, result, error }) {
    const isNumber = typeof id === 'number'
    if (!isNumber || !this.#issued.has(id)) return this.#die(protocolError)
    const pending = this.#pending.get(id)
    if (pending === undefined) return undefined
    this.#pending.delete(id)
    const { call, method } = pending
    if (call.outcome !== null) return undefined
    const settle = (outcome) => (method === 'session/prompt' ? this.#late.push([call, outcome]) : this.#settle(call, outcome))
    if (result === undefined) return settle(isError(error) ? rpcError(error) : protocolError)
    if (!fits(resultOf(method), result)) return settle(protocolError)
    if (method === 'session/prompt') return result.messageId === call.message ? undefined : settle(protocolError)
    return this.#answered(call, method, result)
  }

  #answered(call, method, result) {
    if (method === 'session/subscribe') return this.#opened(call, result)
    if (method === 'initialize') return this.#settle(call, result.protocol === 1 ? { ok: null } : refusal('unsupported_protocol'))
    return this.#settle(call, { ok: result })
  }

  #opened(call, { seq }) {
    this.#subscribed.push(call)
    const after = call.kind === 'collect' ? undefined : (call.after ?? seq)
    call.interval = new Interval({ sessionId: call.session, messageId: call.message ?? null, after })
    for (const params of call.early.splice(0)) this.#event(call, params)
  }

  #notice(method, params) {
    const name = isObject(params) ? params.subscriptionId : undefined
    // It may have been anybody's fact.
    if (typeof name !== 'string') {
      for (const call of [...this.#subscriptions.values()]) this.#settle(call, protocolError)
      return
    }
    const call = this.#subscriptions.get(name)
    if (call === undefined) return
    if (method === 'session.event' && call.interval === null) call.early.push(params)
    else if (method === 'session.event') this.#event(call, params)
    else if (method === 'session.status' && !this.#manners.looksAtStatus) return
    else if (!fits(noticeOf(method), params)) this.#settle(call, protocolError)
    else if (method === 'session.closed') this.#settle(call, closed(params))
  }

  #event(call, params) {
    if (call.outcome !== null) return undefined
    const { sessionId, event } = params
    if (!fits('SessionId', sessionId) || event === undefined) return this.#settle(call, protocolError)
    const isRepeat =
      sessionId === call.session && isObject(event) && Number.isInteger(event.seq) && call.interval.order(event.seq) === 'ignored'
    if (isRepeat && !this.#manners.looksAtRepeats) return undefined
    if (!isFact(event)) return this.#settle(call, protocolError)
    if (call.kind === 'tail') return this.#tailed(call, sessionId, event)
    const became = call.interval.add(sessionId, event)
    if (became === 'gap') return this.#settle(call, protocolError)
    if (became === 'inject') return this.#settle(call, { error: 'QuiesceError' })
    return became === 'ended' ? this.#settle(call, { ok: call.interval.result() }) : undefined
  }

  /** Another session's facts have numbers of their own. */
  #tailed(call, sessionId, event) {
    const order = sessionId === call.session ? call.interval.order(event.seq) : 'next'
    if (order === 'gap') return this.#settle(call, protocolError)
    if (order === 'ignored') return undefined
    call.interval.add(sessionId, event)
    call.events.push(event.seq)
    return undefined
  }
}

const isError = (error) => isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string'

const rpcError = ({ code, data }) =>
  refusal(isObject(data) && typeof data.code === 'string' ? data.code : (codeOfNumber[code] ?? String(code)))

const closed = ({ reason, error }) =>
  refusal(error?.data?.code ?? (Object.hasOwn(codeOfReason, reason) ? codeOfReason[reason] : 'internal'))

const refusal = (code) => ({ error: Object.hasOwn(errorCodes, code) ? errorCodes[code].class : 'RpcError', code })

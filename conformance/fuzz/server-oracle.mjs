// Owns what a server owes for a stream of bytes, read off the contract and the schema alone (FR-1 to FR-3): for each line the answer
// that must come, and whether an answer that came is one that may.
import { isUtf8 } from 'node:buffer'
import { parsed } from './hazy.mjs'
import { errorCodes, fits, methodNames, misfits, paramsOf, resultOf } from './schema.mjs'

/** Codes that say that the runtime failed, or that nothing here can bring about. */
const never = new Set(['internal', 'storage_unavailable', 'store_version', 'unauthorized', 'fenced', 'not_driving'])
/** With which a request may be refused that its schema has nothing against: what only the runtime can know may still speak against it. */
const refusals = [-32602, ...Object.keys(errorCodes).filter((code) => !never.has(code))]
/** Longer than this no error may be, its id apart: a hundred faults and their words. A bad frame must not be answered with a far worse one. */
const longestError = 64 * 1024

/** @typedef {{ id: unknown, method?: string, params?: unknown, codes: (number | string)[], result: boolean }} Owed */

/** Splits bytes as FR-1 says: at LF alone. What has no LF is no frame. */
export function linesOf(bytes) {
  const lines = []
  let start = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}

export class ServerOracle {
  #limits
  #first = true
  /** `maybe`: an `initialize` may have been refused, because its id was in flight. */
  phase = /** @type {'new' | 'maybe' | 'initialized' | 'stopping'} */ ('new')
  /** What came, by kind. */
  kinds = new Map()
  /** Ids seen so far, with how often. */
  #asked = new Map()
  #requests = 0

  /** @param {{ maxFrameBytes: number, maxInFlight: number }} limits */
  constructor(limits) {
    this.#limits = limits
  }

  get stopping() {
    return this.phase === 'stopping'
  }

  /**
   * What the next line is owed, or null where nothing may come.
   * @param {Buffer} line without its LF
   * @returns {Owed | null}
   */
  line(line) {
    const first = this.#first
    this.#first = false
    if (line.length > this.#limits.maxFrameBytes) return this.#is('too long', fault(null, 'frame_too_large'))
    const bytes = line.at(-1) === 13 ? line.subarray(0, -1) : line
    if (bytes.length === 0) return this.#is('blank', null)
    if (!isUtf8(bytes)) return this.#is('no UTF-8', fault(null, -32700))
    const text = bytes.toString()
    const frame = first && text.startsWith('\uFEFF') ? text.slice(1) : text
    if (frame === '') return this.#is('blank', null)
    const value = parsed(frame)
    if (value === undefined) return this.#is('no JSON', fault(null, -32700))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#is('no object', fault(null, -32600))
    return this.#message(value)
  }

  #is(kind, owed) {
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1)
    return owed
  }

  #message(value) {
    const field = (name) => (Object.hasOwn(value, name) ? value[name] : undefined)
    const [jsonrpc, id, method, params] = ['jsonrpc', 'id', 'method', 'params'].map(field)
    if (id === undefined && typeof method === 'string') return this.#is('notification', null)
    if (method === undefined && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) return this.#is('answer', null)
    const isId = typeof id === 'string' || Number.isSafeInteger(id)
    if (!isId) return this.#is('no request', fault(null, -32600))
    if (jsonrpc !== '2.0' || typeof method !== 'string') return this.#is('no request', fault(id, -32600))
    if (params !== undefined && (typeof params !== 'object' || params === null)) return this.#is('no request', fault(id, -32600))
    return this.#is('request', this.#request(id, method, params))
  }

  #request(id, method, params) {
    const key = keyOf(id)
    const before = this.#asked.get(key) ?? 0
    this.#asked.set(key, before + 1)
    this.#requests += 1
    // The id may be in flight still; and more than the limit may be.
    const early = [...(before > 0 ? [-32600] : []), ...(this.#requests > this.#limits.maxInFlight ? ['overloaded'] : [])]
    const optional = this.stopping
    const owed = this.#served(id, method, params, early.length > 0)
    return { ...owed, optional, codes: early.length === 0 ? owed.codes : [...owed.codes, ...early] }
  }

  #served(id, method, params, isUnsure) {
    if (this.phase === 'stopping') return fault(id, 'shutting_down')
    if (this.phase === 'maybe') return this.#perhaps(id, method, params, isUnsure)
    if (method === 'initialize') return this.phase === 'new' ? this.#initialize(id, params, isUnsure) : fault(id, -32600)
    if (this.phase === 'new') return fault(id, 'not_initialized')
    if (!methodNames.includes(method)) return fault(id, -32601)
    if (!fits(paramsOf(method), params ?? {})) return fault(id, -32602)
    if (method === 'shutdown' && !isUnsure) this.phase = 'stopping'
    return { id, method, params, codes: refusals, result: true }
  }

  /** As it would be with `initialize` behind it, or without. */
  #perhaps(id, method, params, isUnsure) {
    this.phase = 'new'
    const without = this.#served(id, method, params, isUnsure)
    const after = this.phase
    this.phase = 'initialized'
    const behind = this.#served(id, method, params, isUnsure)
    this.phase = after === 'initialized' ? 'initialized' : 'maybe'
    const codes = [...new Set([...without.codes, ...behind.codes])]
    return { id, method, params, codes, result: without.result || behind.result }
  }

  #initialize(id, params, isUnsure) {
    if (!fits(paramsOf('initialize'), params ?? {}) || hasUnkeepable(params)) return fault(id, -32602)
    const { min, max } = params.protocol
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max)) return fault(id, -32602)
    if (min > 1 || max < 1) return fault(id, 'unsupported_protocol')
    this.phase = isUnsure ? 'maybe' : 'initialized'
    return { id, method: 'initialize', params, codes: [], result: true }
  }
}

const fault = (id, ...codes) => ({ id, codes, result: false })
export const keyOf = (id) => (typeof id === 'number' ? `n${id + 0}` : `s${id}`)

/** What is too deep, or too much, or beyond the numbers: -32602 though the schema has no word for it. */
function hasUnkeepable(root) {
  for (let places = [[root, 0]]; places.length > 0; ) {
    const [value, depth] = places.pop()
    if (typeof value === 'number' && !Number.isFinite(value)) return true
    if (typeof value !== 'object' || value === null) continue
    if (depth >= 200) return true
    for (const inner of Object.values(value)) places.push([inner, depth + 1])
  }
  return false
}

/**
 * Why an answer isn't one that is owed, or nothing.
 * @param {Owed} owed
 * @param {Record<string, any>} answer as it came, of this id
 */
export function unlike(owed, answer, frame) {
  if (answer.jsonrpc !== '2.0') return `jsonrpc is ${JSON.stringify(answer.jsonrpc)}`
  if (Object.hasOwn(answer, 'result') === Object.hasOwn(answer, 'error')) return 'it has both a result and an error, or neither'
  if (Object.hasOwn(answer, 'result')) return unlikeResult(owed, answer.result)
  const { error } = answer
  if (frame.length - JSON.stringify(answer.id).length > longestError) return `the error takes ${frame.length} characters`
  if (!fits('RpcErrorObject', error) || error.message === '') return `no error of the protocol: ${misfits('RpcErrorObject', error)}`
  const code = error.code === -32000 ? error.data?.code : error.code
  if (!owed.codes.includes(code)) return `code ${code} where ${owed.result ? 'a result or ' : ''}one of ${owed.codes.join(', ')} is due`
  if (error.code === -32000) return unlikeRefusal(error)
  return error.code === -32602 ? unlikeFaults(error) : ''
}

function unlikeRefusal({ data }) {
  const known = errorCodes[data.code]
  if (known === undefined) return `no code of the protocol: ${data.code}`
  return data.retryable === known.retryable ? '' : `retryable is ${data.retryable}`
}

function unlikeFaults({ data }) {
  if (!Array.isArray(data?.faults) || data.faults.length === 0) return 'no faults are told'
  return data.faults.map((each) => misfits('ParamFault', each)).join('')
}

function unlikeResult({ method, params, result: isDue }, result) {
  if (!isDue) return 'a result where an error is due'
  if (!fits(resultOf(method), result)) return `no result of ${method}: ${misfits(resultOf(method), result)}`
  const set = method === 'session/create' || method === 'session/update' ? ['title', 'metadata'] : []
  const lost = set.find((name) => params?.[name] !== undefined && text(result.session[name]) !== text(params[name]))
  return lost === undefined ? '' : `${lost} was given as ${text(params[lost])} and came back as ${text(result.session[lost])}`
}

const text = (value) => JSON.stringify(value)

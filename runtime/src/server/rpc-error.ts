// Owns what an error looks like on the wire: JSON-RPC's own codes, and -32000 with a code of the protocol's list.
import type { Fault } from '@quiesce/schema/faults'
import { InvalidParams, Refusal } from '../log/refusal.ts'

export interface RpcError {
  code: number
  message: string
  data?: Readonly<Record<string, unknown>>
}

/** No error says more than this, whatever it is about: a bad frame must not be answered with a worse one. */
const MAX_MESSAGE = 2000
const MAX_DETAIL = 500
const MAX_FAULTS = 100

export const parseError = (message: string): RpcError => ({ code: -32700, message: cut(message, MAX_MESSAGE) })
export const invalidRequest = (message: string): RpcError => ({ code: -32600, message: cut(message, MAX_MESSAGE) })
export const methodNotFound = (method: string, known: readonly string[]): RpcError => ({
  code: -32601,
  message: `no method ${cut(JSON.stringify(method), MAX_DETAIL)}; there are ${known.join(', ')}`,
})

/** What the client is told of a failure. Of one that nobody meant it learns nothing: `report` gets it instead. */
export function rpcErrorOf(error: unknown, report: (error: unknown) => void): RpcError {
  if (error instanceof InvalidParams)
    return { code: -32602, message: cut(`invalid params: ${error.message}`, MAX_MESSAGE), data: { faults: shortened(error.faults) } }
  if (error instanceof Refusal)
    return {
      code: -32000,
      message: cut(error.message, MAX_MESSAGE),
      data: { ...shortDetails(error.details), code: error.code, retryable: error.retryable },
    }
  report(error)
  return { code: -32000, message: "a fault of the runtime; the runtime's log says more", data: { code: 'internal', retryable: false } }
}

function shortened(faults: readonly Fault[]): Fault[] {
  const told = faults.slice(0, MAX_FAULTS).map(({ path, message }) => ({ path: cut(path, MAX_DETAIL), message: cut(message, MAX_DETAIL) }))
  const left = faults.length - told.length
  return left > 0 ? [...told, { path: '', message: `and ${left} more faults` }] : told
}

/** Texts that a client gave, in short. */
const shortDetails = (details: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(details).map(([name, value]) => [name, typeof value === 'string' ? cut(value, MAX_DETAIL) : value]))

/** Half of a surrogate pair at the cut is left out. */
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}...` : text

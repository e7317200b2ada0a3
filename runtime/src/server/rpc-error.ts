// Owns what an error looks like on the wire: JSON-RPC's own codes, and -32000 with a code of the protocol's list.
import { InvalidParams, Refusal } from '../log/refusal.ts'

export interface RpcError {
  code: number
  message: string
  data?: Readonly<Record<string, unknown>>
}

export const parseError = (message: string): RpcError => ({ code: -32700, message })
export const invalidRequest = (message: string): RpcError => ({ code: -32600, message })
export const methodNotFound = (method: string, known: readonly string[]): RpcError => ({
  code: -32601,
  message: `no method ${JSON.stringify(method)}; there are ${known.join(', ')}`,
})

/** What the client is told of a failure. Of one that nobody meant it learns nothing: `report` gets it instead. */
export function rpcErrorOf(error: unknown, report: (error: unknown) => void): RpcError {
  if (error instanceof InvalidParams) return { code: -32602, message: `invalid params: ${error.message}`, data: { faults: error.faults } }
  if (error instanceof Refusal)
    return { code: -32000, message: error.message, data: { ...error.details, code: error.code, retryable: error.retryable } }
  report(error)
  return { code: -32000, message: "a fault of the runtime; the runtime's log says more", data: { code: 'internal', retryable: false } }
}

// Owns the two errors that a caller may see: a refusal with a code of the protocol's list, and bad params.
import { errorCodes } from '@quiesce/schema/errors'
import type { Fault } from '@quiesce/schema/faults'

const retryable = new Map(errorCodes.map((entry) => [entry.code, entry.retryable]))

/** A request that was refused; `code` is one of the protocol's error codes. */
export class Refusal extends Error {
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.details = details
    if (!retryable.has(code)) throw new Error(`not an error code of the protocol: ${code}`)
  }

  get retryable(): boolean {
    return retryable.get(this.code) ?? false
  }
}

/** Params that don't fit (-32602): each fault with its path. */
export class InvalidParams extends Error {
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => (fault.path === '' ? fault.message : `${fault.path}: ${fault.message}`)).join('; '))
    this.name = 'InvalidParams'
    this.faults = faults
  }
}

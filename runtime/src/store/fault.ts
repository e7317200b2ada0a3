// Owns how a store fails, as data: it crosses threads, and becomes a Refusal on the caller's side.

export interface FaultData {
  /** An error code of the protocol. */
  code: 'storage_unavailable' | 'store_version' | 'invalid_cursor' | 'internal'
  message: string
  details: Readonly<Record<string, unknown>>
}

/** Thrown on the engine's side, where the protocol's list of errors isn't loaded. */
export class StoreFault extends Error {
  readonly data: FaultData

  constructor(code: FaultData['code'], message: string, details: FaultData['details'] = {}) {
    super(message)
    this.name = 'StoreFault'
    this.data = { code, message, details }
  }
}

/** What was thrown, as data. Anything but a StoreFault is a fault of the runtime's own. */
export function faultData(error: unknown): FaultData {
  if (error instanceof StoreFault) return error.data
  return { code: 'internal', message: `the store could not decide: ${error instanceof Error ? error.message : String(error)}`, details: {} }
}

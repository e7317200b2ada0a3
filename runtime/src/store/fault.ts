// Owns how a store fails, as data: it crosses threads, and becomes a Refusal on the caller's side.

export interface FaultData {
  /** An error code of the protocol. */
  code: 'storage_unavailable' | 'store_version' | 'invalid_cursor' | 'internal'
  message: string
  details: Readonly<Record<string, unknown>>
  /**
   * What may help without anybody's doing: to try `later`, since another process has its turn; or `apart`, since one operation of
   * a batch may be what the store can't do, and the others can go on.
   */
  retry?: 'later' | 'apart'
}

/** Thrown on the engine's side, where the protocol's list of errors isn't loaded. */
export class StoreFault extends Error {
  readonly data: FaultData

  constructor(code: FaultData['code'], message: string, details: FaultData['details'] = {}, retry?: FaultData['retry']) {
    super(message)
    this.name = 'StoreFault'
    this.data = { code, message, details, ...(retry !== undefined && { retry }) }
  }
}

/** It concerns one session, and is found before anything of its operation is written: what else is in the batch goes on. */
export class SessionFault extends StoreFault {}

/** What was thrown, as data. Anything but a StoreFault is a fault of the runtime's own. */
export function faultData(error: unknown): FaultData {
  if (error instanceof StoreFault) return error.data
  return { code: 'internal', message: `the store could not decide: ${error instanceof Error ? error.message : String(error)}`, details: {} }
}

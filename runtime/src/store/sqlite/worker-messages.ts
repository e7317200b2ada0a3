// Owns what passes between a store's thread and its home: plain data, one text each way for calls.
import type { FaultData } from '../fault.ts'
import type { Lease } from '../store.ts'

/** What the thread is started with. */
export interface WorkerStart {
  path: string
  /** One Int32 that the holder's event loop raises at each of its ticks. */
  ticks: SharedArrayBuffer
  /** Milliseconds; for tests. */
  times?: { leaseMs: number; renewMs: number }
}

/** A Call, something about leases or hints, or null: close. */
export type ToWorker =
  | string
  | { hold: Lease }
  | { drop: Lease }
  | { guard: readonly number[] }
  | { keep: boolean }
  | { watch: boolean }
  | { check: true }
  | null

/** First whether the store was opened; then one Reply for each Call, in their order, and what comes by itself; last that it is closed. */
export type FromWorker =
  | string
  | { opened: true }
  | { opened: false; fault: FaultData }
  | { renewed: readonly (readonly [string, number | null])[] }
  | { renewalFailed: FaultData }
  | { expiring: number; groups: number }
  | { changed: true }
  | { closed: true }

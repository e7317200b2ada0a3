// Owns what an engine needs of a place that keeps rows. Decides nothing: the rules are in perform.ts and queries.ts.
import type { AnyFact, SessionConfigOf } from '@quiesce/schema'
import type { SessionState } from '../log/session-state.ts'
import type { Place } from './fact-check.ts'
import type { StoreStats } from './operations.ts'
import type { Owner } from './store.ts'

export interface LeaseRow {
  /** Grows with each acquisition, and never falls. */
  epoch: number
  holder: { owner: Owner; expiresAt: number } | null
}

export interface SessionRow {
  sessionId: string
  /** Order of creation; a deleted session keeps its place. */
  n: number
  deleted: boolean
  seq: number
  lease: LeaseRow
}

export interface SessionFilter {
  parentId?: string
  status?: 'running' | 'idle'
}

/** Every method throws StoreFault `storage_unavailable` where the place fails. */
export interface Rows {
  readonly stats: StoreStats
  readonly place: Place
  /** All that `work` writes is kept, or nothing where this throws. */
  transaction<T>(work: () => T): T
  find(sessionId: string): SessionRow | null
  state(row: SessionRow): SessionState
  config(row: SessionRow): SessionConfigOf
  receipt(row: SessionRow, messageId: string): number | null
  /** JSON texts of at most `limit` facts behind `after`, in order. */
  factTexts(row: SessionRow, after: number, limit: number): string[]
  /** Sessions that aren't deleted, created before the nth, newest first. */
  page(before: number, filter: SessionFilter, limit: number): SessionRow[]
  /** Whether there is an nth session, deleted or not. */
  has(n: number): boolean
  create(sessionId: string, lease: LeaseRow, state: SessionState): SessionRow
  setState(row: SessionRow, state: SessionState): void
  setConfig(row: SessionRow, config: SessionConfigOf): void
  setLease(row: SessionRow, lease: LeaseRow): void
  addFacts(row: SessionRow, facts: readonly AnyFact[]): void
  addReceipt(row: SessionRow, messageId: string, seq: number): void
  /** Removes facts, receipts, state and configuration; the id and the place stay used. */
  bury(row: SessionRow): void
  /** What is wrong with it, in words; it is read whole, and written to. */
  check(): string[]
  close(): void
}

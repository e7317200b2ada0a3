// Owns what is asked of an engine and what it answers: plain data, one JSON text each way, so that a thread may lie between.
import type { AnyFact } from '@quiesce/schema'
import type { FaultData } from './fault.ts'
import type { AcquireResult, CommitRequest, CommitResult, Lease, ListQuery, Owner, StoredSession } from './store.ts'

/** What writes. The operations of one batch share one transaction. */
export type Operation =
  | { kind: 'commit'; request: CommitRequest }
  | { kind: 'acquire'; sessionId: string; owner: Owner; now: number; ttlMs: number; replacing?: number }
  | { kind: 'renew'; leases: readonly Lease[]; now: number; ttlMs: number }
  | { kind: 'release'; lease: Lease }
  | { kind: 'delete'; sessionId: string }

/** What only reads. */
export type Query =
  | { kind: 'load'; sessionId: string }
  | { kind: 'list'; query: ListQuery }
  /** `checked`: each fact is looked at, and the first damaged one ends the answer, or is its fault. */
  | { kind: 'read'; sessionId: string; after: number; limit: number; checked?: boolean }
  | { kind: 'receipt'; sessionId: string; messageId: string }
  | { kind: 'seqs'; sessionIds: readonly string[] }
  | { kind: 'stats' }
  | { kind: 'check' }

export interface StoreStats {
  driver: 'node:sqlite' | 'libsql' | 'memory'
  /** Transactions that were committed since the store was opened: one per batch. */
  commits: number
}

/** What each kind of operation and query is answered; `fault` can stand in for any. */
export interface Values {
  commit: CommitResult
  acquire: AcquireResult
  renew: (number | null)[]
  release: null
  delete: boolean
  load: StoredSession | null
  list: { sessions: StoredSession[]; nextCursor?: string }
  read: AnyFact[]
  receipt: number | null
  seqs: (number | null)[]
  stats: StoreStats
  check: string[]
  fault: FaultData
}

export type AnswerOf<K extends keyof Values> = { [T in K]: { kind: T; value: Values[T] } }[K]
export type Answer = AnswerOf<keyof Values>

export type Call = { run: Operation[] } | { ask: Query }

/** One answer per operation, in their order; one for a query. */
export type Reply = Answer[]

/** Nothing was done, and the same may be done later: another process has the store's lock. */
export function isLater(answer: Answer): boolean {
  return answer.kind === 'fault' && answer.value.retry === 'later'
}

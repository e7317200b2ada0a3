// Owns the interface of every store: atomic commits, leases with epochs, reads. Knows nothing of agents.
import type { AnyFact, SessionConfigOf } from '@quiesce/schema'
import type { Condition } from '../log/conditions.ts'
import type { NewFact } from '../log/facts.ts'
import type { SessionState } from '../log/session-state.ts'

/** Who may hold a lease: one runtime process. */
export interface Owner {
  runtimeId: string
  host: string
  bootId: string
  pid: number
  /** Start of the process in the host's own unit, so that a reused pid is told apart. */
  processStart: string
}

/** The right to drive a session; a commit under an older epoch is refused (RE-4). */
export interface Lease {
  sessionId: string
  epoch: number
}

export interface Holder {
  owner: Owner
  epoch: number
  /** Unix milliseconds. */
  expiresAt: number
}

export interface CommitRequest {
  sessionId: string
  /** The driver's commits carry it; an input (receipt, withdraw, cancel, update) needs none. */
  lease?: Lease
  /** Takes the lease in the same commit; refused as `held` while another lease is live. */
  acquire?: { owner: Owner; now: number; ttlMs: number }
  /** All must hold, or nothing is committed. */
  when?: readonly Condition[]
  facts: readonly NewFact[]
  /** The last seq that the caller has folded: the answer brings the facts between it and this commit's first. */
  seen?: number
}

/** Refusals are looked for in this order: not-found or exists, fenced, known-message, held, unmet; a refused commit writes nothing. */
export type CommitResult =
  | { ok: true; first: number; last: number; foreign: AnyFact[]; lease?: Lease }
  | { ok: false; refused: 'not-found' | 'exists' }
  /** The lease's epoch is stale, or the session was deleted. */
  | { ok: false; refused: 'fenced' }
  | { ok: false; refused: 'held'; holder: Holder }
  /** A condition doesn't hold; `state` is the one that it was decided on, `foreign` as above. */
  | { ok: false; refused: 'unmet'; condition: Condition; state: SessionState; foreign: AnyFact[] }
  /** A messageId that a condition or a receipt names is known: the seq of its receipt (IN-2, IN-3). */
  | { ok: false; refused: 'known-message'; seq: number }

export interface StoredSession {
  sessionId: string
  config: SessionConfigOf
  state: SessionState
}

export interface ListQuery {
  cursor?: string
  limit: number
  parentId?: string
  status?: 'running' | 'idle'
  /** Every entry must be equal (compared as JSON). */
  metadata?: Readonly<Record<string, unknown>>
}

/** `previous` held it last and never gave it up: it died, or may still run. */
export type AcquireResult =
  | { ok: true; lease: Lease; session: StoredSession; previous?: Owner }
  | { ok: false; refused: 'not-found' }
  | { ok: false; refused: 'held'; holder: Holder }

export interface Store {
  /**
   * One atomic step: conditions, facts, index rows. Answers once it is on disk, in the order of the calls.
   * *Contract:* rejects with Refusal `storage_unavailable` where the store fails; then nothing of it was kept.
   */
  commit(request: CommitRequest): Promise<CommitResult>
  /**
   * Takes the lease of a session where it is free, expired, or `replacing` its current epoch (its holder is known dead).
   * *Contract:* as commit.
   */
  acquire(sessionId: string, owner: Owner, at: { now: number; ttlMs: number; replacing?: number }): Promise<AcquireResult>
  /** Renews leases; answers the current seq of each, or null where the lease was lost. *Contract:* as commit. */
  renew(leases: readonly Lease[], at: { now: number; ttlMs: number }): Promise<(number | null)[]>
  /** Gives a lease up; a stale one is ignored. *Contract:* as commit. */
  release(lease: Lease): Promise<void>
  /** Deletes log, inbox and lease for ever; the id stays used. False where there is no such session. *Contract:* as commit. */
  delete(sessionId: string): Promise<boolean>
  /** The session as of its last commit, or null. *Contract:* rejects as commit. */
  load(sessionId: string): Promise<StoredSession | null>
  /** Newest first. *Contract:* rejects as commit; Refusal `invalid_cursor` for a cursor that it never gave. */
  list(query: ListQuery): Promise<{ sessions: StoredSession[]; nextCursor?: string }>
  /** At most `limit` facts behind `after`, in order; fewer only at the log's end or where they are very large; none where there is no such session. *Contract:* rejects as commit. */
  read(sessionId: string, after: number, limit: number): Promise<AnyFact[]>
  /** The seq of a message's receipt, or null. *Contract:* rejects as commit. */
  receiptSeq(sessionId: string, messageId: string): Promise<number | null>
  /** The last seq of each session, or null where there is none. *Contract:* rejects as commit. */
  seqs(sessionIds: readonly string[]): Promise<(number | null)[]>
  /** Waits for what is being committed, then closes. Safe to call twice. */
  close(): Promise<void>
}

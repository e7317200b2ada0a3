// Owns the interface of what processes that share a store need beside reading and writing: kept leases, and hints of others' commits.
import type { Lease } from './store.ts'

/** How long a lease lives after its last renewal, and how often it is renewed. */
export const LEASE_MS = 10_000
export const RENEW_MS = 2_000

export interface KeeperEvents {
  /** Each kept lease's session with its current seq, or null where the lease is another's now (RE-3, RE-4). */
  renewed(seqs: readonly (readonly [sessionId: string, seq: number | null])[]): void
  /** A renewal failed; the next one is tried all the same. */
  failed(error: Error): void
  /** Nothing could be renewed for so long that the leases are about to end: the process groups were killed (RE-5). */
  expiring(afterMs: number, groups: number): void
}

/** Keeps leases until they are dropped. No method blocks or fails. */
export interface Keeper {
  hold(lease: Lease): void
  drop(lease: Lease): void
  /** The process groups that are killed before the leases end unrenewed; replaces those named before. */
  guard(groups: readonly number[]): void
  stop(): void
}

/** A hint that another process committed may come late, twice or for nothing, or be missing: whoever depends on it checks as well. */
export interface Watch {
  /** Looks now; calls back where something has changed since the last look. */
  check(): void
  stop(): void
}

/** What a store that processes share offers. */
export interface Upkeep {
  /** One keeper at a time. *Contract:* never throws: what fails is told to `events`. */
  keep(events: KeeperEvents): Keeper
  /** One watch at a time. *Contract:* never throws. */
  watch(onChange: () => void): Watch
}

// Owns rows that live as long as the process does.
import type { AnyFact, SessionConfigOf } from '@quiesce/schema'
import type { SessionState } from '../../log/session-state.ts'
import type { StoreStats } from '../operations.ts'
import type { LeaseRow, Rows, SessionFilter, SessionRow } from '../rows.ts'

interface Kept {
  sessionId: string
  n: number
  lease: LeaseRow
  /** Null once the session is deleted. */
  state: SessionState | null
  config: SessionConfigOf | null
  factTexts: string[]
  receipts: Map<string, number>
}

export class MemoryRows implements Rows {
  readonly stats: StoreStats = { driver: 'memory', commits: 0 }
  readonly place = { name: 'the store in memory' }
  /** In the order of creation: the nth is at n - 1. */
  readonly #kept: Kept[] = []
  readonly #byId = new Map<string, Kept>()

  /** Nothing has to be taken back: operations are decided before they write, and memory doesn't fail halfway. */
  transaction<T>(work: () => T): T {
    const result = work()
    this.stats.commits += 1
    return result
  }

  find(sessionId: string): SessionRow | null {
    const kept = this.#byId.get(sessionId)
    return kept === undefined ? null : rowOf(kept)
  }

  state(row: SessionRow): SessionState {
    return present(this.#at(row).state, row)
  }

  config(row: SessionRow): SessionConfigOf {
    return present(this.#at(row).config, row)
  }

  receipt(row: SessionRow, messageId: string): number | null {
    return this.#at(row).receipts.get(messageId) ?? null
  }

  factTexts(row: SessionRow, after: number, limit: number): string[] {
    return this.#at(row).factTexts.slice(after, after + limit)
  }

  page(before: number, filter: SessionFilter, limit: number): SessionRow[] {
    const page: SessionRow[] = []
    for (let i = Math.min(before - 1, this.#kept.length) - 1; i >= 0 && page.length < limit; i -= 1) {
      const kept = this.#kept[i]
      if (kept === undefined || kept.state === null) continue
      if (filter.parentId !== undefined && kept.state.parentId !== filter.parentId) continue
      if (filter.status !== undefined && kept.state.status !== filter.status) continue
      page.push(rowOf(kept))
    }
    return page
  }

  has(n: number): boolean {
    return n >= 1 && n <= this.#kept.length
  }

  create(sessionId: string, lease: LeaseRow, state: SessionState): SessionRow {
    const kept: Kept = { sessionId, n: this.#kept.length + 1, lease, state, config: null, factTexts: [], receipts: new Map() }
    this.#kept.push(kept)
    this.#byId.set(sessionId, kept)
    return rowOf(kept)
  }

  setState(row: SessionRow, state: SessionState): void {
    this.#at(row).state = state
  }

  setConfig(row: SessionRow, config: SessionConfigOf): void {
    this.#at(row).config = config
  }

  setLease(row: SessionRow, lease: LeaseRow): void {
    this.#at(row).lease = lease
  }

  addFacts(row: SessionRow, facts: readonly AnyFact[]): void {
    this.#at(row).factTexts.push(...facts.map((fact) => JSON.stringify(fact)))
  }

  addReceipt(row: SessionRow, messageId: string, seq: number): void {
    this.#at(row).receipts.set(messageId, seq)
  }

  bury(row: SessionRow): void {
    const kept = this.#at(row)
    kept.state = null
    kept.config = null
    kept.factTexts = []
    kept.receipts.clear()
    kept.lease = { epoch: kept.lease.epoch, holder: null }
  }

  check(): string[] {
    return []
  }

  close(): void {
    this.#kept.length = 0
    this.#byId.clear()
  }

  #at(row: SessionRow): Kept {
    return present(this.#kept[row.n - 1], row)
  }
}

function rowOf(kept: Kept): SessionRow {
  return { sessionId: kept.sessionId, n: kept.n, deleted: kept.state === null, seq: kept.state?.seq ?? 0, lease: kept.lease }
}

function present<T>(value: T | null | undefined, row: SessionRow): T {
  if (value === null || value === undefined) throw new Error(`session ${row.sessionId} has no such row`)
  return value
}

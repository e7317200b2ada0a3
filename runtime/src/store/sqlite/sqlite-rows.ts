// Owns the rows in SQLite: statements, the one transaction, and a cache of states that spares the hot path a parse.
import type { AnyFact, SessionConfigOf } from '@quiesce/schema'
import { applyConfig, applyFact, emptyState, type SessionState } from '../../log/session-state.ts'
import { damaged, damagedFact, factAt, type Place } from '../fact-check.ts'
import { StoreFault } from '../fault.ts'
import type { StoreStats } from '../operations.ts'
import type { LeaseRow, Rows, SessionFilter, SessionRow } from '../rows.ts'
import type { Owner } from '../store.ts'
import type { Database } from './driver.ts'
import { FileWatch } from './file-watch.ts'
import { rollBack } from './schema.ts'
import { checkDatabase } from './sqlite-rows-check.ts'
import { type Bytes, prepareStatements, type SessionColumns, type Statements } from './statements.ts'

const cachedStates = 256
/** What each of them has: where one is missing, its name rotted. */
const stateKeys = Object.keys(emptyState)
const configKeys = ['cwd', 'roots', 'model', 'permissions', 'limits', 'metadata']
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lossy = new TextDecoder()
/** Facts that are folded at a time where a row has to be made anew. */
const foldedAtOnce = 500

export class SqliteRows implements Rows {
  readonly stats: StoreStats
  readonly place: Place
  readonly #database: Database
  readonly #files: FileWatch
  readonly #sql: Statements
  /** Of the tables, as they were opened. */
  readonly #version: number
  /** The last state written or read of each session; good only while the row has the same seq. */
  readonly #states = new Map<number, SessionState>()

  constructor(database: Database, path: string) {
    this.#database = database
    this.place = { name: `the store ${path}`, path }
    this.#files = new FileWatch(path)
    this.#sql = prepareStatements(database)
    this.#version = this.#versionNow()
    this.stats = { driver: database.driver, commits: 0 }
  }

  transaction<T>(work: () => T): T {
    try {
      this.#sql.begin.run()
      this.#refuseOtherVersion()
      const result = work()
      // As late as can be: what is committed to a file that is no longer there is lost.
      this.#files.check()
      this.#sql.commit.run()
      this.stats.commits += 1
      return result
    } catch (error) {
      // States of this batch never were: another process may write other ones with the same seq.
      this.#states.clear()
      rollBack(this.#database)
      // Where the file went away, that is what to say; SQLite knows only what it found instead.
      this.#files.check()
      throw error
    }
  }

  find(sessionId: string): SessionRow | null {
    const columns = this.#sql.find.get(JSON.stringify(sessionId))
    return columns === undefined ? null : this.#row(columns)
  }

  state(row: SessionRow): SessionState {
    const cached = this.#states.get(row.n)
    if (cached?.seq === row.seq) return cached
    const state = this.#storedState(row) ?? this.#folded<SessionState>(row, emptyState, applyFact)
    this.#cache(row.n, state)
    return state
  }

  config(row: SessionRow): SessionConfigOf {
    const stored = parsed<SessionConfigOf>(this.#sql.config.get(row.n)?.config)
    if (hasAll(stored, configKeys)) return stored
    const config = this.#folded<SessionConfigOf | null>(row, null, applyConfig)
    if (config === null) throw damaged(this.place, `session ${row.sessionId} has no configuration`, { sessionId: row.sessionId })
    return config
  }

  receipt(row: SessionRow, messageId: string): number | null {
    return this.#sql.receipt.get(row.n, JSON.stringify(messageId))?.seq ?? null
  }

  factTexts(row: SessionRow, after: number, limit: number): string[] {
    return this.#sql.facts.all(row.n, after, limit).map(({ fact }) => textOf(fact))
  }

  page(before: number, { parentId, status }: SessionFilter, limit: number): SessionRow[] {
    const statement = parentId === undefined ? this.#sql.page : this.#sql.children
    const parent = parentId === undefined ? [] : [JSON.stringify(parentId)]
    const any = status ?? null
    return statement.all(...parent, before, any, any, limit).map((columns) => this.#row(columns))
  }

  has(n: number): boolean {
    return this.#sql.has.get(n) !== undefined
  }

  create(sessionId: string, lease: LeaseRow, state: SessionState): SessionRow {
    const parent = state.parentId === null ? null : JSON.stringify(state.parentId)
    this.#sql.create.run(JSON.stringify(sessionId), parent, state.seq, state.status, ...leaseColumns(lease), JSON.stringify(state))
    const row = this.find(sessionId)
    if (row === null) throw new StoreFault('storage_unavailable', `${this.place.name} lost the row of a session that it just made`)
    this.#cache(row.n, state)
    return row
  }

  setState(row: SessionRow, state: SessionState): void {
    this.#sql.setState.run(state.seq, state.status, JSON.stringify(state), row.n)
    this.#cache(row.n, state)
  }

  setConfig(row: SessionRow, config: SessionConfigOf): void {
    this.#sql.setConfig.run(row.n, JSON.stringify(config))
  }

  setLease(row: SessionRow, lease: LeaseRow): void {
    this.#sql.setLease.run(...leaseColumns(lease), row.n)
  }

  addFacts(row: SessionRow, facts: readonly AnyFact[]): void {
    for (const fact of facts) this.#sql.addFact.run(row.n, fact.seq, JSON.stringify(fact))
  }

  addReceipt(row: SessionRow, messageId: string, seq: number): void {
    this.#sql.addReceipt.run(row.n, JSON.stringify(messageId), seq)
  }

  bury(row: SessionRow): void {
    this.#states.delete(row.n)
    for (const statement of [this.#sql.bury, this.#sql.dropConfig, this.#sql.dropMessages, this.#sql.dropFacts]) statement.run(row.n)
  }

  check(): string[] {
    this.#files.check()
    return checkDatabase(this.#database, this.place)
  }

  close(): void {
    this.#database.close()
  }

  /** A newer runtime may have brought the tables up meanwhile: what is written the old way would damage them. */
  #refuseOtherVersion(): void {
    const found = this.#versionNow()
    if (found === this.#version) return
    const { name, path } = this.place
    const why = `was brought to version ${found} by another runtime, and is open here with version ${this.#version}`
    throw new StoreFault('store_version', `${name} ${why}: update quiesce, then start it anew`, { path, found, known: this.#version })
  }

  #versionNow(): number {
    return this.#sql.version.get()?.user_version ?? 0
  }

  /** What is damaged here makes no session unreadable: a holder that nobody can name is none, and its epoch fences it. */
  #row(columns: SessionColumns): SessionRow {
    const { n, id, deleted, seq, epoch, owner, expires_at: expiresAt } = columns
    const named = parsed<Owner>(owner)
    const holder = named === null ? null : { owner: named, expiresAt }
    return {
      sessionId: parsed<string>(id) ?? (id === null ? '' : lossy.decode(id)),
      n,
      deleted: deleted === 1,
      seq,
      lease: { epoch, holder },
    }
  }

  #storedState(row: SessionRow): SessionState | null {
    const state = parsed<SessionState>(this.#sql.state.get(row.n)?.state)
    return hasAll(state, stateKeys) && state.seq === row.seq && Array.isArray(state.pending) ? state : null
  }

  /** The log is the truth: a damaged row that was made of it is made of it again. */
  #folded<T>(row: SessionRow, start: T, apply: (value: T, fact: AnyFact) => T): T {
    let value = start
    for (let seq = 0; seq < row.seq; ) {
      const texts = this.factTexts(row, seq, foldedAtOnce)
      // At least one, so that one that is missing is named.
      for (let i = 0; i < Math.max(texts.length, 1); i += 1) {
        seq += 1
        value = folded(value, factAt(texts[i], row.sessionId, seq, this.place), apply, () => damagedFact(this.place, row.sessionId, seq))
      }
    }
    return value
  }

  #cache(n: number, state: SessionState): void {
    this.#states.delete(n)
    this.#states.set(n, state)
    if (this.#states.size <= cachedStates) return
    for (const oldest of this.#states.keys()) {
      this.#states.delete(oldest)
      break
    }
  }
}

function hasAll<T>(value: T | null, keys: readonly string[]): value is T {
  return typeof value === 'object' && value !== null && keys.every((key) => Object.hasOwn(value, key))
}

/** Null where it is no JSON: then the file is damaged. */
function parsed<T>(text: Bytes | undefined): T | null {
  try {
    return JSON.parse(textOf(text))
  } catch {
    return null
  }
}

/** One that rotted into another fact than was written is damaged, too. */
function folded<T>(value: T, fact: AnyFact, apply: (value: T, fact: AnyFact) => T, fault: () => Error): T {
  try {
    return apply(value, fact)
  } catch {
    throw fault()
  }
}

/** Empty where it is no text, and no JSON, any more. */
function textOf(bytes: Bytes | undefined): string {
  try {
    return bytes == null ? '' : strict.decode(bytes)
  } catch {
    return ''
  }
}

function leaseColumns({ epoch, holder }: LeaseRow): [number, string | null, number] {
  return [epoch, holder === null ? null : JSON.stringify(holder.owner), holder?.expiresAt ?? 0]
}

// Owns the opening of one connection to a store's file: made where it is missing, set for durability, brought up to date.
import { StoreFault } from '../fault.ts'
import { type Database, openDatabase } from './driver.ts'
import { migrate, versionOf } from './schema.ts'
import { makeStoreFile } from './store-file.ts'

/** How long one attempt to open may hold the thread, while other processes open, mend or close the same store, in ms. */
const OPEN_LOCK_MS = 1000
/** How long one attempt at the lock may hold the thread, in ms; the store's queue tries again, for as long as is right. */
export const ATTEMPT_LOCK_MS = 200
/** A log that one large commit made long is cut to this again once it was worked into the database, in bytes. */
const KEPT_LOG_BYTES = 16 * 1024 * 1024

/** *Contract:* throws StoreFault `storage_unavailable` or `store_version`. */
export function connect(path: string): Database {
  makeStoreFile(path)
  const database = openDatabase(path)
  try {
    // First of all: what follows needs the lock already.
    set(database, `busy_timeout = ${OPEN_LOCK_MS}`)
    // Before anything is written: what isn't ours stays as it is.
    versionOf(database, path)
    keepLog(database)
    // FULL: an answered commit survives a power cut.
    set(database, 'synchronous = FULL')
    set(database, `journal_size_limit = ${KEPT_LOG_BYTES}`)
    migrate(database, path)
    set(database, `busy_timeout = ${ATTEMPT_LOCK_MS}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Of those that switch a new store to WAL at the same moment, SQLite refuses all but one at once: the others let that one have its turn. */
export function keepLog(database: Pick<Database, 'exec' | 'prepare'>): void {
  const deadline = performance.now() + OPEN_LOCK_MS
  for (;;) {
    try {
      set(database, 'journal_mode = WAL')
      return
    } catch (error) {
      const locked = error instanceof StoreFault && error.data.retry === 'later'
      if (!locked || performance.now() > deadline) throw error
    }
    database.exec('BEGIN IMMEDIATE')
    database.exec('ROLLBACK')
  }
}

function set(database: Pick<Database, 'prepare'>, setting: string): void {
  database.prepare(`PRAGMA ${setting}`).all()
}

// Owns the opening of one connection to a store's file: made where it is missing, set for durability, brought up to date.
import { type Database, openDatabase } from './driver.ts'
import { migrate } from './schema.ts'
import { makeStoreFile } from './store-file.ts'

/** The time-out first: the switch to WAL needs the lock already. FULL: an answered commit survives a power cut. */
const settings = ['busy_timeout = 5000', 'journal_mode = WAL', 'synchronous = FULL']

/** *Contract:* throws StoreFault `storage_unavailable` or `store_version`. */
export function connect(path: string): Database {
  makeStoreFile(path)
  const database = openDatabase(path)
  try {
    for (const setting of settings) database.prepare(`PRAGMA ${setting}`).all()
    migrate(database, path)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

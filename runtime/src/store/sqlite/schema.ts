// Owns the tables and their numbered migrations. A store of a newer version is refused, never guessed at.
import { StoreFault } from '../fault.ts'
import type { Database } from './driver.ts'

/** 'Quie': tells our files from those of other programs. */
const applicationId = 0x51756965

/**
 * The nth entry leads from version n to n + 1; released ones never change. All text of users is JSON text, because drivers
 * cut text at a NUL and change a lone surrogate. A state is folded by the code that wrote it: a changed fold needs a migration.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE sessions (
     n INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     parent TEXT,
     deleted INTEGER NOT NULL DEFAULT 0,
     seq INTEGER NOT NULL,
     status TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     owner TEXT,
     expires_at INTEGER NOT NULL,
     state TEXT
   );
   CREATE INDEX sessions_by_parent ON sessions (parent, n) WHERE parent IS NOT NULL;
   CREATE TABLE configs (session INTEGER PRIMARY KEY, config TEXT NOT NULL);
   CREATE TABLE messages (session INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
   CREATE TABLE facts (session INTEGER NOT NULL, seq INTEGER NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID;`,
]

/** Brings the tables to the newest version. *Contract:* throws StoreFault `store_version` or `storage_unavailable`. */
export function migrate(database: Database, path: string, steps: readonly string[] = migrations): void {
  if (versionOf(database, path, steps.length) === steps.length) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Again, under the lock: another process may have been quicker.
    const version = versionOf(database, path, steps.length)
    for (const step of steps.slice(version)) database.exec(step)
    database.exec(`PRAGMA application_id = ${applicationId}`)
    database.exec(`PRAGMA user_version = ${steps.length}`)
    database.exec('COMMIT')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** 0 for a new store. *Contract:* throws StoreFault: `store_version` where it is newer, `storage_unavailable` where it is another program's. */
export function versionOf(database: Database, path: string, newest: number = migrations.length): number {
  const tables = number(database, 'SELECT count(*) AS value FROM sqlite_schema')
  if (tables > 0 && number(database, 'SELECT application_id AS value FROM pragma_application_id') !== applicationId) {
    const message = `${path} is a database of another program: name another file as the store`
    throw new StoreFault('storage_unavailable', message, { path })
  }
  const version = number(database, 'SELECT user_version AS value FROM pragma_user_version')
  if (version <= newest) return version
  const message = `the store ${path} has version ${version}, and this runtime knows up to ${newest}: update quiesce, or name another store`
  throw new StoreFault('store_version', message, { path, found: version, known: newest })
}

function number(database: Database, sql: string): number {
  return database.prepare<{ value: number }>(sql).get()?.value ?? 0
}

/** After some failures (a full disk) SQLite has rolled back already, and says that there is nothing to roll back. */
export function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // The failure that led here is the one to tell.
  }
}

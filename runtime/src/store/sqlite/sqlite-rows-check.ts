// Owns the look of `quiesce doctor` into an open store: all of it is read, and one page written. Mends nothing.
import type { Place } from '../fact-check.ts'
import { StoreFault } from '../fault.ts'
import type { Database } from './driver.ts'
import { rollBack } from './schema.ts'
import type { Bytes } from './statements.ts'

/** More of a kind are counted, not named. */
const named = 5

/** What is wrong, in words; empty where nothing is. */
export function checkDatabase(database: Database, place: Place): string[] {
  return [
    ...faultOf(() => damagedPages(database, place)),
    ...faultOf(() => damagedFacts(database, place)),
    ...faultOf(() => writeOnce(database)),
  ]
}

function faultOf(look: () => string[]): string[] {
  try {
    return look()
  } catch (error) {
    if (error instanceof StoreFault) return [error.message]
    throw error
  }
}

function damagedPages(database: Database, place: Place): string[] {
  const found = database.prepare<{ said: Bytes }>('SELECT CAST(quick_check AS BLOB) AS said FROM pragma_quick_check').all()
  const said = found
    .map((row) => shown(row.said))
    .filter((text) => text !== 'ok')
    .slice(0, named)
  return said.length === 0 ? [] : [`${place.name} is damaged: put a backup in its place (SQLite: ${said.join('; ').replaceAll('\n', ' ')})`]
}

function damagedFacts(database: Database, place: Place): string[] {
  const sql = `SELECT CAST(sessions.id AS BLOB) AS id, facts.seq FROM facts JOIN sessions ON sessions.n = facts.session
    WHERE NOT json_valid(fact) LIMIT ${named}`
  return database
    .prepare<{ id: Bytes; seq: number }>(sql)
    .all()
    .map(({ id, seq }) => `${place.name} is damaged: fact ${seq} of session ${shown(id)} can not be read`)
}

const shown = (bytes: Bytes): string => (bytes === null ? '' : new TextDecoder().decode(bytes))

/** The number that is there already, in a transaction of its own: what it needs of the disk is what a commit needs. */
function writeOnce(database: Database): string[] {
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0
    database.exec(`PRAGMA user_version = ${version}`)
    database.exec('COMMIT')
    return []
  } catch (error) {
    rollBack(database)
    throw error
  }
}

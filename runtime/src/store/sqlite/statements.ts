// Owns the SQL of the rows, each statement prepared once.
import type { Database } from './driver.ts'

/** A text as its bytes: where they rotted and are no UTF-8 any more, one driver would change them, and the other end the process. */
export type Bytes = Uint8Array | ArrayBuffer | null

export interface SessionColumns {
  n: number
  id: Bytes
  deleted: number
  seq: number
  epoch: number
  owner: Bytes
  expires_at: number
}

const bytes = (column: string) => `CAST(${column} AS BLOB) AS ${column}`
/** A number, also where the record that holds it rotted and says that it is a text, or nothing. */
const integer = (column: string) => `ifnull(CAST(${column} AS INTEGER), 0) AS ${column}`
const columns = `n, ${bytes('id')}, ${integer('deleted')}, ${integer('seq')}, ${integer('epoch')}, ${bytes('owner')}, ${integer('expires_at')}`

export type Statements = ReturnType<typeof prepareStatements>

export function prepareStatements(database: Database) {
  const one = <Row = never>(sql: string) => database.prepare<Row>(sql)
  const page = (where: string) =>
    one<SessionColumns>(
      `SELECT ${columns} FROM sessions WHERE ${where} n < ? AND deleted = 0 AND (? IS NULL OR status = ?) ORDER BY n DESC LIMIT ?`,
    )
  return {
    begin: one('BEGIN IMMEDIATE'),
    commit: one('COMMIT'),
    version: one<{ user_version: number }>('PRAGMA user_version'),
    find: one<SessionColumns>(`SELECT ${columns} FROM sessions WHERE id = ?`),
    state: one<{ state: Bytes }>(`SELECT ${bytes('state')} FROM sessions WHERE n = ?`),
    config: one<{ config: Bytes }>(`SELECT ${bytes('config')} FROM configs WHERE session = ?`),
    receipt: one<{ seq: number }>(`SELECT ${integer('seq')} FROM messages WHERE session = ? AND id = ?`),
    facts: one<{ fact: Bytes }>(`SELECT ${bytes('fact')} FROM facts WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`),
    page: page(''),
    children: page('parent = ? AND'),
    has: one<{ n: number }>('SELECT n FROM sessions WHERE n = ?'),
    create: one('INSERT INTO sessions (id, parent, seq, status, epoch, owner, expires_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    setState: one('UPDATE sessions SET seq = ?, status = ?, state = ? WHERE n = ?'),
    setConfig: one('INSERT OR REPLACE INTO configs (session, config) VALUES (?, ?)'),
    setLease: one('UPDATE sessions SET epoch = ?, owner = ?, expires_at = ? WHERE n = ?'),
    addFact: one('INSERT INTO facts (session, seq, fact) VALUES (?, ?, ?)'),
    addReceipt: one('INSERT INTO messages (session, id, seq) VALUES (?, ?, ?)'),
    bury: one("UPDATE sessions SET deleted = 1, seq = 0, status = 'idle', owner = NULL, expires_at = 0, state = NULL WHERE n = ?"),
    dropConfig: one('DELETE FROM configs WHERE session = ?'),
    dropMessages: one('DELETE FROM messages WHERE session = ?'),
    dropFacts: one('DELETE FROM facts WHERE session = ?'),
  }
}

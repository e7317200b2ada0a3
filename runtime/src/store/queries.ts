// Owns the rules of every read: pages, cursors, how much is answered at once. Writes nothing.
import { isDeepStrictEqual } from 'node:util'
import { factAt } from './fact-check.ts'
import { StoreFault } from './fault.ts'
import type { Answer, Query } from './operations.ts'
import type { Rows, SessionRow } from './rows.ts'
import type { ListQuery, StoredSession } from './store.ts'

/** JSON characters of one `read`; the first fact is always answered, however large. */
const readChars = 4 << 20
/** Facts, or sessions that are filtered here, taken from the rows at a time. */
const chunk = 64

/** The answer as JSON text: facts go out as they are stored. */
export function answerText(rows: Rows, query: Query): string {
  if (query.kind === 'read') return `{"kind":"read","value":[${readTexts(rows, query).join(',')}]}`
  return JSON.stringify(answer(rows, query))
}

function answer(rows: Rows, query: Exclude<Query, { kind: 'read' }>): Answer {
  switch (query.kind) {
    case 'load': {
      const row = live(rows, query.sessionId)
      return { kind: 'load', value: row === null ? null : stored(rows, row) }
    }
    case 'list':
      return { kind: 'list', value: list(rows, query.query) }
    case 'receipt': {
      const row = live(rows, query.sessionId)
      return { kind: 'receipt', value: row === null ? null : rows.receipt(row, query.messageId) }
    }
    case 'seqs':
      return { kind: 'seqs', value: query.sessionIds.map((sessionId) => live(rows, sessionId)?.seq ?? null) }
    case 'stats':
      return { kind: 'stats', value: rows.stats }
    case 'check':
      return { kind: 'check', value: rows.check() }
  }
}

function live(rows: Rows, sessionId: string): SessionRow | null {
  const row = rows.find(sessionId)
  return row === null || row.deleted ? null : row
}

function stored(rows: Rows, row: SessionRow): StoredSession {
  return { sessionId: row.sessionId, config: rows.config(row), state: rows.state(row) }
}

function readTexts(rows: Rows, { sessionId, after, limit, checked = false }: Extract<Query, { kind: 'read' }>): string[] {
  const row = live(rows, sessionId)
  const texts: string[] = []
  let chars = 0
  while (row !== null && texts.length < limit) {
    const wanted = Math.min(chunk, limit - texts.length)
    const some = rows.factTexts(row, after + texts.length, wanted)
    for (const text of some) {
      if (texts.length > 0 && chars + text.length > readChars) return texts
      if (checked && !isWhole(rows, text, sessionId, after + texts.length + 1, texts.length > 0)) return texts
      texts.push(text)
      chars += text.length
    }
    if (some.length < wanted) break
  }
  return texts
}

/** *Contract:* throws StoreFault where it isn't, and the answer `mayEnd` not. */
function isWhole(rows: Rows, text: string, sessionId: string, seq: number, mayEnd: boolean): boolean {
  try {
    factAt(text, sessionId, seq, rows.place)
    return true
  } catch (error) {
    if (mayEnd) return false
    throw error
  }
}

function list(rows: Rows, query: ListQuery): { sessions: StoredSession[]; nextCursor?: string } {
  const { limit, metadata, cursor, ...filter } = query
  const sessions: StoredSession[] = []
  let before = cursor === undefined ? Number.MAX_SAFE_INTEGER : placeOf(rows, cursor)
  for (;;) {
    const page = rows.page(before, filter, metadata === undefined ? limit + 1 : chunk)
    for (const row of page) {
      const session = stored(rows, row)
      if (metadata !== undefined && !hasEntries(session.config.metadata, metadata)) continue
      // There is one more than was asked for: so there is a next page, and it starts behind `before`.
      if (sessions.length === limit) return { sessions, nextCursor: cursorOf(before) }
      sessions.push(session)
      before = row.n
    }
    const last = page.at(-1)
    if (metadata === undefined || last === undefined || page.length < chunk) return { sessions }
    before = last.n
  }
}

function hasEntries(of: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(of, key) && isDeepStrictEqual(of[key], value))
}

const cursorOf = (n: number): string => Buffer.from(`before ${n}`).toString('base64url')

function placeOf(rows: Rows, cursor: string): number {
  const n = Number(/^before (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1])
  if (cursorOf(n) === cursor && rows.has(n)) return n
  throw new StoreFault(
    'invalid_cursor',
    `cursor ${JSON.stringify(cursor)} was not given by session/list: leave it out, or use a nextCursor as it is`,
  )
}

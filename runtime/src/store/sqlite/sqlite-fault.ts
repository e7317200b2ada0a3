// Owns the words for what SQLite reports: which store, what happened, what would help (RE-6).
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type FaultData, StoreFault } from '../fault.ts'

const BUSY = 5
const IO = 10
const CORRUPT = 11
const FULL = 13
const CANT_OPEN = 14
const TOO_BIG = 18
const CONSTRAINT = 19

/** By SQLite's primary result code. */
const meanings = new Map<number, string>([
  [BUSY, 'another process has held its lock for too long: end the backup or the database tool that has it open, then try again'],
  [8, 'it is read-only here: check the permissions of the file and of its directory'],
  [
    IO,
    'it could not be read or written: the disk failed, or a quota or a limit on the size of files was reached: see to that, then start the runtime anew',
  ],
  [CORRUPT, 'its contents are damaged: move the file away, or put a backup in its place'],
  [FULL, 'the disk is full: make room, then try again'],
  [CANT_OPEN, 'it can not be opened: check that its directory exists and that you may write there'],
  [26, 'the file is not a Quiesce store: name another file, or move this one away; if it was one, put a backup in its place'],
])

/** What others of a batch may well do without the one that met it. */
const apart = new Set([CORRUPT, FULL, TOO_BIG, CONSTRAINT])

export function sqliteFault(path: string, error: unknown): StoreFault {
  const said = error instanceof Error ? error.message : String(error)
  const code = primaryCode(error, said)
  const meaning = code === null ? undefined : meanings.get(hasNoRoom(code, path) ? FULL : code)
  const message = `the store ${path} failed: ${meaning === undefined ? said : `${meaning} (SQLite: ${said})`}`
  return new StoreFault('storage_unavailable', message, { path, ...(code !== null && { sqliteCode: code }) }, retryOf(code))
}

/** What is wrong with a file before SQLite has seen it. */
export function cannotOpen(path: string, why: string): StoreFault {
  return new StoreFault('storage_unavailable', `the store ${path} can not be opened: ${why}`, { path })
}

function retryOf(code: number | null): FaultData['retry'] {
  if (code === BUSY) return 'later'
  return code !== null && apart.has(code) ? 'apart' : undefined
}

/** node:sqlite gives `errcode`, libsql `rawCode`; where libsql can't open a file the code is only in its text. */
function primaryCode(error: unknown, said: string): number | null {
  if (typeof error !== 'object' || error === null) return null
  const raw = 'errcode' in error ? error.errcode : 'rawCode' in error ? error.rawCode : undefined
  if (typeof raw === 'number') return raw & 0xff
  const inText = /^ConnectionFailed\(.*: (\d+)"\)$/.exec(said)?.[1]
  return inText === undefined ? null : Number(inText) & 0xff
}

/** Where SQLite can't make the index of its log because there is no room, it speaks of a disk that fails. */
function hasNoRoom(code: number, path: string): boolean {
  if (code !== IO && code !== CANT_OPEN) return false
  try {
    const { bavail, bfree } = statfsSync(dirname(path))
    return (process.getuid?.() === 0 ? bfree : bavail) === 0
  } catch {
    return false
  }
}

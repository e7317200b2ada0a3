// Owns the words for what SQLite reports: which store, what happened, what would help (RE-6).
import { StoreFault } from '../fault.ts'

/** By SQLite's primary result code. */
const meanings = new Map<number, string>([
  [5, 'another process has held its lock for too long'],
  [8, 'it is read-only here: check the permissions of the file and of its directory'],
  [10, 'it could not be read or written: the disk failed, or a limit on the size of files was reached'],
  [11, 'its contents are damaged: move the file away, or put a backup in its place'],
  [13, 'the disk is full: make room, then try again'],
  [14, 'it can not be opened: check that its directory exists and that you may write there'],
  [26, 'the file is not a Quiesce store: name another file, or move this one away'],
])

export function sqliteFault(path: string, error: unknown): StoreFault {
  const said = error instanceof Error ? error.message : String(error)
  const code = primaryCode(error, said)
  const meaning = code === null ? undefined : meanings.get(code)
  const message = `the store ${path} failed: ${meaning === undefined ? said : `${meaning} (SQLite: ${said})`}`
  return new StoreFault('storage_unavailable', message, { path, ...(code !== null && { sqliteCode: code }) })
}

/** node:sqlite gives `errcode`, libsql `rawCode`; where libsql can't open a file the code is only in its text. */
function primaryCode(error: unknown, said: string): number | null {
  if (typeof error !== 'object' || error === null) return null
  const raw = 'errcode' in error ? error.errcode : 'rawCode' in error ? error.rawCode : undefined
  if (typeof raw === 'number') return raw & 0xff
  const inText = /^ConnectionFailed\(.*: (\d+)"\)$/.exec(said)?.[1]
  return inText === undefined ? null : Number(inText) & 0xff
}

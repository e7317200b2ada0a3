// Owns a look at the log beside a store before SQLite opens it: one that can't be read SQLite takes for empty, and what was answered
// and lay only there would be lost without a word.
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { cannotOpen } from './sqlite-fault.ts'

/** The first bytes of a write-ahead log, whichever order its checksums are in; their last bit says which. */
const magic = 0x377f0682

/** *Contract:* throws StoreFault `storage_unavailable` where commits are surely lost; what the system says of an unreadable file as it is. */
export function refuseLostLog(path: string, file: string): void {
  const log = `${file}-wal`
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  // A store is written before its log is.
  if (statSync(file).size === 0)
    throw cannotOpen(
      path,
      `it is empty, and its log ${log} is not: put the file back that belongs to the log, or move the log away and begin anew`,
    )
  const begins = firstBytes(log)
  // All zeros is what a power cut leaves of a log of which nothing was answered yet.
  if (begins === 0 || (begins & 0xfffffffe) === magic) return
  throw cannotOpen(
    path,
    `its log ${log} is damaged: put a backup of both in their place; or move the log away, and go on without what was committed last`,
  )
}

function firstBytes(file: string): number {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    // Who closes a store as the last one takes its log away.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
  try {
    const bytes = Buffer.alloc(4)
    readSync(descriptor, bytes)
    return bytes.readUInt32BE()
  } finally {
    closeSync(descriptor)
  }
}

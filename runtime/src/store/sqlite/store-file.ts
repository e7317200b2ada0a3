// Owns the file of the store: its directory and itself, for the user's eyes only. Refuses what can't be a store.
import { closeSync, mkdirSync, openSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreFault } from '../fault.ts'

const meanings = new Map<string, string>([
  ['EACCES', 'you may not write there: name a file in a directory of your own, or change the permissions'],
  ['EPERM', 'you may not write there: name a file in a directory of your own, or change the permissions'],
  ['EROFS', 'the file system is read-only: name a file elsewhere'],
  ['EISDIR', 'it is a directory: name a file, for example quiesce.db in it'],
  ['ENOTDIR', 'a part of its path is a file, where a directory is needed'],
  ['ENOSPC', 'the disk is full: make room, then try again'],
])

/** Makes what is missing: directories with mode 0700, the file with 0600. *Contract:* throws StoreFault `storage_unavailable`. */
export function makeStoreFile(path: string): void {
  try {
    makeDirectory(path, dirname(path))
    // Looked at before it is opened: to open a pipe waits for its other end, and SQLite opens those beside it, too.
    for (const suffix of ['', '-wal', '-shm', '-journal']) refuseIrregular(path, `${path}${suffix}`)
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    if (error instanceof StoreFault) throw error
    const code = codeOf(error)
    const meaning = meanings.get(code)
    const said = error instanceof Error ? error.message : String(error)
    throw cannotOpen(path, meaning === undefined ? said : `${meaning} (${code})`)
  }
}

/** Step by step from the deepest directory that is there: Node's own way never returns where a file system makes none, as /proc. */
function makeDirectory(path: string, directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false }) !== undefined) return
  const parent = dirname(directory)
  makeDirectory(path, parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    const code = codeOf(error)
    // Another process may have been quicker.
    if (code === 'EEXIST') return
    throw code === 'ENOENT' ? cannotOpen(path, `no directory can be made in ${parent}: name a file elsewhere`) : error
  }
}

function refuseIrregular(path: string, file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  // SQLite says better than we what is wrong with a directory beside the file.
  if (found === undefined || found.isFile() || found.isDirectory()) return
  throw cannotOpen(path, `${file === path ? 'it' : file} is ${kindOf(found)}, and no regular file: name another file`)
}

function kindOf(found: Stats): string {
  if (found.isFIFO()) return 'a named pipe'
  if (found.isSocket()) return 'a socket'
  return 'a device'
}

function cannotOpen(path: string, why: string): StoreFault {
  return new StoreFault('storage_unavailable', `the store ${path} can not be opened: ${why}`, { path })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

// Owns the file of the store: its directory and itself, for the user's eyes only. Refuses what can't be a store.
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreFault } from '../fault.ts'

const meanings = new Map<string, string>([
  ['EACCES', 'you may not write there: name a file in a directory of your own, or change the permissions'],
  ['EPERM', 'you may not write there: name a file in a directory of your own, or change the permissions'],
  ['EROFS', 'the file system is read-only: name a file elsewhere'],
  ['EISDIR', 'it is a directory: name a file, for example quiesce.db in it'],
  ['ENOTDIR', 'a part of its path is a file, where a directory is needed'],
  ['EEXIST', 'a part of its path is a file, where a directory is needed'],
  ['ENOSPC', 'the disk is full: make room, then try again'],
])

/** Makes what is missing: directories with mode 0700, the file with 0600. *Contract:* throws StoreFault `storage_unavailable`. */
export function makeStoreFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
    const meaning = meanings.get(code)
    throw new StoreFault(
      'storage_unavailable',
      `the store ${path} can not be opened: ${meaning === undefined ? said : `${meaning} (${code})`}`,
      { path },
    )
  }
}

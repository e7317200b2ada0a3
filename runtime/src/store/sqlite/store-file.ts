// Owns the file of the store: its directory and itself, for the user's eyes only. Refuses what can't be a store.
import { accessSync, closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { StoreFault } from '../fault.ts'
import { cannotOpen } from './sqlite-fault.ts'
import { refuseLostLog } from './store-file-log.ts'

const meanings = new Map<string, string>([
  ['EACCES', 'you may not write there: name a file in a directory of your own, or change the permissions'],
  ['EPERM', 'you may not write there: name a file in a directory of your own, or change the permissions'],
  ['EROFS', 'the file system is read-only: name a file elsewhere'],
  ['ENOTDIR', 'a part of its path is a file, where a directory is needed'],
  ['ENOSPC', 'the disk is full: make room, then try again'],
  ['EDQUOT', 'your quota of the disk is used up: make room, then try again'],
  ['ELOOP', 'its symbolic links lead in a circle: name a file'],
  ['ENAMETOOLONG', 'its path is too long: name a file with a shorter one'],
])

/**
 * Makes what is missing: directories with mode 0700, the file with 0600. One that is there is looked at and never opened: to close
 * it would give up the locks that other connections of this process have on it.
 * *Contract:* throws StoreFault `storage_unavailable`.
 */
export function makeStoreFile(path: string): void {
  try {
    makeDirectory(path, dirname(path))
    const file = placeOf(path)
    // Looked at before it is opened: to open a pipe waits for its other end, and SQLite opens those beside it, too.
    refuseIrregular(path, 'it', file)
    const beside = ['-wal', '-shm', '-journal'].map((suffix) => `${file}${suffix}`)
    for (const each of beside) refuseIrregular(path, each, each)
    makeFile(file)
    refuseUnusable(path, 'it', file)
    for (const each of beside) if (isThere(each)) refuseUnusable(path, each, each)
    if (!isThere(`${file}-wal`) || !isThere(`${file}-shm`)) refuseUnusable(path, `its directory ${dirname(file)}`, dirname(file))
    refuseLostLog(path, file)
  } catch (error) {
    if (error instanceof StoreFault) throw error
    const code = codeOf(error)
    const meaning = meanings.get(code)
    const said = error instanceof Error ? error.message : String(error)
    throw cannotOpen(path, meaning === undefined ? said : `${meaning} (${code})`)
  }
}

/** Where it really lies, there or not: SQLite keeps its log beside that, and not beside a symbolic link. */
function placeOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return join(realpathSync(dirname(path)), basename(path))
  if (!found.isSymbolicLink() || isThere(path)) return realpathSync(path)
  const target = resolve(dirname(path), readlinkSync(path))
  if (isThere(dirname(target))) return placeOf(target)
  throw cannotOpen(
    path,
    `it is a symbolic link to ${target}, and there is no such directory: mount what belongs there, or name another file`,
  )
}

/** Step by step from the deepest directory that is there: Node's own way never returns where a file system makes none, as /proc. */
function makeDirectory(path: string, directory: string): void {
  if (isThere(directory)) return
  const parent = dirname(directory)
  makeDirectory(path, parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    const code = codeOf(error)
    // Another process may have been quicker.
    if (code === 'EEXIST' && isThere(directory)) return
    if (code === 'EEXIST') throw cannotOpen(path, `${directory} is a symbolic link that leads nowhere: name a file elsewhere`)
    throw code === 'ENOENT' ? cannotOpen(path, `no directory can be made in ${parent}: name a file elsewhere`) : error
  }
}

function makeFile(file: string): void {
  if (isThere(file)) return
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function refuseIrregular(path: string, name: string, file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  const itself = name === 'it'
  if (itself && found.isDirectory()) throw cannotOpen(path, 'it is a directory: name a file, for example quiesce.db in it')
  throw cannotOpen(path, `${name} is ${kindOf(found)}, and no regular file: ${itself ? 'name another file' : 'move it away'}`)
}

/** Also what lies beside it: often somebody else ran with the same store once. */
function refuseUnusable(path: string, name: string, file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    throw cannotOpen(path, `${name} is not yours to read and write: change its owner or permissions, or name another file (${code})`)
  }
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a directory'
  if (found.isFIFO()) return 'a named pipe'
  if (found.isSocket()) return 'a socket'
  return 'a device'
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

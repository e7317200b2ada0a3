// Owns the way from a path that a model wrote to a real one inside the session's roots. Refuses every other (FR-7).
import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { ToolContext } from './tool.ts'

/** What a path is read against. */
export type Boundary = Pick<ToolContext, 'cwd' | 'roots'>

/**
 * The real path behind `given` (relative to the cwd, or absolute), symbolic links resolved; of a path that doesn't exist yet,
 * those of its deepest existing parent. *Contract:* rejects with an error for the model where that isn't inside a root.
 */
export async function resolveInside(given: string, boundary: Boundary): Promise<string> {
  if (given === '') throw new Error('the path is empty: give one relative to the working directory, or an absolute one')
  if (given.includes('\0')) throw new Error(`the path ${JSON.stringify(given)} has a NUL character in it, which no file name can have`)
  if (/^~(\/|$)/.test(given))
    throw new Error(`${given}: "~" has no meaning here: give a path relative to the working directory, or an absolute one`)
  const roots = await realRoots(boundary)
  const lexical = resolve(boundary.cwd, given)
  const real = await realPath(lexical, given)
  if (roots.some((root) => isInside(real, root))) return real
  const leads = real === lexical ? '' : ` (it leads to ${real})`
  throw new Error(`${given} is outside the session's roots${leads}; files must be inside ${boundary.roots.join(' or ')}`)
}

/** Like resolveInside, for a directory that exists. */
export async function resolveDirectory(given: string, boundary: Boundary): Promise<string> {
  const path = await resolveInside(given, boundary)
  const stats = await stat(path).catch((error: unknown) => Promise.reject(fileError(error, given)))
  if (!stats.isDirectory()) throw new Error(`${given} is a file, not a directory`)
  return path
}

export interface OpenFile {
  handle: FileHandle
  path: string
  stats: BigIntStats
}

/** Opens a regular file for reading; the caller closes the handle. *Contract:* as resolveInside; never blocks on a device or fifo. */
export async function openInside(given: string, boundary: Boundary): Promise<OpenFile> {
  const path = await resolveInside(given, boundary)
  // The path is resolved: a link at its end now was put there since. And opening a fifo must not wait for its writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(path, flags).catch((error: unknown) => Promise.reject(fileError(error, given)))
  try {
    const stats = await handle.stat({ bigint: true })
    if (stats.isDirectory()) throw fileError({ code: 'EISDIR' }, given)
    if (!stats.isFile()) throw new Error(`${given} is not a regular file but a device, socket or pipe`)
    return { handle, path, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** An error of the file system in words for the model; `given` is the path that it asked for. */
export function fileError(error: unknown, given: string): Error {
  const code = codeOf(error)
  const words = code === undefined ? undefined : meanings.get(code)
  if (words !== undefined) return new Error(`${given}: ${words}`)
  return new Error(`${given}: ${code ?? (error instanceof Error ? error.message : String(error))}`)
}

/** The system's code of an error, for example `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const meanings = new Map([
  ['ENOENT', 'no such file or directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['EISDIR', 'is a directory, not a file'],
  ['ENOTDIR', 'a part of the path that should be a directory is a file'],
  ['EEXIST', 'a part of the path that should be a directory is a file'],
  ['ELOOP', 'its symbolic links lead in a circle, or one was put in its place just now'],
  ['ENAMETOOLONG', 'the name is too long for the file system'],
  ['ENOSPC', 'no space is left on the disk'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EMFILE', 'too many files are open'],
])

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

async function realRoots(boundary: Boundary): Promise<string[]> {
  const found = await Promise.all(boundary.roots.map((root) => realpath(root).catch(() => undefined)))
  const roots = found.filter((root) => root !== undefined)
  if (roots.length === 0) throw new Error(`none of the session's roots exists: ${boundary.roots.join(', ')}`)
  return roots
}

async function realPath(path: string, given: string): Promise<string> {
  const missing: string[] = []
  for (let current = path; ; current = dirname(current)) {
    try {
      return join(await realpath(current), ...missing)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || current === dirname(current)) throw fileError(error, given)
      // Writing through it would create a file wherever it points to.
      if (await isLink(current)) throw new Error(`${given}: ${basename(current)} is a symbolic link to something that doesn't exist`)
      missing.unshift(basename(current))
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false
}

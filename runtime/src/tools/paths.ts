// Owns the way from a path that a model wrote to a real one inside the session's roots. Refuses every other (FR-7).
import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf, fileError } from './file-error.ts'
import { type Held, type Hold, hold, type RawPath } from './held.ts'
import type { ToolContext } from './tool.ts'

export { codeOf, fileError }

/** A moment at which another process may change the tree. */
export type Moment = 'hold' | 'open' | 'hold-directory' | 'make-directory' | 'create' | 'check' | 'replace' | 'look-back'

/** What a path is read against. */
export interface Boundary extends Pick<ToolContext, 'cwd' | 'roots' | 'guard'> {
  /** For tests: called just before each step. */
  before?: (moment: Moment) => void
  /** For tests: the way of another system. */
  hold?: Hold
}

/** A path inside the roots; what exists of it is held. */
export interface Located {
  held: Held
  /** The names below it that don't exist yet. */
  missing: readonly string[]
  /** The real roots. */
  roots: readonly RawPath[]
}

/**
 * Finds where `given` (relative to the cwd, or absolute) leads, and holds it, or its deepest existing parent; the caller closes
 * it. *Contract:* rejects with an error for the model where that isn't inside a root, or the session's rules bar it.
 */
export async function locate(given: string, boundary: Boundary): Promise<Located> {
  const lexical = lexicalPath(given, boundary)
  const [roots, found] = await Promise.allSettled([realRoots(boundary), deepest(lexical, given, boundary)])
  if (found.status === 'rejected') throw fileError(found.reason, given)
  const { held, missing, fault } = found.value
  try {
    if (roots.status === 'rejected') throw roots.reason
    const real = join(textOf(held.found), ...missing)
    assertInside(held.found, roots.value, () => outsideText(given, boundary, real === lexical ? undefined : real))
    if (fault !== undefined) throw fault
    const barred = boundary.guard?.(real)
    if (barred !== undefined) throw new Error(barred)
    return { held, missing, roots: roots.value }
  } catch (error) {
    held.close()
    throw codeOf(error) === undefined ? error : fileError(error, given)
  }
}

/**
 * The real path behind `given`, symbolic links resolved; of a path that doesn't exist yet, those of its deepest existing parent.
 * It says what was so a moment ago: to read or write, open or replace. *Contract:* as locate.
 */
export async function resolveInside(given: string, boundary: Boundary): Promise<string> {
  const located = await locate(given, boundary)
  located.held.close()
  return join(exactText(located.held.found, given), ...located.missing)
}

/** Like resolveInside, for a directory that exists. */
export async function resolveDirectory(given: string, boundary: Boundary): Promise<string> {
  const { held, missing } = await locate(given, boundary)
  held.close()
  if (missing.length > 0) throw fileError({ code: 'ENOENT' }, given)
  if (!held.stats.isDirectory()) throw new Error(`${given} is a file, not a directory`)
  return exactText(held.found, given)
}

export interface OpenFile {
  handle: FileHandle
  path: string
  stats: BigIntStats
}

/** Opens a regular file for reading; the caller closes the handle. *Contract:* as locate; never blocks on a device or fifo. */
export async function openInside(given: string, boundary: Boundary): Promise<OpenFile> {
  const { held, missing } = await locate(given, boundary)
  try {
    if (missing.length > 0) throw fileError({ code: 'ENOENT' }, given)
    assertRegular(held.stats, given)
    boundary.before?.('open')
    const opening = held.open(constants.O_RDONLY | constants.O_NONBLOCK)
    const handle = await opening.catch((error: unknown) => Promise.reject(fileError(error, given)))
    return { handle, path: textOf(held.found), stats: held.stats }
  } finally {
    held.close()
  }
}

/** Refuses what isn't a regular file, by its stats. */
export function assertRegular(stats: BigIntStats, given: string): void {
  if (stats.isDirectory()) throw fileError({ code: 'EISDIR' }, given)
  if (!stats.isFile()) throw new Error(`${given} is not a regular file but a device, socket or pipe`)
}

/** Where each root led when a session's list of them was first looked at, for as long as that list is in use. */
const firstSeen = new WeakMap<readonly string[], Map<string, RawPath>>()

/** The roots' real paths, each once. Refuses one that leads elsewhere than before: a link was put in its place, or in that of a parent. */
export async function realRoots({ roots }: Pick<Boundary, 'roots'>): Promise<RawPath[]> {
  const distinct = [...new Set(roots)]
  const found = await Promise.all(distinct.map((root) => realpath(root, 'buffer').catch(() => undefined)))
  const seen = firstSeen.get(roots) ?? new Map<string, RawPath>()
  firstSeen.set(roots, seen)
  const real: RawPath[] = []
  for (const [index, root] of distinct.entries()) {
    const [now, before] = [found[index], seen.get(root)]
    if (now === undefined) continue
    if (before !== undefined && !before.equals(now))
      throw new Error(
        `the session's root ${root} leads to ${textOf(now)} now, and led to ${textOf(before)}: nothing is read or written in it`,
      )
    seen.set(root, now)
    real.push(now)
  }
  if (real.length === 0) throw new Error(`none of the session's roots exists: ${distinct.join(', ')}`)
  return real
}

/** Throws with these words where the real path is inside none of the real roots. */
export function assertInside(path: RawPath, roots: readonly RawPath[], words: () => string): void {
  if (!roots.some((root) => isInside(path, root))) throw new Error(words())
  // Also under the root of all: what a process keeps there is its memory and its environment, with the keys in it.
  if (/^\/proc\/\d/.test(textOf(path))) throw new Error(`${textOf(path)} belongs to a process, not to the session's files`)
}

export function outsideText(given: string, { roots }: Pick<Boundary, 'roots'>, leadsTo: string | undefined): string {
  const leads = leadsTo === undefined ? '' : ` (it leads to ${leadsTo})`
  return `${given} is outside the session's roots${leads}; files must be inside ${[...new Set(roots)].join(' or ')}`
}

/** For a message, and for rules: what isn't UTF-8 shows as U+FFFD. */
export const textOf = (path: RawPath) => path.toString('utf8')

function exactText(path: RawPath, given: string): string {
  const text = textOf(path)
  if (!Buffer.from(text).equals(path)) throw new Error(`${given}: its real path is not valid UTF-8 text (${text})`)
  return text
}

const SLASH = 0x2f

function isInside(path: RawPath, root: RawPath): boolean {
  if (!path.subarray(0, root.length).equals(root)) return false
  return path.length === root.length || root.at(-1) === SLASH || path[root.length] === SLASH
}

/** What Linux takes, with its NUL; others take less. */
const MAX_PATH_BYTES = 4095

/** The absolute path that the words mean, by the words alone. Refuses what no path is. */
export function lexicalPath(given: string, { cwd }: Pick<Boundary, 'cwd'>): string {
  if (given === '') throw new Error('the path is empty: give one relative to the working directory, or an absolute one')
  if (given.includes('\0')) throw new Error(`the path ${JSON.stringify(given)} has a NUL character in it, which no file name can have`)
  if (/\p{Surrogate}/u.test(given))
    throw new Error(`the path ${JSON.stringify(given)} has half of a surrogate pair in it, which is no character`)
  if (/^~(\/|$)/.test(given))
    throw new Error(`${given}: "~" has no meaning here: give a path relative to the working directory, or an absolute one`)
  const path = resolve(cwd, given)
  const bytes = Buffer.byteLength(path)
  if (bytes > MAX_PATH_BYTES) throw new Error(`${given.slice(0, 100)}...: a path of ${bytes} bytes is too long: at most ${MAX_PATH_BYTES}`)
  return path
}

interface Deepest {
  held: Held
  missing: string[]
  /** Why what is below it can't be reached, where it isn't just missing. */
  fault: unknown
}

/** Holds the path, or as much of it as there is. */
async function deepest(path: string, given: string, boundary: Boundary): Promise<Deepest> {
  const take = boundary.hold ?? hold
  const missing: string[] = []
  let fault: unknown
  boundary.before?.('hold')
  for (let current = path; ; current = dirname(current)) {
    try {
      return { held: await take(current, 'any'), missing, fault }
    } catch (error) {
      if (current === dirname(current)) throw fault ?? error
      if (codeOf(error) !== 'ENOENT') fault ??= error
      // Writing through it would create a file wherever it points to.
      else if (await isLink(current))
        fault ??= new Error(`${given}: ${basename(current)} is a symbolic link to something that doesn't exist`)
      missing.unshift(basename(current))
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false
}

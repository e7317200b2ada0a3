// Owns the way through a tree of files: in order of their paths, within the roots, past what is ignored, in bounded memory and time.
import { type Dirent, lstatSync, opendirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { type IgnoreRules, rulesAbove } from './ignore-rules.ts'
import type { PassedOver } from './search-job.ts'
import { isWithin } from './within.ts'

/** Of one directory, so many entries are looked at. */
const MAX_ENTRIES = 500_000
/** A directory of more bytes, as its file system counts them, is read in pieces, which takes longer. */
const LARGE = 1024 * 1024
const ENTRIES_AT_ONCE = 1_024
const MAX_NAMED = 3
/** What the system shows of itself as files: endless, and with every process's memory and environment in it. */
const UNREAL = new Set(['proc', 'sys', 'dev'])

export interface Walk {
  /** A directory: real, absolute, inside the roots or named beside them. */
  start: string
  roots: readonly string[]
  /** Whether what begins with a dot is seen. `.git` never is. */
  hidden: boolean
  /** How many directories deep, the start being 0. */
  maxDepth: number
  /** Whether links to files inside the roots are seen. Links to directories never are. */
  links: boolean
  /** By `performance.now()`. */
  deadline: number
  passedOver: PassedOver
  /** For tests. */
  maxEntries?: number
}

interface Level {
  directory: string
  /** Its path relative to the start, and to the base of the rules: empty, or with a slash at the end. */
  path: string
  ruled: string
  rules: IgnoreRules
  entries: readonly Dirent[]
  next: number
}

/** The paths of files relative to the start, with slashes. *Contract:* throws where the start can't be read. */
export function* walk(options: Walk): Generator<string> {
  const { start, roots, passedOver, deadline } = options
  const above = rulesAbove(start, roots, (path) => passedOver.rules.push(path))
  passedOver.ignoredStart = above.ignored
  const levels = [enter(options, { directory: start, path: '', rules: above.rules })]
  let seen = 0
  for (let level = levels[0]; level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next++]
    if (entry === undefined) {
      levels.pop()
      continue
    }
    if ((seen++ % ENTRIES_AT_ONCE === 0 || entry.isDirectory()) && performance.now() > deadline) {
      passedOver.stopped = 'time'
      return
    }
    if (!isWanted(options, level, entry)) continue
    const path = level.path + entry.name
    if (!entry.isDirectory()) yield path
    else if (levels.length <= options.maxDepth) {
      try {
        levels.push(enter(options, { directory: below(level.directory, entry.name), path: `${path}/`, rules: level.rules }))
      } catch {
        noteUnreadable(passedOver, `${path}/`)
      }
    }
  }
}

/** Simpler than `join`, and a good deal quicker. */
function below(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name
}

export function noteUnreadable({ unreadable }: PassedOver, path: string): void {
  if (unreadable.count++ < MAX_NAMED) unreadable.first.push(path)
}

function isWanted({ hidden, links, roots, passedOver }: Walk, level: Level, entry: Dirent): boolean {
  const { name } = entry
  if (name === '.git' || (!hidden && name.startsWith('.'))) return false
  if (!entry.isDirectory() && !entry.isFile() && !(links && entry.isSymbolicLink())) return false
  if (level.directory === sep && UNREAL.has(name)) return false
  if (level.rules.ignores(`${level.ruled}${name}${entry.isDirectory() ? '/' : ''}`)) return false
  if (name.includes('\uFFFD') && lstatSync(below(level.directory, name), { throwIfNoEntry: false }) === undefined) {
    passedOver.unnameable++
    return false
  }
  return !entry.isSymbolicLink() || leadsToFile(below(level.directory, name), roots)
}

function leadsToFile(link: string, roots: readonly string[]): boolean {
  try {
    const real = realpathSync(link)
    return isWithin(real, roots) && statSync(real).isFile()
  } catch {
    return false
  }
}

function enter(options: Walk, { directory, path, rules }: Pick<Level, 'directory' | 'path' | 'rules'>): Level {
  const { passedOver, maxEntries = MAX_ENTRIES } = options
  const entries = entriesOf(directory, maxEntries + 1)
  if (entries.length > maxEntries) {
    entries.pop()
    passedOver.crowded.push(path)
  }
  const own = rules.within(directory, (file) => passedOver.rules.push(file), entries)
  const ruled = relative(own.base, directory)
  return { directory, path, rules: own, ruled: ruled === '' ? '' : `${ruled}/`, entries: entries.sort(byPath), next: 0 }
}

/** So many at most. */
function entriesOf(directory: string, limit: number): Dirent[] {
  if (statSync(directory).size <= LARGE) return readdirSync(directory, { withFileTypes: true }).slice(0, limit)
  const entries: Dirent[] = []
  const handle = opendirSync(directory, { bufferSize: ENTRIES_AT_ONCE })
  try {
    for (let entry = handle.readSync(); entry !== null && entries.length < limit; entry = handle.readSync()) entries.push(entry)
  } finally {
    handle.closeSync()
  }
  return entries
}

/** So that the paths of all files come in the order of their characters. */
function byPath(a: Dirent, b: Dirent): number {
  const [first, second] = [sortKey(a), sortKey(b)]
  return first < second ? -1 : first > second ? 1 : 0
}

function sortKey(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name
}

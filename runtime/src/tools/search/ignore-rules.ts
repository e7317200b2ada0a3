// Owns which paths are left out because .gitignore, .ignore or .git/info/exclude says so, as git reads them. Follows no links.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { isWithin } from './within.ts'

const RULE_FILES = ['.gitignore', '.ignore'] as const
/** Longest file of rules, in bytes. */
const MAX_RULES = 1024 * 1024
/** The library keeps every verdict: now and then it begins anew. */
const MAX_VERDICTS = 5_000

/** The rules that hold in a directory and below it, until another has its own. */
export class IgnoreRules {
  /** Absolute; paths are asked about relative to it. */
  readonly base: string
  readonly #lines: readonly string[]
  #matcher: Ignore
  #verdicts = 0

  private constructor(base: string, lines: readonly string[]) {
    this.base = base
    this.#lines = lines
    this.#matcher = matcherOf(lines)
  }

  static none(base: string): IgnoreRules {
    return new IgnoreRules(base, [])
  }

  /** With those of a directory inside the base, which go before. A repository begins anew: its rules are its own. */
  within(directory: string, unread: (path: string) => void, entries: readonly { name: string }[]): IgnoreRules {
    const names = new Set(entries.flatMap(({ name }) => (name.startsWith('.') ? [name] : [])))
    const isRepository = names.has('.git')
    const base = isRepository ? directory : this.base
    const lines = [
      ...(isRepository ? readRules(join(directory, '.git', 'info', 'exclude'), unread) : []),
      ...RULE_FILES.flatMap((name) => (names.has(name) ? readRules(join(directory, name), unread) : [])).flatMap((line) =>
        anchored(line, relative(base, directory)),
      ),
    ]
    if (!isRepository && lines.length === 0) return this
    return new IgnoreRules(base, isRepository ? lines : [...this.#lines, ...lines])
  }

  /** Whether a path relative to the base is left out; that of a directory ends in a slash. */
  ignores(path: string): boolean {
    if (this.#lines.length === 0 || path === '/') return false
    if (++this.#verdicts > MAX_VERDICTS) {
      this.#matcher = matcherOf(this.#lines)
      this.#verdicts = 0
    }
    return this.#matcher.ignores(path)
  }
}

/**
 * The rules that hold in the directory `start` by what stands above it: up to the top of its repository, above the roots too, as
 * git does it, or where it is in none, up to the highest of `roots` that it is in. Where it, or a directory that it is in, is itself
 * left out by them, they are set aside, since it was named all the same. `ignored`: and the roots don't already say so.
 */
export function rulesAbove(
  start: string,
  roots: readonly string[],
  unread: (path: string) => void,
): { rules: IgnoreRules; ignored: boolean } {
  const chain = ancestors(start)
  const repository = chain.findLastIndex((directory) => exists(join(directory, '.git')))
  const top = repository >= 0 ? repository : chain.findIndex((directory) => roots.includes(directory))
  if (top < 0) return { rules: IgnoreRules.none(start), ignored: false }
  let rules = IgnoreRules.none(chain[top] ?? start)
  let ignored = false
  for (const directory of chain.slice(top)) {
    if (rules.ignores(`${relative(rules.base, directory)}/`)) {
      rules = IgnoreRules.none(directory)
      ignored = isWithin(directory, roots) && !roots.includes(directory)
    }
    // Its own rules are read with the directory itself.
    if (directory === start) break
    const names = [...RULE_FILES, '.git'].filter((name) => exists(join(directory, name)))
    rules = rules.within(
      directory,
      unread,
      names.map((name) => ({ name })),
    )
  }
  return { rules, ignored }
}

/** From the top down to the directory itself. */
function ancestors(directory: string): string[] {
  const parent = dirname(directory)
  return parent === directory ? [directory] : [...ancestors(parent), directory]
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** A case doesn't make a difference where it makes none to the file system. */
function matcherOf(lines: readonly string[]): Ignore {
  return ignore({ ignorecase: process.platform === 'darwin' }).add([...lines])
}

function readRules(path: string, unread: (path: string) => void): string[] {
  try {
    // Opening a fifo must not wait for its writer; git reads no rules through a link either.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = fstatSync(file)
      if (!stats.isFile() || stats.size > MAX_RULES) throw new Error('no file of rules')
      return readFileSync(file, 'utf8')
        .replace(/^\uFEFF/, '')
        .split(/\r?\n/)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    if (!missing) unread(path)
    return []
  }
}

/** A rule of a directory as one of the base, which is above it: nothing where it says nothing. */
function anchored(line: string, directory: string): string[] {
  if (line.trim() === '' || line.startsWith('#')) return []
  if (directory === '') return [line]
  const [negation, body] = line.startsWith('!') ? ['!', line.slice(1)] : ['', line]
  const literal = directory.replace(/[\\*?[\]]/g, '\\$&')
  // A slash at the beginning or in the middle ties a rule to its own directory.
  if (!/\/\s*\S/.test(body)) return body.startsWith('/') ? [] : [`${negation}/${literal}/**/${body}`]
  return [`${negation}/${literal}/${body.replace(/^\//, '')}`]
}

// Owns how a rule's pattern is compared with a file: by each way of naming it where it asks or denies, by every way where it allows.
import { posix } from 'node:path'
import { PathWildcard } from './wildcard.ts'

/** One way to a file, and the directories that it may be named from by that way. All absolute. */
export class Way {
  readonly path: string
  readonly #cwd: string
  readonly #roots: readonly string[]
  #fromCwd: string | undefined
  #names: readonly string[] | undefined

  constructor(path: string, { cwd, roots }: { cwd: string; roots: readonly string[] }) {
    this.path = path
    this.#cwd = cwd
    this.#roots = roots
  }

  get fromCwd(): string {
    this.#fromCwd ??= from(this.#cwd, this.path)
    return this.#fromCwd
  }

  /** The relative ones: from the working directory, and from each root that it is in. */
  get names(): readonly string[] {
    this.#names ??= [
      ...new Set([this.fromCwd, ...this.#roots.filter((root) => isIn(this.path, root)).map((root) => from(root, this.path))]),
    ]
    return this.#names
  }
}

/** A pattern, as a rule that asks or denies reads it, and as one that allows does. */
export class PathPattern {
  readonly #isAbsolute: boolean
  readonly #narrow: PathWildcard
  readonly #wide: PathWildcard

  constructor(pattern: string) {
    const spelled = spelling(pattern)
    this.#isAbsolute = spelled.startsWith('/')
    this.#narrow = new PathWildcard(spelled, 'narrow')
    this.#wide = new PathWildcard(spelled, 'wide')
  }

  /** For a rule that allows: by all ways, and from the working directory alone. */
  allows(ways: readonly Way[]): boolean {
    return ways.every((way) => this.#narrow.matches(this.#isAbsolute ? way.path : way.fromCwd))
  }

  /** For a rule that asks or denies: by any way, and from any root. */
  concerns(ways: readonly Way[]): boolean {
    return ways.some((way) => this.#wide.matches(way.path) || (!this.#isAbsolute && way.names.some((name) => this.#wide.matches(name))))
  }
}

/** As paths are spelled here: the shortest way, without `./`, and a directory as all that is in it. */
function spelling(pattern: string): string {
  const shortest = posix.normalize(pattern)
  return shortest.endsWith('/') ? `${shortest}**` : shortest
}

const isIn = (path: string, directory: string) => directory === '/' || path === directory || path.startsWith(`${directory}/`)

function from(directory: string, path: string): string {
  if (path === directory) return '.'
  if (directory !== '/' && path.startsWith(`${directory}/`)) return path.slice(directory.length + 1)
  return posix.relative(directory, path)
}

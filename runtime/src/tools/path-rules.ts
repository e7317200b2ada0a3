// Owns how a rule's pattern is compared with a file: by each way of naming it where it asks or denies, by every way where it allows.
import { posix } from 'node:path'
import { PathWildcard } from './wildcard.ts'

/** One way to a file, and the directories that it may be named from by that way. All absolute. */
export interface Way {
  path: string
  cwd: string
  roots: readonly string[]
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
    return ways.every(({ path, cwd }) => this.#narrow.matches(this.#isAbsolute ? path : from(cwd, path)))
  }

  /** For a rule that asks or denies: by any way, and from any root. */
  concerns(ways: readonly Way[]): boolean {
    return ways.some(({ path, cwd, roots }) => {
      if (this.#wide.matches(path)) return true
      if (this.#isAbsolute) return false
      const inside = [...roots].filter((root) => root === '/' || path === root || path.startsWith(`${root}/`))
      return [...new Set([cwd, ...inside])].some((directory) => this.#wide.matches(from(directory, path)))
    })
  }
}

/** As paths are spelled here: the shortest way, without `./`, and a directory as all that is in it. */
function spelling(pattern: string): string {
  const shortest = posix.normalize(pattern)
  return shortest.endsWith('/') ? `${shortest}**` : shortest
}

function from(directory: string, path: string): string {
  const relative = posix.relative(directory, path)
  return relative === '' ? '.' : relative
}

// Owns the search for files by a pattern for their paths. Runs where it may hold up its thread.
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { type GlobEnd, type GlobJob, nothingPassedOver, type PassedOver, type SearchOutput } from './search-job.ts'
import { ShownLines } from './shown-lines.ts'
import { shownPath } from './shown-path.ts'
import { walk } from './walk.ts'

/** So many directories are told apart among what isn't shown, and so many are named. */
const MAX_COUNTED = 10_000
const MAX_NAMED = 8

/** *Contract:* throws an error for the model where the pattern is none, or its start can't be read. */
export function searchGlob(job: GlobJob, output: SearchOutput): GlobEnd {
  const passedOver = nothingPassedOver()
  const matches = pathMatcher(job.pattern, { dot: false })
  const lines = new ShownLines(job, output)
  const rest = new Map<string, number>()
  let total = 0
  let shown = 0
  const found = walk({
    start: job.start,
    roots: job.roots,
    hidden: namesHidden(job.pattern),
    maxDepth: depthOf(job.pattern),
    links: true,
    deadline: performance.now() + job.budgetMs,
    passedOver,
  })
  for (const path of found) {
    if (!matches(path) || isBarred(job, path, output, passedOver)) continue
    total++
    if (lines.add(shownPath(job.prefix + path), shown === job.limit)) shown++
    else count(rest, path)
  }
  lines.end()
  return { kind: 'glob', passedOver, total, shown, rest: fullest(rest, job.prefix) }
}

function isBarred(job: GlobJob, path: string, output: SearchOutput, passedOver: PassedOver): boolean {
  if (!job.guarded || output.allows(realpathSync(join(job.start, path)))) return false
  passedOver.barred++
  return true
}

/** *Contract:* throws an error for the model where the pattern is none. */
export function pathMatcher(pattern: string, options: { dot: boolean; basename?: boolean }): (path: string) => boolean {
  const negated = pattern.startsWith('!') && !pattern.startsWith('!(')
  // `a/**` is what is below a, not a file of that name.
  const inner = (negated ? pattern.slice(1) : pattern).replace(/\/\*\*$/, '/**/*')
  try {
    const matches = picomatch(inner, { ...options, nonegate: true, strictBrackets: true, posix: true, windows: false })
    if (!negated) return (path) => matches(path)
    return (path) => !matches(path) && (options.dot || !/(^|\/)\./.test(path))
  } catch (error) {
    throw new Error(`the pattern ${JSON.stringify(pattern)} is none: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Whether a part of the pattern may begin with a dot: without one, nothing hidden can match. */
function namesHidden(pattern: string): boolean {
  return /(^|[/!{,(|[\\])\./.test(pattern)
}

/** How many directories deep a match can lie. */
function depthOf(pattern: string): number {
  // Within parentheses and braces a slash may stand that isn't passed each time.
  if (/\*\*|[({!\\[]/.test(pattern)) return Number.POSITIVE_INFINITY
  return pattern.split('/').length - 1
}

function count(rest: Map<string, number>, path: string): void {
  const slash = path.indexOf('/')
  const directory = slash < 0 ? '' : path.slice(0, slash + 1)
  const known = rest.get(directory)
  if (known !== undefined || rest.size < MAX_COUNTED) rest.set(directory, (known ?? 0) + 1)
}

function fullest(rest: ReadonlyMap<string, number>, prefix: string): GlobEnd['rest'] {
  return [...rest]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_NAMED)
    .map(([directory, count]) => ({ directory: `${prefix}${directory}` || './', count }))
}

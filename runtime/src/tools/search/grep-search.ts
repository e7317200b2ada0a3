// Owns the search for lines that match a regular expression. Runs where it may hold up its thread, for as long as an expression may.
import { join } from 'node:path'
import { FileMatches, type Told } from './file-matches.ts'
import { pathMatcher } from './glob-search.ts'
import { LineSource } from './line-source.ts'
import { type GrepEnd, type GrepJob, nothingPassedOver, type SearchOutput } from './search-job.ts'
import { ShownLines } from './shown-lines.ts'
import { shownPath } from './shown-path.ts'
import { noteUnreadable, walk } from './walk.ts'
import { isWithin } from './within.ts'

/** *Contract:* throws an error for the model where a pattern is none, or the start can't be read. */
export function searchGrep(job: GrepJob, output: SearchOutput): GrepEnd {
  const counts = { lines: 0, files: 0, shown: 0, searched: 0, binary: 0, cutLines: 0, brokenLines: 0 }
  const end: GrepEnd = { kind: 'grep', passedOver: nothingPassedOver(), ...counts }
  const deadline = performance.now() + job.budgetMs
  const source = new LineSource()
  const lines = new ShownLines(job, output)
  const told: Told = { job, output, end, lines, deadline, expression: new RegExp(job.source, job.flags) }
  for (const path of job.single ? [''] : pathsOf(job, end, deadline)) {
    const shown = shownPath(job.prefix + path)
    const file = new FileMatches(told, shown, () => mayTell(source.where(), told))
    output.at(shown)
    try {
      end[source.read(path === '' ? job.start : join(job.start, path), file) === 'binary' ? 'binary' : 'searched']++
    } catch (error) {
      // What the file system says; an expression that can't be run is no fault of the file.
      if (!(error instanceof Error && 'syscall' in error)) throw error
      noteUnreadable(end.passedOver, path)
    }
    if (performance.now() > deadline) end.passedOver.stopped = 'time'
    if (lines.isOver) end.passedOver.stopped = 'enough'
    if (end.passedOver.stopped !== null) break
  }
  lines.end()
  return end
}

function mayTell(real: string | null, { job, output, end }: Told): boolean {
  if (real === null || !isWithin(real, job.roots)) return false
  if (!job.guarded || output.allows(real)) return true
  end.passedOver.barred++
  return false
}

function* pathsOf({ start, roots, glob }: GrepJob, { passedOver }: GrepEnd, deadline: number): Generator<string> {
  const matches = glob === null ? () => true : pathMatcher(glob, { dot: true, basename: !glob.includes('/') })
  const options = { start, roots, deadline, passedOver, hidden: true, maxDepth: Number.POSITIVE_INFINITY, links: false }
  for (const path of walk(options)) if (matches(path)) yield path
}

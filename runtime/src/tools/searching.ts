// Owns what the tools that search have in common: the place to begin, what is gathered meanwhile, and the notes at the end.
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { KeptOutput, MAX_KEPT } from './kept-output.ts'
import { fileError, realRoots, resolveInside, textOf } from './paths.ts'
import { readBoundary } from './readable.ts'
import type { GlobJob, GrepJob, PassedOver, Search, SearchEnd, SearchListener, Stuck } from './search/search-job.ts'
import { isWithin } from './search/within.ts'
import type { ToolContext, ToolOutcome } from './tool.ts'

/** Characters of all that is shown. */
export const MAX_SHOWN = 40 * 1024

export interface Start extends Pick<GrepJob, 'start' | 'roots' | 'prefix' | 'single'> {}

/** *Contract:* rejects with an error for the model where there is no such place, or it may not be looked into. */
export async function startOf(given: string, context: ToolContext): Promise<Start> {
  const boundary = await readBoundary(given, context)
  const start = await resolveInside(given, boundary)
  const stats = await stat(start).catch((error: unknown) => Promise.reject(missing(error, given)))
  if (!stats.isDirectory() && !stats.isFile()) throw new Error(`${given} is not a regular file but a device, socket or pipe`)
  const roots = (await realRoots(boundary)).map(textOf)
  const root = roots.find((candidate) => isWithin(start, [candidate])) ?? ''
  if (start.slice(root.length).split('/').includes('.git'))
    throw new Error(`${given} is in .git, which is never searched: use shell (git log, git grep and the like), or read_file for one file`)
  const path = posix.normalize(given).replace(/\/$/, '')
  const prefix = path === '.' ? '' : stats.isFile() ? path : `${path}/`
  return { start, roots, prefix, single: stats.isFile() }
}

function missing(error: unknown, given: string): Error {
  const { message } = fileError(error, given)
  return new Error(/[*?{]/.test(given) ? `${message} (a path here is no pattern: there is another parameter for that)` : message)
}

export interface Gathered {
  end: SearchEnd | Stuck
  shown: string[]
  /** Where the whole list is, or why it isn't; null where all is shown. */
  kept: string | null
}

type Limits = 'maxShown' | 'maxKept' | 'guarded'

/** Runs a search, and gathers what it tells. *Contract:* as Search. */
export async function gather(search: Search, job: Omit<GlobJob, Limits> | Omit<GrepJob, Limits>, context: ToolContext): Promise<Gathered> {
  const { spill, guard, signal } = context
  const whole: { output?: KeptOutput } = {}
  const shown: string[] = []
  const hear: SearchListener = {
    show: (line) => shown.push(line),
    keep: (text) => {
      if (spill === null) return
      whole.output ??= new KeptOutput(spill)
      whole.output.write(Buffer.from(text))
    },
    allows: (real) => guard?.(real) === undefined,
  }
  const limits = { maxShown: MAX_SHOWN, maxKept: spill === null ? 0 : MAX_KEPT, guarded: guard !== undefined }
  let what = 'what was found until then'
  try {
    const end = await search({ ...job, ...limits }, hear, signal)
    if (end.kind !== 'stuck' && end.passedOver.stopped === null) what = 'the whole list'
    return { end, shown, kept: (await whole.output?.close(what)) ?? null }
  } catch (error) {
    await whole.output?.close(what)
    throw error
  }
}

export function passedOverNotes(passedOver: PassedOver, prefix: string, limit: { ms: number; narrower: string }): string[] {
  const { unreadable, unnameable, crowded, rules, barred, ignoredStart, stopped } = passedOver
  const named = (paths: readonly string[]) => paths.map((path) => prefix + path).join(', ')
  return [
    ...(ignoredStart ? [`${prefix} is itself ignored by rules above it, which are set aside here`] : []),
    ...(unreadable.count > 0
      ? [
          `${unreadable.count} could not be read: ${named(unreadable.first)}${unreadable.count > unreadable.first.length ? ' and more' : ''}`,
        ]
      : []),
    ...(crowded.length > 0 ? [`too many entries, of which not all were looked at: ${named(crowded)}`] : []),
    ...(unnameable > 0 ? [`${unnameable} names are not valid UTF-8, and are passed over`] : []),
    ...(rules.length > 0 ? [`rules that could not be read, and don't hold: ${rules.join(', ')}`] : []),
    ...(barred > 0 ? [`${barred} files are left out by the session's rules`] : []),
    ...(stopped === 'time'
      ? [`stopped at the time limit of ${limit.ms / 1_000} s, so not everything was looked at: ${limit.narrower}`]
      : []),
  ]
}

/** The outcome of a search that had to be ended by force. */
export function stuckOutcome({ path, line }: Stuck, { shown, kept }: Gathered, words: { ms: number; why: string }): ToolOutcome {
  const where = path === '' ? '' : `, in ${path}${line > 0 ? ` at line ${line}` : ''}`
  const message = `ended by force at the time limit of ${words.ms / 1_000} s${where}: ${words.why}`
  const content = listed(shown, [message, ...(kept === null ? [] : [kept])])
  return { content, isError: true, error: { code: 'tool_timeout', message, retryable: false } }
}

/** Lines, and notes in brackets below them. */
export function listed(lines: readonly string[], notes: readonly string[]): string {
  return [...lines, ...notes.map((note) => `[${note}]`)].join('\n')
}

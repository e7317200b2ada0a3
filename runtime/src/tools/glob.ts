// Owns the tool that lists files by a pattern for their paths.
import { posix } from 'node:path'
import * as z from 'zod/mini'
import type { GlobEnd, Search } from './search/search-job.ts'
import { gather, listed, passedOverNotes, startOf, stuckOutcome } from './searching.ts'
import type { Tool } from './tool.ts'

const DEFAULT_LIMIT = 200
const MAX_LIMIT = 2_000
/** Characters of a pattern: one that needs more is none that somebody wrote. */
const MAX_PATTERN = 2_000
const BUDGET_MS = 10_000

const input = z.strictObject({
  pattern: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(MAX_PATTERN),
      z.describe('Pattern for the path of a file, relative to path, or absolute: for example **/*.ts or src/**/*.{js,jsx}.'),
    ),
  path: z.optional(z.string().check(z.minLength(1), z.describe('Directory to look in. Default: the working directory.'))),
  limit: z.optional(
    z
      .int()
      .check(z.minimum(1), z.maximum(MAX_LIMIT), z.describe(`How many files to show. Default: ${DEFAULT_LIMIT}, at most ${MAX_LIMIT}.`)),
  ),
})
type Input = z.output<typeof input>

export const globTool = (search: Search): Tool<Input> => ({
  name: 'glob',
  description:
    'Lists files by a pattern for their paths, in the order of the paths; use it rather than find in shell. * stands for any characters ' +
    'within a name, ** for any directories, ? for one character; {a,b}, [a-z], [!a-z], !(a|b) and a ! in front of the whole pattern ' +
    'work too, and \\ takes a character as it is. *.ts fits files directly in path only, **/*.ts those at any depth. What .gitignore ' +
    'and .ignore leave out is left out, unless path, or the beginning of the pattern, names an ignored directory; names with a dot in ' +
    'front are listed only where the pattern spells the dot (.github/**, **/.env); .git never is. Directories are not listed, and ' +
    `links to them not followed. Notes in brackets at the end say what was left out. Stops after ${BUDGET_MS / 1_000} s.`,
  access: 'read',
  parallel: true,
  input,
  summary: (given) => {
    const { path, pattern } = split(given)
    return posix.join(path, pattern)
  },
  subject: (given) => ({ path: split(given).path }),
  async execute(given, context) {
    const { limit = DEFAULT_LIMIT } = given
    if (given.pattern.startsWith('/') && given.path !== undefined)
      throw new Error(`the pattern ${given.pattern} is absolute: leave path out, or give a pattern relative to it`)
    const { path, pattern } = split(given)
    const { single, ...start } = await startOf(path, context)
    if (single) throw new Error(`${path} is a file, not a directory: to see it, use read_file`)
    const job = { kind: 'glob' as const, ...start, pattern, limit, budgetMs: BUDGET_MS }
    const gathered = await gather(search, job, context)
    const { end, shown, kept } = gathered
    if (end.kind === 'stuck')
      return stuckOutcome(end, gathered, {
        ms: BUDGET_MS,
        why: 'the pattern takes too long, or the disk does not answer; use a simpler one',
      })
    if (end.kind === 'grep') throw new Error('a search for files ended as one for lines')
    const narrower = 'give a directory below in path, or a pattern with a longer beginning'
    const notes = passedOverNotes(end.passedOver, start.prefix, { ms: BUDGET_MS, narrower })
    return { content: listed(shown, [...countNotes(end, given), ...(kept === null ? [] : [kept]), ...notes]), isError: false }
  },
})

/** The beginning of a pattern in which nothing stands for anything else is a path: where to look. */
function split({ path = '.', pattern }: Input): { path: string; pattern: string } {
  const parts = pattern.split('/')
  const magic = parts.findIndex((part) => /[*?[\]{}()|\\]|^!/.test(part))
  const fixed = magic < 0 ? parts.length - 1 : magic
  const beginning = parts.slice(0, fixed).join('/')
  const rest = parts.slice(fixed).join('/')
  if (fixed === 0) return { path, pattern: rest }
  return { path: pattern.startsWith('/') ? beginning || '/' : posix.join(path, beginning), pattern: rest === '' ? '*' : rest }
}

function countNotes({ total, shown, rest }: GlobEnd, { pattern }: Input): string[] {
  if (total === 0) return [`no file fits ${pattern}${hint(pattern)}`]
  if (shown === total) return []
  const places = rest.map(({ directory, count }) => `${count} in ${directory}`)
  return [`${shown} of ${total} files are shown, by path; not shown: ${places.join(', ')}: narrow the pattern or the path`]
}

/** What most often is amiss where nothing was found. */
function hint(pattern: string): string {
  if (!pattern.includes('/') && !pattern.startsWith('!')) return `: it fits names directly in path only; for any depth write **/${pattern}`
  if (/[(){}]/.test(pattern)) return ': braces and parentheses have a meaning; put \\ before one that belongs to a name'
  return ''
}

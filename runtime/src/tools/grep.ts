// Owns the tool that looks for lines in files.
import { posix } from 'node:path'
import * as z from 'zod/mini'
import { expressionOf } from './search/expression.ts'
import { MAX_SHOWN_LINE } from './search/file-matches.ts'
import type { GrepEnd, Search } from './search/search-job.ts'
import { gather, listed, passedOverNotes, type Start, startOf, stuckOutcome } from './searching.ts'
import type { Tool } from './tool.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
const MAX_CONTEXT = 20
const MAX_PATTERN = 10_000
const MAX_GLOB = 2_000
const BUDGET_MS = 30_000

const input = z.strictObject({
  pattern: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(MAX_PATTERN),
      z.describe("Regular expression in JavaScript's syntax, looked for in each line by itself; (?i) in front of it works too."),
    ),
  path: z.optional(z.string().check(z.minLength(1), z.describe('File, or directory to look in. Default: the working directory.'))),
  glob: z.optional(
    z
      .string()
      .check(
        z.minLength(1),
        z.maxLength(MAX_GLOB),
        z.describe(
          'Only files that fit this pattern: one without a slash is for names at any depth (*.ts), one with is for paths in path.',
        ),
      ),
  ),
  ignoreCase: z.optional(z.boolean().check(z.describe('Capital and small letters are the same. Default: false.'))),
  literal: z.optional(z.boolean().check(z.describe('The pattern is the text itself, no regular expression. Default: false.'))),
  context: z.optional(
    z
      .int()
      .check(
        z.minimum(0),
        z.maximum(MAX_CONTEXT),
        z.describe(`Lines to show before and after each match. Default: 0, at most ${MAX_CONTEXT}.`),
      ),
  ),
  filesOnly: z.optional(z.boolean().check(z.describe('Show the paths of files with a match, no lines. Default: false.'))),
  limit: z.optional(
    z
      .int()
      .check(
        z.minimum(1),
        z.maximum(MAX_LIMIT),
        z.describe(`How many matching lines, or files, to show. Default: ${DEFAULT_LIMIT}, at most ${MAX_LIMIT}.`),
      ),
  ),
})
type Input = z.output<typeof input>

export const grepTool = (search: Search): Tool<Input> => ({
  name: 'grep',
  description:
    'Looks for lines that match a regular expression, in one file or in all files below a directory, in the order of their paths; ' +
    'use it rather than grep in shell. ' +
    'A match comes as path:line:text, a line of its context as path-line-text. What .gitignore and .ignore leave out is left out, ' +
    'unless path names an ignored file or directory; hidden files are searched, .git and binary files are not, and links not followed. ' +
    `Of a long line ${MAX_SHOWN_LINE} characters around the match are shown. Notes in brackets at the end say what was left out. ` +
    `Stops after ${BUDGET_MS / 1_000} s.`,
  access: 'read',
  parallel: true,
  input,
  summary: ({ pattern, path = '.', glob }) =>
    `${glob === undefined ? posix.normalize(path) : posix.join(path, glob)} ${JSON.stringify(pattern)}`,
  subject: ({ path = '.' }) => ({ path }),
  async execute(given, context) {
    const { pattern, path = '.', glob = null, filesOnly = false, limit = DEFAULT_LIMIT } = given
    const expression = await expressionOf(pattern, { literal: given.literal ?? false, ignoreCase: given.ignoreCase ?? false })
    const start = await startOf(path, context)
    const job = { kind: 'grep' as const, ...start, ...expression, glob, context: given.context ?? 0, filesOnly, limit, budgetMs: BUDGET_MS }
    const gathered = await gather(search, job, context)
    const { end, shown, kept } = gathered
    if (end.kind === 'stuck')
      return stuckOutcome(end, gathered, {
        ms: BUDGET_MS,
        why: 'the expression takes too long there: avoid repeats within repeats, such as (a+)+',
      })
    if (end.kind === 'glob') throw new Error('a search for lines ended as one for files')
    const narrower = 'give a directory below in path, or a glob'
    const notes = passedOverNotes(end.passedOver, start.prefix, { ms: BUDGET_MS, narrower })
    return { content: listed(shown, [...countNotes(end, given, start), ...(kept === null ? [] : [kept]), ...notes]), isError: false }
  },
})

function countNotes(end: GrepEnd, { filesOnly = false, pattern }: Input, { single, prefix }: Start): string[] {
  const { lines, files, shown, searched, binary, cutLines, brokenLines, passedOver } = end
  if (single && binary > 0) return [`${prefix} is a binary file, or text that isn't UTF-8: use shell (grep -a, strings) to look into it`]
  const binaries = binary > 0 && lines === 0 ? `, and ${binary} binary files were passed over` : ''
  const lineEnd = /\n|\\n/.test(pattern) && lines === 0 ? '; the pattern has a line end in it, and each line is looked at by itself' : ''
  const found = filesOnly ? files : lines
  const least = passedOver.stopped === null ? '' : 'at least '
  return [
    ...(found === 0 ? [`no line matches: ${searched} files were searched${binaries}${lineEnd}`] : []),
    ...(shown < found
      ? [`${shown} of ${least}${found} ${filesOnly ? 'files' : `matching lines (in ${files} files)`} are shown, by path`]
      : []),
    ...(cutLines > 0 ? [`${cutLines} long lines are cut, at …`] : []),
    ...(brokenLines > 0
      ? [`${brokenLines} lines are so long that they were searched in pieces: a match over two of them is not seen`]
      : []),
  ]
}

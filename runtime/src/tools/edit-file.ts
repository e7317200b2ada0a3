// Owns the tool that replaces one piece of a text file by another.
import { posix } from 'node:path'
import * as z from 'zod/mini'
import { nearest } from './near-match.ts'
import { otherNamesText, replaceFile } from './replace-file.ts'
import { assertEncodable, MAX_WHOLE_FILE, readTextFile } from './text-file.ts'
import type { Tool } from './tool.ts'

const input = z.strictObject({
  path: z.string().check(z.minLength(1), z.describe('The file, relative to the working directory or absolute.')),
  oldText: z.string().check(z.describe('The text to replace, exactly as in the file, indentation included, without line numbers.')),
  newText: z.string().check(z.describe('What to put in its place; empty deletes it.')),
  all: z.optional(z.boolean().check(z.describe('Replace every occurrence. Default: false, and then there must be exactly one.'))),
})
type Input = z.output<typeof input>

export const editFileTool: Tool<Input> = {
  name: 'edit_file',
  description:
    'Replaces oldText by newText in a text file. oldText must occur exactly once, so include enough of the lines around it, ' +
    'unless all is true. Copy it from read_file without the line number and the tab in front of each line. A line end in oldText ' +
    'fits those of the file, LF or CRLF, and newText takes on the same. The rest of the file stays as it is, byte for byte. ' +
    "Files must be inside the session's roots, valid UTF-8, and at most 10 MiB.",
  access: 'edit',
  parallel: false,
  input,
  summary: ({ path }) => posix.normalize(path),
  subject: ({ path }) => ({ path }),
  async execute({ path: given, oldText, newText, all = false }, context) {
    if (oldText === '') throw new Error('oldText is empty: give the text to replace, or use write_file to write the whole file')
    if (oldText === newText) throw new Error('oldText and newText are the same: nothing would change')
    assertEncodable('newText', newText)
    const { text, stats } = await readTextFile(given, context)
    const spans = occurrences(text, oldText)
    if (spans.length === 0) throw new Error(`oldText does not occur in ${given}, and nothing was changed. ${nearest(text, oldText)}`)
    if (spans.length > 1 && !all) throw new Error(manyText(given, text, spans))
    const places = disjoint(spans)
    const edited = withReplaced(text, places, newText, oldText)
    if (edited === text) throw new Error(`${given} has newText in that place already: nothing would change`)
    const replaced = await replaceFile(given, edited, context, { expected: stats, signal: context.signal })
    const count = places.length === 1 ? '1 occurrence' : `${places.length} occurrences`
    return { content: `Replaced ${count} in ${given} (line ${lineList(text, places)}).${otherNamesText(replaced)}`, isError: false }
  },
}

interface Span {
  start: number
  end: number
}

/** Beyond so many places, those that overlap the one before are passed over: they cost most and say nothing new. */
const MAX_OVERLAPPING = 100
const MAX_PLACES = 100_000

/** Where `wanted` occurs, in order; overlapping places count as well: they too leave open which one is meant. */
function occurrences(text: string, wanted: string): Span[] {
  const spans: Span[] = []
  const find = finder(text, wanted)
  for (let span = find(0); span !== undefined; ) {
    spans.push(span)
    if (spans.length > MAX_PLACES) throw new Error(`oldText occurs more than ${MAX_PLACES} times: use shell (sed, for example)`)
    span = find(spans.length < MAX_OVERLAPPING ? span.start + 1 : span.end)
  }
  return spans
}

/** Looks for `wanted` from a position on. A bare LF in it also fits CRLF, unless it has a CR of its own. */
function finder(text: string, wanted: string): (from: number) => Span | undefined {
  if (wanted.includes('\r') || !wanted.includes('\n') || !text.includes('\r\n')) {
    return (from) => {
      const start = text.indexOf(wanted, from)
      return start < 0 ? undefined : { start, end: start + wanted.length }
    }
  }
  const parts = wanted.split('\n').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const pattern = new RegExp(parts.join('\\r?\\n'), 'g')
  return (from) => {
    pattern.lastIndex = from
    const found = pattern.exec(text)
    return found === null ? undefined : { start: found.index, end: found.index + found[0].length }
  }
}

function disjoint(spans: readonly Span[]): Span[] {
  const kept: Span[] = []
  for (const span of spans) if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span)
  return kept
}

function withReplaced(text: string, spans: readonly Span[], newText: string, oldText: string): string {
  const exact = newText.includes('\r') || oldText.includes('\r')
  const common = /\r?\n/.exec(text)?.[0] ?? '\n'
  const pieces: string[] = []
  let length = 0
  let from = 0
  for (const { start, end } of spans) {
    const lineEnd = /\r?\n/.exec(text.slice(start, end))?.[0] ?? common
    const piece = exact || lineEnd === '\n' ? newText : newText.replaceAll('\n', lineEnd)
    length += start - from + piece.length
    if (length > MAX_WHOLE_FILE) throw new Error(`the file would become longer than ${MAX_WHOLE_FILE} bytes: use shell`)
    pieces.push(text.slice(from, start), piece)
    from = end
  }
  pieces.push(text.slice(from))
  return pieces.join('')
}

function manyText(given: string, text: string, spans: readonly Span[]): string {
  const more = 'Include more of the lines around the one you mean, or set all to true to replace every one'
  return `oldText occurs ${spans.length} times in ${given} (line ${lineList(text, spans)}), and nothing was changed. ${more}.`
}

/** The line numbers of the first places, for example `3, 17, 40 and more`. */
function lineList(text: string, spans: readonly Span[]): string {
  const numbers: number[] = []
  let line = 1
  let from = 0
  for (const { start } of spans.slice(0, 10)) {
    for (let at = text.indexOf('\n', from); at >= 0 && at < start; at = text.indexOf('\n', at + 1)) line++
    from = start
    if (numbers.at(-1) !== line) numbers.push(line)
  }
  return `${numbers.join(', ')}${spans.length > 10 ? ' and more' : ''}`
}

// Owns the tool that shows a piece of a text file, line by line, in bounded memory, or an image.
import type { FileHandle } from 'node:fs/promises'
import { posix } from 'node:path'
import * as z from 'zod/mini'
import { type ImageKind, imageKind, imageOf, MAX_IMAGE_BYTES, SMALLER } from './image-file.ts'
import { openInside } from './paths.ts'
import { readBoundary } from './readable.ts'
import type { Tool, ToolContext, ToolOutcome } from './tool.ts'

const DEFAULT_LINES = 2_000
/** Bytes of a line that are shown. */
const MAX_LINE = 2_000
/** Bytes of all the lines that are shown. */
const MAX_SHOWN = 50 * 1024
const CHUNK = 64 * 1024

const input = z.strictObject({
  path: z.string().check(z.minLength(1), z.describe('The file, relative to the working directory or absolute.')),
  offset: z.optional(z.int().check(z.minimum(1), z.describe('The first line to show, counted from 1. Default: 1.'))),
  limit: z.optional(z.int().check(z.minimum(1), z.describe(`How many lines to show. Default: ${DEFAULT_LINES}.`))),
})

export const readFileTool: Tool<z.output<typeof input>> = {
  name: 'read_file',
  description:
    'Shows a text file, or an image (PNG, JPEG, GIF or WebP). Each line comes as its number, a tab, and the text; the number and the ' +
    `tab are not part of the file. At most ${MAX_SHOWN / 1024} KiB are shown at once, and ${MAX_LINE} bytes of one line; a note in brackets at the end ` +
    "says what was left out and how to go on. Directories and other binary files are refused. Files must be inside the session's roots, " +
    'or be outputs that were kept, as the result of another tool says.',
  access: 'read',
  parallel: true,
  input,
  summary: ({ path }) => posix.normalize(path),
  subject: ({ path }) => ({ path }),
  async execute({ path: given, offset = 1, limit = DEFAULT_LINES }, context) {
    const { signal } = context
    const { handle, stats } = await openInside(given, await readBoundary(given, context))
    try {
      const excerpt = new Excerpt(offset, limit)
      for await (const chunk of chunksOf(handle, signal)) {
        if (excerpt.bytesSeen === 0) {
          const kind = imageKind(chunk)
          if (kind !== null) return await showImage(given, kind, handle, context)
          if (chunk.includes(0) || chunk.subarray(0, 5).toString('latin1') === '%PDF-')
            throw new Error(binaryText(given, chunk, stats.size))
        }
        if (excerpt.push(chunk) === 'full') break
      }
      return { content: excerptText(given, excerpt.finish(), offset), isError: false }
    } finally {
      await handle.close()
    }
  },
}

async function showImage(given: string, kind: ImageKind, handle: FileHandle, { signal }: ToolContext): Promise<ToolOutcome> {
  const bytes = await startOf(handle, MAX_IMAGE_BYTES + 1, signal)
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new Error(`${given} is an image of more than ${MAX_IMAGE_BYTES} bytes, which is what can be shown: ${SMALLER}`)
  const { width, height, block } = await imageOf(given, kind, bytes)
  const content = `[${given}: a ${kind.toUpperCase()} image of ${width} x ${height} pixels, ${bytes.length} bytes]`
  return { content, images: [block], isError: false }
}

/** The first bytes of a file, wherever it was read before: so many, or all. */
async function startOf(handle: FileHandle, length: number, signal: AbortSignal): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let end = 0
  while (end < length) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, end, length - end, end)
    if (bytesRead === 0) break
    end += bytesRead
  }
  return buffer.subarray(0, end)
}

function binaryText(given: string, start: Buffer, size: bigint): string {
  if (start.subarray(0, 5).toString('latin1') === '%PDF-')
    return `${given} is a PDF file (${size} bytes); use shell (pdftotext, for example) to get its text`
  return `${given} is a binary file (${size} bytes), or text that isn't UTF-8; use shell (file, xxd, strings, iconv) to look into it`
}

/** One buffer is used for all chunks: what is kept of one must be copied. */
async function* chunksOf(handle: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, CHUNK, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

interface Shown {
  lines: readonly Buffer[]
  /** Lines that end before the end of the file, or where reading stopped. */
  lineCount: number
  more: boolean
  cutLines: number
  crlf: boolean
}

/** Picks `limit` lines from `offset` on out of the chunks of a file. */
class Excerpt {
  bytesSeen = 0
  readonly #offset: number
  readonly #limit: number
  readonly #lines: Buffer[] = []
  #shown = 0
  #line = 1
  #pieces: Buffer[] = []
  #pieceBytes = 0
  #cutLines = 0
  #crlf = false
  #more = false

  constructor(offset: number, limit: number) {
    this.#offset = offset
    this.#limit = limit
  }

  push(chunk: Buffer): 'full' | 'more' {
    for (let at = 0; at < chunk.length; ) {
      if (this.#isFull()) {
        this.#more = true
        return 'full'
      }
      const newline = chunk.indexOf(10, at)
      const end = newline < 0 ? chunk.length : newline
      this.#append(chunk.subarray(at, end))
      if (newline >= 0) this.#endLine()
      at = end + 1
    }
    this.bytesSeen += chunk.length
    return 'more'
  }

  finish(): Shown {
    // A file that doesn't end in a newline has one more line.
    if (!this.#more && this.#pieceBytes > 0) this.#endLine()
    return { lines: this.#lines, lineCount: this.#line - 1, more: this.#more, cutLines: this.#cutLines, crlf: this.#crlf }
  }

  #isFull(): boolean {
    return this.#pieceBytes === 0 && (this.#lines.length >= this.#limit || this.#shown > MAX_SHOWN - MAX_LINE)
  }

  #append(piece: Buffer): void {
    const room = this.#line < this.#offset ? 0 : MAX_LINE + 1 - this.#pieceBytes
    if (room > 0) this.#pieces.push(Buffer.from(piece.subarray(0, room)))
    this.#pieceBytes += piece.length
  }

  #endLine(): void {
    if (this.#line >= this.#offset) this.#keep(Buffer.concat(this.#pieces))
    this.#pieces = []
    this.#pieceBytes = 0
    this.#line++
  }

  #keep(line: Buffer): void {
    const carriage = line.length === this.#pieceBytes && line.at(-1) === 13
    if (carriage) this.#crlf = true
    const text = carriage ? line.subarray(0, -1) : line
    const shown = text.length > MAX_LINE ? text.subarray(0, wholeCharacters(text, MAX_LINE)) : text
    if (text.length > MAX_LINE) this.#cutLines++
    this.#lines.push(shown)
    this.#shown += shown.length + String(this.#line).length + 2
  }
}

/** The largest length up to `length` that doesn't cut a UTF-8 character of `bytes` in two. */
function wholeCharacters(bytes: Buffer, length: number): number {
  let end = length
  while (end > length - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return end
}

function excerptText(given: string, { lines, lineCount, more, cutLines, crlf }: Shown, offset: number): string {
  if (lines.length === 0 && lineCount === 0) return `[${given} is empty]`
  if (lines.length === 0) return `[${given} has only ${lineCount} lines: nothing is left from line ${offset} on]`
  const texts = lines.map((line) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(line).replaceAll('\0', '\uFFFD'))
  if (offset === 1) texts[0] = texts[0]?.replace(/^\uFEFF/, '') ?? ''
  const last = offset + lines.length - 1
  const notes = [
    ...(more ? [`lines ${offset} to ${last} are shown, and the file goes on: read on with offset ${last + 1}`] : []),
    ...(cutLines > 0 ? [`${cutLines} long lines are cut after ${MAX_LINE} bytes: see the rest with shell (cut -b)`] : []),
    ...(crlf ? ['lines end in CRLF, which edit_file keeps'] : []),
    ...(texts.some((text) => text.includes('\uFFFD')) ? ['there are bytes that are not valid UTF-8, shown as \uFFFD'] : []),
  ]
  return [...texts.map((text, index) => `${offset + index}\t${text}`), ...notes.map((note) => `[${note}]`)].join('\n')
}

// Owns the lines of one file: which match, and how they and those around them are shown.
import type { LineListener } from './line-source.ts'
import type { GrepEnd, GrepJob, SearchOutput } from './search-job.ts'
import { copyOf, type ShownLines } from './shown-lines.ts'

/** Characters of a line that are shown, and how many of them before the match. */
export const MAX_SHOWN_LINE = 400
const BEFORE_MATCH = 100
/** A piece of a text of more characters is copied, so that it doesn't hold the whole. */
const LARGE_TEXT = 1024 * 1024

/** What the files of a search have in common. */
export interface Told {
  job: GrepJob
  output: SearchOutput
  end: GrepEnd
  lines: ShownLines
  /** By `performance.now()`. */
  deadline: number
  expression: RegExp
}

export class FileMatches implements LineListener {
  readonly #told: Told
  readonly #path: string
  readonly #mayTell: () => boolean
  #number = 0
  /** What comes next goes on in the line where the text before ended. */
  #goesOn = false
  #matched = false
  /** The last lines that didn't match, for the context of one that does. */
  #before: string[] = []
  /** So many lines more are context of the last match. */
  #after = 0
  #lastShown = 0

  /** `mayTell` is asked before anything of the file is told. */
  constructor(told: Told, path: string, mayTell: () => boolean) {
    this.#told = told
    this.#path = path
    this.#mayTell = mayTell
  }

  lines(text: string): 'more' | 'enough' {
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf('\n', at)
      const end = newline < 0 ? text.length : newline
      const isCrlf = end > at && text.charCodeAt(end - 1) === 13
      if (this.#line(text.slice(at, isCrlf ? end - 1 : end), text.length) === 'enough') return 'enough'
      at = end + 1
    }
    return this.#inTime()
  }

  piece(text: string): 'more' | 'enough' {
    if (!this.#goesOn) this.#told.end.brokenLines++
    if (this.#line(text, text.length) === 'enough') return 'enough'
    this.#goesOn = true
    return this.#inTime()
  }

  #inTime(): 'more' | 'enough' {
    if (performance.now() <= this.#told.deadline) return 'more'
    this.#told.end.passedOver.stopped = 'time'
    return 'enough'
  }

  #line(text: string, of: number): 'more' | 'enough' {
    const { output, expression, job } = this.#told
    if (this.#goesOn) this.#goesOn = false
    else this.#number++
    output.line(this.#number)
    const line = this.#number === 1 ? text.replace(/^\uFEFF/, '') : text
    if (expression.test(line)) return this.#found(line)
    if (job.context > 0) this.#passed(line, of)
    return 'more'
  }

  #found(line: string): 'more' | 'enough' {
    const { job, end, lines, expression } = this.#told
    if (!this.#matched && !this.#mayTell()) return 'enough'
    end.lines++
    if (!this.#matched) end.files++
    this.#matched = true
    const isLast = end.shown === job.limit
    if (job.filesOnly) {
      if (lines.add(this.#path, isLast)) end.shown++
      return 'enough'
    }
    this.#showBefore(isLast)
    const piece = pieceOf(line, expression.exec(line)?.index ?? 0)
    if (lines.add(`${this.#path}:${this.#number}:${piece}`, isLast)) {
      end.shown++
      if (piece !== line) end.cutLines++
    }
    this.#lastShown = this.#number
    this.#after = job.context
    return lines.isOver ? 'enough' : 'more'
  }

  #showBefore(isLast: boolean): void {
    const { job, end, lines } = this.#told
    if (job.context === 0) return
    const first = this.#number - this.#before.length
    const isNext = this.#lastShown > 0 && first === this.#lastShown + 1
    if (end.lines > 1 && !isNext) lines.add('--', isLast)
    for (const [index, line] of this.#before.entries()) lines.add(`${this.#path}-${first + index}-${line}`, isLast)
    this.#before = []
  }

  #passed(line: string, of: number): void {
    const { job, lines } = this.#told
    const piece = pieceOf(line, 0)
    if (this.#after > 0) {
      this.#after--
      this.#lastShown = this.#number
      lines.add(`${this.#path}-${this.#number}-${piece}`, false)
      return
    }
    this.#before.push(of > LARGE_TEXT ? copyOf(piece) : piece)
    if (this.#before.length > job.context) this.#before.shift()
  }
}

/** A piece of a long line, with the match in it. */
function pieceOf(line: string, match: number): string {
  if (line.length <= MAX_SHOWN_LINE) return line
  const start = Math.max(0, Math.min(match - BEFORE_MATCH, line.length - MAX_SHOWN_LINE))
  const piece = line.slice(start, start + MAX_SHOWN_LINE).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
  return `${start > 0 ? '…' : ''}${piece}${start + MAX_SHOWN_LINE < line.length ? '…' : ''}`
}

// Owns what becomes of each line that a search finds: shown while there is room, and the whole list kept where there isn't.
import type { SearchJob, SearchOutput } from './search-job.ts'

/** Pieces of the kept list go out in about this size, in characters. */
const PIECE = 64 * 1024

export class ShownLines {
  readonly #job: Pick<SearchJob, 'maxShown' | 'maxKept'>
  readonly #output: SearchOutput
  /** What was shown, until the first line that isn't. */
  #shown: string[] = []
  #shownChars = 0
  #isFull = false
  #piece: string[] = []
  #pieceChars = 0
  #keptChars = 0

  constructor(job: Pick<SearchJob, 'maxShown' | 'maxKept'>, output: SearchOutput) {
    this.#job = job
    this.#output = output
  }

  /** Nothing is shown any more, and nothing kept. */
  get isOver(): boolean {
    return this.#isFull && this.#keptChars >= this.#job.maxKept
  }

  /** Whether the line is shown. Once one isn't, none is; `last` says that none shall be. */
  add(line: string, last: boolean): boolean {
    if (!this.#isFull && (last || this.#shownChars + line.length > this.#job.maxShown)) {
      this.#isFull = true
      for (const shown of this.#shown) this.#keep(shown)
      this.#shown = []
    }
    if (this.#isFull) {
      this.#keep(line)
      return false
    }
    this.#output.show(line)
    this.#shownChars += line.length + 1
    if (this.#job.maxKept > 0) this.#shown.push(line)
    return true
  }

  end(): void {
    if (this.#piece.length > 0) this.#output.keep(this.#piece.join(''))
    this.#piece = []
    this.#pieceChars = 0
  }

  #keep(line: string): void {
    if (this.#keptChars >= this.#job.maxKept) return
    this.#keptChars += line.length + 1
    this.#pieceChars += line.length + 1
    this.#piece.push(copyOf(`${line}\n`))
    if (this.#pieceChars >= PIECE) this.end()
  }
}

/** A text of its own: a piece of another one would hold the whole of that in memory. */
export function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

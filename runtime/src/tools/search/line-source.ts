// Owns the reading of a file's lines in bounded memory, whatever its size. Tells what isn't text, and reads no more of it.
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { lastStart } from '../bounded-output.ts'

const FIRST_BUFFER = 64 * 1024
/** A longer line is given in pieces of this many bytes. */
export const MAX_LINE = 16 * 1024 * 1024

export interface LineListener {
  /** Whole lines, each with its `\n` but perhaps the file's last. Answers whether to go on. */
  lines(text: string): 'more' | 'enough'
  /** A piece of a line that is too long to be held: the next text goes on in it. Answers whether to go on. */
  piece(text: string): 'more' | 'enough'
}

export class LineSource {
  /** Grows with the longest line. */
  #buffer = Buffer.allocUnsafe(FIRST_BUFFER)
  #open: { path: string; file: number } | null = null

  /** Reads a regular file. `binary`: it has a NUL byte at its beginning, and nothing was told of it. *Contract:* throws as the file system does. */
  read(path: string, listener: LineListener): 'text' | 'binary' {
    // A link at its end was put there since it was listed. And opening a fifo that was must not wait for its writer.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      this.#open = { path, file }
      return this.#run(file, listener)
    } finally {
      closeSync(file)
      this.#open = null
    }
  }

  /** The real path of the file that is being read, though a directory on its way was replaced by a link; null where it has none. */
  where(): string | null {
    if (this.#open === null) return null
    try {
      const real = realpathSync(this.#open.path)
      const [found, read] = [statSync(real), fstatSync(this.#open.file)]
      return found.dev === read.dev && found.ino === read.ino ? real : null
    } catch {
      return null
    }
  }

  #run(file: number, listener: LineListener): 'text' | 'binary' {
    let kept = 0
    for (let isFirst = true; ; isFirst = false) {
      const read = readSync(file, this.#buffer, kept, this.#buffer.length - kept, null)
      const bytes = this.#buffer.subarray(0, kept + read)
      if (isFirst && bytes.includes(0)) return 'binary'
      const given = read === 0 ? bytes.length : bytes.lastIndexOf(10) + 1
      if (given > 0) {
        if (listener.lines(textOf(bytes.subarray(0, given))) === 'enough') return 'text'
        kept = this.#keepFrom(given, bytes.length)
      } else if (bytes.length >= MAX_LINE) {
        const piece = lastStart(bytes)
        if (listener.piece(textOf(bytes.subarray(0, piece))) === 'enough') return 'text'
        kept = this.#keepFrom(piece, bytes.length)
      } else kept = bytes.length
      if (read === 0) return 'text'
      if (kept === this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer, Buffer.allocUnsafe(this.#buffer.length)])
    }
  }

  #keepFrom(start: number, end: number): number {
    return this.#buffer.copy(this.#buffer, 0, start, end)
  }
}

function textOf(bytes: Buffer): string {
  return bytes.toString('utf8')
}

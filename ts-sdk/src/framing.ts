// Owns the cutting of bytes into frames: one JSON text per LF, and nothing but LF cuts (FR-1). Refuses bytes that are not
// UTF-8, and frames over the limit, before it has kept more than the limit.
import { isAscii, isUtf8 } from 'node:buffer'
import { ProtocolError } from './errors.ts'

/** The longest frame that is taken, in bytes, its LF left out. */
export const maxFrameBytes = 32 * 1024 * 1024

const lf = 0x0a
/** Nothing but what JSON takes for space: other white space is no frame either, but a fault. */
const blank = /^[ \t\r]*$/

/** Collects chunks until an LF comes, and joins them once: linear in the size of a frame, however it is chunked. */
export class FrameReader {
  readonly #limit: number
  #parts: Uint8Array[] = []
  #size = 0

  constructor(limit: number = maxFrameBytes) {
    this.#limit = limit
  }

  /**
   * Takes a chunk, and hands each frame that it completes to `take`; blank lines are passed over.
   * @throws ProtocolError for a frame that is too long or not UTF-8; nothing behind it can be trusted.
   */
  push(chunk: Uint8Array, take: (frame: string) => void): void {
    let start = 0
    for (let end = chunk.indexOf(lf); end !== -1; end = chunk.indexOf(lf, start)) {
      this.#keep(chunk.subarray(start, end))
      start = end + 1
      const frame = this.#text()
      if (!blank.test(frame)) take(frame)
    }
    this.#keep(chunk.subarray(start))
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return
    this.#size += part.length
    if (this.#size > this.#limit) throw new ProtocolError(`the runtime sent a frame of more than ${this.#limit} bytes`)
    this.#parts.push(part)
  }

  #text(): string {
    const [only] = this.#parts
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#size)
    this.#parts = []
    this.#size = 0
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Most frames are ASCII, and its way is several times faster.
    if (isAscii(bytes)) return buffer.toString('latin1')
    if (!isUtf8(bytes)) throw new ProtocolError('the runtime sent a frame that is not UTF-8')
    return buffer.toString('utf8')
  }
}

/** A message as one frame, with its LF. JSON escapes every LF inside. */
export const frameOf = (message: object): string => `${JSON.stringify(message)}\n`

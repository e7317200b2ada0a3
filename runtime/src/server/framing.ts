// Owns the way from bytes to frames: LF alone splits (FR-1). Refuses a frame that is too long or no UTF-8, and goes on.
import { isUtf8 } from 'node:buffer'

export const MAX_FRAME_BYTES = 32 * 1024 * 1024

const LF = 0x0a
const CR = 0x0d
const BOM = '\uFEFF'
/** A buffer that held more than this is not kept for the next frame. */
const KEPT_BYTES = 1024 * 1024

export interface FrameSink {
  /** One whole frame, without its LF; never empty. */
  frame(text: string): void
  /** A frame was longer than the limit. Its rest, up to the next LF, is dropped as it comes. */
  tooLarge(limit: number): void
  /** A frame was no UTF-8. */
  notText(): void
}

/** Cuts a stream of bytes into frames. Linear in the bytes, however they are chunked: no byte is looked at or moved more than a few times. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #limit: number
  /** The beginning of a frame whose LF hasn't come; the first `#held` bytes count. */
  #buffer: Buffer = Buffer.alloc(0)
  #held = 0
  #skipping = false
  #first = true

  constructor(sink: FrameSink, limit: number = MAX_FRAME_BYTES) {
    this.#sink = sink
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(LF, start)
      if (end === -1) break
      this.#finish(chunk.subarray(start, end))
      start = end + 1
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start))
  }

  #finish(last: Buffer): void {
    if (this.#skipping) {
      this.#skipping = false
      return
    }
    if (this.#held === 0) {
      if (last.length > this.#limit) this.#sink.tooLarge(this.#limit)
      else this.#emit(last)
      return
    }
    this.#hold(last)
    if (this.#skipping) {
      this.#skipping = false
      return
    }
    this.#emit(this.#buffer.subarray(0, this.#held))
    this.#drop()
  }

  #hold(part: Buffer): void {
    if (this.#skipping) return
    const length = this.#held + part.length
    if (length > this.#limit) {
      this.#skipping = true
      this.#first = false
      this.#drop()
      this.#sink.tooLarge(this.#limit)
      return
    }
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2, 4096))
      this.#buffer.copy(grown, 0, 0, this.#held)
      this.#buffer = grown
    }
    part.copy(this.#buffer, this.#held)
    this.#held = length
  }

  #drop(): void {
    this.#held = 0
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.alloc(0)
  }

  #emit(line: Buffer): void {
    const bytes = line.at(-1) === CR ? line.subarray(0, -1) : line
    const first = this.#first
    this.#first = false
    if (bytes.length === 0) return
    if (isUtf8(bytes)) {
      const text = bytes.toString('utf8')
      const frame = first && text.startsWith(BOM) ? text.slice(1) : text
      if (frame !== '') this.#sink.frame(frame)
    } else this.#sink.notText()
  }
}

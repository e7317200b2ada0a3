// Owns the splitting of a stream of bytes into lines: at LF alone, however it is chunked (FR-1).

export class Lines {
  readonly #onLine: (line: Buffer) => void
  #pieces: Buffer[] = []

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#pieces.push(chunk.subarray(from, end))
      from = end + 1
      this.#onLine(Buffer.concat(this.#pieces.splice(0)))
    }
    if (from < chunk.length) this.#pieces.push(chunk.subarray(from))
  }

  /** What came behind the last LF. */
  get rest(): Buffer {
    return Buffer.concat(this.#pieces)
  }
}

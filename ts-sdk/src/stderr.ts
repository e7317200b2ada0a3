// Owns what is kept of the runtime's stderr: lines for whoever asked, and the end of it for error messages.
import { StringDecoder } from 'node:string_decoder'

/** How much of the end is kept, in characters. */
const tailLength = 8 * 1024

export class StderrLog {
  readonly #onLine: ((line: string) => void) | undefined
  readonly #decoder = new StringDecoder('utf8')
  #tail = ''
  #line = ''

  constructor(onLine?: (line: string) => void) {
    this.#onLine = onLine
  }

  get tail(): string {
    return this.#tail.trimEnd()
  }

  push(chunk: Buffer): void {
    const text = this.#decoder.write(chunk)
    this.#tail = (this.#tail + text).slice(-tailLength)
    if (this.#onLine === undefined) return
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) this.#tell(line)
  }

  /** No more will come: what is left without an LF is a line too. */
  end(): void {
    if (this.#line !== '') this.#tell(this.#line)
    this.#line = ''
  }

  /** A handler that throws must not stop the reader; Node shows what it threw. */
  #tell(line: string): void {
    try {
      this.#onLine?.(line)
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : new Error(`onStderr threw ${String(error)}`))
    }
  }
}

// Owns what becomes of a command's output: its head and its tail are shown, and the whole is kept where that isn't all of it.
import { BoundedOutput } from './bounded-output.ts'
import { KeptOutput } from './kept-output.ts'
import type { Spill } from './tool.ts'

export class ShellOutput {
  readonly #limit: number
  readonly #shown: BoundedOutput
  readonly #spill: Spill | null
  #whole: KeptOutput | null = null

  constructor(limits: { head: number; tail: number }, spill: Spill | null) {
    this.#limit = limits.head + limits.tail
    this.#shown = new BoundedOutput(limits)
    this.#spill = spill
  }

  push(chunk: Buffer): void {
    if (this.#shown.total + chunk.length > this.#limit) this.#keep(chunk)
    this.#shown.push(chunk)
  }

  text(): string {
    return this.#shown.text()
  }

  /** Where the whole is, or why it isn't kept; null where all of it is shown. Waits for the disk. */
  async note(): Promise<string | null> {
    return (await this.#whole?.close('the whole output')) ?? null
  }

  #keep(chunk: Buffer): void {
    if (this.#spill === null) return
    if (this.#whole === null) {
      this.#whole = new KeptOutput(this.#spill)
      this.#whole.write(this.#shown.bytes())
    }
    this.#whole.write(chunk)
  }
}

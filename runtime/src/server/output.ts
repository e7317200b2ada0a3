// Owns the way out: frames leave in the order in which they were sent, gathered per tick, and it says when there is room.
import { failpoint } from '../base/failpoint.ts'

/** The bytes' way out. `done` is called once per write, with an error where the other end is gone. */
export type Write = (text: string, done: (error?: Error | null) => void) => void

/** More unsent characters than this, and `drained` waits. */
const MARK = 256 * 1024

export class FrameOutput {
  readonly #write: Write
  readonly #onBroken: () => void
  #frames: string[] = []
  #unsent = 0
  #broken = false
  #waiting: { below: number; resolve: () => void }[] = []

  /** `onBroken` is called once, where the other end is gone; from then on everything is dropped. */
  constructor(write: Write, onBroken: () => void) {
    this.#write = write
    this.#onBroken = onBroken
  }

  /** `frame` is one JSON text without a line feed. */
  send(frame: string): void {
    if (this.#broken) return
    this.#unsent += frame.length + 1
    // After the microtasks that are due: what they send rides along in one write.
    if (this.#frames.push(frame) === 1) process.nextTick(() => this.#flush())
  }

  /** Resolves as soon as what was sent is below the mark, at once where it is. */
  drained(): Promise<void> {
    return this.#below(MARK)
  }

  /** Is what was sent below the mark? Never again once the other end is gone. */
  ready(): boolean {
    return !this.#broken && this.#unsent < MARK
  }

  /** Characters that were sent and that the system hasn't taken. */
  get unsent(): number {
    return this.#unsent
  }

  /** Resolves once everything was handed to the system, or the other end is gone. */
  flushed(): Promise<void> {
    return this.#below(1)
  }

  /** The other end is gone. */
  break(): void {
    if (this.#broken) return
    this.#broken = true
    this.#frames = []
    this.#unsent = 0
    this.#wake()
    this.#onBroken()
  }

  #below(below: number): Promise<void> {
    if (this.#unsent < below) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push({ below, resolve })
    })
  }

  #flush(): void {
    if (this.#broken) return
    const text = `${this.#frames.join('\n')}\n`
    this.#frames = []
    failpoint('output.before')
    this.#write(text, (error) => {
      if (error) return this.break()
      this.#unsent = Math.max(0, this.#unsent - text.length)
      this.#wake()
    })
    failpoint('output.after')
  }

  #wake(): void {
    const ready = this.#waiting.filter((waiter) => this.#unsent < waiter.below)
    if (ready.length === 0) return
    this.#waiting = this.#waiting.filter((waiter) => this.#unsent >= waiter.below)
    for (const waiter of ready) waiter.resolve()
  }
}

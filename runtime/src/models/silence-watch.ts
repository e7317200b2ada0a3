// Owns the time limits of a stream: no first byte, or no further one, in time (TU-5).
import type { Clock } from '../base/clock.ts'
import type { RetryPolicy } from './retry.ts'

type Limits = Pick<RetryPolicy, 'firstByteMs' | 'betweenBytesMs'>

/** Starts at once. One timer per silence limit, not per byte. */
export class SilenceWatch {
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #onStall: (message: string) => void
  #heard = false
  #last: number
  #cancel: () => void

  constructor(clock: Clock, limits: Limits, onStall: (message: string) => void) {
    this.#clock = clock
    this.#limits = limits
    this.#onStall = onStall
    this.#last = clock.monotonic()
    this.#cancel = clock.after(limits.firstByteMs, () => onStall(`no first byte in ${limits.firstByteMs} ms`))
  }

  touch(): void {
    this.#last = this.#clock.monotonic()
    if (this.#heard) return
    this.#heard = true
    this.#watch(this.#limits.betweenBytesMs)
  }

  stop(): void {
    this.#cancel()
  }

  #watch(ms: number): void {
    this.#cancel()
    this.#cancel = this.#clock.after(ms, () => {
      const left = this.#limits.betweenBytesMs - (this.#clock.monotonic() - this.#last)
      if (left > 0) this.#watch(left)
      else this.#onStall(`nothing more in ${this.#limits.betweenBytesMs} ms`)
    })
  }
}

// Owns time: the moment, and the wait. Tests inject their own.

export interface Clock {
  /** Unix milliseconds, integer. */
  now(): number
  /** Milliseconds that only ever grow; for durations. */
  monotonic(): number
  /** Calls back once after `ms`; the answer takes it back. An unref'd timer doesn't hold the process. */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or as soon as the signal aborts (then too: the caller looks at the signal). */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done)
  })
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: number
  /** Of the moment alone: durations go on. */
  #setBackBy = 0
  #timers: { at: number; callback: () => void }[] = []

  constructor(start = 1_700_000_000_000) {
    this.#now = start
  }

  now(): number {
    return this.#now - this.#setBackBy
  }

  /** Somebody sets the clock back, or forward by a negative `ms`. */
  setBack(ms: number): void {
    this.#setBackBy += ms
  }

  monotonic(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.length
  }

  /** Moves time on and fires what is due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
    }
    this.#now = end
  }
}

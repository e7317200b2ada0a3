// Owns the order of what was asked about one session: a request starts when the one before it is through.

export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `job` after every job of this lane that came before it, at once where there is none. A failed one holds up nobody. */
  run<T>(lane: string, job: () => Promise<T>): Promise<T> {
    const before = this.#last.get(lane)
    const running = before === undefined ? job() : before.then(job, job)
    this.#last.set(lane, running)
    const leave = () => {
      if (this.#last.get(lane) === running) this.#last.delete(lane)
    }
    running.then(leave, leave)
    return running
  }

  /** Lanes with work in them. */
  get size(): number {
    return this.#last.size
  }
}

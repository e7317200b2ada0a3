// Owns when a request with an answer of any size may run: one at a time, and only while the client reads. So what a client asks
// for and doesn't read costs the memory of one answer, however much it asks.
import { setImmediate as endOfTick } from 'node:timers/promises'
import { deferred } from '../base/deferred.ts'
import { Refusal } from '../log/refusal.ts'

export interface Room {
  /** Is there room for an answer? */
  ready(): boolean
  /** Resolves as soon as there is. */
  drained(): Promise<void>
}

export class Backpressure {
  readonly #room: Room
  readonly #hurried = deferred()
  #hurrying = false
  /** Resolves once the last answer was sent; null where that is long ago. */
  #last: Promise<void> | null = null

  constructor(room: Room) {
    this.#room = room
  }

  /** Runs `job` after every one before it, once there is room. *Contract:* rejects as it does, or with Refusal `shutting_down`. */
  run<T>(job: () => Promise<T>): Promise<T> {
    const before = this.#last
    const running = before === null ? this.#admit(job) : before.then(() => this.#admit(job))
    // By the end of the tick its answer is sent, and counts.
    const sent = running.then(endOfTick, endOfTick)
    this.#last = sent
    void sent.then(() => {
      if (this.#last === sent) this.#last = null
    })
    return running
  }

  /** The connection ends: nobody waits for room any more. What has none is refused, now and later. */
  hurry(): void {
    this.#hurrying = true
    this.#hurried.resolve()
  }

  async #admit<T>(job: () => Promise<T>): Promise<T> {
    while (!this.#room.ready()) {
      if (this.#hurrying) throw new Refusal('shutting_down', 'the runtime is shutting down, and the answers before this one were not read')
      await Promise.race([this.#room.drained(), this.#hurried.promise])
    }
    return job()
  }
}

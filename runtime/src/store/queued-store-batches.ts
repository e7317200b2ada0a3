// Owns the line in front of an engine: bursts that ride one transaction, the wait for a lock that another process has, and how much
// may wait. Refuses what came too late or is too much; never loses or overtakes.
import { setImmediate as endOfTick } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { Refusal } from '../log/refusal.ts'
import type { FaultData } from './fault.ts'
import { type Answer, isLater, type Operation, type Reply } from './operations.ts'

export interface Patience {
  clock: Pick<Clock, 'monotonic' | 'after'>
  /**
   * How long a backup or another runtime's large transaction may hold the store's lock before what waits for it is refused, in ms.
   * Less than the 60 s that clients give a request: they are told, and don't have to guess.
   */
  lockMs: number
  /** The same for a lease that is given up: it ends by itself. */
  releaseMs: number
  /** Between two attempts, in ms. */
  pauseMs: number
  /** A wait is told of once it took so long, in ms. */
  tellMs: number
  /** What clients bring is refused while so many characters wait to be written. */
  maxChars: number
}

export const defaultPatience: Omit<Patience, 'clock'> = {
  lockMs: 45_000,
  releaseMs: 1_000,
  pauseMs: 50,
  tellMs: 2_000,
  maxChars: 128 * 1024 * 1024,
}

interface Waiting {
  /** The operation as JSON: what the caller changes afterwards doesn't count. */
  text: string
  /** When it is refused if it still has to wait, on the monotonic clock. */
  deadline: number
  answered: Deferred<Answer>
}

export class Batches {
  readonly #patience: Patience
  readonly #run: (batch: string) => Promise<Reply>
  #queue: Waiting[] = []
  #chars = 0
  #draining = false
  #drained = Promise.resolve()
  /** Since when the lock is waited for, and whether that was told. */
  #locked: { since: number; told: boolean } | null = null
  /** Called where the lock has been waited for a while: once, until it was had again. */
  onLocked: (fault: FaultData, waitedMs: number) => void = () => undefined

  /** `run` takes a JSON array of operations. */
  constructor(run: (batch: string) => Promise<Reply>, patience: Patience) {
    this.#run = run
    this.#patience = patience
  }

  /** Once nothing waits. Never rejects. */
  get drained(): Promise<void> {
    return this.#drained
  }

  /** *Contract:* rejects as `run` does; with Refusal `overloaded` where too much waits, which only `mayWait` can change. */
  async push(operation: Operation, mayWait: boolean): Promise<Answer> {
    const text = JSON.stringify(operation)
    const { clock, lockMs, releaseMs, maxChars } = this.#patience
    if (!mayWait && this.#chars > maxChars)
      throw new Refusal(
        'overloaded',
        `${this.#chars} characters wait to be written, because the store is slow or locked; at most ${maxChars} may: send this again when some are answered`,
        { limit: maxChars },
      )
    const answered = deferred<Answer>()
    const deadline = clock.monotonic() + (operation.kind === 'release' ? releaseMs : lockMs)
    this.#queue.push({ text, deadline, answered })
    this.#chars += text.length
    if (!this.#draining) this.#drained = this.#drain()
    return answered.promise
  }

  /** Flushes until nothing waits. What is queued before the end of a tick, while a flush is under way or the lock is waited for, rides together. */
  async #drain(): Promise<void> {
    this.#draining = true
    while (this.#queue.length > 0) {
      await endOfTick()
      const again = await this.#flush(this.#queue.splice(0))
      this.#queue.unshift(...again)
      if (again.length > 0) await new Promise<void>((resolve) => this.#patience.clock.after(this.#patience.pauseMs, resolve))
    }
    this.#draining = false
  }

  /** What has to be tried again, in its order. */
  async #flush(batch: readonly Waiting[]): Promise<Waiting[]> {
    try {
      const reply = await this.#run(`[${batch.map((waiting) => waiting.text).join(',')}]`)
      if (reply.length !== batch.length) throw new Error(`the engine answered ${reply.length} of ${batch.length} operations`)
      return batch.filter((waiting, i) => !this.#settle(waiting, reply[i]))
    } catch (error) {
      for (const waiting of batch) this.#end(waiting).reject(error)
      return []
    }
  }

  /** False where it has to be tried again. */
  #settle(waiting: Waiting, answer: Answer | undefined): boolean {
    if (answer === undefined) return true
    if (isLater(answer) && this.#isWorthWaiting(waiting, answer)) return false
    if (!isLater(answer)) this.#locked = null
    this.#end(waiting).resolve(answer)
    return true
  }

  #isWorthWaiting(waiting: Waiting, answer: Answer): boolean {
    const now = this.#patience.clock.monotonic()
    this.#locked ??= { since: now, told: false }
    const waitedMs = now - this.#locked.since
    if (!this.#locked.told && waitedMs >= this.#patience.tellMs && answer.kind === 'fault') {
      this.#locked.told = true
      this.onLocked(answer.value, waitedMs)
    }
    return now < waiting.deadline
  }

  #end(waiting: Waiting): Deferred<Answer> {
    this.#chars -= waiting.text.length
    return waiting.answered
  }
}

// Owns the keeping of leases for an engine on the calling thread: what lasts gets a thread that keeps them, what is over at once doesn't pay for one.
import type { Home } from '../home.ts'
import type { Lease } from '../store.ts'
import type { Keeper, KeeperEvents } from '../upkeep.ts'

/** Most one-shot runs on a scripted model are over by then; no lease is due for a renewal yet. */
const START_MS = 500

export class LateKeeper implements Keeper {
  readonly #open: () => Promise<Home>
  readonly #events: KeeperEvents
  /** Where no thread can be had. */
  readonly #instead: () => Keeper
  readonly #leases = new Map<string, Lease>()
  #groups: readonly number[] = []
  #keeper: Keeper | null = null
  #home: Promise<Home> | null = null
  #starting: NodeJS.Timeout | undefined
  #stopped = false

  constructor(open: () => Promise<Home>, events: KeeperEvents, instead: () => Keeper) {
    this.#open = open
    this.#events = events
    this.#instead = instead
  }

  hold(lease: Lease): void {
    if (this.#stopped) return
    this.#leases.set(lease.sessionId, lease)
    this.#starting ??= setTimeout(() => void this.#start(), START_MS).unref()
    this.#keeper?.hold(lease)
  }

  drop(lease: Lease): void {
    if (this.#leases.get(lease.sessionId)?.epoch === lease.epoch) this.#leases.delete(lease.sessionId)
    this.#keeper?.drop(lease)
  }

  guard(groups: readonly number[]): void {
    this.#groups = groups
    this.#keeper?.guard(groups)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#starting)
    this.#keeper?.stop()
  }

  /** Once the thread is gone. *Contract:* never rejects. */
  async close(): Promise<void> {
    this.stop()
    await this.#home?.then(
      (home) => home.close(),
      () => undefined,
    )
  }

  async #start(): Promise<void> {
    this.#home = this.#open()
    const keeper = await this.#home.then(
      ({ upkeep }) => upkeep?.keep(this.#events) ?? this.#instead(),
      (error: Error) => {
        this.#events.failed(error)
        return this.#instead()
      },
    )
    if (this.#stopped) return keeper.stop()
    this.#keeper = keeper
    keeper.guard(this.#groups)
    for (const lease of this.#leases.values()) keeper.hold(lease)
  }
}

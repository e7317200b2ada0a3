// Owns the keeping of leases: renews them in time while their holder's event loop ticks, and ends what must not outlive them (RE-5).
// Knows neither the thread that it runs in nor the store behind it.
import type { Clock } from '../base/clock.ts'
import type { Lease, Store } from './store.ts'
import { type Keeper, type KeeperEvents, LEASE_MS, RENEW_MS, type Watch } from './upkeep.ts'

export interface KeeperParts {
  clock: Clock
  events: KeeperEvents
  /** Grows while the event loop of the holder turns; a loop that stands still must not hold a session for ever. */
  ticks(): number
  /** *Contract:* rejects where the store fails. */
  renew(leases: readonly Lease[], at: { now: number; ttlMs: number }): Promise<(number | null)[]>
  /** Kills a process group at once; one that is gone is passed over. */
  kill(group: number): void
  times?: { leaseMs: number; renewMs: number }
}

export class LeaseKeeper implements Keeper {
  readonly #parts: KeeperParts
  readonly #leaseMs: number
  readonly #renewMs: number
  readonly #leases = new Map<string, Lease>()
  #groups: readonly number[] = []
  #seenTicks = -1
  /** On the monotonic clock. */
  #renewedAt = 0
  #expired = false
  #renewing = false
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#leaseMs = parts.times?.leaseMs ?? LEASE_MS
    this.#renewMs = parts.times?.renewMs ?? RENEW_MS
  }

  hold(lease: Lease): void {
    if (this.#stopped) return
    if (this.#leases.size === 0) this.#fresh()
    this.#leases.set(lease.sessionId, lease)
    this.#checkSoon()
  }

  drop(lease: Lease): void {
    if (this.#leases.get(lease.sessionId)?.epoch === lease.epoch) this.#leases.delete(lease.sessionId)
  }

  guard(groups: readonly number[]): void {
    this.#groups = groups
  }

  stop(): void {
    this.#stopped = true
    this.#leases.clear()
    this.#cancel?.()
  }

  #fresh(): void {
    this.#renewedAt = this.#parts.clock.monotonic()
    this.#expired = false
  }

  #checkSoon(): void {
    if (this.#stopped) return
    this.#cancel ??= this.#parts.clock.after(this.#renewMs, () => {
      this.#cancel = null
      this.#check()
    })
  }

  #check(): void {
    if (this.#leases.size === 0) return
    this.#checkSoon()
    const ticks = this.#parts.ticks()
    const ticked = ticks !== this.#seenTicks
    this.#seenTicks = ticks
    // One that hangs in a slow store isn't joined by another.
    if (ticked && !this.#renewing) void this.#renew().then(() => this.#endInTime())
    else this.#endInTime()
  }

  async #renew(): Promise<void> {
    const { clock, events, renew } = this.#parts
    const leases = [...this.#leases.values()]
    this.#renewing = true
    try {
      const seqs = await renew(leases, { now: clock.now(), ttlMs: this.#leaseMs })
      if (this.#stopped) return
      this.#fresh()
      for (const [i, lease] of leases.entries()) if ((seqs[i] ?? null) === null) this.drop(lease)
      events.renewed(leases.map(({ sessionId }, i) => [sessionId, seqs[i] ?? null]))
    } catch (error) {
      if (!this.#stopped) events.failed(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#renewing = false
    }
  }

  /** One renewal's time before the end is the last moment: a later check could be too late. */
  #endInTime(): void {
    const silent = this.#parts.clock.monotonic() - this.#renewedAt
    if (this.#stopped || this.#expired || this.#leases.size === 0 || silent < this.#leaseMs - this.#renewMs) return
    this.#expired = true
    for (const group of this.#groups) this.#parts.kill(group)
    this.#parts.events.expiring(silent, this.#groups.length)
  }
}

/** A keeper on the event loop itself, for a store that no other process shares. */
export function loopKeeper(store: Pick<Store, 'renew'>, clock: Clock, events: KeeperEvents): Keeper {
  let ticks = 0
  return new LeaseKeeper({
    clock,
    events,
    ticks: () => ++ticks,
    renew: (leases, at) => store.renew(leases, at),
    kill: killGroup,
  })
}

/** A watch of a store that no other process shares: each check says that something may have changed. */
export function blindWatch(onChange: () => void): Watch {
  return { check: onChange, stop: () => undefined }
}

/** *Contract:* never throws. */
export function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It is gone, or was never ours.
  }
}

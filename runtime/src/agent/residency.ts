// Owns which agents are resident here: activations by session, their leases, taking over from the dead (RE-3 to RE-5).
import type { Inbox } from '../inbox/inbox.ts'
import { noSession } from '../inbox/inbox.ts'
import type { ClosedReason } from '../log/event-log.ts'
import { isDue } from '../log/session-state.ts'
import type { AcquireResult, Lease, Owner } from '../store/store.ts'
import { Activation } from './activation.ts'
import { lost } from './lost.ts'
import type { AgentPorts } from './ports.ts'

export const LEASE_MS = 10_000
export const RENEW_MS = 2_000
/** How often a session that another runtime drives is looked at, while somebody here waits on it. */
export const WATCH_MS = 1_000

export class Residency {
  readonly #ports: AgentPorts
  readonly #inbox: Inbox
  readonly #activations = new Map<string, Activation>()
  readonly #activating = new Map<string, Promise<Activation | null>>()
  #cancelRenewal: (() => void) | null = null
  #renewing: Promise<void> = Promise.resolve()
  /** Held elsewhere when an input here wanted them driven. */
  readonly #wanted = new Set<string>()
  /** Wanted by collecting clients, as long as they follow: how many, by session. */
  readonly #collected = new Map<string, number>()
  #cancelWatch: (() => void) | null = null
  #watching: Promise<void> = Promise.resolve()

  constructor(ports: AgentPorts, inbox: Inbox) {
    this.#ports = ports
    this.#inbox = inbox
    ports.log.onFollow = () => this.#watchSoon()
  }

  get(sessionId: string): Activation | undefined {
    return this.#activations.get(sessionId)
  }

  /**
   * The session's activation here, taken up where the lease is free; null where another runtime holds it.
   * *Contract:* rejects with Refusal `session_not_found`, or as the store does.
   */
  activate(sessionId: string): Promise<Activation | null> {
    const resident = this.#activations.get(sessionId)
    if (resident !== undefined) return Promise.resolve(resident)
    const activating = this.#activating.get(sessionId)
    if (activating !== undefined) return activating
    const started = this.#acquire(sessionId)
      .then((lease) => {
        if (lease !== null) return this.adopt(lease)
        this.#wanted.add(sessionId)
        this.#watchSoon()
        return null
      })
      .finally(() => this.#activating.delete(sessionId))
    this.#activating.set(sessionId, started)
    return started
  }

  /** RE-3: while a client collects from a session, it is taken up here whenever it is due and free. The answer ends that. */
  collect(sessionId: string): () => void {
    this.#collected.set(sessionId, (this.#collected.get(sessionId) ?? 0) + 1)
    let over = false
    return () => {
      const left = (this.#collected.get(sessionId) ?? 1) - (over ? 0 : 1)
      over = true
      if (left > 0) this.#collected.set(sessionId, left)
      else this.#collected.delete(sessionId)
    }
  }

  async #acquire(sessionId: string): Promise<Lease | null> {
    const { store, clock, owner, isDead } = this.#ports
    const at = () => ({ now: clock.now(), ttlMs: LEASE_MS })
    let result: AcquireResult = await store.acquire(sessionId, owner, at())
    // Our own is one that an activation which ended by a fault left behind: its commits are fenced from here on.
    const orphaned = (holder: Owner) => holder.runtimeId === owner.runtimeId || isDead(holder)
    if (!result.ok && result.refused === 'held' && orphaned(result.holder.owner))
      result = await store.acquire(sessionId, owner, { ...at(), replacing: result.holder.epoch })
    if (result.ok) {
      // What a killed runtime's tools left running must not work beside the turn that goes on.
      const { previous } = result
      if (previous !== undefined && previous.runtimeId !== owner.runtimeId && isDead(previous)) this.#ports.reap(previous)
      return result.lease
    }
    if (result.refused === 'not-found') throw noSession(sessionId)
    return null
  }

  /** Makes an activation of a lease that was just taken, and wakes it where something is due. */
  async adopt(lease: Lease): Promise<Activation> {
    const { log } = this.#ports
    const { sessionId } = lease
    let activation: Activation | null = null
    const followed = await log.follow(sessionId, {
      facts: (facts) => activation?.facts(facts),
      closed: (reason, error) => this.#closed(sessionId, reason, error),
    })
    if (followed === null) throw noSession(sessionId)
    await log.refresh(sessionId)
    activation = new Activation(this.#ports, this.#inbox, followed.session, lease)
    this.#activations.set(sessionId, activation)
    this.#wanted.delete(sessionId)
    void activation.ended.then(() => {
      this.#activations.delete(sessionId)
      followed.leave()
    })
    this.#renewSoon()
    activation.wake()
    return activation
  }

  #watchSoon(): void {
    this.#cancelWatch ??= this.#ports.clock.after(WATCH_MS, () => {
      this.#cancelWatch = null
      this.#watching = this.#watch().catch((error: unknown) => this.#ports.report('sessions driven elsewhere could not be read', error))
    })
  }

  /** RE-3: reads what other runtimes committed, and takes up what is due here once its holder is gone. */
  async #watch(): Promise<void> {
    const { log } = this.#ports
    const elsewhere = [...new Set([...log.followedIds(), ...this.#wanted])].filter((id) => !this.#activations.has(id))
    if (elsewhere.length === 0) return
    this.#watchSoon()
    for (const sessionId of elsewhere) {
      await log.refresh(sessionId)
      const session = await log.peek(sessionId)
      if (session === null) {
        this.#wanted.delete(sessionId)
        log.close(sessionId, 'deleted', null)
      } else if (!isDue(session.state)) {
        if (log.followed(sessionId) === undefined) this.#wanted.delete(sessionId)
      } else if (this.#wanted.has(sessionId) || this.#collected.has(sessionId)) await this.activate(sessionId)
    }
  }

  #closed(sessionId: string, reason: ClosedReason, error: Error | null): void {
    this.#activations.get(sessionId)?.closed(reason, error)
  }

  #renewSoon(): void {
    this.#cancelRenewal ??= this.#ports.clock.after(RENEW_MS, () => {
      this.#cancelRenewal = null
      this.#renewing = this.#renew().catch((error: unknown) => this.#ports.report('leases could not be renewed', error))
    })
  }

  /** Renews every lease; a lost one ends its activation, a log that grew elsewhere is read (RE-3, RE-4). */
  async #renew(): Promise<void> {
    const { log, store, clock } = this.#ports
    const held = [...this.#activations.values()]
    if (held.length === 0) return
    this.#renewSoon()
    const seqs = await store.renew(
      held.map(({ lease }) => lease),
      { now: clock.now(), ttlMs: LEASE_MS },
    )
    for (const [i, { sessionId }] of held.entries()) {
      const seq = seqs[i] ?? null
      if (seq === null) await lost(this.#ports, sessionId)
      else if (seq > (log.followed(sessionId)?.state.seq ?? seq)) await log.refresh(sessionId)
    }
  }

  /** Stops every agent and gives the leases up. */
  async shutdown(): Promise<void> {
    this.#cancelRenewal?.()
    this.#cancelWatch?.()
    await Promise.all([this.#renewing, this.#watching])
    await Promise.allSettled(this.#activating.values())
    const held = [...this.#activations.values()]
    await Promise.all(held.map((activation) => activation.stop()))
    await Promise.allSettled(held.map(({ lease }) => this.#ports.store.release(lease)))
    this.#cancelRenewal?.()
    this.#cancelWatch?.()
  }
}

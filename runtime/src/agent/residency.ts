// Owns which agents are resident here: activations by session, their leases, taking over from the dead (RE-4, RE-5).
import type { Inbox } from '../inbox/inbox.ts'
import { noSession } from '../inbox/inbox.ts'
import type { ClosedReason } from '../log/event-log.ts'
import type { AcquireResult, Holder, Lease, Owner } from '../store/store.ts'
import { type Keeper, LEASE_MS } from '../store/upkeep.ts'
import { Activation } from './activation.ts'
import { Elsewhere } from './elsewhere.ts'
import { lost } from './lost.ts'
import type { AgentPorts } from './ports.ts'

/** A holder as it was first seen like this, on the monotonic clock. */
type Sighting = Pick<Holder, 'epoch' | 'expiresAt'> & { since: number }

export class Residency {
  readonly #ports: AgentPorts
  readonly #inbox: Inbox
  readonly #keeper: Keeper
  readonly #elsewhere: Elsewhere
  readonly #activations = new Map<string, Activation>()
  readonly #activating = new Map<string, Promise<Activation | null>>()
  /** Holders that stood in the way, by session. */
  readonly #sightings = new Map<string, Sighting>()
  #afterRenewal: Promise<void> = Promise.resolve()

  constructor(ports: AgentPorts, inbox: Inbox) {
    this.#ports = ports
    this.#inbox = inbox
    this.#keeper = ports.keep({
      renewed: (seqs) => {
        this.#afterRenewal = this.#afterRenewal.then(() => this.#renewed(seqs))
      },
      failed: (error) => ports.report('leases could not be renewed', error),
      expiring: (afterMs, groups) =>
        ports.report(
          `no lease could be renewed for ${Math.round(afterMs)} ms, because the event loop or the store stood still: ` +
            `${groups} process groups of tools were ended, since other runtimes may take the sessions now`,
          null,
        ),
    })
    this.#elsewhere = new Elsewhere(ports, {
      isResident: (sessionId) => this.#activations.has(sessionId),
      takeUp: (sessionId) => this.activate(sessionId),
    })
  }

  get(sessionId: string): Activation | undefined {
    return this.#activations.get(sessionId)
  }

  /**
   * The session's activation here, taken up where the lease is free; null where another runtime holds it: then it is wanted, and
   * taken up once that one is gone while something is due.
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
        this.#elsewhere.want(sessionId)
        return null
      })
      .finally(() => this.#activating.delete(sessionId))
    this.#activating.set(sessionId, started)
    return started
  }

  /** RE-3: while a client collects from a session, it is taken up here whenever it is due and free. The answer ends that. */
  collect(sessionId: string): () => void {
    return this.#elsewhere.collect(sessionId)
  }

  /**
   * Ends what tools still run for a session that is about to be deleted, here or of a dead holder: nobody would look for it
   * afterwards. Its activation here, or null. *Contract:* as activate.
   */
  async clear(sessionId: string): Promise<Activation | null> {
    await this.#activating.get(sessionId)
    const activation = this.#activations.get(sessionId)
    if (activation !== undefined) this.#ports.endTools(sessionId)
    else await this.#acquire(sessionId)
    return activation ?? null
  }

  async #acquire(sessionId: string): Promise<Lease | null> {
    const { store, clock, owner } = this.#ports
    const at = () => ({ now: clock.now(), ttlMs: LEASE_MS })
    let result: AcquireResult = await store.acquire(sessionId, owner, at())
    let reaped: string | null = null
    if (!result.ok && result.refused === 'held' && this.#isOver(sessionId, result.holder)) {
      // Before its lease is taken: should this runtime die in between, the next one finds its name still.
      reaped = result.holder.owner.runtimeId
      this.#reap(result.holder.owner, sessionId)
      result = await store.acquire(sessionId, owner, { ...at(), replacing: result.holder.epoch })
    }
    if (!result.ok && result.refused === 'not-found') throw noSession(sessionId)
    if (!result.ok) return null
    this.#sightings.delete(sessionId)
    if (result.previous !== undefined && result.previous.runtimeId !== reaped) this.#reap(result.previous, sessionId)
    return result.lease
  }

  /** Is this lease over before its time? */
  #isOver(sessionId: string, { owner, epoch, expiresAt }: Holder): boolean {
    const now = this.#ports.clock.monotonic()
    // Our own is one that an activation which ended by a fault left behind: its commits are fenced from here on.
    if (owner.runtimeId === this.#ports.owner.runtimeId || this.#ports.isDead(owner)) return true
    const seen = this.#sightings.get(sessionId)
    // A lease that isn't renewed in its whole time has nobody who keeps it, whatever the clocks of two hosts, or one that was set back, say.
    if (seen !== undefined && seen.epoch === epoch && seen.expiresAt === expiresAt) return now - seen.since >= LEASE_MS
    this.#sightings.set(sessionId, { epoch, expiresAt, since: now })
    return false
  }

  /** What another runtime's tools left running must not work beside the turn that goes on. */
  #reap(previous: Owner, sessionId: string): void {
    const { owner, isDead, reap } = this.#ports
    if (previous.runtimeId === owner.runtimeId) return
    if (isDead(previous)) reap(previous, null)
    else if (previous.host === owner.host && previous.bootId === owner.bootId) reap(previous, sessionId)
  }

  /** Makes an activation of a lease that was just taken, and wakes it where something is due. */
  async adopt(lease: Lease): Promise<Activation> {
    const { log } = this.#ports
    const { sessionId } = lease
    this.#keeper.hold(lease)
    let activation: Activation | null = null
    const followed = await log.follow(sessionId, {
      facts: (facts) => activation?.facts(facts),
      closed: (reason, error) => this.#closed(sessionId, reason, error),
    })
    if (followed === null) {
      this.#keeper.drop(lease)
      throw noSession(sessionId)
    }
    await log.refresh(sessionId)
    activation = new Activation(this.#ports, this.#inbox, followed.session, lease)
    this.#activations.set(sessionId, activation)
    this.#elsewhere.tookUp(sessionId)
    void activation.ended.then(() => {
      this.#activations.delete(sessionId)
      this.#keeper.drop(lease)
      followed.leave()
    })
    activation.wake()
    return activation
  }

  /** Whoever drives it next, or nobody, must find nothing of it at work here. */
  #closed(sessionId: string, reason: ClosedReason, error: Error | null): void {
    const activation = this.#activations.get(sessionId)
    if (activation !== undefined && reason !== 'shutdown') this.#ports.endTools(sessionId)
    activation?.closed(reason, error)
  }

  /** A lost lease ends its activation, a log that grew elsewhere is read (RE-3, RE-4). */
  async #renewed(seqs: readonly (readonly [string, number | null])[]): Promise<void> {
    const { log } = this.#ports
    this.#elsewhere.listen()
    try {
      for (const [sessionId, seq] of seqs) {
        if (!this.#activations.has(sessionId)) continue
        if (seq === null) await lost(this.#ports, sessionId)
        else if (seq > (log.followed(sessionId)?.state.seq ?? seq)) await log.refresh(sessionId)
      }
    } catch (error) {
      this.#ports.report('sessions that other runtimes wrote to could not be read', error)
    }
  }

  /** Stops every agent and gives the leases up. */
  async shutdown(): Promise<void> {
    await this.#elsewhere.stop()
    await Promise.allSettled(this.#activating.values())
    const held = [...this.#activations.values()]
    await Promise.all(held.map((activation) => activation.stop()))
    // What is in the background must not outlive the lease: nobody would look for it then.
    for (const { sessionId } of held) this.#ports.endTools(sessionId)
    await Promise.allSettled(held.map(({ lease }) => this.#ports.store.release(lease)))
    this.#keeper.stop()
    await this.#afterRenewal
  }
}

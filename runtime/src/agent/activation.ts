// Owns one residency of an agent: a driver that wakes, works turn after turn, and goes idle (ST-1 to ST-4, ST-12).
import { setImmediate as endOfTick } from 'node:timers/promises'
import type { AnyFact } from '@quiesce/schema'
import { type Deferred, deferred } from '../base/deferred.ts'
import { joiners, opener } from '../inbox/delivery.ts'
import type { Inbox, NewMessage } from '../inbox/inbox.ts'
import type { ClosedReason, FollowedSession, Follower } from '../log/event-log.ts'
import { fact } from '../log/facts.ts'
import { isDue, isWaking } from '../log/session-state.ts'
import type { Lease } from '../store/store.ts'
import { admissions, Driver, exactly, Halt, type OpenStep } from './driver.ts'
import { lost } from './lost.ts'
import type { AgentPorts } from './ports.ts'
import { recover } from './recovery.ts'
import { runStep } from './step.ts'
import { commitIdle, openingFacts, openTurn } from './turn.ts'

export type Phase = { kind: 'idle' } | { kind: 'running' } | { kind: 'closing' } | { kind: 'inactive' }

export class Activation implements Follower {
  readonly lease: Lease
  readonly #driver: Driver
  readonly #ports: AgentPorts
  readonly #inbox: Inbox
  readonly #ended: Deferred = deferred()
  #phase: Phase = { kind: 'idle' }
  #work: Promise<void> = Promise.resolve()
  /** A joint commit under way. */
  #opening: Promise<unknown> = Promise.resolve()
  #startSeq = 0

  constructor(ports: AgentPorts, inbox: Inbox, session: FollowedSession, lease: Lease) {
    this.#ports = ports
    this.#inbox = inbox
    this.lease = lease
    this.#driver = new Driver(ports, session, lease)
  }

  get sessionId(): string {
    return this.lease.sessionId
  }

  get phase(): Phase {
    return this.#phase
  }

  /** False from the moment on that it ends, for whatever reason. */
  get goesOn(): boolean {
    return this.#phase.kind === 'idle' || this.#phase.kind === 'running'
  }

  /** Resolves when the activation is over and nothing of it runs. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** The transcript, up to date; for whoever shows the conversation. */
  get driver(): Driver {
    return this.#driver
  }

  facts(facts: readonly AnyFact[]): void {
    if (facts.some((made) => made.type === 'agent/cancel')) this.#driver.noticeCancel()
    this.wake()
  }

  closed(reason: ClosedReason, error: Error | null): void {
    if (this.#phase.kind === 'inactive') return
    if (reason === 'storage') this.#ports.report(`session ${this.sessionId} stopped: its store failed`, error)
    this.#set({ kind: 'closing' })
    this.#driver.stop('halt')
    void this.#work.then(() => this.#end())
  }

  /** Runs the agent where it is idle and something is due. One synchronous step: no wake is lost. */
  wake(): void {
    if (this.#phase.kind === 'idle' && isDue(this.#driver.state)) this.#start(null)
  }

  /**
   * Puts a message into the inbox. An idle agent opens the turn in the same commit (TU-3).
   * *Contract:* rejects as Inbox.enqueue does.
   */
  async deliver(message: NewMessage, expectIdle: boolean): Promise<void> {
    const resting = this.#phase.kind === 'idle' && !isDue(this.#driver.state)
    if (message.delivery !== 'inject' && resting && (await this.#deliverAndOpen(message))) return
    await this.#inbox.enqueue(this.sessionId, message, expectIdle)
  }

  /** The joint commit; false where it was refused: then the receipt goes alone. */
  async #deliverAndOpen(message: NewMessage): Promise<boolean> {
    const driver = this.#driver
    this.#set({ kind: 'running' })
    const receipt = this.#inbox.receipt(message)
    const joining = joiners(driver.state.pending)
    const { facts, opened } = openingFacts(driver, { kind: 'message', messageId: message.id }, joining)
    const admitted = admissions([{ id: message.id, seq: 0, delivery: message.delivery, origin: message.origin.kind }], opened, driver.now())
    const at = facts.findIndex((made) => made.type === 'turn/start') + 1
    const committing = this.#ports.log.commit({
      sessionId: this.sessionId,
      lease: this.lease,
      when: [...this.#inbox.conditions(message), { kind: 'idle' }, ...exactly(joining)],
      facts: [receipt, ...facts.slice(0, at), ...admitted, ...facts.slice(at)],
    })
    this.#opening = committing.catch(() => undefined)
    const result = await committing.catch((error: unknown) => {
      this.#rest()
      throw error
    })
    if (result.ok) {
      this.#start(opened)
      return true
    }
    this.#rest()
    return false
  }

  /** Back to idle after work that came to nothing; what came in meanwhile wakes. */
  #rest(): void {
    if (this.#phase.kind !== 'running') return
    this.#set({ kind: 'idle' })
    this.wake()
  }

  #start(opened: OpenStep | null): void {
    if (this.#phase.kind !== 'closing') this.#set({ kind: 'running' })
    this.#startSeq = this.#driver.state.seq
    this.#work = this.#drive(opened)
  }

  async #drive(opened: OpenStep | null): Promise<void> {
    try {
      // What the joint commit told goes out before the model's request is made: its making holds the loop up.
      if (opened !== null) await endOfTick()
      await this.#loop(opened)
    } catch (error) {
      await this.#fault(error)
    }
  }

  async #loop(opened: OpenStep | null): Promise<void> {
    const driver = this.#driver
    let step = opened ?? (await recover(driver))
    if (step !== null) driver.beginTurn()
    while (this.#phase.kind === 'running') {
      if (step !== null) {
        step = await runStep(driver, step)
        continue
      }
      const next = opener(driver.state.pending)
      if (next !== null) {
        step = await openTurn(driver, next)
        if (step !== null) driver.beginTurn()
      } else if (isDue(driver.state)) await commitIdle(driver)
      else this.#set({ kind: 'idle' })
    }
    if (step !== null) await runStep(driver, step)
  }

  /** The driver can't go on, or a fault of ours: ST-1 holds on this path too. */
  async #fault(error: unknown): Promise<void> {
    if (error instanceof Halt) {
      if (error.reason === 'fenced') await lost(this.#ports, this.sessionId)
      else this.#ports.log.close(this.sessionId, error.reason, error.cause)
      return
    }
    this.#ports.report(`internal fault while driving session ${this.sessionId}`, error)
    try {
      await this.#settleFault()
      if (this.#driver.state.seq === this.#startSeq) throw new Error('the fault came before anything was committed')
      this.#rest()
    } catch (second) {
      this.#ports.log.close(this.sessionId, 'storage', second instanceof Error ? second : null)
    }
  }

  async #settleFault(): Promise<void> {
    const driver = this.#driver
    const { turn, pending } = driver.state
    const now = driver.now()
    const failure = { code: 'internal', message: 'internal fault of the runtime; its log says more', retryable: false } as const
    if (turn !== null) {
      const results = turn.calls.map(({ callId }) =>
        fact('tool/result', now, { callId, content: failure.message, isError: true, error: failure, durationMs: 0 }),
      )
      const end = fact('turn/end', now, { turnId: turn.turnId, reason: { kind: 'error', error: failure }, usage: turn.usage })
      await driver.commit([...results, end])
    }
    if (!pending.some(isWaking) && driver.state.status === 'running') await commitIdle(driver)
  }

  /** Ends an open turn as interrupted and stops; nothing runs any more once this resolves (RE-7). */
  async stop(): Promise<void> {
    if (this.#phase.kind !== 'inactive') {
      this.#set({ kind: 'closing' })
      this.#driver.stop('stop')
      await this.#opening
      await this.#work
      this.#end()
    }
  }

  #end(): void {
    this.#set({ kind: 'inactive' })
    this.#ended.resolve()
  }

  #set(phase: Phase): void {
    if (this.#phase.kind === 'inactive') return
    this.#phase = phase
  }
}

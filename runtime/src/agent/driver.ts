// Owns what the functions of a turn share: the followed session, its transcript, commits under the lease, the turn's signal.
import type { SessionConfigOf } from '@quiesce/schema'
import type { Condition } from '../log/conditions.ts'
import type { FollowedSession } from '../log/event-log.ts'
import { fact, type NewFact } from '../log/facts.ts'
import type { PendingMessage, SessionState } from '../log/session-state.ts'
import { catchUp, Transcript } from '../log/transcript.ts'
import type { Lease } from '../store/store.ts'
import type { AgentPorts } from './ports.ts'

/** An open turn and its open step: what a driver works on. */
export interface OpenStep {
  turnId: string
  stepId: string
}

/** The activation can't go on: its lease is stale, its session deleted, or its store failed. */
export class Halt extends Error {
  readonly reason: 'fenced' | 'storage'
  override readonly cause: Error | null

  constructor(reason: 'fenced' | 'storage', cause: Error | null = null) {
    super(`the driver stops: ${reason}`)
    this.reason = reason
    this.cause = cause
  }
}

export class Driver {
  readonly ports: AgentPorts
  readonly session: FollowedSession
  readonly lease: Lease
  readonly #transcript = new Transcript()
  #system: Promise<string> | null = null
  /** The reason of a turn's signal is `cancel`, or one of these. */
  #stopping: 'stop' | 'halt' | null = null
  #turn = new AbortController()

  constructor(ports: AgentPorts, session: FollowedSession, lease: Lease) {
    this.ports = ports
    this.session = session
    this.lease = lease
  }

  get state(): SessionState {
    return this.session.state
  }

  get config(): SessionConfigOf {
    return this.session.config
  }

  now(): number {
    return this.ports.clock.now()
  }

  id(prefix: string): string {
    return this.ports.ids(prefix)
  }

  /** Commits under the lease: null, or the condition that didn't hold. *Contract:* throws Halt. */
  async commit(facts: readonly NewFact[], when: readonly Condition[] = []): Promise<Condition | null> {
    const result = await this.ports.log
      .commit({ sessionId: this.session.sessionId, lease: this.lease, when, facts })
      .catch((error: Error) => {
        throw new Halt('storage', error)
      })
    if (result.ok) return null
    if (result.refused === 'unmet') return result.condition
    throw new Halt('fenced')
  }

  /** The conversation up to the last fact. *Contract:* throws Halt. */
  async transcript(): Promise<Transcript> {
    await catchUp(this.#transcript, this.ports.log, this.session.sessionId, this.state.seq).catch((error: Error) => {
      throw new Halt('storage', error)
    })
    return this.#transcript
  }

  /** Read once per activation: the request stays byte-stable (TU-9). */
  system(): Promise<string> {
    this.#system ??= this.ports.prompts.system(this.config)
    return this.#system
  }

  /** A signal of its own for the turn that begins; aborted at once where a cancel or a stop came before. */
  beginTurn(): void {
    this.#turn = new AbortController()
    if (this.#stopping !== null) this.#turn.abort(this.#stopping)
    this.noticeCancel()
  }

  get signal(): AbortSignal {
    return this.#turn.signal
  }

  /** The activation ends: this turn, and any that would follow, stops. */
  stop(reason: 'stop' | 'halt'): void {
    this.#stopping ??= reason
    this.#turn.abort(this.#stopping)
  }

  /** A cancel is a fact: whoever committed it, the signal follows. */
  noticeCancel(): void {
    if (this.state.turn?.cancelledBy != null) this.#turn.abort('cancel')
  }
}

/** The facts with which messages join a step. */
export function admissions(messages: readonly PendingMessage[], step: OpenStep, now: number): NewFact[] {
  return messages.map(({ id }) => fact('inbox/admitted', now, { messageId: id, ...step }))
}

/** At a boundary exactly these join: each is still pending, and no steer or inject is left out (IN-5, IN-6, IN-8). */
export function exactly(messages: readonly PendingMessage[]): Condition[] {
  const messageIds = messages.map(({ id }) => id)
  return [
    { kind: 'pending', messageIds },
    { kind: 'joined-by', messageIds },
  ]
}

/** The facts that make an idle agent run: none where it runs already. */
export function runningFacts(state: SessionState, newActivity: () => string, now: number): { activityId: string; facts: NewFact[] } {
  if (state.status === 'running' && state.activityId !== null) return { activityId: state.activityId, facts: [] }
  const activityId = newActivity()
  return { activityId, facts: [fact('agent/status', now, { status: 'running', activityId })] }
}

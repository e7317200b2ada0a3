// Owns the clients of one runtime under test: what they ask, what they are told, and what they see of the log; each is judged by the
// reference model.
import type { AnyFact } from '@quiesce/schema'
import type { ClosedReason } from '../log/event-log.ts'
import type { Runtime } from './agent-rig.fixture.ts'
import { type Observed, SESSION } from './observed.fixture.ts'
import { type Answer, type Ask, misled } from './reference-answers.fixture.ts'
import { bodyOf, pendingOf, type State } from './reference-state.fixture.ts'
import type { ClientMove } from './schedules.fixture.ts'
import type { Sessions } from './sessions.ts'

export interface SentMessage {
  id: string
  delivery: 'followup' | 'steer' | 'inject'
}

/** What all clients of a world share. */
export interface Shared {
  messages: SentMessage[]
  /** How many prompts named each id. */
  asks: Map<string, number>
  /** What was said of withdrawals, by id. */
  claims: Map<string, { told: number; unsure: number }>
}

/** How the runtime is. */
export interface Circumstances {
  stopping: boolean
  failures: number
  /** The failures that were heard of before anything that is still on its way was asked. */
  settledFailures: number
}

interface Call {
  ask: Ask
  since: number
  failures: number
  stopping: boolean
}

interface Seen {
  collects: boolean
  /** The last fact seen, once it is known where the view begins. */
  seq: number | null
  closed: boolean
  leave(): void
}

export class Clients {
  circumstances = (): Circumstances => ({ stopping: false, failures: 0, settledFailures: 0 })
  #isDead = false
  readonly #name: string
  readonly #runtime: Runtime
  readonly #observed: Observed
  readonly #shared: Shared
  readonly #note: (what: () => string) => void
  readonly #calls = new Set<Call>()
  readonly #views: Seen[] = []
  /** Waking messages whose receipt was answered here, and how often the store had failed by then. */
  readonly #accepted = new Map<string, number>()
  #names = 0

  constructor(name: string, runtime: Runtime, observed: Observed, shared: Shared, note: (what: () => string) => void) {
    this.#name = name
    this.#runtime = runtime
    this.#observed = observed
    this.#shared = shared
    this.#note = note
  }

  act(move: ClientMove): void {
    switch (move.do) {
      case 'prompt': {
        const message = { id: `m${this.#shared.messages.length + 1}`, delivery: move.delivery }
        this.#shared.messages.push(message)
        this.#prompt(message, message.id, move.idle)
        break
      }
      case 'repeat': {
        const { messages } = this.#shared
        const known = messages[move.which % messages.length]
        if (known !== undefined) this.#prompt(known, move.other ? `not ${known.id}` : known.id, move.idle)
        break
      }
      case 'withdraw': {
        const id = this.#withdrawable(move.which)
        this.#call({ kind: 'withdraw', id }, (sessions) => sessions.withdraw(SESSION, id))
        break
      }
      case 'cancel':
        this.#cancel(move.scope, move.turn)
        break
      case 'update':
        this.#update(move.what)
        break
      case 'collect':
        this.#call({ kind: 'collect' }, async (sessions) => this.#look(true, await sessions.activate(SESSION)))
        break
      case 'look':
        this.#call({ kind: 'collect' }, () => this.#look(false, () => undefined))
        break
      case 'leave':
        this.#note(() => 'a client leaves')
        this.#views.shift()?.leave()
        break
      case 'delete':
        this.#call({ kind: 'delete' }, (sessions) => sessions.delete(SESSION))
    }
  }

  /** One that is pending, or was sent last and may still be on its way; now and then one that is long over, or that nobody sent. */
  #withdrawable(which: number): string {
    const { messages } = this.#shared
    const waiting = pendingOf(this.#observed.state)
    if (which % 3 === 0 && waiting.length > 0) return waiting[which % waiting.length]?.id ?? 'none'
    if (which % 3 === 1) return messages.at(-1)?.id ?? 'none'
    return messages[which % (messages.length + 1)]?.id ?? 'none'
  }

  #cancel(scope: 'turn' | 'session' | 'tree', turn: 'any' | 'open' | 'old'): void {
    const { state } = this.#observed
    const turnId = turn === 'any' ? undefined : turn === 'open' ? (state.turn?.id ?? 'none') : (state.turns[0] ?? 'none')
    const by = this.#newName()
    const params = { sessionId: SESSION, scope, ...(turnId !== undefined && { turnId }) }
    this.#call({ kind: 'cancel', by, scope, turnId }, (sessions) => sessions.cancel(params, by))
  }

  #update(what: 'title' | 'model' | 'permissions'): void {
    const title = this.#newName()
    const permissions = this.#names % 2 === 0 ? ('allow-all' as const) : ('read-only' as const)
    const change = { title: {}, model: { model: `test/${title}` }, permissions: { permissions } }[what]
    this.#call({ kind: 'update', title }, (sessions) => sessions.update({ sessionId: SESSION, title, ...change }))
  }

  #newName(): string {
    this.#names += 1
    return `${this.#name}${this.#names}`
  }

  /** Resolves once the runtime has shut down. */
  shutdown(): Promise<void> {
    return new Promise((resolve) => this.#call({ kind: 'shutdown' }, (sessions) => sessions.shutdown().then(resolve)))
  }

  #prompt({ id, delivery }: SentMessage, text: string, idle: boolean): void {
    this.#shared.asks.set(id, (this.#shared.asks.get(id) ?? 0) + 1)
    const body = bodyOf({ delivery, content: [{ type: 'text', text }] })
    const params = { sessionId: SESSION, messageId: id, content: text, delivery, ...(idle && { expect: 'idle' as const }) }
    this.#call({ kind: 'prompt', id, body, delivery, idle }, (sessions) => sessions.prompt(params))
  }

  #call(ask: Ask, run: (sessions: Sessions) => Promise<unknown>): void {
    this.#note(() => `is asked for ${JSON.stringify(ask)}`)
    const { stopping, settledFailures } = this.circumstances()
    const call = {
      ask,
      since: this.#observed.states.length - 1,
      failures: settledFailures,
      stopping: stopping && ask.kind !== 'shutdown',
    }
    this.#calls.add(call)
    run(this.#runtime.sessions).then(
      (value) => this.#answered(call, { ok: true, value }),
      (error: unknown) => this.#answered(call, { ok: false, code: codeOf(error) }),
    )
  }

  #answered(call: Call, answer: Answer): void {
    if (this.#isDead) return
    this.#calls.delete(call)
    const { ask } = call
    this.#note(() => `answers ${ask.kind} ${'id' in ask ? ask.id : ''}: ${answer.ok ? JSON.stringify(answer.value) : answer.code}`)
    if (ask.kind === 'prompt' && answer.ok && ask.delivery !== 'inject') this.#accepted.set(ask.id, this.circumstances().failures)
    if (ask.kind === 'withdraw') this.#claim(ask.id, answer.ok ? (answer.value === true ? 'told' : null) : 'unsure')
    const { states, happenings } = this.#observed
    const span = {
      states: states.slice(call.since),
      happenings: happenings.slice(call.since),
      failed: this.circumstances().failures > call.failures,
      stopping: call.stopping,
      sole: ask.kind === 'prompt' && this.#shared.asks.get(ask.id) === 1,
    }
    this.#observed.broke(...misled(ask, answer, span).map((what) => `${what} (${this.#name})`))
  }

  #claim(id: string, what: 'told' | 'unsure' | null): void {
    if (what === null) return
    const claim = this.#shared.claims.get(id) ?? { told: 0, unsure: 0 }
    claim[what] += 1
    this.#shared.claims.set(id, claim)
  }

  /** Follows the log: facts come once, in order, without a gap, and none that isn't committed (TU-3, SUB-1). */
  async #look(collects: boolean, leave: () => void): Promise<void> {
    const seen: Seen = { collects, seq: null, closed: false, leave }
    const followed = await this.#runtime.log.follow(SESSION, {
      facts: (facts) => this.#see(seen, facts),
      closed: (reason) => {
        seen.closed = true
        leave()
        this.#note(() => `tells a subscriber: closed, ${reason}`)
        this.#judgeClosed(reason)
      },
    })
    if (followed === null) {
      leave()
      return
    }
    seen.seq ??= followed.session.state.seq
    seen.leave = () => {
      leave()
      followed.leave()
    }
    this.#views.push(seen)
  }

  #see(seen: Seen, facts: readonly AnyFact[]): void {
    const { facts: committed, broken } = this.#observed
    for (const fact of facts) {
      if (seen.seq !== null && fact.seq !== seen.seq + 1)
        broken.push(`SUB-1: a subscriber of ${this.#name} sees ${fact.seq} after ${seen.seq}`)
      if (JSON.stringify(fact) !== JSON.stringify(committed[fact.seq - 1]))
        broken.push(`TU-3: a subscriber of ${this.#name} sees ${JSON.stringify(fact)}, which is not committed`)
      seen.seq = fact.seq
    }
  }

  /** SUB-5: for the reason that it is. */
  #judgeClosed(reason: ClosedReason): void {
    const { state, broken, held } = this.#observed
    const { stopping, failures } = this.circumstances()
    // A lease that a runtime takes from itself is lost to the activation that had it.
    const lost = [...held].some(([epoch, by]) => by === this.#name && (epoch < state.lease.epoch || state.lease.holder !== by))
    const right = { deleted: state.deleted, fenced: lost, shutdown: stopping, storage: failures > 0 }[reason]
    if (!right) broken.push(`SUB-5: a subscriber of ${this.#name} is told ${reason}`)
  }

  die(): void {
    this.#isDead = true
    for (const { ask } of this.#calls) if (ask.kind === 'withdraw') this.#claim(ask.id, 'unsure')
  }

  /** Calls without an answer, but for these kinds. */
  hanging(but: readonly string[]): string[] {
    return [...this.#calls].filter(({ ask }) => !but.includes(ask.kind)).map(({ ask }) => `${JSON.stringify(ask)} of ${this.#name}`)
  }

  /** RE-3: it watches over what it accepted until that is admitted or cancelled. */
  answersFor(state: State): boolean {
    return pendingOf(state).some(({ id }) => this.#accepted.get(id) === this.circumstances().failures)
  }

  get isCollecting(): boolean {
    return [...this.#calls].some(({ ask }) => ask.kind === 'collect') || this.#views.some(({ collects, closed }) => collects && !closed)
  }

  /** Who looks on at rest has seen everything. */
  behind(): string[] {
    const { seq, deleted } = this.#observed.state
    const behind = this.#views.filter((view) => !view.closed && (deleted || view.seq !== seq))
    return behind.map(
      (view) => `SUB-1: a subscriber of ${this.#name} has seen ${view.seq} of ${deleted ? 'a session that is deleted' : seq}`,
    )
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error)
}

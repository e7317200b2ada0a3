// Owns one runtime process under test: the real thing behind gates, with its clients, models and tools, and what befell it.
import type { Ids } from '../base/ids.ts'
import { QueuedStore } from '../store/queued-store.ts'
import { Runtime } from './agent-rig.fixture.ts'
import { Clients, type Shared } from './gated-clients.fixture.ts'
import { Effects } from './gated-effects.fixture.ts'
import { type Gate, Gates } from './gates.fixture.ts'
import type { Observed } from './observed.fixture.ts'

/** What all runtimes of a world have in common. */
export interface Surroundings {
  observed: Observed
  time: { now: number }
  ids: Ids
  shared: Shared
  lingering: boolean
  note(by: string, what: () => string): void
}

export class GatedRuntime {
  readonly name: string
  readonly gates: Gates
  readonly effects: Effects
  readonly clients: Clients
  phase: 'up' | 'stopping' | 'gone' = 'up'
  /** Nothing of it moves. */
  stalled = false
  /** Its store fails; or its next call does. */
  broken = false
  hiccups = false
  /** How often its store has failed, and how often it had when it took the lease. */
  failures = 0
  failuresAtLease = 0
  /** Another one took its lease, and it has none since. */
  ousted = false
  readonly #runtime: Runtime
  readonly #around: Surroundings
  /** The failures that were heard of before anything that is still on its way was asked. */
  #settledFailures = 0

  constructor(name: string, around: Surroundings) {
    const { observed, time, ids, shared, lingering } = around
    this.name = name
    this.#around = around
    this.gates = new Gates(time)
    const { clock, home, hints } = this.gates
    this.#runtime = new Runtime(new QueuedStore(home), {
      clock,
      ids,
      owner: { runtimeId: name, host: 'here', bootId: 'boot', pid: name.charCodeAt(0), processStart: '0' },
      dead: observed.processes.dead,
      lingering,
      watch: (onChange) => hints.watch(onChange),
      onAsk: (asked) => this.effects.judgeAsk(asked, this.phase === 'gone'),
      onCall: (called) => this.effects.judgeCall(called),
      onReport: (what, error) => this.#judgeReport(what, error),
    })
    const note = (what: () => string) => around.note(name, what)
    this.effects = new Effects(name, this.#runtime, observed, note)
    this.clients = new Clients(name, this.#runtime, observed, shared, note)
    this.clients.circumstances = () => ({ stopping: this.phase !== 'up', failures: this.failures, settledFailures: this.#settledFailures })
    note(() => 'boots')
  }

  /** Only what befell it may be reported. */
  #judgeReport(what: string, error: unknown): void {
    const { observed, note } = this.#around
    note(this.name, () => `reports: ${what}: ${error}`)
    const excused = error === null || this.failures > 0 || observed.state.deleted
    if (what.includes('internal fault') || !excused) observed.broke(`report: ${this.name} reports ${what}: ${error}`)
  }

  /** Lets something happen at a gate; true where others may hear of a commit by it. */
  pass(gate: Gate): boolean {
    const { observed, note } = this.#around
    const { home } = this.gates
    const before = observed.happenings.length
    if (gate !== 'apply') note(this.name, () => (gate === 'reply' ? 'hears from its store' : gate))
    if (gate === 'reply') {
      if (home.reply()) this.failures += 1
    } else if (gate !== 'apply') this.gates.pass(gate)
    else {
      const failed = this.broken || this.hiccups
      this.hiccups = false
      home.apply((text) => ({ reply: failed ? observed.refuse(this.name, text) : observed.perform(this.name, text), failed }))
    }
    const happened = observed.happenings.slice(before)
    if (happened.some(({ kind }) => kind === 'acquired')) {
      this.failuresAtLease = this.failures
      this.ousted = false
    }
    return happened.some(({ kind }) => kind === 'commit' || kind === 'deleted')
  }

  /** Everything that follows from what happened has happened. */
  settle(): void {
    if (this.gates.isQuiet) this.#settledFailures = this.failures
  }

  kill(known: boolean): void {
    const { observed, note } = this.#around
    note(this.name, () => `is killed${known ? ', and known to be dead' : ''}`)
    this.phase = 'gone'
    this.#runtime.kill()
    this.clients.die()
    if (known) observed.processes.dead.add(this.name)
  }

  shutdown(): void {
    const { observed } = this.#around
    this.phase = 'stopping'
    observed.processes.stopping.add(this.name)
    void this.clients.shutdown().then(() => {
      if (this.phase === 'gone') return
      this.phase = 'gone'
      observed.processes.dead.add(this.name)
      this.#judgeShutdown()
    })
  }

  #judgeShutdown(): void {
    const { observed } = this.#around
    const { state, held } = observed
    if (state.deleted || this.failures > this.failuresAtLease) return
    if (state.lease.holder === this.name) observed.broke(`RE-7: ${this.name} shut down and keeps its lease`)
    if (state.turn !== null && state.turn.epoch === state.lease.epoch && held.get(state.turn.epoch) === this.name)
      observed.broke(`RE-7: ${this.name} shut down and left ${state.turn.id} open`)
  }
}

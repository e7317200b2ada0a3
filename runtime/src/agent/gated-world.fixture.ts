// Owns runtimes on one store that a schedule drives move by move: no step of any of them happens but by a move, so that a schedule
// replays exactly. Knows how to bring them to rest.
import { countedIds } from '../base/ids.ts'
import { created } from '../store/store.fixture.ts'
import type { Shared } from './gated-clients.fixture.ts'
import { GatedRuntime, type Surroundings } from './gated-runtime.fixture.ts'
import type { Gate } from './gates.fixture.ts'
import { Observed, SESSION } from './observed.fixture.ts'
import { unclaimed } from './reference-answers.fixture.ts'
import { isDue, unfinished } from './reference-state.fixture.ts'
import type { ClientMove, Move, ProcessMove, Scenario, Step } from './schedules.fixture.ts'

/** Gates that open, and seconds that pass, until a world that does not come to rest is said to hang. */
const PROGRESS = 2_000
const ROUNDS = 200
const MOST = 3

export class World {
  readonly observed: Observed
  readonly trace: string[] = []
  /** Moves that had something to move. */
  moves = 0
  readonly #scenario: Scenario
  readonly #tracing: boolean
  readonly #booted: GatedRuntime[] = []
  readonly #around: Surroundings
  readonly #shared: Shared = { messages: [], asks: new Map(), claims: new Map() }
  readonly #time = { now: 1_700_000_000_000 }
  /** Answers that models gave since everything comes to rest. */
  #answers = 0
  /** Moved without letting its consequences happen yet. */
  #held: GatedRuntime | null = null

  constructor(scenario: Scenario, tracing: boolean) {
    this.#scenario = scenario
    this.#tracing = tracing
    const note = (by: string, what: () => string) => this.#note(by, what)
    this.observed = new Observed(note)
    const { lingering, recovery, maxSteps } = scenario
    this.#around = { observed: this.observed, time: this.#time, ids: countedIds(), shared: this.#shared, lingering, note }
    const request = created(SESSION, { config: { recovery, limits: { maxSteps }, permissions: 'allow-all', model: 'test/model' } })
    this.observed.perform('creator', JSON.stringify({ run: [{ kind: 'commit', request }] }))
    for (let i = 0; i < scenario.runtimes; i += 1) this.#boot()
  }

  #note(by: string, what: () => string): void {
    if (this.#tracing) this.trace.push(`${this.trace.length + 1}. ${by}: ${what()}`)
  }

  #boot(): GatedRuntime {
    const runtime = new GatedRuntime(String.fromCharCode(65 + this.#booted.length), this.#around)
    this.#booted.push(runtime)
    return runtime
  }

  get #running(): GatedRuntime[] {
    return this.#booted.filter(({ phase }) => phase !== 'gone')
  }

  get #moving(): GatedRuntime[] {
    return this.#running.filter(({ stalled }) => !stalled)
  }

  async step(step: Step): Promise<void> {
    if (await this.#move(step, step.hold)) this.moves += 1
  }

  /** False where there was nothing to move. */
  async #move(move: Move, hold: boolean): Promise<boolean> {
    switch (move.do) {
      case 'gate': {
        const open = this.#moving.flatMap((runtime) => runtime.gates.open().map((gate) => ({ runtime, gate })))
        const picked = open[move.pick % open.length]
        return picked !== undefined && this.#act(picked.runtime, hold, () => this.#pass(picked.runtime, picked.gate))
      }
      case 'flow':
        return this.#flow(move.who, move.rounds)
      case 'answer': {
        const [waiting] = this.#moving.flatMap((runtime) => runtime.effects.asked.map((asked) => ({ runtime, asked })))
        return waiting !== undefined && this.#act(waiting.runtime, hold, () => waiting.runtime.effects.answer(waiting.asked, move.how))
      }
      case 'finish': {
        const running = this.#moving.flatMap((runtime) => runtime.effects.called.map((called) => ({ runtime, called })))
        const picked = running[move.which % running.length]
        return picked !== undefined && this.#act(picked.runtime, hold, () => picked.runtime.effects.finish(picked.called, move.how))
      }
      case 'pass':
        this.#time.now += move.ms
        this.#note('time', () => `passes by ${move.ms} ms`)
        return true
      case 'kill':
      case 'boot':
      case 'crash':
      case 'shutdown':
      case 'stall':
      case 'wake':
      case 'break':
      case 'hiccup':
      case 'mend':
        await this.#drain()
        return this.#befall(move)
      default:
        return this.#ask(move, hold)
    }
  }

  async #flow(who: number, rounds: number): Promise<boolean> {
    const runtime = this.#moving[who % this.#moving.length]
    for (let round = 0; runtime !== undefined && round < rounds; round += 1) {
      const [gate] = runtime.gates.open()
      if (gate === undefined) break
      await this.#act(runtime, false, () => this.#pass(runtime, gate))
      this.moves += 1
    }
    return false
  }

  #ask(move: ClientMove, hold: boolean): Promise<boolean> {
    const up = this.#moving.filter(({ phase }) => phase === 'up')
    const runtime = up[move.who % up.length] ?? this.#boot()
    return this.#act(runtime, hold, () => runtime.clients.act(move))
  }

  async #befall(move: ProcessMove): Promise<boolean> {
    const running = this.#running
    if (move.do === 'boot') return running.length < MOST && this.#boot() !== undefined
    if (move.do === 'crash') {
      running[move.who % running.length]?.kill(true)
      return this.#collect(this.#boot())
    }
    const fits = {
      kill: () => true,
      shutdown: ({ phase }: GatedRuntime) => phase === 'up',
      stall: ({ stalled }: GatedRuntime) => !stalled,
      wake: ({ stalled }: GatedRuntime) => stalled,
      break: ({ broken }: GatedRuntime) => !broken,
      hiccup: ({ broken }: GatedRuntime) => !broken,
      mend: ({ broken }: GatedRuntime) => broken,
    }[move.do]
    const fitting = running.filter(fits)
    const runtime = fitting[move.who % fitting.length]
    if (runtime === undefined) return false
    if (move.do === 'kill') {
      runtime.kill(move.known)
      return true
    }
    this.#note(runtime.name, () => `${move.do}s`)
    if (move.do === 'shutdown') return this.#act(runtime, false, () => runtime.shutdown())
    if (move.do === 'stall' || move.do === 'wake') runtime.stalled = move.do === 'stall'
    else if (move.do === 'hiccup') runtime.hiccups = true
    else runtime.broken = move.do === 'break'
    return true
  }

  #collect(runtime: GatedRuntime): Promise<boolean> {
    return this.#act(runtime, false, () => runtime.clients.act({ do: 'collect', who: 0 }))
  }

  /** Lets one runtime do something, and what follows from it up to the next gates. */
  async #act(runtime: GatedRuntime, hold: boolean, what: () => void): Promise<true> {
    if (this.#held !== runtime) await this.#drain()
    runtime.gates.ticks.own()
    what()
    this.#held = runtime
    if (!hold) await this.#drain()
    return true
  }

  async #drain(): Promise<void> {
    const held = this.#held
    if (held === null) return
    this.#held = null
    await new Promise<void>((resolve) => setImmediate(resolve))
    held.settle()
  }

  #pass(runtime: GatedRuntime, gate: Gate): void {
    const { holder } = this.observed.state.lease
    const hints = runtime.pass(gate)
    for (const other of this.#running) {
      if (other === runtime) continue
      if (hints) other.gates.hints.hint()
      if (other.name === holder && this.observed.state.lease.holder !== holder) other.ousted = true
    }
  }

  /** Lets everything that can go on go on, answers what waits, and passes time, until the session is at rest. */
  async rest(): Promise<void> {
    const { observed } = this
    const { ending, deletes } = this.#scenario
    if (deletes) await this.#ask({ do: 'delete', who: 0 }, false)
    await this.#drain()
    this.#note('everything', () => 'comes to rest')
    for (const runtime of this.#running) {
      runtime.broken = false
      runtime.hiccups = false
      runtime.stalled = false
    }
    const left = this.#running.find(({ phase }) => phase === 'up') ?? this.#boot()
    if (ending !== 'all') for (const runtime of this.#running) if (runtime !== left) runtime.kill(ending === 'survivor')
    // What ends an activation waits for models and tools that take their time after an abort.
    const mayWait = this.#scenario.lingering ? ['delete', 'shutdown'] : []
    let [isSeenTo, waited] = [false, 0]
    for (let [round, quiet] = [0, 0]; round < ROUNDS && quiet < 4 && observed.broken.length === 0; round += 1) {
      isSeenTo = (await this.#seeTo()) || isSeenTo
      await this.#flush()
      // Whoever waits looks each second; the lease itself would last for ten.
      const { holder } = observed.state.lease
      waited = isSeenTo && isDue(observed.state) && observed.processes.dead.has(holder ?? '') ? waited + 1 : 0
      if (waited > 4) observed.broke(`RE-4: the lease of ${holder}, which is known to be dead, is waited for`)
      for (const { effects } of this.#running) observed.broke(...effects.deaf())
      if (round === 0) observed.broke(...this.#hanging(mayWait).map((what) => `IN-1: ${what} waits for the agent`))
      const answered = await this.#answerAll()
      quiet = answered || isDue(observed.state) || this.#hanging([]).length > 0 ? 0 : quiet + 1
      if (!answered) this.#time.now += 1_000
    }
    if (observed.broken.length > 0) return
    observed.broke(...this.#hanging([]).map((what) => `hangs: ${what}`), ...unfinished(observed.state))
    for (const { clients } of this.#running) observed.broke(...clients.behind())
  }

  #hanging(but: readonly string[]): string[] {
    return this.#running.flatMap(({ clients }) => clients.hanging(but))
  }

  /** What nobody answers for is left to clients that come and wait for it; true where one came to a runtime that nothing befell. */
  async #seeTo(): Promise<boolean> {
    const coming = this.#isAnsweredFor() ? [] : this.#running.filter(({ phase, clients }) => phase === 'up' && !clients.isCollecting)
    for (const runtime of coming) await this.#collect(runtime)
    return coming.some(({ ousted, failures }) => !ousted && failures === 0)
  }

  /** RE-3: somebody drives the session, or accepted an input that waits: whether a client comes or not, that one sees to it. */
  #isAnsweredFor(): boolean {
    const { state, happenings } = this.observed
    const up = this.#running.filter(({ phase }) => phase === 'up')
    const holder = this.#running.find(({ name }) => name === state.lease.holder)
    const hasFailed = holder !== undefined && holder.failures > holder.failuresAtLease
    // Where the store failed while the session was taken up, the lease is kept and nobody drives.
    if (hasFailed && !happenings.some((made) => made.kind === 'commit' && made.epoch === state.lease.epoch)) return false
    // A runtime whose lease was taken does not watch over what it accepted while it did not know.
    return up.some((runtime) => (runtime === holder && !hasFailed) || (!runtime.ousted && runtime.clients.answersFor(state)))
  }

  async #flush(): Promise<void> {
    for (let i = 0; i < PROGRESS; i += 1) {
      const runtime = this.#running.find(({ gates }) => gates.open().length > 0)
      const gate = runtime?.gates.open()[0]
      if (runtime === undefined || gate === undefined) return
      await this.#act(runtime, false, () => this.#pass(runtime, gate))
    }
    this.observed.broke('hangs: the gates never come to rest')
  }

  async #answerAll(): Promise<boolean> {
    let answered = false
    for (const runtime of this.#running) {
      for (const asked of runtime.effects.asked) {
        const how = this.#scenario.answers[this.#answers++] ?? 'text'
        answered = await this.#act(runtime, false, () => runtime.effects.answer(asked, how))
      }
      for (const called of runtime.effects.called) answered = await this.#act(runtime, false, () => runtime.effects.finish(called, 'ok'))
    }
    return answered
  }

  /** Every runtime that is left shuts down; then nothing of it is open, and the history as a whole agrees with what was told of it. */
  async close(): Promise<void> {
    const { observed } = this
    for (const runtime of this.#running) if (runtime.phase === 'up') await this.#act(runtime, false, () => runtime.shutdown())
    await this.#flush()
    observed.broke(...this.#hanging([]).map((what) => `hangs: ${what}`))
    const committed = observed.state.deleted ? [] : observed.facts
    if (JSON.stringify(observed.read()) !== JSON.stringify(committed))
      observed.broke('RE-1: the store holds other facts than were committed')
    observed.broke(...unclaimed(observed.state, this.#shared.claims))
  }
}

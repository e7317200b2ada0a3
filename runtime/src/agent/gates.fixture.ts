// Owns the places where a runtime of a test stands still until the schedule lets it go on: its store, its timers, its ticks, its hints.

import type { Clock } from '../base/clock.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import type { Home } from '../store/home.ts'
import type { Watch } from '../store/upkeep.ts'

interface Sent {
  text: string
  reply: string | null
  failed: boolean
  answered: Deferred<string>
}

/** A home whose engine gets each call, and whose caller each reply, when the schedule says so; both in the order of the calls. */
export class GatedHome implements Home {
  readonly #sent: Sent[] = []

  call(text: string): Promise<string> {
    const answered = deferred<string>()
    this.#sent.push({ text, reply: null, failed: false, answered })
    return answered.promise
  }

  async close(): Promise<void> {}

  get isBusy(): boolean {
    return this.#sent.length > 0
  }

  get canApply(): boolean {
    return this.#sent.some(({ reply }) => reply === null)
  }

  get canReply(): boolean {
    return this.#sent[0] !== undefined && this.#sent[0].reply !== null
  }

  /** Hands the next call to the engine, or lets it fail. */
  apply(perform: (text: string) => { reply: string; failed: boolean }): void {
    const next = this.#sent.find(({ reply }) => reply === null)
    if (next !== undefined) Object.assign(next, perform(next.text))
  }

  /** True where it is that the store failed. */
  reply(): boolean {
    const [first] = this.#sent
    if (first === undefined || first.reply === null) return false
    this.#sent.shift()
    first.answered.resolve(first.reply)
    return first.failed
  }
}

/** A view of the shared time whose timers fire one by one, at the earliest when they are due. */
export class GatedClock implements Clock {
  readonly #time: { now: number }
  #timers: { at: number; callback: () => void }[] = []

  constructor(time: { now: number }) {
    this.#time = time
  }

  now(): number {
    return this.#time.now
  }

  monotonic(): number {
    return this.#time.now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#time.now + ms, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  get isDue(): boolean {
    return this.#timers.some(({ at }) => at <= this.#time.now)
  }

  fire(): void {
    const [first] = this.#timers.filter(({ at }) => at <= this.#time.now).sort((a, b) => a.at - b.at)
    if (first === undefined) return
    this.#timers = this.#timers.filter((timer) => timer !== first)
    first.callback()
  }
}

/** Ends of ticks: each belongs to the runtime that acted last, since one acts at a time. */
export class GatedTicks {
  static #owner: GatedTicks | null = null
  readonly #waiting: (() => void)[] = []

  /** What the ends of ticks that are asked for from now on belong to. */
  own(): void {
    GatedTicks.#owner = this
  }

  /** In the place of `setImmediate` of node:timers/promises. */
  static endOfTick(): Promise<void> {
    const owner = GatedTicks.#owner
    if (owner === null) throw new Error('the end of a tick is waited for, and no runtime acts')
    return new Promise((resolve) => owner.#waiting.push(resolve))
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  end(): void {
    this.#waiting.shift()?.()
  }
}

/** Hints of commits, as late as the schedule wants them. */
export class GatedHints {
  #onChange: (() => void) | null = null
  #hinted = false

  watch(onChange: () => void): Watch {
    this.#onChange = onChange
    return {
      check: () => this.hint(),
      stop: () => {
        this.#onChange = null
      },
    }
  }

  hint(): void {
    this.#hinted = this.#onChange !== null
  }

  get isWaiting(): boolean {
    return this.#hinted && this.#onChange !== null
  }

  deliver(): void {
    this.#hinted = false
    this.#onChange?.()
  }
}

export type Gate = 'apply' | 'reply' | 'tick' | 'hint' | 'timer'

/** Everything of one runtime that waits for the schedule. */
export class Gates {
  readonly home = new GatedHome()
  readonly ticks = new GatedTicks()
  readonly hints = new GatedHints()
  readonly clock: GatedClock

  constructor(time: { now: number }) {
    this.clock = new GatedClock(time)
  }

  /** Nothing that its store was asked is on its way. */
  get isQuiet(): boolean {
    return !this.home.isBusy && !this.ticks.isWaiting
  }

  /** What could go on now, in the order in which an unhurried machine would take it. */
  open(): Gate[] {
    const { home, ticks, hints, clock } = this
    const gates: Gate[] = []
    if (home.canReply) gates.push('reply')
    if (ticks.isWaiting) gates.push('tick')
    if (home.canApply) gates.push('apply')
    if (hints.isWaiting) gates.push('hint')
    if (clock.isDue) gates.push('timer')
    return gates
  }

  pass(gate: Exclude<Gate, 'apply' | 'reply'>): void {
    if (gate === 'tick') this.ticks.end()
    else if (gate === 'hint') this.hints.deliver()
    else this.clock.fire()
  }
}

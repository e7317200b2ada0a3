// Owns a whole agent for tests: real log, inbox, driver and store; the model and one tool answer when the test says so.
import type { AnyFact, FactErrorOf } from '@quiesce/schema'
import * as z from 'zod/mini'
import { type Clock, ManualClock } from '../base/clock.ts'
import { countedIds, type Ids } from '../base/ids.ts'
import { EventLog } from '../log/event-log.ts'
import { noUsage } from '../log/facts.ts'
import { Refusal } from '../log/refusal.ts'
import type { ModelRequest, Outcome } from '../models/model.ts'
import { blindWatch, loopKeeper } from '../store/lease-keeper.ts'
import { openMemoryStore } from '../store/memory/memory-store.ts'
import type { Owner, Store } from '../store/store.ts'
import type { Watch } from '../store/upkeep.ts'
import type { Tool, ToolOutcome } from '../tools/tool.ts'
import type { AgentPorts, AnswerHooks } from './ports.ts'
import { Sessions } from './sessions.ts'

/** A model request that waits for the test. */
export interface Asked {
  request: ModelRequest
  hooks: AnswerHooks
  answer(outcome: Outcome): void
}

/** A tool call that waits for the test. */
export interface Called {
  tool: string
  input: unknown
  signal: AbortSignal
  finish(outcome: ToolOutcome): void
}

const usage = { inputTokens: 10, outputTokens: 2 }

export const says = (text: string): Outcome => ({ kind: 'answer', content: [{ type: 'text', text }], finish: 'stop', usage })
export const fails = (code: FactErrorOf['code'] = 'model_request'): Outcome => ({
  kind: 'failure',
  error: { code, message: 'it failed', retryable: false },
  usage: noUsage,
})
export const done = (content: string): ToolOutcome => ({ content, isError: false })

/** An answer that asks for tools. */
export function calls(asked: Asked, ...names: string[]): Outcome {
  const content = names.map((name) => ({ type: 'tool_use' as const, callId: asked.hooks.newCallId(), name, input: {} }))
  return { kind: 'answer', content, finish: 'tool_calls', usage }
}

/** What a runtime lives in. */
export interface Surroundings {
  clock: Clock
  ids: Ids
  owner: Owner
  dead: ReadonlySet<string>
  /** Told as each model request, tool call and report comes. */
  onAsk?(asked: Asked): void
  onCall?(called: Called): void
  onReport?(what: string, error: unknown): void
  /** Hints of other runtimes' commits; without it each check is one. */
  watch?(onChange: () => void): Watch
  /** What is aborted waits for the test all the same. */
  lingering?: boolean
}

/** One runtime process: what a crash takes along. */
export class Runtime {
  readonly sessions: Sessions
  readonly log: EventLog
  readonly asked: Asked[] = []
  readonly called: Called[] = []
  readonly reports: unknown[] = []
  readonly reaped: string[] = []
  /** Sessions whose kept outputs were removed. */
  readonly removed: string[] = []
  readonly ended: string[] = []
  readonly #around: Surroundings
  readonly #cut: { alive: boolean; failing: boolean }

  constructor(store: Store, around: Surroundings) {
    this.#around = around
    this.#cut = { alive: true, failing: false }
    const cutStore = severable(store, this.#cut)
    this.log = new EventLog(cutStore)
    const tools = ['work', 'more', 'solo'].map((name) => this.#tool(name, name !== 'solo'))
    const { clock, ids, owner, dead } = around
    const ports: AgentPorts = {
      log: this.log,
      store: cutStore,
      clock,
      ids,
      owner,
      keep: (events) => loopKeeper(cutStore, clock, events),
      watch: (onChange) => around.watch?.(onChange) ?? blindWatch(onChange),
      reap: (other, sessionId) => this.reaped.push(sessionId === null ? other.runtimeId : `${other.runtimeId} ${sessionId}`),
      endTools: (sessionId) => this.ended.push(sessionId),
      isDead: (other) => dead.has(other.runtimeId),
      models: {
        check: () => undefined,
        defaultModel: () => 'test/model',
        answer: (_, request, hooks) => this.#ask(request, hooks),
      },
      tools: {
        get: (name) => tools.find((tool) => tool.name === name),
        faults: () => [],
        enabled: () => tools,
        specs: () => [],
        validate: (_, input) => ({ ok: true, input }),
        decide: (permissions) => (permissions === 'read-only' ? { action: 'ask', reason: 'it asks' } : { action: 'allow' }),
        environment: () => ({}),
      },
      prompts: { system: async () => 'system' },
      outputs: { place: () => null, remove: async (sessionId) => void this.removed.push(sessionId) },
      report: (what, error) => {
        this.reports.push(error)
        around.onReport?.(what, error)
      },
    }
    this.sessions = new Sessions(ports)
  }

  #ask(request: ModelRequest, hooks: AnswerHooks): Promise<Outcome> {
    return new Promise((resolve) => {
      const asked: Asked = {
        request,
        hooks,
        answer: (outcome) => {
          this.asked.splice(this.asked.indexOf(asked), 1)
          resolve(outcome)
        },
      }
      this.asked.push(asked)
      this.#around.onAsk?.(asked)
      if (this.#around.lingering === true) return
      const aborted = () => {
        if (this.asked.includes(asked)) asked.answer({ kind: 'aborted', content: [{ type: 'text', text: 'half' }], usage: noUsage })
      }
      if (request.signal.aborted) aborted()
      request.signal.addEventListener('abort', aborted)
    })
  }

  #tool(name: string, parallel: boolean): Tool {
    return {
      name,
      description: name,
      access: 'execute',
      parallel,
      input: z.unknown(),
      summary: () => name,
      execute: (input, { signal }) =>
        new Promise((resolve) => {
          const called: Called = {
            tool: name,
            input,
            signal,
            finish: (outcome) => {
              this.called.splice(this.called.indexOf(called), 1)
              resolve(outcome)
            },
          }
          this.called.push(called)
          this.#around.onCall?.(called)
          if (this.#around.lingering !== true)
            signal.addEventListener('abort', () => {
              if (this.called.includes(called)) called.finish({ content: 'stopped', isError: true })
            })
        }),
    }
  }

  /** The store fails from now on, or is mended: nothing of what it refuses is kept (RE-6). */
  breakStore(broken: boolean): void {
    this.#cut.failing = broken
  }

  /** The process is gone: nothing that it says reaches the store, and nothing answers it any more. */
  kill(): void {
    this.#cut.alive = false
  }
}

export class Rig {
  readonly clock = new ManualClock()
  readonly store: Store = openMemoryStore()
  readonly #ids = countedIds()
  readonly #dead = new Set<string>()
  #boots = 0
  runtime: Runtime

  constructor() {
    this.runtime = this.boot()
  }

  boot(around: Pick<Surroundings, 'watch'> = {}): Runtime {
    this.#boots += 1
    const owner = { runtimeId: `runtime-${this.#boots}`, host: 'here', bootId: 'boot', pid: this.#boots, processStart: '0' }
    this.runtime = new Runtime(this.store, { clock: this.clock, ids: this.#ids, owner, dead: this.#dead, ...around })
    return this.runtime
  }

  /** Kills the runtime and boots another one on the same store, once what the dead one had handed over is committed. */
  async crash(): Promise<Runtime> {
    this.runtime.kill()
    this.#dead.add(`runtime-${this.#boots}`)
    await this.store.renew([], { now: 0, ttlMs: 0 })
    return this.boot()
  }

  /** From now on every runtime knows that the nth boot's process is gone. */
  declareDead(nth: number): void {
    this.#dead.add(`runtime-${nth}`)
  }

  async create(sessionId = 's', extra: Record<string, unknown> = {}): Promise<string> {
    const session = await this.runtime.sessions.create({ sessionId, cwd: process.cwd(), permissions: 'allow-all', ...extra })
    return session.sessionId
  }

  async facts(sessionId = 's'): Promise<AnyFact[]> {
    return this.store.read(sessionId, 0, 100_000)
  }

  /** The types of a session's facts, `agent/status` with its status. */
  async types(sessionId = 's'): Promise<string[]> {
    return (await this.facts(sessionId)).map((fact) => (fact.type === 'agent/status' ? fact.data.status : fact.type))
  }

  /** The next model request, once the driver has come to it. */
  async nextAsk(): Promise<Asked> {
    await quiet(() => this.runtime.asked.length > 0)
    const [asked] = this.runtime.asked
    if (asked === undefined) throw new Error('no model request came')
    return asked
  }

  async nextCall(): Promise<Called> {
    await quiet(() => this.runtime.called.length > 0)
    const [called] = this.runtime.called
    if (called === undefined) throw new Error('no tool call came')
    return called
  }

  /** Waits until the session is idle in the store. */
  async idle(sessionId = 's'): Promise<void> {
    let idle = false
    await quiet(
      () => idle,
      async () => {
        idle = (await this.store.load(sessionId))?.state.status === 'idle'
      },
    )
    if (!idle) throw new Error('the session does not become idle')
  }
}

/** Lets everything that can happen happen, until `until` holds; gives up after many rounds of the event loop. */
export async function quiet(until: () => boolean = () => false, look: () => Promise<void> = async () => undefined): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    await look()
    if (until()) return
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** A store behind a process that may die: from then on it neither takes nor answers anything. */
function severable(store: Store, cut: { alive: boolean; failing: boolean }): Store {
  const never = new Promise<never>(() => undefined)
  const full = () => Promise.reject(new Refusal('storage_unavailable', 'the disk is full'))
  return new Proxy(store, {
    get: (target, name: keyof Store) => {
      const method = target[name] as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => {
        if (cut.failing) return full()
        return cut.alive ? method.apply(target, args).then((answer) => (cut.alive ? answer : never)) : never
      }
    },
  })
}

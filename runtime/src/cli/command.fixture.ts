// Owns `quiesce run` over a whole runtime in memory, for tests: the model answers, signals come and readers go when the test says so.
import type { AnyFact } from '@quiesce/schema'
import { type Asked, Rig } from '../agent/agent-rig.fixture.ts'
import { deferred } from '../base/deferred.ts'
import { systemIds } from '../base/ids.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { RunOptions } from './program.ts'
import { runCommand } from './run.ts'
import type { Loss, Terminal } from './terminal.ts'

const defaults: RunOptions = {
  words: ['hello'],
  cwd: process.cwd(),
  permissions: 'allow-all',
  until: 'quiescent',
  wait: true,
  output: 'text',
  quiet: false,
  config: {},
}

/** One round of the event loop. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The command over a whole runtime in memory; the model answers when the test says so. */
export class Command {
  readonly rig = new Rig()
  printed = ''
  said: string[] = []
  flushed = 0
  closed = 0
  loss: Loss | null = null
  /** Signals are heard from now on. */
  readonly listening = deferred()
  #signal: () => void = () => undefined
  #lost: () => void = () => undefined

  start(options: Partial<RunOptions> = {}, extra: { tty?: boolean; stdin?: AsyncIterable<string> } = {}): Promise<number> {
    const { rig } = this
    const { sessions, log } = rig.runtime
    const tty = extra.tty ?? false
    const terminal: Terminal = {
      print: (text) => {
        this.printed += text
      },
      say: (line) => this.said.push(line),
      stdoutIsTty: tty,
      stderrIsTty: tty,
      onLost: (listener) => {
        this.#lost = listener
      },
      flush: async () => {
        this.flushed += 1
        return this.loss
      },
    }
    return runCommand(
      { ...defaults, ...options },
      {
        open: async () => ({
          sessions,
          subscriptions: (sink) => new Subscriptions({ log, store: rig.store, sessions, newId: () => 'sub' }, sink),
          models: () => [],
          tools: async () => [],
          close: async () => {
            this.closed += 1
            await sessions.shutdown()
          },
        }),
        clock: rig.clock,
        newId: systemIds,
        terminal,
        onSignal: (listener) => {
          this.#signal = listener
          this.listening.resolve()
          return () => {
            this.#signal = () => undefined
          }
        },
        ...(extra.stdin !== undefined && { stdin: extra.stdin }),
      },
    )
  }

  /** The next model request, however long the command takes to come to it. */
  async asked(): Promise<Asked> {
    while (this.rig.runtime.asked.length === 0) await turn()
    return this.rig.nextAsk()
  }

  signal(): void {
    this.#signal()
  }

  /** From now on stdout takes nothing. */
  lose(loss: Loss): void {
    this.loss = loss
    this.#lost()
  }

  /** The session that the command created. */
  async session(): Promise<string> {
    const { sessions } = await this.rig.store.list({ limit: 10 })
    const [first] = sessions
    if (first === undefined) throw new Error('no session was created')
    return first.sessionId
  }

  async facts(): Promise<AnyFact[]> {
    return this.rig.facts(await this.session())
  }
}

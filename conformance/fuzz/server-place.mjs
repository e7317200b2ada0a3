// Owns a whole runtime in memory for the fuzzer: the real connection over the memory store, its agent answered by the scripted model.

import { PassThrough } from 'node:stream'
import { Rig } from '../../runtime/src/agent/agent-rig.fixture.ts'
import { brokenRules } from '../../runtime/src/log/log-rules.fixture.ts'
import { ModelRegistry } from '../../runtime/src/models/registry.ts'
import { serveStdio } from '../../runtime/src/server/stdio.ts'
import { Subscriptions } from '../../runtime/src/subscriptions/subscriptions.ts'

/** Rounds of the event loop that a runtime may take to come to rest. */
const patience = 100_000
const round = () => new Promise((resolve) => setImmediate(resolve))

export const limits = { maxFrameBytes: 16 * 1024, maxInFlight: 100, maxPendingMessages: 1000 }

export class ServerPlace {
  #rig = new Rig()
  #models = new ModelRegistry({ default: 'scripted/demo', env: {}, named: {} }, { clock: this.#rig.clock, random: () => 0 })
  #lastSubscription = 0
  /** What the runtime called a fault of its own, in words. */
  faults = []
  stopped = false

  constructor() {
    const { asked, called, reports } = this.#rig.runtime
    reports.push = (error) => this.faults.push(String(error.stack))
    asked.push = (request) => {
      const length = Array.prototype.push.call(asked, request)
      void this.#answer(request)
      return length
    }
    called.push = (call) => {
      const length = Array.prototype.push.call(called, call)
      queueMicrotask(() => called.includes(call) && call.finish({ content: 'done', isError: false }))
      return length
    }
  }

  async #answer(request) {
    const { asked } = this.#rig.runtime
    const outcome = await this.#models.answer('scripted/demo', request.request, request.hooks)
    if (asked.includes(request)) request.answer(outcome)
  }

  /** A connection; `take` gets what it writes. */
  connect(take) {
    const { sessions, log } = this.#rig.runtime
    const input = new PassThrough()
    let leaving = false
    const server = serveStdio(
      {
        input,
        write: (text, done) => {
          take(text)
          done()
        },
      },
      {
        sessions,
        subscriptions: (sink) =>
          new Subscriptions({ log, store: this.#rig.store, sessions, newId: () => `own-${++this.#lastSubscription}` }, sink),
        limits,
        models: (provider) => this.#models.list(provider),
        tools: async () => [{ name: 'work', description: 'works', parameters: {} }],
        now: () => this.#rig.clock.now(),
        report: (what, error) => this.faults.push(`${what}: ${error.stack}`),
        // The end of one connection is not the end of the runtime; `shutdown` is.
        stop: async () => {
          if (leaving) return
          this.stopped = true
          await sessions.shutdown()
        },
        clock: this.#rig.clock,
      },
    )
    return {
      write: (chunk) => input.write(chunk),
      /** Resolves once the connection has ended. */
      end: () => {
        leaving = true
        input.end()
        return server.ended
      },
      ended: server.ended,
    }
  }

  /**
   * Waits until nobody works; then tells what is left running, logs that break a rule, and what is not let go of. Deletes every
   * session meanwhile.
   */
  async lookOver() {
    const { sessions, log } = this.#rig.runtime
    const problems = this.#followers()
    for (const sessionId of await this.#ids()) {
      for (let left = patience; (await this.#isBusy(sessionId)) && left > 0; left -= 1) await round()
      if (await this.#isBusy(sessionId)) problems.push(`${sessionId} is left running`)
      problems.push(...brokenRules(await this.#facts(sessionId), !this.stopped).map((rule) => `${sessionId}: ${rule}`))
      if (!this.stopped) await sessions.delete(sessionId)
    }
    problems.push(...log.followedIds().map((sessionId) => `${sessionId} is followed still, though it is deleted`))
    if (this.stopped) await this.close()
    return problems
  }

  /** Nobody is connected: a session may be followed by who drives it, and by nobody else. */
  #followers() {
    const { log } = this.#rig.runtime
    const most = (sessionId) => log.followed(sessionId)?.followers.size ?? 0
    return log.followedIds().flatMap((sessionId) => (most(sessionId) > 1 ? [`${sessionId} has ${most(sessionId)} followers`] : []))
  }

  async close() {
    await this.#rig.runtime.sessions.shutdown()
    await this.#rig.store.close()
  }

  async #isBusy(sessionId) {
    const session = await this.#rig.store.load(sessionId)
    return !this.stopped && session !== null && session.state.status === 'running'
  }

  async #ids() {
    const ids = []
    let cursor
    do {
      const page = await this.#rig.store.list({ limit: 1000, ...(cursor !== undefined && { cursor }) })
      ids.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return ids
  }

  /** Every fact of a log; one read gives no more than a few megabytes. */
  async #facts(sessionId) {
    const facts = []
    for (;;) {
      const more = await this.#rig.store.read(sessionId, facts.length, 1_000_000)
      if (more.length === 0) return facts
      facts.push(...more)
    }
  }
}

// Owns real servers for the fuzzer: the bundled executable over its stdin and stdout, and its store once it has ended.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokenRules } from '../../runtime/src/log/log-rules.fixture.ts'
import { openSqliteStore } from '../../runtime/src/store/sqlite/sqlite-store.ts'
import { clientCase } from './client-cases.mjs'
import { runCase } from './server-run.mjs'

/** What a server says of itself. */
export const limits = { maxFrameBytes: 32 * 1024 * 1024, maxInFlight: 1024 }
/** How long the frames are that test a limit; the server's own is tested elsewhere. */
const longFrame = 16 * 1024
/** A server may need so many times what it needed at first, and so many megabytes more. */
const mostMemory = (first) => first * 2 + 128

export class ServerProcess {
  problems = []
  #process
  #store
  #memoryAtFirst

  /** @param {import('../../runtime/src/cli/executable.fixture.ts').Executable} executable @param {string} name of its store */
  constructor(executable, name) {
    this.#store = join(executable.home, `${name}.db`)
    this.#process = executable.start(['serve', '--stdio'], { QUIESCE_MODEL: 'scripted/demo', QUIESCE_STORE: `sqlite:${this.#store}` })
  }

  /** The one connection that it has. */
  connect(take) {
    const { child, ended } = this.#process
    child.stdout.on('data', take)
    child.stdout.once('data', () => {
      this.#memoryAtFirst = this.#memory()
    })
    return {
      write: (chunk) => child.stdin.write(chunk),
      end: () => {
        this.#lookAtMemory()
        child.stdin.end()
        return ended.then((end) => this.#ended(end))
      },
      ended,
    }
  }

  #ended({ status, signal, stderr }) {
    if (status !== 0) this.problems.push(`it ended with ${signal ?? status}: ${stderr.slice(-2000)}`)
    if (/fault|unhandled|failed/i.test(stderr)) this.problems.push(`its log says: ${stderr.slice(-2000)}`)
  }

  /** Megabytes, or undefined where the system doesn't say; it may have ended. */
  #memory() {
    try {
      const status = readFileSync(`/proc/${this.#process.child.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
    } catch {
      return undefined
    }
  }

  #lookAtMemory() {
    const now = this.#memory()
    if (now !== undefined && this.#memoryAtFirst !== undefined && now > mostMemory(this.#memoryAtFirst))
      this.problems.push(`it takes ${now.toFixed(0)} MB, and took ${this.#memoryAtFirst.toFixed(0)} at first`)
  }

  /** Which rules the logs break that it left. */
  async brokenLogs() {
    const store = await openSqliteStore({ path: this.#store, home: 'inline' })
    const problems = []
    let cursor
    do {
      const page = await store.list({ limit: 1000, ...(cursor !== undefined && { cursor }) })
      for (const { sessionId } of page.sessions) {
        const facts = []
        for (let more = [null]; more.length > 0; ) {
          more = await store.read(sessionId, facts.length, 100_000)
          facts.push(...more)
        }
        problems.push(...brokenRules(facts, false).map((rule) => `${sessionId}: ${rule}`))
      }
      cursor = page.nextCursor
    } while (cursor !== undefined)
    await store.close()
    return problems
  }
}

/**
 * Many cases on one connection: only the first greets with success.
 * @returns {{ parts: Buffer[], cuts: { at: number, rounds: number }[] }}
 */
export function longCase(seed, first, frames, folder) {
  const parts = []
  for (let index = first; parts.length < frames; index += 1)
    parts.push(...clientCase(seed, index, { folder, maxFrameBytes: longFrame, mayStop: false, firstId: 1000 * (index - first) }).parts)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const cuts = Array.from({ length: 200 }, (_, i) => ({ at: Math.floor((length * (i + 1)) / 201), rounds: i % 3 }))
  return { parts, cuts }
}

/** What goes wrong with a server that is sent all that. */
export async function problemsOfProcess(server, sent, tally) {
  const { problems } = await runCase(server, sent, limits, tally)
  return [...problems, ...server.problems, ...(await server.brokenLogs())]
}

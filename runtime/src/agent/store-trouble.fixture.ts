// Owns runtimes on one real SQLite file for tests of a store in trouble: held writes, other programs' SQL, a clock that is moved.
import { join } from 'node:path'
import { expect } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { countedIds } from '../base/ids.ts'
import type { ClosedReason } from '../log/event-log.ts'
import { Engine } from '../store/engine.ts'
import { type Home, inlineHome } from '../store/home.ts'
import { QueuedStore } from '../store/queued-store.ts'
import { connect } from '../store/sqlite/connection.ts'
import { openDatabase } from '../store/sqlite/driver.ts'
import { SqliteRows } from '../store/sqlite/sqlite-rows.ts'
import { type Asked, quiet, Runtime } from './agent-rig.fixture.ts'
import { WATCH_MS } from './elsewhere.ts'

/** A home whose writes wait while the test holds them. */
class HeldHome implements Home {
  readonly #home: Home
  #gate: Deferred | null = null
  #arrived: Deferred = deferred()

  constructor(home: Home) {
    this.#home = home
  }

  hold(): void {
    this.#gate = deferred()
    this.#arrived = deferred()
  }

  get waits(): Promise<void> {
    return this.#arrived.promise
  }

  release(): void {
    this.#gate?.resolve()
    this.#gate = null
  }

  async call(text: string): Promise<string> {
    if (this.#gate !== null && text.startsWith('{"run"')) {
      this.#arrived.resolve()
      await this.#gate.promise
    }
    return this.#home.call(text)
  }

  close(): Promise<void> {
    return this.#home.close()
  }
}

/** Runtimes on one real SQLite file, each with a connection of its own. */
export class TroubledRig {
  readonly clock = new ManualClock()
  readonly #folder: string
  readonly path: string
  readonly closed: { sessionId: string; reason: ClosedReason; error: Error | null }[] = []
  readonly #ids = countedIds()
  readonly #booted: { runtime: Runtime; store: QueuedStore; home: HeldHome }[] = []

  constructor(folder: string, name: string) {
    this.#folder = folder
    this.path = join(folder, `${name}.db`)
  }

  boot(lockMs = 0) {
    const database = connect(this.path)
    database.prepare('PRAGMA busy_timeout = 0').all()
    const home = new HeldHome(inlineHome(new Engine(new SqliteRows(database, this.path))))
    const store = new QueuedStore(home, { lockMs, releaseMs: lockMs, pauseMs: 0 })
    const n = this.#booted.length + 1
    const owner = { runtimeId: `r${n}`, host: 'here', bootId: 'boot', pid: n, processStart: '0' }
    const runtime = new Runtime(store, { clock: this.clock, ids: this.#ids, owner, dead: new Set() })
    this.#booted.push({ runtime, store, home })
    return { runtime, store, home }
  }

  /** What a disk or another program does to the file. */
  other(sql: string): void {
    const database = openDatabase(this.path)
    database.exec(sql)
    database.close()
  }

  async close(): Promise<void> {
    for (const { runtime, store, home } of this.#booted) {
      home.release()
      await runtime.sessions.shutdown()
      await store.close()
    }
  }

  /** Sessions that each say when they are closed. */
  async create(runtime: Runtime, ...sessionIds: string[]): Promise<void> {
    for (const sessionId of sessionIds) {
      await runtime.sessions.create({ sessionId, cwd: this.#folder, permissions: 'allow-all' })
      await this.follow(runtime, sessionId)
    }
  }

  async follow(runtime: Runtime, sessionId: string): Promise<void> {
    await runtime.log.follow(sessionId, {
      facts: () => undefined,
      closed: (reason, error) => this.closed.push({ sessionId, reason, error }),
    })
  }

  /** Time passes in steps: what each timer begins is done before the next one. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += WATCH_MS) {
      this.clock.advance(WATCH_MS)
      await quiet()
    }
  }
}

export async function asked(runtime: Runtime, sessions = 1): Promise<Asked> {
  await quiet(() => runtime.asked.length >= sessions)
  const last = runtime.asked[sessions - 1]
  if (last === undefined) throw new Error('no model request came')
  return last
}

export const typesOf = async (store: QueuedStore, sessionId: string) => (await store.read(sessionId, 0, 1000)).map(({ type }) => type)

export async function idle(store: QueuedStore, sessionId: string): Promise<void> {
  let status = ''
  await quiet(
    () => status === 'idle',
    async () => {
      status = (await store.load(sessionId))?.state.status ?? ''
    },
  )
  expect(status).toBe('idle')
}

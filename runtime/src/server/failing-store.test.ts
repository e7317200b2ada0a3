import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { quiet, Runtime, says } from '../agent/agent-rig.fixture.ts'
import { ManualClock } from '../base/clock.ts'
import { countedIds } from '../base/ids.ts'
import { Engine } from '../store/engine.ts'
import { inlineHome } from '../store/home.ts'
import { QueuedStore } from '../store/queued-store.ts'
import { connect } from '../store/sqlite/connection.ts'
import { type Database, openDatabase } from '../store/sqlite/driver.ts'
import { SqliteRows } from '../store/sqlite/sqlite-rows.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Connection } from './connection.ts'
import { Frames } from './frames.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'quiesce-failing-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A client of a whole runtime on a real SQLite file. */
class Client {
  readonly path: string
  readonly database: Database
  readonly store: QueuedStore
  readonly runtime: Runtime
  readonly frames = new Frames()
  readonly #connection: Connection
  #lastId = 0

  constructor(name: string) {
    this.path = join(folder, `${name}.db`)
    this.database = connect(this.path)
    this.database.prepare('PRAGMA busy_timeout = 0').all()
    this.store = new QueuedStore(inlineHome(new Engine(new SqliteRows(this.database, this.path))), { lockMs: 0 })
    const owner = { runtimeId: 'r', host: 'here', bootId: 'boot', pid: 1, processStart: '0' }
    this.runtime = new Runtime(this.store, { clock: new ManualClock(), ids: countedIds(), owner, dead: new Set() })
    const { sessions, log } = this.runtime
    let subscriptions = 0
    const ports = {
      sessions,
      subscriptions: (sink: ConstructorParameters<typeof Subscriptions>[1]) =>
        new Subscriptions({ log, store: this.store, sessions, newId: () => `sub-${++subscriptions}` }, sink),
      limits: { maxFrameBytes: 1_000_000, maxInFlight: 100, maxPendingMessages: 10 },
      models: () => [],
      tools: async () => [],
      now: () => 1,
      report: () => undefined,
      stop: () => sessions.shutdown(),
    }
    const output = { send: (frame: string) => this.frames.push(frame), drained: async () => undefined, ready: () => true }
    this.#connection = new Connection(ports, output, () => undefined)
  }

  call(method: string, params: unknown) {
    const id = ++this.#lastId
    this.#connection.peer.frame(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return this.frames.answer(id)
  }

  async open(): Promise<void> {
    await this.call('initialize', { protocol: { min: 1, max: 1 }, client: { name: 'test', version: '0' } })
    await this.call('session/create', { sessionId: 's', cwd: folder })
    await this.call('session/subscribe', { sessionId: 's', subscriptionId: 'before' })
  }

  async asked() {
    const { asked } = this.runtime
    await quiet(() => asked.length > 0)
    const [first] = asked
    if (first === undefined) throw new Error('no model request came')
    return first
  }

  prompt(messageId: string) {
    return this.call('session/prompt', { sessionId: 's', messageId, content: large })
  }

  async types(): Promise<string[]> {
    return (await this.store.read('s', 0, 1000)).map(({ type }) => type)
  }

  async close(): Promise<void> {
    await this.runtime.sessions.shutdown()
    await this.store.close()
  }
}

/** More than a page: it doesn't fit where there is no room. */
const large = 'x'.repeat(20_000)

interface Failure {
  what: string
  code?: string
  message: RegExp
  /** Begins it; the answer ends it. */
  begin(client: Client): () => void
}

const failures: Failure[] = [
  {
    what: 'locked by another process for longer than is waited',
    message: /^the store .*\.db failed: another process has held its lock for too long/,
    begin: ({ path }) => {
      const other = openDatabase(path)
      other.exec('BEGIN IMMEDIATE')
      return () => {
        other.exec('ROLLBACK')
        other.close()
      }
    },
  },
  {
    what: 'on a full disk',
    message: /^the store .*\.db failed: the disk is full: make room/,
    begin: ({ database }) => {
      const pages = database.prepare<{ page_count: number }>('PRAGMA page_count').get()?.page_count ?? 0
      database.prepare(`PRAGMA max_page_count = ${pages}`).all()
      return () => void database.prepare(`PRAGMA max_page_count = ${pages + 1000}`).all()
    },
  },
  {
    what: 'that a newer runtime brought up',
    code: 'store_version',
    message: /^the store .*\.db was brought to version 2 by another runtime, and is open here with version 1: update quiesce, then start/,
    begin: ({ path }) => {
      const setVersion = (version: number) => {
        const other = openDatabase(path)
        other.exec(`PRAGMA user_version = ${version}`)
        other.close()
      }
      setVersion(2)
      return () => setVersion(1)
    },
  },
  {
    what: 'whose log was deleted, and is put back',
    message: /^the store .*\.db failed: .*\.db-wal was deleted while it was open, so nothing more is written to it\. Put the file back/,
    begin: ({ path }) => {
      renameSync(`${path}-wal`, `${path}.away`)
      return () => renameSync(`${path}.away`, `${path}-wal`)
    },
  },
  {
    what: 'whose file was moved away',
    message: /^the store .*\.db failed: .*\.db was deleted while it was open/,
    begin: ({ path }) => {
      renameSync(path, `${path}.away`)
      return () => renameSync(`${path}.away`, path)
    },
  },
]

describe.each(failures)('RE-6: a store $what', ({ what, message, begin, code = 'storage_unavailable' }) => {
  const refused = { message: expect.stringMatching(message), data: { code, retryable: code === 'storage_unavailable' } }

  it('refuses a prompt without a receipt, and takes the same one afterwards', async () => {
    const client = new Client(`prompt ${what}`)
    await client.open()
    const end = begin(client)
    for (const _ of [1, 2]) expect((await client.prompt('m')).error).toMatchObject(refused)
    end()
    expect(await client.types()).toEqual(['session/create'])
    expect((await client.prompt('m')).result).toEqual({ messageId: 'm' })
    ;(await client.asked()).answer(says('an answer'))
    await client.frames.until(({ params }) => params?.status === 'idle')
    expect(await client.types()).toContain('turn/end')
    await client.close()
  })

  it('stops a running agent and tells its subscribers; afterwards the session goes on, with no half of a step', async () => {
    const client = new Client(`run ${what}`)
    await client.open()
    await client.prompt('m')
    const asked = await client.asked()
    const end = begin(client)
    asked.answer(says(large))
    const closed = await client.frames.until(({ method }) => method === 'session.closed')
    expect(closed.params).toMatchObject({ subscriptionId: 'before', sessionId: 's', reason: 'storage', error: refused })
    end()
    const before = await client.types()
    expect(before.at(-1)).toBe('step/start')
    await client.call('session/subscribe', { sessionId: 's', subscriptionId: 'after', activate: true })
    ;(await client.asked()).answer(says('again'))
    await client.frames.until(({ params }) => params?.subscriptionId === 'after' && params.status === 'idle')
    const after = (await client.types()).slice(before.length)
    expect(after.slice(0, 2)).toEqual(['turn/end', 'turn/start'])
    expect(after.filter((type) => type === 'assistant/message')).toHaveLength(1)
    await client.close()
  })
})

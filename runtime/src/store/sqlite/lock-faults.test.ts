import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../../base/deferred.ts'
import { Engine } from '../engine.ts'
import { StoreFault } from '../fault.ts'
import type { Home } from '../home.ts'
import { QueuedStore } from '../queued-store.ts'
import { created, receipt, scratch } from '../store.fixture.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
import { Children } from './child.fixture.ts'
import { connect, keepLog } from './connection.ts'
import { openDatabase } from './driver.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { openInlineHome, openSqliteStore } from './sqlite-store.ts'
import { openWorkerHome } from './worker-home.ts'

const directory = scratch()
const children = new Children()
let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleStore()
})
afterEach(() => children.end())
afterAll(() => {
  bundle.remove()
  directory.remove()
})
let path: string
let count = 0
beforeEach(() => {
  count += 1
  path = directory.path(`${count}.db`)
})

const homes: Record<string, () => Promise<Home>> = {
  inline: async () => openInlineHome(path),
  worker: () => openWorkerHome(path, bundle.entry('store-worker')),
}

/** A store with a session `s`; `locked` resolves when it first finds its lock taken. */
async function opened(home: string, lockMs?: number) {
  const open = homes[home]
  if (open === undefined) throw new Error(`no home ${home}`)
  const store = new QueuedStore(await open(), { tellMs: 0, ...(lockMs !== undefined && { lockMs }) })
  await store.commit(created('s'))
  const locked = deferred<string>()
  store.onLocked = (message) => locked.resolve(message)
  return { store, locked: locked.promise, commit: (id: string) => store.commit({ sessionId: 's', facts: [receipt(id)] }) }
}

describe.each(['inline', 'worker'])('a lock that another process holds, home %s (RE-6)', (home) => {
  it('is waited for, and held by none who reads; then all is committed in its order', async () => {
    const { store, locked, commit } = await opened(home)
    const other = children.start(bundle, [path, 'hold'])
    expect(await other.says()).toBe('held')
    const order: string[] = []
    const committing = ['a', 'b'].map((id) => commit(id).then(() => order.push(id)))
    expect(await locked).toMatch(
      /^another process has had the lock of the store .*\.db for \d+ s, and it is waited for, up to 45 s in all: end the/,
    )
    expect((await store.read('s', 0, 9)).map(({ type }) => type)).toEqual(['session/create'])
    committing.push(commit('c').then(() => order.push('c')))
    other.tell()
    expect(await other.says()).toBe('free')
    await Promise.all(committing)
    expect(order).toEqual(['a', 'b', 'c'])
    expect((await store.load('s'))?.state.pending.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    await store.close()
  })

  it('is free once its holder was killed', async () => {
    const { store, locked, commit } = await opened(home)
    const other = children.start(bundle, [path, 'hold'])
    await other.says()
    const committing = commit('a')
    await locked
    other.kill()
    expect(await committing).toMatchObject({ ok: true, first: 2 })
    await store.close()
  })

  it('is given up at its limit: nothing is kept, and the same can be tried again', async () => {
    const { store, commit } = await opened(home, 0)
    const other = children.start(bundle, [path, 'hold'])
    await other.says()
    const refused = {
      code: 'storage_unavailable',
      message: `the store ${path} failed: another process has held its lock for too long: end the backup or the database tool that has it open, then try again (SQLite: database is locked)`,
      details: { path, sqliteCode: 5 },
    }
    await expect(commit('a')).rejects.toMatchObject(refused)
    await expect(store.check()).resolves.toEqual([refused.message])
    other.tell()
    await other.says()
    expect(await store.receiptSeq('s', 'a')).toBeNull()
    expect(await commit('a')).toMatchObject({ ok: true, first: 2 })
    await store.close()
  })

  it('keeps nobody from opening the store', async () => {
    const { store } = await opened(home)
    const other = children.start(bundle, [path, 'hold'])
    await other.says()
    const second = await openSqliteStore({ path, home: 'inline' })
    expect((await second.load('s'))?.state.seq).toBe(1)
    await Promise.all([second.close(), store.close()])
  })
})

describe('a store that another process has to itself', () => {
  /** A new file: to make a store of it, its lock is needed. */
  async function held() {
    const other = children.start(bundle, [path, 'hold'])
    expect(await other.says()).toBe('held')
    return other
  }

  it('is opened once it is free', async () => {
    const other = await held()
    const told: string[] = []
    const waited = deferred()
    const onLocked = (message: string) => {
      told.push(message)
      waited.resolve()
    }
    const opening = openSqliteStore({ path, home: 'inline', onLocked })
    await waited.promise
    other.tell()
    expect(await other.says()).toBe('free')
    await (await opening).close()
    expect(told).toEqual([
      expect.stringMatching(/^another process has had the lock of the store .*\.db for \d+ s, and it is waited for, up to 45 s/),
    ])
  })

  it('is told apart from one that fails, also by the thread that was to open it', async () => {
    await held()
    const message = expect.stringMatching(/^the store .*\.db failed: another process has held its lock for too long/)
    const opening = openWorkerHome(path, bundle.entry('store-worker'))
    await expect(opening).rejects.toMatchObject({ data: { code: 'storage_unavailable', retry: 'later', message, details: { path } } })
  })
})

describe('a lock of this process', () => {
  it('is not given up when another connection of it is opened: who closes the store elsewhere is not the last', async () => {
    const { store, commit } = await opened('inline')
    // What keeps leases for a store on the event loop opens it once more, in a thread.
    const second = connect(path)
    const other = children.start(bundle, [path, 'visit'])
    expect(await other.says()).toBe(true)
    expect(await commit('a')).toMatchObject({ ok: true, first: 2 })
    second.close()
    await store.close()
  })

  it('is not waited for in the midst of a batch that was parted: what comes behind it keeps its place', async () => {
    const database = connect(path)
    database.prepare('PRAGMA busy_timeout = 0').all()
    const rows = new SqliteRows(database, path)
    const engine = new Engine(rows)
    const commit = (id: string) => ({ kind: 'commit', request: { sessionId: 's', facts: [receipt(id)] } }) as const
    engine.run([{ kind: 'commit', request: created('s') }])
    // The first attempt meets what one of them can not do; then each has a transaction of its own, and another process one between them.
    const other = openDatabase(path)
    let begun = 0
    const transaction = rows.transaction.bind(rows)
    rows.transaction = (work) => {
      begun += 1
      if (begun === 1) database.exec('PRAGMA max_page_count = 1')
      if (begun === 2) database.exec('PRAGMA max_page_count = 1000')
      if (begun === 3) other.exec('BEGIN IMMEDIATE')
      return transaction(work)
    }
    const large = { kind: 'commit', request: { sessionId: 's', facts: [receipt('large', 'followup', 'x'.repeat(100_000))] } } as const
    const answers = engine.run([large, commit('a'), commit('b')])
    expect(answers).toMatchObject([{ value: { ok: true } }, { value: { retry: 'later' } }, { value: { retry: 'later' } }])
    expect(begun).toBe(3)
    other.exec('ROLLBACK')
    expect(engine.run([commit('a'), commit('b')])).toMatchObject([{ value: { first: 3 } }, { value: { first: 4 } }])
    other.close()
    database.close()
  })
})

describe('many processes at one store', () => {
  it('let one have its turn where SQLite refuses the others without a wait: the switch of a new store to its log', () => {
    const done: string[] = []
    const outcomes = [
      new StoreFault('storage_unavailable', 'locked', {}, 'later'),
      new StoreFault('storage_unavailable', 'locked', {}, 'later'),
    ]
    const refusing = {
      exec: (sql: string) => done.push(sql),
      prepare: (sql: string) => ({
        all: () => {
          done.push(sql)
          const [outcome] = outcomes.splice(0, 1)
          if (outcome !== undefined) throw outcome
          return []
        },
        run: () => undefined,
        get: () => undefined,
      }),
    }
    keepLog(refusing)
    const turn = ['PRAGMA journal_mode = WAL', 'BEGIN IMMEDIATE', 'ROLLBACK']
    expect(done).toEqual([...turn, ...turn, 'PRAGMA journal_mode = WAL'])
    outcomes.push(new StoreFault('storage_unavailable', 'the disk is full', {}, 'apart'))
    expect(() => keepLog(refusing)).toThrow('the disk is full')
  })

  it('open a new one at the same moment: one makes it, and all have it', async () => {
    const rivals = Array.from({ length: 20 }, () => children.start(bundle, [directory.path(`${count}/new/store.db`), 'open']))
    for (const rival of rivals) expect(await rival.says()).toBe('ready')
    for (const rival of rivals) rival.tell()
    expect(await Promise.all(rivals.map((rival) => rival.outcome()))).toEqual(rivals.map(() => 'done'))
    const store = await openSqliteStore({ path: directory.path(`${count}/new/store.db`), home: 'inline' })
    expect((await store.list({ limit: 100 })).sessions).toHaveLength(20)
    await store.close()
  }, 60_000)

  it('open and close it all the time: no one finds it locked, half made, or its log gone', async () => {
    const rounds = 12
    const rivals = Array.from({ length: 8 }, () => children.start(bundle, [path, 'open', `${rounds}`]))
    for (const rival of rivals) await rival.says()
    for (const rival of rivals) rival.tell()
    expect(await Promise.all(rivals.map((rival) => rival.outcome()))).toEqual(rivals.map(() => 'done'))
    const store = await openSqliteStore({ path, home: 'inline' })
    expect((await store.list({ limit: 1000 })).sessions).toHaveLength(8 * rounds)
    expect(await store.check()).toEqual([])
    await store.close()
  }, 60_000)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { Engine } from '../engine.ts'
import { QueuedStore } from '../queued-store.ts'
import { created, ownerOf, receipt, scratch } from '../store.fixture.ts'
import type { Keeper, KeeperEvents } from '../upkeep.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
import { connect } from './connection.ts'
import { LateKeeper } from './late-keeper.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { openWorkerHome } from './worker-home.ts'

const directory = scratch()
let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleStore()
})
afterAll(() => {
  bundle.remove()
  directory.remove()
})

const times = { leaseMs: 400, renewMs: 80 }
const stillness = new Int32Array(new SharedArrayBuffer(4))
/** The event loop of this thread stands still. */
const standStill = (ms: number) => Atomics.wait(stillness, 0, 0, ms)

/** What a keeper tells, one after the other. */
class Told implements KeeperEvents {
  readonly #waiting: Deferred<unknown>[] = []
  readonly all: unknown[] = []
  renewed(seqs: readonly (readonly [string, number | null])[]): void {
    this.#tell(seqs)
  }
  failed(error: Error): void {
    this.#tell(error)
  }
  expiring(afterMs: number, groups: number): void {
    this.#tell({ expiring: afterMs >= times.leaseMs - times.renewMs, groups })
  }
  next(): Promise<unknown> {
    const waiting = deferred<unknown>()
    this.#waiting.push(waiting)
    return waiting.promise
  }
  #tell(what: unknown): void {
    this.all.push(what)
    this.#waiting.shift()?.resolve(what)
  }
}

async function threadKeeper(path: string) {
  const home = await openWorkerHome(path, bundle.entry('store-worker'), times)
  const store = new QueuedStore(home)
  await store.commit({ ...created('s'), acquire: { owner: ownerOf('ann'), now: Date.now(), ttlMs: times.leaseMs } })
  const told = new Told()
  const keeper = home.upkeep.keep(told)
  keeper.hold({ sessionId: 's', epoch: 1 })
  return { store, told, keeper }
}

describe('leases kept by the thread of the store (RE-5)', () => {
  it('are renewed with their current seq, and told as lost once another took them', async () => {
    const { store, told, keeper } = await threadKeeper(directory.path('kept.db'))
    expect(await told.next()).toEqual([['s', 1]])
    await store.commit({ sessionId: 's', facts: [receipt('m')] })
    while (JSON.stringify(await told.next()) !== '[["s",2]]');
    expect(await store.acquire('s', ownerOf('bob'), { now: Date.now(), ttlMs: 1000 })).toMatchObject({ refused: 'held' })
    expect(await store.acquire('s', ownerOf('bob'), { now: Date.now(), ttlMs: 1000, replacing: 1 })).toMatchObject({ ok: true })
    while (JSON.stringify(await told.next()) !== '[["s",null]]');
    keeper.stop()
    await store.close()
  })

  it('end with what their tools run when the event loop stands still, while it does', async () => {
    const path = directory.path('stalled.db')
    const { store, told, keeper } = await threadKeeper(path)
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    const exited = once(child, 'exit')
    keeper.guard([child.pid ?? 0])
    await told.next()
    standStill(times.leaseMs * 2)
    // Another runtime takes the session in the meantime: nobody has renewed it.
    const other = await openSqliteStore({ path, home: 'inline' })
    expect(await other.acquire('s', ownerOf('bob'), { now: Date.now(), ttlMs: 60_000 })).toMatchObject({ ok: true })
    expect(await exited).toEqual([null, 'SIGKILL'])
    while (JSON.stringify(await told.next()) !== '[["s",null]]');
    expect(told.all).toContainEqual({ expiring: true, groups: 1 })
    expect(await store.commit({ sessionId: 's', lease: { sessionId: 's', epoch: 1 }, facts: [] })).toMatchObject({ refused: 'fenced' })
    await Promise.all([store.close(), other.close()])
  })
})

describe('leases of an engine on the calling thread', () => {
  const owner = { owner: ownerOf('ann'), now: 0, ttlMs: 1 }

  it('get a thread once they last', async () => {
    const path = directory.path('late.db')
    const store = new QueuedStore({ call: async (text) => engine.call(text), close: async () => engine.close() })
    const engine = new Engine(new SqliteRows(connect(path), path))
    await store.commit({ ...created('s'), acquire: owner })
    const told = new Told()
    const noThread = (): Keeper => {
      throw new Error('there was a thread')
    }
    const keeper = new LateKeeper(() => openWorkerHome(path, bundle.entry('store-worker'), times), told, noThread)
    keeper.hold({ sessionId: 's', epoch: 1 })
    expect(await told.next()).toEqual([['s', 1]])
    standStill(times.leaseMs * 2)
    expect(await store.acquire('s', ownerOf('bob'), { now: Date.now(), ttlMs: 60_000 })).toMatchObject({ ok: true })
    while (JSON.stringify(await told.next()) !== '[["s",null]]');
    await keeper.close()
    await store.close()
  })

  it('are kept on the loop where no thread can be had, and that is told', async () => {
    const told = new Told()
    const held: unknown[] = []
    const began = deferred()
    const instead: Keeper = {
      hold: (lease) => {
        held.push(lease)
        began.resolve()
      },
      drop: () => undefined,
      guard: (groups) => held.push(groups),
      stop: () => held.push('stop'),
    }
    const keeper = new LateKeeper(
      () => Promise.reject(new Error('no thread')),
      told,
      () => instead,
    )
    keeper.guard([41])
    keeper.hold({ sessionId: 's', epoch: 1 })
    await began.promise
    expect(told.all).toMatchObject([{ message: 'no thread' }])
    await keeper.close()
    expect(held).toEqual([[41], { sessionId: 's', epoch: 1 }, 'stop'])
  })
})

describe.each(['inline', 'worker'] as const)("hints of another process's commits (RE-3), home %s", (home) => {
  it('come for those alone', async () => {
    const path = directory.path(`hints-${home}.db`)
    const store = new QueuedStore(
      home === 'worker'
        ? await openWorkerHome(path, bundle.entry('store-worker'))
        : (await import('./sqlite-store.ts')).openInlineHome(path),
    )
    await store.commit(created('s'))
    let hinted = deferred()
    let hints = 0
    const watch = store.watch(() => {
      hints += 1
      hinted.resolve()
    })
    for (let i = 0; i < 50; i += 1) await store.commit({ sessionId: 's', facts: [receipt(`own${i}`)] })
    watch.check()
    await store.seqs([])
    expect(hints).toBe(0)
    const other = await openSqliteStore({ path, home: 'inline' })
    for (let i = 0; i < 5; i += 1) {
      await other.commit({ sessionId: 's', facts: [receipt(`other${i}`)] })
      await hinted.promise
      hinted = deferred()
      expect(await store.seqs(['s', 'nobody'])).toEqual([52 + i, null])
    }
    watch.stop()
    const before = hints
    await other.commit({ sessionId: 's', facts: [receipt('last')] })
    await store.seqs([])
    expect(hints).toBe(before)
    await Promise.all([store.close(), other.close()])
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { applyFact, emptyState } from '../../log/session-state.ts'
import { Engine } from '../engine.ts'
import type { Home } from '../home.ts'
import { QueuedStore } from '../queued-store.ts'
import { created, ownerOf, receipt, scratch } from '../store.fixture.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
import { connect } from './connection.ts'
import { SqliteRows } from './sqlite-rows.ts'
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
let path: string
let count = 0
beforeEach(() => {
  count += 1
  path = directory.path(`${count}.db`)
})

/** A real store whose disk takes a write when the test says so, and tells how many there were. */
class SlowDisk implements Home {
  readonly #engine: Engine
  readonly #rows: SqliteRows
  #gate: Deferred = deferred()
  #held = false
  #arrived: Deferred = deferred()

  constructor() {
    const database = connect(path)
    this.#rows = new SqliteRows(database, path)
    this.#engine = new Engine(this.#rows)
  }

  get transactions(): number {
    return this.#rows.stats.commits
  }

  /** From now on every write waits. */
  hold(): void {
    this.#gate = deferred()
    this.#arrived = deferred()
    this.#held = true
  }

  /** Once a write waits. */
  get waits(): Promise<void> {
    return this.#arrived.promise
  }

  release(): void {
    this.#held = false
    this.#gate.resolve()
  }

  async call(text: string): Promise<string> {
    if (this.#held && text.startsWith('{"run"')) {
      this.#arrived.resolve()
      await this.#gate.promise
    }
    return this.#engine.call(text)
  }

  async close(): Promise<void> {
    this.#engine.close()
  }
}

async function slow() {
  const disk = new SlowDisk()
  const store = new QueuedStore(disk)
  const ids = Array.from({ length: 10 }, (_, i) => `s${i}`)
  await Promise.all(ids.map((id) => store.commit(created(id))))
  return { disk, store, ids }
}

describe('a disk that is slow (RE-6)', () => {
  it('loses and reorders nothing: what comes during a write rides the next one, however much that is', async () => {
    const { disk, store, ids } = await slow()
    const before = disk.transactions
    disk.hold()
    const order: string[] = []
    const prompt = (id: string, n: number) =>
      store.commit({ sessionId: id, when: [{ kind: 'new-message', messageId: `m${n}` }], facts: [receipt(`m${n}`)] }).then((result) => {
        order.push(`${id} ${n} ${result.ok ? result.last : result.refused}`)
      })
    const prompts = ids.map((id) => prompt(id, 0))
    await disk.waits
    for (let n = 1; n <= 20; n += 1) prompts.push(...ids.map((id) => prompt(id, n)))
    // The same again, as a client does that had no answer.
    prompts.push(prompt('s0', 1))
    disk.release()
    await Promise.all(prompts)
    expect(disk.transactions - before).toBe(2)
    const each = (n: number) => ids.map((id) => `${id} ${n} ${n + 2}`)
    expect(order).toEqual([...Array.from({ length: 21 }, (_, n) => each(n)).flat(), 's0 1 known-message'])
    for (const id of ids) {
      const facts = await store.read(id, 0, 100)
      expect(facts.map(({ seq }) => seq)).toEqual(Array.from({ length: 22 }, (_, i) => i + 1))
      expect((await store.load(id))?.state).toEqual(facts.reduce(applyFact, emptyState))
    }
    await store.close()
  })

  it('is read meanwhile, as it was before', async () => {
    const { disk, store } = await slow()
    disk.hold()
    const writing = store.commit({ sessionId: 's0', facts: [receipt('m')] })
    await disk.waits
    expect(await store.read('s0', 0, 9)).toHaveLength(1)
    expect((await store.list({ limit: 100 })).sessions).toHaveLength(10)
    disk.release()
    expect(await writing).toMatchObject({ first: 2 })
    await store.close()
  })

  it('renews leases with the write that comes first, and a lease that another took meanwhile fences what waited', async () => {
    const { disk, store } = await slow()
    const taken = await store.acquire('s0', ownerOf('ann'), { now: 0, ttlMs: 10_000 })
    const lease = taken.ok ? taken.lease : null
    if (lease === null) throw new Error('the lease is free')
    disk.hold()
    const waiting = store.commit({ sessionId: 's1', facts: [receipt('m')] })
    await disk.waits
    const renewed = store.renew([lease], { now: 9_000, ttlMs: 10_000 })
    const mine = store.commit({ sessionId: 's0', lease, facts: [receipt('mine')] })
    disk.release()
    expect(await renewed).toEqual([1])
    expect(await mine).toMatchObject({ ok: true, first: 2 })
    await waiting

    disk.hold()
    const held = store.commit({ sessionId: 's1', facts: [receipt('n')] })
    await disk.waits
    const late = [
      store.renew([lease], { now: 20_000, ttlMs: 10_000 }),
      store.commit({ sessionId: 's0', lease, facts: [receipt('too late')] }),
      store.commit({ sessionId: 's0', facts: [receipt('an input')] }),
    ]
    const other = new QueuedStore(new SlowDisk())
    expect(await other.acquire('s0', ownerOf('bob'), { now: 19_500, ttlMs: 10_000 })).toMatchObject({ ok: true, lease: { epoch: 2 } })
    disk.release()
    expect(await Promise.all(late)).toMatchObject([[null], { refused: 'fenced' }, { ok: true, first: 3 }])
    await held
    await Promise.all([store.close(), other.close()])
  })

  it('is closed once everything is written', async () => {
    const { disk, store } = await slow()
    disk.hold()
    const writing = store.commit({ sessionId: 's0', facts: [receipt('m')] })
    await disk.waits
    const closing = store.close()
    disk.release()
    expect(await writing).toMatchObject({ ok: true })
    await closing
    const again = new QueuedStore(new SlowDisk())
    expect(await again.receiptSeq('s0', 'm')).toBe(2)
    await again.close()
  })
})

describe('a history that takes long to read', () => {
  it('lets commits in behind each of its pages', async () => {
    const store = new QueuedStore(await openWorkerHome(path, bundle.entry('store-worker')))
    await store.commit(created('s'))
    const text = 'x'.repeat(1_000_000)
    for (let i = 0; i < 12; i += 1) await store.commit({ sessionId: 's', facts: [receipt(`m${i}`, 'followup', text)] })
    const order: string[] = []
    let after = 0
    const readOn = async (): Promise<void> => {
      const page = await store.read('s', after, 1000)
      if (page.length === 0) return
      order.push(`page of ${page.length}`)
      after += page.length
      await readOn()
    }
    const reading = readOn()
    await store.commit({ sessionId: 's', facts: [receipt('a')] })
    order.push('a')
    await reading
    // 4 MiB of characters at a time; what was committed meanwhile is at their end.
    expect(order).toEqual(['page of 5', 'a', 'page of 4', 'page of 5'])
    await store.close()
  })
})

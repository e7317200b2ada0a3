import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fact } from '../log/facts.ts'
import { applyConfig, applyFact, emptyState } from '../log/session-state.ts'
import { openMemoryStore } from './memory/memory-store.ts'
import { QueuedStore } from './queued-store.ts'
import { type Bundle, bundleStore } from './sqlite/bundle.fixture.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'
import { openWorkerHome } from './sqlite/worker-home.ts'
import { configOf, created, hardTexts, ownerOf, receipt, scratch } from './store.fixture.ts'

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleStore()
})
afterAll(() => bundle.remove())

const kinds = {
  memory: async () => openMemoryStore(),
  'sqlite inline': (path: string) => openSqliteStore({ path, home: 'inline' }),
  'sqlite worker': async (path: string) => new QueuedStore(await openWorkerHome(path, bundle.entry('store-worker'))),
}

const ann = ownerOf('ann')
const bob = ownerOf('bob')
const at = { now: 1000, ttlMs: 500 }

describe.each(Object.entries(kinds))('store: %s', (kind, open) => {
  const directory = scratch()
  let store: QueuedStore
  let opened = 0
  beforeEach(async () => {
    opened += 1
    store = await open(directory.path(`${opened}.db`))
  })
  afterEach(() => store.close())
  afterAll(() => directory.remove())

  const everything = async (sessionId: string) => [await store.load(sessionId), await store.read(sessionId, 0, 1000)]

  it('creates a session once, and numbers its facts from 1 without a gap', async () => {
    expect(await store.commit(created('s'))).toEqual({ ok: true, first: 1, last: 1, foreign: [] })
    expect(await store.commit({ sessionId: 's', facts: [receipt('m1'), receipt('m2')] })).toEqual({
      ok: true,
      first: 2,
      last: 3,
      foreign: [],
    })
    expect(await store.commit(created('s'))).toEqual({ ok: false, refused: 'exists' })
    const facts = await store.read('s', 0, 10)
    expect(facts.map(({ sessionId, seq, type, time }) => [sessionId, seq, type, time])).toEqual([
      ['s', 1, 'session/create', 1000],
      ['s', 2, 'inbox/receipt', 2000],
      ['s', 3, 'inbox/receipt', 2000],
    ])
    expect(facts[2]?.data).toEqual(receipt('m2').data)
  })

  it('loads what the log folds to, and null where there is nothing', async () => {
    await store.commit(created('s', { config: { title: 'one' } }))
    await store.commit({ sessionId: 's', facts: [receipt('m'), fact('session/update', 3000, { change: { title: 'two' } })] })
    const facts = await store.read('s', 0, 10)
    expect(await store.load('s')).toEqual({
      sessionId: 's',
      config: facts.reduce(applyConfig, null),
      state: facts.reduce(applyFact, emptyState),
    })
    expect((await store.load('s'))?.config).toEqual(configOf({ title: 'two' }))
    expect([await store.load('t'), await store.read('t', 0, 9), await store.receiptSeq('t', 'm')]).toEqual([null, [], null])
  })

  it('refuses a session that is not there', async () => {
    expect(await store.commit({ sessionId: 's', facts: [receipt('m')] })).toEqual({ ok: false, refused: 'not-found' })
    expect(await store.commit({ sessionId: 's', lease: { sessionId: 's', epoch: 1 }, facts: [] })).toEqual({
      ok: false,
      refused: 'not-found',
    })
    expect(await store.acquire('s', ann, at)).toEqual({ ok: false, refused: 'not-found' })
    expect(await store.renew([{ sessionId: 's', epoch: 1 }], at)).toEqual([null])
    expect(await store.delete('s')).toBe(false)
    await store.release({ sessionId: 's', epoch: 1 })
  })

  it('commits only where every condition holds, and writes nothing else', async () => {
    await store.commit(created('s'))
    await store.commit({ sessionId: 's', facts: [receipt('m', 'steer')] })
    const before = await everything('s')
    const unmet = [
      { kind: 'idle' },
      { kind: 'no-waking' },
      { kind: 'no-steer' },
      { kind: 'pending', messageIds: ['m', 'other'] },
      { kind: 'turn-live', turnId: 't' },
      { kind: 'room', below: 1 },
      { kind: 'seq', is: 1 },
    ] as const
    for (const condition of unmet) {
      const when = [{ kind: 'new-message', messageId: 'x' } as const, { kind: 'seq', is: 2 } as const, condition]
      const result = await store.commit({ sessionId: 's', when, facts: [receipt('x')], acquire: { owner: ann, ...at } })
      expect(result).toEqual({ ok: false, refused: 'unmet', condition, state: (await store.load('s'))?.state, foreign: [] })
    }
    expect(await everything('s')).toEqual(before)
    expect(await store.receiptSeq('s', 'x')).toBeNull()
    expect(await store.acquire('s', bob, at)).toMatchObject({ ok: true, lease: { epoch: 1 } })
    const when = [{ kind: 'pending', messageIds: ['m'] } as const, { kind: 'room', below: 2 } as const, { kind: 'seq', is: 2 } as const]
    expect(await store.commit({ sessionId: 's', when, facts: [receipt('x')] })).toMatchObject({ ok: true, first: 3 })
  })

  it('answers the first receipt of a known message before anything about its state (IN-2, IN-3)', async () => {
    await store.commit(created('s'))
    await store.commit({ sessionId: 's', facts: [receipt('m0'), receipt('m')] })
    await store.acquire('s', ann, at)
    const known = { ok: false, refused: 'known-message', seq: 3 }
    const when = [{ kind: 'idle' } as const, { kind: 'new-message', messageId: 'm' } as const]
    expect(await store.commit({ sessionId: 's', when, facts: [], acquire: { owner: bob, ...at } })).toEqual(known)
    expect(await store.commit({ sessionId: 's', facts: [receipt('n'), receipt('m', 'steer')] })).toEqual(known)
    expect([await store.receiptSeq('s', 'm'), await store.receiptSeq('s', 'n')]).toEqual([3, null])
    await store.commit({ sessionId: 's', facts: [fact('inbox/cancelled', 1, { messageId: 'm', reason: 'withdrawn' })] })
    expect(await store.receiptSeq('s', 'm')).toBe(3)
    await store.commit(created('t'))
    expect(await store.receiptSeq('t', 'm')).toBeNull()
  })

  it('brings the facts that came in between', async () => {
    await store.commit(created('s'))
    await store.commit({ sessionId: 's', facts: [receipt('a'), receipt('b')] })
    const foreign = await store.read('s', 1, 10)
    expect(await store.commit({ sessionId: 's', seen: 1, facts: [receipt('c')] })).toEqual({ ok: true, first: 4, last: 4, foreign })
    expect(await store.commit({ sessionId: 's', seen: 3, when: [{ kind: 'idle' }], facts: [] })).toMatchObject({
      refused: 'unmet',
      foreign: [{ seq: 4, data: receipt('c').data }],
    })
    expect(await store.commit({ sessionId: 's', seen: 4, facts: [] })).toEqual({ ok: true, first: 5, last: 4, foreign: [] })
  })

  it('gives the lease to one owner at a time, with an epoch that grows (RE-4)', async () => {
    await store.commit(created('s'))
    expect(await store.acquire('s', ann, at)).toEqual({ ok: true, lease: { sessionId: 's', epoch: 1 }, session: await store.load('s') })
    const held = { ok: false, refused: 'held', holder: { owner: ann, epoch: 1, expiresAt: 1500 } }
    expect(await store.acquire('s', bob, { ...at, now: 1499 })).toEqual(held)
    expect(await store.acquire('s', ann, at)).toEqual(held)
    expect(await store.acquire('s', bob, { ...at, replacing: 2 })).toEqual(held)
    expect(await store.commit({ sessionId: 's', acquire: { owner: bob, ...at }, facts: [receipt('m')] })).toEqual(held)
    expect(await store.acquire('s', bob, { now: 1500, ttlMs: 500 })).toMatchObject({ ok: true, lease: { epoch: 2 } })
    expect(await store.acquire('s', ann, { now: 1600, ttlMs: 500, replacing: 2 })).toMatchObject({ ok: true, lease: { epoch: 3 } })
    await store.release({ sessionId: 's', epoch: 3 })
    const taken = await store.commit({ sessionId: 's', acquire: { owner: bob, ...at }, facts: [receipt('m')] })
    expect(taken).toMatchObject({ ok: true, first: 2, lease: { sessionId: 's', epoch: 4 } })
    expect(await store.acquire('s', ann, at)).toMatchObject({ holder: { owner: bob, epoch: 4, expiresAt: 1500 } })
    expect(await store.commit({ ...created('t'), acquire: { owner: bob, ...at } })).toMatchObject({
      ok: true,
      lease: { sessionId: 't', epoch: 1 },
    })
  })

  it('fences every commit of a stale lease, and lets inputs in without one (RE-4)', async () => {
    await store.commit({ ...created('s'), acquire: { owner: ann, ...at } })
    const first = { sessionId: 's', epoch: 1 }
    expect(await store.commit({ sessionId: 's', lease: first, facts: [receipt('a')] })).toMatchObject({ ok: true })
    await store.acquire('s', bob, { now: 2000, ttlMs: 500 })
    const before = await everything('s')
    const fenced = { ok: false, refused: 'fenced' }
    expect(await store.commit({ sessionId: 's', lease: first, facts: [receipt('b')] })).toEqual(fenced)
    expect(await store.commit({ sessionId: 's', lease: { sessionId: 'other', epoch: 2 }, facts: [] })).toEqual(fenced)
    expect(await store.renew([first, { sessionId: 's', epoch: 2 }], { now: 2100, ttlMs: 900 })).toEqual([null, 2])
    await store.release(first)
    expect(await everything('s')).toEqual(before)
    expect(await store.acquire('s', ann, { now: 2999, ttlMs: 1 })).toMatchObject({ holder: { epoch: 2, expiresAt: 3000 } })
    expect(await store.commit({ sessionId: 's', facts: [receipt('b')] })).toMatchObject({ ok: true })
    await store.release({ sessionId: 's', epoch: 2 })
    expect(await store.commit({ sessionId: 's', lease: { sessionId: 's', epoch: 2 }, facts: [] })).toEqual(fenced)
    expect(await store.renew([{ sessionId: 's', epoch: 2 }], at)).toEqual([null])
  })

  it('keeps an expired lease for its holder while nobody takes it', async () => {
    await store.commit({ ...created('s'), acquire: { owner: ann, ...at } })
    const lease = { sessionId: 's', epoch: 1 }
    expect(await store.renew([lease], { now: 9000, ttlMs: 500 })).toEqual([1])
    expect(await store.commit({ sessionId: 's', lease, facts: [receipt('a')] })).toMatchObject({ ok: true })
    expect(await store.acquire('s', bob, { now: 9499, ttlMs: 1 })).toMatchObject({ refused: 'held' })
  })

  it('deletes for ever, and keeps the id used (DEL-1)', async () => {
    await store.commit({ ...created('s', { parentId: 'p' }), acquire: { owner: ann, ...at } })
    await store.commit({ sessionId: 's', facts: [receipt('m')] })
    expect(await store.delete('s')).toBe(true)
    expect(await store.delete('s')).toBe(false)
    expect([await everything('s'), await store.receiptSeq('s', 'm')]).toEqual([[null, []], null])
    expect(await store.list({ limit: 9 })).toEqual({ sessions: [] })
    const lease = { sessionId: 's', epoch: 1 }
    expect(await store.commit({ sessionId: 's', lease, facts: [receipt('n')] })).toEqual({ ok: false, refused: 'fenced' })
    expect(await store.commit({ sessionId: 's', facts: [receipt('n')] })).toEqual({ ok: false, refused: 'not-found' })
    expect(await store.commit(created('s'))).toEqual({ ok: false, refused: 'exists' })
    expect(await store.acquire('s', bob, { now: 9000, ttlMs: 1 })).toEqual({ ok: false, refused: 'not-found' })
    expect(await store.renew([lease], at)).toEqual([null])
    await store.release(lease)
  })

  it('lists newest first, page by page, and stays stable while sessions come and go', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await store.commit(created(id))
    const first = await store.list({ limit: 2 })
    expect(first.sessions).toEqual([await store.load('e'), await store.load('d')])
    await store.commit(created('f'))
    await store.delete('d')
    await store.delete('c')
    const second = await store.list({ limit: 2, cursor: first.nextCursor ?? '' })
    expect(second.sessions.map(({ sessionId }) => sessionId)).toEqual(['b', 'a'])
    expect(second.nextCursor).toBeUndefined()
  })

  it('lists by parent, status and metadata', async () => {
    await store.commit(created('p', { config: { metadata: { a: 1, b: { x: [1, null], y: 'z' } } } }))
    await store.commit(created('c1', { parentId: 'p', config: { metadata: { a: 1 } } }))
    await store.commit(created('c2', { parentId: 'p', config: { metadata: { a: '1' } } }))
    await store.commit({ sessionId: 'c1', facts: [fact('agent/status', 5, { status: 'running', activityId: 'x' })] })
    const ids = async (query: Omit<Parameters<typeof store.list>[0], 'limit'>) =>
      (await store.list({ limit: 9, ...query })).sessions.map(({ sessionId }) => sessionId)
    expect(await ids({ parentId: 'p' })).toEqual(['c2', 'c1'])
    expect(await ids({ status: 'running' })).toEqual(['c1'])
    expect(await ids({ parentId: 'p', status: 'idle' })).toEqual(['c2'])
    expect(await ids({ metadata: { a: 1 } })).toEqual(['c1', 'p'])
    expect(await ids({ metadata: { b: { y: 'z', x: [1, null] }, a: 1 } })).toEqual(['p'])
    expect(await ids({ metadata: { b: { y: 'z' } } })).toEqual([])
    expect(await ids({ metadata: { missing: null } })).toEqual([])
    await store.commit({ sessionId: 'c2', facts: [fact('session/update', 6, { change: { metadata: { a: 1 } } })] })
    expect(await ids({ metadata: { a: 1 }, parentId: 'p' })).toEqual(['c2', 'c1'])
  })

  it('pages through sessions that are sparse under a filter', async () => {
    const rare = [200, 199, 190, 90, 3]
    const create = (n: number) => store.commit(created(`s${n}`, { config: { metadata: { rare: rare.includes(n) } } }))
    await Promise.all(Array.from({ length: 200 }, (_, i) => create(i + 1)))
    const seen: string[][] = []
    let cursor: string | undefined
    do {
      const page = await store.list({ limit: 2, metadata: { rare: true }, ...(cursor !== undefined && { cursor }) })
      seen.push(page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual([['s200', 's199'], ['s190', 's90'], ['s3']])
  })

  it('refuses a cursor that it never gave', async () => {
    await store.commit(created('a'))
    await store.commit(created('b'))
    const good = (await store.list({ limit: 1 })).nextCursor ?? ''
    const forged = [2 ** 40, 0, -1, '1x'].map((n) => Buffer.from(`before ${n}`).toString('base64url'))
    for (const cursor of ['', 'x', `${good}=`, ` ${good}`, ...forged])
      await expect(store.list({ limit: 1, cursor }), cursor).rejects.toMatchObject({ name: 'Refusal', code: 'invalid_cursor' })
  })

  it('reads behind a seq, in order, at most so many, and less where facts are very large', async () => {
    await store.commit(created('s'))
    await store.commit({ sessionId: 's', facts: Array.from({ length: 300 }, (_, i) => receipt(`m${i}`)) })
    expect((await store.read('s', 100, 150)).map(({ seq }) => seq)).toEqual(Array.from({ length: 150 }, (_, i) => 101 + i))
    expect((await store.read('s', 299, 150)).map(({ seq }) => seq)).toEqual([300, 301])
    expect([await store.read('s', 301, 5), await store.read('s', 999, 5), await store.read('s', 0, 0)]).toEqual([[], [], []])
    await store.commit(created('large'))
    const [half, whole] = ['x'.repeat(2.5 * 2 ** 20), 'x'.repeat(4 * 2 ** 20)]
    await store.commit({ sessionId: 'large', facts: [half, half, whole].map((text, i) => receipt(`m${i}`, 'inject', text)) })
    expect((await store.read('large', 0, 9)).map(({ seq }) => seq)).toEqual([1, 2])
    expect((await store.read('large', 2, 9)).map(({ seq }) => seq)).toEqual([3])
    expect((await store.read('large', 3, 9)).map(({ seq }) => seq)).toEqual([4])
  })

  it('keeps every text as it is: NUL, lone surrogates, separators, in ids too', async () => {
    for (const text of hardTexts) {
      const metadata = { [text]: { [text]: text } }
      const owner = { ...ann, host: text }
      const request = created(text, { parentId: text, config: { title: text, metadata } })
      expect(await store.commit({ ...request, acquire: { owner, ...at } }), JSON.stringify(text)).toMatchObject({ ok: true })
      expect(await store.commit({ sessionId: text, facts: [receipt(text, 'inject', text)] })).toMatchObject({ ok: true, first: 2 })
      expect((await store.load(text))?.config).toEqual(configOf({ title: text, metadata }))
      expect(await store.load(text)).toMatchObject({ sessionId: text, state: { parentId: text, pending: [{ id: text }] } })
      expect(await store.read(text, 1, 1)).toEqual([{ sessionId: text, seq: 2, ...receipt(text, 'inject', text) }])
      expect(await store.receiptSeq(text, text)).toBe(2)
      expect(await store.acquire(text, bob, at)).toMatchObject({ holder: { owner } })
      expect((await store.list({ limit: 9, parentId: text, metadata })).sessions.map(({ sessionId }) => sessionId)).toEqual([text])
    }
    expect((await store.list({ limit: 99 })).sessions.map(({ sessionId }) => sessionId)).toEqual([...hardTexts].reverse())
  })

  it('answers a burst in the order of the calls, in one transaction, each on its own merits', async () => {
    await store.commit(created('s'))
    const { commits } = await store.stats()
    const answered: number[] = []
    const burst = [
      store.commit({ sessionId: 's', facts: [receipt('a')] }),
      store.commit({ sessionId: 's', when: [{ kind: 'idle' }], facts: [receipt('b')] }),
      store.commit({ sessionId: 's', facts: [receipt('twice'), receipt('twice')] }),
      store.commit({ sessionId: 's', facts: [receipt('c')] }),
      store.acquire('s', ann, at),
      store.acquire('s', bob, at),
      store.commit({ sessionId: 't', when: [{ kind: 'absent' }], facts: [receipt('d')] }),
      store.delete('s'),
      store.delete('s'),
    ]
    const settled = async (answer: Promise<unknown>, i: number) => {
      const result = await answer.catch((error: unknown) => error)
      answered.push(i)
      return result
    }
    const results = await Promise.all(burst.map(settled))
    expect(results).toMatchObject([
      { first: 2 },
      { refused: 'unmet' },
      { code: 'internal', message: expect.stringContaining('"twice"') },
      { first: 3 },
      { ok: true },
      { refused: 'held' },
      { code: 'internal', message: expect.stringContaining('session/create') },
      true,
      false,
    ])
    expect(answered).toEqual(burst.map((_, i) => i))
    expect((await store.stats()).commits - commits).toBe(1)
  })

  it('takes a request as it was at the call', async () => {
    const request = { ...created('s'), facts: [...created('s').facts] }
    const answer = store.commit(request)
    request.facts.push(receipt('late'))
    expect(await answer).toMatchObject({ last: 1 })
    const loaded = await store.load('s')
    loaded?.state.pending.push({ id: 'mine', seq: 9, delivery: 'steer', origin: 'user' })
    expect((await store.load('s'))?.state.pending).toEqual([])
  })

  it('closes after what was called before, twice if asked, and refuses what comes later', async () => {
    const last = store.commit(created('s'))
    const closing = [store.close(), store.close()]
    expect(await last).toMatchObject({ ok: true })
    await Promise.all(closing)
    const refused = { name: 'Refusal', code: 'storage_unavailable' }
    await expect(store.commit(created('t'))).rejects.toMatchObject(refused)
    await expect(store.load('s')).rejects.toMatchObject(refused)
    if (kind === 'memory') return
    store = await open(directory.path(`${opened}.db`))
    expect(await store.load('s')).toMatchObject({ sessionId: 's' })
  })
})

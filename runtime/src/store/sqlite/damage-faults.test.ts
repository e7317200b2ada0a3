import { appendFileSync, copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { fact } from '../../log/facts.ts'
import { Engine } from '../engine.ts'
import type { QueuedStore } from '../queued-store.ts'
import { configOf, created, ownerOf, receipt, scratch } from '../store.fixture.ts'
import { connect } from './connection.ts'
import { openDatabase } from './driver.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { openSqliteStore } from './sqlite-store.ts'

const directory = scratch()
afterAll(() => directory.remove())
let path: string
let count = 0
beforeEach(() => {
  count += 1
  path = directory.path(`${count}.db`)
})

const open = () => openSqliteStore({ path, home: 'inline' })

/** Two sessions, `s` with nine facts and `other` with two; all of it is in the file itself, and the log empty. */
async function filled(): Promise<void> {
  const store = await open()
  await store.commit(created('other'))
  await store.commit({ sessionId: 'other', facts: [receipt('m')] })
  await store.commit({ ...created('s', { config: { title: 'mine' } }), acquire: { owner: ownerOf('ann'), now: 1000, ttlMs: 1000 } })
  await store.commit({ sessionId: 's', facts: Array.from({ length: 7 }, (_, i) => receipt(`m${i}`)) })
  await store.commit({ sessionId: 's', facts: [fact('session/update', 3, { change: { title: 'renamed' } })] })
  await store.close()
  checkpoint()
}

/** All of it into the file, and that under a name that nothing in this process has ever opened. */
function checkpoint(): void {
  const database = openDatabase(path)
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  database.close()
  copyFileSync(path, directory.path(`${count}-copy.db`))
  path = directory.path(`${count}-copy.db`)
}

/** What no disk and no other program should do. */
function rot(sql: string): void {
  const database = openDatabase(path)
  database.exec(sql)
  database.close()
}

/** Overwrites bytes of the file. */
function overwrite(at: number, bytes: Buffer): void {
  const all = readFileSync(path)
  bytes.copy(all, at)
  writeFileSync(path, all)
}

const damagedFact = (seq: number) => ({
  code: 'storage_unavailable',
  message: `the store ${path} is damaged: fact ${seq} of session s can not be read. Other sessions go on; delete this one, or stop every runtime and put a backup of the store in its place`,
  details: { path, sessionId: 's', seq },
})

async function livesOn(store: QueuedStore, sessionId = 'other'): Promise<void> {
  const { length } = await store.read(sessionId, 0, 100)
  expect(await store.commit({ sessionId, facts: [receipt(`after ${length}`)], seen: 1 })).toMatchObject({ ok: true, first: length + 1 })
  expect((await store.load(sessionId))?.state.seq).toBe(length + 1)
}

describe('a fact that rotted in a page that is whole (RE-6)', () => {
  const at5 = 'WHERE session = 2 AND seq = 5'
  const rots: [string, string][] = [
    ['no JSON', `UPDATE facts SET fact = substr(fact, 1, 30) ${at5}`],
    ['empty', `UPDATE facts SET fact = '' ${at5}`],
    ['two facts where one was', `UPDATE facts SET fact = fact || ',' || fact ${at5}`],
    ['JSON, and no fact', `UPDATE facts SET fact = '7' ${at5}`],
    ['a fact without data', `UPDATE facts SET fact = '{"sessionId":"s","seq":5,"type":"turn/end"}' ${at5}`],
    ['the fact of another place', `UPDATE facts SET fact = replace(fact, '"seq":5', '"seq":6') ${at5}`],
    ['the fact of another session', `UPDATE facts SET fact = replace(fact, '"s"', '"t"') ${at5}`],
  ]
  it.each(rots)('is named with its session and seq, and passed on by nothing: %s', async (_, sql) => {
    await filled()
    rot(sql)
    const store = await open()
    // All before it can be had.
    expect((await store.read('s', 0, 100)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect((await store.read('s', 1, 2)).map(({ seq }) => seq)).toEqual([2, 3])
    for (const after of [4]) await expect(store.read('s', after, 100)).rejects.toMatchObject(damagedFact(5))
    expect((await store.read('s', 5, 100)).map(({ seq }) => seq)).toEqual([6, 7, 8, 9])
    // A commit is told of what came in between; without that it can be made.
    await expect(store.commit({ sessionId: 's', facts: [receipt('x')], seen: 3 })).rejects.toMatchObject(damagedFact(5))
    expect(await store.commit({ sessionId: 's', facts: [receipt('x')], seen: 9 })).toMatchObject({ ok: true, first: 10 })
    await livesOn(store)
    await store.close()
  })

  it('is named where it is missing', async () => {
    await filled()
    rot(`DELETE FROM facts ${at5}`)
    const store = await open()
    expect((await store.read('s', 0, 100)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    await expect(store.read('s', 4, 100)).rejects.toMatchObject(damagedFact(5))
    await expect(store.commit({ sessionId: 's', facts: [], seen: 3 })).rejects.toMatchObject(damagedFact(5))
    await store.close()
  })

  it('takes nothing else of its batch down, and what it was in is not half done', async () => {
    await filled()
    rot(`UPDATE facts SET fact = '' ${at5}`)
    const store = await open()
    const results = await Promise.allSettled([
      store.commit({ sessionId: 'other', facts: [receipt('a')] }),
      store.commit({ sessionId: 's', facts: [receipt('b')], seen: 0 }),
      store.commit({ sessionId: 'other', facts: [receipt('c')] }),
    ])
    expect(results).toMatchObject([{ value: { first: 3 } }, { reason: damagedFact(5) }, { value: { first: 4 } }])
    expect(await store.receiptSeq('s', 'b')).toBeNull()
    await store.close()
  })

  it('can be deleted with its session', async () => {
    await filled()
    rot(`UPDATE facts SET fact = '' ${at5}; UPDATE sessions SET state = '' WHERE n = 2; UPDATE configs SET config = '' WHERE session = 2`)
    const store = await open()
    await expect(store.load('s')).rejects.toMatchObject(damagedFact(5))
    expect(await store.delete('s')).toBe(true)
    expect((await store.list({ limit: 9 })).sessions).toHaveLength(1)
    await store.close()
  })
})

describe('what was made of the log, where it rotted (RE-6)', () => {
  const rots: [string, string][] = [
    ['the state', "UPDATE sessions SET state = 'x' WHERE n = 2"],
    ['the state, now missing', 'UPDATE sessions SET state = NULL WHERE n = 2'],
    ['the state, now an older one', `UPDATE sessions SET state = replace(state, '"seq":9', '"seq":8') WHERE n = 2`],
    ['the configuration', "UPDATE configs SET config = '{' WHERE session = 2"],
    ['the configuration, now missing', 'DELETE FROM configs WHERE session = 2'],
  ]
  it.each(rots)('is made of it again: %s', async (_, sql) => {
    await filled()
    const whole = await open()
    const before = await whole.load('s')
    await whole.close()
    rot(sql)
    const store = await open()
    expect(await store.load('s')).toEqual(before)
    expect(before?.config).toEqual({ ...configOf(), title: 'renamed' })
    expect((await store.list({ limit: 9 })).sessions.map(({ sessionId }) => sessionId)).toEqual(['s', 'other'])
    const update = fact('session/update', 4, { change: { metadata: { a: 1 } } })
    expect(await store.commit({ sessionId: 's', facts: [update], seen: 9 })).toMatchObject({ ok: true, first: 10 })
    expect((await store.load('s'))?.config).toEqual({ ...configOf(), title: 'renamed', metadata: { a: 1 } })
    await store.close()
  })

  it('is no holder that anybody knows: the session is free, and whoever held it is fenced', async () => {
    await filled()
    rot("UPDATE sessions SET owner = 'x' WHERE n = 2")
    const store = await open()
    const lease = { sessionId: 's', epoch: 1 }
    expect(await store.renew([lease, { sessionId: 'other', epoch: 0 }], { now: 1001, ttlMs: 1000 })).toEqual([null, null])
    expect(await store.commit({ sessionId: 's', lease, facts: [receipt('x')] })).toMatchObject({ refused: 'fenced' })
    expect(await store.acquire('s', ownerOf('bob'), { now: 1001, ttlMs: 1000 })).toMatchObject({ ok: true, lease: { epoch: 2 } })
    await store.close()
  })

  it('is listed under what is left of its name, and takes no other session along', async () => {
    await filled()
    rot("UPDATE sessions SET id = 'rotten' WHERE n = 2")
    const store = await open()
    expect((await store.list({ limit: 9 })).sessions.map(({ sessionId }) => sessionId)).toEqual(['rotten', 'other'])
    await livesOn(store)
    await store.close()
  })

  it('can be made of nothing where there is nothing', async () => {
    await filled()
    rot("UPDATE facts SET fact = replace(fact, 'session/create', 'session/creat') WHERE session = 2; DELETE FROM configs WHERE session = 2")
    const store = await open()
    const message = expect.stringMatching(/db is damaged: session s has no configuration\. Other sessions go on/)
    await expect(store.load('s')).rejects.toMatchObject({ code: 'storage_unavailable', message, details: { path, sessionId: 's' } })
    await store.close()
  })
})

describe('a file that is damaged (RE-6)', () => {
  const unavailable = (why: RegExp) => ({ code: 'storage_unavailable', message: expect.stringMatching(why), details: { path } })
  const inAnyWay = () => ({ code: 'storage_unavailable', message: expect.stringMatching(`^the store ${path} `) })

  const beginnings: [string, () => void, RegExp][] = [
    [
      'its first bytes',
      () => overwrite(0, Buffer.from('garbage!')),
      /is not a Quiesce store: name another file, .*; if it was one, put a backup/,
    ],
    ['its mark', () => overwrite(68, Buffer.from('song')), /db is a database of another program: name another file as the store/],
    ['cut between two pages', () => truncateSync(path, 8192), /its contents are damaged: move the file away, or put a backup in its place/],
    ['cut within a page', () => truncateSync(path, 9000), /its contents are damaged: move the file away, or put a backup in its place/],
    ['cut within its header', () => truncateSync(path, 50), /its contents are damaged: move the file away, or put a backup in its place/],
  ]
  it.each(beginnings)('is refused when it is opened, and left as it is: %s', async (_, damage, why) => {
    await filled()
    damage()
    const before = readFileSync(path)
    await expect(open()).rejects.toMatchObject(unavailable(why))
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('goes on where only garbage was put behind it', async () => {
    await filled()
    appendFileSync(path, Buffer.alloc(5000, 0xee))
    const store = await open()
    await livesOn(store, 's')
    await livesOn(store)
    expect(await store.check()).toEqual([])
    await store.close()
  })

  it('says so of each page in which it is met, and takes nothing along that lies in others', async () => {
    const store = await open()
    const large = (id: string) => receipt(id, 'followup', 'x'.repeat(5000))
    for (const id of ['s', 'other']) await store.commit(created(id))
    for (const id of ['s', 'other']) await store.commit({ sessionId: id, facts: Array.from({ length: 12 }, (_, i) => large(`m${i}`)) })
    await store.close()
    checkpoint()
    let [found, met] = [0, 0]
    const original = readFileSync(path)
    const pages = original.length / 4096
    for (let page = 1; page < pages; page += 1) {
      // Under a name of its own: nothing in this process has ever opened it.
      path = directory.path(`${count}-${page}.db`)
      writeFileSync(path, Buffer.from(original).fill(0xee, page * 4096, (page + 1) * 4096))
      const damaged = await openOrRefuse()
      const outcomes = damaged === null ? [] : await everything(damaged)
      // Whatever it is: an answer that is whole, or a refusal that names the store.
      for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(inAnyWay())
      const failed = outcomes.filter(({ status }) => status === 'rejected').length
      const problems = damaged === null ? ['it does not open'] : await damaged.check()
      if (failed > 0) expect(problems).not.toEqual([])
      met += failed
      found += problems.length > 0 ? 1 : 0
      await damaged?.close()
    }
    // What nothing is kept in is not missed: free pages, and the end of the last page of a long text.
    expect(found).toBeGreaterThan(pages * 0.9)
    expect(met).toBeGreaterThan(pages)
  }, 60_000)

  async function openOrRefuse(): Promise<QueuedStore | null> {
    return open().catch((error: unknown) => {
      expect(error).toMatchObject(inAnyWay())
      return null
    })
  }

  /** What can be asked of both sessions, in one burst; what is answered of a log is a piece of it. */
  async function everything(store: QueuedStore) {
    const asked = ['s', 'other'].flatMap((id) => [
      store.read(id, 0, 100).then((facts) => expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1))),
      store.load(id).then((stored) => expect(stored?.state.seq ?? 13).toBeGreaterThanOrEqual(13)),
      store.commit({ sessionId: id, facts: [receipt('new')], seen: 8 }),
      store.receiptSeq(id, 'm7').then((seq) => expect([9, null]).toContain(seq)),
    ])
    return Promise.allSettled([...asked, store.list({ limit: 9 })])
  }

  it('parts a commit that SQLite can not make from those that came with it, and keeps no half of it', async () => {
    await filled()
    const database = connect(path)
    const rows = new SqliteRows(database, path)
    // A row that no write here can have left: what is to be written next is there already.
    database.exec("INSERT INTO facts VALUES (2, 11, '')")
    const engine = new Engine(rows)
    const commit = (sessionId: string, ...ids: string[]) =>
      ({ kind: 'commit', request: { sessionId, facts: ids.map((id) => receipt(id)) } }) as const
    const answers = engine.run([commit('other', 'a'), commit('s', 'b', 'c'), commit('other', 'd')])
    expect(answers).toMatchObject([
      { value: { first: 3 } },
      { kind: 'fault', value: { code: 'storage_unavailable' } },
      { value: { first: 4 } },
    ])
    const row = rows.find('s')
    expect(row).toMatchObject({ seq: 9 })
    expect(row === null ? null : [rows.state(row).pending.length, rows.receipt(row, 'b')]).toEqual([7, null])
    database.close()
  })
})

describe('what lies beside the file, where it is damaged (RE-6)', () => {
  it('is refused where it was the log: SQLite would take it for empty, and what only it held would be gone', async () => {
    await filled()
    const bytes = Buffer.alloc(9000, 0xee)
    writeFileSync(`${path}-wal`, bytes)
    const message = `the store ${path} can not be opened: its log ${path}-wal is damaged: put a backup of both in their place; or move the log away, and go on without what was committed last`
    await expect(open()).rejects.toMatchObject({ code: 'storage_unavailable', message, details: { path } })
    expect(readFileSync(`${path}-wal`).equals(bytes)).toBe(true)
    writeFileSync(`${path}-wal`, '')
    const store = await open()
    await livesOn(store, 's')
    await store.close()
  })

  it('is as good as nothing where a power cut left it unwritten', async () => {
    await filled()
    writeFileSync(`${path}-wal`, Buffer.alloc(4152))
    const store = await open()
    await livesOn(store, 's')
    await store.close()
  })

  it('is made anew where it was the index of the log', async () => {
    await filled()
    writeFileSync(`${path}-shm`, Buffer.alloc(32_768, 0xee))
    const store = await open()
    await livesOn(store, 's')
    await store.close()
  })

  it('keeps a file from being taken for a new one: it was emptied, and its log was not', async () => {
    const store = await open()
    await store.commit(created('s'))
    mkdirSync(directory.path(`${count}`))
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, directory.path(`${count}/store.db${suffix}`))
    await store.close()
    path = directory.path(`${count}/store.db`)
    truncateSync(path, 0)
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(/it is empty, and its log .*store\.db-wal is not: put the file back that belongs to the log/),
    })
    truncateSync(`${path}-wal`, 0)
    const fresh = await open()
    expect((await fresh.list({ limit: 1 })).sessions).toEqual([])
    await fresh.close()
  })
})

describe('a check of the whole store', () => {
  it('finds nothing where nothing is wrong', async () => {
    await filled()
    const store = await open()
    expect(await store.check()).toEqual([])
    await store.close()
  })

  it('names what can not be read, at most a few of a kind', async () => {
    await filled()
    rot("UPDATE facts SET fact = 'x' WHERE session = 2")
    const store = await open()
    const problems = await store.check()
    expect(problems).toHaveLength(5)
    expect(problems[0]).toBe(`the store ${path} is damaged: fact 1 of session "s" can not be read`)
    await store.close()
  })
})

import { execFileSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import type { AnyFact } from '@quiesce/schema'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyFact, emptyState } from '../../log/session-state.ts'
import type { QueuedStore } from '../queued-store.ts'
import { created, receipt, scratch } from '../store.fixture.ts'
import { connect } from './connection.ts'
import { SmallDisk } from './small-disk.fixture.ts'
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
const full = () => ({
  code: 'storage_unavailable',
  retryable: true,
  message: expect.stringMatching(/^the store .*\.db (failed|can not be opened): the disk is full: make room, then try again/),
  details: expect.objectContaining({ path }),
})
const small = (store: QueuedStore, id: string) => store.commit({ sessionId: 's', facts: [receipt(id)] })
const large = (store: QueuedStore, id: string, kib = 100) =>
  store.commit({ sessionId: 's', facts: [receipt(id, 'followup', 'x'.repeat(kib * 1024))] })

/** A log has no gap, state and receipts are what it says, and SQLite finds nothing wrong. */
async function expectWhole(store: QueuedStore): Promise<string[]> {
  const facts: AnyFact[] = []
  for (;;) {
    const page = await store.read('s', facts.length, 1000)
    if (page.length === 0) break
    facts.push(...page)
  }
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1))
  expect((await store.load('s'))?.state).toEqual(facts.reduce(applyFact, emptyState))
  const ids = facts.flatMap((fact) => (fact.type === 'inbox/receipt' ? [fact.data.message.id] : []))
  for (const [i, id] of ids.entries()) expect(await store.receiptSeq('s', id)).toBe(i + 2)
  expect(await store.check()).toEqual([])
  return ids
}

describe.skipIf(!SmallDisk.isAllowed())('a disk that is full in earnest (RE-6; needs the right to mount)', () => {
  let disk: SmallDisk
  beforeEach(() => {
    disk = SmallDisk.mount(1024)
    path = disk.path('store.db')
  })
  afterEach(() => disk.remove())

  it('refuses to be opened, and whatever was begun of the file is made a store of once there is room', async () => {
    for (const room of [0, 4, 8, 12, 20, 32, 36, 40]) {
      path = disk.path(`${room}.db`)
      disk.fill(room)
      const opened = await open().catch((error: unknown) => {
        expect(error).toMatchObject(full())
        return null
      })
      if (opened !== null) {
        await expect(opened.commit(created('s')).then(() => large(opened, 'm'))).rejects.toMatchObject(full())
        await opened.close()
      }
      disk.empty()
      const store = await open()
      await store.commit(created(`s${room}`))
      expect(await store.check()).toEqual([])
      await store.close()
    }
  })

  it('keeps nothing of what does not fit, and all of what was answered; with room it goes on as it is', async () => {
    const store = await open()
    await store.commit(created('s'))
    await small(store, 'before')
    disk.fill(200)
    const answered: string[] = []
    for (let i = 0; i < 20; i += 1) {
      const fits = await large(store, `m${i}`, 20).then(
        () => answered.push(`m${i}`),
        (error: unknown) => void expect(error).toMatchObject(full()),
      )
      if (fits === undefined) break
    }
    expect(answered.length).toBeGreaterThan(1)
    const refused = `m${answered.length}`
    for (const _ of [1, 2]) await expect(large(store, refused, 20)).rejects.toMatchObject(full())
    expect((await store.load('s'))?.state.pending.map(({ id }) => id)).toEqual(['before', ...answered])
    disk.empty()
    expect(await large(store, refused, 20)).toMatchObject({ ok: true })
    expect(await large(store, refused, 20)).toMatchObject({ refused: 'known-message' })
    expect(await expectWhole(store)).toEqual(['before', ...answered, refused])
    await store.close()
  })

  it('is found by a check, though nothing is wrong with what is there', async () => {
    const store = await open()
    await store.commit(created('s'))
    disk.fill()
    // The log may have room of its own for a few pages.
    const problems = async () => (await store.check()).join()
    for (let i = 0; i < 20 && (await problems()) === ''; i += 1) await small(store, `m${i}`).catch(() => undefined)
    expect(await problems()).toMatch(/^the store .*\.db failed: the disk is full: make room/)
    disk.empty()
    expect(await problems()).toBe('')
    await store.close()
  })

  it('loses nothing where its log can not be worked into the file, and works it in once there is room', async () => {
    disk.resize(6 * 1024)
    const store = await open()
    await store.commit(created('s'))
    const ids: string[] = []
    const fits = (id: string) =>
      large(store, id).then(
        () => ids.push(id),
        (error: unknown) => void expect(error).toMatchObject(full()),
      )
    while ((await fits(`m${ids.length}`)) !== undefined);
    // It has the thousand pages at which SQLite works it in, and the file took what there was room for.
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(1000 * 4096)
    expect(statSync(path).blocks * 512).toBeLessThan(2.5 * 1024 * 1024)
    await store.close()
    const again = await open()
    expect((await again.load('s'))?.state.pending.map(({ id }) => id)).toEqual(ids)
    await expect(large(again, 'refused')).rejects.toMatchObject(full())
    disk.resize(20 * 1024)
    expect(await small(again, 'after')).toMatchObject({ ok: true })
    expect(statSync(path).blocks * 512).toBeGreaterThan(3 * 1024 * 1024)
    expect(await expectWhole(again)).toEqual([...ids, 'after'])
    await again.close()
  })

  it('is read-only, and says so, where it was mounted anew as that', async () => {
    const store = await open()
    await store.commit(created('s'))
    await store.close()
    const other = disk.readOnly()
    path = other.path('store.db')
    const message = `the store ${path} can not be opened: the file system is read-only: name a file elsewhere (EROFS)`
    await expect(open()).rejects.toMatchObject({ code: 'storage_unavailable', message })
    path = other.path('new.db')
    await expect(open()).rejects.toMatchObject({ message: expect.stringMatching(/the file system is read-only: name a file elsewhere/) })
    path = other.path('new/store.db')
    await expect(open()).rejects.toMatchObject({ message: expect.stringMatching(/the file system is read-only: name a file elsewhere/) })
    other.remove()
  })
})

/** Makes a file that nobody may write, not even who has it open; or undoes that. */
const freeze = (file: string, is: boolean) => execFileSync('chattr', [is ? '+i' : '-i', file], { stdio: 'ignore' })

function canFreeze(): boolean {
  const file = directory.path('frozen')
  try {
    writeFileSync(file, '')
    freeze(file, true)
    freeze(file, false)
    return true
  } catch {
    return false
  }
}

describe.skipIf(!canFreeze())('files that can not be written any more (RE-6; needs chattr)', () => {
  it('keep nothing where that is the log, until it can be written again', async () => {
    const store = await open()
    await store.commit(created('s'))
    freeze(`${path}-wal`, true)
    try {
      const failed = {
        code: 'storage_unavailable',
        message: expect.stringMatching(/db failed: it could not be read or written: .*: see to that/),
      }
      for (const id of ['a', 'b']) await expect(small(store, id)).rejects.toMatchObject(failed)
      expect(await store.read('s', 0, 9)).toHaveLength(1)
      const message = `the store ${path} can not be opened: ${path}-wal is not yours to read and write: change its owner or permissions, or name another file (EPERM)`
      await expect(open()).rejects.toMatchObject({ code: 'storage_unavailable', message })
    } finally {
      freeze(`${path}-wal`, false)
    }
    expect(await small(store, 'b')).toMatchObject({ ok: true, first: 2 })
    expect(await expectWhole(store)).toEqual(['b'])
    await store.close()
  })

  it('lose nothing where that is the file itself: all is in the log, and is worked in when it can be', async () => {
    const store = await open()
    await store.commit(created('s'))
    freeze(path, true)
    try {
      for (let i = 0; i < 60; i += 1) await large(store, `m${i}`)
      expect(statSync(path).size).toBeLessThan(100_000)
    } finally {
      freeze(path, false)
    }
    await small(store, 'after')
    expect(statSync(path).size).toBeGreaterThan(5_000_000)
    expect(await expectWhole(store)).toHaveLength(61)
    await store.close()
  })
})

describe('the log of a store', () => {
  it('is cut to its usual length behind a commit that made it long', async () => {
    const store = await open()
    await store.commit(created('s'))
    await large(store, 'huge', 20 * 1024)
    const long = statSync(`${path}-wal`).size
    expect(long).toBeGreaterThan(20 * 1024 * 1024)
    // Worked in by the commit itself; the next one begins the log anew.
    await small(store, 'a')
    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(16 * 1024 * 1024)
    await store.close()
  })

  it('is worked into the file by itself, before it is long', async () => {
    const store = await open()
    await store.commit(created('s'))
    for (let i = 0; i < 100; i += 1) await large(store, `m${i}`, 100)
    expect(statSync(`${path}-wal`).size).toBeLessThan(8 * 1024 * 1024)
    expect(statSync(path).size).toBeGreaterThan(8 * 1024 * 1024)
    await store.close()
  })

  it('may grow while another process reads an old state of the store, and is worked in later', async () => {
    const store = await open()
    await store.commit(created('s'))
    const reader = connect(path)
    reader.exec('BEGIN; SELECT * FROM sessions')
    for (let i = 0; i < 60; i += 1) await large(store, `m${i}`, 200)
    const grown = statSync(`${path}-wal`).size
    expect(grown).toBeGreaterThan(10 * 1024 * 1024)
    reader.exec('ROLLBACK')
    reader.close()
    for (const id of ['x', 'y']) await small(store, id)
    const { size } = statSync(`${path}-wal`)
    for (let i = 0; i < 10; i += 1) await large(store, `n${i}`, 200)
    expect(statSync(`${path}-wal`).size).toBe(size)
    await expectWhole(store)
    await store.close()
  })
})

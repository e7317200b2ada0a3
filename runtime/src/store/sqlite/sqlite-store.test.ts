import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { Engine } from '../engine.ts'
import type { Answer } from '../operations.ts'
import { perform } from '../perform.ts'
import type { QueuedStore } from '../queued-store.ts'
import { created, receipt, scratch } from '../store.fixture.ts'
import { connect } from './connection.ts'
import { openDatabase } from './driver.ts'
import { migrate, migrations } from './schema.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { openSqliteStore } from './sqlite-store.ts'

const directory = scratch()
afterAll(() => directory.remove())
let path: string
let count = 0
beforeEach(() => {
  count += 1
  path = directory.path(`${count}/store.db`)
})

const open = () => openSqliteStore({ path, home: 'inline' })
const unavailable = (why: string | RegExp, at = path) => ({
  name: 'Refusal',
  code: 'storage_unavailable',
  retryable: true,
  message: expect.stringMatching(why),
  details: expect.objectContaining({ path: at }),
})

async function filled(): Promise<QueuedStore> {
  const store = await open()
  await store.commit(created('s'))
  return store
}

describe('the file of a store', () => {
  it('is made with its directory, for the user alone', async () => {
    path = directory.path(`${count}/deep/er/store.db`)
    const store = await filled()
    for (const made of ['deep', 'deep/er']) expect(statSync(directory.path(`${count}/${made}`)).mode & 0o777).toBe(0o700)
    for (const made of [path, `${path}-wal`]) expect(statSync(made).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it('is not a directory', async () => {
    mkdirSync(path, { recursive: true })
    await expect(open()).rejects.toMatchObject(unavailable(/store\.db can not be opened: it is a directory: name a file/))
  })

  it('is not below another file', async () => {
    writeFileSync(directory.path('file'), '')
    path = directory.path('file/store.db')
    await expect(open()).rejects.toMatchObject(unavailable(/a part of its path is a file/))
  })

  it('is a regular file, and so is what lies beside it: nothing waits for the other end of a pipe', async () => {
    mkdirSync(directory.path(`${count}`))
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      execFileSync('mkfifo', [`${path}${suffix}`])
      await expect(open()).rejects.toMatchObject(unavailable(/store\.db can not be opened: .* is a named pipe, and no regular file/))
      rmSync(`${path}${suffix}`)
    }
    path = '/dev/null'
    await expect(open()).rejects.toMatchObject(unavailable(/^the store \/dev\/null can not be opened: it is a device, and no regular/))
    path = directory.path(`${count}/socket`)
    const server = createServer().listen(path)
    await once(server, 'listening')
    await expect(open()).rejects.toMatchObject(unavailable(/it is a socket, and no regular file/))
    server.close()
  })

  it('lies where directories can be made', async () => {
    path = '/proc/quiesce/deep/store.db'
    await expect(open()).rejects.toMatchObject(unavailable(/deep\/store\.db can not be opened: no directory can be made in \/proc: name/))
  })

  it('lies where the user may write', async () => {
    mkdirSync(directory.path(`${count}`), { mode: 0o500 })
    chmodSync(directory.path(`${count}`), 0o500)
    await asOrdinaryUser(() => expect(open()).rejects.toMatchObject(unavailable(/you may not write there: name a file/)))
  })

  it('is written by SQLite, or refused as what it is', async () => {
    mkdirSync(directory.path(`${count}`))
    writeFileSync(path, 'Dear diary, '.repeat(1000))
    await expect(open()).rejects.toMatchObject(unavailable(/store\.db failed: the file is not a Quiesce store: name another file/))
    expect(readFileSync(path, 'utf8')).toMatch(/^Dear diary/)
  })

  it('is not a database of another program', async () => {
    mkdirSync(directory.path(`${count}`))
    const other = openDatabase(path)
    other.exec('CREATE TABLE songs (title TEXT)')
    other.close()
    await expect(open()).rejects.toMatchObject(unavailable(/is a database of another program: name another file/))
  })
})

describe('versions', () => {
  it('refuses a store of a newer runtime, and names both versions', async () => {
    await (await filled()).close()
    const newer = openDatabase(path)
    migrate(newer, path, [...migrations, 'CREATE TABLE later (x)', 'CREATE TABLE last (x)'])
    newer.close()
    await expect(open()).rejects.toMatchObject({
      name: 'Refusal',
      code: 'store_version',
      message: `the store ${path} has version 3, and this runtime knows up to 1: update quiesce, or name another store`,
      details: { path, found: 3, known: 1 },
    })
  })

  it('brings an older store up step by step, all or nothing', async () => {
    await (await filled()).close()
    const database = openDatabase(path)
    const broken = [...migrations, 'CREATE TABLE later (x)', 'CREATE TABLE later (x)']
    expect(() => migrate(database, path, broken)).toThrow(/later already exists/)
    migrate(database, path, [...migrations, 'CREATE TABLE later (x)'])
    expect(database.prepare<{ n: number }>('SELECT count(*) AS n FROM sessions').get()?.n).toBe(1)
    expect(database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version).toBe(2)
    database.close()
  })
})

describe('a connection', () => {
  it('syncs each commit to disk, and holds its thread only for a moment where others have the lock', () => {
    const database = connect(path)
    const setting = (name: string) => Object.values(database.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get() ?? {})[0]
    expect([setting('journal_mode'), setting('synchronous'), setting('busy_timeout')]).toEqual(['wal', 2, 200])
    database.close()
  })
})

describe('a failing disk (RE-6)', () => {
  const kinds = (answers: Answer[]) => answers.map(({ kind, value }) => (kind === 'fault' ? value.code : kind))

  async function small(pages: number): Promise<{ engine: Engine; close: () => void }> {
    await (await filled()).close()
    const database = openDatabase(path)
    migrate(database, path)
    const rows = new SqliteRows(database, path)
    database.exec(`PRAGMA max_page_count = ${pages}`)
    return { engine: new Engine(rows), close: () => database.close() }
  }

  it('keeps nothing of what does not fit, all of what came with it and does, and works on', async () => {
    const { engine, close } = await small(20)
    const fits = (id: string) => ({ kind: 'commit', request: { sessionId: 's', facts: [receipt(id)] } }) as const
    const tooBig = { kind: 'commit', request: { sessionId: 's', facts: [receipt('b', 'followup', 'x'.repeat(200_000))] } } as const
    const answers = engine.run([fits('a'), tooBig, fits('c')])
    expect(kinds(answers)).toEqual(['commit', 'storage_unavailable', 'commit'])
    expect(answers[1]?.value).toMatchObject({
      message: expect.stringMatching(/^the store .*store\.db failed: the disk is full: make room/),
    })
    expect(engine.run([fits('d')])).toMatchObject([{ value: { ok: true, first: 4, last: 4 } }])
    close()
  })

  it('decides on nothing that was rolled back', async () => {
    await (await filled()).close()
    const database = connect(path)
    const rows = new SqliteRows(database, path)
    const engine = new Engine(rows)
    const mine = { kind: 'commit', request: { sessionId: 's', facts: [receipt('mine')] } } as const
    const failing = () => {
      perform(rows, mine)
      throw new Error('the batch fails behind it')
    }
    expect(() => rows.transaction(failing)).toThrow('the batch fails behind it')
    const other = await open()
    // As many facts as the failed batch would have left behind.
    await other.commit({ sessionId: 's', facts: [receipt('theirs')] })
    const pending = (id: string) => ({ sessionId: 's', when: [{ kind: 'pending', messageIds: [id] } as const], facts: [] })
    expect(engine.run([{ kind: 'commit', request: pending('theirs') }])).toMatchObject([{ value: { ok: true } }])
    expect(engine.run([{ kind: 'commit', request: pending('mine') }])).toMatchObject([{ value: { refused: 'unmet' } }])
    await other.close()
    database.close()
  })

  it('takes back what came before a statement that failed', async () => {
    await (await filled()).close()
    const database = connect(path)
    const rows = new SqliteRows(database, path)
    const row = rows.find('s')
    if (row === null) throw new Error('the session is there')
    const twice = () => rows.transaction(() => [1, 2].map((seq) => rows.addReceipt(row, 'same', seq)))
    for (const attempt of [twice, twice]) expect(attempt).toThrow(/store\.db failed: UNIQUE constraint failed/)
    expect(rows.receipt(row, 'same')).toBeNull()
    expect(rows.stats.commits).toBe(0)
    database.close()
  })

  it('names the store whose contents are damaged', async () => {
    const store = await filled()
    await store.commit({ sessionId: 's', facts: Array.from({ length: 200 }, (_, i) => receipt(`m${i}`)) })
    await store.close()
    const database = openDatabase(path)
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    database.close()
    const bytes = readFileSync(path)
    bytes.fill(0xee, 4096)
    writeFileSync(path, bytes)
    const damaged = await open()
    await expect(damaged.commit({ sessionId: 's', facts: [] })).rejects.toMatchObject(
      unavailable(/its contents are damaged: move the file away/),
    )
    await expect(damaged.delete('s')).rejects.toMatchObject(unavailable(/its contents are damaged/))
    await expect(damaged.load('s')).rejects.toMatchObject(unavailable(/its contents are damaged/))
    await damaged.close()
  })

  it('names the store that another process keeps locked', async () => {
    const { engine, close } = await small(1000)
    const blocker = openDatabase(path)
    blocker.exec('BEGIN IMMEDIATE')
    const [answer] = engine.run([{ kind: 'delete', sessionId: 's' }])
    expect(answer).toMatchObject({
      value: { code: 'storage_unavailable', message: expect.stringMatching(/another process has held its lock/) },
    })
    blocker.exec('ROLLBACK')
    expect(engine.run([{ kind: 'delete', sessionId: 's' }])).toEqual([{ kind: 'delete', value: true }])
    blocker.close()
    close()
  })
})

/** Root may write everywhere: where the tests run as root, somebody else does this part. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(65534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}
